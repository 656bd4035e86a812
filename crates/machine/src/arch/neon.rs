//! Sixteen bytes of NEON, the base of AArch64.

use std::arch::aarch64::{
    uint8x16_t, vaddv_u8, vandq_u8, vceqq_u8, vcltq_u8, vdupq_n_u8, vget_high_u8, vget_low_u8,
    vld1q_u8,
};

use crate::vector::Vector;

/// A 16-byte register.
#[derive(Clone, Copy, Debug)]
pub struct Neon(uint8x16_t);

/// The bit each byte contributes to its half of the mask.
const WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

// SAFETY: only NEON, which every AArch64 this project targets has; `load` reads exactly BYTES.
unsafe impl Vector for Neon {
    const BYTES: usize = 16;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller vouches for sixteen readable bytes.
        Neon(unsafe { vld1q_u8(from) })
    }

    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        // SAFETY: NEON is part of the base architecture.
        Neon(unsafe { vdupq_n_u8(byte) })
    }

    #[inline(always)]
    unsafe fn equal(self, other: Self) -> u64 {
        // SAFETY: NEON is part of the base architecture.
        unsafe { gather(vceqq_u8(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn below<const BOUND: u8>(self) -> u64 {
        // SAFETY: NEON is part of the base architecture.
        unsafe { gather(vcltq_u8(self.0, vdupq_n_u8(BOUND))) }
    }
}

/// Bit i for byte i of `chosen`, whose bytes are all ones or all zeros. NEON has no movemask: keep
/// one weight per chosen byte and add each half up.
///
/// # Safety
/// None beyond NEON, the base of AArch64.
#[inline(always)]
unsafe fn gather(chosen: uint8x16_t) -> u64 {
    // SAFETY: NEON is part of the base architecture; WEIGHTS has sixteen bytes.
    let (low, high) = unsafe {
        let bits = vandq_u8(chosen, vld1q_u8(WEIGHTS.as_ptr()));
        (vaddv_u8(vget_low_u8(bits)), vaddv_u8(vget_high_u8(bits)))
    };
    u64::from(low) | u64::from(high) << 8
}
