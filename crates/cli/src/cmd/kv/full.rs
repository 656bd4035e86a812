//! Measuring in rounds: the method's plan for an operation of the mix, the scan beside it, and how
//! long a worker may take. Chooses nobody.

use std::time::Duration;

use fathom_contenders::kv;
use fathom_measure::bench::Bench;
use fathom_measure::conductor::Bounds;
use fathom_measure::provision::Prepare;
use fathom_measure::result::Case;
use fathom_measure::rounds::{Plan, Stop};
use fathom_measure::workload::Spec;
use serde::{Deserialize, Serialize};

use super::candidate::{self, Candidate};
use super::data::Data;
use super::mix::Part;
use super::{ENOUGH, Options};
use crate::measuring;

/// What touching every key costs, in nanoseconds per key.
#[derive(Serialize, Deserialize)]
pub(super) struct Scan {
    pub(super) ns_median: f64,
    pub(super) ns_low: f64,
    pub(super) ns_high: f64,
}

/// Part of the time that an operation gets: what is done to all keys takes longer each time.
pub(super) fn weight(part: &Part) -> f64 {
    if probes(&part.workload).is_some_and(|probes| probes > 100_000) { 1.0 } else { 2.0 }
}

/// How many probes a sample takes at most: many short samples say more than few long ones. What
/// inserts is proved by fewer. What erases needs them all, and a trace is replayed as it is. Each of many threads
/// needs enough to do.
fn probes(workload: &Spec) -> Option<usize> {
    let threads = workload.parameters.get("threads").and_then(|text| text.parse::<usize>().ok());
    match workload.operation.as_str() {
        "insert" | "build" => Some(100_000),
        "erase" | "replay" => None,
        _ => Some((threads.unwrap_or(0) * ENOUGH).max(250_000)),
    }
}

/// The workload of `part` on `data`, with as many probes.
pub(super) fn spec(data: &Data, part: &Part) -> Spec {
    let mut spec = data.spec(&part.workload);
    if let Some(probes) = probes(&part.workload) {
        spec.parameters.insert("probes".to_owned(), probes.to_string());
    }
    spec
}

/// The share of their time that rounds fill, before anything is known; the rest is for getting ready.
pub(super) const ROUNDS_SHARE: f64 = 0.65;

/// The same once a case with this limit has taken this time.
pub(super) fn rounds_share(limit: Duration, took: Duration) -> f64 {
    (limit.as_secs_f64() / took.as_secs_f64()).clamp(0.4, 0.9)
}

/// A plan whose rounds take `limit`.
pub(super) fn plan(
    options: &Options,
    limit: Duration,
    seats: usize,
    parts: usize,
    keys: usize,
) -> Plan {
    Plan {
        seed: options.seed,
        // The operations share the error of the whole.
        alpha: 0.01 / parts as f64,
        stop: Stop::Width { target: 0.01 },
        budget_ns: measuring::nanoseconds(limit) / (seats as u64 + 1),
        limit_ns: measuring::nanoseconds(if options.all {
            Duration::from_secs(3600)
        } else {
            limit
        }),
        iterations: (keys >= 100_000).then_some(1),
        warm_ups: 1,
        ..Plan::default()
    }
}

pub(super) fn measured(
    spec: Spec,
    finalists: &[Candidate],
    baseline: usize,
    plan: Plan,
    bounds: Bounds,
) -> anyhow::Result<Case> {
    let spec = kv::family().completed(&spec)?;
    let entrants = finalists.iter().map(Candidate::entrant).collect::<anyhow::Result<_>>()?;
    measuring::measured(Bench {
        baseline,
        share_file: true,
        prepare: Some(Prepare::new(kv::family(), &spec)),
        bounds,
        ..measuring::usual(kv::family(), spec, entrants, plan)?
    })
}

/// What it costs to read every byte of every key once, in the order of the probes.
pub(super) fn scanned(data: &Data, bounds: Bounds) -> anyhow::Result<Option<Scan>> {
    let plan = Plan {
        rounds: Some(12),
        iterations: (data.keys >= 100_000).then_some(1),
        limit_ns: 2_000_000_000,
        // Its figure has no verdict: the time is there for rounds.
        processes: 4,
        ..Plan::default()
    };
    let spec = data.spec(&Spec::new("touch", &[]));
    let case = measured(spec, &[candidate::named(kv::SCAN)?], 0, plan, bounds)?;
    Ok(scan(&case))
}

fn scan(case: &Case) -> Option<Scan> {
    let items = case.work.items.max(1) as f64;
    let clock = case.judged.clock;
    let rounds = case.measured.rounds.iter().filter_map(|round| round.samples[0].as_ref());
    let per_item = items * case.measured.iterations.max(1) as f64;
    let times: Vec<f64> = rounds.map(|sample| clock.of(sample) as f64 / per_item).collect();
    let interval = fathom_measure::stats::sign_interval(&times, 0.01)?;
    let ns_median = fathom_measure::stats::median(&times)?;
    Some(Scan { ns_median, ns_low: interval.low, ns_high: interval.high })
}

/// What workers may do: getting ready, the first checked sample included, may hang as well. With more
/// keys everything takes longer.
pub(super) fn bounds(hang: Option<Duration>, keys: usize) -> Bounds {
    let usual = Duration::from_secs(60)
        + Duration::from_micros(10) * u32::try_from(keys).unwrap_or(u32::MAX);
    measuring::patience(hang.unwrap_or(usual))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 40 threads had 6,250 steps each, of as many keys as there may be.
    #[test]
    fn each_of_many_threads_has_enough_to_do() {
        let of = |threads: &str| probes(&Spec::new("shared", &[("threads", threads)]));
        assert_eq!([of("4"), of("40")], [Some(250_000), Some(400_000)]);
        assert_eq!(probes(&Spec::new("find-hit", &[])), Some(250_000));
    }

    /// Twelve seconds of forty were left over.
    #[test]
    fn rounds_fill_what_getting_ready_leaves() {
        let of = |took: u64| rounds_share(Duration::from_secs(10), Duration::from_millis(took));
        assert_eq!([of(12_500), of(10_100), of(90_000), of(0)], [0.8, 0.9, 0.4, 0.9]);
    }

    #[test]
    fn more_keys_mean_more_patience() {
        let hang = |given, keys| bounds(given, keys).sample.as_secs();
        assert_eq!(hang(None, 1_000_000), 70);
        assert_eq!(hang(None, 10_000_000), 160);
        assert_eq!(hang(Some(Duration::from_secs(5)), 10_000_000), 5);
    }
}
