//! Thirty-two bytes of AVX2.

use std::arch::x86_64::{
    __m256i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8,
    _mm256_set1_epi8,
};

use crate::vector::Vector;

/// A 32-byte register.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(__m256i);

// SAFETY: only AVX2, which the caller of every method vouches for; `load` reads exactly BYTES.
unsafe impl Vector for Avx2 {
    const BYTES: usize = 32;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller vouches for thirty-two readable bytes and for AVX2.
        Avx2(unsafe { _mm256_loadu_si256(from.cast()) })
    }

    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        // SAFETY: the caller vouches for AVX2.
        Avx2(unsafe { _mm256_set1_epi8(byte.cast_signed()) })
    }

    #[inline(always)]
    unsafe fn equal(self, other: Self) -> u64 {
        // SAFETY: the caller vouches for AVX2.
        let mask = unsafe { _mm256_movemask_epi8(_mm256_cmpeq_epi8(self.0, other.0)) };
        u64::from(mask.cast_unsigned())
    }

    #[inline(always)]
    unsafe fn below<const BOUND: u8>(self) -> u64 {
        // SAFETY: the caller vouches for AVX2.
        let mask = unsafe {
            let most = _mm256_set1_epi8((BOUND - 1).cast_signed());
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(self.0, most), self.0))
        };
        u64::from(mask.cast_unsigned())
    }
}
