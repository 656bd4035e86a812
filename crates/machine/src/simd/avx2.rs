//! Thirty-two bytes of AVX2, or four doubles with FMA.

use std::arch::x86_64::*;

use super::utf8::SPACES;
use super::{Doubles, Vector, operations, operations_on_bits};

// SAFETY: only what `Level::Avx2` has, which the caller of every method vouches for; 32 bytes.
unsafe impl Vector for __m256i {
    const LOOKS_UP: bool = true;
    /// The top bit of each byte.
    type Chosen = __m256i;
    type Doubles = __m256d;
    type Words = __m256i;
    type Longs = __m256i;

    operations! {
        splat(; byte: u8) -> __m256i = _mm256_set1_epi8(byte.cast_signed());
        last_four(; bytes: u32) -> __m256i =
            _mm256_setr_epi32(0, 0, 0, 0, 0, 0, 0, bytes.cast_signed());
        less(self, other) -> __m256i = _mm256_sub_epi8(self, other);
        over(self, other) -> __m256i = _mm256_subs_epu8(self, other);
        and(self, other) -> __m256i = _mm256_and_si256(self, other);
        or(self, other) -> __m256i = _mm256_or_si256(self, other);
        xor(self, other) -> __m256i = _mm256_xor_si256(self, other);
        upper(self) -> __m256i = _mm256_and_si256(_mm256_srli_epi16::<4>(self), Self::splat(0x0f));
        lookup(self; table: &[u8; 16]) -> __m256i = {
            let table = _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast()));
            _mm256_shuffle_epi8(table, self)
        };
        earlier(self, before) -> [__m256i; 3] = {
            // The upper half of `before` and the lower half of this: shifting in bytes is by halves.
            let middle = _mm256_permute2x128_si256::<0x21>(before, self);
            [
                _mm256_alignr_epi8::<15>(self, middle),
                _mm256_alignr_epi8::<14>(self, middle),
                _mm256_alignr_epi8::<13>(self, middle),
            ]
        };
        plus_words(self, other) -> __m256i = _mm256_add_epi64(self, other);
        is(self, other) -> __m256i = _mm256_cmpeq_epi8(self, other);
        is_at_most(self, other) -> __m256i = _mm256_cmpeq_epi8(_mm256_min_epu8(self, other), self);
        is_high(self) -> __m256i = self;
        // Less '0', 10 and more reach 0x80.
        is_no_digit(self) -> __m256i =
            _mm256_adds_epu8(self.xor(Self::splat(b'0')), Self::splat(0x76));
        // A byte above 0x7f looks up zero.
        is_space(self) -> __m256i = self.is(self.lookup(&SPACES));
        bits(; chosen: __m256i) -> u64 = u64::from(_mm256_movemask_epi8(chosen).cast_unsigned());
        differs(self, other, mask) -> bool = _mm256_testz_si256(self.xor(other), mask) == 0;
        // Times all ones without carries: bit i is the sum of bits 0 to i.
        parities(; bits: u64) -> u64 = {
            let bits = _mm_set_epi64x(0, bits.cast_signed());
            _mm_cvtsi128_si64(_mm_clmulepi64_si128::<0>(bits, _mm_set1_epi8(-1))).cast_unsigned()
        };
    }
}

// SAFETY: only AVX2 and FMA, which the caller of every method vouches for; four doubles.
unsafe impl Doubles for __m256d {
    operations! {
        splat(; value: f64) -> __m256d = _mm256_set1_pd(value);
        columns(; rows: *const f64) -> [__m256d; 4] = {
            let [a, b, c, d] = [0, 4, 8, 12].map(|at| _mm256_loadu_pd(rows.add(at)));
            let (ab02, ab13) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
            let (cd02, cd13) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
            [
                _mm256_permute2f128_pd::<0x20>(ab02, cd02),
                _mm256_permute2f128_pd::<0x20>(ab13, cd13),
                _mm256_permute2f128_pd::<0x31>(ab02, cd02),
                _mm256_permute2f128_pd::<0x31>(ab13, cd13),
            ]
        };
        sub(self, other) -> __m256d = _mm256_sub_pd(self, other);
        mul(self, other) -> __m256d = _mm256_mul_pd(self, other);
        mul_add(self, factor, summand) -> __m256d = _mm256_fmadd_pd(self, factor, summand);
        min(self, other) -> __m256d = _mm256_min_pd(self, other);
        abs(self) -> __m256d = _mm256_andnot_pd(_mm256_set1_pd(-0.0), self);
        sqrt(self) -> __m256d = _mm256_sqrt_pd(self);
        if_above(self, limit, then, other) -> __m256d =
            _mm256_blendv_pd(other, then, _mm256_cmp_pd::<_CMP_GT_OQ>(self, limit));
        beyond(self, limit) -> u32 =
            _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_NLE_UQ>(self, limit)).cast_unsigned();
    }
}

/// `Words` of one size, by the names of what differs: instructions, and the order of bytes.
macro_rules! words {
    ($word:ident: $set1:ident $low:ident $high:ident $order:expr, $add:ident $up:ident $down:ident) => {
        // SAFETY: only what `Level::Avx2` has, which the caller of every method vouches for; 32 bytes of words.
        unsafe impl super::Words<$word> for __m256i {
            operations_on_bits! {
                __m256i: _mm256_and_si256 _mm256_or_si256 _mm256_xor_si256 _mm256_andnot_si256 _mm256_set1_epi32(-1)
            }
            operations! {
                splat(; word: $word) -> __m256i = $set1(word.cast_signed());
                // Zipping is by halves.
                zip(self, other) -> [__m256i; 2] = {
                    let (low, high) = ($low(self, other), $high(self, other));
                    [
                        _mm256_permute2x128_si256::<0x20>(low, high),
                        _mm256_permute2x128_si256::<0x31>(low, high),
                    ]
                };
                swapped(self) -> __m256i =
                    _mm256_shuffle_epi8(self, _mm256_broadcastsi128_si256($order));
                plus(self, other) -> __m256i = $add(self, other);
                left(self; bits: u32) -> __m256i = {
                    let up = $up(self, _mm_cvtsi32_si128(bits.cast_signed()));
                    let rest = $word::BITS.cast_signed() - bits.cast_signed();
                    _mm256_or_si256(up, $down(self, _mm_cvtsi32_si128(rest)))
                };
                down(self; bits: u32) -> __m256i =
                    $down(self, _mm_cvtsi32_si128(bits.cast_signed()));
            }
        }
    };
}
words!(u32: _mm256_set1_epi32 _mm256_unpacklo_epi32 _mm256_unpackhi_epi32
    _mm_set_epi64x(0x0c0d_0e0f_0809_0a0b, 0x0405_0607_0001_0203),
    _mm256_add_epi32 _mm256_sll_epi32 _mm256_srl_epi32);
words!(u64: _mm256_set1_epi64x _mm256_unpacklo_epi64 _mm256_unpackhi_epi64
    _mm_set_epi64x(0x0809_0a0b_0c0d_0e0f, 0x0001_0203_0405_0607),
    _mm256_add_epi64 _mm256_sll_epi64 _mm256_srl_epi64);
