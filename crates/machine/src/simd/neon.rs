//! Sixteen bytes, or two doubles, of NEON, the base of AArch64.

use std::arch::aarch64::*;

use super::{Doubles, Vector, operations};

/// The bit each byte contributes to its half of the mask.
static WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

// SAFETY: only NEON, which every AArch64 this project targets has; sixteen bytes.
unsafe impl Vector for uint8x16_t {
    const BYTES: usize = 16;
    const LOOKS_UP: bool = true;
    /// Bytes all ones or all zeros.
    type Chosen = uint8x16_t;
    type Doubles = float64x2_t;
    type Words = uint32x4_t;
    type Longs = uint64x2_t;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> uint8x16_t {
        // SAFETY: the caller vouches for sixteen readable bytes.
        unsafe { vld1q_u8(from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller vouches for sixteen writable bytes.
        unsafe { vst1q_u8(to, self) }
    }

    #[inline(always)]
    unsafe fn splat(byte: u8) -> uint8x16_t {
        // SAFETY: NEON is part of the base architecture; so in all that follow.
        unsafe { vdupq_n_u8(byte) }
    }

    #[inline(always)]
    unsafe fn last_four(bytes: u32) -> uint8x16_t {
        // SAFETY: as above.
        unsafe { vreinterpretq_u8_u32(vsetq_lane_u32::<3>(bytes, vdupq_n_u32(0))) }
    }

    #[inline(always)]
    unsafe fn lookup(self, table: &[u8; 16]) -> uint8x16_t {
        // SAFETY: as above; the table has sixteen bytes.
        unsafe { vqtbl1q_u8(vld1q_u8(table.as_ptr()), self) }
    }

    #[inline(always)]
    unsafe fn earlier(self, before: uint8x16_t) -> [uint8x16_t; 3] {
        // SAFETY: as above.
        unsafe {
            [
                vextq_u8::<15>(before, self),
                vextq_u8::<14>(before, self),
                vextq_u8::<13>(before, self),
            ]
        }
    }

    /// NEON has no movemask: one weight is kept per chosen byte, and each half added up.
    #[inline(always)]
    unsafe fn bits(chosen: uint8x16_t) -> u64 {
        // SAFETY: as above; WEIGHTS has sixteen bytes.
        let (low, high) = unsafe {
            let bits = vandq_u8(chosen, vld1q_u8(WEIGHTS.as_ptr()));
            (vaddv_u8(vget_low_u8(bits)), vaddv_u8(vget_high_u8(bits)))
        };
        u64::from(low) | u64::from(high) << 8
    }

    /// Dealt out: register k has bytes k, 4 + k, 8 + k and so on, which is how four answers for
    /// neighbours meet in one byte of a mask.
    #[inline(always)]
    unsafe fn load_64(from: *const u8) -> [uint8x16_t; 8] {
        // SAFETY: the caller vouches for 64 readable bytes.
        let uint8x16x4_t(a, b, c, d) = unsafe { vld4q_u8(from) };
        [a, b, c, d, a, b, c, d]
    }

    /// Shifting right and inserting gathers the four answers of a byte's neighbours above its middle,
    /// and then below it.
    ///
    /// ```text
    /// byte i   d c b a a a a a  ─►  d c b a d c b a   (of the bytes 4i + 3 to 4i)
    /// ```
    #[inline(always)]
    unsafe fn bits_64([a, b, c, d, ..]: [uint8x16_t; 8]) -> u64 {
        // SAFETY: as above.
        unsafe {
            let four = vsriq_n_u8::<2>(vsriq_n_u8::<1>(d, c), vsriq_n_u8::<1>(b, a));
            let twice = vreinterpretq_u16_u8(vsriq_n_u8::<4>(four, four));
            vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(twice)))
        }
    }

    operations! {
        less(self, other) -> uint8x16_t = vsubq_u8(self, other);
        over(self, other) -> uint8x16_t = vqsubq_u8(self, other);
        and(self, other) -> uint8x16_t = vandq_u8(self, other);
        or(self, other) -> uint8x16_t = vorrq_u8(self, other);
        xor(self, other) -> uint8x16_t = veorq_u8(self, other);
        upper(self) -> uint8x16_t = vshrq_n_u8::<4>(self);
        plus_words(self, other) -> uint8x16_t =
            vreinterpretq_u8_u64(vaddq_u64(vreinterpretq_u64_u8(self), vreinterpretq_u64_u8(other)));
        is(self, other) -> uint8x16_t = vceqq_u8(self, other);
        is_at_most(self, other) -> uint8x16_t = vcleq_u8(self, other);
        is_high(self) -> uint8x16_t = vcgeq_u8(self, Self::splat(0x80));
        is_no_digit(self) -> uint8x16_t = vcgtq_u8(self.less(Self::splat(b'0')), Self::splat(9));
        is_space(self) -> uint8x16_t = {
            let lines = self.is(Self::splat(b'\n')).or(self.is(Self::splat(b'\r')));
            lines.or(self.is(Self::splat(b' '))).or(self.is(Self::splat(b'\t')))
        };
        differs(self, other, mask) -> bool =
            vmaxvq_u32(vreinterpretq_u32_u8(self.xor(other).and(mask))) != 0;
    }
}

