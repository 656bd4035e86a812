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
//!
//! Rounds come in sets, each with fresh processes. A [`Course`] stops between sets, so that other
//! measurements can run meanwhile and a case sees the machine in several of its states.

use crate::compare;
pub use crate::plan::{End, Measured, Plan, Roles, Round, Stop, Weather};
use crate::sample::{Failure, Sample};
use crate::stats::{Random, median};

/// The fewest rounds a plan aims at where their number does not decide whether there is an interval.
const FEWEST_ROUNDS: u32 = 12;
/// More rounds than this tell nothing new.
const MOST_ROUNDS: u32 = 100_000;
/// Rounds after which their number is planned again.
const FIRST_ROUNDS: u32 = 8;
/// No look before this many rounds: an interval of so few is never narrow.
const FIRST_LOOK: u32 = 24;
/// How many times what a sample is to take may go into what iterations need before they are timed.
const BESIDE: u64 = 4;
/// Nobody does so many within the time of a sample.
const MOST_ITERATIONS: u64 = 1 << 40;

/// What runs samples and knows the time. One real one drives worker processes, one runs commands,
/// fake ones test this file.
pub trait Executor {
    /// Samples a contender.
    ///
    /// # Errors
    /// The failure that costs the contender its row. It is not asked again.
    fn sample(&mut self, contender: usize, iterations: u64) -> Result<Sample, Failure>;

    /// Gives each of these contenders a fresh process, in this order and once all old ones have ended: what a
    /// process leaves, its pages above all, is what the next one to start gets.
    ///
    /// # Errors
    /// By contender number: the failures of those that did not come back.
    fn refresh(&mut self, contenders: &[usize]) -> Vec<(usize, Failure)>;

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
    let mut course = Course::begin(executor, failures, roles, plan);
    while course.set(executor) {}
    course.finish()
}

/// How many rounds the budget allows when the slowest sample takes `sample_ns`, and no fewer than an
/// interval of so many comparisons needs.
fn planned_rounds(plan: &Plan, comparisons: usize, sample_ns: u64) -> u32 {
    if let Some(rounds) = plan.rounds {
        return rounds.max(1);
    }
    let fitting = plan.budget_ns / sample_ns.max(1);
    let alpha_each = plan.alpha / comparisons.max(1) as f64;
    let fewest = match plan.fresh {
        // Half as many again, in case they correlate somewhat.
        true => (crate::pairs::rounds_needed(alpha_each) * 3 / 2).min(MOST_ROUNDS as usize) as u32,
        false => FEWEST_ROUNDS,
    };
    let rounds = u32::try_from(fitting).unwrap_or(MOST_ROUNDS).clamp(fewest, MOST_ROUNDS);
    let rounds = rounds.min(plan.most_rounds.unwrap_or(MOST_ROUNDS));
    rounds.max(plan.least_rounds.unwrap_or(1)).max(sets(plan))
}

/// Sets of processes; commands need none, each of their samples is a process.
fn sets(plan: &Plan) -> u32 {
    if plan.fresh { 1 } else { plan.processes.max(1) }
}

/// The rounds after which intervals are looked at, each with the share of the error budget it may
/// spend. The shares add up to 1, so by the union bound the chance of any false alarm at any look
/// stays within alpha, whatever the correlation of the looks.
///
/// Within one set of processes: eighth, quarter, half and all of the planned rounds, where the last has
/// half of the budget. With several sets: after the half and three quarters of them, if half of them
/// are four; after a quarter, which has half of the budget, and the half, where that is to do as a rule.
fn looks(planned: u32, sets: u32, stop: Stop) -> Vec<(u32, f64)> {
    let early = match (sets, stop) {
        (2.., Stop::Said { .. }) => {
            vec![(set_end(planned, sets, sets / 4), 0.5), (set_end(planned, sets, sets / 2), 0.25)]
        }
        (0 | 1, _) => vec![(planned / 8, 0.125), (planned / 4, 0.125), (planned / 2, 0.25)],
        (8.., _) => vec![
            (set_end(planned, sets, sets / 2), 0.25),
            (set_end(planned, sets, sets * 3 / 4), 0.25),
        ],
        _ => Vec::new(),
    };
    let least = if sets > 1 { 1 } else { FIRST_LOOK };
    let early = early.into_iter().filter(|&(rounds, _)| rounds >= least && rounds < planned);
    let mut looks: Vec<(u32, f64)> = early.collect();
    let spent: f64 = looks.iter().map(|look| look.1).sum();
    looks.push((planned, 1.0 - spent));
    looks
}

