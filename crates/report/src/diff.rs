//! Two saved runs: what changed, as far as runs that were not interleaved can tell.
//!
//! Where both runs have the same baseline, it is the ratios to it that are compared: a machine that
//! was slower as a whole then changes nothing. Otherwise times are compared, and the text says that
//! the machine's state is part of every difference.

use std::collections::HashSet;
use std::fmt::Write;

use fathom_measure::compare::{Unresolved, Verdict, judge, judge_as_measured};
use fathom_measure::plan::Plan;
use fathom_measure::result::{Build, Case, Run};
use fathom_measure::sample::Failure;
use fathom_measure::stats::Interval;

use crate::escape::line;
use crate::number::{duration, factor_digits, percent, times};
use crate::sentence::{broken, unresolved};
use crate::view::{Alike, answers_differ, named, other_work, processor, titled};

/// What became of a contender.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Change {
    /// It takes less time than before.
    Faster,
    /// It takes more.
    Slower,
    /// The two runs cannot tell.
    #[default]
    NotResolved,
    /// It fails and did not before, or takes part no more.
    Gone(String),
    /// It failed before and fails now.
    Broken(String),
    /// It failed before and fails no more, or did not take part and does now.
    Repaired(String),
    /// The second run does not have it, or no reading of it.
    OldOnly,
    /// The first run does not have it, or no reading of it.
    NewOnly,
    /// It takes part in neither run, or has no reading in either, which is no failure.
    Absent(String),
}

/// A contender in both runs, or in one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// The case.
    pub title: String,
    /// The contender; all of them where one run has the whole case alone.
    pub id: String,
    /// Time per iteration before and after, in nanoseconds: medians, or what `ratio` is of.
    pub ns: Option<(f64, f64)>,
    /// New over old: of ratios to the common baseline, or of times.
    pub ratio: Option<f64>,
    /// Its interval: the ends of both runs' intervals combined, so wider than either.
    pub interval: Option<Interval>,
    /// Whether ratios to a common baseline were compared.
    pub against_baseline: bool,
    /// The word.
    pub change: Change,
    /// Why it is not resolved, in words, where that is not for what the interval says; of one that both runs have
    /// and one has no time of, that.
    pub why: Option<String>,
}

/// Two runs compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Diff {
    /// Every contender of both runs.
    pub differences: Vec<Difference>,
    /// What makes the runs less comparable.
    pub cautions: Vec<String>,
}

/// In the place of a contender: every one of a case.
const ALL: &str = "all contenders";

/// Nothing but a word on a contender.
fn untimed(title: &str, id: &str, change: Change) -> Difference {
    Difference { title: title.to_owned(), id: id.to_owned(), change, ..Difference::default() }
}

/// Compares two runs.
#[must_use]
pub fn diff(old: &Run, new: &Run) -> Diff {
    let mut differences = Vec::new();
    let mut cautions = cautions(old, new);
    let (old_titles, new_titles) = (titled(old), titled(new));
    for (number, title) in &new_titles {
        let Some((before, _)) = old_titles.iter().find(|(_, old)| old == title) else {
            differences.push(untimed(title, ALL, Change::NewOnly));
            continue;
        };
        let (old_case, new_case) = (&old.cases[*before], &new.cases[*number]);
        if let Some(words) = other_work(old_case, new_case) {
            cautions.push(format!("{title}: not compared: {words} of data"));
            differences.extend([Change::OldOnly, Change::NewOnly].map(|c| untimed(title, ALL, c)));
            continue;
        }
        if answers_differ(old_case, new_case) {
            cautions.push(format!("{title}: other answers than before: the data may be others"));
        }
        let words = Alike::of(&[old_case, new_case]).words();
        cautions.extend(words.map(|words| format!("{title}: {words}")));
        let (old_names, new_names) = (named(old_case), named(new_case));
        let is_new = |id: &String| new_names.iter().any(|(_, new)| new == id);
        let gone = old_names.iter().filter(|(_, id)| !is_new(id));
        let gone = gone.map(|(_, id)| untimed(title, id, Change::OldOnly));
        for (number, id) in new_names.clone() {
            let Some((before, _)) = old_names.iter().find(|(_, old)| *old == id) else {
                differences.push(untimed(title, &id, Change::NewOnly));
                continue;
            };
            let versions = [(old_case, *before), (new_case, number)]
                .map(|(case, number)| case.contenders[number].about.version.clone());
            let [was, is] = &versions;
            if was != is {
                cautions.push(format!("{id}: version {was} before, {is} now"));
            }
            let mut found = difference(title, (old_case, *before), (new_case, number));
            found.id = id;
            differences.push(found);
        }
        differences.extend(gone);
    }
    let gone = old_titles.iter().filter(|(_, old)| new_titles.iter().all(|(_, new)| new != old));
    differences.extend(gone.map(|(_, title)| untimed(title, ALL, Change::OldOnly)));
    let mut seen = HashSet::new();
    cautions.retain(|caution| seen.insert(caution.clone()));
    Diff { differences, cautions }
}

