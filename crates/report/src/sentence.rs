//! A verdict in words, with everything that limits it.

use fathom_measure::compare::{Broken, Comparison, Floor, Unresolved, Verdict};
use fathom_measure::result::{Case, Row};
use fathom_measure::stats::Interval;

use crate::number::{duration, factor_digits, percent, plural, times};

/// All verdicts of a case, one sentence each; failures too, of who is hidden as well: they cost the exit code.
#[must_use]
pub fn sentences(case: &Case) -> Vec<String> {
    let mut sentences: Vec<String> =
        case.judged.comparisons.iter().map(|comparison| verdict(case, comparison)).collect();
    for (number, row) in case.contenders.iter().enumerate() {
        let Some(failure) = &case.measured.failures[number] else { continue };
        let name = match Some(number) {
            twin if twin == case.roles.twin => {
                format!("the hidden copy of {}", case.contenders[case.roles.twin_of].id)
            }
            empty if empty == case.roles.empty => "what shows the overhead".to_owned(),
            _ => row.id.clone(),
        };
        sentences.push(format!("{name}: {failure}"));
    }
    sentences
}

/// All that is said of a case below its table, in documents and pages.
pub(crate) fn said(case: &Case) -> Vec<String> {
    let mut said = sentences(case);
    said.extend(overhead(case));
    said.extend(missing(case));
    said.extend(case.notes.iter().map(|note| format!("Note: {note}")));
    said
}

/// What the harness itself costs.
pub(crate) fn overhead(case: &Case) -> Option<String> {
    let overhead = case.judged.overhead?;
    Some(format!(
        "overhead {} to {} per iteration{}, at most {} of the fastest time",
        duration(overhead.ns_low),
        duration(overhead.ns_high),
        match (overhead.subtracted, overhead.overlaps) {
            (true, _) => ", subtracted",
            (_, true) => ", not subtracted because some readings do not exceed it",
            (_, false) => ", not subtracted",
        },
        percent(overhead.share_most),
    ))
}

/// Which events were not counted, and why: each reason once, with whose it is unless it is everybody's.
pub(crate) fn missing(case: &Case) -> Vec<String> {
    let rows: Vec<_> =
        case.entrants().filter(|(n, _)| case.measured.failures[*n].is_none()).collect();
    let mut reasons: Vec<&String> = Vec::new();
    for why in rows.iter().flat_map(|(_, row)| &row.counters_missing) {
        if !reasons.contains(&why) {
            reasons.push(why);
        }
    }
    let line = |why: &String| {
        let has_it = |row: &&(usize, &Row)| row.1.counters_missing.contains(why);
        let names: Vec<&str> = rows.iter().filter(has_it).map(|(_, row)| row.id.as_str()).collect();
        match names.len() == rows.len() {
            true => format!("counters: {why}"),
            false => format!("counters of {}: {why}", names.join(", ")),
        }
    };
    reasons.into_iter().map(line).collect()
}

