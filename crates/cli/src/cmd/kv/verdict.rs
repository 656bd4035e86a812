//! From measured cases to a choice: the cost of the mix, its ratio with an interval, the front of
//! time against memory, and sentences. Pure functions; measures nothing.
//!
//! The cost of a mix is a mean weighted by shares, c = Σ w·t. Its ratio to somebody else's cost, with an
//! interval over sets of processes, is `fathom_measure::mix`'s.

use fathom_measure::contender::{Keeps, Metric};
use fathom_measure::mix::{Mixed, Part, mixed};
use fathom_measure::result::Case;
use fathom_measure::rounds::Roles;
use fathom_report::number::factor_digits;
use serde::{Deserialize, Deserializer, Serialize};

use super::candidate::Candidate;

/// A case and its operation's share of the mix.
pub(super) struct Weighed {
    pub(super) case: Case,
    pub(super) share: f64,
}

/// What is said about one who was measured at full size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) structure: String,
    pub(super) hash: Option<String>,
    pub(super) allocator: String,
    /// What it does with keys.
    pub(super) keeps: Keeps,
    /// Nanoseconds per operation of the mix; `None` without a row.
    pub(super) cost_ns: Option<f64>,
    /// Nanoseconds per item of each operation, in the order of the cases: medians.
    pub(super) operations: Vec<Figure>,
    /// Against the baseline.
    pub(super) against_baseline: Option<Compound>,
    /// Against the fastest.
    pub(super) against_fastest: Option<Compound>,
    /// Live bytes of the allocator per entry, of the table that most of the mix was timed on.
    pub(super) live_bytes_per_entry: Option<f64>,
    /// The most while that was made, borrowed keys included as in `bytes_per_entry`.
    pub(super) peak_bytes_per_entry: Option<f64>,
    /// Live bytes and, where keys are borrowed, the bytes of the keys in the file.
    pub(super) bytes_per_entry: Option<f64>,
    /// Single inserts, in nanoseconds: 99.9 % take no longer; the longest.
    pub(super) insert_ns_p999: Option<f64>,
    /// See `insert_ns_p999`.
    pub(super) insert_ns_max: Option<f64>,
    /// Nobody is both faster and smaller.
    pub(super) on_the_front: bool,
    /// Why there are no figures.
    pub(super) failure: Option<String>,
}

/// One operation's figure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Figure {
    pub(super) operation: String,
    pub(super) ns_median: f64,
    pub(super) ns_min: f64,
}

/// A ratio of two costs of the mix.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Compound {
    /// Time of the one over time of the other.
    pub(super) ratio: f64,
    /// Its interval; 0 and infinity where there is none.
    pub(super) low: f64,
    /// See `low`.
    #[serde(deserialize_with = "or_infinite")]
    pub(super) high: f64,
    /// Whether the interval leaves 1 out (and, in older runs, the noise floor).
    pub(super) resolved: bool,
}

/// JSON has no infinity, and says null.
fn or_infinite<'de, D: Deserializer<'de>>(value: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(value)?.unwrap_or(f64::INFINITY))
}

/// What may be said of a ratio. Never that two are equal: that nobody can measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// The difference is proved.
    Resolved,
    /// The interval leaves 1 out, but the method had seen differences between equals as large: in older
    /// runs.
    Unproved,
    /// The interval has 1 in it: either may be the faster one.
    Open,
    /// There is no interval, or none that tells anything.
    Unknown,
}

impl Compound {
    /// Nothing known.
    pub(super) const NONE: Compound =
        Compound { ratio: 1.0, low: 0.0, high: f64::INFINITY, resolved: false };

    /// ` (99 % interval 0.90 to 1.10)`, if there is one that tells anything.
    pub(super) fn bracket(&self) -> String {
        match self.standing() {
            Standing::Unknown => String::new(),
            _ => format!(" (99 % interval {})", self.ends()),
        }
    }

    /// `0.90 to 1.10`, with the digits that tell the ends from 1.
    pub(super) fn ends(&self) -> String {
        format!("{} to {}", factor_digits(self.low), factor_digits(self.high))
    }

    pub(super) fn standing(&self) -> Standing {
        // As wide as this it tells as little as none.
        let is_known = self.high <= 1e4 * self.low;
        match (self.resolved, is_known) {
            (true, _) => Standing::Resolved,
            (false, false) => Standing::Unknown,
            (false, true) if self.low > 1.0 || self.high < 1.0 => Standing::Unproved,
            (false, true) => Standing::Open,
        }
    }
}

