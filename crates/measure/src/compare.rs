//! From samples to verdicts: which clock, paired ratios, intervals, the noise floor of the hidden
//! twin, and the words.
//!
//! A pure function of a finished measurement ([`judge`]); a result that was saved can be judged
//! again by any later version. Never says "equal".

use serde::{Serialize, Serializer};

use crate::pairs::{Common, Pairs, Said};
pub use crate::plan::Clock;
use crate::plan::{Measured, Plan, Roles, Stop};
use crate::sample::Sample;
use crate::sets::{self, Estimate, Sets};
use crate::stats::{Interval, lag1, mad, median, quantile, sign_interval};
pub use crate::verdict::{Broken, Seen, Unresolved, Verdict};

/// A sample whose wall time exceeds its processor time by more than this factor was disturbed.
const DISTURBED_FACTOR: f64 = 1.02;
/// Wall time as a whole counts as disturbed when more than this share of the samples was.
const DISTURBED_SHARE: f64 = 0.10;
/// As narrow as is asked for where nothing was.
const NARROW: f64 = 0.01;
/// Level at which it is decided whether the overhead is subtracted, 1 - this: one for all, or times would change
/// with whoever is compared, how many they are, and what error is allowed.
const KNOWN_AT: f64 = 0.01;
/// As a share of the time that is left, so much of the overhead may be unknown, or subtracted at all.
const KNOWN: f64 = 0.01;

/// A measurement with its verdicts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Judged {
    /// The clock of every figure below.
    pub clock: Clock,
    /// Why this clock.
    pub clock_reason: String,
    /// Share of samples whose wall time was more than 2 % above their processor time.
    pub disturbed_share: f64,
    /// Level of every interval below: 1 - this. The error budget of the last look, shared among the
    /// comparisons.
    pub alpha_each: f64,
    /// Time per iteration by contender number; `None` for one that failed.
    pub summaries: Vec<Option<Summary>>,
    /// What each used besides time, by contender number; `None` for one that failed.
    pub usage: Vec<Option<Usage>>,
    /// What the harness itself costs per iteration; `None` without an empty contender.
    pub overhead: Option<Overhead>,
    /// What the twin shows.
    pub floor: Floor,
    /// Everybody against the baseline, in the order of their numbers.
    pub comparisons: Vec<Comparison>,
}

/// Time per iteration of one contender, in nanoseconds, on the clock of the verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Samples with a reading.
    pub samples: usize,
    /// The least: what the hardware can do.
    pub ns_min: f64,
    /// The middle one.
    pub ns_median: f64,
    /// Median absolute deviation from the median.
    pub ns_mad: f64,
    /// 95 % of the samples took no longer.
    pub ns_p95: f64,
}

/// What one contender used per iteration: means, because the kernel counts some of these in ticks, and
/// a middle one of few ticks is one or none. Less the overhead's share, if that is subtracted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Usage {
    /// Processor time outside of the kernel, in nanoseconds; of commands only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ns_user: Option<f64>,
    /// Processor time in the kernel, in nanoseconds; of commands only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ns_system: Option<f64>,
    /// Page faults served without a device.
    pub minor_faults: f64,
    /// Page faults that waited for one.
    pub major_faults: f64,
    /// Times it gave the processor up.
    pub voluntary_switches: f64,
    /// Times it lost the processor.
    pub involuntary_switches: f64,
}

impl Usage {
    fn less(&self, spare: Option<Usage>) -> Usage {
        let Some(spare) = spare else { return *self };
        let less = |mine: f64, other: f64| (mine - other).max(0.0);
        let time = |mine: Option<f64>, other: Option<f64>| Some(less(mine?, other?));
        Usage {
            ns_user: time(self.ns_user, spare.ns_user),
            ns_system: time(self.ns_system, spare.ns_system),
            minor_faults: less(self.minor_faults, spare.minor_faults),
            major_faults: less(self.major_faults, spare.major_faults),
            voluntary_switches: less(self.voluntary_switches, spare.voluntary_switches),
            involuntary_switches: less(self.involuntary_switches, spare.involuntary_switches),
        }
    }
}

/// What the harness itself costs per iteration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Overhead {
    /// Median, in nanoseconds.
    pub ns_median: f64,
    /// The interval of the median, in nanoseconds, at the level of the verdicts.
    pub ns_low: f64,
    /// Its upper end.
    pub ns_high: f64,
    /// Upper end of the interval as a share of the fastest contender's median.
    pub share_most: f64,
    /// Whether more than a hundredth of some contender's readings do not exceed the median.
    pub overlaps: bool,
    /// Whether the median was subtracted from every figure: only if nothing overlaps, and if that share is
    /// below 1 %, or, for commands, if the interval is narrower than 1 % of what is left of the fastest; both at 99 %.
    pub subtracted: bool,
}

