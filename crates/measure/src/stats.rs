//! Order statistics, the exact sign-test interval, multiplicity, correlation: pure functions of
//! numbers. Nothing here knows a clock, a contender or a verdict.
//!
//! The sign-test interval assumes independent differences that lie above and below their median
//! equally often, and nothing else: no shape of distribution, no equal variances.

use std::cell::RefCell;

use fathom_random::SplitMix;

/// An interval, its ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether `value` lies inside, ends included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Upper end less lower end.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// From the logarithms of its ends; `None` where one is beyond the numbers there are.
    pub(crate) fn of_logs(low: f64, high: f64) -> Option<Interval> {
        let [low, high] = [low.exp(), high.exp()];
        (low.is_normal() && high.is_normal()).then_some(Interval { low, high })
    }
}

/// The values in ascending order, numbers only: what is not a number is left out.
#[must_use]
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The middle value, or the mean of the middle two; `None` of nothing.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    median_of_sorted(&sorted(values))
}

fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// Median absolute deviation from the median, not scaled; `None` of nothing.
#[must_use]
pub fn mad(values: &[f64]) -> Option<f64> {
    let center = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|value| (value - center).abs()).collect();
    median(&deviations)
}

/// The value below which a share `q` of the values lies, linear between neighbours (Hyndman and
/// Fan's type 7); `None` of nothing.
#[must_use]
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let sorted = sorted(values);
    let last = sorted.len().checked_sub(1)?;
    let at = q.clamp(0.0, 1.0) * last as f64;
    let below = at.floor() as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (at - at.floor()))
}

/// P(X <= k) for X ~ Bin(n, 1/2).
///
/// Summed from the tail in logarithms of the terms, so that it is exact to rounding for any `n`
/// that a measurement can reach.
#[must_use]
pub fn binomial_half_cdf(k: usize, n: usize) -> f64 {
    if k >= n {
        return 1.0;
    }
    // The smaller tail has the fewer and smaller terms; the other is its complement.
    if k > n / 2 {
        return 1.0 - binomial_half_cdf(n - k - 1, n);
    }
    let mut log_term = -(n as f64) * std::f64::consts::LN_2;
    let mut sum = log_term.exp();
    for i in 0..k {
        log_term += ((n - i) as f64 / (i + 1) as f64).ln();
        sum += log_term.exp();
    }
    sum.min(1.0)
}

/// The rank k of the sign-test interval: the largest with 2 P(Bin(n, 1/2) <= k-1) <= alpha. The
/// interval then is from the k-th smallest to the k-th largest value. `None` when `n` is too small
/// for any interval at this level.
#[must_use]
pub fn sign_rank(n: usize, alpha: f64) -> Option<usize> {
    let mut log_term = -(n as f64) * std::f64::consts::LN_2;
    let mut tail = 0.0;
    let mut rank = 0;
    while rank < n.div_ceil(2) {
        tail += log_term.exp();
        // Logarithms cost the last digits: a level that is met exactly still counts as met.
        if 2.0 * tail > alpha * (1.0 + 1e-9) {
            break;
        }
        log_term += ((n - rank) as f64 / (rank + 1) as f64).ln();
        rank += 1;
    }
    (rank > 0).then_some(rank)
}

/// The exact sign-test interval of the median at level 1 - alpha; `None` when there are too few
/// values for one.
#[must_use]
pub fn sign_interval(values: &[f64], alpha: f64) -> Option<Interval> {
    let sorted = sorted(values);
    let rank = sign_rank(sorted.len(), alpha)?;
    Some(Interval { low: sorted[rank - 1], high: sorted[sorted.len() - rank] })
}

/// The fewest values for which [`sign_interval`] exists at level 1 - alpha.
#[must_use]
pub fn fewest_for_interval(alpha: f64) -> usize {
    (1..=1100).find(|&n| sign_rank(n, alpha).is_some()).unwrap_or(usize::MAX)
}

/// Two-sided p-value of the exact sign test against a median of 0, when `most` of `n` values lie on the side
/// where more do. Values of exactly 0 lie on neither: they count as evidence for 0.
#[must_use]
pub fn sign_test_of(most: usize, n: usize) -> f64 {
    if n == 0 { 1.0 } else { (2.0 * binomial_half_cdf(n - most, n)).min(1.0) }
}