/// The rows of `candidates`, which are the entrants of all `cases` in that order; number `baseline`
/// is what the others are compared with. `key_bytes` is the mean length of a borrowed key, 0 for
/// integers.
pub(super) fn rows(
    candidates: &[Candidate],
    cases: &[Weighed],
    baseline: usize,
    key_bytes: f64,
) -> Vec<Row> {
    let whole: f64 = cases.iter().map(|weighed| weighed.share).sum();
    assert!((whole - 1.0).abs() < 1e-6, "{whole} of the mix is no cost of it");
    let mut rows: Vec<Row> =
        candidates.iter().enumerate().map(|(n, c)| row(n, c, cases, key_bytes)).collect();
    for (number, ratio) in compounds(&rows, cases, baseline, false) {
        rows[number].against_baseline = Some(ratio);
    }
    if let Some(fastest) = fastest(&rows) {
        for (number, ratio) in compounds(&rows, cases, fastest, true) {
            rows[number].against_fastest = Some(ratio);
        }
    }
    mark_front(&mut rows);
    rows
}

/// The row with the least cost.
pub(super) fn fastest(rows: &[Row]) -> Option<usize> {
    let costs = rows.iter().enumerate().filter_map(|(n, row)| Some((n, row.cost_ns?)));
    costs.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(number, _)| number)
}

fn row(number: usize, candidate: &Candidate, cases: &[Weighed], key_bytes: f64) -> Row {
    let mut operations = Vec::new();
    let mut cost = Some(0.0);
    let mut failure = None;
    let mut metrics: Vec<(&str, &Metric)> = Vec::new();
    for Weighed { case, share } in cases {
        let items = case.work.items.max(1) as f64;
        let operation = case.workload.operation.as_str();
        let summary = case.judged.summaries.get(number).copied().flatten();
        match summary {
            Some(summary) => {
                let ns_median = summary.ns_median / items;
                let ns_min = summary.ns_min / items;
                operations.push(Figure { operation: operation.to_owned(), ns_median, ns_min });
                cost = cost.map(|cost| cost + share * ns_median);
            }
            None => cost = None,
        }
        if let Some(found) = &case.measured.failures[number] {
            failure.get_or_insert_with(|| format!("{operation}: {found}"));
        }
        metrics.extend(case.contenders[number].metrics.iter().map(|m| (operation, m)));
    }
    let metric = |operation: &str, name: &str| {
        let found = metrics.iter().find(|(op, m)| *op == operation && m.name == name);
        found.map(|(_, metric)| metric.value)
    };
    // Time and memory of the same table: of the one that most of the mix was timed on.
    let most = cases.iter().max_by(|a, b| a.share.total_cmp(&b.share));
    let most = most.map_or("", |weighed| weighed.case.workload.operation.as_str());
    let made = |name: &str| metric(most, name);
    let live = made("live_bytes_per_entry").or_else(|| made("stored_bytes_per_entry"));
    let borrowed = if candidate.borrows() { key_bytes } else { 0.0 };
    Row {
        id: candidate.id(),
        structure: candidate.structure.clone(),
        hash: candidate.hash.clone(),
        allocator: candidate.allocator.clone(),
        keeps: match candidate.borrows() && key_bytes == 0.0 {
            // Integers lie in the entries themselves.
            true => Keeps::Copied,
            false => candidate.about.keeps,
        },
        cost_ns: cost.filter(|_| failure.is_none()),
        operations,
        against_baseline: None,
        against_fastest: None,
        live_bytes_per_entry: live,
        peak_bytes_per_entry: made("peak_bytes_per_entry").map(|peak| peak + borrowed),
        bytes_per_entry: live.map(|live| live + borrowed),
        insert_ns_p999: metric("insert", "latency_ns_p999"),
        insert_ns_max: metric("insert", "latency_ns_max"),
        on_the_front: false,
        failure,
    }
}

