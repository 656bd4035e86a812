//! The registers of x86-64: eight messages in one of AVX2, sixteen in one of AVX-512, which rotates and
//! chooses in one instruction.

use std::arch::x86_64::*;

use super::{MESSAGES, Words, digests};

/// Twice eight messages.
pub(super) fn avx2(messages: &[&[u8]; MESSAGES]) -> [[u8; 32]; MESSAGES] {
    #[target_feature(enable = "avx2")]
    fn with_avx2(messages: &[&[u8]; MESSAGES]) -> [[u8; 32]; MESSAGES] {
        // SAFETY: this function has the level's features.
        unsafe { digests::<__m256i>(messages) }
    }
    // SAFETY: a form's level is available.
    unsafe { with_avx2(messages) }
}

/// All sixteen.
pub(super) fn avx512(messages: &[&[u8]; MESSAGES]) -> [[u8; 32]; MESSAGES] {
    #[target_feature(enable = "avx512f,avx512bw")]
    fn with_avx512(messages: &[&[u8]; MESSAGES]) -> [[u8; 32]; MESSAGES] {
        // SAFETY: this function has the level's features.
        unsafe { digests::<__m512i>(messages) }
    }
    // SAFETY: a form's level is available.
    unsafe { with_avx512(messages) }
}

// SAFETY: instructions of AVX2 alone; eight words are read and written.
unsafe impl Words for __m256i {
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn splat(word: u32) -> Self {
        // SAFETY: the level is available, as the trait says; so in all that follow.
        unsafe { _mm256_set1_epi32(word.cast_signed()) }
    }
    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        // SAFETY: eight words are there.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: there is room for eight words.
        unsafe { _mm256_storeu_si256(to.cast(), self) }
    }
    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        // SAFETY: the level's.
        unsafe { _mm256_add_epi32(self, other) }
    }
    #[inline(always)]
    unsafe fn swapped(self) -> Self {
        // SAFETY: the level's.
        unsafe {
            let order = _mm_set_epi64x(0x0c0d_0e0f_0809_0a0b, 0x0405_0607_0001_0203);
            _mm256_shuffle_epi8(self, _mm256_broadcastsi128_si256(order))
        }
    }
    #[inline(always)]
    unsafe fn rotations<const A: i32, const B: i32, const C: i32>(self) -> Self {
        // SAFETY: the level's.
        unsafe {
            _mm256_xor_si256(_mm256_xor_si256(right::<A>(self), right::<B>(self)), right::<C>(self))
        }
    }
    #[inline(always)]
    unsafe fn rotations_and_shift<const A: i32, const B: i32, const C: i32>(self) -> Self {
        // SAFETY: the level's.
        unsafe {
            let rotated = _mm256_xor_si256(right::<A>(self), right::<B>(self));
            _mm256_xor_si256(rotated, _mm256_srli_epi32::<C>(self))
        }
    }
    #[inline(always)]
    unsafe fn choose(self, yes: Self, no: Self) -> Self {
        // SAFETY: the level's.
        unsafe { _mm256_xor_si256(no, _mm256_and_si256(self, _mm256_xor_si256(yes, no))) }
    }
    #[inline(always)]
    unsafe fn majority(self, b: Self, c: Self) -> Self {
        // SAFETY: the level's.
        unsafe {
            let either = _mm256_and_si256(c, _mm256_or_si256(self, b));
            _mm256_or_si256(_mm256_and_si256(self, b), either)
        }
    }
}

/// A rotation to the right by `N` bits.
///
/// # Safety
/// AVX2 is available.
#[inline(always)]
unsafe fn right<const N: i32>(words: __m256i) -> __m256i {
    // SAFETY: as the caller says.
    unsafe {
        let (down, up) = (_mm_cvtsi32_si128(N), _mm_cvtsi32_si128(32 - N));
        _mm256_or_si256(_mm256_srl_epi32(words, down), _mm256_sll_epi32(words, up))
    }
}

// SAFETY: instructions of AVX-512 F and BW alone; sixteen words are read and written.
unsafe impl Words for __m512i {
    const LANES: usize = 16;

    #[inline(always)]
    unsafe fn splat(word: u32) -> Self {
        // SAFETY: the level is available, as the trait says; so in all that follow.
        unsafe { _mm512_set1_epi32(word.cast_signed()) }
    }
    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        // SAFETY: sixteen words are there.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: there is room for sixteen words.
        unsafe { _mm512_storeu_si512(to.cast(), self) }
    }
    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        // SAFETY: the level's.
        unsafe { _mm512_add_epi32(self, other) }
    }
    #[inline(always)]
    unsafe fn swapped(self) -> Self {
        // SAFETY: the level's.
        unsafe {
            let order = _mm_set_epi64x(0x0c0d_0e0f_0809_0a0b, 0x0405_0607_0001_0203);
            _mm512_shuffle_epi8(self, _mm512_broadcast_i32x4(order))
        }
    }
    #[inline(always)]
    unsafe fn rotations<const A: i32, const B: i32, const C: i32>(self) -> Self {
        // SAFETY: the level's.
        unsafe {
            let (a, b) = (_mm512_ror_epi32::<A>(self), _mm512_ror_epi32::<B>(self));
            _mm512_ternarylogic_epi32::<XOR>(a, b, _mm512_ror_epi32::<C>(self))
        }
    }
    #[inline(always)]
    unsafe fn rotations_and_shift<const A: i32, const B: i32, const C: i32>(self) -> Self {
        // SAFETY: the level's.
        unsafe {
            let (a, b) = (_mm512_ror_epi32::<A>(self), _mm512_ror_epi32::<B>(self));
            let shifted = _mm512_srl_epi32(self, _mm_cvtsi32_si128(C));
            _mm512_ternarylogic_epi32::<XOR>(a, b, shifted)
        }
    }
    #[inline(always)]
    unsafe fn choose(self, yes: Self, no: Self) -> Self {
        // SAFETY: the level's.
        unsafe { _mm512_ternarylogic_epi32::<CHOOSE>(self, yes, no) }
    }
    #[inline(always)]
    unsafe fn majority(self, b: Self, c: Self) -> Self {
        // SAFETY: the level's.
        unsafe { _mm512_ternarylogic_epi32::<MAJORITY>(self, b, c) }
    }
}

// Truth tables for three bits, the first the highest of the index.
const XOR: i32 = 0b1001_0110;
const CHOOSE: i32 = 0b1100_1010;
const MAJORITY: i32 = 0b1110_1000;