/// P(|T| >= t) of Student's distribution with `df` degrees of freedom: the regularised incomplete beta
/// function I(df / (df + t²); df/2, 1/2).
#[must_use]
pub fn student_two_sided(t: f64, df: f64) -> f64 {
    if t.is_nan() || df <= 0.0 { 1.0 } else { beta_regularised(df / (df + t * t), df / 2.0, 0.5) }
}

/// The t that Student's distribution with `df` degrees of freedom exceeds, to either side, with
/// probability `alpha`: found by halving in the logarithm, to the last digits.
#[must_use]
pub fn student_quantile(alpha: f64, df: f64) -> f64 {
    let (mut low, mut high) = (-20.0_f64, 400.0_f64);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if student_two_sided(middle.exp(), df) > alpha { low = middle } else { high = middle }
    }
    f64::midpoint(low, high).exp()
}

/// The regularised incomplete beta function by its continued fraction (NIST's Digital Library of
/// Mathematical Functions, 8.17.22), evaluated by Lentz's method.
fn beta_regularised(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction converges fast on one side of the mean only; the other is its complement.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_regularised(1.0 - x, b, a);
    }
    let front = a * x.ln() + b * (-x).ln_1p() - ln_beta(a, b);
    let apart = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let (mut c, mut d) = (1.0, 1.0 / apart(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for m in 1..500 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            (c, d) = (apart(1.0 + term / c), 1.0 / apart(1.0 + term * d));
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    (front.exp() * fraction / a).clamp(0.0, 1.0)
}

fn ln_beta(a: f64, b: f64) -> f64 {
    ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)
}

/// The logarithm of the gamma function, x > 0: Stirling's series (DLMF 5.11.1), shifted to where it is
/// exact to rounding.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0_f64);
    while x < 15.0 {
        product *= x;
        x += 1.0;
    }
    let (r, s) = (1.0 / x, 1.0 / (x * x));
    let series = r * (1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s / 1680.0)));
    -product.ln() + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

/// Correlation of each value with the next; 0 of fewer than three values or of constant ones.
#[must_use]
pub fn lag1(values: &[f64]) -> f64 {
    if values.len() < 3 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let square: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let product: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    // Equal values differ by what was rounded off their mean.
    let rounding = values.len() as f64 * (1e-12 * (1.0 + mean.abs())).powi(2);
    if square > rounding { product / square } else { 0.0 }
}

/// Correlations of centred values with those 1, 2, … places later, of several sequences together; each
/// is as large as that of more pairs would be. None if nothing varies. Each is computed when it is asked for: of
/// many rounds the first few lags decide, as a rule.
#[derive(Debug, Default)]
pub struct Correlations {
    sequences: Vec<Vec<f64>>,
    lags: usize,
    /// What they are relative to.
    squares: f64,
    /// Those of the first lags.
    known: RefCell<Vec<f64>>,
}

impl Correlations {
    /// Up to so many places later.
    #[must_use]
    pub fn of(sequences: Vec<Vec<f64>>, lags: usize) -> Correlations {
        let square = |values: &Vec<f64>| values.iter().map(|value| value * value).sum::<f64>();
        let mean_square = |values| square(values) / values.len() as f64;
        let squares: f64 = sequences.iter().map(mean_square).filter(|mean| !mean.is_nan()).sum();
        let lags = if squares > 0.0 { lags } else { 0 };
        Correlations { sequences, lags, squares, known: RefCell::default() }
    }

    /// That with values so many places later, from 1 on.
    fn at(&self, lag: usize) -> Option<f64> {
        let mut known = self.known.borrow_mut();
        while known.len() < lag.min(self.lags) {
            let lag = known.len() + 1;
            let product = |values: &Vec<f64>| {
                let products: f64 = values.windows(lag + 1).map(|run| run[0] * run[lag]).sum();
                if values.len() > lag { products / (values.len() - lag) as f64 } else { 0.0 }
            };
            known.push(self.sequences.iter().map(product).sum::<f64>() / self.squares);
        }
        known.get(lag - 1).copied()
    }
}

