//! Who runs when: calibration, warm-up, balanced random orders, looks, budgets, stopping rules.
//!
//! Knows contenders only by number and never reads a clock: an [`Executor`] samples and tells the
//! time, so that all of this is tested with a fake one. Judges nothing, except that it asks
//! [`Compare`](crate::compare) at the looks it planned beforehand whether intervals are narrow
//! enough.
//!
//! ```text
//!   calibrate ─▶ warm up ─▶ round 1 ─▶ round 2 ─▶ … ─▶ look ─▶ … ─▶ look ─▶ done
//!                           every contender once, in a balanced random order
//! ```

use serde::{Deserialize, Serialize};

use crate::compare::{self, Clock};
use crate::sample::{Failure, Sample};
use crate::stats::Random;

/// How a measurement is run. Times are in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Seed of the orders.
    pub seed: u64,
    /// Share of measurements that may contain any false verdict: 0.01.
    pub alpha: f64,
    /// When measuring ends.
    pub stop: Stop,
    /// Time received per contender (processor time where it is known) after which measuring ends.
    pub budget_ns: u64,
    /// Wall time of all rounds together after which measuring ends, whatever was received.
    pub limit_ns: u64,
    /// Exactly this many rounds, instead of those that fit the budget.
    pub rounds: Option<u32>,
    /// What the slowest contender's sample should take.
    pub sample_ns: u64,
    /// What the fastest contender's sample takes at least: well above the clocks' resolution and
    /// cost.
    pub shortest_ns: u64,
    /// This many iterations per sample, not calibrated: commands are run once.
    pub iterations: Option<u64>,
    /// Samples of each contender that are thrown away before the first round.
    pub warm_ups: u32,
    /// Sets of fresh processes over which the rounds are spread.
    pub processes: u32,
    /// The clock of the verdicts, if the user chose it; otherwise the rule chooses.
    #[serde(default)]
    pub clock: Option<Clock>,
}

/// When measuring ends, besides the budgets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "rule")]
pub enum Stop {
    /// Every interval of a ratio is narrower than `target` (0.01 is one percent), looked at only at
    /// planned rounds.
    Width {
        /// Width of the ratio's interval.
        target: f64,
    },
    /// No contender found a new minimum during `quiet_ns` of time received, and each was within 1 %
    /// of its minimum in at least three rounds.
    Repetition {
        /// Time received without a new minimum, in nanoseconds.
        quiet_ns: u64,
    },
    /// Only the budgets and the number of rounds.
    Budget,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            seed: 1,
            alpha: 0.01,
            stop: Stop::Width { target: 0.01 },
            budget_ns: 2_000_000_000,
            limit_ns: 300_000_000_000,
            rounds: None,
            sample_ns: 10_000_000,
            shortest_ns: 200_000,
            iterations: None,
            warm_ups: 2,
            processes: 1,
            clock: None,
        }
    }
}

/// The fewest rounds a plan aims at: enough for an interval at 99 % after the looks have shared the
/// error budget.
const FEWEST_ROUNDS: u32 = 12;
/// More rounds than this tell nothing new.
const MOST_ROUNDS: u32 = 100_000;
/// No look before this many rounds: an interval of so few is never narrow.
const FIRST_LOOK: u32 = 24;

/// Which contender plays which part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roles {
    /// All others are compared with this one.
    pub baseline: usize,
    /// The unnamed copy of a contender.
    pub twin: Option<usize>,
    /// Which contender the twin is a copy of. The baseline while measuring; a measurement that is
    /// judged again against another baseline keeps its twin.
    pub twin_of: usize,
    /// The contender that does nothing: what the harness itself costs.
    pub empty: Option<usize>,
    /// Only the wall clock counts: the workload uses threads, waits or sleeps.
    pub wall_only: bool,
}

/// What the machine did during a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weather {
    /// Ticks (10 ms) in which the hypervisor gave the processors to somebody else; `None` when the
    /// kernel does not say.
    pub steal_ticks: Option<u64>,
    /// Time in which some thread of the machine waited for a processor, in microseconds.
    pub pressure_us: Option<u64>,
}

