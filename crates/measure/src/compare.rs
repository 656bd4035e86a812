//! From samples to verdicts: which clock, paired ratios, intervals, the noise floor of the hidden
//! twin, and the words.
//!
//! A pure function of a finished measurement ([`judge`]); a result that was saved can be judged
//! again by any later version. Never says "equal".

use serde::{Deserialize, Serialize, Serializer};

use crate::rounds::{Measured, Plan, Roles, Stop};
use crate::sample::Sample;
use crate::stats::{
    Interval, block_medians, fewest_for_interval, holm, lag1, mad, median, quantile, sign_interval,
    sign_test,
};
pub use crate::verdict::{Broken, Seen, Unresolved, Verdict};

/// A sample whose wall time exceeds its processor time by more than this factor was disturbed.
const DISTURBED_FACTOR: f64 = 1.02;
/// Wall time as a whole counts as disturbed when more than this share of the samples was.
const DISTURBED_SHARE: f64 = 0.10;
/// Log ratios that correlate more than this with the next are joined into blocks.
const CORRELATED: f64 = 0.2;
/// Differences smaller than this are claims about layout as much as about code: they need fresh
/// processes.
pub const SMALL_DIFFERENCE: f64 = 0.01;
/// If a copy of the baseline differs from it, only differences this many times larger (as
/// logarithms) are called. What made the copy differ (address layout, above all) may make any other
/// process differ too, by an unknown amount of which one example was seen. If such effects are
/// independent, normal and alike in size, the quotient of two of them has Cauchy's distribution,
/// and exceeds tan(0.99 * pi / 2) = 63.7 in one case of a hundred.
const BEYOND_COPY: f64 = 64.0;

/// Which clock the verdicts rest on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The monotonic clock.
    #[default]
    Wall,
    /// Processor time received.
    Cpu,
}

impl Clock {
    /// The words of a report.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Clock::Wall => "wall time",
            Clock::Cpu => "CPU time",
        }
    }

    /// A sample's reading on this clock, in nanoseconds.
    #[must_use]
    pub fn of(self, sample: &Sample) -> u64 {
        match self {
            Clock::Wall => sample.wall_ns,
            Clock::Cpu => sample.cpu_ns.unwrap_or(0),
        }
    }
}

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
    /// Whether the median was subtracted from every figure: only if that share is below 1 %, or,
    /// for commands, if the interval is that narrow.
    pub subtracted: bool,
}

/// What the hidden copy of the baseline shows: differences below its width are noise here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Floor {
    /// The twin's interval; `None` without a twin or with too few rounds.
    #[serde(serialize_with = "ends")]
    pub interval: Option<Interval>,
    /// Its width; `None` likewise.
    pub width: Option<f64>,
    /// The interval excludes 1: the copy differs from its original, so that only differences above
    /// [`Floor::called_from`] are called.
    pub vetoes: bool,
}

