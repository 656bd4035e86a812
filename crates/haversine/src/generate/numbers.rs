//! Coordinates as text, to the byte what the standard library writes, in a tenth of its time.
//!
//! In plain words: `{:.16}` or `{}`. What is beyond the quick ways' bounds is written so; the bounds are
//! far outside of what is drawn.

use std::io::Write;

/// How numbers are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// As the course does: sixteen decimals, which drops bits of values below a half.
    Course,
    /// The fewest digits that read back as the same double.
    Shortest,
}

impl Numbers {
    /// Adds a number to `text`.
    #[inline]
    pub(super) fn add(self, value: f64, text: &mut Vec<u8>) {
        match self {
            Numbers::Course => add_sixteen(value, text),
            Numbers::Shortest => add_shortest(value, text),
        }
    }
}

/// Below this, all digits of sixteen decimals are an integer of 64 bits.
const WHOLE_LIMIT: f64 = 1000.0;

/// Bits of a double's fraction, and what its exponent is counted from, for an integer of 53 bits.
const FRACTION_BITS: u32 = 52;
const EXPONENT_BIAS: u64 = 1075;

/// Sixteen decimals of the exact value, the middle between two to the even one.
fn add_sixteen(value: f64, text: &mut Vec<u8>) {
    if value.abs() < WHOLE_LIMIT {
        let (bytes, len) = sixteen(value);
        text.extend_from_slice(&bytes);
        text.truncate(text.len() - (bytes.len() - len));
    } else {
        write!(text, "{value:.16}").expect("memory can be written");
    }
}

/// A number below [`WHOLE_LIMIT`] as its sign, integer part, point and decimals, and how many bytes
/// these are.
#[inline]
fn sixteen(value: f64) -> ([u8; 24], usize) {
    let all_digits = times_1e16(value.to_bits() & (u64::MAX >> 1));
    let (whole, decimals) = (all_digits / 10_u64.pow(16), all_digits % 10_u64.pow(16));
    // Three digits and the point, of which the zeros in front are shifted out.
    let whole = whole as u32;
    let skipped = u32::from(whole < 100) + u32::from(whole < 10);
    let digits = [whole / 100, whole / 10 % 10, whole % 10].map(|digit| digit as u8 + b'0');
    let digits = u32::from_le_bytes([digits[0], digits[1], digits[2], b'.']) >> (8 * skipped);

    let mut bytes = [b'-'; 24];
    let mut at = usize::from(value.is_sign_negative());
    bytes[at..at + 4].copy_from_slice(&digits.to_le_bytes());
    at += 4 - skipped as usize;
    let half = 10_u64.pow(8);
    bytes[at..at + 8].copy_from_slice(&eight_digits(decimals / half));
    bytes[at + 8..at + 16].copy_from_slice(&eight_digits(decimals % half));
    (bytes, at + 16)
}

/// The double of these bits, not negative and below [`WHOLE_LIMIT`], times 10¹⁶, rounded once, ties to
/// even.
///
/// It is m · 2^-s with m below 2⁵³, and m · 10¹⁶ fits 128 bits with room for twenty more. From s = 108
/// on, it is below a half.
#[inline]
fn times_1e16(bits: u64) -> u64 {
    let exponent = bits >> FRACTION_BITS;
    let shift = EXPONENT_BIAS - exponent;
    if shift >= 108 {
        return 0;
    }
    let mantissa = bits & ((1 << FRACTION_BITS) - 1) | 1 << FRACTION_BITS;
    let product = u128::from(mantissa) * 10_u128.pow(16);
    let digits = (product >> shift) as u64;
    let (rest, half) = (product & ((1 << shift) - 1), 1 << (shift - 1));
    let is_up = (rest > half) | (rest == half) & (digits & 1 == 1);
    digits + u64::from(is_up)
}

/// Eight digits of a number below 10⁸: split in two, each part in two again, and again.
#[inline]
fn eight_digits(number: u64) -> [u8; 8] {
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    // n / 100 = n · 10,486 / 2²⁰ for n below 43,699, and n / 10 = n · 103 / 2¹⁰ for n below 179.
    let hundreds = (fours * 10_486) >> 20 & 0x7f_0000_007f;
    let twos = hundreds | (fours - hundreds * 100) << 16;
    let tens = (twos * 103) >> 10 & 0x000f_000f_000f_000f;
    let ones = tens | (twos - tens * 10) << 8;
    (ones | u64::from_le_bytes([b'0'; 8])).to_le_bytes()
}

/// The fewest digits.
///
/// Between a thousandth and a thousand `zmij` writes no exponent, as the standard library never does. They
/// differ where a double is exactly the middle of the two shortest candidates: it takes the even one,
/// the library the upper one. A double of these sizes that is the middle of two numbers of d decimals,
/// so near to each other that both read back as it, is a multiple of 2^-(d+1), while its last bit is worth
/// about 10^-d: most of its bits are zeros. So are those of whole numbers, which have no ".0" here.
fn add_shortest(value: f64, text: &mut Vec<u8>) {
    let has_low_bits = value.to_bits() & 0xf_ffff != 0;
    if has_low_bits && (1e-3..1e3).contains(&value.abs()) {
        text.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
    } else {
        write!(text, "{value}").expect("memory can be written");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(value: f64) {
        for (numbers, expected) in
            [(Numbers::Course, format!("{value:.16}")), (Numbers::Shortest, format!("{value}"))]
        {
            let mut text = b"before".to_vec();
            numbers.add(value, &mut text);
            assert_eq!(text, format!("before{expected}").as_bytes(), "{numbers:?} {value:e}");
        }
    }

    fn check_around(value: f64) {
        for value in [value.next_down(), value, value.next_up()] {
            check(value);
            check(-value);
        }
    }

    #[test]
    fn the_ends_of_the_quick_ways_and_what_is_beyond() {
        for value in [0.0, 1e-3, 1.0, 9.0, 10.0, 90.0, 99.0, 100.0, 180.0, 999.0, 1e3, 1e6, 1e16] {
            check_around(value);
        }
        for value in [1e-5, 1e-16, 5e-17, 1.5e-16, 1e-17, 1e-300, f64::MIN_POSITIVE, 5e-324, 1e300]
        {
            check_around(value);
        }
        for value in [f64::MAX, f64::INFINITY, -0.0, f64::NAN] {
            check(value);
        }
        for exponent in -1074..100 {
            check_around(2_f64.powi(exponent));
        }
    }

    /// Sixteen decimals end in the middle for odd multiples of 2⁻¹⁷; the shortest numbers do for
    /// doubles of few bits.
    #[test]
    fn what_lies_in_the_middle_is_rounded_as_the_standard_library_does() {
        for last in 12..=40 {
            let unit = 0.5_f64.powi(last);
            for whole in [0.0, 1.0, 2.0, 7.0, 63.0, 64.0, 100.0, 128.0, 179.0, 255.0, 511.0] {
                for odd in (1..4000).step_by(2) {
                    check(whole + f64::from(odd) * unit);
                    check_around(whole + f64::from(odd * 1001) * unit);
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 20_000, ..Default::default() })]

        #[test]
        fn any_double_is_written_as_the_standard_library_writes_it(
            bits in any::<u64>(), degrees in -200.0..200.0_f64, scale in 0..25_i32,
        ) {
            check(f64::from_bits(bits));
            check(degrees);
            check(degrees * 0.25_f64.powi(scale));
            check((degrees * 1e6).round() / 1e6);
        }
    }
}