/// One round as it was run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The contenders in the order they were sampled, by number.
    pub order: Vec<usize>,
    /// Which set of processes, from 0.
    pub process: u32,
    /// What the machine did meanwhile.
    #[serde(default)]
    pub weather: Weather,
    /// The samples by contender number; `None` where a contender had failed.
    pub samples: Vec<Option<Sample>>,
}

/// A finished measurement of one workload: what happened, unjudged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Iterations in every sample.
    pub iterations: u64,
    /// The rounds in the order they were run.
    pub rounds: Vec<Round>,
    /// By contender number: why it has no row, if so.
    pub failures: Vec<Option<Failure>>,
    /// Why measuring ended.
    pub end: End,
    /// Share of the error budget that the last look may spend.
    pub alpha_share: f64,
    /// Rounds that were planned.
    pub planned: u32,
}

/// Why measuring ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The planned rounds are done.
    Rounds,
    /// The stopping rule was met.
    Target,
    /// The wall-time limit was reached.
    Limit,
    /// Fewer than two contenders are left.
    Alone,
    /// The user interrupted.
    Interrupted,
}

/// What runs samples and knows the time. One real one drives worker processes, one runs commands,
/// fake ones test this file.
pub trait Executor {
    /// Samples a contender.
    ///
    /// # Errors
    /// The failure that costs the contender its row. It is not asked again.
    fn sample(&mut self, contender: usize, iterations: u64) -> Result<Sample, Failure>;

    /// Replaces every contender's process by a fresh one.
    ///
    /// # Errors
    /// By contender number: the failures of those that did not come back.
    fn refresh(&mut self) -> Vec<(usize, Failure)>;

    /// Nanoseconds since some fixed point.
    fn now_ns(&mut self) -> u64;

    /// Totals of what the machine did up to now; differences make a round's [`Weather`].
    fn weather(&mut self) -> Weather {
        Weather::default()
    }

    /// Whether the user wants it to end.
    fn interrupted(&mut self) -> bool {
        false
    }

    /// Told after each round, and never during a sample: rounds done and planned.
    fn progress(&mut self, done: u32, planned: u32) {
        let _ = (done, planned);
    }
}

/// Runs a whole measurement. `failures` has an entry for every contender: those that have failed
/// already take no part.
pub fn measure(
    executor: &mut dyn Executor,
    failures: Vec<Option<Failure>>,
    roles: Roles,
    plan: &Plan,
) -> Measured {
    let mut run = Run { plan, roles, random: Random::new(plan.seed), failures, executor };
    let iterations = plan.iterations.unwrap_or_else(|| run.calibrated());
    let sample_ns = run.warmed_up(iterations);
    run.rounds(iterations, planned_rounds(plan, sample_ns))
}

/// How many rounds the budget allows when the slowest sample takes `sample_ns`.
fn planned_rounds(plan: &Plan, sample_ns: u64) -> u32 {
    if let Some(rounds) = plan.rounds {
        return rounds.max(1);
    }
    let fitting = plan.budget_ns / sample_ns.max(1);
    let rounds = u32::try_from(fitting).unwrap_or(MOST_ROUNDS).clamp(FEWEST_ROUNDS, MOST_ROUNDS);
    rounds.max(plan.processes)
}

/// The rounds after which intervals are looked at, each with the share of the error budget it may
/// spend: eighth, quarter, half and all of the planned rounds, where the last has half of the
/// budget. The shares add up to 1, so by the union bound the chance of any false alarm at any look
/// stays within alpha, whatever the correlation of the looks.
fn looks(planned: u32) -> Vec<(u32, f64)> {
    let early = [(planned / 8, 0.125), (planned / 4, 0.125), (planned / 2, 0.25)];
    let mut looks: Vec<(u32, f64)> =
        early.into_iter().filter(|&(rounds, _)| rounds >= FIRST_LOOK).collect();
    let spent: f64 = looks.iter().map(|look| look.1).sum();
    looks.push((planned, 1.0 - spent));
    looks
}

struct Run<'a> {
    executor: &'a mut dyn Executor,
    plan: &'a Plan,
    roles: Roles,
    random: Random,
    failures: Vec<Option<Failure>>,
}

