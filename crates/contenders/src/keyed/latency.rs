//! How long single operations take: percentiles over operations timed one by one. The timer's own
//! cost is reported beside them and never subtracted.

use fathom_machine::clock;
use fathom_measure::contender::Metric;

/// Times `operations` calls of `run`, one by one, in nanoseconds: p50, p90, p99, p99.9 and max.
pub fn percentiles(operations: usize, mut run: impl FnMut(usize)) -> Vec<Metric> {
    let mut empty = single(1_000, |_| {});
    let mut ticks = single(operations, &mut run);
    let rate = clock::rate();
    empty.sort_unstable();
    ticks.sort_unstable();
    let at = |share: f64| rate.ns(u64::from(quantile(&ticks, share)));
    let metric = |name: &str, value| Metric {
        name: format!("latency_ns_{name}"),
        value,
        less_is_better: Some(true),
    };
    vec![
        metric("timer", rate.ns(u64::from(quantile(&empty, 0.5)))),
        metric("p50", at(0.5)),
        metric("p90", at(0.9)),
        metric("p99", at(0.99)),
        metric("p999", at(0.999)),
        metric("max", at(1.0)),
    ]
}

/// The ticks of each call; longer than 2^32 - 1 ticks is that.
fn single(operations: usize, mut run: impl FnMut(usize)) -> Vec<u32> {
    let mut ticks = Vec::with_capacity(operations);
    for at in 0..operations {
        let start = clock::ticks_fenced();
        run(at);
        let took = clock::ticks_fenced() - start;
        ticks.push(u32::try_from(took).unwrap_or(u32::MAX));
    }
    ticks
}

/// The smallest value that at least `share` of the sorted values do not exceed.
fn quantile(sorted: &[u32], share: f64) -> u32 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_one_of_the_values() {
        let sorted: Vec<u32> = (1..=1000).collect();
        let shares = [(0.0, 1), (0.5, 500), (0.999, 999), (1.0, 1000)];
        for (share, expected) in shares {
            assert_eq!(quantile(&sorted, share), expected);
        }
        assert_eq!(quantile(&[], 0.5), 0);
    }

    #[test]
    fn rare_slow_operations_are_in_the_last_percentiles_alone() {
        let slow = std::time::Duration::from_millis(2);
        let metrics = percentiles(1000, |at| {
            if at % 100 == 0 {
                std::thread::sleep(slow);
            }
        });
        let ns = |name: &str| {
            let name = format!("latency_ns_{name}");
            metrics.iter().find(|metric| metric.name == name).unwrap().value
        };
        assert!(ns("p50") < 1e6 && ns("p90") < 1e6, "{metrics:?}");
        assert!(ns("p999") >= 1.9e6 && ns("max") >= ns("p999"), "{metrics:?}");
    }

    #[test]
    fn every_operation_runs_once_in_order() {
        let mut seen = Vec::new();
        let metrics = percentiles(100, |at| seen.push(at));
        assert_eq!(seen, (0..100).collect::<Vec<_>>());
        assert_eq!(metrics.len(), 6);
    }
}