fn cautions(old: &Run, new: &Run) -> Vec<String> {
    let mut cautions = Vec::new();
    for (what, said) in [
        ("processor", [old, new].map(|run| processor(&run.machine))),
        ("kernel", [old, new].map(|run| run.machine["system"]["kernel"].as_str())),
    ] {
        // What was imported need not say.
        if let [Some(was), Some(is)] = said
            && was != is
        {
            cautions.push(format!("another {what}: {was} before, {is} now"));
        }
    }
    // Older files do not say, and no more does what was imported.
    if old.level != new.level && ![&old.level, &new.level].contains(&&String::new()) {
        cautions.push(format!("another level: {} before, {} now", old.level, new.level));
    }
    if old.program != new.program {
        cautions.push(format!("measured by {} before, {} now", old.program, new.program));
    }
    let (was, is) = (&old.build, &new.build);
    let is_known = ![was, is].contains(&&Build::default());
    if is_known
        && (&was.profile, &was.features, &was.rustc) != (&is.profile, &is.features, &is.rustc)
    {
        cautions.push(format!("built otherwise: {was} before; {is} now"));
    }
    cautions
}

/// No smaller difference between two runs is called, whatever their intervals say.
const LEAST: f64 = 0.01;

/// Both runs' intervals have to hold, so each has half of the error budget.
fn half(plan: &Plan) -> Plan {
    Plan { alpha: plan.alpha / 2.0, ..plan.clone() }
}

fn difference(title: &str, old: (&Case, usize), new: (&Case, usize)) -> Difference {
    let id = new.0.contenders[new.1].id.clone();
    let nothing = |change: Change| untimed(title, &id, change);
    let without = |run: &str, change: Change| Difference {
        why: Some(format!("no readings in the {run} run")),
        ..nothing(change)
    };
    let [failed, fails] = [old, new].map(|(case, number)| case.measured.failures[number].as_ref());
    if let Some(change) = failed_in(failed, fails) {
        return nothing(change);
    }
    let alike = Alike::of(&[old.0, new.0]);
    let median = |(case, number): (&Case, usize)| alike.median(case, number);
    let (was, is) = match (median(old), median(new)) {
        (Some(was), Some(is)) => (was, is),
        (None, None) => return nothing(Change::Absent("no readings".to_owned())),
        (None, _) => return without("first", Change::NewOnly),
        (_, None) => return without("second", Change::OldOnly),
    };
    let unjudged = unjudged(old).or_else(|| unjudged(new));
    let relative = relative(old, new, &alike);
    let against_baseline = relative.is_some();
    let (ns, ratio, ends) = match relative {
        Some((ratio, ends)) => ((was, is), ratio, ends),
        None => match time(old, &alike).and_then(|old| Ok((old, time(new, &alike)?))) {
            // The times that the interval is of, which the ratio of the medians may lie outside of.
            Ok(((was, o), (is, n))) => {
                let interval = Interval { low: n.low / o.high, high: n.high / o.low };
                ((was, is), is / was, Ok(interval))
            }
            Err(why) => ((was, is), is / was, Err(Some(why))),
        },
    };
    let interval = ends.ok().filter(|_| unjudged.is_none());
    // Two runs differ by at least what identical code differs by within one.
    let floor = [old.0, new.0].iter().filter_map(|c| c.judged.floor.reach).fold(0.0, f64::max);
    let speaks = interval.is_some_and(|i| !i.contains(1.0));
    let is_beyond = ratio.max(1.0 / ratio) - 1.0 > floor.max(LEAST);
    let change = match (speaks && is_beyond, ratio < 1.0) {
        (false, _) => Change::NotResolved,
        (true, true) => Change::Faster,
        (true, false) => Change::Slower,
    };
    let why = match interval {
        None => unjudged.or_else(|| ends.err().flatten().map(unresolved)),
        Some(_) if speaks && !is_beyond => Some(match floor > LEAST {
            true => unresolved(Unresolved::Floor { least: floor }),
            false => format!("smaller than the {} that two runs may differ by", percent(LEAST)),
        }),
        _ => None,
    };
    Difference {
        title: title.to_owned(),
        id,
        ns: Some(ns),
        ratio: Some(ratio),
        interval,
        against_baseline,
        change,
        why,
    }
}

