//! Sixteen bytes of SSE2, the base of x86-64.

use std::arch::x86_64::{
    __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_set1_epi8,
};

use crate::vector::Vector;

/// A 16-byte register.
#[derive(Clone, Copy, Debug)]
pub struct Sse2(__m128i);

// SAFETY: only SSE2, which every x86-64 has; `load` reads exactly BYTES bytes.
unsafe impl Vector for Sse2 {
    const BYTES: usize = 16;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller vouches for sixteen readable bytes; the load is unaligned.
        Sse2(unsafe { _mm_loadu_si128(from.cast()) })
    }

    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        // SAFETY: SSE2 is part of the base architecture.
        Sse2(unsafe { _mm_set1_epi8(byte.cast_signed()) })
    }

    #[inline(always)]
    unsafe fn equal(self, other: Self) -> u64 {
        // SAFETY: SSE2 is part of the base architecture.
        let mask = unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(self.0, other.0)) };
        u64::from(mask.cast_unsigned())
    }

    #[inline(always)]
    unsafe fn below<const BOUND: u8>(self) -> u64 {
        // SAFETY: SSE2 is part of the base architecture.
        let mask = unsafe {
            let most = _mm_set1_epi8((BOUND - 1).cast_signed());
            _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(self.0, most), self.0))
        };
        u64::from(mask.cast_unsigned())
    }
}
