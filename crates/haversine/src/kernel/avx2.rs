//! AVX2: numbers to doubles, four at a time.
//!
//! In plain words: check each number that was found and convert it. The departures from that:
//! 1. The digits of all four numbers become integers together: decimals left-aligned in sixteen
//!    bytes (so that the scale is always 10¹⁶), joined by multiply-adds to 2, 4 and 8 digits.
//! 2. All four integers become doubles together, exactly rounded, see [`to_doubles`].
//! 3. A pair is written first and checked then: it is not counted if it is wrong.
//!
//! Converted are numbers of at most 229 before the point, without leading zeros, with 1 to 16
//! decimals and no exponent; all others are the caller's. Registers hold the numbers in the order
//! 0, 2, 1, 3, which is how packing two registers interleaves their halves.

use std::arch::x86_64::*;

use super::Extent;
use super::convert::first_bytes;
use crate::block::{Block, MARGIN_BYTES};
use crate::formula::Pair;
use crate::template::Template;

/// The lane of each number in textual order.
const LANES: [usize; 4] = [0, 2, 1, 3];

/// See [`super::convert`].
///
/// # Safety
/// AVX2 and what [`Level::Avx2`](fathom_machine::level::Level::Avx2) has beside it are available.
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) unsafe fn convert(
    block: &Block,
    template: &Template,
    found: &[[Extent; 4]],
    pairs: &mut Vec<Pair>,
) -> usize {
    let order = order(template);
    let bytes = block.bytes().len();
    let text = block.with_margins()[MARGIN_BYTES..].as_ptr();
    pairs.reserve(found.len());
    let mut converted = 0;
    for extents in found {
        assert!(extents[3].start() <= bytes, "an extent of another block");
        // SAFETY: the numbers begin within the data, in ascending order, and there is room for
        // their pair. The caller vouches for the level.
        let is_right = unsafe { pair(text, extents, order, pairs.as_mut_ptr().add(pairs.len())) };
        if !is_right {
            break;
        }
        // SAFETY: one more pair was written.
        unsafe { pairs.set_len(pairs.len() + 1) };
        converted += 1;
    }
    converted
}

/// The permutation that puts each coordinate's lane in its place, as halves of lanes.
#[target_feature(enable = "avx2")]
fn order(template: &Template) -> __m256i {
    let mut order = [0; 8];
    for (number, coordinate) in template.order().into_iter().enumerate() {
        order[2 * coordinate] = 2 * LANES[number] as i32;
        order[2 * coordinate + 1] = 2 * LANES[number] as i32 + 1;
    }
    let [a, b, c, d, e, f, g, h] = order;
    _mm256_setr_epi32(a, b, c, d, e, f, g, h)
}

/// Converts the numbers of one element and writes their pair to `to`; whether it is right.
///
/// # Safety
/// The extents begin within a text that has [`MARGIN_BYTES`] around it, a pair is writable at `to`,
/// and the level is available.
#[inline(always)]
unsafe fn pair(text: *const u8, extents: &[Extent; 4], order: __m256i, to: *mut Pair) -> bool {
    // SAFETY: a point is at most 255 bytes behind its start and loads end 17 bytes behind it or
    // begin 4 bytes before it; the caller vouches for those, for `to` and for the level.
    unsafe {
        let zeros = _mm256_set1_epi8(b'0'.cast_signed());
        let point = |i: usize| text.add(extents[i].start() + extents[i].point());
        let decimals = |i: usize| extents[i].decimals();
        let load = |from: *const u8| _mm_loadu_si128(from.cast());
        let both = |low: *const u8, high: *const u8| {
            _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(load(low)), load(high))
        };
        let fraction = |i: usize, j: usize| {
            let digits = _mm256_xor_si256(both(point(i).add(1), point(j).add(1)), zeros);
            _mm256_and_si256(digits, both(first_bytes(decimals(i)), first_bytes(decimals(j))))
        };
        let halves = eight_digits(fraction(0, 1), fraction(2, 3));

        let window = |i: usize, j: usize| {
            let low = _mm_castsi128_pd(_mm_loadl_epi64(point(i).sub(4).cast()));
            _mm_loadh_pd(low, point(j).sub(4).cast())
        };
        let windows = _mm256_castpd_si256(_mm256_set_m128d(window(1, 3), window(0, 2)));
        let (wholes, signs, right) = integers(_mm256_xor_si256(windows, zeros));

        let values = _mm256_or_pd(to_doubles(wholes, halves), _mm256_castsi256_pd(signs));
        let values = _mm256_permutevar8x32_epi32(_mm256_castpd_si256(values), order);
        _mm256_storeu_si256(to.cast(), values);

        // 0 to 15 for 1 to 16 decimals, otherwise some higher bit.
        let beyond = (0..4).fold(0, |bits, i| bits | decimals(i).wrapping_sub(1)) & !15;
        right == 0b1111 && beyond == 0
    }
}

