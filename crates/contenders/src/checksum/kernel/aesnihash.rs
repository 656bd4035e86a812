//! `AesNiHash` on the AES instructions of x86-64 and AArch64, generic over their round.
//!
//! The lanes are independent, so eight rounds are in flight at a time. The original reads before
//! the start of short input; this one copies it instead.

use super::super::plain_aesnihash::Keys;

/// Whether this processor has the instructions.
pub(crate) fn is_available() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("aes");
    #[cfg(target_arch = "aarch64")]
    return std::arch::is_aarch64_feature_detected!("aes");
    #[allow(unreachable_code)] // other architectures
    false
}

/// The hash; see [`plain_hash`](super::super::plain_aesnihash::plain_hash) for its definition.
///
/// # Panics
/// On a processor without AES instructions.
pub(crate) fn hash(keys: &Keys, seed: u64, bytes: &[u8]) -> u64 {
    assert!(is_available(), "no AES instructions");
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: the instructions were just detected.
    return unsafe { arch::hash(keys, seed, bytes) };
    #[allow(unreachable_code)] // other architectures: the assertion fails first
    super::super::plain_aesnihash::plain_hash(keys, seed, bytes)
}

#[cfg(target_arch = "x86_64")]
mod arch {
    use std::arch::x86_64::{
        __m128i, _mm_aesenc_si128, _mm_cvtsi128_si64, _mm_loadu_si128, _mm_set_epi64x,
        _mm_xor_si128,
    };

    use super::Keys;

    type Lane = __m128i;

    #[inline(always)]
    fn load(block: &[u8; 16]) -> Lane {
        // SAFETY: sixteen readable bytes at any alignment; SSE2 is part of x86-64.
        unsafe { _mm_loadu_si128(block.as_ptr().cast()) }
    }

    #[inline(always)]
    fn pair(low: u64, high: u64) -> Lane {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_set_epi64x(high.cast_signed(), low.cast_signed()) }
    }

    #[inline(always)]
    fn xor(a: Lane, b: Lane) -> Lane {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_xor_si128(a, b) }
    }

    #[inline]
    #[target_feature(enable = "aes")]
    fn round(state: Lane, key: Lane) -> Lane {
        _mm_aesenc_si128(state, key)
    }

    #[inline(always)]
    fn low(lane: Lane) -> u64 {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_cvtsi128_si64(lane).cast_unsigned() }
    }

    super::lanes! { "aes" }
}

#[cfg(target_arch = "aarch64")]
mod arch {
    use std::arch::aarch64::{
        uint8x16_t, vaeseq_u8, vaesmcq_u8, vcombine_u64, vcreate_u64, vdupq_n_u8, veorq_u8,
        vgetq_lane_u64, vld1q_u8, vreinterpretq_u8_u64, vreinterpretq_u64_u8,
    };

    use super::Keys;

    type Lane = uint8x16_t;

    #[inline(always)]
    fn load(block: &[u8; 16]) -> Lane {
        // SAFETY: sixteen readable bytes; NEON is part of AArch64.
        unsafe { vld1q_u8(block.as_ptr()) }
    }

    #[inline(always)]
    fn pair(low: u64, high: u64) -> Lane {
        // SAFETY: NEON is part of AArch64.
        unsafe { vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high))) }
    }

    #[inline(always)]
    fn xor(a: Lane, b: Lane) -> Lane {
        // SAFETY: NEON is part of AArch64.
        unsafe { veorq_u8(a, b) }
    }

    /// AESE adds the key before the substitution, so the key of this round is zero and the one to
    /// add afterwards follows by itself.
    #[inline]
    #[target_feature(enable = "aes")]
    fn round(state: Lane, key: Lane) -> Lane {
        veorq_u8(vaesmcq_u8(vaeseq_u8(state, vdupq_n_u8(0))), key)
    }

    #[inline(always)]
    fn low(lane: Lane) -> u64 {
        // SAFETY: NEON is part of AArch64.
        unsafe { vgetq_lane_u64::<0>(vreinterpretq_u64_u8(lane)) }
    }

    super::lanes! { "aes" }
}

