//! Two registers of AVX2, and carry-less multiplication for parities.

use std::arch::x86_64::*;

use super::{SPACES, TWO_CONTINUATIONS, UTF8, Wide};

#[derive(Clone, Copy)]
pub(in super::super) struct Avx2([__m256i; 2]);

// SAFETY: only what `Level::Avx2` has; `load` reads 64 bytes.
unsafe impl Wide for Avx2 {
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller vouches for 64 readable bytes.
        unsafe { Avx2([_mm256_loadu_si256(from.cast()), _mm256_loadu_si256(from.add(32).cast())]) }
    }

    #[inline(always)]
    unsafe fn less(self, byte: u8) -> Self {
        // SAFETY: the caller vouches for the level; so in all that follow.
        Avx2(self.0.map(|v| unsafe { _mm256_sub_epi8(v, splat(byte)) }))
    }

    #[inline(always)]
    unsafe fn with(self, byte: u8) -> Self {
        // SAFETY: as above.
        Avx2(self.0.map(|v| unsafe { _mm256_or_si256(v, splat(byte)) }))
    }

    #[inline(always)]
    unsafe fn equal(self, byte: u8) -> u64 {
        // SAFETY: as above.
        unsafe { bits(self.0.map(|v| _mm256_cmpeq_epi8(v, splat(byte)))) }
    }

    #[inline(always)]
    unsafe fn at_most(self, byte: u8) -> u64 {
        // SAFETY: as above.
        unsafe { bits(self.0.map(|v| _mm256_cmpeq_epi8(_mm256_min_epu8(v, splat(byte)), v))) }
    }

    #[inline(always)]
    unsafe fn spaces(self) -> u64 {
        // A byte above 0x7f looks up zero.
        // SAFETY: as above.
        unsafe {
            bits(self.0.map(|v| _mm256_cmpeq_epi8(v, _mm256_shuffle_epi8(table(&SPACES), v))))
        }
    }

    #[inline(always)]
    unsafe fn highs(self) -> u64 {
        // SAFETY: as above.
        unsafe { bits(self.0) }
    }

    #[inline(always)]
    unsafe fn parities(bits: u64) -> u64 {
        // SAFETY: as above. Times all ones without carries: bit i is the sum of bits 0 to i.
        unsafe {
            let bits = _mm_set_epi64x(0, bits.cast_signed());
            _mm_cvtsi128_si64(_mm_clmulepi64_si128::<0>(bits, _mm_set1_epi8(-1))).cast_unsigned()
        }
    }

    #[inline(always)]
    unsafe fn is_utf8(from: *const u8, before: u32) -> bool {
        // SAFETY: the caller vouches for 64 readable bytes and the level.
        unsafe {
            let Avx2([first, second]) = Avx2::load(from);
            let last = before.cast_signed();
            let before = _mm256_setr_epi32(0, 0, 0, 0, 0, 0, 0, last);
            let faults = _mm256_or_si256(faults(first, before), faults(second, first));
            _mm256_testz_si256(faults, faults) == 1
        }
    }
}

/// The top bit of each byte.
///
/// # Safety
/// The level is available.
#[inline(always)]
unsafe fn bits(v: [__m256i; 2]) -> u64 {
    // SAFETY: the caller vouches for the level.
    let [low, high] = v.map(|v| unsafe { u64::from(_mm256_movemask_epi8(v).cast_unsigned()) });
    low | high << 32
}

/// # Safety
/// The level is available.
#[inline(always)]
unsafe fn splat(byte: u8) -> __m256i {
    // SAFETY: the caller vouches for the level.
    unsafe { _mm256_set1_epi8(byte.cast_signed()) }
}

/// # Safety
/// The level is available.
#[inline(always)]
unsafe fn table(bytes: &[u8; 16]) -> __m256i {
    // SAFETY: sixteen bytes are there; the caller vouches for the level.
    unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes.as_ptr().cast())) }
}

/// Bytes of `here` that do not go on as UTF-8 after the ones before them.
///
/// # Safety
/// The level is available.
#[inline(always)]
unsafe fn faults(here: __m256i, before: __m256i) -> __m256i {
    // SAFETY: the caller vouches for the level.
    unsafe {
        // The upper half of `before` and the lower half of `here`: shifting in bytes is by halves.
        let middle = _mm256_permute2x128_si256::<0x21>(before, here);
        let one = _mm256_alignr_epi8::<15>(here, middle);
        let two = _mm256_alignr_epi8::<14>(here, middle);
        let three = _mm256_alignr_epi8::<13>(here, middle);
        let half = splat(0x0f);
        let high = |v| _mm256_and_si256(_mm256_srli_epi16::<4>(v), half);
        let pair = _mm256_and_si256(
            _mm256_and_si256(
                _mm256_shuffle_epi8(table(&UTF8.first_high), high(one)),
                _mm256_shuffle_epi8(table(&UTF8.first_low), _mm256_and_si256(one, half)),
            ),
            _mm256_shuffle_epi8(table(&UTF8.second_high), high(here)),
        );
        // The top bit where a lead of three stands two before, or a lead of four three before.
        let third = _mm256_subs_epu8(two, splat(0xe0 - 0x80));
        let fourth = _mm256_subs_epu8(three, splat(0xf0 - 0x80));
        let expected = _mm256_and_si256(_mm256_or_si256(third, fourth), splat(TWO_CONTINUATIONS));
        _mm256_xor_si256(pair, expected)
    }
}
