//! `Hash32` with its words dealt to L lanes.
//!
//! Word number p (from 0, of N) adds once to s1 and N - p times to s2. Deal the words so that word p
//! goes to lane p mod L as its element number k = p div L, with N = K L. Lane l keeps
//!
//! ```text
//! a[l] = sum over k of w[k L + l]             (one addition per word)
//! b[l] = sum over k of (K - k) w[k L + l]     (adds a[l] after each word)
//! ```
//!
//! and since N - p = L (K - k) - l, at the end s1 = sum of a[l], s2 = sum of L b[l] - l a[l]. All of
//! it modulo 2^32. Written as loops over arrays of L words, which the compiler turns into the
//! registers of whatever level the function is compiled for. Tried: L = 8, 16, 32, 64, 128. With AVX2
//! 32 and 64 are the same (32 KiB in 0.21 us), 16 and 128 take twice as long; with SSE2 32 is best
//! (0.45 us) and 64, which no longer fits in sixteen registers, takes 1.05 us.

use fathom_machine::level::{Form, Here, Level};

use super::super::reference::hash32;

const LANES: usize = 32;

/// The sum at a level. The compiler makes vectors of the arrays; for AVX-512 it was not asked.
pub(crate) fn form(level: Level) -> Form<fn(&[u8]) -> u32> {
    match level.here() {
        Here::Scalar => Form { level: Level::Scalar, run: hash32 },
        #[cfg(target_arch = "x86_64")]
        Here::Sse2 => Form { level: Level::Sse2, run: baseline },
        #[cfg(target_arch = "x86_64")]
        Here::Avx2 | Here::Avx512 => Form { level: Level::Avx2, run: avx2 },
        #[cfg(target_arch = "aarch64")]
        Here::Neon => Form { level: Level::Neon, run: baseline },
    }
}

/// For the registers every processor of the architecture has.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn baseline(bytes: &[u8]) -> u32 {
    lanes(bytes)
}

#[cfg(target_arch = "x86_64")]
fn avx2(bytes: &[u8]) -> u32 {
    #[target_feature(enable = "avx2")]
    fn with_avx2(bytes: &[u8]) -> u32 {
        lanes(bytes)
    }
    // SAFETY: a form's level is available.
    unsafe { with_avx2(bytes) }
}

#[inline(always)]
fn lanes(bytes: &[u8]) -> u32 {
    let (blocks, rest) = bytes.as_chunks::<{ 4 * LANES }>();
    let (mut a, mut b) = ([0_u32; LANES], [0_u32; LANES]);
    for block in blocks {
        let (words, _) = block.as_chunks::<4>();
        for lane in 0..LANES {
            a[lane] = a[lane].wrapping_add(u32::from_le_bytes(words[lane]));
            b[lane] = b[lane].wrapping_add(a[lane]);
        }
    }
    let (mut s1, mut s2) = (0_u32, 0_u32);
    if !blocks.is_empty() {
        for lane in 0..LANES {
            s1 = s1.wrapping_add(a[lane]);
            let weighted = b[lane].wrapping_mul(LANES as u32);
            s2 = s2.wrapping_add(weighted.wrapping_sub(a[lane].wrapping_mul(lane as u32)));
        }
    }
    let (words, tail) = rest.as_chunks::<4>();
    for word in words {
        s1 = s1.wrapping_add(u32::from_le_bytes(*word));
        s2 = s2.wrapping_add(s1);
    }
    let mut last = [0; 4];
    last[..tail.len()].copy_from_slice(tail);
    s1 = s1.wrapping_add(u32::from_le_bytes(last));
    s1 ^ (s2.wrapping_add(s1) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_and_offset_agrees_with_the_definition() {
        let bytes = crate::mix::random(3, 2100);
        for length in (0..1100).chain([2047, 2048, 2049]) {
            for offset in [0, 1, 3, 33] {
                let bytes = &bytes[offset..offset + length];
                let expected = hash32(bytes);
                for level in Level::available() {
                    let found = (form(level).run)(bytes);
                    assert_eq!(found, expected, "{level}, {length} bytes from {offset}");
                }
            }
        }
    }
}
