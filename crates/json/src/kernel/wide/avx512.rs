//! One register of AVX-512, whose comparisons are masks: for processors of level AVX2 that have it.

use std::arch::x86_64::*;

use super::{Avx2, SPACES, TWO_CONTINUATIONS, UTF8, Wide};

#[derive(Clone, Copy)]
pub(in super::super) struct Avx512(__m512i);

impl Avx512 {
    /// Whether this processor has what the methods use.
    pub(in super::super) fn is_available() -> bool {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
    }
}

// SAFETY: only AVX-512 F and BW and what `Level::Avx2` has; `load` reads 64 bytes.
unsafe impl Wide for Avx512 {
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller vouches for 64 readable bytes.
        Avx512(unsafe { _mm512_loadu_si512(from.cast()) })
    }

    #[inline(always)]
    unsafe fn less(self, byte: u8) -> Self {
        // SAFETY: the caller vouches for the level; so in all that follow.
        Avx512(unsafe { _mm512_sub_epi8(self.0, splat(byte)) })
    }

    #[inline(always)]
    unsafe fn with(self, byte: u8) -> Self {
        // SAFETY: as above.
        Avx512(unsafe { _mm512_or_si512(self.0, splat(byte)) })
    }

    #[inline(always)]
    unsafe fn equal(self, byte: u8) -> u64 {
        // SAFETY: as above.
        unsafe { _mm512_cmpeq_epi8_mask(self.0, splat(byte)) }
    }

    #[inline(always)]
    unsafe fn at_most(self, byte: u8) -> u64 {
        // SAFETY: as above.
        unsafe { _mm512_cmple_epu8_mask(self.0, splat(byte)) }
    }

    #[inline(always)]
    unsafe fn spaces(self) -> u64 {
        // A byte above 0x7f looks up zero.
        // SAFETY: as above.
        unsafe { _mm512_cmpeq_epi8_mask(self.0, _mm512_shuffle_epi8(table(&SPACES), self.0)) }
    }

    #[inline(always)]
    unsafe fn highs(self) -> u64 {
        // SAFETY: as above.
        unsafe { _mm512_movepi8_mask(self.0) }
    }

    #[inline(always)]
    unsafe fn parities(bits: u64) -> u64 {
        // SAFETY: as above.
        unsafe { Avx2::parities(bits) }
    }

    #[inline(always)]
    unsafe fn is_utf8(from: *const u8, before: u32) -> bool {
        // As `Avx2` has it, with the last sixteen bytes before in each lane.
        // SAFETY: the caller vouches for 64 readable bytes and the level.
        unsafe {
            let Avx512(here) = Avx512::load(from);
            let last = before.cast_signed();
            let before = _mm512_broadcast_i32x4(_mm_setr_epi32(0, 0, 0, last));
            let middle = _mm512_alignr_epi64::<6>(here, before);
            let one = _mm512_alignr_epi8::<15>(here, middle);
            let two = _mm512_alignr_epi8::<14>(here, middle);
            let three = _mm512_alignr_epi8::<13>(here, middle);
            let half = splat(0x0f);
            let high = |v| _mm512_and_si512(_mm512_srli_epi16::<4>(v), half);
            let pair = _mm512_and_si512(
                _mm512_and_si512(
                    _mm512_shuffle_epi8(table(&UTF8.first_high), high(one)),
                    _mm512_shuffle_epi8(table(&UTF8.first_low), _mm512_and_si512(one, half)),
                ),
                _mm512_shuffle_epi8(table(&UTF8.second_high), high(here)),
            );
            let third = _mm512_subs_epu8(two, splat(0xe0 - 0x80));
            let fourth = _mm512_subs_epu8(three, splat(0xf0 - 0x80));
            let expected =
                _mm512_and_si512(_mm512_or_si512(third, fourth), splat(TWO_CONTINUATIONS));
            _mm512_cmpneq_epi8_mask(pair, expected) == 0
        }
    }
}

/// # Safety
/// The level is available.
#[inline(always)]
unsafe fn table(bytes: &[u8; 16]) -> __m512i {
    // SAFETY: sixteen bytes are there; the caller vouches for the level.
    unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(bytes.as_ptr().cast())) }
}

/// # Safety
/// The level is available.
#[inline(always)]
unsafe fn splat(byte: u8) -> __m512i {
    // SAFETY: the caller vouches for the level.
    unsafe { _mm512_set1_epi8(byte.cast_signed()) }
}