/// How many values of a sequence of `length` say as much of its mean as one that is independent of the others:
/// its statistical inefficiency g = 1 + 2 Σ (1 - k/length) ρ(k), from correlations at lags 1, 2, …; at least
/// 1, at most half of the length.
///
/// Neighbouring correlations are summed as long as they are positive together and do not grow (the initial
/// monotone sequence of Geyer 1992). About the mean of the same values each is too small by g / length,
/// which is solved for. The first is believed to be larger than it looks by `margin`.
#[must_use]
pub fn inefficiency(correlations: &Correlations, length: usize, margin: f64) -> f64 {
    let length = length as f64;
    let mut found = 1.0;
    for _ in 0..4 {
        let at = |lag: usize| {
            let seen = correlations.at(lag)? + found / length;
            Some(seen * (1.0 - lag as f64 / length))
        };
        let first = (at(1).unwrap_or(0.0) + margin).clamp(0.0, 1.0);
        let (mut sum, mut last) = (first, 2.0 * first);
        for lag in (2..).step_by(2) {
            let Some(one) = at(lag) else { break };
            last = last.min(one + at(lag + 1).unwrap_or(0.0));
            if last <= 0.0 {
                break;
            }
            sum += last;
        }
        found = (1.0 + 2.0 * sum).clamp(1.0, (length / 2.0).max(1.0));
    }
    found
}

/// Medians of consecutive blocks of `size` values; a shorter rest is left out.
#[must_use]
pub fn block_medians(values: &[f64], size: usize) -> Vec<f64> {
    values.chunks_exact(size.max(1)).filter_map(median).collect()
}

/// Each value's rank about the middle one, those of the outer quarters as if they were at their inner
/// ends: how a sequence goes up and down, however far its outliers lie.
#[must_use]
pub fn middle_ranks(values: &[f64]) -> Vec<f64> {
    let sorted = sorted(values);
    let (middle, quarter) = (sorted.len() as f64 / 2.0, sorted.len() as f64 / 4.0);
    let rank = |value: &f64| {
        // Equal values share the middle of their ranks.
        let below = sorted.partition_point(|other| other < value);
        let upto = sorted.partition_point(|other| other <= value);
        ((below + upto) as f64 / 2.0 - middle).clamp(-quarter, quarter)
    };
    values.iter().map(rank).collect()
}

/// Seeded random numbers: orders and simulations must be the same for the same seed, on any machine
/// and in any later version.
#[derive(Clone, Debug)]
pub struct Random(SplitMix);