impl Overhead {
    /// The interval of a ratio to a baseline that takes `ns` less the median, for all that the overhead may be. That
    /// moves no end across 1: who takes longer does so whatever is taken from both.
    fn widened(&self, ends: Interval, ns: f64) -> Interval {
        // Of a baseline that may be all overhead there is no ratio; a hundredth of it leaves bounds as good as none.
        let shares =
            [self.ns_low, self.ns_high].map(|spare| ((spare - self.ns_median) / ns).min(0.99));
        let [a, b] = shares
            .map(|share| [ends.low, ends.high].map(|end| ((end - share) / (1.0 - share)).max(0.0)));
        Interval { low: a[0].min(b[0]), high: a[1].max(b[1]) }
    }
}

/// What the hidden copy of the baseline shows: how well identical code is known to be identical here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Floor {
    /// The twin's interval; `None` without a twin, with too few rounds, or sets that all read the same or vary
    /// without bounds.
    #[serde(serialize_with = "ends")]
    pub interval: Option<Interval>,
    /// How far that reaches from 1, as a factor less 1: identical code may differ by as much here, either
    /// way; `None` likewise.
    pub reach: Option<f64>,
}

impl Floor {
    fn of(interval: Option<Interval>) -> Floor {
        Floor { interval, reach: interval.map(|twin| twin.high.max(1.0 / twin.low) - 1.0) }
    }

    /// What a factor has to exceed 1 by, either way: nothing, unless the copy itself would be called
    /// different. Then something other than the code makes a difference, as large as the copy reaches.
    #[must_use]
    pub fn bar(&self) -> f64 {
        let differs = self.interval.is_some_and(|twin| !twin.contains(1.0));
        self.reach.filter(|_| differs).unwrap_or(0.0)
    }
}

/// One contender against the baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The contender's number.
    pub contender: usize,
    /// Rounds in which both had a reading.
    pub pairs: usize,
    /// Rounds dropped because a reading was 0.
    pub zero_readings: usize,
    /// Rounds whose log ratio was exactly 0: the clock ran out of resolution.
    pub exact_ties: usize,
    /// Correlation of a round's log ratio with the next one's.
    pub lag1: f64,
    /// Rounds that say as much as one that is independent of the others; 1 where they are, or with sets.
    pub block_rounds: usize,
    /// Time of the contender over time of the baseline: over the sets of processes the geometric mean of their medians,
    /// for commands the median over the rounds, or the mean of blocks of them. `None` without a single pair.
    pub ratio: Option<f64>,
    /// The ratio's interval; `None` with too few rounds, or sets that all read the same or vary without bounds.
    #[serde(serialize_with = "ends")]
    pub interval: Option<Interval>,
    /// The test against a ratio of 1 that belongs to the interval, adjusted for comparisons and looks as that
    /// is: at most alpha exactly where the interval has no 1.
    pub p_adjusted: f64,
    /// Sets of fresh processes that the interval covers; 0 where every round is one.
    pub sets: usize,
    /// In how many rounds it was slower, and faster.
    pub seen: Seen,
    /// The word.
    pub verdict: Verdict,
}

/// Judges a measurement.
#[must_use]
pub fn judge(measured: &Measured, roles: Roles, plan: &Plan) -> Judged {
    judged(measured, roles, plan, true)
}

/// Judges the times as measured, with no overhead subtracted: what can be compared with a measurement in
/// which none was.
#[must_use]
pub fn judge_as_measured(measured: &Measured, roles: Roles, plan: &Plan) -> Judged {
    judged(measured, roles, plan, false)
}

