//! The kernel of the AVX2 level: eight values in one register, keys hashed by three AES rounds.
//!
//! A value is parsed from the four bytes before its newline, in one 32-bit lane (`last`: `b4 b3 b2
//! b1` in memory order, b1 next to the newline), and the two before those (`b6 b5` of `before`):
//!
//! ```text
//!             b6  b5  b4  b3  b2  b1
//!   d.d                ;   d   .   d
//!   dd.d           ;   d   d   .   d
//!   -d.d           ;   -   d   .   d
//!   -dd.d      ;   -   d   d   .   d
//! ```
//!
//! Tried and lost or tied: eight cursors that each search their own delimiter (1.15x slower); gathers
//! instead of eight loads (a tie on Xeons and Zen 3; on Zen 5 the whole loop takes 1.05x as long).

use std::arch::x86_64::*;

use fathom_machine::simd::Avx2 as Scan;

use super::drive::drive;
use super::fields::{self, Wanted};
use super::rows::{Parsed, Rows, Shapes};
use super::{BATCH, KEEP, Odd, Span};
use crate::chunk::Window;
use crate::line::DELIMITER;
use crate::table::{BIAS, COUNT_SHIFT, Seed, ShortEntry, ShortKey, Tables, Tenths};

/// The kernel at this level.
///
/// # Safety
/// The level is available.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,aes")]
pub(super) unsafe fn run<const SQUARES: bool>(
    span: &Span<'_>,
    tables: &mut Tables,
    odd: &mut Odd,
) -> u64 {
    // SAFETY: this function carries the features, and its caller vouches for them.
    unsafe { drive::<Avx2, SQUARES>(span, tables, odd) }
}

/// The kernel of delimited text at this level.
///
/// # Safety
/// The level is available.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,aes")]
pub(super) unsafe fn run_fields<const SQUARES: bool>(
    window: &Window<'_>,
    wanted: &Wanted<'_>,
    tables: &mut [&mut Tables],
    odd: &mut Odd,
) -> u64 {
    // SAFETY: this function carries the features, and its caller vouches for them.
    unsafe { fields::drive::<Avx2, SQUARES>(window, wanted, tables, odd) }
}

/// The hash of a stored key, for tables that place it anew.
pub(super) fn short_hash(key: &ShortKey, seed: &Seed) -> u64 {
    #[target_feature(enable = "avx2,aes")]
    unsafe fn inner(key: &ShortKey, seed: &Seed) -> u64 {
        // SAFETY: a stored key is sixteen bytes.
        unsafe { Avx2::hash(_mm_loadu_si128(key.as_ptr().cast()), seed) }
    }
    // SAFETY: tables get this function only with a kernel of this level, which was checked.
    unsafe { inner(key, seed) }
}

/// The same for long keys.
pub(super) fn long_hash(key: &[u8], seed: &Seed) -> u64 {
    #[target_feature(enable = "avx2,aes")]
    unsafe fn inner(key: &[u8], seed: &Seed) -> u64 {
        // SAFETY: all bytes of the slice are readable.
        unsafe { Avx2::hash_long(key.as_ptr(), key.len(), seed) }
    }
    assert!(key.len() >= 16);
    // SAFETY: as for short keys.
    unsafe { inner(key, seed) }
}

/// The same of three samples of a long key.
pub(super) fn samples_hash(key: &[u8], seed: &Seed) -> u64 {
    #[target_feature(enable = "avx2,aes")]
    unsafe fn inner(key: &[u8], seed: &Seed) -> u64 {
        // SAFETY: all bytes of the slice are readable.
        unsafe { Avx2::hash_samples(key.as_ptr(), key.len(), seed) }
    }
    assert!(key.len() >= 16);
    // SAFETY: as for short keys.
    unsafe { inner(key, seed) }
}

#[derive(Clone, Copy)]
pub(super) struct Avx2;

/// One in the count of a row's first eight bytes of statistics.
pub(super) const COUNT: i32 = 1 << (COUNT_SHIFT - 32);

