//! Numbers of elements alike to doubles, by integers: for levels without AVX2's multiply-adds.
//!
//! Converted are numbers of one to three digits before the point, without leading zeros, with 1 to 16
//! decimals and no exponent; all others are the caller's.
//!
//! In plain words: the decimals are sixteen digits with zeros behind them, N is all digits as an
//! integer, and the double nearest to N / 10¹⁶ is wanted. The departures from that:
//! 1. Eight digits become an integer together: neighbours are joined to 2, 4 and 8 digits by three
//!    multiplications of the whole word.
//! 2. The division is a multiplication by 1 / 5¹⁶ in 128 bits, see [`nearest`].

use super::Extent;
use crate::block::{Block, MARGIN_BYTES};
use crate::formula::Pair;
use crate::template::Template;

/// See [`super::convert`].
pub(crate) fn convert(
    block: &Block,
    template: &Template,
    found: &[[Extent; 4]],
    pairs: &mut Vec<Pair>,
) -> usize {
    let bytes = block.bytes().len();
    let text = block.with_margins()[MARGIN_BYTES..].as_ptr();
    pairs.reserve(found.len());
    for (converted, extents) in found.iter().enumerate() {
        assert!(extents[3].start() <= bytes, "an extent of another block");
        let mut values = [0.0; 4];
        let mut is_right = true;
        for (value, extent) in values.iter_mut().zip(extents) {
            // SAFETY: the numbers begin within the data, in ascending order.
            let (number, is_usual) = unsafe { number(text, *extent) };
            *value = number;
            is_right &= is_usual;
        }
        if !is_right {
            return converted;
        }
        pairs.push(template.pair(values));
    }
    found.len()
}

/// The value of a number, and whether it is of the kind that is converted here.
///
/// # Safety
/// The extent begins within a text that has [`MARGIN_BYTES`] around it.
#[inline(always)]
unsafe fn number(text: *const u8, extent: Extent) -> (f64, bool) {
    let (point, decimals) = (extent.point(), extent.decimals());
    // SAFETY: a point is at most 255 bytes behind its start; eight bytes before it and 17 from it on
    // are within the margins, and so is the first byte; a mask has sixteen bytes. The caller vouches
    // for the text.
    let (lead, window, at_point, words, masks) = unsafe {
        let word = |from: *const u8| u64::from_le_bytes(from.cast::<[u8; 8]>().read());
        let two = |from: *const u8| [word(from), word(from.add(8))];
        let start = text.add(extent.start());
        let point = start.add(point);
        let masks = two(first_bytes(decimals));
        (start.read(), word(point.sub(8)), point.read(), two(point.add(1)), masks)
    };
    let is_negative = lead == b'-';
    // The digits before the point are the last bytes of the window.
    let digits = point.wrapping_sub(usize::from(is_negative));
    let shift = 8_usize.wrapping_sub(digits).wrapping_mul(8) as u32;
    let last = (window ^ ZEROS).wrapping_shr(shift).wrapping_shl(shift);
    let whole = 100 * (last >> 40 & 0xff) + 10 * (last >> 48 & 0xff) + (last >> 56);
    // With as many digits, the least value without a leading zero.
    let least = [0, 0, 10, 100][digits & 3];

    let [first, second] = std::array::from_fn(|i| eight_digits((words[i] ^ ZEROS) & masks[i]));
    // Of a number that is not taken, any product will do.
    let all_digits = (whole * 100_000_000 + first).wrapping_mul(100_000_000).wrapping_add(second);
    let value = nearest(all_digits);
    let is_usual = (digits.wrapping_sub(1) < 3)
        & (at_point == b'.')
        & (whole >= least)
        & (decimals.wrapping_sub(1) < 16);
    (f64::from_bits(value | u64::from(is_negative) << 63), is_usual)
}

const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);

