//! Four registers of SSE2, which has no table lookup: UTF-8 is the standard library's.

use std::arch::x86_64::*;

use super::{Wide, is_utf8_by_std};

#[derive(Clone, Copy)]
pub(in super::super) struct Sse2([__m128i; 4]);

// SAFETY: only SSE2, which every x86-64 has; `load` reads 64 bytes.
unsafe impl Wide for Sse2 {
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller vouches for 64 readable bytes.
        Sse2([0, 16, 32, 48].map(|at| unsafe { _mm_loadu_si128(from.add(at).cast()) }))
    }

    #[inline(always)]
    unsafe fn less(self, byte: u8) -> Self {
        // SAFETY: SSE2 is part of the base architecture; so in all that follow.
        Sse2(self.0.map(|v| unsafe { _mm_sub_epi8(v, splat(byte)) }))
    }

    #[inline(always)]
    unsafe fn with(self, byte: u8) -> Self {
        // SAFETY: as above.
        Sse2(self.0.map(|v| unsafe { _mm_or_si128(v, splat(byte)) }))
    }

    #[inline(always)]
    unsafe fn equal(self, byte: u8) -> u64 {
        // SAFETY: as above.
        unsafe { bits(self.0.map(|v| _mm_cmpeq_epi8(v, splat(byte)))) }
    }

    #[inline(always)]
    unsafe fn at_most(self, byte: u8) -> u64 {
        // SAFETY: as above.
        unsafe { bits(self.0.map(|v| _mm_cmpeq_epi8(_mm_min_epu8(v, splat(byte)), v))) }
    }

    #[inline(always)]
    unsafe fn spaces(self) -> u64 {
        // SAFETY: as above.
        unsafe {
            bits(self.0.map(|v| {
                let is = |byte| _mm_cmpeq_epi8(v, splat(byte));
                let lines = _mm_or_si128(is(b'\n'), is(b'\r'));
                _mm_or_si128(_mm_or_si128(is(b' '), is(b'\t')), lines)
            }))
        }
    }

    #[inline(always)]
    unsafe fn highs(self) -> u64 {
        // SAFETY: as above.
        unsafe { bits(self.0) }
    }

    #[inline(always)]
    unsafe fn is_utf8(from: *const u8, before: u32) -> bool {
        // SAFETY: the caller vouches for 64 readable bytes.
        unsafe { is_utf8_by_std(from, before) }
    }
}

/// The top bit of each byte.
///
/// # Safety
/// None beyond SSE2, the base of x86-64.
#[inline(always)]
unsafe fn bits(v: [__m128i; 4]) -> u64 {
    // SAFETY: SSE2 is part of the base architecture.
    let [a, b, c, d] = v.map(|v| unsafe { u64::from(_mm_movemask_epi8(v).cast_unsigned()) });
    a | b << 16 | c << 32 | d << 48
}

/// # Safety
/// None beyond SSE2, the base of x86-64.
#[inline(always)]
unsafe fn splat(byte: u8) -> __m128i {
    // SAFETY: SSE2 is part of the base architecture.
    unsafe { _mm_set1_epi8(byte.cast_signed()) }
}