fn judged(measured: &Measured, roles: Roles, plan: &Plan, subtract: bool) -> Judged {
    let (clock, clock_reason, disturbed_share) = choose_clock(measured, roles, plan);
    let alive = |i: &usize| measured.failures[*i].is_none();
    let compared: Vec<usize> = (0..measured.failures.len())
        .filter(alive)
        .filter(|&i| i != roles.baseline && Some(i) != roles.twin && Some(i) != roles.empty)
        .collect();
    let count = comparisons(compared.len(), roles.chosen);
    let alpha_each = plan.alpha * measured.alpha_share / count as f64;
    let overhead = overhead(measured, roles, plan, clock, alpha_each)
        .map(|found| Overhead { subtracted: found.subtracted && subtract, ..found });
    let less = overhead.filter(|o| o.subtracted);
    let subtract_ns = less.map_or(0.0, |o| o.ns_median);
    let view = View { measured, clock, subtract_ns };
    let twin = roles.twin.filter(alive).filter(|_| alive(&roles.twin_of));
    let sets = match plan.fresh {
        true => None,
        false => Sets::new(&view.logs(roles.empty), twin.map(|twin| (twin, roles.twin_of))),
    };
    let pairs: Vec<Pairs> = compared.iter().map(|&i| view.pairs(i, roles.baseline)).collect();
    let twins = twin.map(|twin| view.pairs(twin, roles.twin_of));
    let common = match plan.fresh {
        true => Common::of(pairs.iter().chain(&twins)),
        false => Common::default(),
    };
    let floor = match (&sets, twins) {
        (Some(sets), _) => sets.twin().and_then(|twin| twin.interval(alpha_each)),
        (None, Some(twins)) => common.judged(&twins, alpha_each).interval,
        (None, None) => None,
    };
    let floor = Floor::of(floor);
    let summaries: Vec<Option<Summary>> = (0..measured.failures.len())
        .map(|i| if alive(&i) { view.summary(i) } else { None })
        .collect();
    let context = Context {
        alpha_each,
        plan,
        common,
        floor,
        less: less.zip(summaries[roles.baseline].map(|baseline| baseline.ns_median)),
        sets: measured.rounds.last().map_or(0, |round| round.process + 1),
        broken: match (alive(&roles.baseline), roles.twin) {
            (false, _) => Some(Broken::Baseline),
            (true, Some(twin)) if !alive(&twin) && roles.twin_of == roles.baseline => {
                Some(Broken::Copy)
            }
            _ => None,
        },
    };
    let comparison = |(&contender, pairs): (&usize, &Pairs)| {
        let estimate = sets.as_ref().and_then(|sets| sets.ratio(contender, roles.baseline));
        context.comparison(contender, pairs, estimate)
    };
    let comparisons = compared.iter().zip(&pairs).map(comparison).collect();
    let spare = roles.empty.filter(|_| subtract_ns > 0.0).and_then(|empty| view.usage(empty));
    let usage = (0..measured.failures.len())
        .map(|i| if alive(&i) { Some(view.usage(i)?.less(spare)) } else { None })
        .collect();
    Judged {
        clock,
        clock_reason,
        disturbed_share,
        alpha_each,
        summaries,
        usage,
        overhead,
        floor,
        comparisons,
    }
}

/// Whether some contender's time differs from that of the fastest by more than `above` (0.1 is ten percent)
/// and has no verdict, when the fastest becomes the baseline now that it is known.
#[must_use]
pub fn leaves_open(measured: &Measured, roles: Roles, plan: &Plan, above: f64) -> bool {
    let first = judge(measured, roles, plan);
    let time = |contender: usize| first.summaries[contender].map(|summary| summary.ns_median);
    let named = (0..measured.failures.len())
        .filter(|&contender| Some(contender) != roles.twin && Some(contender) != roles.empty);
    let timed = named.filter_map(|contender| Some((contender, time(contender)?)));
    let Some((fastest, _)) = timed.min_by(|a, b| a.1.total_cmp(&b.1)) else { return false };
    let judged = judge(measured, Roles { baseline: fastest, chosen: true, ..roles }, plan);
    let is_large = |ratio: f64| ratio.max(1.0 / ratio) > 1.0 + above;
    judged.comparisons.iter().any(|comparison| {
        let is_open = matches!(comparison.verdict, Verdict::NotResolved { .. });
        is_open && comparison.ratio.is_some_and(is_large)
    })
}

