//! A result in one sentence: who is fastest, who is not told apart from it, and who comes next.
//!
//! Looks at the times first and then asks how sure it is, so everybody is judged against the fastest at
//! the level for comparisons that were chosen after looking.

use fathom_measure::compare::{Comparison, Verdict, judge};
use fathom_measure::plan::Roles;
use fathom_measure::result::{Case, Run};

use crate::number::times;
use crate::scan::Scan;
use crate::view::lines;

/// Who leads a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    /// The fastest, then those not told apart from it, by number.
    pub leaders: Vec<usize>,
    /// Those whose verdict against it is that they are faster: within rounds they are, but its median over all is
    /// the least.
    pub faster: Vec<usize>,
    /// Those on whom a broken measurement has no verdict, by number.
    pub unjudged: Vec<usize>,
    /// Everybody's time over the fastest's, by number; 1 for the fastest, `None` without a time.
    pub ratios: Vec<Option<f64>>,
    /// Whether a difference from the fastest is proved, by number.
    pub proved: Vec<bool>,
    /// The fastest of those proved to be slower, and how many times as long it takes.
    pub next: Option<(usize, f64)>,
    /// The fastest, then those that [tie](is_tie) with it, by number.
    pub ties: Vec<usize>,
    /// The fastest of those that do not, and how many times as long it takes.
    pub behind: Option<(usize, f64)>,
}

/// A difference that is not resolved counts as a tie below this ratio. Above it the measurement only
/// was too noisy to be certain, and nobody should be told that the two are the same.
const TIE_BELOW: f64 = 1.25;

/// Whether either will do: not told apart and not far from each other, or less than two percent apart.
#[must_use]
pub fn is_tie(comparison: &Comparison) -> bool {
    let below = match comparison.verdict {
        Verdict::Withheld { .. } => return false,
        Verdict::Slower => 1.02,
        _ => TIE_BELOW,
    };
    comparison.ratio.is_none_or(|ratio| ratio < below)
}

/// Who leads.
#[must_use]
pub fn standing(case: &Case) -> Standing {
    let count = case.contenders.len();
    let mut standing =
        Standing { ratios: vec![None; count], proved: vec![false; count], ..Standing::default() };
    let lines = lines(case);
    let Some(first) = lines.first().filter(|line| line.summary.is_some()) else { return standing };
    let is_judged = case.roles.baseline == first.number && case.roles.chosen;
    let roles = Roles { baseline: first.number, chosen: true, ..case.roles };
    let judged = if is_judged { &case.judged } else { &judge(&case.measured, roles, &case.plan) };
    standing.leaders.push(first.number);
    standing.ratios[first.number] = Some(1.0);
    let is_shown = |c: &&Comparison| lines.iter().any(|line| line.number == c.contender);
    let mut others: Vec<&Comparison> = judged.comparisons.iter().filter(is_shown).collect();
    others.sort_by(|a, b| {
        a.ratio.unwrap_or(f64::INFINITY).total_cmp(&b.ratio.unwrap_or(f64::INFINITY))
    });
    for other in others {
        standing.ratios[other.contender] = other.ratio;
        standing.proved[other.contender] =
            matches!(other.verdict, Verdict::Slower | Verdict::Faster);
        match (&other.verdict, other.ratio) {
            (Verdict::Slower, Some(ratio)) => {
                standing.next = standing.next.or(Some((other.contender, ratio)));
            }
            (Verdict::Faster, _) => standing.faster.push(other.contender),
            (Verdict::Withheld { .. }, _) => standing.unjudged.push(other.contender),
            (_, Some(_)) => standing.leaders.push(other.contender),
            _ => {}
        }
    }
    standing.ties.push(first.number);
    for line in lines.iter().filter(|line| line.summary.is_some()) {
        let Some(other) = judged.comparisons.iter().find(|c| c.contender == line.number) else {
            continue;
        };
        match is_tie(other) {
            true => standing.ties.push(line.number),
            false => {
                standing.behind = standing.behind.or(other.ratio.map(|ratio| (line.number, ratio)));
            }
        }
    }
    standing
}

/// More cases than these, if they are no scan, are an overview.
pub(crate) const MOST_SECTIONS: usize = 6;

/// What a whole run found: its command's advice, how it scales, who is fastest, or how much there is.
#[must_use]
pub fn of_run(run: &Run) -> String {
    if let Some(advice) = run.answer["advice"][0].as_str() {
        return advice.to_owned();
    }
    if let Some(scan) = Scan::of(run) {
        return scan.headline();
    }
    match &run.cases[..] {
        [case] => headline(case),
        cases if cases.len() > MOST_SECTIONS => {
            let contested = cases.iter().filter(|case| case.entrants().count() > 1).count();
            format!("{} tasks, {contested} of them with rivals", cases.len())
        }
        cases => format!("{} measurements", cases.len()),
    }
}

/// The same in a list of runs, where no notes stand beside it.
#[must_use]
pub fn in_list(run: &Run) -> String {
    of_run(run)
        + if run.notes.iter().any(|note| is_interrupted(note)) { " (interrupted)" } else { "" }
}

/// Whether a note of a run says that it was not finished.
pub(crate) fn is_interrupted(note: &str) -> bool {
    note.starts_with("interrupted")
}

/// The sentence: `B is fastest, 1.31x before A`.
#[must_use]
pub fn headline(case: &Case) -> String {
    let name = |number: usize| case.contenders[number].id.as_str();
    let standing = standing(case);
    let Some((&first, others)) = standing.leaders.split_first() else {
        return "Nobody could be measured".to_owned();
    };
    if case.entrants().count() == 1 {
        return format!("{} alone", name(first));
    }
    let next =
        standing.next.map(|(number, ratio)| format!("{} before {}", times(ratio), name(number)));
    let names = |of: &[usize]| match of {
        [_] | [_, _] => of.iter().map(|n| name(*n)).collect::<Vec<_>>().join(" and "),
        _ => format!("{} others", of.len()),
    };
    match (others, &standing.faster[..], next) {
        ([], [], Some(next)) => format!("{} is fastest, {next}", name(first)),
        ([], [], None) if standing.unjudged.is_empty() => {
            format!("{} is the only one with a time", name(first))
        }
        (others, faster, next) => {
            let next = next.map_or_else(String::new, |next| format!(", {next}"));
            let mut said = format!("{} had the least time{next}", name(first));
            if !faster.is_empty() {
                said += &format!("; faster within rounds: {}", names(faster));
            }
            if !others.is_empty() {
                said += &format!("; not resolved against {}", names(others));
            }
            if !standing.unjudged.is_empty() {
                said += &format!("; no verdict on {}", names(&standing.unjudged));
            }
            said
        }
    }
}
