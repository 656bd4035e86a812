//! A case made ready to be shown: rows in order of their time, with what each needs in one place.

use std::collections::BTreeSet;

use fathom_measure::compare::{Clock, Comparison, Summary, Unresolved, time_estimate, time_median};
use fathom_measure::result::{Case, Row, Run};
use fathom_measure::sample::Failure;
use fathom_measure::stats::Interval;
use serde_json::Value;

use crate::number::{bytes_per_second, per_second, plural};
use crate::sentence::{clock_words, floor_words, word};

/// A row of a table.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// The contender's number.
    pub number: usize,
    /// The contender.
    pub row: &'a Row,
    /// Time per iteration; `None` if it failed.
    pub summary: Option<Summary>,
    /// Against the baseline; `None` for the baseline and for failures.
    pub comparison: Option<&'a Comparison>,
    /// Why there is no time.
    pub failure: Option<&'a Failure>,
    /// The baseline?
    pub is_baseline: bool,
}

/// What the processor of a described machine is called, as `fathom machine` and pytest-benchmark say it.
#[must_use]
pub fn processor(machine: &Value) -> Option<&str> {
    let of = &machine["processor"];
    let named = of["model"].as_str().or(of["name"].as_str());
    named.or(machine["cpu"]["brand_raw"].as_str())
}

/// The entrants, fastest first, failures last.
#[must_use]
pub fn lines(case: &Case) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = case
        .entrants()
        .map(|(number, row)| Line {
            number,
            row,
            summary: case.judged.summaries[number],
            comparison: case.judged.comparisons.iter().find(|c| c.contender == number),
            failure: case.measured.failures[number].as_ref(),
            is_baseline: number == case.roles.baseline,
        })
        .collect();
    let time = |line: &Line<'_>| line.summary.map_or(f64::INFINITY, |s| s.ns_median);
    lines.sort_by(|a, b| time(a).total_cmp(&time(b)));
    lines
}

impl Line<'_> {
    /// The verdict in a word or two, the failure, or that this is the baseline.
    #[must_use]
    pub fn last_word(&self) -> String {
        match (self.failure, self.comparison) {
            (Some(failure), _) => failure.kind().to_owned(),
            (None, Some(comparison)) => word(comparison),
            (None, None) if self.is_baseline => "baseline".to_owned(),
            (None, None) => String::new(),
        }
    }
}

/// What one iteration works through per second, in bytes if they mean something, else in items;
/// empty when neither does.
#[must_use]
pub fn throughput(case: &Case, ns_median: f64) -> String {
    let per_ns = 1e9 / ns_median;
    match (case.work.bytes, case.work.items) {
        (0, 0) => String::new(),
        (0, items) => per_second(items as f64 * per_ns),
        (bytes, _) => bytes_per_second(bytes as f64 * per_ns),
    }
}

/// The metrics of what is imported that its harness divided by the time it took for it.
pub(crate) const BYTES_RATE: &str = "bytes_per_second";
pub(crate) const ITEMS_RATE: &str = "items_per_second";

/// The rate that another harness worked out itself, if so, of bytes if they mean something: the metric, and in words.
pub(crate) fn own_rate<'a>(case: &Case, row: &'a Row) -> Option<(&'a str, String)> {
    let said = |name: &str, words: fn(f64) -> String| {
        let metric = row.metrics.iter().find(|metric| metric.name == name)?;
        Some((&*metric.name, words(metric.value)))
    };
    let found = said(BYTES_RATE, bytes_per_second).or_else(|| said(ITEMS_RATE, per_second));
    found.filter(|_| !case.source.is_empty())
}

/// That, or else the throughput of so much time.
pub(crate) fn rate(case: &Case, row: &Row, ns_median: f64) -> String {
    own_rate(case, row).map_or_else(|| throughput(case, ns_median), |(_, rate)| rate)
}

/// The title of a case, where it says more than that commands were run.
#[must_use]
pub fn heading(case: &Case) -> Option<String> {
    let title = case.title();
    (title != COMMANDS).then_some(title)
}

/// The family of commands that `run` compares; nothing else is in the title of most of its cases.
const COMMANDS: &str = "commands";

/// What was measured and how, in one line under a case's title.
#[must_use]
pub fn conditions(case: &Case) -> String {
    let judged = &case.judged;
    let rounds = case.measured.rounds.len();
    if !case.source.is_empty() {
        let samples = plural(rounds, "sample");
        return format!("{samples} of {}, not interleaved · wall time", case.source);
    }
    if rounds == 0 {
        return "nothing was measured".to_owned();
    }
    let floor = floor_words(judged.floor);
    let iterations = usize::try_from(case.measured.iterations).unwrap_or(usize::MAX);
    format!(
        "{} of {} each · {} ({}) · {floor}",
        plural(rounds, "round"),
        plural(iterations, "iteration"),
        clock_words(case),
        judged.clock_reason
    )
}

/// The interval of a contender's time per iteration, in nanoseconds, at the level of the verdicts; `None`
/// with too few rounds, or sets that all read the same.
#[must_use]
pub fn interval(case: &Case, number: usize) -> Option<Interval> {
    Alike::of(&[case]).estimate(case, number, case.judged.alpha_each).ok().map(|found| found.1)
}

/// What the times of several runs are taken of, so that they are times of one quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alike {
    /// That of all verdicts if they have one in common, otherwise wall time.
    pub clock: Clock,
    /// Whether the overhead is subtracted: only if it was in every run.
    pub subtracted: bool,
    /// Whether it was in some run.
    in_some: bool,
    /// Whether all were judged on that clock.
    one_clock: bool,
}