impl Run<'_> {
    /// The contenders that are left and measured, without the empty one.
    fn alive(&self) -> Vec<usize> {
        (0..self.failures.len())
            .filter(|&i| self.failures[i].is_none() && Some(i) != self.roles.empty)
            .collect()
    }

    fn sample(&mut self, contender: usize, iterations: u64) -> Option<Sample> {
        if self.failures[contender].is_some() {
            return None;
        }
        match self.executor.sample(contender, iterations) {
            Ok(sample) => Some(sample),
            // Cut short by the user: no fault of the contender.
            Err(Failure::Interrupted) => None,
            Err(failure) => {
                self.failures[contender] = Some(failure);
                None
            }
        }
    }

    /// The time a sample costs its contender: the smaller of the two clocks, so that a disturbed
    /// wall clock does not look like slow code.
    fn cost_ns(&self, sample: &Sample) -> u64 {
        match sample.cpu_ns {
            Some(cpu_ns) if !self.roles.wall_only && cpu_ns > 0 => cpu_ns.min(sample.wall_ns),
            _ => sample.wall_ns,
        }
    }

    /// The iterations for everybody: the slowest contender's sample takes about `sample_ns`, the
    /// fastest one's at least `shortest_ns`. Found by doubling, then settled once more from samples
    /// of that length, because the doubling ran on cold caches.
    fn calibrated(&mut self) -> u64 {
        let mut estimates = vec![None; self.failures.len()];
        for contender in self.alive() {
            let mut iterations = 1;
            while let Some(sample) = self.sample(contender, iterations) {
                let cost_ns = self.cost_ns(&sample);
                estimates[contender] = Some(cost_ns.max(1) as f64 / iterations as f64);
                if cost_ns >= self.plan.sample_ns / 4 || iterations >= 1 << 40 {
                    break;
                }
                // Jump most of the way once the reading means something.
                let factor = match cost_ns {
                    0..10_000 => 8,
                    _ => (self.plan.sample_ns / 2 / cost_ns).clamp(2, 64),
                };
                iterations = iterations.saturating_mul(factor);
            }
        }
        let first = self.common_iterations(&estimates);
        for contender in self.alive() {
            if let Some(sample) = self.sample(contender, first) {
                estimates[contender] = Some(self.cost_ns(&sample).max(1) as f64 / first as f64);
            }
        }
        self.common_iterations(&estimates)
    }

    fn common_iterations(&self, estimates: &[Option<f64>]) -> u64 {
        let costs = || {
            let alive = estimates.iter().zip(&self.failures).filter(|(_, f)| f.is_none());
            alive.filter_map(|(estimate, _)| *estimate)
        };
        let slowest = costs().fold(0.0, f64::max);
        let fastest = costs().fold(f64::INFINITY, f64::min);
        if slowest <= 0.0 {
            return 1;
        }
        let by_slowest = self.plan.sample_ns as f64 / slowest;
        let by_fastest = self.plan.shortest_ns as f64 / fastest;
        by_slowest.max(by_fastest).clamp(1.0, 1e12).round() as u64
    }

    /// Samples that are thrown away; returns what the slowest of the last ones took.
    fn warmed_up(&mut self, iterations: u64) -> u64 {
        let mut slowest_ns = 1;
        for turn in 0..self.plan.warm_ups.max(1) {
            for contender in self.alive() {
                if let Some(sample) = self.sample(contender, iterations)
                    && turn + 1 >= self.plan.warm_ups
                {
                    slowest_ns = slowest_ns.max(self.cost_ns(&sample));
                }
            }
        }
        slowest_ns
    }

    fn rounds(mut self, iterations: u64, planned: u32) -> Measured {
        let looks = looks(planned);
        let begin_ns = self.executor.now_ns();
        let mut rounds: Vec<Round> = Vec::new();
        let mut orders = Vec::new();
        let mut repetition = Repetition::new(self.failures.len());
        let mut process = 0;
        let (mut end, mut alpha_share) = (End::Rounds, 1.0);
        let mut spent = 0.0;
        for done in 1..=planned {
            let due = u64::from(done - 1) * u64::from(self.plan.processes) / u64::from(planned);
            if due > u64::from(process) {
                process = due as u32;
                for (contender, failure) in self.executor.refresh() {
                    self.failures[contender] = Some(failure);
                }
                self.warmed_up(iterations);
            }
            let alive = self.alive();
            if alive.len() < 2 && alive.len() < self.failures.len() - self.extras() {
                end = End::Alone;
                break;
            }
            if orders.is_empty() {
                orders = balanced(&alive, &mut self.random);
            }
            let order = orders.pop().unwrap_or_default();
            let round = self.round(order, process, iterations);
            if self.failures.iter().filter(|f| f.is_none()).count() < round.order.len() {
                orders.clear();
            }
            repetition.see(&round, |sample| self.cost_ns(sample));
            rounds.push(round);
            self.executor.progress(done, planned);
            if self.executor.interrupted() {
                end = End::Interrupted;
                break;
            }
            if let Some(&(_, share)) = looks.iter().find(|look| look.0 == done) {
                alpha_share = share;
                spent += share;
                if done < planned && self.is_narrow(&rounds, iterations, share) {
                    end = End::Target;
                    break;
                }
            }
            // What no look has spent yet is there for an end that no interval had a say in.
            let unspent = 1.0 - spent;
            if self.executor.now_ns().saturating_sub(begin_ns) >= self.plan.limit_ns {
                (end, alpha_share) = (End::Limit, unspent.max(alpha_share));
                break;
            }
            let repeated = match self.plan.stop {
                Stop::Repetition { quiet_ns } => repetition.is_quiet(quiet_ns, &self.alive()),
                _ => false,
            };
            if repeated {
                (end, alpha_share) = (End::Target, unspent.max(alpha_share));
                break;
            }
        }
        Measured { iterations, rounds, failures: self.failures, end, alpha_share, planned }
    }

    /// Twin and empty contender: there, but nobody asked for them.
    fn extras(&self) -> usize {
        usize::from(self.roles.twin.is_some()) + usize::from(self.roles.empty.is_some())
    }

    fn round(&mut self, order: Vec<usize>, process: u32, iterations: u64) -> Round {
        let before = self.executor.weather();
        let mut samples = vec![None; self.failures.len()];
        // The empty contender always comes last: its own work disturbs nobody that way.
        for contender in order.iter().copied().chain(self.roles.empty) {
            samples[contender] = self.sample(contender, iterations);
        }
        let after = self.executor.weather();
        let difference = |after: Option<u64>, before: Option<u64>| {
            after.zip(before).map(|(after, before)| after.saturating_sub(before))
        };
        let weather = Weather {
            steal_ticks: difference(after.steal_ticks, before.steal_ticks),
            pressure_us: difference(after.pressure_us, before.pressure_us),
        };
        Round { order, process, weather, samples }
    }

    fn is_narrow(&self, rounds: &[Round], iterations: u64, share: f64) -> bool {
        let Stop::Width { target } = self.plan.stop else { return false };
        let measured = Measured {
            iterations,
            rounds: rounds.to_vec(),
            failures: self.failures.clone(),
            end: End::Target,
            alpha_share: share,
            planned: 0,
        };
        let judged = compare::judge(&measured, self.roles, self.plan);
        let mut intervals = judged
            .comparisons
            .iter()
            .map(|c| c.interval)
            .chain(self.roles.twin.map(|_| judged.floor.interval));
        intervals.all(|interval| interval.is_some_and(|interval| interval.width() <= target))
    }
}

