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
    /// Everybody's time over the fastest's, by number; 1 for the fastest, `None` without a time.
    pub ratios: Vec<Option<f64>>,
    /// Whether a difference from the fastest is proved, by number.
    pub proved: Vec<bool>,
    /// The fastest of those proved to be slower, and how many times as long it takes.
    pub next: Option<(usize, f64)>,
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
    let judged = match is_judged {
        true => &case.judged,
        false => &judge(&case.measured, roles, &case.plan),
    };
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
            (_, Some(_)) => standing.leaders.push(other.contender),
            _ => {}
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
    match (others.len(), next) {
        (0, Some(next)) => format!("{} is fastest, {next}", name(first)),
        (0, None) => format!("{} is the only one with a time", name(first)),
        (more, next) => {
            let rest = match more {
                1..=2 => others.iter().map(|n| name(*n)).collect::<Vec<_>>().join(" and "),
                _ => format!("{more} others"),
            };
            let next = next.map_or_else(String::new, |next| format!(", {next}"));
            format!("{} had the least time{next}; not resolved against {rest}", name(first))
        }
    }
}

#[cfg(test)]
mod tests {
    use fathom_measure::plan::{End, Measured, Plan, Round};
    use fathom_measure::result::Row;
    use fathom_measure::sample::{Failure, Sample};

    use super::*;

    /// Contenders that took about these microseconds; no twin.
    fn case(times: &[u64]) -> Case {
        let sample = |us: &u64, round: u64| {
            let wall_ns = us * 1000 + round * round % 101;
            Some(Sample { wall_ns, cpu_ns: Some(wall_ns), ..Sample::default() })
        };
        let rounds = (0..200).map(|round| Round {
            samples: times
                .iter()
                .enumerate()
                .map(|(i, us)| sample(us, round * 3 + i as u64 * 5))
                .collect(),
            ..Round::default()
        });
        let measured = Measured {
            iterations: 1,
            rounds: rounds.collect(),
            failures: vec![None; times.len()],
            end: End::Rounds,
            alpha_share: 1.0,
            planned: 200,
        };
        let (roles, plan) = (Roles::default(), Plan { fresh: true, ..Plan::default() });
        let row = |id: char| Row { id: id.to_string(), ..Row::default() };
        Case {
            family: "commands".to_owned(),
            workload: Default::default(),
            work: Default::default(),
            check: None,
            contenders: ('a'..).take(times.len()).map(row).collect(),
            judged: judge(&measured, roles, &plan),
            roles,
            plan,
            measured,
            source: String::new(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn the_fastest_is_named_with_its_lead_or_with_those_not_told_apart() {
        assert_eq!(headline(&case(&[2000, 1000, 4000])), "b is fastest, 2.00x before a");
        let close = headline(&case(&[2000, 1000, 1000]));
        assert!(
            close.ends_with("had the least time, 2.00x before a; not resolved against c"),
            "{close}"
        );
        let open = headline(&case(&[1000; 5]));
        assert!(open.ends_with("had the least time; not resolved against 4 others"), "{open}");
        assert_eq!(headline(&case(&[2000])), "a alone");
    }

    #[test]
    fn who_failed_leads_nothing() {
        let mut broken = case(&[1000, 2000]);
        broken.measured.failures[0] = Some(Failure::Hung { limit_ms: 1 });
        broken.judged = judge(&broken.measured, broken.roles, &broken.plan);
        assert_eq!(headline(&broken), "b is the only one with a time");
        broken.measured.failures[1] = Some(Failure::Hung { limit_ms: 1 });
        broken.judged = judge(&broken.measured, broken.roles, &broken.plan);
        assert_eq!(headline(&broken), "Nobody could be measured");
    }
}
