//! Distributions of lengths. Integers, additions, multiplications and divisions only: what IEEE 754
//! defines to the last bit, because `ln` and `exp` of a mathematics library differ from system to
//! system, and the files with them.

use std::str::FromStr;
use std::sync::Arc;

use fathom_random::Random;

/// The longest length a distribution may draw.
const LONGEST: u32 = 1 << 20;

/// A distribution of lengths, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Sizes {
    /// Always this.
    Fixed(u32),
    /// From the first to the second, all equally likely.
    Uniform(u32, u32),
    /// Around a mean with a standard deviation, at least 1: the sum of twelve uniform numbers
    /// (Irwin and Hall), so nothing lies beyond six deviations.
    Normal(f64, f64),
    /// Lengths by the running total of their weights: the first is this.
    Weighted(u32, Arc<[u64]>),
    /// The lengths of a sample, all equally likely.
    Sample(Arc<[u32]>),
}

/// Text that is no distribution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no distribution of sizes: 16, 8..32, normal:24,8, zipf:4..400,1.2 (up to 1048576), \
     sample:FILE"
)]
pub struct UnknownSizes(pub String);

impl Sizes {
    /// Lengths from `least` to `most`, where the k-th of them has a probability proportional to
    /// k to the power -`theta`.
    #[must_use]
    pub fn zipf(least: u32, most: u32, theta: f64) -> Sizes {
        let mut total = 0;
        let weight = |k: u32| {
            // 2^40 of them still fit 64 bits 2^20 times; the least weight is 1.
            let share = exp_of_minus(theta * ln(k));
            total += ((share * (1_u64 << 40) as f64) as u64).max(1);
            total
        };
        Sizes::Weighted(least, (1..=most.saturating_sub(least) + 1).map(weight).collect())
    }

    /// The shortest it may draw.
    pub(super) fn least(&self) -> u32 {
        match self {
            Sizes::Fixed(least) | Sizes::Uniform(least, _) | Sizes::Weighted(least, _) => *least,
            Sizes::Normal(..) => 1,
            Sizes::Sample(lengths) => lengths.iter().copied().min().unwrap_or(0),
        }
    }

    /// The longest it may draw.
    pub(super) fn most(&self) -> u32 {
        match self {
            Sizes::Fixed(most) | Sizes::Uniform(_, most) => *most,
            Sizes::Normal(mean, deviation) => {
                (mean + 6.0 * deviation + 0.5).clamp(1.0, f64::from(LONGEST)) as u32
            }
            Sizes::Weighted(least, totals) => least + totals.len().saturating_sub(1) as u32,
            Sizes::Sample(lengths) => lengths.iter().copied().max().unwrap_or(0),
        }
    }

    /// The next length.
    pub fn draw(&self, random: &mut Random) -> u32 {
        match self {
            Sizes::Fixed(size) => *size,
            Sizes::Uniform(least, most) => least + random.below(u64::from(most - least) + 1) as u32,
            Sizes::Normal(mean, deviation) => {
                let sum: f64 = (0..12).map(|_| random.fraction()).sum();
                let size = mean + deviation * (sum - 6.0);
                (size + 0.5).clamp(1.0, f64::from(LONGEST)) as u32
            }
            Sizes::Weighted(least, totals) => {
                let point = random.below(totals.last().copied().unwrap_or(1));
                least + totals.partition_point(|&total| total <= point) as u32
            }
            Sizes::Sample(lengths) => match lengths.len() {
                0 => 0,
                many => lengths[random.below(many as u64) as usize],
            },
        }
    }
}

impl FromStr for Sizes {
    type Err = UnknownSizes;

