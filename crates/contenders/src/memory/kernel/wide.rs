//! A register as these loops need it: loaded, stored, filled with a byte, summed.
//!
//! Stores are fences for the compiler, which would otherwise see what a loop does and call the C
//! library's `memmove` or `memset` instead; loads of eight bytes too, or it would join them to wider
//! ones. A fence is no instruction.

use std::sync::atomic::{Ordering, compiler_fence};

/// A register of [`Wide::BYTES`] bytes.
///
/// # Safety
/// An implementor touches exactly `BYTES` bytes and uses only instructions of its level, which whoever
/// names the type guarantees to be available.
pub(super) unsafe trait Wide: Copy {
    /// Its width: 8, 16 or 32.
    const BYTES: usize;

    /// # Safety
    /// `BYTES` bytes are readable.
    unsafe fn load(from: *const u8) -> Self;

    /// # Safety
    /// `BYTES` bytes are writable.
    unsafe fn store(self, to: *mut u8);

    /// `byte` everywhere.
    ///
    /// # Safety
    /// The level is available.
    unsafe fn splat(byte: u8) -> Self;

    /// The sums of the 64-bit words.
    ///
    /// # Safety
    /// The level is available.
    unsafe fn plus(self, other: Self) -> Self;

    /// The sum of its words.
    ///
    /// # Safety
    /// The level is available.
    unsafe fn total(self) -> u64;
}

// SAFETY: base instructions; eight bytes.
unsafe impl Wide for u64 {
    const BYTES: usize = 8;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> u64 {
        compiler_fence(Ordering::SeqCst);
        // SAFETY: the caller's eight bytes.
        unsafe { from.cast::<u64>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        compiler_fence(Ordering::SeqCst);
        // SAFETY: the caller's eight bytes.
        unsafe { to.cast::<u64>().write_unaligned(self) }
    }

    #[inline(always)]
    unsafe fn splat(byte: u8) -> u64 {
        u64::from(byte) * 0x0101_0101_0101_0101
    }

    #[inline(always)]
    unsafe fn plus(self, other: u64) -> u64 {
        self.wrapping_add(other)
    }

    #[inline(always)]
    unsafe fn total(self) -> u64 {
        self
    }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_add_epi64, _mm_loadu_si128, _mm_set1_epi8, _mm_storeu_si128,
        _mm256_add_epi64, _mm256_loadu_si256, _mm256_set1_epi8, _mm256_storeu_si256,
    };

    use super::{Ordering, Wide, compiler_fence};

    // SAFETY: SSE2, which every x86-64 has; sixteen bytes.
    unsafe impl Wide for __m128i {
        const BYTES: usize = 16;

        #[inline(always)]
        unsafe fn load(from: *const u8) -> __m128i {
            // SAFETY: the caller's sixteen bytes.
            unsafe { _mm_loadu_si128(from.cast()) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut u8) {
            compiler_fence(Ordering::SeqCst);
            // SAFETY: the caller's sixteen bytes.
            unsafe { _mm_storeu_si128(to.cast(), self) }
        }

        #[inline(always)]
        unsafe fn splat(byte: u8) -> __m128i {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { _mm_set1_epi8(byte.cast_signed()) }
        }

        #[inline(always)]
        unsafe fn plus(self, other: __m128i) -> __m128i {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { _mm_add_epi64(self, other) }
        }

        #[inline(always)]
        unsafe fn total(self) -> u64 {
            let mut words = [0_u64; 2];
            // SAFETY: sixteen bytes.
            unsafe { self.store(words.as_mut_ptr().cast()) };
            words[0].wrapping_add(words[1])
        }
    }

    // SAFETY: AVX2, which whoever names the type vouches for; thirty-two bytes.
    unsafe impl Wide for __m256i {
        const BYTES: usize = 32;

        #[inline(always)]
        unsafe fn load(from: *const u8) -> __m256i {
            // SAFETY: the caller's thirty-two bytes and AVX2.
            unsafe { _mm256_loadu_si256(from.cast()) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut u8) {
            compiler_fence(Ordering::SeqCst);
            // SAFETY: the caller's thirty-two bytes and AVX2.
            unsafe { _mm256_storeu_si256(to.cast(), self) }
        }

        #[inline(always)]
        unsafe fn splat(byte: u8) -> __m256i {
            // SAFETY: the caller vouches for AVX2.
            unsafe { _mm256_set1_epi8(byte.cast_signed()) }
        }

        #[inline(always)]
        unsafe fn plus(self, other: __m256i) -> __m256i {
            // SAFETY: the caller vouches for AVX2.
            unsafe { _mm256_add_epi64(self, other) }
        }

        #[inline(always)]
        unsafe fn total(self) -> u64 {
            let mut words = [0_u64; 4];
            // SAFETY: thirty-two bytes.
            unsafe { self.store(words.as_mut_ptr().cast()) };
            words.into_iter().fold(0, u64::wrapping_add)
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use std::arch::aarch64::{
        uint8x16_t, vaddq_u64, vdupq_n_u8, vld1q_u8, vreinterpretq_u8_u64, vreinterpretq_u64_u8,
        vst1q_u8,
    };

    use super::{Ordering, Wide, compiler_fence};

    // SAFETY: NEON, which every AArch64 of this project has; sixteen bytes.
    unsafe impl Wide for uint8x16_t {
        const BYTES: usize = 16;

        #[inline(always)]
        unsafe fn load(from: *const u8) -> uint8x16_t {
            // SAFETY: the caller's sixteen bytes.
            unsafe { vld1q_u8(from) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut u8) {
            compiler_fence(Ordering::SeqCst);
            // SAFETY: the caller's sixteen bytes.
            unsafe { vst1q_u8(to, self) }
        }

        #[inline(always)]
        unsafe fn splat(byte: u8) -> uint8x16_t {
            // SAFETY: NEON is part of AArch64.
            unsafe { vdupq_n_u8(byte) }
        }

        #[inline(always)]
        unsafe fn plus(self, other: uint8x16_t) -> uint8x16_t {
            // SAFETY: NEON is part of AArch64.
            unsafe {
                let (a, b) = (vreinterpretq_u64_u8(self), vreinterpretq_u64_u8(other));
                vreinterpretq_u8_u64(vaddq_u64(a, b))
            }
        }

        #[inline(always)]
        unsafe fn total(self) -> u64 {
            let mut words = [0_u64; 2];
            // SAFETY: sixteen bytes.
            unsafe { self.store(words.as_mut_ptr().cast()) };
            words[0].wrapping_add(words[1])
        }
    }
}
