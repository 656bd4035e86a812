//! Doubles side by side: as many operations as the distance needs, per level.
//!
//! Each operation rounds as IEEE 754 says, so that levels with a fused multiply-add compute the same
//! bits; nothing here approximates.

/// A register of doubles.
///
/// # Safety
/// An implementor's methods may use instructions of its level: whoever names the type guarantees
/// that the level is available.
pub(crate) unsafe trait Lanes: Copy {
    /// Doubles in the register.
    const COUNT: usize;

    /// # Safety
    /// The level is available; as for every method.
    unsafe fn splat(value: f64) -> Self;

    /// `COUNT` rows of four doubles, as four columns.
    ///
    /// # Safety
    /// 4 · `COUNT` doubles from `rows` on are readable.
    unsafe fn columns(rows: *const f64) -> [Self; 4];

    /// # Safety
    /// `COUNT` doubles from `to` on are writable.
    unsafe fn store(self, to: *mut f64);

    /// # Safety
    /// The level is available.
    unsafe fn sub(self, other: Self) -> Self;

    /// # Safety
    /// The level is available.
    unsafe fn mul(self, other: Self) -> Self;

    /// `self` · `factor` + `summand`, rounded once; by SSE2, which has no such instruction, twice.
    ///
    /// # Safety
    /// The level is available.
    unsafe fn mul_add(self, factor: Self, summand: Self) -> Self;

    /// The smaller one; neither is NaN.
    ///
    /// # Safety
    /// The level is available.
    unsafe fn min(self, other: Self) -> Self;

    /// # Safety
    /// The level is available.
    unsafe fn abs(self) -> Self;

    /// # Safety
    /// The level is available.
    unsafe fn sqrt(self) -> Self;

    /// Per lane: `then` where `self` > `limit`, otherwise `other`.
    ///
    /// # Safety
    /// The level is available.
    unsafe fn if_above(self, limit: Self, then: Self, other: Self) -> Self;

    /// Bit i is set unless lane i of `self` is at most that of `limit`.
    ///
    /// # Safety
    /// The level is available.
    unsafe fn beyond(self, limit: Self) -> u32;
}

// SAFETY: no instruction beyond the base set; pointers are used as promised.
unsafe impl Lanes for f64 {
    const COUNT: usize = 1;

    #[inline(always)]
    unsafe fn splat(value: f64) -> f64 {
        value
    }

    #[inline(always)]
    unsafe fn columns(rows: *const f64) -> [f64; 4] {
        // SAFETY: the caller vouches for four doubles.
        unsafe { rows.cast::<[f64; 4]>().read() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: the caller vouches for one double.
        unsafe { to.write(self) }
    }

    #[inline(always)]
    unsafe fn sub(self, other: f64) -> f64 {
        self - other
    }

    #[inline(always)]
    unsafe fn mul(self, other: f64) -> f64 {
        self * other
    }

    #[inline(always)]
    unsafe fn mul_add(self, factor: f64, summand: f64) -> f64 {
        f64::mul_add(self, factor, summand)
    }

    #[inline(always)]
    unsafe fn min(self, other: f64) -> f64 {
        if self < other { self } else { other }
    }

    #[inline(always)]
    unsafe fn abs(self) -> f64 {
        f64::abs(self)
    }

    #[inline(always)]
    unsafe fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }

    #[inline(always)]
    unsafe fn if_above(self, limit: f64, then: f64, other: f64) -> f64 {
        if self > limit { then } else { other }
    }

    #[inline(always)]
    unsafe fn beyond(self, limit: f64) -> u32 {
        u32::from(!matches!(self.partial_cmp(&limit), Some(o) if o.is_le()))
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Four;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256d, _CMP_GT_OQ, _CMP_NLE_UQ, _mm256_andnot_pd, _mm256_blendv_pd, _mm256_cmp_pd,
        _mm256_fmadd_pd, _mm256_loadu_pd, _mm256_min_pd, _mm256_movemask_pd, _mm256_mul_pd,
        _mm256_permute2f128_pd, _mm256_set1_pd, _mm256_sqrt_pd, _mm256_storeu_pd, _mm256_sub_pd,
        _mm256_unpackhi_pd, _mm256_unpacklo_pd,
    };

    use super::Lanes;

    /// Four doubles of AVX2.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Four(__m256d);

    /// One intrinsic of AVX2 or FMA.
    macro_rules! lanes {
        ($call:expr) => {
            // SAFETY: whoever names `Four` vouches for AVX2 and FMA.
            Four(unsafe { $call })
        };
    }

