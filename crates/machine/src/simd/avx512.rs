//! Sixty-four bytes, or eight doubles, of AVX-512, whose comparisons are masks.

use std::arch::x86_64::*;

use super::utf8::SPACES;
use super::{Avx2, Doubles, Vector, operations, operations_on_bits};

/// Each byte its own place.
static PLACES: [u8; 64] = {
    let (mut places, mut at) = ([0; 64], 0);
    while at < 64 {
        places[at] = at as u8;
        at += 1;
    }
    places
};

// SAFETY: only what `Level::Avx512` has, which the caller of every method vouches for; 64 bytes.
unsafe impl Vector for __m512i {
    const LOOKS_UP: bool = true;
    type Chosen = u64;
    type Doubles = __m512d;
    type Words = __m512i;
    type Longs = __m512i;

    #[inline(always)]
    unsafe fn write_positions<const FIRST: usize>(bits: u64, at: u32, mut into: *mut u32) {
        const { assert!(FIRST <= 8) };
        let found = bits.count_ones();
        // SAFETY: as above; the caller vouches for room. Eight are written, then sixteen at a time, of which the last may not
        // exist. The first eight cross a cache line half as often as sixteen.
        unsafe {
            let mut places = _mm512_maskz_compress_epi8(bits, Self::load(PLACES.as_ptr()));
            let some = _mm256_cvtepu8_epi32(_mm512_castsi512_si128(places));
            let some = _mm256_add_epi32(some, _mm256_set1_epi32(at.cast_signed()));
            _mm256_storeu_si256(into.cast(), some);
            places = _mm512_alignr_epi64::<1>(places, places);
            let mut written = 8;
            while written < found {
                into = into.add(if written == 8 { 8 } else { 16 });
                let some = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(places));
                let some = _mm512_add_epi32(some, _mm512_set1_epi32(at.cast_signed()));
                _mm512_storeu_si512(into.cast(), some);
                places = _mm512_alignr_epi64::<2>(places, places);
                written += 16;
            }
        }
    }

    operations! {
        splat(; byte: u8) -> __m512i = _mm512_set1_epi8(byte.cast_signed());
        last_four(; bytes: u32) -> __m512i = _mm512_maskz_set1_epi32(1 << 15, bytes.cast_signed());
        less(self, other) -> __m512i = _mm512_sub_epi8(self, other);
        over(self, other) -> __m512i = _mm512_subs_epu8(self, other);
        and(self, other) -> __m512i = _mm512_and_si512(self, other);
        or(self, other) -> __m512i = _mm512_or_si512(self, other);
        xor(self, other) -> __m512i = _mm512_xor_si512(self, other);
        upper(self) -> __m512i = _mm512_and_si512(_mm512_srli_epi16::<4>(self), Self::splat(0x0f));
        lookup(self; table: &[u8; 16]) -> __m512i = {
            let table = _mm512_broadcast_i32x4(_mm_loadu_si128(table.as_ptr().cast()));
            _mm512_shuffle_epi8(table, self)
        };
        earlier(self, before) -> [__m512i; 3] = {
            // Shifting in bytes is by quarters.
            let middle = _mm512_alignr_epi64::<6>(self, before);
            [
                _mm512_alignr_epi8::<15>(self, middle),
                _mm512_alignr_epi8::<14>(self, middle),
                _mm512_alignr_epi8::<13>(self, middle),
            ]
        };
        plus_words(self, other) -> __m512i = _mm512_add_epi64(self, other);
        is(self, other) -> u64 = _mm512_cmpeq_epi8_mask(self, other);
        is_at_most(self, other) -> u64 = _mm512_cmple_epu8_mask(self, other);
        is_high(self) -> u64 = _mm512_movepi8_mask(self);
        is_no_digit(self) -> u64 =
            _mm512_cmpgt_epu8_mask(self.less(Self::splat(b'0')), Self::splat(9));
        // A byte above 0x7f looks up zero.
        is_space(self) -> u64 = self.is(self.lookup(&SPACES));
        bits(; chosen: u64) -> u64 = chosen;
        differs(self, other, mask) -> bool = _mm512_test_epi8_mask(self.xor(other), mask) != 0;
        parities(; bits: u64) -> u64 = Avx2::parities(bits);
    }
}

