//! Sixteen bytes, or two doubles, of SSE2, the base of x86-64.

use std::arch::x86_64::*;

use super::{Doubles, Vector, operations, operations_on_bits};

// SAFETY: only SSE2, which every x86-64 has; sixteen bytes.
unsafe impl Vector for __m128i {
    const LOOKS_UP: bool = false;
    /// The top bit of each byte.
    type Chosen = __m128i;
    type Doubles = __m128d;
    type Words = __m128i;
    type Longs = __m128i;

    operations! {
        splat(; byte: u8) -> __m128i = _mm_set1_epi8(byte.cast_signed());
        last_four(; bytes: u32) -> __m128i = _mm_setr_epi32(0, 0, 0, bytes.cast_signed());
        less(self, other) -> __m128i = _mm_sub_epi8(self, other);
        over(self, other) -> __m128i = _mm_subs_epu8(self, other);
        and(self, other) -> __m128i = _mm_and_si128(self, other);
        or(self, other) -> __m128i = _mm_or_si128(self, other);
        xor(self, other) -> __m128i = _mm_xor_si128(self, other);
        upper(self) -> __m128i = _mm_and_si128(_mm_srli_epi16::<4>(self), Self::splat(0x0f));
        lookup(self; table: &[u8; 16]) -> __m128i = {
            let mut bytes = [0; 16];
            self.store(bytes.as_mut_ptr());
            Self::load(bytes.map(|index| table[usize::from(index & 15)]).as_ptr())
        };
        earlier(self, before) -> [__m128i; 3] = [
            _mm_or_si128(_mm_slli_si128::<1>(self), _mm_srli_si128::<15>(before)),
            _mm_or_si128(_mm_slli_si128::<2>(self), _mm_srli_si128::<14>(before)),
            _mm_or_si128(_mm_slli_si128::<3>(self), _mm_srli_si128::<13>(before)),
        ];
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
        bits(; chosen: __m128i) -> u64 = u64::from(_mm_movemask_epi8(chosen).cast_unsigned());
        differs(self, other, mask) -> bool =
            _mm_movemask_epi8(self.xor(other).and(mask).is(_mm_setzero_si128())) != 0xffff;
    }
}

// SAFETY: only SSE2, which every x86-64 has; two doubles.
unsafe impl Doubles for __m128d {
    operations! {
        splat(; value: f64) -> __m128d = _mm_set1_pd(value);
        columns(; rows: *const f64) -> [__m128d; 4] = {
            let [a, b, c, d] = [0, 2, 4, 6].map(|at| _mm_loadu_pd(rows.add(at)));
            [
                _mm_unpacklo_pd(a, c),
                _mm_unpackhi_pd(a, c),
                _mm_unpacklo_pd(b, d),
                _mm_unpackhi_pd(b, d),
            ]
        };
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

/// `Words` of one size, by the names of what differs: instructions, and the order of sixteen bits.
macro_rules! words {
    ($word:ident: $set1:ident $low:ident $high:ident $order:literal $add:ident $up:ident $down:ident) => {
        // SAFETY: only SSE2, which every x86-64 has; sixteen bytes of words.
        unsafe impl super::Words<$word> for __m128i {
            operations_on_bits! {
                __m128i: _mm_and_si128 _mm_or_si128 _mm_xor_si128 _mm_andnot_si128 _mm_set1_epi32(-1)
            }
            operations! {
                splat(; word: $word) -> __m128i = $set1(word.cast_signed());
                zip(self, other) -> [__m128i; 2] = [$low(self, other), $high(self, other)];
                // Bytes within each sixteen bits, then these.
                swapped(self) -> __m128i = {
                    let bytes = _mm_or_si128(_mm_srli_epi16::<8>(self), _mm_slli_epi16::<8>(self));
                    _mm_shufflehi_epi16::<$order>(_mm_shufflelo_epi16::<$order>(bytes))
                };
                plus(self, other) -> __m128i = $add(self, other);
                left(self; bits: u32) -> __m128i = {
                    let up = $up(self, _mm_cvtsi32_si128(bits.cast_signed()));
                    let rest = $word::BITS.cast_signed() - bits.cast_signed();
                    _mm_or_si128(up, $down(self, _mm_cvtsi32_si128(rest)))
                };
                down(self; bits: u32) -> __m128i =
                    $down(self, _mm_cvtsi32_si128(bits.cast_signed()));
            }
        }
    };
}
words!(u32: _mm_set1_epi32 _mm_unpacklo_epi32 _mm_unpackhi_epi32 0xb1 _mm_add_epi32 _mm_sll_epi32 _mm_srl_epi32);
words!(u64: _mm_set1_epi64x _mm_unpacklo_epi64 _mm_unpackhi_epi64 0x1b _mm_add_epi64 _mm_sll_epi64 _mm_srl_epi64);