    // SAFETY: only AVX2 and FMA, which the caller of every method vouches for.
    unsafe impl Lanes for Four {
        const COUNT: usize = 4;

        #[inline(always)]
        unsafe fn splat(value: f64) -> Four {
            lanes!(_mm256_set1_pd(value))
        }

        #[inline(always)]
        unsafe fn columns(rows: *const f64) -> [Four; 4] {
            // SAFETY: the caller vouches for sixteen doubles, and for AVX2.
            unsafe {
                let row = |i: usize| _mm256_loadu_pd(rows.add(4 * i));
                let (a, b, c, d) = (row(0), row(1), row(2), row(3));
                let (ab02, ab13) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
                let (cd02, cd13) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
                [
                    Four(_mm256_permute2f128_pd::<0x20>(ab02, cd02)),
                    Four(_mm256_permute2f128_pd::<0x20>(ab13, cd13)),
                    Four(_mm256_permute2f128_pd::<0x31>(ab02, cd02)),
                    Four(_mm256_permute2f128_pd::<0x31>(ab13, cd13)),
                ]
            }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f64) {
            // SAFETY: the caller vouches for four doubles.
            unsafe { _mm256_storeu_pd(to, self.0) }
        }

        #[inline(always)]
        unsafe fn sub(self, other: Four) -> Four {
            lanes!(_mm256_sub_pd(self.0, other.0))
        }

        #[inline(always)]
        unsafe fn mul(self, other: Four) -> Four {
            lanes!(_mm256_mul_pd(self.0, other.0))
        }

        #[inline(always)]
        unsafe fn mul_add(self, factor: Four, summand: Four) -> Four {
            lanes!(_mm256_fmadd_pd(self.0, factor.0, summand.0))
        }

        #[inline(always)]
        unsafe fn min(self, other: Four) -> Four {
            lanes!(_mm256_min_pd(self.0, other.0))
        }

        #[inline(always)]
        unsafe fn abs(self) -> Four {
            lanes!(_mm256_andnot_pd(_mm256_set1_pd(-0.0), self.0))
        }

        #[inline(always)]
        unsafe fn sqrt(self) -> Four {
            lanes!(_mm256_sqrt_pd(self.0))
        }

        #[inline(always)]
        unsafe fn if_above(self, limit: Four, then: Four, other: Four) -> Four {
            lanes!(_mm256_blendv_pd(other.0, then.0, _mm256_cmp_pd::<_CMP_GT_OQ>(self.0, limit.0)))
        }

        #[inline(always)]
        unsafe fn beyond(self, limit: Four) -> u32 {
            // SAFETY: whoever names `Four` vouches for AVX2.
            let mask = unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_NLE_UQ>(self.0, limit.0)) };
            mask.cast_unsigned()
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use sse2::Two;

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::*;

    use super::Lanes;

    /// Two doubles of SSE2.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Two(__m128d);

    /// One intrinsic of SSE2.
    macro_rules! lanes {
        ($call:expr) => {
            // SAFETY: SSE2 is part of the base architecture.
            Two(unsafe { $call })
        };
    }

    // SAFETY: only SSE2, which every x86-64 has.
    unsafe impl Lanes for Two {
        const COUNT: usize = 2;

        #[inline(always)]
        unsafe fn splat(value: f64) -> Two {
            lanes!(_mm_set1_pd(value))
        }

        #[inline(always)]
        unsafe fn columns(rows: *const f64) -> [Two; 4] {
            // SAFETY: the caller vouches for eight doubles.
            unsafe {
                let half = |i: usize| _mm_loadu_pd(rows.add(2 * i));
                let (a, b, c, d) = (half(0), half(1), half(2), half(3));
                [
                    Two(_mm_unpacklo_pd(a, c)),
                    Two(_mm_unpackhi_pd(a, c)),
                    Two(_mm_unpacklo_pd(b, d)),
                    Two(_mm_unpackhi_pd(b, d)),
                ]
            }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f64) {
            // SAFETY: the caller vouches for two doubles.
            unsafe { _mm_storeu_pd(to, self.0) }
        }

        #[inline(always)]
        unsafe fn sub(self, other: Two) -> Two {
            lanes!(_mm_sub_pd(self.0, other.0))
        }

        #[inline(always)]
        unsafe fn mul(self, other: Two) -> Two {
            lanes!(_mm_mul_pd(self.0, other.0))
        }