impl Floor {
    /// The smallest difference that is called, as the absolute logarithm of a ratio: the width of
    /// the twin's interval or, if that excludes 1, 64 times as much as the twin may differ by.
    #[must_use]
    pub fn called_from(&self) -> f64 {
        match self.interval {
            Some(twin) if self.vetoes => {
                BEYOND_COPY * twin.low.ln().abs().max(twin.high.ln().abs())
            }
            _ => self.width.unwrap_or(0.0),
        }
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
    /// Rounds joined into one value, because of that correlation.
    pub block_rounds: usize,
    /// Time of the contender over time of the baseline: median over the rounds. `None` without a
    /// single pair.
    pub ratio: Option<f64>,
    /// The ratio's interval; `None` with too few rounds.
    #[serde(serialize_with = "ends")]
    pub interval: Option<Interval>,
    /// Sign test against a ratio of 1, adjusted for the number of comparisons.
    pub p_holm: f64,
    /// In how many rounds it was slower, and faster.
    pub seen: Seen,
    /// The word.
    pub verdict: Verdict,
}

/// Judges a measurement.
#[must_use]
pub fn judge(measured: &Measured, roles: Roles, plan: &Plan) -> Judged {
    let (clock, clock_reason, disturbed_share) = choose_clock(measured, roles, plan);
    let alive = |i: &usize| measured.failures[*i].is_none();
    let compared: Vec<usize> = (0..measured.failures.len())
        .filter(alive)
        .filter(|&i| i != roles.baseline && Some(i) != roles.twin && Some(i) != roles.empty)
        .collect();
    let alpha = plan.alpha * measured.alpha_share;
    let alpha_each = alpha / compared.len().max(1) as f64;
    let overhead = overhead(measured, roles, plan, clock, alpha_each);
    let subtract_ns = overhead.filter(|o| o.subtracted).map_or(0.0, |o| o.ns_median);
    let view = View { measured, clock, subtract_ns };

    let twin = roles.twin.filter(alive).filter(|_| alive(&roles.twin_of));
    let floor = match twin.map(|twin| view.pairs(twin, roles.twin_of).interval(alpha_each)) {
        Some(Some(interval)) => Floor {
            interval: Some(interval),
            width: Some(interval.width()),
            vetoes: !interval.contains(1.0),
        },
        _ => Floor::default(),
    };
    let pairs: Vec<Pairs> =
        compared.iter().map(|&contender| view.pairs(contender, roles.baseline)).collect();
    let p_values: Vec<f64> = pairs.iter().map(|pairs| sign_test(&pairs.blocks)).collect();
    let adjusted = holm(&p_values);
    let context = Context {
        alpha,
        alpha_each,
        plan,
        floor,
        twin_lost: roles.twin.is_some() && twin.is_none(),
        baseline_lost: !alive(&roles.baseline),
        count: compared.len(),
    };
    let comparisons = compared
        .iter()
        .zip(pairs)
        .zip(adjusted)
        .map(|((&contender, pairs), p_holm)| context.comparison(contender, &pairs, p_holm))
        .collect();
    let summaries = (0..measured.failures.len())
        .map(|i| if alive(&i) { view.summary(i) } else { None })
        .collect();
    Judged {
        clock,
        clock_reason,
        disturbed_share,
        alpha_each,
        summaries,
        overhead,
        floor,
        comparisons,
    }
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
    if let Some(clock) = plan.clock {
        return (clock, "as asked".to_owned(), share);
    }
    if roles.wall_only {
        let reason = "the workload uses threads, waits or sleeps";
        return (Clock::Wall, reason.to_owned(), share);
    }
    if without_cpu > 0 {
        return (Clock::Wall, "no processor time is known for some samples".to_owned(), share);
    }
    let percent = share * 100.0;
    if share > DISTURBED_SHARE {
        let reason = format!("wall time was disturbed in {percent:.0} % of the samples");
        (Clock::Cpu, reason, share)
    } else {
        let reason = format!("wall time was disturbed in only {percent:.0} % of the samples");
        (Clock::Wall, reason, share)
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
    let interval = sign_interval(&empty, alpha_each)?;
    let others = (0..measured.failures.len())
        .filter(|&i| Some(i) != roles.empty && measured.failures[i].is_none());
    let fastest =
        others.filter_map(|i| median(&view.per_iteration(i))).fold(f64::INFINITY, f64::min);
    let share_most = interval.high / fastest;
    // A command cannot be iterated to dwarf the shell's start; there the start is subtracted if it
    // is known well enough.
    let known = if plan.iterations.is_some() { interval.width() / fastest } else { share_most };
    Some(Overhead {
        ns_median,
        ns_low: interval.low,
        ns_high: interval.high,
        share_most,
        subtracted: known < 0.01 && ns_median < fastest,
    })
}

/// A measurement on one clock.
struct View<'a> {
    measured: &'a Measured,
    clock: Clock,
    /// Overhead per iteration.
    subtract_ns: f64,
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

    fn pairs(&self, contender: usize, baseline: usize) -> Pairs {
        let mut logs = Vec::new();
        let mut processes = Vec::new();
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
            processes.push(round.process);
        }
        Pairs::new(logs, &processes, zero_readings)
    }
}

/// The log ratios of two contenders.
struct Pairs {
    logs: Vec<f64>,
    /// The same, joined into blocks that do not correlate.
    blocks: Vec<f64>,
    block_rounds: usize,
    lag1: f64,
    /// The median of each set of processes.
    by_process: Vec<f64>,
    zero_readings: usize,
}

impl Pairs {
    fn new(logs: Vec<f64>, processes: &[u32], zero_readings: usize) -> Pairs {
        let lag1_all = lag1(&logs);
        let mut block_rounds = 1;
        let mut blocks = logs.clone();
        while lag1(&blocks) > CORRELATED && blocks.len() >= 2 * 12 {
            block_rounds *= 2;
            blocks = block_medians(&logs, block_rounds);
        }
        let sets = processes.iter().max().map_or(0, |last| last + 1);
        let by_process = (0..sets)
            .filter_map(|set| {
                let own = logs.iter().zip(processes).filter(|(_, p)| **p == set);
                median(&own.map(|(log, _)| *log).collect::<Vec<f64>>())
            })
            .collect();
        Pairs { logs, blocks, block_rounds, lag1: lag1_all, by_process, zero_readings }
    }