/// What rows add, ready before any is added: of each a summand, count and sum, and what the extremes are at
/// least, with zeros where the other has something.
#[repr(C, align(64))]
pub(super) struct Ready {
    pub(super) summands: [__m128i; BATCH],
    pub(super) extremes: [__m128i; BATCH],
}

/// Adds what is ready: two operations a row.
///
/// # Safety
/// As [`Rows::add_all`].
#[inline(always)]
pub(super) unsafe fn add_ready(entries: *mut ShortEntry, slots: *const u32, ready: &Ready) {
    for (row, (summand, extremes)) in ready.summands.iter().zip(&ready.extremes).enumerate() {
        // SAFETY: the caller vouches for the slots; statistics are sixteen bytes behind the key: count and sum in the
        // first eight, then the extremes.
        unsafe {
            let entry = entries.add(*slots.add(row) as usize);
            let at = (&raw mut (*entry).tenths).cast::<__m128i>();
            let after = _mm_add_epi64(_mm_load_si128(at), *summand);
            _mm_store_si128(at, _mm_max_epu32(after, *extremes));
        }
    }
}

/// A window of sixteen bytes of this array has the terminator at place n: bytes [16 - n .. 32 - n].
static TERMINATOR: [u8; 32] = {
    let mut terminator = [0; 32];
    terminator[16] = DELIMITER;
    terminator
};

// SAFETY: uses AVX2 and AES only, which the level implies; reads what the trait allows.
unsafe impl Rows for Avx2 {
    type Scan = Scan;
    type Key = __m128i;

    #[inline(always)]
    unsafe fn values(base: *const u8, ends: *const u32, into: Parsed) -> Shapes {
        // SAFETY: eight bytes before each end are readable; the arrays have eight elements.
        unsafe {
            let before_ends = _mm256_loadu_si256(ends.cast());
            let row_ends = _mm256_loadu_si256(ends.add(1).cast());
            // Rows 0 1 4 5 and 2 3 6 7, so that the in-lane shuffles below yield 0..7 in order.
            let (a, b) = (four(base, ends, 0), four(base, ends, 2));
            let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
            let last = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(a, b));
            let before = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(a, b));

            let byte = _mm256_set1_epi32(0xff);
            let delimiter = _mm256_set1_epi32(DELIMITER.into());
            let minus = _mm256_set1_epi32(b'-'.into());
            let b4 = _mm256_and_si256(last, byte);
            let b5 = _mm256_srli_epi32::<24>(before);
            let b6 = _mm256_and_si256(_mm256_srli_epi32::<16>(before), byte);
            let delimiter_4 = _mm256_cmpeq_epi32(b4, delimiter);
            let delimiter_5 = _mm256_cmpeq_epi32(b5, delimiter);
            let delimiter_6 = _mm256_cmpeq_epi32(b6, delimiter);
            let minus_4 = _mm256_cmpeq_epi32(b4, minus);
            let minus_5 = _mm256_cmpeq_epi32(b5, minus);
            let delimiter_45 = _mm256_or_si256(delimiter_4, delimiter_5);

            // Digits become 0..=9 and the dot 0; a b4 that is no digit is taken out.
            let no_digit = _mm256_and_si256(_mm256_or_si256(delimiter_4, minus_4), byte);
            let digits = _mm256_xor_si256(last, _mm256_set1_epi32(0x302e_3030));
            let digits = _mm256_andnot_si256(no_digit, digits);
            let over = _mm256_subs_epu8(digits, _mm256_set1_epi32(0x0900_0909));
            let all_digits = _mm256_cmpeq_epi32(over, _mm256_setzero_si256());
            // 100 b4 + 10 b3 + b1
            let weights = _mm256_set1_epi32(0x0100_0a64);
            let pairs = _mm256_maddubs_epi16(digits, weights);
            let magnitude = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
            let negative = _mm256_or_si256(minus_4, _mm256_andnot_si256(delimiter_45, minus_5));
            let value = _mm256_sub_epi32(_mm256_xor_si256(magnitude, negative), negative);