/// Sixteen digits of two numbers in each register to two integers of eight digits each, the first
/// in the low half of the number's 64 bits.
///
/// # Safety
/// The level is available.
#[inline(always)]
unsafe fn eight_digits(first: __m256i, second: __m256i) -> __m256i {
    // SAFETY: the caller vouches for the level.
    unsafe {
        let tens = _mm256_set1_epi16(0x010a); // 10, 1
        let hundreds = _mm256_set1_epi32(0x0001_0064); // 100, 1
        let myriads = _mm256_set1_epi32(0x0001_2710); // 10,000, 1
        let fours = |digits| _mm256_madd_epi16(_mm256_maddubs_epi16(digits, tens), hundreds);
        let packed = _mm256_packus_epi32(fours(first), fours(second));
        _mm256_madd_epi16(packed, myriads)
    }
}

/// The integer parts out of windows of eight bytes, four before each point and the point; sign bits;
/// and a bit for each that is a number of one to four digits without a leading zero, at most 229, with
/// a point behind it.
///
/// A number taken here has at most three digits, so its minus sign is in the window. What else stands there
/// is the end of a separator: a colon, white space, the quote of a key and its last letter, a digit.
///
/// ```text
/// byte       0        1        2     3     4
///         thousands hundreds  tens  ones  '.'     (each less '0'; what is no digit is 10 or more)
/// ```
///
/// # Safety
/// The level is available.
#[inline(always)]
unsafe fn integers(windows: __m256i) -> (__m256i, __m256i, u32) {
    // SAFETY: the caller vouches for the level.
    unsafe {
        let nine = _mm256_set1_epi8(9);
        let are_digits = _mm256_cmpeq_epi8(_mm256_min_epu8(windows, nine), windows);
        // A byte belongs to the number if it and all up to the ones are digits.
        let top = |bits: u32| _mm256_set1_epi32(bits.cast_signed());
        let two = _mm256_and_si256(
            are_digits,
            _mm256_or_si256(_mm256_srli_epi32::<8>(are_digits), top(0xff00_0000)),
        );
        let belong =
            _mm256_and_si256(two, _mm256_or_si256(_mm256_srli_epi32::<16>(two), top(0xffff_0000)));
        let digits = _mm256_and_si256(windows, belong);
        // (100 · thousands + 10 · hundreds) · 10 + (10 · tens + ones)
        let weights = _mm256_set1_epi32(0x010a_0a64);
        let joins = _mm256_set1_epi32(0x0001_000a);
        let values = _mm256_madd_epi16(_mm256_maddubs_epi16(digits, weights), joins);
        // With as many digits, the least value without a leading zero: 1000, 100, 10, 0, as the
        // sum of 900, 90 and 10 for each digit there is; negated, since bytes of ones are -1.
        let least_weights = _mm256_set1_epi32(0x000a_095a);
        let least = _mm256_madd_epi16(_mm256_maddubs_epi16(least_weights, belong), joins);
        let too_small = _mm256_add_epi32(values, least);
        let too_large = _mm256_sub_epi32(_mm256_set1_epi32(229), values);
        // In the top bit: the ones are there, and neither difference is negative.
        let fits = _mm256_andnot_si256(_mm256_or_si256(too_small, too_large), belong);
        let points = _mm256_cmpeq_epi8(windows, _mm256_set1_epi8((b'.' ^ b'0').cast_signed()));
        let right =
            _mm256_and_si256(_mm256_slli_epi64::<32>(fits), _mm256_slli_epi64::<24>(points));

        // Bytes of ones become the sign: those that the lower half has, since none is the top one.
        let minuses = _mm256_cmpeq_epi8(windows, _mm256_set1_epi8((b'-' ^ b'0').cast_signed()));
        let minuses = _mm256_slli_epi64::<32>(minuses);
        let are_negative = _mm256_cmpgt_epi32(minuses, _mm256_setzero_si256());
        let signs = _mm256_slli_epi32::<31>(are_negative);
        (values, signs, _mm256_movemask_pd(_mm256_castsi256_pd(right)).cast_unsigned())
    }
}