impl Random {
    /// The sequence of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Random {
        Random(SplitMix(seed))
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.word()
    }

    /// A number below `bound` (0 when `bound` is 0); its bias is below 2^-32 for bounds of orders.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }

    /// A number in [0, 1).
    pub fn fraction(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Shuffles in place, every order equally likely (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, StudentsT};

    use super::*;

    #[test]
    fn the_binomial_agrees_with_an_independent_library() {
        for n in [1, 2, 5, 24, 97, 480, 2000] {
            let oracle = Binomial::new(0.5, n as u64).unwrap();
            for k in (0..=n).step_by(1 + n / 50) {
                let expected = oracle.cdf(k as u64);
                let found = binomial_half_cdf(k, n);
                assert!((found - expected).abs() < 1e-9, "n {n}, k {k}: {found} {expected}");
            }
        }
    }

    #[test]
    fn ranks_agree_with_an_independent_library() {
        for n in 1..600_usize {
            let oracle = Binomial::new(0.5, n as u64).unwrap();
            for alpha in [0.1, 0.05, 0.01, 0.001] {
                let most = (1..=n.div_ceil(2))
                    .take_while(|&k| 2.0 * oracle.cdf(k as u64 - 1) <= alpha)
                    .last();
                assert_eq!(sign_rank(n, alpha), most, "n {n}, alpha {alpha}");
            }
        }
        assert_eq!(fewest_for_interval(0.05), 6);
        assert_eq!(fewest_for_interval(0.01), 8);
    }

    #[test]
    fn medians_and_deviations_of_small_sets() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(mad(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), Some(1.0));
        assert_eq!(quantile(&[10.0, 20.0, 30.0], 0.25), Some(15.0));
        assert_eq!(quantile(&[10.0], 1.0), Some(10.0));
    }

    #[test]
    fn student_agrees_with_an_independent_library() {
        for df in [1.0, 2.0, 3.0, 6.0, 14.0, 60.0, 400.0] {
            let oracle = StudentsT::new(0.0, 1.0, df).unwrap();
            for t in [0.01, 0.5, 1.0, 2.5, 4.0, 9.0, 63.7] {
                let (found, expected) = (student_two_sided(t, df), 2.0 * oracle.sf(t));
                assert!(
                    (found / expected - 1.0).abs() < 1e-9,
                    "df {df}, t {t}: {found} {expected}"
                );
            }
            for alpha in [0.05, 0.01, 1e-4, 1e-6] {
                let t = student_quantile(alpha, df);
                let back = 2.0 * oracle.sf(t);
                assert!((back / alpha - 1.0).abs() < 1e-8, "df {df}, alpha {alpha}: {t} {back}");
            }
        }
        // Tables of the distribution.
        assert!((student_quantile(0.01, 6.0) - 3.707_428).abs() < 1e-6);
        assert!((student_quantile(0.01, 1.0) - 63.656_741).abs() < 1e-5);
    }

    #[test]
    fn correlation_of_known_sequences() {
        assert_eq!(lag1(&[1.0, 1.0, 1.0, 1.0]), 0.0);
        let alternating: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        assert!(lag1(&alternating) < -0.97);
        let rising: Vec<f64> = (0..100).map(f64::from).collect();
        assert!(lag1(&rising) > 0.95);
    }

    /// Skewed and heavy-tailed differences with median 0: an exponential, shifted, with rare
    /// excursions.
    fn skewed(random: &mut Random) -> f64 {
        let value = -(1.0 - random.fraction()).ln() - std::f64::consts::LN_2;
        if random.below(20) == 0 { value * 50.0 } else { value }
    }

    #[test]
    fn the_interval_covers_the_median_as_often_as_it_says() {
        let mut random = Random::new(7);
        for (n, alpha) in [(12, 0.05), (24, 0.05), (48, 0.01), (96, 0.01)] {
            let trials = 4000;
            let covered = (0..trials)
                .filter(|_| {
                    let values: Vec<f64> = (0..n).map(|_| skewed(&mut random)).collect();
                    sign_interval(&values, alpha).unwrap().contains(0.0)
                })
                .count();
            let rank = sign_rank(n, alpha).unwrap();
            let exact = 1.0 - 2.0 * binomial_half_cdf(rank - 1, n);
            let deviation = (exact * (1.0 - exact) / f64::from(trials)).sqrt();
            let share = covered as f64 / f64::from(trials);
            assert!(share > 1.0 - alpha - 3.0 * deviation, "n {n}: covered {share}");
            assert!((share - exact).abs() < 4.0 * deviation, "n {n}: {share}, exactly {exact}");
        }
    }

    #[test]
    fn shuffles_reach_every_order_equally_often() {
        let mut random = Random::new(3);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            random.shuffle(&mut items);
            *counts.entry(items).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|&count: &i32| (850..1150).contains(&count)), "{counts:?}");
    }

    /// All lags of 100,000 rounds took half a minute.
    #[test]
    fn lags_behind_those_that_decide_are_not_computed() {
        let mut random = Random::new(5);
        let values = (0..10_000).map(|_| random.fraction() - 0.5).collect();
        let correlations = Correlations::of(vec![values], 2500);
        assert!(inefficiency(&correlations, 10_000, 0.0) < 1.2);
        let known = correlations.known.borrow().len();
        assert!(known < 50, "{known}");
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_median_and_narrows_with_alpha(
            values in prop::collection::vec(-1e6..1e6f64, 8..200),
        ) {
            let wide = sign_interval(&values, 0.01).unwrap();
            let narrow = sign_interval(&values, 0.2).unwrap();
            let center = median(&values).unwrap();
            prop_assert!(wide.contains(center) && narrow.contains(center));
            prop_assert!(wide.low <= narrow.low && narrow.high <= wide.high);
        }
    }
}