/// All others' cost of the mix over that of `baseline`; without an interval where there are not
/// enough processes for one.
pub(super) fn compounds(
    rows: &[Row],
    cases: &[Weighed],
    baseline: usize,
    chosen: bool,
) -> Vec<(usize, Compound)> {
    let Some(first) = cases.first() else { return Vec::new() };
    let roles = Roles { baseline, chosen, ..first.case.roles };
    let parts = cases.iter().map(|Weighed { case, share }| Part {
        measured: &case.measured,
        judged: &case.judged,
        weight: share / case.work.items.max(1) as f64,
    });
    let parts: Vec<Part<'_>> = parts.collect();
    let found: Vec<Mixed> = mixed(&parts, roles, ALPHA);
    let of = |number: usize| {
        let ratio = rows[number].cost_ns? / rows[baseline].cost_ns?;
        let found = found.iter().find(|mixed| mixed.contender == number);
        let compound = found.map_or(Compound { ratio, ..Compound::NONE }, |mixed| Compound {
            ratio: mixed.ratio,
            low: mixed.interval.low,
            high: mixed.interval.high,
            resolved: !mixed.interval.contains(1.0),
        });
        Some((number, compound))
    };
    (0..rows.len()).filter(|&number| number != baseline).filter_map(of).collect()
}

/// Share of verdicts in which any interval of the ratios to one contender may miss.
const ALPHA: f64 = 0.01;