    /// The interval of the ratio.
    fn interval(&self, alpha: f64) -> Option<Interval> {
        ratio_interval(&self.blocks, alpha)
    }
}

fn ratio_interval(logs: &[f64], alpha: f64) -> Option<Interval> {
    sign_interval(logs, alpha).map(|i| Interval { low: i.low.exp(), high: i.high.exp() })
}

/// How far from 1 a ratio is at least, as an absolute logarithm; 0 if its interval contains 1.
fn nearest(interval: Interval) -> f64 {
    if interval.contains(1.0) { 0.0 } else { interval.low.ln().abs().min(interval.high.ln().abs()) }
}

/// What every comparison of a measurement shares.
struct Context<'a> {
    alpha: f64,
    alpha_each: f64,
    plan: &'a Plan,
    floor: Floor,
    twin_lost: bool,
    baseline_lost: bool,
    count: usize,
}

impl Context<'_> {
    fn comparison(&self, contender: usize, pairs: &Pairs, p_holm: f64) -> Comparison {
        let ratio = median(&pairs.logs).map(f64::exp);
        let mut interval = pairs.interval(self.alpha_each);
        // With fresh processes the spread between them is part of the answer.
        let outer = ratio_interval(&pairs.by_process, self.alpha_each);
        if let (Some(inner), Some(outer)) = (interval, outer) {
            let (low, high) = (inner.low.min(outer.low), inner.high.max(outer.high));
            interval = Some(Interval { low, high });
        }
        let verdict = self.verdict(pairs, ratio, interval, outer, p_holm);
        Comparison {
            contender,
            pairs: pairs.logs.len(),
            zero_readings: pairs.zero_readings,
            exact_ties: pairs.logs.iter().filter(|log| **log == 0.0).count(),
            lag1: pairs.lag1,
            block_rounds: pairs.block_rounds,
            ratio,
            interval,
            p_holm,
            seen: Seen::of(&pairs.logs),
            verdict,
        }
    }

    fn verdict(
        &self,
        pairs: &Pairs,
        ratio: Option<f64>,
        interval: Option<Interval>,
        outer: Option<Interval>,
        p_holm: f64,
    ) -> Verdict {
        let unresolved = |why: Unresolved, longer| Verdict::NotResolved { why, longer };
        if self.baseline_lost {
            return Verdict::Withheld { why: Broken::Baseline };
        }
        let (Some(ratio), Some(interval)) = (ratio, interval) else {
            let needed = fewest_for_interval(self.alpha_each) * pairs.block_rounds;
            let rounds = pairs.logs.len();
            let longer = needed as f64 / rounds.max(1) as f64;
            return unresolved(Unresolved::TooFew { rounds, needed }, Some(longer));
        };
        if self.twin_lost {
            return Verdict::Withheld { why: Broken::Copy };
        }
        let longer = |target: f64| Some((interval.width() / target).powi(2).max(1.0));
        let difference = ratio.ln().abs();
        let least = self.floor.called_from();
        if let (true, Some(Interval { low, high })) = (self.floor.vetoes, self.floor.interval)
            && nearest(interval) < least
        {
            let called_from = least.exp();
            return Verdict::Withheld { why: Broken::CopyDiffers { low, high, called_from } };
        }
        if interval.contains(1.0) || p_holm > self.alpha {
            let target = match self.plan.stop {
                Stop::Width { target } => target,
                _ => SMALL_DIFFERENCE,
            };
            if interval.width() <= target {
                let most = (interval.high - 1.0).max(1.0 - interval.low);
                return unresolved(Unresolved::Close { most }, None);
            }
            let why = match interval.contains(1.0) {
                true => Unresolved::ContainsOne,
                false => Unresolved::Crowded { comparisons: self.count },
            };
            return unresolved(why, longer(target));
        }
        if difference < least {
            let factor = (least / difference).powi(2).max(1.0);
            return unresolved(Unresolved::Floor { least }, Some(factor));
        }
        if (ratio - 1.0).abs() < SMALL_DIFFERENCE && outer.is_none_or(|o| o.contains(1.0)) {
            let needed = fewest_for_interval(self.alpha_each);
            let why = match outer {
                None => Unresolved::Layout { needed },
                Some(_) => Unresolved::Processes,
            };
            return unresolved(why, None);
        }
        if ratio < 1.0 { Verdict::Faster } else { Verdict::Slower }
    }
}

/// An interval in JSON: `[low, high]` or `null`.
#[expect(clippy::ref_option, reason = "serde's signature")]
fn ends<S: Serializer>(interval: &Option<Interval>, out: S) -> Result<S::Ok, S::Error> {
    interval.map(|interval| [interval.low, interval.high]).serialize(out)
}