impl Alike {
    /// Of these cases, at least one.
    #[must_use]
    pub fn of(cases: &[&Case]) -> Alike {
        let first = cases.first().map_or(Clock::Wall, |case| case.judged.clock);
        let one_clock = cases.iter().all(|case| case.judged.clock == first);
        let is_less = |case: &&Case| spare(case).is_some();
        Alike {
            clock: if one_clock { first } else { Clock::Wall },
            subtracted: one_clock && cases.iter().all(is_less),
            in_some: cases.iter().any(is_less),
            one_clock,
        }
    }

    /// A contender's median time per iteration.
    #[must_use]
    pub fn median(&self, case: &Case, number: usize) -> Option<f64> {
        let (less, _) = self.spare(case);
        Some(time_median(&case.measured, self.clock, number)? - less).filter(|&ns| ns > 0.0)
    }

    /// Its time with the interval at level 1 - alpha, which is not that of the median over all rounds.
    ///
    /// # Errors
    /// Why there is no interval.
    pub fn estimate(
        &self,
        case: &Case,
        number: usize,
        alpha: f64,
    ) -> Result<(f64, Interval), Unresolved> {
        let (less, ends) = self.spare(case);
        let found = time_estimate(&case.measured, &case.plan, self.clock, number, alpha)?;
        // What may be nothing is any number of times as long as another.
        Ok((found.0 - less, shifted(found.1, ends).ok_or(Unresolved::ContainsOne)?))
    }

    fn spare(&self, case: &Case) -> (f64, Interval) {
        spare(case).filter(|_| self.subtracted).unwrap_or((0.0, Interval { low: 0.0, high: 0.0 }))
    }

    /// In which way these are not the times that the runs show.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let clock = "on wall time, because not all were judged on one clock";
        let whole = "as measured, because the overhead was not subtracted in all";
        let words = match (self.one_clock, self.in_some && !self.subtracted) {
            (true, false) => return None,
            (false, false) => clock.to_owned(),
            (true, true) => whole.to_owned(),
            (false, true) => format!("{clock}; {whole}"),
        };
        Some(format!("runs are compared {words}"))
    }
}

/// What one iteration of a case works through, where that is known to the byte or item: what is imported
/// has rates.
#[must_use]
pub fn work(case: &Case) -> Option<String> {
    let words = |count: u64, noun| Some(plural(usize::try_from(count).ok()?, noun));
    match (case.work.bytes, case.work.items) {
        _ if !case.source.is_empty() => None,
        (0, 0) => None,
        (0, items) => words(items, "item"),
        (bytes, _) => words(bytes, "byte"),
    }
}

/// What each of two cases of one title works through, where it is not the same: their times are times of
/// different work.
#[must_use]
pub fn other_work(a: &Case, b: &Case) -> Option<String> {
    let (a, b) = work(a).zip(work(b))?;
    (a != b).then(|| format!("{a} and {b}"))
}

/// Whether two cases of one title have other answers, and so other data.
#[must_use]
pub fn answers_differ(a: &Case, b: &Case) -> bool {
    a.check.zip(b.check).is_some_and(|(a, b)| a != b)
}

/// What was subtracted from every time: its median and its interval.
fn spare(case: &Case) -> Option<(f64, Interval)> {
    let o = case.judged.overhead.filter(|overhead| overhead.subtracted)?;
    Some((o.ns_median, Interval { low: o.ns_low, high: o.ns_high }))
}

/// For all that the overhead may be.
fn shifted(of: Interval, less: Interval) -> Option<Interval> {
    let (low, high) = (of.low - less.high, of.high - less.low);
    (low > 0.0 && high.is_finite()).then_some(Interval { low, high })
}

/// Which command measured: its first word that is no option.
#[must_use]
pub fn kind(run: &Run) -> &str {
    let is_word = |word: &&String| !word.starts_with('-');
    run.command.iter().skip(1).find(is_word).map_or("run", |word| word)
}

/// The entrants with names that tell them apart: the second of a name has its number behind it.
#[must_use]
pub fn named(case: &Case) -> Vec<(usize, String)> {
    let ids: Vec<(usize, String)> =
        case.entrants().map(|(number, row)| (number, row.id.clone())).collect();
    numbered(ids)
}

/// The run with such names.
#[must_use]
pub fn told_apart(run: &Run) -> Run {
    let mut run = run.clone();
    for case in &mut run.cases {
        for (number, name) in named(case) {
            case.contenders[number].id = name;
        }
    }
    run
}

/// The cases of a run with titles that tell them apart.
#[must_use]
pub fn titled(run: &Run) -> Vec<(usize, String)> {
    numbered(run.cases.iter().map(Case::title).enumerate().collect())
}

fn numbered(mut names: Vec<(usize, String)>) -> Vec<(usize, String)> {
    let mut taken: BTreeSet<String> = names.iter().map(|name| name.1.clone()).collect();
    let mut seen = BTreeSet::new();
    for (_, name) in &mut names {
        if !seen.insert(name.clone()) {
            let mut others = (2..).map(|n| format!("{name} ({n})"));
            *name = others.find(|other| taken.insert(other.clone())).unwrap_or_default();
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run that has them differed from itself by twice the time.
    #[test]
    fn who_is_called_as_a_second_one_would_be_is_told_from_it() {
        let names = |of: &[&str]| numbered(of.iter().map(|of| (0, (*of).to_owned())).collect());
        let told = names(&["x", "x", "x (2)", "x", "x (2)"]);
        let told: Vec<&str> = told.iter().map(|name| name.1.as_str()).collect();
        assert_eq!(told, ["x", "x (3)", "x (2)", "x (4)", "x (2) (2)"]);
    }
}
