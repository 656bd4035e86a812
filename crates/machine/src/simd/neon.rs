//! Sixteen bytes, or two doubles, of NEON, the base of AArch64.

use std::arch::aarch64::*;

use super::{Doubles, Vector, operations};

/// The bit each byte contributes to its half of the mask.
static WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

// SAFETY: only NEON, which every AArch64 this project targets has; sixteen bytes.
unsafe impl Vector for uint8x16_t {
    const LOOKS_UP: bool = true;
    /// Bytes all ones or all zeros.
    type Chosen = uint8x16_t;
    type Doubles = float64x2_t;
    type Words = uint32x4_t;
    type Longs = uint64x2_t;

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
        splat(; byte: u8) -> uint8x16_t = vdupq_n_u8(byte);
        last_four(; bytes: u32) -> uint8x16_t =
            vreinterpretq_u8_u32(vsetq_lane_u32::<3>(bytes, vdupq_n_u32(0)));
        less(self, other) -> uint8x16_t = vsubq_u8(self, other);
        over(self, other) -> uint8x16_t = vqsubq_u8(self, other);
        and(self, other) -> uint8x16_t = vandq_u8(self, other);
        or(self, other) -> uint8x16_t = vorrq_u8(self, other);
        xor(self, other) -> uint8x16_t = veorq_u8(self, other);
        upper(self) -> uint8x16_t = vshrq_n_u8::<4>(self);
        lookup(self; table: &[u8; 16]) -> uint8x16_t = vqtbl1q_u8(vld1q_u8(table.as_ptr()), self);
        earlier(self, before) -> [uint8x16_t; 3] =
            [vextq_u8::<15>(before, self), vextq_u8::<14>(before, self), vextq_u8::<13>(before, self)];
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
        // NEON has no movemask: one weight is kept per chosen byte, and each half added up.
        bits(; chosen: uint8x16_t) -> u64 = {
            let bits = vandq_u8(chosen, vld1q_u8(WEIGHTS.as_ptr()));
            let (low, high) = (vaddv_u8(vget_low_u8(bits)), vaddv_u8(vget_high_u8(bits)));
            u64::from(low) | u64::from(high) << 8
        };
        differs(self, other, mask) -> bool =
            vmaxvq_u32(vreinterpretq_u32_u8(self.xor(other).and(mask))) != 0;
    }
}

// SAFETY: only NEON, which every AArch64 this project targets has; two doubles.
unsafe impl Doubles for float64x2_t {
    operations! {
        splat(; value: f64) -> float64x2_t = vdupq_n_f64(value);
        columns(; rows: *const f64) -> [float64x2_t; 4] = {
            let [a, b, c, d] = [0, 2, 4, 6].map(|at| vld1q_f64(rows.add(at)));
            [vtrn1q_f64(a, c), vtrn2q_f64(a, c), vtrn1q_f64(b, d), vtrn2q_f64(b, d)]
        };
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

/// `Words` of one size, by the names of what differs.
macro_rules! words {
    (
        $word:ident $register:ident: $dup:ident $zip1:ident $zip2:ident $from:ident $reverse:ident $to:ident
        $add:ident $and:ident $xor:ident $bic:ident $orn:ident $or:ident $shift:ident $by:ident $choose:ident
    ) => {
        // SAFETY: only NEON, which every AArch64 this project targets has; sixteen bytes of words.
        unsafe impl super::Words<$word> for $register {
            operations! {
                splat(; word: $word) -> $register = $dup(word);
                zip(self, other) -> [$register; 2] = [$zip1(self, other), $zip2(self, other)];
                swapped(self) -> $register = $from($reverse($to(self)));
                plus(self, other) -> $register = $add(self, other);
                and(self, other) -> $register = $and(self, other);
                xor(self, other) -> $register = $xor(self, other);
                without(self, other) -> $register = $bic(self, other);
                or_not(self, other) -> $register = $orn(self, other);
                // Shifting left by less than nothing is shifting right.
                left(self; bits: u32) -> $register = {
                    let bits = $word::from(bits).cast_signed();
                    let up = $shift(self, $by(bits));
                    $or(up, $shift(self, $by(bits - $word::from($word::BITS).cast_signed())))
                };
                down(self; bits: u32) -> $register =
                    $shift(self, $by(-$word::from(bits).cast_signed()));
                choose(self, yes, no) -> $register = $choose(self, yes, no);
            }
        }
    };
}
words!(u32 uint32x4_t: vdupq_n_u32 vzip1q_u32 vzip2q_u32 vreinterpretq_u32_u8 vrev32q_u8 vreinterpretq_u8_u32
    vaddq_u32 vandq_u32 veorq_u32 vbicq_u32 vornq_u32 vorrq_u32 vshlq_u32 vdupq_n_s32 vbslq_u32);
words!(u64 uint64x2_t: vdupq_n_u64 vzip1q_u64 vzip2q_u64 vreinterpretq_u64_u8 vrev64q_u8 vreinterpretq_u8_u64
    vaddq_u64 vandq_u64 veorq_u64 vbicq_u64 vornq_u64 vorrq_u64 vshlq_u64 vdupq_n_s64 vbslq_u64);