// SAFETY: only AVX-512 F and DQ, which the caller of every method vouches for; eight doubles.
unsafe impl Doubles for __m512d {
    operations! {
        splat(; value: f64) -> __m512d = _mm512_set1_pd(value);
        columns(; rows: *const f64) -> [__m512d; 4] = {
            let [a, b, c, d] = [0, 8, 16, 24].map(|at| _mm512_loadu_pd(rows.add(at)));
            // Two rows a register: columns 0 and 1, or 2 and 3, of four rows; then one of eight.
            let even = |column: i64| {
                _mm512_setr_epi64(column, 4 + column, 8 + column, 12 + column, 0, 0, 0, 0)
            };
            let column = |column: i64| {
                let low = _mm512_permutex2var_pd(a, even(column), b);
                let high = _mm512_permutex2var_pd(c, even(column), d);
                _mm512_insertf64x4::<1>(low, _mm512_castpd512_pd256(high))
            };
            [column(0), column(1), column(2), column(3)]
        };
        sub(self, other) -> __m512d = _mm512_sub_pd(self, other);
        mul(self, other) -> __m512d = _mm512_mul_pd(self, other);
        mul_add(self, factor, summand) -> __m512d = _mm512_fmadd_pd(self, factor, summand);
        min(self, other) -> __m512d = _mm512_min_pd(self, other);
        abs(self) -> __m512d = _mm512_abs_pd(self);
        sqrt(self) -> __m512d = _mm512_sqrt_pd(self);
        if_above(self, limit, then, other) -> __m512d =
            _mm512_mask_blend_pd(_mm512_cmp_pd_mask::<_CMP_GT_OQ>(self, limit), other, then);
        beyond(self, limit) -> u32 = _mm512_cmp_pd_mask::<_CMP_NLE_UQ>(self, limit).into();
    }
}

// Truth tables for three bits: those of a, b and c are these, and an expression of them is its own.
const A: i32 = 0b1111_0000;
const B: i32 = 0b1100_1100;
const C: i32 = 0b1010_1010;
const PARITY: i32 = A ^ B ^ C;
const CHOOSE: i32 = A & B | !A & C;
const MAJORITY: i32 = A & B | A & C | B & C;
const XOR_WITHOUT: i32 = A ^ B & !C;
const XOR_OR_NOT: i32 = (A ^ (B | !C)) & 0xff;

/// `Words` of one size, by the names of what differs: instructions, and the order of words and bytes.
macro_rules! words {
    (
        $word:ident: $set1:ident $zip:ident $low:expr, $high:expr, $order:expr,
        $add:ident $left:ident $down:ident $logic:ident
    ) => {
        // SAFETY: only what `Level::Avx512` has, which the caller of every method vouches for; 64 bytes of words.
        unsafe impl super::Words<$word> for __m512i {
            operations_on_bits! {
                __m512i: _mm512_and_si512 _mm512_or_si512 _mm512_xor_si512 _mm512_andnot_si512 _mm512_set1_epi32(-1)
            }
            operations! {
                splat(; word: $word) -> __m512i = $set1(word.cast_signed());
                zip(self, other) -> [__m512i; 2] = [$zip(self, $low, other), $zip(self, $high, other)];
                swapped(self) -> __m512i = _mm512_shuffle_epi8(self, _mm512_broadcast_i32x4($order));
                plus(self, other) -> __m512i = $add(self, other);
                left(self; bits: u32) -> __m512i = $left(self, $set1($word::from(bits).cast_signed()));
                down(self; bits: u32) -> __m512i =
                    $down(self, _mm_cvtsi32_si128(bits.cast_signed()));
                parity(self, b, c) -> __m512i = $logic::<PARITY>(self, b, c);
                choose(self, yes, no) -> __m512i = $logic::<CHOOSE>(self, yes, no);
                majority(self, b, c) -> __m512i = $logic::<MAJORITY>(self, b, c);
                xor_without(self, b, c) -> __m512i = $logic::<XOR_WITHOUT>(self, b, c);
                xor_or_not(self, b, c) -> __m512i = $logic::<XOR_OR_NOT>(self, b, c);
            }
        }
    };
}
words!(u32: _mm512_set1_epi32 _mm512_permutex2var_epi32
    _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
    _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31),
    _mm_set_epi64x(0x0c0d_0e0f_0809_0a0b, 0x0405_0607_0001_0203),
    _mm512_add_epi32 _mm512_rolv_epi32 _mm512_srl_epi32 _mm512_ternarylogic_epi32);
words!(u64: _mm512_set1_epi64 _mm512_permutex2var_epi64
    _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11),
    _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15),
    _mm_set_epi64x(0x0809_0a0b_0c0d_0e0f, 0x0001_0203_0405_0607),
    _mm512_add_epi64 _mm512_rolv_epi64 _mm512_srl_epi64 _mm512_ternarylogic_epi64);