    fn from_str(text: &str) -> Result<Sizes, UnknownSizes> {
        parse(text).ok_or_else(|| UnknownSizes(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Sizes> {
    let length = |text: &str| text.parse().ok().filter(|&length: &u32| length <= LONGEST);
    let range = |text: &str| {
        let (least, most) = text.split_once("..")?;
        let (least, most) = (length(least)?, length(most)?);
        (least <= most).then_some((least, most))
    };
    let number = |text: &str| text.parse().ok().filter(|n: &f64| (0.0..=1e6).contains(n));
    if let Some(rest) = text.strip_prefix("normal:") {
        let (mean, deviation) = rest.split_once(',')?;
        return Some(Sizes::Normal(number(mean)?, number(deviation)?));
    }
    if let Some(rest) = text.strip_prefix("zipf:") {
        let (lengths, theta) = rest.split_once(',')?;
        let (least, most) = range(lengths)?;
        return Some(Sizes::zipf(least, most, number(theta).filter(|&theta| theta <= 10.0)?));
    }
    match range(text) {
        Some((least, most)) => Some(Sizes::Uniform(least, most)),
        None => length(text).map(Sizes::Fixed),
    }
}

/// The natural logarithm of a whole number: k = m · 2^e with 1 ≤ m < 2, and
/// ln m = 2 artanh((m - 1) / (m + 1)), whose series converges fast because the argument is below ⅓.
fn ln(k: u32) -> f64 {
    const LN_2: f64 = std::f64::consts::LN_2;
    let exponent = k.max(1).ilog2();
    let m = f64::from(k.max(1)) / f64::from(1_u32 << exponent);
    let x = (m - 1.0) / (m + 1.0);
    let (mut power, mut sum) = (x, 0.0);
    for n in 0..20 {
        sum += power / f64::from(2 * n + 1);
        power *= x * x;
    }
    f64::from(exponent) * LN_2 + 2.0 * sum
}

/// e to the power -x: the Taylor series at x/1024, squared ten times.
fn exp_of_minus(x: f64) -> f64 {
    let small = x / 1024.0;
    let (mut term, mut sum) = (1.0, 1.0);
    for n in 1..14 {
        term *= -small / f64::from(n);
        sum += term;
    }
    (0..10).fold(sum, |power, _| power * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_agree_with_the_library() {
        for k in [1, 2, 3, 10, 1000, 1 << 20] {
            assert!((ln(k) - f64::from(k).ln()).abs() < 1e-12, "{k}");
        }
        for step in 0..1400 {
            let x = f64::from(step) / 10.0;
            assert!((exp_of_minus(x) / (-x).exp() - 1.0).abs() < 1e-9, "{x}");
        }
    }

    #[test]
    fn what_is_written_is_what_is_drawn() {
        let mut random = Random::new(1);
        let mut draws = |text: &str| -> Vec<f64> {
            let sizes: Sizes = text.parse().unwrap();
            (0..20_000).map(|_| f64::from(sizes.draw(&mut random))).collect()
        };
        let mean = |draws: &[f64]| draws.iter().sum::<f64>() / draws.len() as f64;
        assert!(draws("16").iter().all(|&size| size == 16.0));
        let uniform = draws("8..32");
        assert!(uniform.iter().all(|size| (8.0..=32.0).contains(size)));
        assert!((mean(&uniform) - 20.0).abs() < 0.3);
        let normal = draws("normal:24,4");
        assert!((mean(&normal) - 24.0).abs() < 0.2);
        let variance = normal.iter().map(|size| (size - 24.0).powi(2)).sum::<f64>() / 20_000.0;
        assert!((variance.sqrt() - 4.0).abs() < 0.15, "{variance}");
        let zipf = draws("zipf:4..13,1");
        let norm: f64 = (1..=10).map(|k| 1.0 / f64::from(k)).sum();
        for k in 1..=10_u32 {
            let share = zipf.iter().filter(|&&size| size == f64::from(k + 3)).count() as f64;
            assert!((share / 20_000.0 - 1.0 / f64::from(k) / norm).abs() < 0.015, "{k}");
        }
        let sample = Sizes::Sample([3, 5].into());
        assert!((0..100).all(|_| [3, 5].contains(&sample.draw(&mut random))));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for text in ["", "-1", "9..3", "normal:3", "normal:x,1", "zipf:1..3", "zipf:3,1", "2000000"]
        {
            assert!(text.parse::<Sizes>().is_err(), "{text}");
        }
    }
}
