//! Four registers of NEON.

use std::arch::aarch64::*;

use super::{TWO_CONTINUATIONS, UTF8, Wide};

#[derive(Clone, Copy)]
pub(in super::super) struct Neon([uint8x16_t; 4]);

/// The bit each byte contributes to a mask of eight.
static WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

// SAFETY: only NEON, which every AArch64 this project targets has; `load` reads 64 bytes.
unsafe impl Wide for Neon {
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller vouches for 64 readable bytes.
        Neon([0, 16, 32, 48].map(|at| unsafe { vld1q_u8(from.add(at)) }))
    }

    #[inline(always)]
    unsafe fn less(self, byte: u8) -> Self {
        // SAFETY: NEON is part of the base architecture; so in all that follow.
        Neon(self.0.map(|v| unsafe { vsubq_u8(v, vdupq_n_u8(byte)) }))
    }

    #[inline(always)]
    unsafe fn with(self, byte: u8) -> Self {
        // SAFETY: as above.
        Neon(self.0.map(|v| unsafe { vorrq_u8(v, vdupq_n_u8(byte)) }))
    }

    #[inline(always)]
    unsafe fn equal(self, byte: u8) -> u64 {
        // SAFETY: as above.
        unsafe { bits(self.0.map(|v| vceqq_u8(v, vdupq_n_u8(byte)))) }
    }

    #[inline(always)]
    unsafe fn at_most(self, byte: u8) -> u64 {
        // SAFETY: as above.
        unsafe { bits(self.0.map(|v| vcleq_u8(v, vdupq_n_u8(byte)))) }
    }

    #[inline(always)]
    unsafe fn spaces(self) -> u64 {
        // SAFETY: as above.
        unsafe {
            bits(self.0.map(|v| {
                let is = |byte| vceqq_u8(v, vdupq_n_u8(byte));
                vorrq_u8(vorrq_u8(is(b' '), is(b'\t')), vorrq_u8(is(b'\n'), is(b'\r')))
            }))
        }
    }

    #[inline(always)]
    unsafe fn highs(self) -> u64 {
        // SAFETY: as above.
        unsafe { bits(self.0.map(|v| vcgeq_u8(v, vdupq_n_u8(0x80)))) }
    }

    #[inline(always)]
    unsafe fn is_utf8(from: *const u8, before: u32) -> bool {
        // SAFETY: the caller vouches for 64 readable bytes and the level.
        unsafe {
            let Neon([a, b, c, d]) = Neon::load(from);
            let zeros = vreinterpretq_u32_u8(vdupq_n_u8(0));
            let before = vreinterpretq_u8_u32(vsetq_lane_u32::<3>(before, zeros));
            let first = vorrq_u8(faults(a, before), faults(b, a));
            let second = vorrq_u8(faults(c, b), faults(d, c));
            vmaxvq_u8(vorrq_u8(first, second)) == 0
        }
    }
}

/// A bit for each byte, all ones or all zeros. NEON has no movemask: a byte keeps its weight, and
/// neighbours are added until each byte has the bits of eight.
///
/// # Safety
/// None beyond NEON, the base of AArch64.
#[inline(always)]
unsafe fn bits(v: [uint8x16_t; 4]) -> u64 {
    // SAFETY: NEON is part of the base architecture; WEIGHTS has sixteen bytes.
    unsafe {
        let weights = vld1q_u8(WEIGHTS.as_ptr());
        let [a, b, c, d] = v.map(|v| vandq_u8(v, weights));
        let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
    }
}

/// Bytes of `here` that do not go on as UTF-8 after the ones before them.
///
/// # Safety
/// None beyond NEON, the base of AArch64.
#[inline(always)]
unsafe fn faults(here: uint8x16_t, before: uint8x16_t) -> uint8x16_t {
    // SAFETY: NEON is part of the base architecture; the tables have sixteen bytes.
    unsafe {
        let one = vextq_u8::<15>(before, here);
        let two = vextq_u8::<14>(before, here);
        let three = vextq_u8::<13>(before, here);
        let table = |bytes: &[u8; 16]| vld1q_u8(bytes.as_ptr());
        let pair = vandq_u8(
            vandq_u8(
                vqtbl1q_u8(table(&UTF8.first_high), vshrq_n_u8::<4>(one)),
                vqtbl1q_u8(table(&UTF8.first_low), vandq_u8(one, vdupq_n_u8(0x0f))),
            ),
            vqtbl1q_u8(table(&UTF8.second_high), vshrq_n_u8::<4>(here)),
        );
        // The top bit where a lead of three stands two before, or a lead of four three before.
        let third = vqsubq_u8(two, vdupq_n_u8(0xe0 - 0x80));
        let fourth = vqsubq_u8(three, vdupq_n_u8(0xf0 - 0x80));
        veorq_u8(pair, vandq_u8(vorrq_u8(third, fourth), vdupq_n_u8(TWO_CONTINUATIONS)))
    }
}