/// Why a run calls no difference of a contender however many rounds it has; then no two runs do. A baseline has no
/// verdict of its own, but as many sets as the others, and is as broken.
fn unjudged((case, number): (&Case, usize)) -> Option<String> {
    let all = &case.judged.comparisons;
    let own = all.iter().find(|comparison| comparison.contender == number);
    match own.or(all.first())?.verdict {
        Verdict::Withheld { why } => Some(broken(why)),
        Verdict::NotResolved { why: why @ Unresolved::OneProcess, .. } => Some(unresolved(why)),
        Verdict::NotResolved {
            why: why @ (Unresolved::SetWithout | Unresolved::Unbounded),
            ..
        } => own.map(|_| unresolved(why)),
        _ => None,
    }
}

/// What became of a contender that failed before, now or both times.
fn failed_in(before: Option<&Failure>, now: Option<&Failure>) -> Option<Change> {
    match (before, now) {
        (None, None) => None,
        (None, Some(now)) => Some(Change::Gone(format!("failed now: {now}"))),
        (Some(Failure::Unsupported { reason }), None) => {
            Some(Change::Repaired(format!("takes part now, not before: {reason}")))
        }
        (Some(was), None) => Some(Change::Repaired(format!("failed before, not now: {was}"))),
        (Some(Failure::Unsupported { .. }), Some(now @ Failure::Unsupported { .. })) => {
            Some(Change::Absent(now.to_string()))
        }
        (Some(was), Some(now)) if was == now => {
            Some(Change::Broken(format!("failed before and now: {now}")))
        }
        (Some(was), Some(now)) => {
            Some(Change::Broken(format!("failed before: {was}; failed now: {now}")))
        }
    }
}

/// A contender's time with its interval, or why it has none.
fn time((case, number): (&Case, usize), alike: &Alike) -> Result<(f64, Interval), Unresolved> {
    let alpha = half(&case.plan).alpha / case.entrants().count() as f64;
    alike.estimate(case, number, alpha)
}

/// The change of the ratio to a baseline that both runs share; without an interval where all sets of processes
/// read the same, or vary without bounds.
fn relative(
    old: (&Case, usize),
    new: (&Case, usize),
    alike: &Alike,
) -> Option<(f64, Result<Interval, Option<Unresolved>>)> {
    let baseline = |case: &Case| case.contenders[case.roles.baseline].clone();
    let (was, is) = (baseline(old.0), baseline(new.0));
    if was.id != is.id || was.about.version != is.about.version {
        return None;
    }
    let of = |(case, number): (&Case, usize)| {
        let plan = Plan { clock: Some(alike.clock), ..half(&case.plan) };
        let judge = if alike.subtracted { judge } else { judge_as_measured };
        let judged = judge(&case.measured, case.roles, &plan);
        let found = judged.comparisons.into_iter().find(|c| c.contender == number)?;
        let why = match found.verdict {
            Verdict::NotResolved { why, .. } => Some(why),
            _ => None,
        };
        let is_judged = found.interval.is_some() || found.sets > 1;
        Some((found.ratio?, found.interval.ok_or(why))).filter(|_| is_judged)
    };
    let ((old_ratio, old_ends), (new_ratio, new_ends)) = (of(old)?, of(new)?);
    let ends = old_ends.and_then(|old_ends| {
        let new_ends = new_ends?;
        Ok(Interval { low: new_ends.low / old_ends.high, high: new_ends.high / old_ends.low })
    });
    Some((new_ratio / old_ratio, ends))
}

/// What two runs say that cannot be compared.
const NOTHING_IN_COMMON: &str =
    "No contender has times in both runs on the same workload: nothing was compared.";
