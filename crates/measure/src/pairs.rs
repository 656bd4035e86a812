//! Rounds of which each sample is a process of its own, as a command's are: what their log ratios say, and how
//! much of that was said before.
//!
//! The interval is that of the sign test. This wants independent rounds, and a machine is in a state for longer
//! than a round, so some of a round is the one before it again. How many rounds say as much as one that is
//! independent is estimated from how ranks correlate (they know no outliers), each contender's own and
//! those of all, since the state is the machine's; and the ends are read where those of so many fewer
//! independent values would lie.

use crate::stats::{
    Correlations, Interval, binomial_half_cdf, block_medians, fewest_for_interval, inefficiency,
    median, middle_ranks, sign_rank, sorted, student_quantile, student_two_sided,
};

/// By how many standard errors of a correlation the first is believed to be larger than it looks, since a run
/// that is short enough to hide its correlation is also one whose interval is easily missed. This and the
/// next four: tried in `tests/coverage.rs`.
const MARGIN: f64 = 0.6;
/// Rounds of which so many are worth one, at most, are taken as independent.
const INDEPENDENT: f64 = 1.3;
/// Of more, what is beyond one is believed to be larger by this: slow states are seen only in part.
const UNSEEN: f64 = 1.5;
/// Blocks from which a spread can be told.
const LEAST_BLOCKS: usize = 4;
/// Part of the error that an interval of few blocks may use, since these still resemble each other.
const FEW: f64 = 0.05;

/// The log ratios of two contenders, or log times of one, by round.
#[derive(Debug)]
pub(crate) struct Pairs {
    pub(crate) logs: Vec<f64>,
    /// Rounds left out because a reading was 0.
    pub(crate) zero_readings: usize,
}

/// What rounds say of a ratio.
#[derive(Debug)]
pub(crate) struct Said {
    /// Its logarithm; nothing without a round.
    pub(crate) log: Option<f64>,
    /// Its interval; nothing with too few rounds.
    pub(crate) interval: Option<Interval>,
    /// The p-value of its being 1.
    pub(crate) p_value: f64,
    /// Rounds that say as much as an independent one.
    pub(crate) rounds_each: f64,
}

impl Said {
    /// Rounds that it takes for an interval at level 1 - alpha, when these `rounds` gave none.
    pub(crate) fn needed(&self, rounds: usize, alpha: f64) -> usize {
        let fewest = rounds_needed(alpha);
        if rounds < fewest {
            // So few tell nothing of how they are correlated.
            return fewest;
        }
        let has_spread = rounds / self.rounds_each.ceil() as usize >= LEAST_BLOCKS;
        let values = if has_spread { fewest_for_interval(alpha) } else { LEAST_BLOCKS };
        (values as f64 * self.rounds_each.ceil()) as usize
    }
}

/// How the rounds of all comparisons correlate: the machine's part of it. Nothing by default.
#[derive(Debug, Default)]
pub(crate) struct Common {
    correlations: Correlations,
}

impl Common {
    pub(crate) fn of<'a>(all: impl IntoIterator<Item = &'a Pairs>) -> Common {
        let ranks: Vec<Vec<f64>> = all.into_iter().map(|one| middle_ranks(&one.logs)).collect();
        let most = ranks.iter().map(Vec::len).max().unwrap_or(0);
        Common { correlations: Correlations::of(ranks, lags(most)) }
    }

    /// How many rounds are worth one that is independent.
    fn rounds_each(&self, pairs: &Pairs) -> f64 {
        let rounds = pairs.logs.len();
        let own = Correlations::of(vec![middle_ranks(&pairs.logs)], lags(rounds));
        let margin = MARGIN / (rounds.max(1) as f64).sqrt();
        let of = |correlations: &Correlations| inefficiency(correlations, rounds, margin);
        let each = of(&own).max(of(&self.correlations));
        if each <= INDEPENDENT { 1.0 } else { 1.0 + UNSEEN * (each - 1.0) }
    }

    /// The ratio and its interval at level 1 - alpha. Where correlation leaves too few rounds for their order to say
    /// anything, the spread of blocks of them still does, by Student's t: a difference of many times
    /// its spread needs no sixteen blocks.
    pub(crate) fn judged(&self, pairs: &Pairs, alpha: f64) -> Said {
        let rounds_each = self.rounds_each(pairs);
        let ordered = Ordered::new(pairs, rounds_each);
        let (log, p_value) = (median(&pairs.logs), ordered.p_value());
        let said = |log, interval: Option<Interval>, p_value| {
            let interval = interval.and_then(|logs| Interval::of_logs(logs.low, logs.high));
            Said { log, interval, p_value, rounds_each }
        };
        if pairs.logs.len() < rounds_needed(alpha) {
            return said(log, None, p_value);
        }
        let interval = ordered.interval(alpha);
        let blocks = block_medians(&pairs.logs, rounds_each.ceil() as usize);
        let spread = (interval.is_none() && blocks.len() >= LEAST_BLOCKS).then_some(&blocks);
        match spread.and_then(|blocks| student(blocks, alpha * FEW)) {
            Some((mean, interval, p_value)) => said(Some(mean), Some(interval), p_value),
            None => said(log, interval, p_value),
        }
    }
}

