//! The arithmetic of the study: from what was advised and what is true to rank, regret and repeatability, and
//! the table of all. Pure functions; measures nothing.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// What came of one set: a line of the record.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) kind: String,
    pub(super) keys: u64,
    pub(super) seed: u64,
    pub(super) commit: String,
    pub(super) dirty: bool,
    pub(super) started: String,
    pub(super) processor: String,
    /// Combinations of structure, hash and allocator.
    pub(super) considered: u64,
    pub(super) advice: Vec<Advice>,
    pub(super) truth: Truth,
}

/// What one run of `fathom kv` said.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Advice {
    /// What it advised, then the others it measured, the fastest first.
    pub(super) ranked: Vec<String>,
    /// Those of which it said that they are not resolved from the fastest, the fastest included.
    pub(super) ties: Vec<String>,
    pub(super) seconds: f64,
}

/// What the exhaustive run measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Truth {
    /// Those that were advised, or are less than a fifth slower than the fastest: the fastest first.
    pub(super) rows: Vec<Measured>,
    /// The reading of the fastest when all were tried on all keys, in times of the least of its structure.
    pub(super) reading: f64,
    /// That least, in times of the least of all.
    pub(super) apart: f64,
    /// The least such reading of anybody who was not measured in rounds, of structures that are not far off.
    pub(super) left_out: Option<f64>,
    pub(super) seconds: f64,
}

/// Time in times of the fastest, with its interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Measured {
    pub(super) id: String,
    pub(super) ratio: f64,
    pub(super) low: f64,
    /// None where there were too few rounds for an interval.
    pub(super) high: Option<f64>,
}

/// Who is measured to be slower than the fastest by more is no winner, however wide the interval: 3 %.
const TIE: f64 = 1.03;
/// Places in which the winner has to be.
const TOP: usize = 3;

/// Whether three runs said the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeats {
    /// They advised the same.
    Alike,
    /// They advised differently, and said of the others' choices that they are not resolved.
    Tied,
    /// They differed without saying so.
    Differ,
}

impl Truth {
    /// The winners: the fastest, and whoever is not resolved from it.
    fn winners(&self) -> impl Iterator<Item = &str> {
        let ties = |row: &&Measured| row.high.is_some() && row.low <= 1.0 && row.ratio <= TIE;
        let rows = self.rows.iter().enumerate();
        rows.filter(move |(n, row)| *n == 0 || ties(row)).map(|(_, r)| &*r.id)
    }

    fn of(&self, id: &str) -> Option<&Measured> {
        self.rows.iter().find(|row| row.id == id)
    }
}

impl Entry {
    /// The place of the first winner in each run's advice.
    pub(super) fn ranks(&self) -> Vec<Option<usize>> {
        let winners: Vec<&str> = self.truth.winners().collect();
        let place = |advice: &Advice| {
            let found = advice.ranked.iter().position(|id| winners.contains(&id.as_str()));
            found.map(|at| at + 1)
        };
        self.advice.iter().map(place).collect()
    }

    /// How each run's choice was measured against the fastest.
    pub(super) fn choices(&self) -> Vec<&Measured> {
        let chosen = self.advice.iter().filter_map(|advice| advice.ranked.first());
        chosen.filter_map(|id| self.truth.of(id)).collect()
    }

    pub(super) fn same(&self) -> Repeats {
        let choice = |advice: &Advice| advice.ranked.first().cloned().unwrap_or_default();
        let says = |advice: &Advice, id: &String| advice.ties.contains(id);
        let mut same = Repeats::Alike;
        for (at, one) in self.advice.iter().enumerate() {
            for other in &self.advice[at + 1..] {
                let (a, b) = (choice(one), choice(other));
                let said = [one, other].iter().any(|run| says(run, &a) && says(run, &b));
                match (a == b, said) {
                    (true, _) => {}
                    (false, true) => same = Repeats::Tied,
                    (false, false) => return Repeats::Differ,
                }
            }
        }
        same
    }

    fn is_in_top(&self) -> bool {
        self.ranks().iter().all(|rank| rank.is_some_and(|rank| rank <= TOP))
    }