/// Of times that are compared alone.
const ALONE: &str =
    "Times alone are what their intervals are of: the middle of processes' or blocks' medians.";
/// And those whose every difference lacks an interval.
const NOTHING_JUDGED: &str =
    "No difference could be judged, however large: each contender says why.";

impl Diff {
    /// Whether anything became slower or failed.
    #[must_use]
    pub fn is_worse(&self) -> bool {
        let is_worse = |change: &Change| {
            matches!(change, Change::Slower | Change::Gone(_) | Change::Broken(_))
        };
        self.differences.iter().any(|d| is_worse(&d.change))
    }

    /// Whether the second run lacks anything of the first, or nothing was judged and nothing is repaired.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        let is_lost = |d: &Difference| d.change == Change::OldOnly;
        self.differences.iter().any(is_lost) || self.is_vain()
    }

    /// Whether nothing was judged and nothing is repaired.
    #[must_use]
    pub fn is_vain(&self) -> bool {
        let is_repaired = |d: &Difference| matches!(d.change, Change::Repaired(_));
        self.nothing().is_some() && !self.differences.iter().any(is_repaired)
    }

    /// Where no contender has times in both runs, or no times that can be judged: that.
    pub(crate) fn nothing(&self) -> Option<&'static str> {
        if self.differences.iter().all(|d| d.ns.is_none()) {
            return Some(NOTHING_IN_COMMON);
        }
        self.differences.iter().all(|d| d.interval.is_none()).then_some(NOTHING_JUDGED)
    }

    /// Where times alone are compared: why they are not those of a report.
    pub(crate) fn alone(&self) -> Option<&'static str> {
        let is_alone = |d: &Difference| d.interval.is_some() && !d.against_baseline;
        self.differences.iter().any(is_alone).then_some(ALONE)
    }

    /// The differences as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut title = "";
        for d in &self.differences {
            if d.title != title {
                title = &d.title;
                let _ = writeln!(text, "{}", line(title));
            }
            let _ = writeln!(text, "  {}", line(&d.sentence()));
        }
        for caution in &self.cautions {
            let _ = writeln!(text, "caution: {}", line(caution));
        }
        if let Some(alone) = self.alone() {
            let _ = writeln!(text, "{alone}");
        }
        let last = self.nothing().unwrap_or(
            "The two runs were not interleaved: whatever changed between them besides the code is \
             part of these differences. To be sure, measure both in one run.",
        );
        let _ = writeln!(text, "{last}");
        text
    }
}

impl Difference {
    /// That it is not resolved, and why, where the interval does not tell.
    pub(crate) fn not_resolved(&self) -> String {
        let why = self.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        format!("not resolved{why}")
    }

    /// That one run alone has it, or a time of it.
    pub(crate) fn lone(&self, run: &str) -> String {
        self.why.clone().unwrap_or_else(|| format!("in the {run} run only"))
    }

    /// One line.
    #[must_use]
    pub fn sentence(&self) -> String {
        let id = &self.id;
        let (Some((was, is)), Some(ratio)) = (self.ns, self.ratio) else {
            return match &self.change {
                Change::Gone(why)
                | Change::Broken(why)
                | Change::Repaired(why)
                | Change::Absent(why) => format!("{id}: {why}"),
                Change::OldOnly => format!("{id}: {}", self.lone("first")),
                Change::NewOnly => format!("{id}: {}", self.lone("second")),
                _ => format!("{id}: nothing to compare"),
            };
        };
        // It may be the baseline that changed.
        let how = if self.against_baseline { "against the baseline" } else { "in time alone" };
        let word = match self.change {
            Change::Faster => format!("{} faster than before, {how}", times(1.0 / ratio)),
            Change::Slower => format!("{} slower than before, {how}", times(ratio)),
            _ => format!("{}, ratio {} {how}", self.not_resolved(), factor_digits(ratio)),
        };
        let interval = self.interval.map_or_else(String::new, |i| {
            let turned = self.change == Change::Faster;
            let (low, high) = if turned { (1.0 / i.high, 1.0 / i.low) } else { (i.low, i.high) };
            format!("{}–{}; ", factor_digits(low), factor_digits(high))
        });
        format!("{id}: {word} ({interval}{} → {})", duration(was), duration(is))
    }
}