/// One verdict: "B is 1.31x faster than A (99 % interval 1.28–1.34, noise floor 0.71 %, thread CPU
/// time)".
#[must_use]
pub fn verdict(case: &Case, comparison: &Comparison) -> String {
    let name = &case.contenders[comparison.contender].id;
    let baseline = &case.contenders[case.roles.baseline].id;
    let clock = clock_words(case);
    let floor = case.judged.floor.interval.map(|_| floor_words(case.judged.floor));
    let mut limits: Vec<String> = Vec::new();
    let ratio = comparison.ratio.unwrap_or(1.0);
    let called = matches!(comparison.verdict, Verdict::Faster | Verdict::Slower);
    // "1.31x faster" counts times of the faster in one of the slower, whoever is the baseline.
    let turned = called && ratio < 1.0;
    if let Some(interval) = comparison.interval {
        limits.push(interval_words(case, interval, turned));
    }
    limits.extend(floor);
    limits.push(clock.to_owned());
    if comparison.sets > 0 {
        limits.push(format!("{} sets of processes", comparison.sets));
    }
    if comparison.block_rounds > 1 {
        limits.push(format!("{} rounds count as one", comparison.block_rounds));
    }
    let zeros = plural(comparison.zero_readings, "round");
    if comparison.zero_readings > 0 {
        limits.push(format!("{zeros} with a reading of zero left out"));
    }
    let limits = limits.join(", ");
    match &comparison.verdict {
        Verdict::Faster => {
            format!("{name} is {} faster than {baseline} ({limits})", times(1.0 / ratio))
        }
        Verdict::Slower => format!("{name} is {} slower than {baseline} ({limits})", times(ratio)),
        Verdict::NotResolved { why: why @ Unresolved::TooFew { .. }, .. }
            if comparison.zero_readings > 0 =>
        {
            let left = unresolved(*why);
            format!("{name} against {baseline}: no verdict: {zeros} read zero, and {left}")
        }
        Verdict::NotResolved { why: Unresolved::TooFew { needed, .. }, .. } => {
            let level = level_words(case);
            let seen = seen_words(comparison, baseline);
            // One comparison alone would take fewer: they share the error.
            let all = if case.judged.comparisons.len() > 1 { " for all together" } else { "" };
            format!(
                "{name} was {seen}: too few for a verdict at {level}{all}, which takes at least {needed}"
            )
        }
        Verdict::NotResolved { why: Unresolved::OneProcess, .. } => {
            let seen = seen_words(comparison, baseline);
            format!(
                "{name} was {seen} of one set of processes, whose layout may be why: no verdict"
            )
        }
        Verdict::NotResolved { why, longer } => {
            let next = match longer {
                Some(factor) if *factor > 1.05 => {
                    format!("; needs about {factor:.0}x longer", factor = factor.max(2.0))
                }
                _ => String::new(),
            };
            let (why, ratio) = (unresolved(*why), factor_digits(ratio));
            format!(
                "{name} against {baseline}: not resolved: {why}{next} (ratio {ratio}, {limits})"
            )
        }
        Verdict::Withheld { why } => {
            format!("{name} against {baseline}: no verdict, because {}", broken(*why))
        }
    }
}

/// Why a difference is neither called nor denied.
#[must_use]
pub fn unresolved(why: Unresolved) -> String {
    match why {
        Unresolved::TooFew { rounds, needed } => {
            let are = if rounds == 1 { "is" } else { "are" };
            format!("{} {are} too few, at least {needed} needed", plural(rounds, "round"))
        }
        Unresolved::ContainsOne => "the interval contains 1".to_owned(),
        Unresolved::Close { most } => format!("they differ by less than {}", percent(most)),
        Unresolved::Floor { least } => {
            format!("identical code differs here, by up to {}", percent(least))
        }
        Unresolved::Resolution => {
            "every set of processes reads the same: the clock's resolution was reached".to_owned()
        }
        Unresolved::Unbounded => {
            "so few sets of processes leave the interval without ends at this level".to_owned()
        }
        Unresolved::OneProcess => "all rounds are of one set of processes".to_owned(),
        Unresolved::SetWithout => "a set of processes has no reading of one of the two".to_owned(),
        _ => "this version does not know why".to_owned(),
    }
}

/// What was seen, whether or not it proves anything: "12.0x slower than A in 5 of 5 rounds (93 %)".
fn seen_words(comparison: &Comparison, baseline: &str) -> String {
    match comparison.ratio {
        Some(ratio) => {
            let than = if ratio == 1.0 { "as" } else { "than" };
            format!("{} {than} {baseline} {}", direction(ratio), seen(comparison))
        }
        None => format!("measured beside {baseline} in no round"),
    }
}

fn direction(ratio: f64) -> String {
    match ratio {
        1.0 => "as fast".to_owned(),
        ..1.0 => format!("{} faster", times(1.0 / ratio)),
        _ => format!("{} slower", times(ratio)),
    }
}

/// In how many rounds, and, where every round is a process of its own, at what level the sign test of
/// these alone would call it, if it is likelier than not. Of a tie there is no such round.
fn seen(comparison: &Comparison) -> String {
    let seen = comparison.seen;
    if comparison.ratio == Some(1.0) {
        return format!("over {}", plural(seen.rounds, "round"));
    }
    let share = format!("in {} of {}", seen.more(), plural(seen.rounds, "round"));
    match seen.level() * 100.0 {
        level @ 50.0.. if comparison.sets == 0 => format!("{share} ({})", reached(level)),
        _ => share,
    }
}

/// A level that was reached, cut rather than rounded; from 99 % on with what is beyond.
fn reached(percent: f64) -> String {
    match percent {
        ..99.0 => format!("{:.0} %", percent.floor()),
        ..99.99 => percent_below_hundred((percent * 1000.0).floor() / 1000.0),
        _ => "above 99.99 %".to_owned(),
    }
}