    /// Its line of the table.
    pub(super) fn line(&self) -> String {
        let choices = self.choices();
        let mut names: Vec<String> = Vec::new();
        for choice in &choices {
            let name = format!("`{}`", choice.id);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let worst = choices.iter().max_by(|a, b| a.ratio.total_cmp(&b.ratio));
        let regret = worst.map_or_else(String::new, |row| match row.high {
            Some(_) if row.low == row.ratio => "0".to_owned(),
            Some(high) => {
                format!("{} ({} to {})", percent(row.ratio), percent(row.low), percent(high))
            }
            None => percent(row.ratio),
        });
        let rank = self.ranks().into_iter().map(|rank| rank.unwrap_or(usize::MAX)).max();
        let rank = rank.filter(|&rank| rank < usize::MAX);
        let rank = rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string());
        let same = match self.same() {
            Repeats::Alike => "same",
            Repeats::Tied => "tie",
            Repeats::Differ => "differs",
        };
        let best = self.truth.rows.first().map_or("", |row| row.id.as_str());
        format!(
            "| {} | {} | {} | `{best}` | {rank} | {regret} | {same} |",
            self.kind,
            self.keys,
            names.join(", ")
        )
    }
}

/// How much longer, in percent.
fn percent(ratio: f64) -> String {
    format!("{:.1}", (ratio - 1.0) * 100.0)
}

/// All sets in a table.
pub(super) fn table(entries: &[Entry]) -> String {
    let mut text = String::from(
        "| kind | keys | advised | fastest | its place | regret, % | repeated |\n|---|--:|---|---|--:|---|---|\n",
    );
    for entry in entries {
        let _ = writeln!(text, "{}", entry.line());
    }
    text
}

/// Sets added up.
struct Tally {
    sets: usize,
    /// In how many the winner is among the first of all runs.
    top: usize,
    /// Regret of every piece of advice, in percent, sorted.
    regrets: Vec<f64>,
    same: usize,
    ties: usize,
}

impl Tally {
    fn of(entries: &[&Entry]) -> Tally {
        let choices = entries.iter().flat_map(|entry| entry.choices());
        let mut regrets: Vec<f64> = choices.map(|row| (row.ratio - 1.0).max(0.0) * 100.0).collect();
        regrets.sort_by(f64::total_cmp);
        let count = |same| entries.iter().filter(|entry| entry.same() == same).count();
        Tally {
            sets: entries.len(),
            top: entries.iter().filter(|entry| entry.is_in_top()).count(),
            regrets,
            same: count(Repeats::Alike),
            ties: count(Repeats::Tied),
        }
    }

    fn worst(&self) -> f64 {
        self.regrets.last().copied().unwrap_or(0.0)
    }
}

/// What all sets together say, in sentences, and each kind in a line.
pub(super) fn totals(entries: &[Entry]) -> String {
    let all: Vec<&Entry> = entries.iter().collect();
    let greatest = |of: fn(&Truth) -> f64| entries.iter().map(|e| of(&e.truth)).fold(1.0, f64::max);
    let (reading, apart) = (greatest(|truth| truth.reading), greatest(|truth| truth.apart));
    let left_out = entries.iter().filter_map(|entry| entry.truth.left_out).reduce(f64::min);
    let left_out = left_out
        .map_or_else(String::new, |least| format!(" (who was left out {least:.2} or more)"));
    let considered = entries.iter().map(|entry| entry.considered).min().unwrap_or(0);
    let mut text = format!(
        "At least {considered} combinations were considered for each set. When all were tried on all keys, the one that \
         was then fastest in rounds took at most {reading:.2} times the least of its structure{left_out}, \
         and that at most {apart:.2} times the least of all (the limit is 2).\n\n\
         | kind | sets | fastest in the first {TOP} | median regret, % | worst, % | same advice | tie, said | different |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|\n"
    );
    let mut kinds: Vec<&str> = entries.iter().map(|entry| entry.kind.as_str()).collect();
    kinds.dedup();
    let of = |kind: &str| all.iter().copied().filter(|entry| entry.kind == kind).collect();
    let groups: Vec<(&str, Vec<&Entry>)> = kinds.iter().map(|&kind| (kind, of(kind))).collect();
    for (name, group) in groups.into_iter().chain([("all", all.clone())]) {
        let tally = Tally::of(&group);
        let Tally { sets, top, same, ties, .. } = tally;
        let (median, worst) = (median(&tally.regrets), tally.worst());
        let different = sets - same - ties;
        let _ = writeln!(
            text,
            "| {name} | {sets} | {top} | {median:.1} | {worst:.1} | {same} | {ties} | {different} |"
        );
    }
    text
}