/// Orders of one or two blocks of rounds in which every contender stands at every place equally
/// often and, but for the ends, follows every other one equally often (Williams 1949): a square for
/// an even number of contenders, a square and its mirror image for an odd one. Which contender is
/// which row, and which row comes when, is random. Two contenders: ABBA or BAAB.
///
/// Returned last first: the caller pops.
fn balanced(contenders: &[usize], random: &mut Random) -> Vec<Vec<usize>> {
    let n = contenders.len();
    let mut names = contenders.to_vec();
    random.shuffle(&mut names);
    if n < 2 {
        return vec![names];
    }
    if n == 2 {
        let (ab, ba) = (names.clone(), vec![names[1], names[0]]);
        return vec![ba, ab];
    }
    // First row 0, 1, n-1, 2, n-2, …; further rows add r modulo n.
    let first: Vec<usize> =
        (0..n).map(|i| if i % 2 == 1 { i.div_ceil(2) } else { (n - i / 2) % n }).collect();
    let mut rows: Vec<Vec<usize>> =
        (0..n).map(|r| first.iter().map(|x| names[(x + r) % n]).collect()).collect();
    if n % 2 == 1 {
        let mirrored = rows.iter().map(|row| row.iter().rev().copied().collect());
        let mirrored: Vec<Vec<usize>> = mirrored.collect();
        rows.extend(mirrored);
    }
    random.shuffle(&mut rows);
    rows
}

