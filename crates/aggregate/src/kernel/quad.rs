//! Four rows in one register, at the levels whose registers have sixteen bytes: SSE2 and NEON.
//!
//! The shapes of a value and how they are told apart are those of the AVX2 kernel, which draws them.
//! [`Quad`] has the few operations this takes; newlines, keys and hashes are elsewhere.

use fathom_machine::operations;
use fathom_machine::simd::Words;

use super::SHORT_BYTES;
use super::rows::{Parsed, Shapes};
use crate::line::DELIMITER;

/// A register of four 32-bit lanes.
///
/// # Safety
/// Methods may use the instructions of the level; callers vouch that it is available.
pub(super) unsafe trait Quad: Words<u32> {
    /// The eight bytes before each of four ends, the first four of each and the last four.
    ///
    /// # Safety
    /// Four ends are readable, and eight bytes before `base + end` for each.
    unsafe fn words(base: *const u8, ends: *const u32) -> (Self, Self);

    /// # Safety
    /// As the trait, like all that follow.
    unsafe fn or(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    /// All ones where the lanes are equal.
    unsafe fn equal(self, other: Self) -> Self;
    /// All ones where this lane, with its sign, is greater.
    unsafe fn above(self, other: Self) -> Self;
    /// Bytes less those of `other`, at least zero.
    unsafe fn bytes_over(self, other: Self) -> Self;
    /// 100, 10 and 1 times the first, second and fourth byte of each lane; bytes below 10.
    unsafe fn hundreds(self) -> Self;
    /// A bit per lane, its highest.
    unsafe fn bits(self) -> u32;
}

/// Parses the four rows that end at `ends[1..5]`, as [`Rows::values`](super::rows::Rows::values) does
/// eight.
///
/// # Safety
/// As there, for four.
#[inline(always)]
pub(super) unsafe fn values<Q: Quad>(base: *const u8, ends: *const u32, into: Parsed) -> Shapes {
    // SAFETY: the caller vouches for the level, the ends, the text before them and four elements of
    // each array.
    unsafe {
        let (before_ends, row_ends) = (Q::load(ends.cast()), Q::load(ends.add(1).cast()));
        let (before, last) = Q::words(base, ends.add(1));
        let byte = Q::splat(0xff);
        let delimiter = Q::splat(DELIMITER.into());
        let minus = Q::splat(b'-'.into());
        let b4 = last.and(byte);
        let b5 = before.down(24);
        let b6 = before.down(16).and(byte);
        let (delimiter_4, delimiter_5) = (b4.equal(delimiter), b5.equal(delimiter));
        let (minus_4, minus_5) = (b4.equal(minus), b5.equal(minus));
        let delimiter_45 = delimiter_4.or(delimiter_5);

        // Digits become 0..=9 and the dot 0; a b4 that is no digit is taken out.
        let no_digit = delimiter_4.or(minus_4).and(byte);
        let digits = last.xor(Q::splat(0x302e_3030)).without(no_digit);
        let all_digits = digits.bytes_over(Q::splat(0x0900_0909)).equal(Q::splat(0));
        let negative = minus_4.or(minus_5.without(delimiter_45));
        let value = digits.hundreds().xor(negative).sub(negative);

        let shape_6 = minus_5.and(b6.equal(delimiter)).without(minus_4);
        let shaped = delimiter_45.or(shape_6).and(all_digits);
        // Bytes from the delimiter on: 6, 5 or 4. Comparison masks are -1.
        let tail = Q::splat(6).plus(delimiter_45).plus(delimiter_4);
        let bytes = row_ends.sub(before_ends).sub(tail);
        let even = bytes.above(Q::splat(1)).and(shaped);
        let long = bytes.above(Q::splat(SHORT_BYTES)).and(even);
        value.store(into.values.cast());
        even.and(bytes).without(long).store(into.masks.cast());
        bytes.store(into.key_bytes.cast());
        Shapes { odd: even.bits() ^ 0xf, long: long.bits() }
    }
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::*;

    use super::{Quad, operations};

    // SAFETY: uses SSE2 only, which is in every x86-64 processor; reads what the trait allows.
    unsafe impl Quad for __m128i {
        operations! {
            words(; base: *const u8, ends: *const u32) -> (__m128i, __m128i) = {
                let word = |i: usize| _mm_loadl_epi64(base.add(*ends.add(i) as usize - 8).cast());
                let (a, b) =
                    (_mm_unpacklo_epi32(word(0), word(1)), _mm_unpacklo_epi32(word(2), word(3)));
                (_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b))
            };
            or(self, other) -> __m128i = _mm_or_si128(self, other);
            sub(self, other) -> __m128i = _mm_sub_epi32(self, other);
            equal(self, other) -> __m128i = _mm_cmpeq_epi32(self, other);
            above(self, other) -> __m128i = _mm_cmpgt_epi32(self, other);
            bytes_over(self, other) -> __m128i = _mm_subs_epu8(self, other);
            // Multiplication of bytes came later: bytes one and three, and two and four, as words.
            hundreds(self) -> __m128i = {
                let odd = _mm_and_si128(self, _mm_set1_epi32(0x00ff_00ff));
                let hundreds = _mm_madd_epi16(odd, _mm_set1_epi32(100));
                let rest = _mm_madd_epi16(_mm_srli_epi16::<8>(self), _mm_set1_epi32(1 << 16 | 10));
                _mm_add_epi32(hundreds, rest)
            };
            bits(self) -> u32 = _mm_movemask_ps(_mm_castsi128_ps(self)) as u32;
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use std::arch::aarch64::*;

    use super::{Quad, operations};

    const PLACES: [u32; 4] = [1, 2, 4, 8];

    // SAFETY: uses NEON only, which is in every AArch64 processor this project runs on; reads what the
    // trait allows.
    unsafe impl Quad for uint32x4_t {
        operations! {
            words(; base: *const u8, ends: *const u32) -> (uint32x4_t, uint32x4_t) = {
                let word = |i: usize| vld1_u8(base.add(*ends.add(i) as usize - 8));
                let a = vreinterpretq_u32_u8(vcombine_u8(word(0), word(1)));
                let b = vreinterpretq_u32_u8(vcombine_u8(word(2), word(3)));
                (vuzp1q_u32(a, b), vuzp2q_u32(a, b))
            };
            or(self, other) -> uint32x4_t = vorrq_u32(self, other);
            sub(self, other) -> uint32x4_t = vsubq_u32(self, other);
            equal(self, other) -> uint32x4_t = vceqq_u32(self, other);
            above(self, other) -> uint32x4_t =
                vcgtq_s32(vreinterpretq_s32_u32(self), vreinterpretq_s32_u32(other));
            bytes_over(self, other) -> uint32x4_t =
                vreinterpretq_u32_u8(vqsubq_u8(vreinterpretq_u8_u32(self), vreinterpretq_u8_u32(other)));
            hundreds(self) -> uint32x4_t = {
                let byte = vdupq_n_u32(0xff);
                let ones = vshrq_n_u32::<24>(self);
                let tens = vandq_u32(vshrq_n_u32::<8>(self), byte);
                let sum = vmlaq_u32(ones, tens, vdupq_n_u32(10));
                vmlaq_u32(sum, vandq_u32(self, byte), vdupq_n_u32(100))
            };
            bits(self) -> u32 = vaddvq_u32(vandq_u32(self, vld1q_u32(PLACES.as_ptr())));
        }
    }
}