/// A contender's own time per iteration as measured, in nanoseconds, and its interval at level 1 - alpha: what two
/// runs that were not interleaved have of each other. Over sets of processes the geometric mean of their
/// medians, for commands what their rounds say.
///
/// # Errors
/// Why there is no interval.
pub fn time_estimate(
    measured: &Measured,
    plan: &Plan,
    clock: Clock,
    contender: usize,
    alpha: f64,
) -> Result<(f64, Interval), Unresolved> {
    let view = View { measured, clock, subtract_ns: 0.0 };
    let logs = view.logs(None);
    if plan.fresh {
        let logs: Vec<f64> = logs.iter().filter_map(|round| round.1[contender]).collect();
        let (rounds, times) = (logs.len(), Pairs { logs, zero_readings: 0 });
        let said = Common::of([&times]).judged(&times, alpha);
        let found = said.log.zip(said.interval).map(|(log, interval)| (log.exp(), interval));
        let needed = || said.needed(rounds, alpha);
        return found.ok_or_else(|| Unresolved::TooFew { rounds, needed: needed() });
    }
    let of = |alpha| sets::alone(&logs, contender, alpha);
    of(alpha).ok_or_else(|| {
        let own = logs.iter().filter(|round| round.1[contender].is_some());
        let mut sets = own.map(|round| round.0);
        let first = sets.next();
        match sets.all(|set| Some(set) == first) {
            true => Unresolved::OneProcess,
            false if of(0.5).is_some() => Unresolved::Unbounded,
            false => Unresolved::Resolution,
        }
    })
}

/// The median of a contender's own time per iteration over all rounds, in nanoseconds, as measured.
#[must_use]
pub fn time_median(measured: &Measured, clock: Clock, contender: usize) -> Option<f64> {
    median(&View { measured, clock, subtract_ns: 0.0 }.per_iteration(contender))
}

/// Comparisons that share the error budget: everybody with the baseline, or, if that was chosen after
/// looking, all pairs.
pub(crate) fn comparisons(compared: usize, chosen: bool) -> usize {
    if chosen { (compared * (compared + 1) / 2).max(1) } else { compared.max(1) }
}

/// Processor time if the code stays on its thread and the wall clock is disturbed, wall time
/// otherwise. Decided over all contenders at once, never by how the ratios look.
fn choose_clock(measured: &Measured, roles: Roles, plan: &Plan) -> (Clock, String, f64) {
    let samples = || {
        let samples = measured.rounds.iter().flat_map(|round| round.samples.iter().enumerate());
        samples.filter(|(i, _)| Some(*i) != roles.empty).filter_map(|(_, sample)| sample.as_ref())
    };
    let count = samples().count();
    let without_cpu = samples().filter(|sample| sample.cpu_ns.is_none_or(|ns| ns == 0)).count();
    let disturbed = samples()
        .filter(|s| s.wall_ns as f64 > s.cpu_ns.unwrap_or(s.wall_ns) as f64 * DISTURBED_FACTOR)
        .count();
    let share = disturbed as f64 / count.max(1) as f64;
    let unknown = match samples().any(|sample| sample.cpu_ns.is_none()) {
        true => "no processor time is known for some samples",
        false => "the processor time of some samples is zero",
    };
    let wall = |reason: &str| (Clock::Wall, reason.to_owned(), share);
    match plan.clock {
        Some(Clock::Cpu) if samples().any(|s| s.cpu_ns.is_none()) => return wall(unknown),
        Some(clock) => return (clock, "as asked".to_owned(), share),
        None => {}
    }
    if roles.wall_only {
        return wall("the workload may use threads, wait or sleep");
    }
    if without_cpu > 0 {
        return wall(unknown);
    }
    if count == 0 {
        return wall("nothing was measured");
    }
    let percent = share * 100.0;
    if share > DISTURBED_SHARE {
        let reason = format!("wall time was disturbed in {percent:.0} % of the samples");
        (Clock::Cpu, reason, share)
    } else {
        let few = match percent < 1.0 {
            true => "less than 1".to_owned(),
            false => format!("only {percent:.0}"),
        };
        wall(&format!("wall time was disturbed in {few} % of the samples"))
    }
}

fn overhead(
    measured: &Measured,
    roles: Roles,
    plan: &Plan,
    clock: Clock,
    alpha_each: f64,
) -> Option<Overhead> {
    let view = View { measured, clock, subtract_ns: 0.0 };
    let empty = view.per_iteration(roles.empty?);
    let ns_median = median(&empty)?;
    let known = sign_interval(&empty, KNOWN_AT)?;
    // Where there is none there is none of a ratio either.
    let interval = sign_interval(&empty, alpha_each).unwrap_or(known);
    let others = (0..measured.failures.len())
        .filter(|&i| Some(i) != roles.empty && measured.failures[i].is_none());
    let readings: Vec<Vec<f64>> = others.map(|i| view.per_iteration(i)).collect();
    // Where nobody has a time it is no share of any.
    let fastest = readings.iter().filter_map(|own| median(own)).min_by(f64::total_cmp)?;
    // A command cannot be iterated to dwarf the shell's start; there the start is subtracted if it
    // is known well enough beside what it leaves.
    let share = match plan.iterations {
        Some(_) => known.width() / (fastest - ns_median),
        None => known.high / fastest,
    };
    // Less it, readings that do not exceed it would be zero and left out: the rest took too long, and its
    // ratio is too near to 1.
    let is_below =
        |own: &Vec<f64>| 100 * own.iter().filter(|&&ns| ns <= ns_median).count() > own.len();
    let overlaps = readings.iter().any(is_below);
    Some(Overhead {
        ns_median,
        ns_low: interval.low,
        ns_high: interval.high,
        share_most: interval.high / fastest,
        overlaps,
        subtracted: share < KNOWN && !overlaps,
    })
}

