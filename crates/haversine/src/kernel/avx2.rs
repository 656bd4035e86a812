//! AVX2: pairs out of text, and distances.
//!
//! A pair in plain words: for each of four numbers, find its point and its end, check that what
//! follows is the template's separator, and convert; then go on behind the fourth separator. The
//! departures from that:
//! 1. Point and end come from one 32-byte load, whose non-digits become a bit mask.
//! 2. Nothing branches within a pair: everything that may be wrong is collected and tested once,
//!    and then the pair, already written, is not counted.
//! 3. The digits of all four numbers become integers together: decimals left-aligned in sixteen
//!    bytes (so that the scale is always 10¹⁶), joined by multiply-adds to 2, 4 and 8 digits.
//! 4. All four integers become doubles together, exactly rounded, see [`to_doubles`].
//!
//! Taken are numbers of at most 229 before the point, without leading zeros, with 1 to 16 decimals
//! and no exponent; all others are the caller's. Registers hold the numbers in the order 0, 2, 1,
//! 3, which is how packing two registers interleaves their halves.

use std::arch::x86_64::*;

use super::distance::distances_over;
use super::lanes::Four;
use crate::block::{Block, MARGIN_BYTES};
use crate::formula::Pair;
use crate::template::{SEPARATOR_BYTES, Template};

/// How far behind a pair's first number a step may look: each number's end is found within 32
/// bytes, separators have at most 32, and the last load begins at most at the last end.
const REACH_BYTES: usize = 4 * (32 + SEPARATOR_BYTES) + 32;
const _: () = assert!(REACH_BYTES <= MARGIN_BYTES);
/// The lane of each number in textual order.
const LANES: [usize; 4] = [0, 2, 1, 3];

/// See [`super::distances`].
///
/// # Safety
/// AVX2 and what [`Level::Avx2`](fathom_machine::level::Level::Avx2) has beside it are available.
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) unsafe fn distances(pairs: &[Pair], radius: f64, distances: &mut Vec<f64>) {
    // SAFETY: the caller vouches for the level.
    unsafe { distances_over::<Four>(pairs, radius, distances) }
}

/// What a step needs of the template, as registers' worth of bytes.
struct Shape {
    separators: [[u8; 32]; 4],
    /// All ones where a separator has bytes.
    masks: [[u8; 32]; 4],
    lens: [usize; 4],
    /// For each coordinate, the halves of the lane it is in.
    order: [u32; 8],
}

impl Shape {
    fn new(template: &Template) -> Shape {
        let separators = template.separators();
        let mut order = [0; 8];
        for (number, coordinate) in template.order().into_iter().enumerate() {
            order[2 * coordinate] = 2 * LANES[number] as u32;
            order[2 * coordinate + 1] = 2 * LANES[number] as u32 + 1;
        }
        Shape {
            separators: std::array::from_fn(|i| separators[i].bytes),
            masks: std::array::from_fn(|i| {
                std::array::from_fn(|at| if at < separators[i].len { 0xff } else { 0 })
            }),
            lens: std::array::from_fn(|i| separators[i].len),
            order,
        }
    }
}

/// See [`super::read_pairs`].
///
/// # Safety
/// AVX2 and what [`Level::Avx2`](fathom_machine::level::Level::Avx2) has beside it are available.
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) unsafe fn read_pairs(
    block: &Block,
    at: usize,
    template: &Template,
    pairs: &mut Vec<Pair>,
) -> usize {
    let shape = Shape::new(template);
    let bytes = block.bytes();
    let mut at = at;
    while at < bytes.len() {
        if pairs.len() == pairs.capacity() {
            pairs.reserve(1024);
        }
        // SAFETY: `at` is within the block's data, around which MARGIN_BYTES are readable; there
        // is room for one more pair. The caller vouches for the level.
        let taken = unsafe {
            let from = block.with_margins().as_ptr().add(MARGIN_BYTES + at);
            step(from, &shape, pairs.as_mut_ptr().add(pairs.len()))
        };
        if taken == 0 {
            break;
        }
        // SAFETY: the step has written one more pair.
        unsafe { pairs.set_len(pairs.len() + 1) };
        at += taken;
    }
    at
}

/// Where a number's sign, point and end are.
struct Extent {
    is_negative: bool,
    point: u32,
    end: u32,
    /// Bit 0 is set if the first byte is neither a digit nor a minus sign.
    fault: u32,
}