/// Of sorted numbers.
fn median(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => 0.0,
        many => (sorted[(many - 1) / 2] + sorted[many / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(id: &str, ratio: f64, low: f64, high: Option<f64>) -> Measured {
        Measured { id: id.to_owned(), ratio, low, high }
    }

    fn advice(ranked: &[&str], ties: &[&str]) -> Advice {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Advice { ranked: owned(ranked), ties: owned(ties), seconds: 1.0 }
    }

    fn entry(advice: &[Advice]) -> Entry {
        Entry {
            kind: "planted".to_owned(),
            keys: 1000,
            seed: 1,
            considered: 1640,
            advice: advice.to_vec(),
            truth: Truth {
                rows: vec![
                    measured("best", 1.0, 1.0, Some(1.0)),
                    measured("even", 1.01, 0.99, Some(1.03)),
                    measured("near", 1.02, 1.01, Some(1.03)),
                    measured("vague", 1.04, 0.8, Some(1.4)),
                    measured("unknown", 1.02, 0.0, None),
                    measured("slow", 1.25, 1.2, Some(1.3)),
                ],
                reading: 1.02,
                apart: 1.27,
                left_out: Some(1.3),
                seconds: 1.0,
            },
            ..Entry::default()
        }
    }

    #[test]
    fn a_winner_is_the_fastest_or_not_resolved_from_it_and_no_vague_one() {
        let rank = |ranked: &[&str]| entry(&[advice(ranked, &[])]).ranks()[0];
        assert_eq!(rank(&["best", "slow"]), Some(1));
        assert_eq!(rank(&["slow", "even"]), Some(2));
        assert_eq!(rank(&["near", "vague", "unknown", "best"]), Some(4));
        assert_eq!(rank(&["near", "vague", "unknown"]), None);
        assert!(entry(&[advice(&["slow", "near", "best"], &[])]).is_in_top());
        let once = [advice(&["best"], &[]), advice(&["slow", "near", "vague", "best"], &[])];
        assert!(!entry(&once).is_in_top(), "in every run");
    }

    #[test]
    fn regret_is_of_the_choice_by_the_truth_s_own_costs() {
        let runs = [advice(&["even"], &[]), advice(&["slow", "best"], &[]), advice(&["best"], &[])];
        let entry = entry(&runs);
        let ratios: Vec<f64> = entry.choices().iter().map(|row| row.ratio).collect();
        assert_eq!(ratios, [1.01, 1.25, 1.0]);
        let line = entry.line();
        let expected = "| `even`, `slow`, `best` | `best` | 2 | 25.0 (20.0 to 30.0) |";
        assert!(line.contains(expected), "{line}");
        let mut alone = entry.clone();
        alone.truth.left_out = None;
        assert!(totals(&[alone]).contains("1.02 times the least of its structure, and that at"));
        let totals = totals(&[entry.clone(), entry]);
        for line in ["| planted | 2 | 2 | 1.0 | 25.0 | 0 | 0 | 2 |", "| all | 2 | 2 | 1.0 | 25.0 |"]
        {
            assert!(totals.contains(line), "{totals}");
        }
        assert!(totals.starts_with("At least 1640 combinations"), "{totals}");
        let least = "1.02 times the least of its structure (who was left out 1.30 or more)";
        assert!(totals.contains(least));
        assert!(totals.contains("and that at most 1.27 times the least of all"), "{totals}");
        assert!((median(&[1.0, 2.0, 4.0, 8.0]) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_tie_counts_as_the_same_only_where_it_was_said() {
        let same = |runs: &[Advice]| entry(runs).same();
        let (best, even) = (advice(&["best"], &[]), advice(&["even"], &[]));
        assert_eq!(same(&[best.clone(), best.clone(), best.clone()]), Repeats::Alike);
        assert_eq!(same(&[best.clone(), best.clone(), even.clone()]), Repeats::Differ);
        let said = advice(&["even"], &["best", "even"]);
        assert_eq!(same(&[best.clone(), best.clone(), said.clone()]), Repeats::Tied);
        let other = advice(&["even"], &["even", "near"]);
        assert_eq!(same(&[best.clone(), other]), Repeats::Differ);
        assert_eq!(same(&[best, advice(&["slow"], &[]), said]), Repeats::Differ);
    }
}
