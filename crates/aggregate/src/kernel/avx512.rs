//! The kernel of the AVX-512 level: newlines listed by compressing, four keys in a register when they
//! are cut, hashed and compared, count, sum and extremes of a row in one. Parsing, and what concerns
//! single keys, is that of [`Avx2`].
//!
//! Tried and lost: one gather of eight words before their newlines (on Zen 5 1.3x slower than eight
//! loads, for the whole loop).

use std::arch::x86_64::*;

use super::avx2::Avx2;
use super::drive::drive;
use super::fields::{self, Wanted};
use super::rows::{Home, Parsed, Rows, Shapes};
use super::{LANES, Odd, Span};
use crate::chunk::Window;
use crate::table::{BIAS, COUNT_SHIFT, Seed, ShortEntry, ShortKey, Tables, Tenths, slot_of};

/// The kernel at this level.
///
/// # Safety
/// The level is available.
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,aes,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vnni,vaes"
)]
pub(super) unsafe fn run<const SQUARES: bool>(
    span: &Span<'_>,
    tables: &mut Tables,
    odd: &mut Odd,
) -> u64 {
    // SAFETY: this function carries the features, and its caller vouches for them.
    unsafe { drive::<Avx512, SQUARES>(span, tables, odd) }
}

/// The kernel of delimited text at this level.
///
/// # Safety
/// The level is available.
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,aes,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vnni,vaes"
)]
pub(super) unsafe fn run_fields<const SQUARES: bool>(
    window: &Window<'_>,
    wanted: &Wanted<'_>,
    tables: &mut [&mut Tables],
    odd: &mut Odd,
) -> u64 {
    // SAFETY: this function carries the features, and its caller vouches for them.
    unsafe { fields::drive::<Avx512, SQUARES>(window, wanted, tables, odd) }
}

#[derive(Clone, Copy)]
pub(super) struct Avx512;

/// For each byte of four keys, its key times `key` and its place in that times `place`.
const fn each_byte(key: u8, place: u8) -> [u8; 64] {
    let (mut bytes, mut i) = ([0; 64], 0);
    while i < 64 {
        bytes[i] = i as u8 / 16 * key + i as u8 % 16 * place;
        i += 1;
    }
    bytes
}

/// For each byte of four keys, its place in its key.
static PLACES: [u8; 64] = each_byte(0, 1);

/// For each byte of four keys, where the low byte of the first, second … of 32-bit lengths is.
static LENGTHS: [u8; 64] = each_byte(4, 0);

/// Sixteen bytes each of four places, in one register.
///
/// # Safety
/// They are readable; the level is available.
#[inline(always)]
unsafe fn four(at: impl Fn(usize) -> *const u8) -> __m512i {
    // SAFETY: the caller's.
    unsafe {
        let load = |lane: usize| _mm_loadu_si128(at(lane).cast());
        let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(load(0)), load(1));
        let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(load(2)), load(3));
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
    }
}

/// Cuts the keys of the four rows from `first` on, stores them and returns their hashes, in the low
/// halves of quarters.
///
/// # Safety
/// As [`Rows::place`]; `bytes` has what the masks say of eight rows.
#[inline(always)]
unsafe fn hashed(
    (base, ends, first): (*const u8, *const u32, usize),
    bytes: __m256i,
    seed: &Seed,
    keys: *mut __m128i,
) -> __m512i {
    // SAFETY: the caller's; the seed is four words.
    unsafe {
        let seed: *const __m128i = seed.0.as_ptr().cast();
        let k0 = _mm512_broadcast_i32x4(_mm_loadu_si128(seed));
        let k1 = _mm512_broadcast_i32x4(_mm_loadu_si128(seed.add(1)));
        let text = four(|lane| base.add(*ends.add(first + lane) as usize + 1));
        let places = _mm512_loadu_si512(PLACES.as_ptr().cast());
        let spread = _mm512_loadu_si512(LENGTHS.as_ptr().cast());
        let spread = _mm512_add_epi8(spread, _mm512_set1_epi8(4 * first as i8));
        let bytes = _mm512_permutexvar_epi8(spread, _mm512_castsi256_si512(bytes));
        let key = _mm512_maskz_mov_epi8(_mm512_cmplt_epu8_mask(places, bytes), text);
        _mm512_storeu_si512(keys.add(first).cast(), key);
        // Three rounds, as in `Avx2::hash`.
        let mixed = _mm512_aesenc_epi128(_mm512_xor_si512(key, k0), k1);
        _mm512_aesenc_epi128(_mm512_aesenc_epi128(mixed, k0), k1)
    }
}

/// Where four keys differ from those of their slots.
///
/// # Safety
/// Four keys and slots are readable, and the slots lie in `entries`.
#[inline(always)]
unsafe fn difference(
    keys: *const __m128i,
    slots: *const u32,
    entries: *const ShortEntry,
) -> __m512i {
    // SAFETY: the caller's; an entry starts with its key.
    unsafe {
        let stored = four(|lane| entries.add(*slots.add(lane) as usize).cast());
        _mm512_xor_si512(stored, _mm512_loadu_si512(keys.cast()))
    }
}