/// The state of the repetition rule, per contender.
struct Repetition {
    /// Smallest sample so far, in nanoseconds.
    minimum_ns: Vec<u64>,
    /// Time received since it was found.
    quiet_ns: Vec<u64>,
    /// All samples, to count those near the minimum.
    all_ns: Vec<Vec<u64>>,
}

impl Repetition {
    fn new(contenders: usize) -> Repetition {
        Repetition {
            minimum_ns: vec![u64::MAX; contenders],
            quiet_ns: vec![0; contenders],
            all_ns: vec![Vec::new(); contenders],
        }
    }

    fn see(&mut self, round: &Round, cost_ns: impl Fn(&Sample) -> u64) {
        for (contender, sample) in round.samples.iter().enumerate() {
            let Some(cost_ns) = sample.as_ref().map(&cost_ns) else { continue };
            self.all_ns[contender].push(cost_ns);
            if cost_ns < self.minimum_ns[contender] {
                self.minimum_ns[contender] = cost_ns;
                self.quiet_ns[contender] = 0;
            } else {
                self.quiet_ns[contender] += cost_ns;
            }
        }
    }

    fn is_quiet(&self, quiet_ns: u64, contenders: &[usize]) -> bool {
        contenders.iter().all(|&contender| {
            let near = self.minimum_ns[contender].saturating_add(self.minimum_ns[contender] / 100);
            let visits = self.all_ns[contender].iter().filter(|&&ns| ns <= near).count();
            self.quiet_ns[contender] >= quiet_ns && visits >= 3
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// How often each contender stands at each place, and how often it follows each other one.
    type Counts = BTreeMap<(usize, usize), usize>;

    fn counts(n: usize, seed: u64) -> (Counts, Counts) {
        let contenders: Vec<usize> = (0..n).map(|i| i * 10).collect();
        let rows = balanced(&contenders, &mut Random::new(seed));
        assert_eq!(rows.len(), if n.is_multiple_of(2) { n } else { 2 * n });
        let (mut places, mut follows) = (Counts::new(), Counts::new());
        for row in rows {
            for (place, &contender) in row.iter().enumerate() {
                *places.entry((contender, place)).or_insert(0) += 1;
            }
            for pair in row.windows(2) {
                *follows.entry((pair[0], pair[1])).or_insert(0) += 1;
            }
        }
        (places, follows)
    }

    #[test]
    fn orders_balance_places_and_what_ran_before() {
        for n in 2..9 {
            for seed in 0..5 {
                let (places, follows) = counts(n, seed);
                let each = if n.is_multiple_of(2) { 1 } else { 2 };
                assert_eq!(places.len(), n * n);
                assert!(places.values().all(|&count| count == each), "{n}: {places:?}");
                assert_eq!(follows.len(), n * (n - 1));
                assert!(follows.values().all(|&count| count == each), "{n}: {follows:?}");
            }
        }
    }

    #[test]
    fn orders_differ_by_seed_and_not_by_run() {
        let orders = |seed| balanced(&[0, 1, 2, 3, 4], &mut Random::new(seed));
        assert_eq!(orders(1), orders(1));
        assert_ne!(orders(1), orders(2));
    }

    #[test]
    fn looks_spend_the_whole_error_budget_and_no_more() {
        for planned in [1, 12, 24, 50, 100, 192, 200, 5000] {
            let looks = looks(planned);
            assert_eq!(looks.last().unwrap().0, planned);
            let spent: f64 = looks.iter().map(|look| look.1).sum();
            assert!((spent - 1.0).abs() < 1e-12, "{planned}: {looks:?}");
            assert!(looks.windows(2).all(|pair| pair[0].0 < pair[1].0), "{planned}: {looks:?}");
        }
        assert_eq!(looks(20), [(20, 1.0)]);
        assert_eq!(looks(192), [(24, 0.125), (48, 0.125), (96, 0.25), (192, 0.5)]);
    }
}