            let shape_6 = _mm256_andnot_si256(minus_4, _mm256_and_si256(minus_5, delimiter_6));
            let shaped = _mm256_and_si256(_mm256_or_si256(delimiter_45, shape_6), all_digits);
            // Bytes from the delimiter on: 6, 5 or 4. Comparison masks are -1.
            let tail = _mm256_add_epi32(_mm256_set1_epi32(6), delimiter_45);
            let tail = _mm256_add_epi32(tail, delimiter_4);
            let bytes = _mm256_sub_epi32(_mm256_sub_epi32(row_ends, before_ends), tail);
            let has_key = _mm256_cmpgt_epi32(bytes, _mm256_set1_epi32(1));
            let even = _mm256_and_si256(shaped, has_key);
            let long = _mm256_cmpgt_epi32(bytes, _mm256_set1_epi32(super::SHORT_BYTES as i32));
            let long = _mm256_and_si256(long, even);
            let mask = _mm256_andnot_si256(long, _mm256_and_si256(even, bytes));
            _mm256_storeu_si256(into.values.cast(), value);
            _mm256_storeu_si256(into.masks.cast(), mask);
            _mm256_storeu_si256(into.key_bytes.cast(), bytes);
            Shapes {
                odd: !_mm256_movemask_ps(_mm256_castsi256_ps(even)) as u32 & 0xff,
                long: _mm256_movemask_ps(_mm256_castsi256_ps(long)) as u32,
            }
        }
    }

    #[inline(always)]
    unsafe fn key(from: *const u8, bytes: u32) -> __m128i {
        // SAFETY: sixteen bytes at `from` are readable; 16 - bytes + 16 <= 32.
        unsafe {
            let keep = _mm_loadu_si128(KEEP.as_ptr().add(16 - bytes as usize).cast());
            _mm_and_si128(_mm_loadu_si128(from.cast()), keep)
        }
    }

    #[inline(always)]
    unsafe fn field_key(from: *const u8, bytes: u32) -> __m128i {
        // SAFETY: as in `key`; 16 - bytes + 16 <= 32.
        unsafe {
            let end = _mm_loadu_si128(TERMINATOR.as_ptr().add(16 - bytes as usize).cast());
            _mm_or_si128(Self::key(from, bytes), end)
        }
    }

    #[inline(always)]
    unsafe fn is_at(key: __m128i, entry: &ShortEntry) -> bool {
        // SAFETY: the key of an entry is sixteen bytes.
        unsafe {
            let stored = _mm_loadu_si128(entry.key.as_ptr().cast());
            _mm_movemask_epi8(_mm_cmpeq_epi8(stored, key)) == 0xffff
        }
    }

    #[inline(always)]
    unsafe fn stored(key: __m128i) -> ShortKey {
        let mut words = [0; 2];
        // SAFETY: the words are sixteen bytes.
        unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), key) };
        words
    }

    #[inline(always)]
    unsafe fn hash(key: __m128i, seed: &Seed) -> u64 {
        // SAFETY: the seed is four words; AES belongs to the level.
        unsafe {
            let k0 = _mm_loadu_si128(seed.0.as_ptr().cast());
            let k1 = _mm_loadu_si128(seed.0.as_ptr().add(2).cast());
            // Three rounds: after two, half of the result depends on two bytes of a diagonal of
            // the key only, so that 2^32 keys could be made to share 2^16 hashes.
            let mixed = _mm_aesenc_si128(_mm_aesenc_si128(_mm_xor_si128(key, k0), k1), k0);
            _mm_cvtsi128_si64(_mm_aesenc_si128(mixed, k1)) as u64
        }
    }

    #[inline(always)]
    unsafe fn hash_samples(from: *const u8, bytes: usize, seed: &Seed) -> u64 {
        // SAFETY: three times sixteen of `bytes >= 16` bytes.
        unsafe {
            let k0 = _mm_loadu_si128(seed.0.as_ptr().cast());
            let k1 = _mm_loadu_si128(seed.0.as_ptr().add(2).cast());
            let first = _mm_loadu_si128(from.cast());
            let middle = _mm_loadu_si128(from.add((bytes - 16) / 2).cast());
            let last = _mm_loadu_si128(from.add(bytes - 16).cast());
            let length = _mm_xor_si128(k0, _mm_cvtsi64_si128(bytes as i64));
            let left = _mm_aesenc_si128(_mm_xor_si128(first, length), k1);
            let right = _mm_aesenc_si128(_mm_xor_si128(last, k1), middle);
            let mixed = _mm_aesenc_si128(_mm_xor_si128(left, right), k0);
            _mm_cvtsi128_si64(_mm_aesenc_si128(mixed, k1)) as u64
        }
    }

    #[inline(always)]
    unsafe fn hash_long(from: *const u8, bytes: usize, seed: &Seed) -> u64 {
        // SAFETY: every load lies in the `bytes >= 16` bytes; the last one overlaps the one before.
        unsafe {
            let k0 = _mm_loadu_si128(seed.0.as_ptr().cast());
            let k1 = _mm_loadu_si128(seed.0.as_ptr().add(2).cast());
            let mut state = _mm_xor_si128(k0, _mm_cvtsi64_si128(bytes as i64));
            let mut at = 0;
            // Two rounds a block: the difference one round makes of a byte could be cancelled by
            // the next block one time in 64, whatever the seed.
            while at + 16 < bytes {
                let block = _mm_loadu_si128(from.add(at).cast());
                state = _mm_aesenc_si128(_mm_xor_si128(state, block), k1);
                state = _mm_aesenc_si128(state, k0);
                at += 16;
            }
            let block = _mm_loadu_si128(from.add(bytes - 16).cast());
            state = _mm_aesenc_si128(_mm_xor_si128(state, block), k1);
            let mixed = _mm_aesenc_si128(_mm_aesenc_si128(state, k0), k1);
            _mm_cvtsi128_si64(mixed) as u64
        }
    }

    #[inline(always)]
    unsafe fn same_long(left: *const u8, right: *const u8, bytes: usize) -> bool {
        // Four blocks that overlap cover 32 to 128 bytes. Of a shorter key all four are its first
        // 32, of which only `bytes` count.
        let last = bytes.saturating_sub(32);
        // SAFETY: each block is the first 32 bytes or ends within `bytes`.
        let same = |at: usize| unsafe {
            let left = _mm256_loadu_si256(left.add(at).cast());
            _mm256_cmpeq_epi8(left, _mm256_loadu_si256(right.add(at).cast()))
        };
        // SAFETY: AVX2 and BMI2 belong to the level; slices of `bytes` readable bytes.
        unsafe {
            let ends = _mm256_and_si256(same(0), same(last));
            let middle = _mm256_and_si256(same(last.min(32)), same(last.min(64)));
            let all = _mm256_movemask_epi8(_mm256_and_si256(ends, middle)) as u32;
            let mut is_same = !all & _bzhi_u32(u32::MAX, bytes.min(32) as u32) == 0;
            let mut at = 96;
            while is_same && at < last {
                is_same = _mm256_movemask_epi8(same(at)) == -1;
                at += 32;
            }
            is_same
        }
    }

    #[inline(always)]
    unsafe fn differ(keys: *const __m128i, slots: *const u32, entries: *const ShortEntry) -> u32 {
        // SAFETY: the caller vouches for eight keys and slots.
        let compare = |lane: usize| unsafe {
            let entry = entries.add(*slots.add(lane) as usize);
            _mm_cmpeq_epi8(_mm_load_si128(entry.cast()), *keys.add(lane))
        };
        // SAFETY: AVX2 belongs to the level.
        unsafe {
            let mut all = compare(0);
            for lane in 1..super::LANES {
                all = _mm_and_si128(all, compare(lane));
            }
            if _mm_movemask_epi8(all) == 0xffff {
                return 0;
            }
            (0..super::LANES)
                .map(|lane| u32::from(_mm_movemask_epi8(compare(lane)) != 0xffff) << lane)
                .sum()
        }
    }

    /// As [`add_ready`] wants it.
    #[inline(always)]
    unsafe fn add_all(entries: *mut ShortEntry, (slots, values): (*const u32, *const i32)) {
        let mut ready = std::mem::MaybeUninit::<Ready>::uninit();
        // SAFETY: the caller vouches for slots and values, which are a batch; each row of what is ready is written.
        unsafe {
            let summands = (&raw mut (*ready.as_mut_ptr()).summands).cast::<__m128i>();
            let extremes = (&raw mut (*ready.as_mut_ptr()).extremes).cast::<__m128i>();
            let (zero, bias) = (_mm256_setzero_si256(), _mm256_set1_epi32(BIAS));
            let counts = _mm256_set1_epi32(COUNT);
            // The first four rows are in the lower halves, the others in the upper ones.
            let store = |to: *mut __m128i, row: usize, both: __m256i| {
                _mm_storeu_si128(to.add(row), _mm256_castsi256_si128(both));
                _mm_storeu_si128(to.add(row + 4), _mm256_extracti128_si256::<1>(both));
            };
            for row in (0..BATCH).step_by(super::LANES) {
                let values = _mm256_loadu_si256(values.add(row).cast());
                let (most, least) =
                    (_mm256_add_epi32(bias, values), _mm256_sub_epi32(bias, values));
                let low = _mm256_unpacklo_epi32(most, counts);
                let high = _mm256_unpackhi_epi32(most, counts);
                store(summands, row, _mm256_unpacklo_epi64(low, zero));
                store(summands, row + 1, _mm256_unpackhi_epi64(low, zero));
                store(summands, row + 2, _mm256_unpacklo_epi64(high, zero));
                store(summands, row + 3, _mm256_unpackhi_epi64(high, zero));
                let low = _mm256_unpacklo_epi32(most, least);
                let high = _mm256_unpackhi_epi32(most, least);
                store(extremes, row, _mm256_unpacklo_epi64(zero, low));
                store(extremes, row + 1, _mm256_unpackhi_epi64(zero, low));
                store(extremes, row + 2, _mm256_unpacklo_epi64(zero, high));
                store(extremes, row + 3, _mm256_unpackhi_epi64(zero, high));
            }
            add_ready(entries, slots, &*ready.as_ptr());
        }
    }

    /// Both extremes at once, which compilers do not see by themselves: three instructions a row.
    #[inline(always)]
    unsafe fn add(to: &mut Tenths, value: i32) {
        to.count_and_sum(value);
        // SAFETY: SSE4.1 belongs to the level; the extremes are eight bytes.
        unsafe {
            let extremes = to.extremes.as_mut_ptr().cast::<__m128i>();
            // value and !value, which is -value - 1.
            let pair = _mm_xor_si128(_mm_set1_epi32(value), _mm_setr_epi32(0, -1, 0, 0));
            let pair = _mm_add_epi32(pair, _mm_setr_epi32(BIAS, BIAS + 1, 0, 0));
            _mm_storel_epi64(extremes, _mm_max_epi32(_mm_loadl_epi64(extremes), pair));
        }
    }
}

/// The eight bytes before the newlines of rows `first`, `first + 1`, `first + 4` and `first + 5`.
///
/// # Safety
/// As [`Rows::values`].
#[inline(always)]
unsafe fn four(base: *const u8, ends: *const u32, first: usize) -> __m256i {
    // SAFETY: the caller's.
    unsafe {
        let word = |row: usize| base.add(*ends.add(row + 1) as usize - 8).cast::<f64>();
        let low = _mm_loadh_pd(_mm_load_sd(word(first)), word(first + 1));
        let high = _mm_loadh_pd(_mm_load_sd(word(first + 4)), word(first + 5));
        _mm256_castpd_si256(_mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(low), high))
    }
}