/// What broke a measurement.
#[must_use]
pub fn broken(why: Broken) -> String {
    match why {
        Broken::Baseline => "the baseline failed".to_owned(),
        Broken::Copy => "the copy of the baseline failed".to_owned(),
        _ => "this version does not know why".to_owned(),
    }
}

/// The level of a case's intervals: `99 %`, `99.5 %`; never rounded to a hundred.
pub(crate) fn level_words(case: &Case) -> String {
    percent_below_hundred(case.plan.level_percent())
}

fn percent_below_hundred(percent: f64) -> String {
    let written = |decimals: usize| format!("{percent:.decimals$}");
    match (3..15).map(written).find(|digits| !digits.starts_with("100")) {
        Some(digits) => format!("{} %", digits.trim_end_matches('0').trim_end_matches('.')),
        // No number lies between this one and a hundred.
        None => "above 99.99999999999999 %".to_owned(),
    }
}

/// The interval with its level: "99 % interval 1.28–1.34".
fn interval_words(case: &Case, interval: Interval, turned: bool) -> String {
    let level = level_words(case);
    let (low, high) = match turned {
        true => (1.0 / interval.high, 1.0 / interval.low),
        false => (interval.low, interval.high),
    };
    format!("{level} interval {}–{}", factor_digits(low), factor_digits(high))
}

/// The words for the clock of a case's verdicts.
#[must_use]
pub fn clock_words(case: &Case) -> &'static str {
    use fathom_measure::compare::Clock;
    match (case.judged.clock, case.family.as_str()) {
        (Clock::Wall, _) => "wall time",
        (Clock::Cpu, "commands") => "CPU time, children included",
        // Of a worker that leaves its thread it is the whole process's.
        (Clock::Cpu, _) if case.roles.wall_only => "CPU time of all threads",
        (Clock::Cpu, _) => "thread CPU time",
    }
}

/// How well identical code is known to be identical, as far as its interval reaches: "noise floor 0.7 %",
/// or beyond twice the time "noise floor above 100 %".
#[must_use]
pub fn floor_words(floor: Floor) -> String {
    match floor.reach {
        // Of two or three sets of processes: so much that its digits say nothing.
        Some(reach) if reach > 1.0 => "noise floor above 100 %".to_owned(),
        Some(reach) => format!("noise floor {}", percent(reach)),
        None => "no noise floor".to_owned(),
    }
}

/// The word of a table.
#[must_use]
pub fn word(comparison: &Comparison) -> String {
    let ratio = comparison.ratio.unwrap_or(1.0);
    match &comparison.verdict {
        Verdict::Faster | Verdict::Slower => direction(ratio),
        Verdict::NotResolved { why: Unresolved::TooFew { rounds: 1.., .. }, .. } => {
            format!("{} {}", direction(ratio), seen(comparison))
        }
        verdict => verdict.word().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_measure::plan::Plan;

    #[test]
    fn a_noise_floor_of_hardly_any_rounds_has_no_digits() {
        let words = |reach| floor_words(Floor { reach, ..Floor::default() });
        assert_eq!(words(Some(0.0071)), "noise floor 0.71 %");
        assert_eq!(words(Some(7.23)), "noise floor above 100 %");
        assert_eq!(words(None), "no noise floor");
    }

    #[test]
    fn a_level_that_was_reached_is_cut_and_not_below_what_is_beyond() {
        for (percent, words) in [
            (0.0, "0 %"),
            (93.75, "93 %"),
            (98.9, "98 %"),
            (99.0, "99 %"),
            (99.95117, "99.951 %"),
            (99.9998, "above 99.99 %"),
            (100.0, "above 99.99 %"),
        ] {
            assert_eq!(reached(percent), words);
        }
    }

    #[test]
    fn no_level_is_rounded_to_a_hundred() {
        for level in ["50", "99", "99.5", "99.999", "99.9999", "99.99996", "99.999999999"] {
            let alpha = (100.0 - level.parse::<f64>().unwrap()) / 100.0;
            let plan = Plan { alpha, ..Plan::default() };
            assert_eq!(percent_below_hundred(plan.level_percent()), format!("{level} %"));
        }
        // It was told as 1 %.
        let plan = Plan { alpha: 5e-324, ..Plan::default() };
        assert_eq!(percent_below_hundred(plan.level_percent()), "above 99.99999999999999 %");
    }
}
