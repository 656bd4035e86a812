//! What became of each combination that was considered: on which keys it was ruled out, and why. Rules
//! nobody out itself; the figures in it are those of the screening, which chose and say no more.

use std::fmt::Write;

use fathom_measure::result::Case;
use fathom_measure::sample::Failure;
use fathom_report::number::plural;
use serde::{Deserialize, Serialize};

use super::candidate::Candidate;
use super::screen::{Score, Why};

/// What became of a combination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Fate {
    pub(super) id: String,
    pub(super) why: Why,
    /// Keys (or operations of a trace) of the sample that decided it; all of them for those measured.
    pub(super) keys: usize,
    /// Its time there, in times of the least one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) times: Option<f64>,
    /// Who went on instead, or what it said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) detail: String,
}

/// Notes how those who were scored did: who is among `kept`, who takes more than `hopeless` times the least
/// time, and who was beaten.
pub(super) fn leave(
    fates: &mut [Option<Fate>],
    scores: &[Score],
    kept: &[usize],
    candidates: &[Candidate],
    (keys, hopeless): (usize, f64),
) {
    let least = scores.iter().map(|score| score.cost_ns).fold(f64::INFINITY, f64::min);
    let design = |number: usize| candidates[number].design();
    for score in scores {
        let own = kept.iter().find(|&&other| design(other) == design(score.candidate));
        let times = score.cost_ns / least;
        let (why, detail) = match own {
            _ if kept.contains(&score.candidate) => (Why::Measured, String::new()),
            _ if times > hopeless => (Why::Hopeless, format!("more than {hopeless} is hopeless")),
            Some(&other) => (Why::Behind, candidates[other].id()),
            None => (Why::NoPlace, String::new()),
        };
        let id = candidates[score.candidate].id();
        fates[score.candidate] = Some(Fate { id, why, keys, times: Some(times), detail });
    }
}

impl Fate {
    /// Takes over why it takes no part, where that was told when it was to be measured.
    pub(super) fn told_by(&mut self, cases: &[&Case]) {
        let told = |case: &Case| {
            let seat = case.contenders.iter().position(|seat| seat.id == self.id)?;
            match case.measured.failures.get(seat)? {
                Some(Failure::Unsupported { reason }) => Some(reason.clone()),
                _ => None,
            }
        };
        if self.why == Why::Measured
            && let Some(reason) = cases.iter().find_map(|case| told(case))
        {
            (self.why, self.detail) = (Why::Lacks, reason);
        }
    }
}

/// All fates: of those who were `seated` on `keys` too, and of those who were tried on one allocator alone.
/// Who came farthest is first, then who took least.
pub(super) fn settled(
    mut fates: Vec<Option<Fate>>,
    candidates: &[Candidate],
    seated: &[Candidate],
    keys: usize,
) -> Vec<Fate> {
    for (fate, candidate) in fates.iter_mut().zip(candidates) {
        let id = candidate.id();
        if seated.iter().any(|other| other.id() == id) {
            let times = fate.as_ref().and_then(|fate| fate.times);
            *fate = Some(Fate { id, why: Why::Measured, keys, times, detail: String::new() });
        }
    }
    let tried: Vec<Fate> = fates.iter().flatten().cloned().collect();
    let alone = |candidate: &Candidate| {
        let (id, why, own) = (candidate.id(), Why::OtherAllocator, candidate.contender());
        let like = tried.iter().find(|fate| fate.id.split('@').next() == Some(&own));
        let (keys, detail) = like.map(|fate| (fate.keys, fate.id.clone())).unwrap_or_default();
        Fate { id, why, keys, times: None, detail }
    };
    let all = fates.into_iter().zip(candidates);
    sorted(all.map(|(fate, candidate)| fate.unwrap_or_else(|| alone(candidate))).collect())
}

fn sorted(mut fates: Vec<Fate>) -> Vec<Fate> {
    let times = |fate: &Fate| fate.times.unwrap_or(f64::INFINITY);
    fates.sort_by(|a, b| {
        let is_out = |fate: &Fate| fate.why != Why::Measured;
        let farthest = is_out(a).cmp(&is_out(b)).then(b.keys.cmp(&a.keys));
        farthest.then(times(a).total_cmp(&times(b))).then(a.why.cmp(&b.why)).then(a.id.cmp(&b.id))
    });
    fates
}

/// A line for each, after one that counts them.
pub(super) fn text(fates: &[Fate], unit: &str) -> String {
    let measured = fates.iter().filter(|fate| fate.why == Why::Measured).count();
    let considered = plural(fates.len(), "combination");
    let mut text = format!("{considered} considered, {measured} measured\n");
    let width = fates.iter().map(|fate| fate.id.len()).max().unwrap_or(0);
    for Fate { id, why, keys, times, detail } in fates {
        let detail = fathom_report::escape::line(detail);
        let reason = match why {
            Why::Measured => "measured at full size".to_owned(),
            Why::Behind => format!("behind {detail}"),
            Why::NoPlace => "no place was left".to_owned(),
            Why::Hopeless | Why::Lacks => detail,
            Why::OtherAllocator => format!("not tried: {detail} was out"),
            Why::Unreached => "not reached in time".to_owned(),
            Why::Failed => format!("failed: {detail}"),
        };
        let times = times.map_or_else(|| "-".to_owned(), |times| format!("{times:.2}x"));
        let (keys, wide) = (plural(*keys, unit), unit.len() + 10);
        let _ = writeln!(text, "{id:width$}  {keys:>wide$}  {times:>7}  {reason}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::verdict::tests::candidates;
    use super::*;

    fn score(candidate: usize, cost_ns: f64) -> Score {
        Score { candidate, cost_ns, bytes: None }
    }

    #[test]
    fn everybody_s_fate_is_told_by_whom_and_by_how_much() {
        let mut all = candidates(&["a", "a", "a", "b", "c", "d"]);
        all[2].allocator = "jemalloc".to_owned();
        all[1].hash = Some("slow".to_owned());
        let mut fates: Vec<Option<Fate>> = vec![None; all.len()];
        let scores =
            [score(0, 10.0), score(1, 15.0), score(3, 20.0), score(4, 90.0), score(5, 10.5)];
        leave(&mut fates, &scores, &[0, 5], &all, (2048, 8.0));
        leave(&mut fates, &[score(0, 30.0), score(5, 20.0)], &[5], &all, (9000, 8.0));
        let fates = settled(fates, &all, &all[5..], 20_000);
        let one = Fate { keys: 1, ..fates[0].clone() };
        assert!(text(&[one], "operation").contains("  1 operation  "));
        let text = text(&fates, "key");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "6 combinations considered, 1 measured",
                "d              20000 keys    1.00x  measured at full size",
                "a               9000 keys    1.50x  no place was left",
                "a@jemalloc      9000 keys        -  not tried: a was out",
                "a+slow          2048 keys    1.50x  behind a",
                "b               2048 keys    2.00x  no place was left",
                "c               2048 keys    9.00x  more than 8 is hopeless",
            ]
        );
    }
}
