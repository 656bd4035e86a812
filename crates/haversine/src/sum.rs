//! Means of distances: exactly rounded, and in the course's order of additions.
//!
//! The exact sum is an integer, so it does not depend on order or on the number of threads; it is
//! rounded once, when it is divided. The course's mean rounds at every addition: `s += d / N`.

use fathom_json::power_of_two;
use num_bigint::{BigInt, BigUint, Sign};

/// The exact sum of doubles.
///
/// Nearly every distance is a multiple of 2⁻⁷² below 2²⁰, and is added as such to 128 bits of
/// fixed point: split by adding and subtracting 1.5 · 2³², whose last bit is worth 2⁻²⁰, and the
/// rest, again exactly, by 1.5 · 2⁻²⁰, whose last bit is worth 2⁻⁷². What does not fit (below a
/// millimetre, beyond a million) goes to a big integer that counts multiples of 2⁻¹⁰⁷⁴.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExactSum {
    count: u64,
    /// In units of 2⁻⁷².
    fixed: i128,
    /// In units of 2⁻¹⁰⁷⁴.
    rest: BigInt,
}

const FIXED_BITS: i32 = 72;
const COARSE: f64 = 1.5 * (1u64 << 32) as f64;
const FINE: f64 = 1.5 / (1u64 << 20) as f64;
const LIMIT: f64 = (1u64 << 20) as f64;

/// Values whose halves are added up in 64 bits before 128 are touched: a half has at most 53 bits.
const BATCH: usize = 512;

impl ExactSum {
    /// Adds finite values.
    ///
    /// # Panics
    /// When a value is infinite or no number.
    pub fn add(&mut self, values: &[f64]) {
        self.count += values.len() as u64;
        for batch in values.chunks(BATCH) {
            match halves(batch) {
                Some((coarse, fine)) => self.add_fixed(coarse, fine),
                None => batch.iter().for_each(|&value| self.add_one(value)),
            }
        }
    }

    /// Adds what another sum holds.
    pub fn merge(&mut self, other: &ExactSum) {
        self.count += other.count;
        self.rest += &other.rest;
        self.add_units(other.fixed);
    }

    /// How many values were added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The double nearest to sum / count, ties to even; `None` if nothing was added.
    pub fn mean(&self) -> Option<f64> {
        let total = (BigInt::from(self.fixed) << (1074 - FIXED_BITS)) + &self.rest;
        (self.count > 0).then(|| nearest_quotient(&total, self.count))
    }

    fn add_one(&mut self, value: f64) {
        match halves(&[value]) {
            Some((coarse, fine)) => self.add_fixed(coarse, fine),
            None => self.rest += in_units(value),
        }
    }

    fn add_fixed(&mut self, coarse: i64, fine: i64) {
        self.add_units((i128::from(coarse) << 52) + i128::from(fine));
    }

    fn add_units(&mut self, units: i128) {
        self.fixed = self.fixed.checked_add(units).unwrap_or_else(|| {
            self.rest += BigInt::from(self.fixed) << (1074 - FIXED_BITS);
            units
        });
    }
}

/// The sum of at most [`BATCH`] values as two integers, in units of 2⁻²⁰ and 2⁻⁷²; `None` when one
/// of the values is not a sum of such.
fn halves(values: &[f64]) -> Option<(i64, i64)> {
    let (mut coarse, mut fine) = (0i64, 0i64);
    let mut fits = true;
    for &value in values {
        let upper = value + COARSE;
        let rest = value - (upper - COARSE);
        let lower = rest + FINE;
        coarse = coarse.wrapping_add(upper.to_bits().wrapping_sub(COARSE.to_bits()) as i64);
        fine = fine.wrapping_add(lower.to_bits().wrapping_sub(FINE.to_bits()) as i64);
        fits &= value.abs() < LIMIT && rest - (lower - FINE) == 0.0;
    }
    fits.then_some((coarse, fine))
}

/// A finite double in units of 2⁻¹⁰⁷⁴.
fn in_units(value: f64) -> BigInt {
    assert!(value.is_finite(), "only finite values have a sum");
    let bits = value.to_bits();
    let (mantissa, shift) = match bits >> 52 & 0x7ff {
        0 => (bits & ((1 << 52) - 1), 0),
        biased => ((bits & ((1 << 52) - 1)) | 1 << 52, biased - 1),
    };
    let sign = if value < 0.0 { Sign::Minus } else { Sign::Plus };
    BigInt::from_biguint(sign, BigUint::from(mantissa) << shift)
}