/// Reads one pair whose first number is at `from` to `to`; the bytes up to the next pair's first
/// number, or 0 if the text is not of the kind taken here.
///
/// # Safety
/// [`MARGIN_BYTES`] are readable on both sides of `from`, a pair is writable at `to`, and the level
/// is available.
#[inline(always)]
unsafe fn step(from: *const u8, shape: &Shape, to: *mut Pair) -> usize {
    // SAFETY: every load is within REACH_BYTES behind `from`, or 4 bytes before a number's point;
    // the caller vouches for those and for the level.
    unsafe {
        let zeros = _mm256_set1_epi8(b'0'.cast_signed());
        let mut wrong = _mm256_setzero_si256();
        let mut starts = [from; 4];
        let mut extents: [Extent; 4] =
            [const { Extent { is_negative: false, point: 0, end: 0, fault: 0 } }; 4];
        let mut at = from;
        let mut decimals_beyond = 0u32;
        let mut faults = 0u32;
        for i in 0..4 {
            let extent = extent(at);
            starts[i] = at;
            // 0 to 15 for 1 to 16 decimals, otherwise some higher bit.
            decimals_beyond |= extent.end.wrapping_sub(extent.point).wrapping_sub(2);
            faults |= extent.fault;
            let end = at.add(extent.end as usize);
            let follows = _mm256_loadu_si256(end.cast());
            let separator = _mm256_loadu_si256(shape.separators[i].as_ptr().cast());
            let mask = _mm256_loadu_si256(shape.masks[i].as_ptr().cast());
            let differs = _mm256_and_si256(_mm256_xor_si256(follows, separator), mask);
            wrong = _mm256_or_si256(wrong, differs);
            at = end.add(shape.lens[i]);
            extents[i] = extent;
        }

        let point = |i: usize| starts[i].add(extents[i].point as usize);
        let decimals = |i: usize| (extents[i].end - extents[i].point).wrapping_sub(1);
        let both = |low: *const u8, high: *const u8| {
            let low = _mm256_castsi128_si256(_mm_loadu_si128(low.cast()));
            _mm256_inserti128_si256::<1>(low, _mm_loadu_si128(high.cast()))
        };
        let fraction = |i: usize, j: usize| {
            let text = both(point(i).add(1), point(j).add(1));
            let mask = both(first_bytes(decimals(i)), first_bytes(decimals(j)));
            _mm256_and_si256(_mm256_xor_si256(text, zeros), mask)
        };
        let halves = eight_digits(fraction(0, 1), fraction(2, 3));

        let window = |i: usize, j: usize| {
            let low = _mm_loadl_epi64(point(i).sub(4).cast());
            let both = _mm_loadh_pd(_mm_castsi128_pd(low), point(j).sub(4).cast());
            _mm_castpd_si128(both)
        };
        let windows =
            _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(window(0, 2)), window(1, 3));
        let (wholes, right) = integers(_mm256_xor_si256(windows, zeros));

        let negative = |i: usize| usize::from(extents[i].is_negative);
        let signs = negative(0) | negative(2) << 1 | negative(1) << 2 | negative(3) << 3;
        let signs = _mm256_loadu_pd(SIGNS[signs].as_ptr());
        let values = _mm256_or_pd(to_doubles(wholes, halves), signs);
        let order = _mm256_loadu_si256(shape.order.as_ptr().cast());
        let values = _mm256_permutevar8x32_epi32(_mm256_castpd_si256(values), order);
        _mm256_storeu_si256(to.cast(), values);

        let is_right = _mm256_testz_si256(wrong, wrong) == 1
            && right == 0b1111
            && (decimals_beyond & !15) | (faults & 1) == 0;
        if is_right { at.offset_from_unsigned(from) } else { 0 }
    }
}

/// Finds a number's parts by its non-digits.
///
/// # Safety
/// 32 bytes from `at` on are readable, and the level is available.
#[inline(always)]
unsafe fn extent(at: *const u8) -> Extent {
    // SAFETY: the caller vouches for the bytes and the level.
    unsafe {
        let zeros = _mm256_set1_epi8(b'0'.cast_signed());
        let digits = _mm256_xor_si256(_mm256_loadu_si256(at.cast()), zeros);
        // 10 and more reach 0x80, whose top bit the mask takes.
        let beyond = _mm256_adds_epu8(digits, _mm256_set1_epi8(0x76));
        let others = _mm256_movemask_epi8(beyond).cast_unsigned();
        let is_negative = at.read() == b'-';
        // A first byte that is no digit is the sign; that it is none is noted as a fault.
        let inside = others & !1;
        let point = _tzcnt_u32(inside);
        let end = _tzcnt_u32(_blsr_u32(inside));
        Extent { is_negative, point, end, fault: others ^ u32::from(is_negative) }
    }
}

/// Where a mask of so many leading bytes of sixteen begins.
#[inline(always)]
fn first_bytes(count: u32) -> *const u8 {
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

/// The sign bits of four lanes, a bit of the index each.
static SIGNS: [[f64; 4]; 16] = {
    let mut signs = [[0.0; 4]; 16];
    let mut index = 0;
    while index < 16 {
        let mut lane = 0;
        while lane < 4 {
            if index >> lane & 1 == 1 {
                signs[index][lane] = -0.0;
            }
            lane += 1;
        }
        index += 1;
    }
    signs
};

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

/// The integer parts out of windows of eight bytes, four before each point and the point; and a
/// bit for each that is a number of one to four digits without a leading zero, at most 229, with a
/// point behind it.
///
/// ```text
/// byte       0        1        2     3     4
///         thousands hundreds  tens  ones  '.'     (each less '0'; what is no digit is 10 or more)
/// ```
///
/// # Safety
/// The level is available.
#[inline(always)]
unsafe fn integers(windows: __m256i) -> (__m256i, u32) {
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
        (values, _mm256_movemask_pd(_mm256_castsi256_pd(right)).cast_unsigned())
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
