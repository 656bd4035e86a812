//! Partial states: what one thread, one file or one machine knows about a key.
//!
//! [`Stats`] is exact (integers of any size at a decimal scale) and its merge is associative and
//! commutative, so any split of the input, merged in any order, gives the same bytes in the end. The
//! scale of a merge is the finer of the two: nothing is rounded before it is printed.

use num_bigint::{BigInt, BigUint};

use crate::key::Key;
use crate::number::Decimal;
use crate::sums::Sums;

/// Exact statistics of a key's records: of the decimal numbers in them, and how many had none.
#[derive(Clone, Debug)]
pub struct Stats {
    count: u64,
    missing: u64,
    /// Means nothing while there is no number.
    sums: Sums,
}

impl PartialEq for Stats {
    /// Whether they say the same: 1 and 1.0 are the same extreme, in however many bits.
    fn eq(&self, other: &Stats) -> bool {
        let said = |stats: &Stats| {
            let (sum, squares) = (stats.sum(), stats.sums.squares());
            (stats.count, stats.missing, stats.scale(), stats.min(), stats.max(), sum, squares)
        };
        said(self) == said(other)
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

impl Stats {
    /// The statistics of one number; `with_squares` if a variance will be asked of them.
    pub fn of(value: &Decimal, with_squares: bool) -> Stats {
        Stats { count: 1, missing: 0, sums: Sums::of(value, with_squares) }
    }

    /// The statistics of one record without a number.
    pub fn missing(with_squares: bool) -> Stats {
        let sums = Sums::of(&Decimal::new(0, 0), with_squares);
        Stats { count: 0, missing: 1, sums }
    }

    /// What the hot tables know, in tenths: `count >= 1` numbers from `min` to `max`.
    pub fn of_tenths(count: u64, min: i32, max: i32, sum: i64, squares: Option<u128>) -> Stats {
        Stats { count, missing: 0, sums: Sums::of_tenths(min, max, sum, squares) }
    }

    /// What columns in memory know: how many numbers in units of `10^-scale` and how many records
    /// without one, the extremes, the sum and, if they were asked for, the sum of squares.
    pub(crate) fn of_units(
        (count, missing): (u64, u64),
        extremes: [i64; 2],
        sum: i128,
        squares: Option<u128>,
        scale: u16,
    ) -> Stats {
        if count == 0 {
            return Stats { count, missing, ..Stats::missing(squares.is_some()) };
        }
        Stats { count, missing, sums: Sums::of_units(extremes, sum, squares, scale) }
    }

    /// Adds one number.
    pub fn add(&mut self, value: &Decimal) {
        if self.count == 0 {
            self.sums = Sums::of(value, self.sums.has_squares());
        } else {
            self.sums.add(value);
        }
        self.count += 1;
    }

    /// Adds one record without a number.
    pub fn add_missing(&mut self) {
        self.missing += 1;
    }

    /// Merges what another part of the input said about the same key. A variance needs the squares
    /// of every part: one part without them ends them.
    pub fn merge(&mut self, other: &Stats) {
        if self.count == 0 {
            self.sums = other.sums.clone();
        } else if other.count > 0 {
            self.sums.merge(&other.sums);
        }
        self.count += other.count;
        self.missing += other.missing;
    }

    /// The most digits after the decimal point any of the numbers had.
    pub fn scale(&self) -> u16 {
        if self.count == 0 { 0 } else { self.sums.scale() }
    }

    /// How many numbers there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many records there are, those without a number included.
    pub fn rows(&self) -> u64 {
        self.count + self.missing
    }

    /// The smallest number, at the common [`scale`](Stats::scale); None without any.
    pub fn min(&self) -> Option<Decimal> {
        (self.count > 0).then(|| self.sums.min())
    }

    /// The largest number, at the common scale; None without any.
    pub fn max(&self) -> Option<Decimal> {
        (self.count > 0).then(|| self.sums.max())
    }

    /// The exact sum, at the common scale; zero without any number.
    pub fn sum(&self) -> Decimal {
        if self.count == 0 { Decimal::new(0, 0) } else { self.sums.sum() }
    }

    /// The sample variance as an exact fraction `numerator / denominator` in units of
    /// `10^(-2 scale)`: `(n Σx² - (Σx)²) / (n (n - 1))`. None for fewer than two numbers, or when
    /// the squares were not asked for.
    pub fn variance(&self) -> Option<(BigUint, BigUint)> {
        if self.count < 2 {
            return None;
        }
        let squares = self.sums.squares()?;
        let sum = self.sums.sum().to_big();
        let numerator: BigInt = squares * self.count - &sum * &sum;
        let denominator = BigUint::from(self.count) * (self.count - 1);
        Some((numerator.magnitude().clone(), denominator))
    }
}

/// Merges lists of partials into one, sorted by the bytes of the key, each key once.
pub fn merge(lists: Vec<Vec<Partial>>) -> Vec<Partial> {
    let mut all: Vec<Partial> = lists.into_iter().flatten().collect();
    // Lists that come sorted are runs, which the stable sort finds and merges.
    all.sort_by(|a, b| a.key.cmp(&b.key));
    let mut merged: Vec<Partial> = Vec::with_capacity(all.len());
    for partial in all {
        match merged.last_mut() {
            Some(last) if last.key == partial.key => last.stats.merge(&partial.stats),
            _ => merged.push(partial),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text.as_bytes()).unwrap()
    }

    fn stats(texts: &[&str]) -> Stats {
        let mut all = Stats::of(&number(texts[0]), true);
        texts[1..].iter().for_each(|text| all.add(&number(text)));
        all
    }

    #[test]
    fn the_finer_scale_wins_and_nothing_is_lost() {
        let all = stats(&["1", "-2.5", "0.125"]);
        assert_eq!(all.min().unwrap().to_string(), "-2.500");
        assert_eq!(all.max().unwrap().to_string(), "1.000");
        assert_eq!((all.scale(), all.sum().to_string().as_str()), (3, "-1.375"));
    }

    #[test]
    fn merging_in_any_order_and_grouping_gives_the_same_state() {
        let texts = ["1", "2.25", "-7.5", "1e30", "0.001", "1e-30", "-1e30", "9", "5e-324"];
        let expected = stats(&texts);
        for first in 0..texts.len() {
            for cut in 1..texts.len() {
                let mut turned = texts;
                turned.rotate_left(first);
                let (left, right) = turned.split_at(cut);
                let mut merged = stats(left);
                merged.merge(&stats(right));
                assert_eq!(merged, expected, "{left:?} and {right:?}");
            }
        }
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
    fn squares_of_large_numbers_beside_a_fine_one_do_not_wrap() {
        // 10^72 times 115,793 exceeds 256 bits, in which they were once kept.
        let (pairs, large) = (60_000_u64, 999_999_999_999_999_999_u64);
        let mut all = stats(&["0.000000000000000001"]);
        let mut pair = stats(&["999999999999999999", "-999999999999999999"]);
        for bit in 0..17 {
            if pairs >> bit & 1 == 1 {
                all.merge(&pair);
            }
            pair.merge(&pair.clone());
        }
        let unit = BigUint::from(10_u32).pow(18);
        let square = (BigUint::from(large) * &unit).pow(2);
        let count = BigUint::from(2 * pairs + 1);
        let numerator = (square * (2 * pairs) + 1_u32) * &count - 1_u32;
        assert_eq!(all.variance(), Some((numerator, &count * (2 * pairs))));
    }

    #[test]
    fn a_sum_beyond_128_bits_on_the_way_or_at_the_end_is_exact_in_any_order() {
        let large = format!("17{}", "0".repeat(36));
        let minus = format!("-{large}");
        let orders =
            [[&*large, &large, &minus], [&large, &minus, &large], [&minus, &large, &large]];
        for order in orders {
            assert_eq!(stats(&order).sum().to_string(), large);
        }
        // Each fits 128 bits at the scale of the finest, and three of them do not.
        let (nine, fine) = ("9000000000000000000", "0.0000000000000000001");
        let expected = format!("27{}.{}1", "0".repeat(18), "0".repeat(18));
        for order in [[nine, nine, nine, fine], [fine, nine, nine, nine], [nine, fine, nine, nine]]
        {
            assert_eq!(stats(&order).sum().to_string(), expected);
            // Squares leave 128 bits first; without them it is the sum that does.
            let mut all = Stats::of(&number(order[0]), false);
            order[1..].iter().for_each(|text| all.add(&number(text)));
            assert_eq!(all.sum().to_string(), expected);
        }
        assert_eq!(stats(&[&*large; 11]).sum().to_string(), format!("187{}", "0".repeat(36)));
    }

    #[test]
    fn records_without_a_number_are_counted_beside_those_with_one() {
        let mut all = Stats::missing(true);
        assert_eq!((all.rows(), all.count(), all.min(), all.scale()), (1, 0, None, 0));
        all.add(&number("-2.50"));
        all.add_missing();
        all.merge(&Stats::missing(true));
        assert_eq!((all.rows(), all.count(), all.max()), (4, 1, Some(number("-2.5"))));
        all.add(&number("2.5"));
        assert!(all.variance().is_some());
        let mut other = Stats::missing(true);
        other.merge(&all);
        assert_eq!((other.rows(), other.sum()), (6, number("0")));
    }
}
