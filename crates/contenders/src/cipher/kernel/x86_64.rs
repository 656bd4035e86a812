//! The operations of the modes with AES-NI, SSSE3 and the CRC instruction of SSE4.2.

use std::arch::x86_64::{
    __m128i, _mm_add_epi64, _mm_aesenc_si128, _mm_aesenclast_si128, _mm_crc32_u8, _mm_crc32_u32,
    _mm_crc32_u64, _mm_cvtsi128_si64, _mm_loadu_si128, _mm_set_epi64x, _mm_shuffle_epi8,
    _mm_storeu_si128, _mm_unpackhi_epi32, _mm_unpackhi_epi64, _mm_unpacklo_epi32, _mm_xor_si128,
};

type Lane = __m128i;

/// Defines `encrypted`: N registers at once through all rounds, `load` makes a register of a round key.
macro_rules! rounds {
    ($features:literal, $lane:ident, $load:ident, $xor:ident, $round:ident, $last:ident) => {
        #[inline]
        #[target_feature(enable = $features)]
        fn encrypted<const N: usize>(keys: &[[u8; 16]], mut blocks: [$lane; N]) -> [$lane; N] {
            let Some(((first, middle), last)) =
                keys.split_last().and_then(|(last, rest)| Some((rest.split_first()?, last)))
            else {
                return blocks;
            };
            let key = $load(first);
            for block in &mut blocks {
                *block = $xor(*block, key);
            }
            for key in middle {
                let key = $load(key);
                for block in &mut blocks {
                    *block = $round(*block, key);
                }
            }
            let key = $load(last);
            for block in &mut blocks {
                *block = $last(*block, key);
            }
            blocks
        }
    };
}
pub(super) use rounds;

#[inline(always)]
fn load(block: &[u8; 16]) -> Lane {
    // SAFETY: sixteen readable bytes at any alignment; SSE2 is part of x86-64.
    unsafe { _mm_loadu_si128(block.as_ptr().cast()) }
}

#[inline(always)]
fn store(block: &mut [u8; 16], lane: Lane) {
    // SAFETY: sixteen writable bytes at any alignment; SSE2 is part of x86-64.
    unsafe { _mm_storeu_si128(block.as_mut_ptr().cast(), lane) }
}

#[inline(always)]
fn xor(a: Lane, b: Lane) -> Lane {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_xor_si128(a, b) }
}

/// Adds to the low half, without a carry into the high one.
#[inline(always)]
fn add_low(lane: Lane, number: u64) -> Lane {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_add_epi64(lane, _mm_set_epi64x(0, number.cast_signed())) }
}

#[inline(always)]
fn halves(low: u64, high: u64) -> Lane {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_set_epi64x(high.cast_signed(), low.cast_signed()) }
}

/// The bytes in the order of `order`.
#[inline]
#[target_feature(enable = "aes,sse4.2,ssse3")]
fn shuffled(lane: Lane, order: Lane) -> Lane {
    _mm_shuffle_epi8(lane, order)
}

rounds! { "aes,sse4.2,ssse3", Lane, load, xor, _mm_aesenc_si128, _mm_aesenclast_si128 }

#[inline]
#[target_feature(enable = "aes,sse4.2,ssse3")]
fn crc_word(crc: u32, word: u32) -> u32 {
    _mm_crc32_u32(crc, word)
}

/// Both blocks into the four lanes, the words of `a` before those of `b`.
#[inline]
#[target_feature(enable = "aes,sse4.2,ssse3")]
fn crc_pair(lanes: &mut [u32; 4], a: Lane, b: Lane) {
    let (low, high) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
    for (at, pair) in [(0, low), (2, high)] {
        let first = _mm_cvtsi128_si64(pair).cast_unsigned();
        let second = _mm_cvtsi128_si64(_mm_unpackhi_epi64(pair, pair)).cast_unsigned();
        lanes[at] = _mm_crc32_u64(lanes[at].into(), first) as u32;
        lanes[at + 1] = _mm_crc32_u64(lanes[at + 1].into(), second) as u32;
    }
}

/// See the function of this name above. The compiler makes two stores of an intrinsic.
#[inline]
pub(super) fn put(block: &mut [u8; 16], number: u128) {
    let whole = halves(number as u64, (number >> 64) as u64);
    // SAFETY: sixteen writable bytes at any alignment; SSE2 is part of x86-64.
    unsafe {
        std::arch::asm!("movdqu [{to}], {whole}", to = in(reg) block, whole = in(xmm_reg) whole,
            options(nostack, preserves_flags));
    }
}

#[target_feature(enable = "sse4.2")]
pub(super) fn crc32c_of<const N: usize>(start: u32, bytes: &[u8; N]) -> u32 {
    crc32c(start, bytes)
}

/// CRC-32C with the usual inversions, one stream: for short texts.
#[inline]
#[target_feature(enable = "sse4.2")]
pub(super) fn crc32c(start: u32, bytes: &[u8]) -> u32 {
    let (words, tail) = bytes.as_chunks::<8>();
    let crc = words
        .iter()
        .fold(u64::from(!start), |crc, word| _mm_crc32_u64(crc, u64::from_le_bytes(*word)));
    !tail.iter().fold(crc as u32, |crc, &byte| _mm_crc32_u8(crc, byte))
}

super::modes::modes! { "aes,sse4.2,ssse3" }