        #[inline(always)]
        unsafe fn mul_add(self, factor: Two, summand: Two) -> Two {
            lanes!(_mm_add_pd(_mm_mul_pd(self.0, factor.0), summand.0))
        }

        #[inline(always)]
        unsafe fn min(self, other: Two) -> Two {
            lanes!(_mm_min_pd(self.0, other.0))
        }

        #[inline(always)]
        unsafe fn abs(self) -> Two {
            lanes!(_mm_andnot_pd(_mm_set1_pd(-0.0), self.0))
        }

        #[inline(always)]
        unsafe fn sqrt(self) -> Two {
            lanes!(_mm_sqrt_pd(self.0))
        }

        #[inline(always)]
        unsafe fn if_above(self, limit: Two, then: Two, other: Two) -> Two {
            // SAFETY: SSE2 is part of the base architecture.
            unsafe {
                let is_above = _mm_cmpgt_pd(self.0, limit.0);
                let then = _mm_and_pd(is_above, then.0);
                Two(_mm_or_pd(then, _mm_andnot_pd(is_above, other.0)))
            }
        }

        #[inline(always)]
        unsafe fn beyond(self, limit: Two) -> u32 {
            // SAFETY: SSE2 is part of the base architecture.
            unsafe { _mm_movemask_pd(_mm_cmpnle_pd(self.0, limit.0)) }.cast_unsigned()
        }
    }
}

#[cfg(target_arch = "aarch64")]
pub(crate) use neon::Two;

#[cfg(target_arch = "aarch64")]
mod neon {
    use std::arch::aarch64::*;

    use super::Lanes;

    /// Two doubles of NEON.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Two(float64x2_t);

    /// One intrinsic of NEON.
    macro_rules! lanes {
        ($call:expr) => {
            // SAFETY: NEON is part of the base architecture.
            Two(unsafe { $call })
        };
    }

    // SAFETY: only NEON, which every AArch64 this project targets has.
    unsafe impl Lanes for Two {
        const COUNT: usize = 2;

        #[inline(always)]
        unsafe fn splat(value: f64) -> Two {
            lanes!(vdupq_n_f64(value))
        }

        #[inline(always)]
        unsafe fn columns(rows: *const f64) -> [Two; 4] {
            // SAFETY: the caller vouches for eight doubles.
            unsafe {
                let half = |i: usize| vld1q_f64(rows.add(2 * i));
                let (a, b, c, d) = (half(0), half(1), half(2), half(3));
                [
                    Two(vtrn1q_f64(a, c)),
                    Two(vtrn2q_f64(a, c)),
                    Two(vtrn1q_f64(b, d)),
                    Two(vtrn2q_f64(b, d)),
                ]
            }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f64) {
            // SAFETY: the caller vouches for two doubles.
            unsafe { vst1q_f64(to, self.0) }
        }

        #[inline(always)]
        unsafe fn sub(self, other: Two) -> Two {
            lanes!(vsubq_f64(self.0, other.0))
        }

        #[inline(always)]
        unsafe fn mul(self, other: Two) -> Two {
            lanes!(vmulq_f64(self.0, other.0))
        }

        #[inline(always)]
        unsafe fn mul_add(self, factor: Two, summand: Two) -> Two {
            lanes!(vfmaq_f64(summand.0, self.0, factor.0))
        }

        #[inline(always)]
        unsafe fn min(self, other: Two) -> Two {
            // Not vminq: of two zeros the second one is taken, as at the other levels.
            lanes!(vbslq_f64(vcltq_f64(self.0, other.0), self.0, other.0))
        }

        #[inline(always)]
        unsafe fn abs(self) -> Two {
            lanes!(vabsq_f64(self.0))
        }

        #[inline(always)]
        unsafe fn sqrt(self) -> Two {
            lanes!(vsqrtq_f64(self.0))
        }

        #[inline(always)]
        unsafe fn if_above(self, limit: Two, then: Two, other: Two) -> Two {
            lanes!(vbslq_f64(vcgtq_f64(self.0, limit.0), then.0, other.0))
        }

        #[inline(always)]
        unsafe fn beyond(self, limit: Two) -> u32 {
            // SAFETY: NEON is part of the base architecture.
            let (low, high) = unsafe {
                let is_at_most = vcleq_f64(self.0, limit.0);
                (vgetq_lane_u64::<0>(is_at_most), vgetq_lane_u64::<1>(is_at_most))
            };
            u32::from(low == 0) | u32::from(high == 0) << 1
        }
    }
}