/// Rounds done when so many of the sets are.
fn set_end(planned: u32, sets: u32, done: u32) -> u32 {
    (u64::from(planned) * u64::from(done) / u64::from(sets.max(1))) as u32
}

/// A measurement under way.
pub struct Course {
    plan: Plan,
    roles: Roles,
    random: Random,
    failures: Vec<Option<Failure>>,
    iterations: u64,
    planned: u32,
    looks: Vec<(u32, f64)>,
    rounds: Vec<Round>,
    orders: Vec<Vec<usize>>,
    repetition: Repetition,
    /// What the last sample took besides what was timed.
    untimed_ns: u64,
    /// The least of that by contender: what a sample takes whatever its iterations.
    fixed_ns: Vec<u64>,
    /// The next set.
    process: u32,
    spent_ns: u64,
    alpha_share: f64,
    /// What the looks so far have spent of the error budget.
    alpha_spent: f64,
    end: Option<End>,
}

impl Course {
    /// Calibrates and warms up.
    pub fn begin(
        executor: &mut dyn Executor,
        failures: Vec<Option<Failure>>,
        roles: Roles,
        plan: &Plan,
    ) -> Course {
        let mut course = Course {
            plan: plan.clone(),
            roles,
            random: Random::new(plan.seed),
            iterations: 1,
            planned: 1,
            looks: Vec::new(),
            rounds: Vec::new(),
            orders: Vec::new(),
            repetition: Repetition::new(failures.len()),
            untimed_ns: 0,
            fixed_ns: vec![u64::MAX; failures.len()],
            failures,
            process: 0,
            spent_ns: 0,
            alpha_share: 1.0,
            alpha_spent: 0.0,
            end: None,
        };
        course.iterations = plan.iterations.unwrap_or_else(|| course.calibrated(executor));
        let sample_ns = course.warmed_up(executor);
        course.planned = planned_rounds(plan, course.comparisons(), sample_ns);
        course.looks = course.planned_looks();
        course
    }

    /// Runs the next set of rounds, with fresh processes unless it is the first. Whether more are
    /// left.
    pub fn set(&mut self, executor: &mut dyn Executor) -> bool {
        if self.end.is_some() {
            return false;
        }
        if self.process > 0 {
            let mut seats = self.alive_and_empty();
            self.random.shuffle(&mut seats);
            for (contender, failure) in executor.refresh(&seats) {
                self.fail(contender, failure);
            }
            self.warmed_up(executor);
        }
        let sets = sets(&self.plan);
        let begin_ns = executor.now_ns();
        let before_ns = self.spent_ns;
        loop {
            self.end = self.turn(executor);
            self.spent_ns = before_ns + executor.now_ns().saturating_sub(begin_ns);
            self.end = self.end.or_else(|| self.ended());
            let done = self.rounds.len() as u32;
            if self.end.is_some() {
                return false;
            }
            if done == FIRST_ROUNDS && sets == 1 {
                self.plan_again();
            }
            if done >= set_end(self.planned, sets, self.process + 1) || self.is_late() {
                break;
            }
        }
        self.process += 1;
        if self.process == 1 && sets > 1 {
            self.plan_again();
        }
        true
    }

