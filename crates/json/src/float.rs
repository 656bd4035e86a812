//! A decimal of at most 19 digits and a small exponent to its nearest double, exactly.
//!
//! Refuses everything else ([`exact`] answers `None`): longer digit strings and large exponents go
//! to the standard library's parser, which is exact as well, at its own price.

/// Powers of ten that a double holds exactly: 10²² = 2²² · 5²², and 5²² < 2⁵³.
const EXACT: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// A power of ten from 10⁰ to 10¹⁹ as a divisor of 128-bit numbers.
struct Divisor {
    /// Shifted left until its highest bit is set.
    power: u64,
    shift: u32,
    /// ⌊(2¹²⁸ - 1) / power⌋ - 2⁶⁴.
    reciprocal: u64,
}

const DIVISORS: [Divisor; 20] = {
    let mut all = [const { Divisor { power: 0, shift: 0, reciprocal: 0 } }; 20];
    let mut i = 0;
    while i < all.len() {
        let power = 10u64.pow(i as u32);
        let shift = power.leading_zeros();
        let power = power << shift;
        all[i] = Divisor { power, shift, reciprocal: (u128::MAX / power as u128) as u64 };
        i += 1;
    }
    all
};

impl Divisor {
    /// Quotient and remainder of `high` · 2⁶⁴ + `low`, for `high` below the power: algorithm 4 of
    /// Möller and Granlund, *Improved division by invariant integers* (2011). Two multiplications
    /// where the processor's division takes ten times as long.
    #[inline]
    fn divide(&self, high: u64, low: u64) -> (u64, u64) {
        debug_assert!(high < self.power);
        let estimate = (u128::from(self.reciprocal) * u128::from(high))
            .wrapping_add(u128::from(high) << 64 | u128::from(low));
        let mut quotient = ((estimate >> 64) as u64).wrapping_add(1);
        let mut rest = low.wrapping_sub(quotient.wrapping_mul(self.power));
        if rest > estimate as u64 {
            quotient = quotient.wrapping_sub(1);
            rest = rest.wrapping_add(self.power);
        }
        if rest >= self.power {
            quotient = quotient.wrapping_add(1);
            rest -= self.power;
        }
        (quotient, rest)
    }
}

/// The double nearest to `mantissa` · 10^`exponent`, ties to even, where this file can tell.
///
/// Three cases, none of them approximate:
/// * a negative exponent down to -19: the quotient of two integers, the dividend scaled by 2⁶³ so
///   that the quotient has at least 62 significant bits; a remainder makes its lowest bit sticky.
///   This comes first: whether a mantissa is a double cannot be predicted, and costs more to guess
///   wrong than a double's division saves;
/// * mantissa and power are both doubles: one operation of the processor, rounded once (Clinger
///   1990);
/// * a positive exponent up to 19: the product of two 64-bit integers is exact in 128 bits.
#[inline]
pub(crate) fn exact(mantissa: u64, exponent: i64) -> Option<f64> {
    if mantissa == 0 {
        return Some(0.0);
    }
    if !(-19..=-1).contains(&exponent) {
        return exact_otherwise(mantissa, exponent);
    }
    // Both normalised to [2⁶³, 2⁶⁴): their quotient is in (1/2, 2), times 2⁶³ in (2⁶², 2⁶⁴).
    let divisor = &DIVISORS[exponent.unsigned_abs() as usize];
    let up = mantissa.leading_zeros();
    let dividend = mantissa << up;
    let (quotient, rest) = divisor.divide(dividend >> 1, dividend << 63);
    // 62 bits and a sticky one: rounding this to 53 rounds the true value. It has no more than 64
    // bits, and scaling by a power of two is exact since the result is above 10⁻¹⁹.
    let sticky = quotient | u64::from(rest != 0);
    let scale = i64::from(divisor.shift) - i64::from(up) - 63;
    Some(sticky as f64 * power_of_two(scale))
}

/// [`exact`] where nothing is divided, or by a power that is too large for 64 bits.
fn exact_otherwise(mantissa: u64, exponent: i64) -> Option<f64> {
    if mantissa < 1 << 53 && (-22..=22).contains(&exponent) {
        let power = EXACT[exponent.unsigned_abs() as usize];
        let whole = mantissa as f64;
        return Some(if exponent < 0 { whole / power } else { whole * power });
    }
    if !(0..=19).contains(&exponent) {
        return None;
    }
    // `as` rounds an integer to the nearest double, ties to even.
    let power = 10u64.pow(exponent.unsigned_abs() as u32);
    Some((u128::from(mantissa) * u128::from(power)) as f64)
}

/// 2^`exponent`, for exponents of normal doubles. (How exact `powi` is differs between platforms and releases of Rust.)
#[inline]
pub fn power_of_two(exponent: i64) -> f64 {
    debug_assert!((-1022..=1023).contains(&exponent));
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_division_is_the_processors() {
        for divisor in &DIVISORS {
            let power = divisor.power;
            let mut highs = vec![0, 1, power / 3, power / 2, power - 2, power - 1];
            highs.extend((1..200).map(|i| power / 200 * i + i));
            for high in highs {
                for low in [0, 1, 77, 1 << 63, power - 1, power, u64::MAX - 1, u64::MAX] {
                    let whole = u128::from(high) << 64 | u128::from(low);
                    let (quotient, rest) = divisor.divide(high, low);
                    assert_eq!(u128::from(quotient), whole / u128::from(power), "{whole}/{power}");
                    assert_eq!(u128::from(rest), whole % u128::from(power), "{whole}/{power}");
                }
            }
        }
    }
}