fn mark_front(rows: &mut [Row]) {
    let figures: Vec<Option<(f64, f64)>> =
        rows.iter().map(|row| Some((row.cost_ns?, row.bytes_per_entry?))).collect();
    for (number, row) in rows.iter_mut().enumerate() {
        let Some((cost, bytes)) = figures[number] else { continue };
        let beats = |&(other_cost, other_bytes): &(f64, f64)| {
            (other_cost < cost && other_bytes <= bytes)
                || (other_cost <= cost && other_bytes < bytes)
        };
        row.on_the_front = !figures.iter().flatten().any(beats);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use fathom_contenders::alloc::SYSTEM;
    use fathom_measure::compare::judge;
    use fathom_measure::result::About;
    use fathom_measure::rounds::{End, Measured, Plan, Round};
    use fathom_measure::sample::Sample;
    use fathom_measure::workload::{Spec, Work};

    use super::*;

    pub(in super::super) fn candidates(names: &[&str]) -> Vec<Candidate> {
        let candidate = |name: &&str| Candidate {
            structure: (*name).to_owned(),
            hash: None,
            allocator: SYSTEM.to_owned(),
            about: About { keeps: Keeps::Copied, ..About::default() },
            runner: None,
        };
        names.iter().map(candidate).collect()
    }

    /// A case in which each contender took these nanoseconds, a few more in some rounds; the last
    /// one is the twin of the first.
    pub(in super::super) fn weighed(
        operation: &str,
        share: f64,
        ns: &[u64],
        live: &[f64],
    ) -> Weighed {
        let times: Vec<u64> = ns.iter().chain(&ns[..1]).copied().collect();
        let sample = |&ns: &u64, round: u64| {
            let wall_ns = ns * 1000 + round * 7 % 5;
            Some(Sample { wall_ns, cpu_ns: Some(wall_ns), ..Sample::default() })
        };
        let rounds = (0..16).map(|round| Round {
            process: round as u32 / 4,
            samples: times.iter().enumerate().map(|(i, ns)| sample(ns, round + i as u64)).collect(),
            ..Round::default()
        });
        let measured = Measured {
            iterations: 1,
            rounds: rounds.collect(),
            failures: vec![None; times.len()],
            end: End::Rounds,
            alpha_share: 1.0,
            planned: 16,
        };
        let roles = Roles { twin: Some(ns.len()), ..Roles::default() };
        let plan = Plan { alpha: 0.01, ..Plan::default() };
        let judged = judge(&measured, roles, &plan);
        let metric = |live: &f64| Metric {
            name: "live_bytes_per_entry".to_owned(),
            value: *live,
            less_is_better: Some(true),
        };
        let contenders = (0..times.len()).map(|n| fathom_measure::result::Row {
            metrics: live.get(n).map(metric).into_iter().collect(),
            ..Default::default()
        });
        let case = Case {
            family: "kv".to_owned(),
            workload: Spec::new(operation, &[]),
            work: Work { bytes: 0, items: 10 },
            contenders: contenders.collect(),
            roles,
            plan,
            measured,
            judged,
            ..Case::default()
        };
        Weighed { case, share }
    }

    /// An interval of 0.00 to 17087354861219082240000.00 was shown.
    #[test]
    fn an_interval_that_tells_nothing_is_none() {
        let of = |low, high| Compound { ratio: 1.0, low, high, resolved: false };
        for (low, high) in [(0.0, 1.7e22), (0.0, f64::INFINITY), (0.005, 100.0)] {
            assert_eq!(of(low, high).standing(), Standing::Unknown, "{low} {high}");
            assert_eq!(of(low, high).bracket(), "");
        }
        assert_eq!(of(0.01, 100.0).standing(), Standing::Open);
        assert_eq!(of(0.9, 1.1).bracket(), " (99 % interval 0.900 to 1.10)");
    }

    /// A peak below what is there at the end was of other bytes.
    #[test]
    fn a_peak_counts_the_borrowed_keys_that_entries_do() {
        let mut case = weighed("insert", 1.0, &[1000], &[30.0]);
        let peak =
            Metric { name: "peak_bytes_per_entry".to_owned(), value: 31.0, less_is_better: None };
        case.case.contenders[0].metrics.push(peak);
        let mut candidates = candidates(&["base"]);
        candidates[0].about.keeps = Keeps::Borrowed;
        let rows = rows(&candidates, &[case], 0, 12.0);
        let figures = (rows[0].bytes_per_entry, rows[0].peak_bytes_per_entry);
        assert_eq!(figures, (Some(42.0), Some(43.0)));
    }

    #[test]
    fn the_cost_is_the_weighted_mean_and_its_ratio_has_an_interval() {
        let cases = [
            weighed("find-hit", 0.9, &[1000, 500, 2000], &[30.0, 40.0]),
            weighed("insert", 0.1, &[3000, 3000, 1500], &[40.0, 50.0, 20.0]),
        ];
        let candidates = candidates(&["base", "quick", "small"]);
        let rows = rows(&candidates, &cases, 0, 12.0);
        // (0.9 · 1000 + 0.1 · 3000) · 1000 ns / 10 items
        assert!((rows[0].cost_ns.unwrap() - 120_000.0).abs() < 10.0);
        assert!((rows[1].cost_ns.unwrap() - 75_000.0).abs() < 10.0);
        let quick = rows[1].against_baseline.unwrap();
        assert!((quick.ratio - 0.625).abs() < 1e-3 && quick.resolved, "{quick:?}");
        assert!(quick.low <= quick.ratio && quick.ratio <= quick.high);
        assert!(quick.high - quick.low < 0.001);
        let small = rows[2].against_fastest.unwrap();
        assert!((small.ratio - 195.0 / 75.0).abs() < 1e-2 && small.resolved, "{small:?}");
        let front: Vec<bool> = rows.iter().map(|row| row.on_the_front).collect();
        assert_eq!(front, [true, true, false]);
        assert_eq!(rows[2].bytes_per_entry, None, "the table of the finds was not weighed");
    }

    #[test]
    #[should_panic(expected = "0.9 of the mix is no cost of it")]
    fn a_part_of_the_mix_is_never_summed_as_the_whole() {
        rows(&candidates(&["base"]), &[weighed("find-hit", 0.9, &[1000], &[])], 0, 0.0);
    }

    #[test]
    fn time_and_memory_are_of_the_same_table() {
        let cases = [
            weighed("insert", 0.1, &[3000, 1500], &[25.6, 76.9]),
            weighed("find-hit", 0.9, &[1000, 500], &[51.2, 51.3]),
        ];
        let rows = rows(&candidates(&["cuckoo", "griddle"]), &cases, 0, 0.0);
        let bytes = rows.iter().map(|row| row.bytes_per_entry);
        assert_eq!(bytes.collect::<Vec<_>>(), [Some(51.2), Some(51.3)]);
        let front: Vec<bool> = rows.iter().map(|row| row.on_the_front).collect();
        assert_eq!(front, [true, true], "cuckoo is the smaller of the tables that were timed");
    }

    #[test]
    fn whoever_failed_has_no_cost_and_says_why() {
        let mut case = weighed("insert", 1.0, &[1000, 500], &[]);
        let reason = "has no insert".to_owned();
        case.case.measured.failures[1] =
            Some(fathom_measure::sample::Failure::Unsupported { reason });
        case.case.judge();
        let rows = rows(&candidates(&["base", "lost"]), &[case], 0, 0.0);
        assert_eq!(rows[1].cost_ns, None);
        assert_eq!(rows[1].failure.as_deref(), Some("insert: does not take part: has no insert"));
        assert_eq!(fastest(&rows), Some(0));
    }
}