    /// Ends it between two sets, for want of time.
    pub fn end(&mut self) {
        self.end = self.end.or(Some(End::Limit));
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// What happened.
    #[must_use]
    pub fn finish(self) -> Measured {
        let end = self.end.unwrap_or(End::Interrupted);
        let alpha_share = match end {
            // No interval had a say in it.
            End::Limit | End::Interrupted | End::Alone => self.unspent(),
            End::Target | End::Rounds => self.alpha_share,
        };
        Measured {
            iterations: self.iterations,
            rounds: self.rounds,
            failures: self.failures,
            end,
            alpha_share,
            planned: self.planned,
        }
    }

    /// The first rounds tell what a sample takes better than the warm-up did. How many rounds there
    /// are so depends on times and never on ratios.
    fn plan_again(&mut self) {
        let cost = |contender: usize| {
            let samples = self.rounds.iter().filter_map(|round| round.samples[contender].as_ref());
            median(&samples.map(|sample| self.cost_ns(sample) as f64).collect::<Vec<f64>>())
        };
        let slowest = self.alive().into_iter().filter_map(cost).fold(0.0, f64::max);
        let done = self.rounds.len() as u32;
        let left = sets(&self.plan) - self.process.min(sets(&self.plan));
        self.planned =
            planned_rounds(&self.plan, self.comparisons(), slowest as u64).max(done + left);
        self.looks = self.planned_looks();
    }

    /// Who asks for so many rounds gets them, and a rule that asks no interval has no look at any: nothing is
    /// spent before their end.
    fn planned_looks(&self) -> Vec<(u32, f64)> {
        match (self.plan.rounds, self.plan.stop) {
            (None, stop @ (Stop::Width { .. } | Stop::Said { .. })) => {
                looks(self.planned, sets(&self.plan), stop)
            }
            _ => vec![(self.planned, 1.0)],
        }
    }

    /// The contenders that are left and measured, without the empty one.
    fn alive(&self) -> Vec<usize> {
        (0..self.failures.len())
            .filter(|&i| self.failures[i].is_none() && Some(i) != self.roles.empty)
            .collect()
    }

    fn sample(
        &mut self,
        executor: &mut dyn Executor,
        contender: usize,
        iterations: u64,
    ) -> Option<Sample> {
        if self.failures[contender].is_some() {
            return None;
        }
        let begin_ns = executor.now_ns();
        match executor.sample(contender, iterations) {
            Ok(sample) => {
                let whole_ns = executor.now_ns().saturating_sub(begin_ns);
                self.untimed_ns = whole_ns.saturating_sub(sample.wall_ns);
                self.fixed_ns[contender] = self.fixed_ns[contender].min(self.untimed_ns);
                Some(sample)
            }
            Err(failure) => {
                self.fail(contender, failure);
                None
            }
        }
    }

    /// Costs a contender its row, unless it was cut short by the user, which is no fault of its.
    fn fail(&mut self, contender: usize, failure: Failure) {
        if failure != Failure::Interrupted {
            self.failures[contender] = Some(failure);
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

    /// What the sample just taken costs its contender, or a share of what its iterations needed beforehand,
    /// such as tables to erase from: two operations on thousands of keys are timed for nothing beside it.
    fn effort_ns(&self, contender: usize, sample: &Sample) -> u64 {
        let beside_ns = self.untimed_ns - self.fixed_ns[contender];
        self.cost_ns(sample).max(beside_ns / BESIDE)
    }

    /// The iterations for everybody: the slowest contender's sample takes about `sample_ns`, the
    /// fastest one's at least `shortest_ns`. Found by doubling, then settled once more from samples
    /// of that length, because the doubling ran on cold caches.
    fn calibrated(&mut self, executor: &mut dyn Executor) -> u64 {
        let mut estimates = vec![None; self.failures.len()];
        // What so many iterations took.
        let mut reached = vec![(1, 0); self.failures.len()];
        for contender in self.alive() {
            let mut iterations = 1;
            while let Some(sample) = self.sample(executor, contender, iterations) {
                let cost_ns = self.effort_ns(contender, &sample);
                estimates[contender] = Some(cost_ns.max(1) as f64 / iterations as f64);
                reached[contender] = (iterations, self.cost_ns(&sample));
                if cost_ns >= self.plan.sample_ns / 4 {
                    break;
                }
                // Everybody would have to do as many.
                if iterations >= MOST_ITERATIONS {
                    self.fail(contender, constant(iterations, self.cost_ns(&sample)));
                    break;
                }
                // Jump most of the way once the reading means something.
                let factor = match cost_ns {
                    // What is not timed may go with the iterations, which the first do not tell.
                    _ if self.untimed_ns / BESIDE >= self.plan.sample_ns => 2,
                    0..10_000 => 8,
                    _ => (self.plan.sample_ns / 2 / cost_ns).clamp(2, 64),
                };
                iterations = iterations.saturating_mul(factor);
            }
        }
        let first = self.common_iterations(&estimates);
        for contender in self.alive() {
            let Some(sample) = self.sample(executor, contender, first) else { continue };
            let cost_ns = self.effort_ns(contender, &sample);
            estimates[contender] = Some(cost_ns.max(1) as f64 / first as f64);
            let (iterations, before_ns) = reached[contender];
            if first / iterations >= 4 && self.cost_ns(&sample) < 2 * before_ns {
                self.fail_if_constant(executor, contender, first);
            }
        }
        self.common_iterations(&estimates)
    }

    /// Costs a contender its row whose samples take as long whatever their iterations. Asked three times, because a slow
    /// first call, or a disturbance, looks the same once; and of more than planned, because of fewer iterations what is
    /// fixed, such as starting threads, may be nearly all.
    fn fail_if_constant(&mut self, executor: &mut dyn Executor, contender: usize, few: u64) {
        let many = few.saturating_mul(8);
        let mut said_ns = 0;
        for _ in 0..3 {
            let costs = [few, many].map(|iterations| {
                self.sample(executor, contender, iterations).map(|sample| self.cost_ns(&sample))
            });
            match costs {
                [Some(few_ns), Some(many_ns)] if many_ns < 2 * few_ns => said_ns = many_ns,
                _ => return,
            }
        }
        self.fail(contender, constant(many, said_ns));
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
        by_slowest.max(by_fastest).clamp(1.0, MOST_ITERATIONS as f64).round() as u64
    }

    /// Samples that are thrown away; returns what the slowest of the last ones took.
    fn warmed_up(&mut self, executor: &mut dyn Executor) -> u64 {
        let mut slowest_ns = 1;
        for turn in 0..self.plan.warm_ups.max(1) {
            for contender in self.alive() {
                if let Some(sample) = self.sample(executor, contender, self.iterations)
                    && turn + 1 >= self.plan.warm_ups
                {
                    slowest_ns = slowest_ns.max(self.effort_ns(contender, &sample));
                }
            }
        }
        slowest_ns
    }

    /// One round; why it was the last one, if it could not be run or the user says so.
    fn turn(&mut self, executor: &mut dyn Executor) -> Option<End> {
        let alive = self.alive();
        // A command beside a reference that failed has its time all the same.
        let fewest = if self.plan.fresh { 1 } else { 2 };
        let is_few = alive.len() < fewest && alive.len() < self.failures.len() - self.extras();
        // Nobody is left to be compared with a copy that runs alone.
        if is_few || alive.iter().all(|&contender| Some(contender) == self.roles.twin) {
            // Nobody of those who were getting ready is.
            return Some(if executor.interrupted() { End::Interrupted } else { End::Alone });
        }
        if self.orders.last().is_none_or(|order| order.len() > alive.len()) {
            self.orders = balanced(&alive, &mut self.random);
        }
        let order = self.orders.pop().unwrap_or_default();
        let round = self.round(executor, order);
        let is_interrupted = executor.interrupted();
        // Who has no reading in a set has no verdict, so a set that hardly began would cost those before it.
        let is_first = self.rounds.last().is_some_and(|last| last.process < self.process);
        let is_whole = self.alive().iter().all(|&i| round.samples[i].is_some());
        let is_begun = round.samples.iter().any(Option::is_some);
        if is_interrupted && (is_first && !is_whole || !is_begun) {
            return Some(End::Interrupted);
        }
        let mut repetition = std::mem::replace(&mut self.repetition, Repetition::new(0));
        repetition.see(&round, |sample| self.cost_ns(sample));
        self.repetition = repetition;
        self.rounds.push(round);
        executor.progress(self.rounds.len() as u32, self.planned);
        is_interrupted.then_some(End::Interrupted)
    }

    /// Whether there are fewer rounds than were asked for at least.
    fn is_short(&self) -> bool {
        self.plan.least_rounds.is_some_and(|least| (self.rounds.len() as u32) < least)
    }

    /// Whether the sets so far have had their share of the limit.
    fn is_late(&self) -> bool {
        if self.is_short() {
            return false;
        }
        let sets = u128::from(sets(&self.plan));
        let share = u128::from(self.plan.limit_ns) * u128::from(self.process + 1) / sets;
        u128::from(self.spent_ns) >= share
    }

    /// Why measuring ends after this round, if it does.
    fn ended(&mut self) -> Option<End> {
        let done = self.rounds.len() as u32;
        if let Some(&(_, share)) = self.looks.iter().find(|look| look.0 == done) {
            self.alpha_share = share;
            self.alpha_spent += share;
            if done < self.planned && !self.is_short() && self.is_enough(share) {
                return Some(End::Target);
            }
        }
        let quiet = match self.plan.stop {
            // Not before every set of processes was seen.
            Stop::Repetition { quiet_ns }
                if self.process + 1 >= sets(&self.plan)
                    && !self.is_short()
                    && self.plan.rounds.is_none() =>
            {
                self.repetition.is_quiet(quiet_ns, &self.alive())
            }
            _ => false,
        };
        if self.is_late() && done < self.planned && self.process + 1 >= sets(&self.plan) {
            return Some(End::Limit);
        }
        if quiet {
            self.alpha_share = self.unspent();
            return Some(End::Target);
        }
        (done >= self.planned).then_some(End::Rounds)
    }

    /// The share of the error budget of an end that no interval had a say in: what the looks have left, or
    /// what the last of them had.
    fn unspent(&self) -> f64 {
        (1.0 - self.alpha_spent).max(self.alpha_share)
    }

    fn alive_and_empty(&self) -> Vec<usize> {
        let empty = self.roles.empty.filter(|&empty| self.failures[empty].is_none());
        self.alive().into_iter().chain(empty).collect()
    }

    fn comparisons(&self) -> usize {
        self.failures.len().saturating_sub(1 + self.extras())
    }

    /// Twin and empty contender: there, but nobody asked for them.
    fn extras(&self) -> usize {
        usize::from(self.roles.twin.is_some()) + usize::from(self.roles.empty.is_some())
    }

    fn round(&mut self, executor: &mut dyn Executor, order: Vec<usize>) -> Round {
        let (process, iterations) = (self.process, self.iterations);
        let before = executor.weather();
        let mut samples = vec![None; self.failures.len()];
        // The empty contender always comes last: its own work disturbs nobody that way.
        for contender in order.iter().copied().chain(self.roles.empty) {
            samples[contender] = self.sample(executor, contender, iterations);
        }
        let after = executor.weather();
        let difference = |after: Option<u64>, before: Option<u64>| {
            after.zip(before).map(|(after, before)| after.saturating_sub(before))
        };
        let weather = Weather {
            steal_ticks: difference(after.steal_ticks, before.steal_ticks),
            pressure_us: difference(after.pressure_us, before.pressure_us),
        };
        Round { order, process, weather, samples }
    }

    /// Whether a look with this share of the error budget finds what the rule asks for.
    fn is_enough(&self, share: f64) -> bool {
        let measured = || Measured {
            iterations: self.iterations,
            rounds: self.rounds.clone(),
            failures: self.failures.clone(),
            end: End::Target,
            alpha_share: share,
            planned: self.planned,
        };
        match self.plan.stop {
            Stop::Width { target } => {
                let judged = compare::judge(&measured(), self.roles, &self.plan);
                let compared = judged.comparisons.iter().map(|c| c.interval);
                let mut all = compared.chain(self.roles.twin.map(|_| judged.floor.interval));
                all.all(|interval| interval.is_some_and(|interval| interval.width() <= target))
            }
            Stop::Said { above } => {
                !compare::leaves_open(&measured(), self.roles, &self.plan, above)
            }
            Stop::Repetition { .. } | Stop::Budget => false,
        }
    }
}

/// The samples of a contender take as long whatever their iterations.
fn constant(iterations: u64, said_ns: u64) -> Failure {
    let what =
        format!("takes {said_ns} ns for {iterations} iterations: its time does not grow with them");
    Failure::Broken { what }
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
                let quiet_ns = &mut self.quiet_ns[contender];
                *quiet_ns = quiet_ns.saturating_add(cost_ns);
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

    const SAID: Stop = Stop::Said { above: 0.1 };

    #[test]
    fn looks_spend_the_whole_error_budget_and_no_more() {
        for planned in [1, 12, 24, 50, 100, 192, 200, 5000] {
            for (sets, stop) in
                [1, 4, 8, 12].into_iter().flat_map(|sets| [(sets, Stop::Budget), (sets, SAID)])
            {
                let looks = looks(planned, sets, stop);
                assert_eq!(looks.last().unwrap().0, planned);
                let spent: f64 = looks.iter().map(|look| look.1).sum();
                assert!((spent - 1.0).abs() < 1e-12, "{planned}: {looks:?}");
                assert!(looks.windows(2).all(|pair| pair[0].0 < pair[1].0), "{planned}: {looks:?}");
            }
        }
        let usual = |planned, sets| looks(planned, sets, Stop::Budget);
        assert_eq!(usual(20, 1), [(20, 1.0)]);
        assert_eq!(usual(192, 1), [(24, 0.125), (48, 0.125), (96, 0.25), (192, 0.5)]);
        assert_eq!(usual(200, 4), [(200, 1.0)]);
        assert_eq!(usual(200, 8), [(100, 0.25), (150, 0.25), (200, 0.5)]);
        assert_eq!(looks(160, 16, SAID), [(40, 0.5), (80, 0.25), (160, 0.25)]);
    }
}