/// Integer parts (low halves of 64 bits, at most 229) and twice eight decimals to the nearest
/// doubles, ties to even.
///
/// With I the integer part, A and B the first and last eight decimals, N = I·10¹⁶ + A·10⁸ + B, the
/// value is v = N / 10¹⁶.
/// * h = (I·10⁸ + A)·10⁸ is exact while (I·10⁸ + A)·5⁸ < 2⁵³, that is for I <= 229.
/// * n + l = h + B exactly (fast two-sum: h is 0 or greater than B).
/// * q₀ = n · 10⁻¹⁶ in one rounding of an inexact constant, within 1.6 units of v; the remainder
///   r = n - q₀·10¹⁶ + l is exact, since it is a small multiple of q₀'s last bit; and v is nearest
///   to q₀ + r·10⁻¹⁶, one fused operation.
///
/// Why that last rounding is right: a value halfway between two doubles is an odd multiple of
/// 2^(e-53), where 2^e <= v < 2^(e+1). In units of the last place the distance of v to it is
/// |N·2^(37-e) - odd·5¹⁶| / (2·5¹⁶). The first term is even for e <= 36, the second odd: the
/// difference is at least 1, so v is never halfway and at least 2⁻³⁸·² units from it. What q₀ +
/// r·10⁻¹⁶ lacks before its rounding is the error of the constant, below 2⁻⁵² units. So both lie on
/// the same side of every halfway point.
///
/// # Safety
/// The level is available.
#[inline(always)]
unsafe fn to_doubles(wholes: __m256i, halves: __m256i) -> __m256d {
    // SAFETY: the caller vouches for the level.
    unsafe {
        // An integer below 2³² in the low half of 2⁵²'s bits is 2⁵² more than itself.
        let magic = _mm256_set1_pd((1u64 << 52) as f64);
        let low = |integers: __m256i| {
            let bits = _mm256_blend_epi32::<0b1010_1010>(integers, _mm256_castpd_si256(magic));
            _mm256_sub_pd(_mm256_castsi256_pd(bits), magic)
        };
        let whole = low(wholes);
        let first = low(halves);
        let last = low(_mm256_srli_epi64::<32>(halves));

        let e8 = _mm256_set1_pd(1e8);
        let high = _mm256_mul_pd(_mm256_fmadd_pd(whole, e8, first), e8);
        let n = _mm256_add_pd(high, last);
        let l = _mm256_sub_pd(last, _mm256_sub_pd(n, high));
        let tiny = _mm256_set1_pd(1e-16);
        let quotient = _mm256_mul_pd(n, tiny);
        let rest = _mm256_fnmadd_pd(quotient, _mm256_set1_pd(1e16), n);
        _mm256_fmadd_pd(_mm256_add_pd(rest, l), tiny, quotient)
    }
}