/// A measurement on one clock.
pub(crate) struct View<'a> {
    pub(crate) measured: &'a Measured,
    pub(crate) clock: Clock,
    /// Overhead per iteration.
    pub(crate) subtract_ns: f64,
}

impl View<'_> {
    /// One contender's time per iteration in each round; 0 stays 0.
    fn reading(&self, sample: &Sample) -> f64 {
        let per_iteration = self.clock.of(sample) as f64 / self.measured.iterations.max(1) as f64;
        if per_iteration == 0.0 { 0.0 } else { (per_iteration - self.subtract_ns).max(0.0) }
    }

    fn per_iteration(&self, contender: usize) -> Vec<f64> {
        let samples = self.measured.rounds.iter().filter_map(|r| r.samples[contender].as_ref());
        samples.map(|sample| self.reading(sample)).filter(|&ns| ns > 0.0).collect()
    }

    fn summary(&self, contender: usize) -> Option<Summary> {
        let values = self.per_iteration(contender);
        Some(Summary {
            samples: values.len(),
            ns_min: values.iter().copied().fold(f64::INFINITY, f64::min),
            ns_median: median(&values)?,
            ns_mad: mad(&values)?,
            ns_p95: quantile(&values, 0.95)?,
        })
    }

    fn usage(&self, contender: usize) -> Option<Usage> {
        let rounds = self.measured.rounds.iter();
        let samples: Vec<&Sample> =
            rounds.filter_map(|round| round.samples[contender].as_ref()).collect();
        let iterations = self.measured.iterations.max(1) as f64 * samples.len() as f64;
        let mean = |of: &dyn Fn(&Sample) -> Option<u64>| {
            let all: Option<Vec<u64>> = samples.iter().map(|sample| of(sample)).collect();
            Some(all?.iter().map(|&count| count as f64).sum::<f64>() / iterations)
        };
        let system = |s: &Sample| Some(s.cpu_ns?.saturating_sub(s.user_ns?));
        (!samples.is_empty()).then_some(())?;
        Some(Usage {
            ns_user: mean(&|s| s.user_ns),
            ns_system: mean(&system),
            minor_faults: mean(&|s| Some(s.tags.minor_faults))?,
            major_faults: mean(&|s| Some(s.tags.major_faults))?,
            voluntary_switches: mean(&|s| Some(s.tags.voluntary_switches))?,
            involuntary_switches: mean(&|s| Some(s.tags.involuntary_switches))?,
        })
    }

    /// Log times by round and contender, with each round's set of processes, of those that are still
    /// there; the empty contender has none.
    pub(crate) fn logs(&self, empty: Option<usize>) -> Vec<(u32, Vec<Option<f64>>)> {
        let failures = &self.measured.failures;
        let log = |(number, sample): (usize, &Option<Sample>)| {
            let sample = sample.as_ref().filter(|_| failures[number].is_none());
            let reading = sample.filter(|_| Some(number) != empty).map(|s| self.reading(s));
            reading.filter(|&ns| ns > 0.0).map(f64::ln)
        };
        let rounds = self.measured.rounds.iter();
        rounds.map(|r| (r.process, r.samples.iter().enumerate().map(log).collect())).collect()
    }

    fn pairs(&self, contender: usize, baseline: usize) -> Pairs {
        let mut logs = Vec::new();
        let mut zero_readings = 0;
        for round in &self.measured.rounds {
            let (Some(mine), Some(other)) = (&round.samples[contender], &round.samples[baseline])
            else {
                continue;
            };
            let (mine, other) = (self.reading(mine), self.reading(other));
            if mine == 0.0 || other == 0.0 {
                zero_readings += 1;
                continue;
            }
            logs.push((mine / other).ln());
        }
        Pairs { logs, zero_readings }
    }
}