// SAFETY: only NEON, which every AArch64 this project targets has; two doubles.
unsafe impl Doubles for float64x2_t {
    const COUNT: usize = 2;

    #[inline(always)]
    unsafe fn splat(value: f64) -> float64x2_t {
        // SAFETY: NEON is part of the base architecture.
        unsafe { vdupq_n_f64(value) }
    }

    #[inline(always)]
    unsafe fn columns(rows: *const f64) -> [float64x2_t; 4] {
        // SAFETY: the caller vouches for eight doubles.
        unsafe {
            let [a, b, c, d] = [0, 2, 4, 6].map(|at| vld1q_f64(rows.add(at)));
            [vtrn1q_f64(a, c), vtrn2q_f64(a, c), vtrn1q_f64(b, d), vtrn2q_f64(b, d)]
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: the caller vouches for two doubles.
        unsafe { vst1q_f64(to, self) }
    }

    operations! {
        sub(self, other) -> float64x2_t = vsubq_f64(self, other);
        mul(self, other) -> float64x2_t = vmulq_f64(self, other);
        mul_add(self, factor, summand) -> float64x2_t = vfmaq_f64(summand, self, factor);
        // Not vminq: of two zeros the second one is taken, as at the other levels.
        min(self, other) -> float64x2_t = vbslq_f64(vcltq_f64(self, other), self, other);
        abs(self) -> float64x2_t = vabsq_f64(self);
        sqrt(self) -> float64x2_t = vsqrtq_f64(self);
        if_above(self, limit, then, other) -> float64x2_t =
            vbslq_f64(vcgtq_f64(self, limit), then, other);
        beyond(self, limit) -> u32 = {
            let is_at_most = vcleq_f64(self, limit);
            let (low, high) = (vgetq_lane_u64::<0>(is_at_most), vgetq_lane_u64::<1>(is_at_most));
            u32::from(low == 0) | u32::from(high == 0) << 1
        };
    }
}

// SAFETY: only NEON, which every AArch64 this project targets has; four words.
unsafe impl super::Words<u32> for uint32x4_t {
    operations! {
        splat(; word: u32) -> uint32x4_t = vdupq_n_u32(word);
        zip(self, other) -> [uint32x4_t; 2] = [vzip1q_u32(self, other), vzip2q_u32(self, other)];
        swapped(self) -> uint32x4_t =
            vreinterpretq_u32_u8(vrev32q_u8(vreinterpretq_u8_u32(self)));
        plus(self, other) -> uint32x4_t = vaddq_u32(self, other);
        and(self, other) -> uint32x4_t = vandq_u32(self, other);
        xor(self, other) -> uint32x4_t = veorq_u32(self, other);
        without(self, other) -> uint32x4_t = vbicq_u32(self, other);
        or_not(self, other) -> uint32x4_t = vornq_u32(self, other);
        // Shifting left by less than nothing is shifting right.
        left(self; bits: u32) -> uint32x4_t = {
            let bits = bits.cast_signed();
            let up = vshlq_u32(self, vdupq_n_s32(bits));
            vorrq_u32(up, vshlq_u32(self, vdupq_n_s32(bits - 32)))
        };
        down(self; bits: u32) -> uint32x4_t = vshlq_u32(self, vdupq_n_s32(-bits.cast_signed()));
        choose(self, yes, no) -> uint32x4_t = vbslq_u32(self, yes, no);
    }
}

// SAFETY: only NEON, which every AArch64 this project targets has; two words.
unsafe impl super::Words<u64> for uint64x2_t {
    operations! {
        splat(; word: u64) -> uint64x2_t = vdupq_n_u64(word);
        zip(self, other) -> [uint64x2_t; 2] = [vzip1q_u64(self, other), vzip2q_u64(self, other)];
        swapped(self) -> uint64x2_t =
            vreinterpretq_u64_u8(vrev64q_u8(vreinterpretq_u8_u64(self)));
        plus(self, other) -> uint64x2_t = vaddq_u64(self, other);
        and(self, other) -> uint64x2_t = vandq_u64(self, other);
        xor(self, other) -> uint64x2_t = veorq_u64(self, other);
        without(self, other) -> uint64x2_t = vbicq_u64(self, other);
        or_not(self, other) -> uint64x2_t = vornq_u64(self, other);
        // Shifting left by less than nothing is shifting right.
        left(self; bits: u32) -> uint64x2_t = {
            let bits = i64::from(bits);
            let up = vshlq_u64(self, vdupq_n_s64(bits));
            vorrq_u64(up, vshlq_u64(self, vdupq_n_s64(bits - 64)))
        };
        down(self; bits: u32) -> uint64x2_t = vshlq_u64(self, vdupq_n_s64(-i64::from(bits)));
        choose(self, yes, no) -> uint64x2_t = vbslq_u64(self, yes, no);
    }
}
