//! Partial states: what one thread, one file or one machine knows about a key.
//!
//! [`Stats`] is exact (integers at a decimal scale) and its merge is associative and commutative,
//! so any split of the input, merged in any order, gives the same bytes in the end. The scale of a
//! merge is the finer of the two: nothing is rounded before it is printed.

use num_bigint::{BigInt, BigUint};

use crate::error::{Error, quoted};
use crate::key::Key;
use crate::number::{Decimal, power_of_ten};

/// Exact statistics of a set of decimal numbers, as integers at a common scale.
#[derive(Clone, Debug)]
pub struct Stats {
    sum: i128,
    count: u64,
    /// The extremes as they were read, each at its own scale, which costs half of what they take
    /// at the common one.
    min: i64,
    max: i64,
    squares: Option<Box<Squares>>,
    scale: u8,
    min_scale: u8,
    max_scale: u8,
}

impl PartialEq for Stats {
    /// Whether they say the same: 1 and 1.0 are the same extreme.
    fn eq(&self, other: &Stats) -> bool {
        let said = |stats: &Stats| (stats.scale, stats.count, stats.min(), stats.max(), stats.sum);
        said(self) == said(other) && self.squares == other.squares
    }
}

impl Eq for Stats {}

/// A key and its [`Stats`]: the unit that distributed runs exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partial {
    /// The key's bytes, exactly as they stand in the input.
    pub key: Key,
    /// What is known about it.
    pub stats: Stats,
}

/// A sum of squares in units of `10^(-2 scale)`: 256 bits, which 2^64 squares of 18-digit numbers
/// rescaled by 18 digits do not fill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Squares {
    low: u128,
    high: u128,
}

/// The exact sum of a [`Stats`] exceeded 38 digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the sum exceeds 38 digits")]
pub struct SumOverflow;

impl Stats {
    /// The statistics of one number; `with_squares` if a variance will be asked of them.
    pub fn of(value: Decimal, with_squares: bool) -> Stats {
        let Decimal { units, scale } = value;
        let square = units.unsigned_abs();
        let squares = with_squares
            .then(|| Box::new(Squares { low: u128::from(square) * u128::from(square), high: 0 }));
        Stats {
            sum: units.into(),
            count: 1,
            min: units,
            max: units,
            squares,
            scale,
            min_scale: scale,
            max_scale: scale,
        }
    }

    /// What the hot tables know, in tenths: `count >= 1` numbers from `min` to `max`.
    pub fn of_tenths(count: u64, min: i32, max: i32, sum: i64, squares: Option<u64>) -> Stats {
        let squares = squares.map(|low| Box::new(Squares { low: u128::from(low), high: 0 }));
        Stats {
            sum: sum.into(),
            count,
            min: min.into(),
            max: max.into(),
            squares,
            scale: 1,
            min_scale: 1,
            max_scale: 1,
        }
    }

    /// Adds one number.
    ///
    /// # Errors
    /// [`SumOverflow`] when the sum no longer fits; the statistics are then unusable.
    pub fn add(&mut self, value: Decimal) -> Result<(), SumOverflow> {
        if value.scale > self.scale {
            self.rescale(value.scale)?;
        }
        let factor = power_of_ten(self.scale - value.scale);
        let units = i128::from(value.units) * factor;
        self.count += 1;
        if units < self.min() {
            (self.min, self.min_scale) = (value.units, value.scale);
        }
        if units > self.max() {
            (self.max, self.max_scale) = (value.units, value.scale);
        }
        self.sum = self.sum.checked_add(units).ok_or(SumOverflow)?;
        if let Some(squares) = &mut self.squares {
            let magnitude = u128::from(value.units.unsigned_abs());
            let mut square = Squares { low: magnitude * magnitude, high: 0 };
            square.scale_up(self.scale - value.scale);
            squares.add(square);
        }
        Ok(())
    }