/// Eight digits, the first in the lowest byte, to the integer they stand for.
#[inline(always)]
fn eight_digits(digits: u64) -> u64 {
    let twos = (digits.wrapping_mul(10) + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (twos.wrapping_mul(100) + (twos >> 16)) & 0x0000_ffff_0000_ffff;
    (fours.wrapping_mul(10_000) + (fours >> 32)) & 0xffff_ffff
}

/// 2¹⁶⁵ / 5¹⁶, rounded down: 128 significant bits, high and low half.
const RECIPROCAL: (u64, u64) = {
    // Long division, 64 bits at a time; the first digit fits, as 5¹⁶ is above 2³⁷.
    let divisor = 5_u128.pow(16);
    let (high, rest) = ((1_u128 << 101) / divisor, (1_u128 << 101) % divisor);
    (high as u64, ((rest << 64) / divisor) as u64)
};

/// The bits of the double nearest to `digits` / 10¹⁶, a number below 1000.
///
/// With `digits` shifted left until its top bit is set, its product with the reciprocal is the value
/// in units of a power of two, less than 2⁻¹²⁵ of itself too small. No value is halfway between two
/// doubles or nearer than 2⁻³⁹ units of the last place to it (the proof is beside `to_doubles` of
/// AVX2), so the first bit that the double has no room for decides how to round. A value that is a
/// double may come out just below it, and is rounded up to it.
#[inline(always)]
fn nearest(digits: u64) -> u64 {
    let zeros = digits.leading_zeros();
    let shifted = u128::from(digits.wrapping_shl(zeros));
    let (high, low) = RECIPROCAL;
    let product = shifted * u128::from(high) + ((shifted * u128::from(low)) >> 64);
    // The product's top bit is its 127th or its 126th, counted from 0.
    let top = (product >> 64) as u64;
    let is_long = top >> 63;
    // 53 bits and one to round by; the top one, and what a carry makes of it, goes into the exponent.
    let significand = ((top << (1 - is_long) >> 10) + 1) >> 1;
    let exponent = 1022 + 9 + is_long - u64::from(zeros.min(63));
    if digits == 0 { 0 } else { (exponent << 52) + significand }
}

/// Where a mask of so many leading bytes of sixteen begins.
#[inline(always)]
pub(super) fn first_bytes(count: u32) -> *const u8 {
    static MASKS: [u8; 64] = {
        let mut masks = [0; 64];
        let mut i = 0;
        while i < 32 {
            masks[i] = 0xff;
            i += 1;
        }
        masks
    };
    // A count beyond the table belongs to a number that is not taken; it may have any mask.
    MASKS[32 - (count & 31) as usize..].as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_division_is_right_at_and_around_doubles_and_halfway_points() {
        const END: u64 = 1000 * 10_u64.pow(16);
        let check = |digits: u64| {
            let digits = digits % END;
            let text = format!("{}.{:016}", digits / 10_u64.pow(16), digits % 10_u64.pow(16));
            let expected: f64 = text.parse().unwrap();
            assert_eq!(f64::from_bits(nearest(digits)), expected, "{text}");
        };
        (0..2000).chain(END - 2000..END).for_each(check);
        for power in 0..64 {
            (0..9).for_each(|offset| check((1_u64 << power).wrapping_add(offset).wrapping_sub(4)));
        }
        let mut seed = 1_u64;
        for _ in 0..100_000 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let digits = (seed >> (seed & 31)) % END;
            check(digits);
            // The integers around the middle of a double and the next one.
            let (significand, shift) = (
                f64::from_bits(nearest(digits)).to_bits() & ((1 << 52) - 1) | 1 << 52,
                digits.leading_zeros(),
            );
            let exponent = 1075 - (nearest(digits) >> 52) as u32;
            let middle =
                (u128::from(2 * significand + 1) * 10_u128.pow(16)) >> (exponent + 1).min(127);
            if shift < 40 {
                (0..3).for_each(|offset| check((middle as u64 + offset).saturating_sub(1)));
            }
        }
    }

    #[test]
    fn eight_digits_are_joined() {
        for number in [0, 1, 12_345_678, 99_999_999, 10_000_000, 90_909_090] {
            let text = format!("{number:08}");
            let digits = u64::from_le_bytes(text.as_bytes().try_into().unwrap()) ^ ZEROS;
            assert_eq!(eight_digits(digits), number);
        }
    }
}
