//! Finding numbers with registers of sixteen bytes: SSE2 and NEON.
//!
//! As AVX2 finds them, in two halves; a separator of at most sixteen bytes is compared in one.

use super::find::{Finder, find_numbers_over};
use crate::alike::{CURSORS, Cursor};
use crate::block::Block;
use crate::template::{Separator, Template};

/// What a level does with sixteen bytes at a time.
///
/// # Safety
/// An implementor's methods read no more than they say and may use instructions of its level.
unsafe trait Sixteen {
    /// A bit for each of 32 bytes that is no digit.
    ///
    /// # Safety
    /// 32 bytes from `from` on are readable.
    unsafe fn others(from: *const u8) -> u32;

    /// Whether sixteen bytes differ from `expected` where `mask` has ones.
    ///
    /// # Safety
    /// 16 bytes are readable at each.
    unsafe fn differ(from: *const u8, expected: *const u8, mask: *const u8) -> bool;
}

// SAFETY: a separator has 32 bytes and as many of mask.
unsafe impl<S: Sixteen> Finder for S {
    #[inline(always)]
    unsafe fn others(from: *const u8) -> u32 {
        // SAFETY: the caller vouches for the bytes and the level.
        unsafe { <S as Sixteen>::others(from) }
    }

    #[inline(always)]
    unsafe fn is_at(separator: &Separator, from: *const u8) -> bool {
        let (expected, mask) = (separator.bytes.as_ptr(), separator.mask.as_ptr());
        // SAFETY: as above.
        unsafe {
            !S::differ(from, expected, mask)
                && (separator.len <= 16 || !S::differ(from.add(16), expected.add(16), mask.add(16)))
        }
    }
}

/// See [`super::find_numbers`], at the level of this architecture that has sixteen bytes.
pub(crate) fn find_numbers(block: &Block, template: &Template, cursors: &mut [Cursor; CURSORS]) {
    // SAFETY: the level is part of the base architecture.
    unsafe { find_numbers_over::<Base>(block, template, cursors) }
}

#[cfg(target_arch = "aarch64")]
use neon::Neon as Base;
#[cfg(target_arch = "x86_64")]
use sse2::Sse2 as Base;

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::*;

    use super::Sixteen;

    pub(super) struct Sse2;

    // SAFETY: only SSE2, which every x86-64 has.
    unsafe impl Sixteen for Sse2 {
        #[inline(always)]
        unsafe fn others(from: *const u8) -> u32 {
            // SAFETY: the caller vouches for 32 bytes.
            unsafe {
                let half = |from: *const u8| {
                    let bytes = _mm_loadu_si128(from.cast());
                    let digits = _mm_xor_si128(bytes, _mm_set1_epi8(b'0'.cast_signed()));
                    // 10 and more reach 0x80, whose top bit the mask takes.
                    let beyond = _mm_adds_epu8(digits, _mm_set1_epi8(0x76));
                    _mm_movemask_epi8(beyond).cast_unsigned()
                };
                half(from) | half(from.add(16)) << 16
            }
        }

        #[inline(always)]
        unsafe fn differ(from: *const u8, expected: *const u8, mask: *const u8) -> bool {
            // SAFETY: the caller vouches for sixteen bytes at each.
            unsafe {
                let load = |from: *const u8| _mm_loadu_si128(from.cast());
                let differences = _mm_xor_si128(load(from), load(expected));
                let differences = _mm_and_si128(differences, load(mask));
                _mm_movemask_epi8(_mm_cmpeq_epi8(differences, _mm_setzero_si128())) != 0xffff
            }
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use std::arch::aarch64::*;

    use super::Sixteen;

    pub(super) struct Neon;

    /// The bit each byte contributes to a mask of eight.
    static WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

    // SAFETY: only NEON, which every AArch64 this project targets has.
    unsafe impl Sixteen for Neon {
        #[inline(always)]
        unsafe fn others(from: *const u8) -> u32 {
            // SAFETY: the caller vouches for 32 bytes; WEIGHTS has sixteen.
            unsafe {
                let weights = vld1q_u8(WEIGHTS.as_ptr());
                let half = |from: *const u8| {
                    let digits = vsubq_u8(vld1q_u8(from), vdupq_n_u8(b'0'));
                    vandq_u8(vcgtq_u8(digits, vdupq_n_u8(9)), weights)
                };
                // Neighbours are added until each byte has the bits of eight.
                let sums = vpaddq_u8(half(from), half(from.add(16)));
                let sums = vpaddq_u8(sums, sums);
                vgetq_lane_u32::<0>(vreinterpretq_u32_u8(vpaddq_u8(sums, sums)))
            }
        }

        #[inline(always)]
        unsafe fn differ(from: *const u8, expected: *const u8, mask: *const u8) -> bool {
            // SAFETY: the caller vouches for sixteen bytes at each.
            unsafe {
                let differences = veorq_u8(vld1q_u8(from), vld1q_u8(expected));
                let differences = vandq_u8(differences, vld1q_u8(mask));
                vmaxvq_u32(vreinterpretq_u32_u8(differences)) != 0
            }
        }
    }
}