/// What every comparison of a measurement shares.
struct Context<'a> {
    alpha_each: f64,
    plan: &'a Plan,
    common: Common,
    floor: Floor,
    /// What was subtracted, and the baseline's time less it.
    less: Option<(Overhead, f64)>,
    /// Sets of processes that were measured.
    sets: u32,
    broken: Option<Broken>,
}

impl Context<'_> {
    fn comparison(
        &self,
        contender: usize,
        pairs: &Pairs,
        estimate: Option<Estimate>,
    ) -> Comparison {
        let mut said = match estimate {
            Some(estimate) => Said {
                log: Some(estimate.log),
                interval: estimate.interval(self.alpha_each),
                p_value: estimate.p_value(),
                rounds_each: 1.0,
            },
            None => self.common.judged(pairs, self.alpha_each),
        };
        if let Some((overhead, ns)) = self.less {
            said.interval = said.interval.map(|ends| overhead.widened(ends, ns));
        }
        Comparison {
            contender,
            pairs: pairs.logs.len(),
            zero_readings: pairs.zero_readings,
            exact_ties: pairs.logs.iter().filter(|log| **log == 0.0).count(),
            lag1: lag1(&pairs.logs),
            block_rounds: said.rounds_each.ceil() as usize,
            ratio: said.log.map(f64::exp),
            interval: said.interval,
            // Where too little is known for an interval, it is for a call, too.
            p_adjusted: match said.interval {
                Some(_) => (said.p_value * self.plan.alpha / self.alpha_each).min(1.0),
                None => 1.0,
            },
            sets: estimate.map_or(usize::from(!self.plan.fresh), |e| e.sets),
            seen: Seen::of(&pairs.logs),
            verdict: self.verdict(pairs, &said, estimate),
        }
    }

    fn verdict(&self, pairs: &Pairs, said: &Said, estimate: Option<Estimate>) -> Verdict {
        let (ratio, by_sets) = (said.log.map(f64::exp), estimate.is_some());
        let unresolved = |why: Unresolved, longer| Verdict::NotResolved { why, longer };
        if let Some(why) = self.broken {
            return Verdict::Withheld { why };
        }
        if !by_sets && !self.plan.fresh && ratio.is_some() {
            let why = if self.sets > 1 { Unresolved::SetWithout } else { Unresolved::OneProcess };
            return unresolved(why, None);
        }
        if let (Some(estimate), None) = (estimate, said.interval) {
            let varies = estimate.varies();
            let why = if varies { Unresolved::Unbounded } else { Unresolved::Resolution };
            return unresolved(why, None);
        }
        let (Some(ratio), Some(interval)) = (ratio, said.interval) else {
            let rounds = pairs.logs.len();
            let needed = said.needed(rounds, self.alpha_each);
            let longer = needed as f64 / rounds.max(1) as f64;
            return unresolved(Unresolved::TooFew { rounds, needed }, Some(longer));
        };
        // Where sets were measured, the twin is part of the interval already.
        let least = if by_sets { 0.0 } else { self.floor.bar() };
        if interval.contains(1.0) {
            let target = match self.plan.stop {
                Stop::Width { target } => target,
                _ => NARROW,
            };
            if interval.width() <= target {
                let most = interval.high.max(1.0 / interval.low) - 1.0;
                let why = match most < least {
                    true => Unresolved::Floor { least },
                    false => Unresolved::Close { most },
                };
                return unresolved(why, None);
            }
            // Until it denies a difference, or calls the one that there seems to be.
            let to_one = if ratio < 1.0 { interval.high / ratio } else { ratio / interval.low };
            let narrower = (interval.width() / target).min(to_one.ln() / ratio.ln().abs());
            let longer = narrower.powi(2).max(1.0);
            return unresolved(Unresolved::ContainsOne, Some(longer).filter(|l| l.is_finite()));
        }
        if ratio.max(1.0 / ratio) - 1.0 < least {
            return unresolved(Unresolved::Floor { least }, None);
        }
        if ratio < 1.0 { Verdict::Faster } else { Verdict::Slower }
    }
}

/// An interval in JSON: `[low, high]` or `null`.
#[expect(clippy::ref_option, reason = "serde's signature")]
fn ends<S: Serializer>(interval: &Option<Interval>, out: S) -> Result<S::Ok, S::Error> {
    interval.map(|interval| [interval.low, interval.high]).serialize(out)
}
