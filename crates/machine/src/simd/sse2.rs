//! Sixteen bytes, or two doubles, of SSE2, the base of x86-64.

use std::arch::x86_64::*;

use super::{Doubles, Vector, operations, operations_on_bits};

// SAFETY: only SSE2, which every x86-64 has; sixteen bytes.
unsafe impl Vector for __m128i {
    const BYTES: usize = 16;
    const LOOKS_UP: bool = false;
    /// The top bit of each byte.
    type Chosen = __m128i;
    type Doubles = __m128d;
    type Words = __m128i;
    type Longs = __m128i;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> __m128i {
        // SAFETY: the caller vouches for sixteen readable bytes.
        unsafe { _mm_loadu_si128(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller vouches for sixteen writable bytes.
        unsafe { _mm_storeu_si128(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn splat(byte: u8) -> __m128i {
        // SAFETY: SSE2 is part of the base architecture.
        unsafe { _mm_set1_epi8(byte.cast_signed()) }
    }

    #[inline(always)]
    unsafe fn last_four(bytes: u32) -> __m128i {
        // SAFETY: as above.
        unsafe { _mm_setr_epi32(0, 0, 0, bytes.cast_signed()) }
    }

    #[inline(always)]
    unsafe fn lookup(self, table: &[u8; 16]) -> __m128i {
        let mut bytes = [0; 16];
        // SAFETY: sixteen bytes.
        unsafe {
            self.store(bytes.as_mut_ptr());
            Self::load(bytes.map(|index| table[usize::from(index & 15)]).as_ptr())
        }
    }

    #[inline(always)]
    unsafe fn earlier(self, before: __m128i) -> [__m128i; 3] {
        // SAFETY: as above.
        unsafe {
            [
                _mm_or_si128(_mm_slli_si128::<1>(self), _mm_srli_si128::<15>(before)),
                _mm_or_si128(_mm_slli_si128::<2>(self), _mm_srli_si128::<14>(before)),
                _mm_or_si128(_mm_slli_si128::<3>(self), _mm_srli_si128::<13>(before)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn bits(chosen: __m128i) -> u64 {
        // SAFETY: as above.
        u64::from(unsafe { _mm_movemask_epi8(chosen) }.cast_unsigned())
    }

    operations! {
        less(self, other) -> __m128i = _mm_sub_epi8(self, other);
        over(self, other) -> __m128i = _mm_subs_epu8(self, other);
        and(self, other) -> __m128i = _mm_and_si128(self, other);
        or(self, other) -> __m128i = _mm_or_si128(self, other);
        xor(self, other) -> __m128i = _mm_xor_si128(self, other);
        upper(self) -> __m128i = _mm_and_si128(_mm_srli_epi16::<4>(self), Self::splat(0x0f));
        plus_words(self, other) -> __m128i = _mm_add_epi64(self, other);
        is(self, other) -> __m128i = _mm_cmpeq_epi8(self, other);
        is_at_most(self, other) -> __m128i = _mm_cmpeq_epi8(_mm_min_epu8(self, other), self);
        is_high(self) -> __m128i = self;
        // Less '0', 10 and more reach 0x80.
        is_no_digit(self) -> __m128i = _mm_adds_epu8(self.xor(Self::splat(b'0')), Self::splat(0x76));
        is_space(self) -> __m128i = {
            let lines = self.is(Self::splat(b'\n')).or(self.is(Self::splat(b'\r')));
            lines.or(self.is(Self::splat(b' '))).or(self.is(Self::splat(b'\t')))
        };
        differs(self, other, mask) -> bool =
            _mm_movemask_epi8(self.xor(other).and(mask).is(_mm_setzero_si128())) != 0xffff;
    }
}

// SAFETY: only SSE2, which every x86-64 has; two doubles.
unsafe impl Doubles for __m128d {
    const COUNT: usize = 2;

    #[inline(always)]
    unsafe fn splat(value: f64) -> __m128d {
        // SAFETY: SSE2 is part of the base architecture.
        unsafe { _mm_set1_pd(value) }
    }

    #[inline(always)]
    unsafe fn columns(rows: *const f64) -> [__m128d; 4] {
        // SAFETY: the caller vouches for eight doubles.
        unsafe {
            let [a, b, c, d] = [0, 2, 4, 6].map(|at| _mm_loadu_pd(rows.add(at)));
            [
                _mm_unpacklo_pd(a, c),
                _mm_unpackhi_pd(a, c),
                _mm_unpacklo_pd(b, d),
                _mm_unpackhi_pd(b, d),
            ]
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: the caller vouches for two doubles.
        unsafe { _mm_storeu_pd(to, self) }
    }

    operations! {
        sub(self, other) -> __m128d = _mm_sub_pd(self, other);
        mul(self, other) -> __m128d = _mm_mul_pd(self, other);
        mul_add(self, factor, summand) -> __m128d = _mm_add_pd(_mm_mul_pd(self, factor), summand);
        min(self, other) -> __m128d = _mm_min_pd(self, other);
        abs(self) -> __m128d = _mm_andnot_pd(_mm_set1_pd(-0.0), self);
        sqrt(self) -> __m128d = _mm_sqrt_pd(self);
        if_above(self, limit, then, other) -> __m128d = {
            let is_above = _mm_cmpgt_pd(self, limit);
            _mm_or_pd(_mm_and_pd(is_above, then), _mm_andnot_pd(is_above, other))
        };
        beyond(self, limit) -> u32 = _mm_movemask_pd(_mm_cmpnle_pd(self, limit)).cast_unsigned();
    }
}

// SAFETY: only SSE2, which every x86-64 has; four words.
unsafe impl super::Words<u32> for __m128i {
    operations_on_bits! {
        __m128i: _mm_and_si128 _mm_or_si128 _mm_xor_si128 _mm_andnot_si128 _mm_set1_epi32(-1)
    }
    operations! {
        splat(; word: u32) -> __m128i = _mm_set1_epi32(word.cast_signed());
        zip(self, other) -> [__m128i; 2] =
            [_mm_unpacklo_epi32(self, other), _mm_unpackhi_epi32(self, other)];
        // Bytes within each sixteen bits, then these.
        swapped(self) -> __m128i = {
            let bytes = _mm_or_si128(_mm_srli_epi16::<8>(self), _mm_slli_epi16::<8>(self));
            _mm_shufflehi_epi16::<0xb1>(_mm_shufflelo_epi16::<0xb1>(bytes))
        };
        plus(self, other) -> __m128i = _mm_add_epi32(self, other);
        left(self; bits: u32) -> __m128i = {
            let up = _mm_sll_epi32(self, _mm_cvtsi32_si128(bits.cast_signed()));
            _mm_or_si128(up, _mm_srl_epi32(self, _mm_cvtsi32_si128(32 - bits.cast_signed())))
        };
        down(self; bits: u32) -> __m128i =
            _mm_srl_epi32(self, _mm_cvtsi32_si128(bits.cast_signed()));
    }
}

// SAFETY: only SSE2, which every x86-64 has; two words.
unsafe impl super::Words<u64> for __m128i {
    operations_on_bits! {
        __m128i: _mm_and_si128 _mm_or_si128 _mm_xor_si128 _mm_andnot_si128 _mm_set1_epi32(-1)
    }
    operations! {
        splat(; word: u64) -> __m128i = _mm_set1_epi64x(word.cast_signed());
        zip(self, other) -> [__m128i; 2] =
            [_mm_unpacklo_epi64(self, other), _mm_unpackhi_epi64(self, other)];
        // Bytes within each sixteen bits, then these.
        swapped(self) -> __m128i = {
            let bytes = _mm_or_si128(_mm_srli_epi16::<8>(self), _mm_slli_epi16::<8>(self));
            _mm_shufflehi_epi16::<0x1b>(_mm_shufflelo_epi16::<0x1b>(bytes))
        };
        plus(self, other) -> __m128i = _mm_add_epi64(self, other);
        left(self; bits: u32) -> __m128i = {
            let up = _mm_sll_epi64(self, _mm_cvtsi32_si128(bits.cast_signed()));
            _mm_or_si128(up, _mm_srl_epi64(self, _mm_cvtsi32_si128(64 - bits.cast_signed())))
        };
        down(self; bits: u32) -> __m128i =
            _mm_srl_epi64(self, _mm_cvtsi32_si128(bits.cast_signed()));
    }
}