/// Lags at which correlations are asked for.
fn lags(rounds: usize) -> usize {
    (rounds / 4).max(1)
}

/// The fewest rounds for an interval: twice as many as the sign test needs, because the correlation of
/// so few as that cannot be told.
pub(crate) fn rounds_needed(alpha: f64) -> usize {
    2 * fewest_for_interval(alpha)
}

/// Values in order, which say as much as fewer independent ones.
struct Ordered {
    sorted: Vec<f64>,
    independent: usize,
}

impl Ordered {
    fn new(pairs: &Pairs, rounds_each: f64) -> Ordered {
        let sorted = sorted(&pairs.logs);
        Ordered { independent: (sorted.len() as f64 / rounds_each) as usize, sorted }
    }

    /// Where that of the independent values is in their order, this is in that of all.
    fn interval(&self, alpha: f64) -> Option<Interval> {
        let rank = sign_rank(self.independent, alpha)?;
        let outside = (rank - 1) * self.sorted.len() / self.independent;
        let high = self.sorted[self.sorted.len() - 1 - outside];
        Some(Interval { low: self.sorted[outside], high })
    }

    /// Two-sided, against 0; at most alpha exactly where the interval at level 1 - alpha lacks 0.
    fn p_value(&self) -> f64 {
        let above = self.sorted.iter().filter(|log| **log > 0.0).count();
        let below = self.sorted.iter().filter(|log| **log < 0.0).count();
        let others = self.sorted.len() - above.max(below);
        let others = (others * self.independent).div_ceil(self.sorted.len().max(1));
        (2.0 * binomial_half_cdf(others, self.independent)).min(1.0)
    }
}

/// The mean of `values`, its interval by Student's t, and the p-value of its being 0; nothing of values
/// that do not differ, which tell nothing of how they would.
fn student(values: &[f64], alpha: f64) -> Option<(f64, Interval, f64)> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = (squares / (count - 1.0) / count).sqrt();
    if error.is_nan() || error <= 0.0 {
        return None;
    }
    let reach = student_quantile(alpha, count - 1.0) * error;
    let interval = Interval { low: mean - reach, high: mean + reach };
    Some((mean, interval, (student_two_sided(mean.abs() / error, count - 1.0) / FEW).min(1.0)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::{sign_interval, sign_test_of};
    use crate::verdict::Seen;

    #[test]
    fn the_sign_test_counts_zeros_against_a_difference() {
        let p_value = |logs: [f64; 8]| {
            Ordered::new(&Pairs { logs: logs.to_vec(), zero_readings: 0 }, 1.0).p_value()
        };
        let close = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-9);
        close(p_value([1.0; 8]), 2.0 / 256.0);
        close(p_value([0.0; 8]), 1.0);
        let mut logs = [1.0; 8];
        logs[0] = 0.0;
        close(p_value(logs), 2.0 * 9.0 / 256.0);
    }

    proptest! {
        #[test]
        fn interval_and_test_agree(
            logs in prop::collection::vec(-100..100_i32, 8..100),
            rounds_each in 1.0..12.0,
        ) {
            let logs = logs.into_iter().map(f64::from).collect();
            let ordered = Ordered::new(&Pairs { logs, zero_readings: 0 }, rounds_each);
            if let Some(interval) = ordered.interval(0.05) {
                prop_assert_eq!(!interval.contains(0.0), ordered.p_value() <= 0.05);
            } else {
                prop_assert!(ordered.p_value() > 0.05);
            }
        }

        #[test]
        fn of_independent_rounds_both_are_those_of_the_sign_test(
            logs in prop::collection::vec(-100..100_i32, 8..100),
        ) {
            let logs: Vec<f64> = logs.into_iter().map(f64::from).collect();
            let ordered = Ordered::new(&Pairs { logs: logs.clone(), zero_readings: 0 }, 1.0);
            prop_assert_eq!(ordered.interval(0.01), sign_interval(&logs, 0.01));
            let seen = sign_test_of(Seen::of(&logs).more(), logs.len());
            prop_assert!((ordered.p_value() - seen).abs() < 1e-12);
        }
    }
}