/// `total` · 2⁻¹⁰⁷⁴ / `count`, rounded once.
fn nearest_quotient(total: &BigInt, count: u64) -> f64 {
    let magnitude = total.magnitude();
    // A quotient of 66 bits or more rounds to 53 rightly if its last bit is made sticky. The
    // quotient of a subnormal result has fewer, and is widened until it has.
    let wanted = 66 + 64 - count.leading_zeros() as u64;
    let widen = wanted.saturating_sub(magnitude.bits());
    let dividend = magnitude << widen;
    let quotient = &dividend / count;
    let is_exact = &quotient * count == dividend;
    let drop = quotient.bits().saturating_sub(100);
    let head = &quotient >> drop;
    let is_exact = is_exact && &head << drop == quotient;
    let head = u128::try_from(head).expect("100 bits") | u128::from(!is_exact);
    let value = scaled(head, drop as i64 - widen as i64 - 1074);
    if total.sign() == Sign::Minus { -value } else { value }
}

/// `head` · 2^`exponent`, rounded once, to nearest even; `head` has a sticky last bit.
fn scaled(head: u128, exponent: i64) -> f64 {
    let bits = i64::from(128 - head.leading_zeros());
    // The last bit of the result is worth 2^last: 53 bits, but none below 2⁻¹⁰⁷⁴.
    let last = (bits + exponent - 53).max(-1074);
    let drop = last - exponent;
    if head == 0 || drop > 127 {
        return 0.0;
    }
    debug_assert!(drop > 0, "the head has more bits than a double");
    let (kept, dropped) = (head >> drop, head & ((1 << drop) - 1));
    let half = 1u128 << (drop - 1);
    let is_up = dropped > half || dropped == half && kept & 1 == 1;
    // All factors are exact, and so is their product: 54 bits at most, not below the last bit.
    let whole = (kept + u128::from(is_up)) as f64;
    assert!(last <= 971, "no mean is above all doubles");
    let (first, second) = (last / 2, last - last / 2);
    whole * power_of_two(first) * power_of_two(second)
}

/// The course's mean: `s += (1/N) · d` from the first value to the last.
///
/// `N` must be known before the first addition, which is why distances are kept until then.
pub fn mean_in_order<'a>(parts: impl IntoIterator<Item = &'a [f64]>, count: u64) -> f64 {
    let weight = 1.0 / count as f64;
    let mut mean = 0.0;
    for part in parts {
        for &value in part {
            mean += weight * value;
        }
    }
    mean
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn mean(values: &[f64]) -> f64 {
        let mut sum = ExactSum::default();
        sum.add(values);
        sum.mean().unwrap()
    }

    #[test]
    fn what_plain_addition_loses_is_kept() {
        assert_eq!(mean(&[1e16, 1.0, -1e16]), 1.0 / 3.0);
        assert_eq!(mean(&[1e300, 3.0, -1e300]), 1.0);
        assert_eq!(mean(&[5e-324, 5e-324]), 5e-324);
        assert_eq!(mean(&[5e-324, 0.0]), 0.0, "half of the smallest, to even");
        assert_eq!(mean(&[1.5e-323, 0.0]), 1e-323, "one and a half, to even");
        assert_eq!(mean(&[0.1; 10]), 0.1);
        assert_eq!(mean(&[f64::MAX, f64::MAX]), f64::MAX);
        assert_eq!(mean(&[-2.5, -3.5]), -3.0);
        assert_eq!(ExactSum::default().mean(), None);
    }

    #[test]
    fn what_lies_far_below_the_middle_of_two_doubles_decides_between_them() {
        let (middle, least) = (3.0 * f64::EPSILON / 2.0, 5e-324);
        assert_eq!(mean(&[3.0, middle, 0.0]), 1.0, "the middle, to even");
        assert_eq!(mean(&[3.0, middle, least]), 1.0 + f64::EPSILON);
        assert_eq!(mean(&[3.0, middle, -least]), 1.0);
        assert_eq!(mean(&[-3.0, -middle, -least]), -1.0 - f64::EPSILON);
    }

    #[test]
    fn a_sum_beyond_128_bits_moves_over() {
        let mut sum = ExactSum { fixed: i128::MAX - 5, ..ExactSum::default() };
        sum.add(&[3.0]);
        let mut other = ExactSum { fixed: -(i128::MAX - 5), ..ExactSum::default() };
        other.merge(&sum);
        assert_eq!(other.mean(), Some(3.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn any_order_and_any_split_give_the_same_bits(
            values in vec(prop_oneof![0.0..20_100.0, 0.0..1e-6, -1e30..1e30], 1..300),
            cut in any::<proptest::sample::Index>(),
        ) {
            let whole = mean(&values);
            let (left, right) = values.split_at(cut.index(values.len()));
            let mut sum = ExactSum::default();
            sum.add(right);
            let mut other = ExactSum::default();
            other.add(left);
            sum.merge(&other);
            prop_assert_eq!(sum.mean().unwrap().to_bits(), whole.to_bits());
            let exact: BigInt = values.iter().map(|&value| in_units(value)).sum();
            prop_assert_eq!(nearest_quotient(&exact, values.len() as u64).to_bits(), whole.to_bits());
        }

        #[test]
        fn one_value_is_its_own_mean(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            prop_assert_eq!(mean(&[value]), value);
            prop_assert_eq!(mean(&[value, value, value]), value);
        }
    }
}