    /// Merges what another part of the input said about the same key.
    ///
    /// # Errors
    /// [`SumOverflow`] when the sum no longer fits; the statistics are then unusable.
    pub fn merge(&mut self, other: &Stats) -> Result<(), SumOverflow> {
        if other.scale > self.scale {
            self.rescale(other.scale)?;
        }
        let mut other = other.clone();
        other.rescale(self.scale)?;
        self.count += other.count;
        if other.min() < self.min() {
            (self.min, self.min_scale) = (other.min, other.min_scale);
        }
        if other.max() > self.max() {
            (self.max, self.max_scale) = (other.max, other.max_scale);
        }
        self.sum = self.sum.checked_add(other.sum).ok_or(SumOverflow)?;
        // A variance needs the squares of every part: one part without them ends them.
        match (&mut self.squares, other.squares) {
            (Some(squares), Some(more)) => squares.add(*more),
            (squares, _) => *squares = None,
        }
        Ok(())
    }

    /// Expresses the same numbers at a finer scale.
    ///
    /// # Errors
    /// [`SumOverflow`] when the sum does not fit there.
    pub fn rescale(&mut self, scale: u8) -> Result<(), SumOverflow> {
        assert!(scale >= self.scale, "a coarser scale would lose digits");
        let factor = power_of_ten(scale - self.scale);
        self.sum = self.sum.checked_mul(factor).ok_or(SumOverflow)?;
        if let Some(squares) = &mut self.squares {
            squares.scale_up(scale - self.scale);
        }
        self.scale = scale;
        Ok(())
    }

    /// Digits after the decimal point of [`min`](Stats::min), [`max`](Stats::max) and
    /// [`sum`](Stats::sum).
    pub fn scale(&self) -> u8 {
        self.scale
    }

    /// How many numbers there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The smallest, in units of `10^-scale`.
    pub fn min(&self) -> i128 {
        // 18 digits at 18 more fit.
        i128::from(self.min) * power_of_ten(self.scale - self.min_scale)
    }

    /// The largest, in units of `10^-scale`.
    pub fn max(&self) -> i128 {
        i128::from(self.max) * power_of_ten(self.scale - self.max_scale)
    }

    /// The exact sum, in units of `10^-scale`.
    pub fn sum(&self) -> i128 {
        self.sum
    }

    /// The sample variance as an exact fraction `numerator / denominator` in units of
    /// `10^(-2 scale)`: `(n Σx² - (Σx)²) / (n (n - 1))`. None for a single number, or when the
    /// squares were not asked for.
    pub(crate) fn variance(&self) -> Option<(BigUint, BigUint)> {
        let squares = self.squares.as_ref()?;
        if self.count < 2 {
            return None;
        }
        let count = BigUint::from(self.count);
        let sum = BigInt::from(self.sum);
        let squared_sum = (&sum * &sum).magnitude().clone();
        let numerator = squares.to_big() * &count - squared_sum;
        Some((numerator, &count * BigUint::from(self.count - 1)))
    }
}

impl Squares {
    fn add(&mut self, other: Squares) {
        let (low, carry) = self.low.overflowing_add(other.low);
        self.low = low;
        self.high += other.high + u128::from(carry);
    }

    /// Multiplies by `10^(2 digits)`.
    fn scale_up(&mut self, digits: u8) {
        for _ in 0..digits {
            self.times_100();
        }
    }

    fn times_100(&mut self) {
        const HALF: u128 = u64::MAX as u128;
        let low = (self.low & HALF) * 100;
        let middle = (self.low >> 64) * 100 + (low >> 64);
        self.low = middle << 64 | low & HALF;
        self.high = self.high * 100 + (middle >> 64);
    }

    fn to_big(self) -> BigUint {
        (BigUint::from(self.high) << 128_u32) + BigUint::from(self.low)
    }
}

