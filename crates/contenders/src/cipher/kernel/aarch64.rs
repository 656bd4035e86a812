//! The operations of the modes with the AES and CRC instructions of ARMv8.

use std::arch::aarch64::{
    __crc32cb, __crc32cd, __crc32cw, uint8x16_t, vaddq_u64, vaeseq_u8, vaesmcq_u8, vcombine_u64,
    vcreate_u64, veorq_u8, vgetq_lane_u64, vld1q_u8, vqtbl1q_u8, vreinterpretq_u8_u32,
    vreinterpretq_u8_u64, vreinterpretq_u32_u8, vreinterpretq_u64_u8, vst1q_u8, vzip1q_u32,
    vzip2q_u32,
};

type Lane = uint8x16_t;

#[inline(always)]
fn load(block: &[u8; 16]) -> Lane {
    // SAFETY: sixteen readable bytes; NEON is part of AArch64.
    unsafe { vld1q_u8(block.as_ptr()) }
}

#[inline(always)]
fn store(block: &mut [u8; 16], lane: Lane) {
    // SAFETY: sixteen writable bytes; NEON is part of AArch64.
    unsafe { vst1q_u8(block.as_mut_ptr(), lane) }
}

#[inline(always)]
fn xor(a: Lane, b: Lane) -> Lane {
    // SAFETY: NEON is part of AArch64.
    unsafe { veorq_u8(a, b) }
}

/// Adds to the low half, without a carry into the high one.
#[inline(always)]
fn add_low(lane: Lane, number: u64) -> Lane {
    // SAFETY: NEON is part of AArch64.
    unsafe {
        let number = vcombine_u64(vcreate_u64(number), vcreate_u64(0));
        vreinterpretq_u8_u64(vaddq_u64(vreinterpretq_u64_u8(lane), number))
    }
}

#[inline(always)]
fn halves(low: u64, high: u64) -> Lane {
    // SAFETY: NEON is part of AArch64.
    unsafe { vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high))) }
}

/// The bytes in the order of `order`.
#[inline]
#[target_feature(enable = "aes,crc")]
fn shuffled(lane: Lane, order: Lane) -> Lane {
    vqtbl1q_u8(lane, order)
}

/// N blocks at once through all rounds. AESE adds its key before the substitution, so the keys
/// stand one place earlier than on x86-64.
#[inline]
#[target_feature(enable = "aes,crc")]
fn encrypted<const N: usize>(keys: &[[u8; 16]], mut blocks: [Lane; N]) -> [Lane; N] {
    let Some(((last, before), middle)) = keys.split_last().and_then(|(last, rest)| {
        let (before, middle) = rest.split_last()?;
        Some(((last, before), middle))
    }) else {
        return blocks;
    };
    for key in middle {
        let key = load(key);
        for block in &mut blocks {
            *block = vaesmcq_u8(vaeseq_u8(*block, key));
        }
    }
    let (before, last) = (load(before), load(last));
    for block in &mut blocks {
        *block = xor(vaeseq_u8(*block, before), last);
    }
    blocks
}

#[inline]
#[target_feature(enable = "aes,crc")]
fn crc_word(crc: u32, word: u32) -> u32 {
    __crc32cw(crc, word)
}

/// Both blocks into the four lanes, the words of `a` before those of `b`.
#[inline]
#[target_feature(enable = "aes,crc")]
fn crc_pair(lanes: &mut [u32; 4], a: Lane, b: Lane) {
    let (a, b) = (vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b));
    let low = vreinterpretq_u64_u8(vreinterpretq_u8_u32(vzip1q_u32(a, b)));
    let high = vreinterpretq_u64_u8(vreinterpretq_u8_u32(vzip2q_u32(a, b)));
    for (at, pair) in [(0, low), (2, high)] {
        lanes[at] = __crc32cd(lanes[at], vgetq_lane_u64::<0>(pair));
        lanes[at + 1] = __crc32cd(lanes[at + 1], vgetq_lane_u64::<1>(pair));
    }
}

/// CRC-32C with the usual inversions, one stream: for short texts.
#[target_feature(enable = "crc")]
pub(super) fn crc32c(start: u32, bytes: &[u8]) -> u32 {
    let (words, tail) = bytes.as_chunks::<8>();
    let crc = words.iter().fold(!start, |crc, word| __crc32cd(crc, u64::from_le_bytes(*word)));
    !tail.iter().fold(crc, |crc, &byte| __crc32cb(crc, byte))
}

super::modes::modes! { "aes,crc" }