/// The hash over `Lane`, `load`, `pair`, `xor`, `round` and `low` of the module it is placed in: a
/// macro because a function with a target feature cannot be generic over functions that need it
/// and still have them inlined.
macro_rules! lanes {
    ($feature:literal) => {
        #[target_feature(enable = $feature)]
        pub(super) fn hash(keys: &Keys, seed: u64, bytes: &[u8]) -> u64 {
            let length = bytes.len();
            if length == 0 {
                return seed;
            }
            let words = u64::from(length as u16) * 0x0001_0001_0001_0001;
            let x0 = xor(pair(seed, words), load(&keys.0[0]));
            let x0 = round(x0, x0);
            match length {
                1..=16 => {
                    let mut block = [0; 16];
                    block[..length].copy_from_slice(bytes);
                    let h = round(load(&block), x0);
                    low(again(again(h)))
                }
                17..=32 => ends::<2, 1>(keys, x0, bytes),
                33..=64 => ends::<4, 2>(keys, x0, bytes),
                65..=128 => ends::<8, 4>(keys, x0, bytes),
                _ => longer(keys, x0, bytes),
            }
        }

        #[inline]
        #[target_feature(enable = $feature)]
        fn again(h: Lane) -> Lane {
            round(h, h)
        }

        /// The block at `at`, which the callers keep within the bytes.
        #[inline(always)]
        fn block(bytes: &[u8], at: usize) -> Lane {
            let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<16>()) else {
                unreachable!("a block beyond the end")
            };
            load(block)
        }

        #[inline]
        #[target_feature(enable = $feature)]
        fn starts<const N: usize>(keys: &Keys, x0: Lane, bytes: &[u8]) -> [Lane; N] {
            let last = block(bytes, bytes.len() - 16);
            let mut starts = [x0; N];
            for lane in 1..N {
                starts[lane] = again(xor(last, load(&keys.0[lane])));
            }
            starts
        }

        /// N lanes, HALF of them from each end.
        #[inline]
        #[target_feature(enable = $feature)]
        fn ends<const N: usize, const HALF: usize>(keys: &Keys, x0: Lane, bytes: &[u8]) -> u64 {
            let starts = starts::<N>(keys, x0, bytes);
            let mut folded = pair(0, 0);
            for lane in 0..N {
                let at = if lane < HALF { 16 * lane } else { bytes.len() - 16 * (N - lane) };
                let block = block(bytes, at);
                let h = if N <= 4 {
                    round(block, starts[lane])
                } else {
                    again(xor(block, starts[lane]))
                };
                folded = xor(folded, again(again(h)));
            }
            low(folded)
        }

        #[inline]
        #[target_feature(enable = $feature)]
        fn longer(keys: &Keys, x0: Lane, bytes: &[u8]) -> u64 {
            let mut h = starts::<8>(keys, x0, bytes);
            for lane in 0..8 {
                h[lane] = xor(h[lane], block(bytes, bytes.len() - 16 * (8 - lane)));
            }
            let (chunks, _) = bytes[..bytes.len() - 1].as_chunks::<128>();
            for chunk in chunks {
                let (blocks, _) = chunk.as_chunks::<16>();
                for lane in 0..8 {
                    h[lane] = round(again(h[lane]), load(&blocks[lane]));
                }
            }
            let mut folded = pair(0, 0);
            for lane in 0..8 {
                folded = xor(folded, again(again(h[lane])));
            }
            low(folded)
        }
    };
}
use lanes;

#[cfg(test)]
mod tests {
    use super::super::super::plain_aesnihash::plain_hash;
    use super::*;

    #[test]
    fn every_length_and_offset_agrees_with_the_definition() {
        fathom_machine::needs!("AES instructions", is_available());
        let keys = Keys::of_seed(4);
        let bytes = crate::mix::random(6, 700);
        for length in 0..=512 {
            for offset in [0, 1, 7, 16] {
                let bytes = &bytes[offset..offset + length];
                for seed in [0, u64::MAX] {
                    let expected = plain_hash(&keys, seed, bytes);
                    assert_eq!(hash(&keys, seed, bytes), expected, "{length} from {offset}");
                }
            }
        }
    }
}