/// Merges what another part said of a key.
///
/// # Errors
/// [`Error::SumOverflow`] naming the key.
pub(crate) fn merge_into(stats: &mut Stats, other: &Stats, key: &[u8]) -> Result<(), Error> {
    let scale = stats.scale.max(other.scale);
    stats.merge(other).map_err(|SumOverflow| Error::SumOverflow { key: quoted(key), scale })
}

/// Merges lists of partials into one, sorted by the bytes of the key, each key once.
///
/// # Errors
/// [`Error::SumOverflow`] naming the key.
pub fn merge(lists: Vec<Vec<Partial>>) -> Result<Vec<Partial>, Error> {
    let mut all: Vec<Partial> = lists.into_iter().flatten().collect();
    // Lists that come sorted are runs, which the stable sort finds and merges.
    all.sort_by(|a, b| a.key.cmp(&b.key));
    let mut merged: Vec<Partial> = Vec::with_capacity(all.len());
    for partial in all {
        match merged.last_mut() {
            Some(last) if last.key == partial.key => {
                merge_into(&mut last.stats, &partial.stats, &partial.key)?;
            }
            _ => merged.push(partial),
        }
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text.as_bytes()).unwrap()
    }

    fn stats(texts: &[&str]) -> Stats {
        let mut all = Stats::of(number(texts[0]), true);
        for text in &texts[1..] {
            all.add(number(text)).unwrap();
        }
        all
    }

    #[test]
    fn the_finer_scale_wins_and_nothing_is_lost() {
        let all = stats(&["1", "-2.5", "0.125"]);
        assert_eq!((all.scale(), all.min(), all.max(), all.sum()), (3, -2500, 1000, -1375));
    }

    #[test]
    fn merging_in_any_order_and_grouping_gives_the_same_state() {
        let (a, b, c) = (stats(&["1", "2.25"]), stats(&["-7.5"]), stats(&["0.001", "9"]));
        let merged = |parts: [&Stats; 3]| {
            let mut first = parts[0].clone();
            first.merge(parts[1]).unwrap();
            first.merge(parts[2]).unwrap();
            first
        };
        let expected = stats(&["1", "2.25", "-7.5", "0.001", "9"]);
        for order in [[&a, &b, &c], [&c, &a, &b], [&b, &c, &a], [&c, &b, &a]] {
            assert_eq!(merged(order), expected);
        }
        let mut right = b.clone();
        right.merge(&c).unwrap();
        let mut grouped = a.clone();
        grouped.merge(&right).unwrap();
        assert_eq!(grouped, expected);
    }

    #[test]
    fn variance_is_exact_where_doubles_cancel() {
        // Three huge numbers one apart: the sample variance is exactly 1.
        let all = stats(&["999999999999999997", "999999999999999998", "999999999999999999"]);
        let (numerator, denominator) = all.variance().unwrap();
        assert_eq!(numerator, denominator);
        assert_eq!(stats(&["5"]).variance(), None);
    }

    #[test]
    fn squares_survive_rescaling_to_the_finest_scale() {
        let mut all = stats(&["999999999999999999", "0"]);
        all.rescale(18).unwrap();
        let (numerator, _) = all.variance().unwrap();
        let units = BigUint::from(999_999_999_999_999_999_u64) * BigUint::from(10_u64).pow(18);
        assert_eq!(numerator, &units * &units);
    }

    #[test]
    fn a_sum_that_does_not_fit_is_an_error_with_the_key() {
        let huge = Stats::of(number("999999999999999999"), false);
        let fine = Stats::of(number("0.000000000000000001"), false);
        let part = |stats: &Stats| Partial { key: (*b"k").into(), stats: stats.clone() };
        let lists = (0..200).map(|_| vec![part(&huge)]).chain([vec![part(&fine)]]).collect();
        let error = merge(lists).unwrap_err();
        assert!(matches!(error, Error::SumOverflow { .. }), "{error}");
        assert!(error.to_string().contains("\"k\""), "{error}");
    }
}