/// What four values, chosen by `lanes`, add to statistics: count and sum, then the extremes.
///
/// # Safety
/// The level is available.
#[inline(always)]
unsafe fn parts(values: __m256i, lanes: __m512i) -> __m512i {
    const COUNT: i32 = 1 << (COUNT_SHIFT - 32);
    // SAFETY: the caller's.
    unsafe {
        // Of each value: itself, nothing, itself, itself negated less one; then what is kept of it.
        let turn = _mm512_broadcast_i32x4(_mm_setr_epi32(0, 0, 0, -1));
        let bias = _mm512_broadcast_i32x4(_mm_setr_epi32(BIAS, COUNT, BIAS, BIAS + 1));
        let values = _mm512_castsi256_si512(values);
        let spread = _mm512_maskz_permutexvar_epi32(0xdddd, lanes, values);
        _mm512_add_epi32(_mm512_xor_si512(spread, turn), bias)
    }
}

/// Methods that are those of [`Avx2`].
macro_rules! of_avx2 {
    ($($name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*) => {$(
        #[inline(always)]
        unsafe fn $name($($argument: $type),*) -> $answer {
            // SAFETY: forwarded.
            unsafe { Avx2::$name($($argument),*) }
        }
    )*};
}

// SAFETY: uses what the level has only; reads what the trait allows.
unsafe impl Rows for Avx512 {
    type Scan = __m512i;
    type Key = __m128i;

    of_avx2! {
        values(base: *const u8, ends: *const u32, into: Parsed) -> Shapes;
        key(from: *const u8, bytes: u32) -> __m128i;
        field_key(from: *const u8, bytes: u32) -> __m128i;
        is_at(key: __m128i, entry: &ShortEntry) -> bool;
        stored(key: __m128i) -> ShortKey;
        hash(key: __m128i, seed: &Seed) -> u64;
        hash_samples(from: *const u8, bytes: usize, seed: &Seed) -> u64;
        hash_long(from: *const u8, bytes: usize, seed: &Seed) -> u64;
        same_long(left: *const u8, right: *const u8, bytes: usize) -> bool;
        add(to: &mut Tenths, value: i32) -> ();
    }

    #[inline(always)]
    unsafe fn place<const DISPLACED: bool>(
        (base, ends, masks): (*const u8, *const u32, *const u32),
        home: &Home<'_>,
        keys: *mut __m128i,
        slots: *mut u32,
    ) {
        // SAFETY: the caller's; the seed is four words.
        unsafe {
            let bytes = _mm256_loadu_si256(masks.cast());
            let low_halves = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
            let hashes = _mm512_permutex2var_epi64(
                hashed((base, ends, 0), bytes, &home.seed, keys),
                low_halves,
                hashed((base, ends, 4), bytes, &home.seed, keys),
            );
            let found = if DISPLACED {
                let mut found = [0_u32; LANES];
                let mut all = [0_u64; LANES];
                _mm512_storeu_si512(all.as_mut_ptr().cast(), hashes);
                for (found, hash) in found.iter_mut().zip(all) {
                    *found = slot_of(hash, home.displacements, home.mask) as u32;
                }
                _mm256_loadu_si256(found.as_ptr().cast())
            } else {
                let mask = _mm512_set1_epi64(home.mask.cast_signed());
                _mm512_cvtepi64_epi32(_mm512_and_si512(hashes, mask))
            };
            let sinks = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            let dummies = _mm256_cmpeq_epi32_mask(bytes, _mm256_setzero_si256());
            let sink = _mm256_set1_epi32(home.sink.cast_signed());
            let found = _mm256_mask_add_epi32(found, dummies, sinks, sink);
            _mm256_storeu_si256(slots.cast(), found);
        }
    }

    #[inline(always)]
    unsafe fn differ(keys: *const __m128i, slots: *const u32, entries: *const ShortEntry) -> u32 {
        // SAFETY: the caller vouches for eight keys and slots; an entry starts with its key.
        unsafe {
            let (low, high) =
                (difference(keys, slots, entries), difference(keys.add(4), slots.add(4), entries));
            let both = _mm512_or_si512(low, high);
            if _mm512_test_epi64_mask(both, both) == 0 {
                return 0;
            }
            let low = u32::from(_mm512_test_epi64_mask(low, low));
            let words = low | u32::from(_mm512_test_epi64_mask(high, high)) << 8;
            _pext_u32(words | words >> 1, 0x5555)
        }
    }

    #[inline(always)]
    unsafe fn add_eight(entries: *mut ShortEntry, slots: *const u32, values: *const i32) {
        // SAFETY: eight slots and values; statistics are sixteen bytes behind the key: count and sum
        // in the first eight, then the extremes.
        unsafe {
            let values = _mm256_loadu_si256(values.cast());
            let first = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
            let last = _mm512_add_epi32(first, _mm512_set1_epi32(4));
            let mut of_rows = [_mm_setzero_si128(); LANES];
            _mm512_storeu_si512(of_rows.as_mut_ptr().cast(), parts(values, first));
            _mm512_storeu_si512(of_rows.as_mut_ptr().add(4).cast(), parts(values, last));
            for (lane, part) in of_rows.into_iter().enumerate() {
                let entry = entries.add(*slots.add(lane) as usize);
                let at = (&raw mut (*entry).tenths).cast::<__m128i>();
                let before = _mm_load_si128(at);
                let after = _mm_mask_add_epi64(before, 0b01, before, part);
                _mm_store_si128(at, _mm_mask_max_epi32(after, 0b1100, after, part));
            }
        }
    }
}
