//! The kernel of the AVX-512 level: newlines listed by compressing, sixteen values parsed at once, four keys in a
//! register when they are cut, hashed and compared, count, sum and extremes of a row in one. What concerns
//! single keys is that of [`Avx2`], but for comparing long ones.
//!
//! Tried and lost: one gather of eight words before their newlines (on Zen 5 1.3x slower than eight
//! loads, for the whole loop).

use std::arch::x86_64::*;

use super::avx2::{Avx2, COUNT, Ready, add_ready};
use super::drive::drive;
use super::fields::{self, Wanted};
use super::rows::{Home, Parsed, Rows, Shapes};
use super::{BATCH, LANES, Odd, Span};
use crate::chunk::Window;
use crate::line::DELIMITER;
use crate::table::{BIAS, Seed, ShortEntry, ShortKey, Tables, Tenths, slot_of};

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

/// The eight bytes before each of the newlines of eight rows.
///
/// # Safety
/// As [`Rows::values`].
#[inline(always)]
unsafe fn eight(base: *const u8, ends: *const u32) -> __m512i {
    // SAFETY: the caller's.
    unsafe {
        let word =
            |row: usize| base.add(*ends.add(row + 1) as usize - 8).cast::<i64>().read_unaligned();
        _mm512_setr_epi64(word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7))
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
        key(from: *const u8, bytes: u32) -> __m128i;
        field_key(from: *const u8, bytes: u32) -> __m128i;
        is_at(key: __m128i, entry: &ShortEntry) -> bool;
        stored(key: __m128i) -> ShortKey;
        hash(key: __m128i, seed: &Seed) -> u64;
        hash_samples(from: *const u8, bytes: usize, seed: &Seed) -> u64;
        hash_long(from: *const u8, bytes: usize, seed: &Seed) -> u64;
        add(to: &mut Tenths, value: i32) -> ();
    }

    const PARSED: usize = 16;

    /// As in [`Avx2`], with masks of a bit for each row.
    #[inline(always)]
    unsafe fn values(base: *const u8, ends: *const u32, into: Parsed) -> Shapes {
        // SAFETY: eight bytes before each end are readable; the arrays have sixteen elements.
        unsafe {
            let splat = |word: u32| _mm512_set1_epi32(word.cast_signed());
            let bytes = _mm512_sub_epi32(
                _mm512_loadu_si512(ends.add(1).cast()),
                _mm512_loadu_si512(ends.cast()),
            );
            let (a, b) = (eight(base, ends), eight(base, ends.add(8)));
            let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
            let before = _mm512_permutex2var_epi32(a, even, b);
            let last = _mm512_permutex2var_epi32(a, _mm512_add_epi32(even, splat(1)), b);

            let b4 = _mm512_and_si512(last, splat(0xff));
            let b5 = _mm512_srli_epi32::<24>(before);
            let b65 = _mm512_srli_epi32::<16>(before);
            let delimiter_4 = _mm512_cmpeq_epi32_mask(b4, splat(DELIMITER.into()));
            let delimiter_5 = _mm512_cmpeq_epi32_mask(b5, splat(DELIMITER.into()));
            let minus_4 = _mm512_cmpeq_epi32_mask(b4, splat(b'-'.into()));
            let minus_5 = _mm512_cmpeq_epi32_mask(b5, splat(b'-'.into()));
            let shape_6 = splat(u16::from_le_bytes([DELIMITER, b'-']).into());
            let shape_6 = _mm512_cmpeq_epi32_mask(b65, shape_6) & !minus_4;
            let delimiter_45 = delimiter_4 | delimiter_5;

            // Digits become 0..=9 and the dot 0; a b4 that is no digit is taken out.
            let digits = _mm512_xor_si512(last, splat(0x302e_3030));
            let no_digit = delimiter_4 | minus_4;
            let digits = _mm512_mask_and_epi32(digits, no_digit, digits, splat(0xffff_ff00));
            let over = _mm512_subs_epu8(digits, splat(0x0900_0909));
            let all_digits = _mm512_testn_epi32_mask(over, over);
            // 100 b4 + 10 b3 + b1
            let zero = _mm512_setzero_si512();
            let magnitude = _mm512_dpbusd_epi32(zero, digits, splat(0x0100_0a64));
            let negative = minus_4 | minus_5 & !delimiter_4;
            let value = _mm512_mask_sub_epi32(magnitude, negative, zero, magnitude);

            let shaped = (delimiter_45 | shape_6) & all_digits;
            // Bytes from the delimiter on: 6, 5 or 4.
            let bytes = _mm512_sub_epi32(bytes, splat(6));
            let bytes = _mm512_mask_add_epi32(bytes, delimiter_45, bytes, splat(1));
            let bytes = _mm512_mask_add_epi32(bytes, delimiter_4, bytes, splat(1));
            let even = _mm512_mask_cmpgt_epi32_mask(shaped, bytes, splat(1));
            let long = _mm512_mask_cmpgt_epi32_mask(even, bytes, splat(super::SHORT_BYTES));
            _mm512_storeu_si512(into.values.cast(), value);
            _mm512_storeu_si512(into.masks.cast(), _mm512_maskz_mov_epi32(even & !long, bytes));
            _mm512_storeu_si512(into.key_bytes.cast(), bytes);
            Shapes { odd: u32::from(!even), long: long.into() }
        }
    }

    #[inline(always)]
    unsafe fn same_long(left: *const u8, right: *const u8, bytes: usize) -> bool {
        // SAFETY: only bytes that a mask has are read, which are of the first `bytes`.
        unsafe {
            let head = _bzhi_u32(u32::MAX, bytes.min(32) as u32);
            let other = _mm256_maskz_loadu_epi8(head, right.cast());
            let mut differ: u64 = _mm256_mask_cmpneq_epi8_mask(
                head,
                _mm256_maskz_loadu_epi8(head, left.cast()),
                other,
            )
            .into();
            let mut at = 32;
            loop {
                let rest = _bzhi_u64(u64::MAX, bytes.saturating_sub(at).min(64) as u32);
                let other = _mm512_maskz_loadu_epi8(rest, right.add(at).cast());
                let own = _mm512_maskz_loadu_epi8(rest, left.add(at).cast());
                differ |= _mm512_mask_cmpneq_epi8_mask(rest, own, other);
                at += 64;
                if at >= bytes || differ != 0 {
                    return differ == 0;
                }
            }
        }
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

    /// As in [`Avx2`], four rows in a register.
    #[inline(always)]
    unsafe fn add_all(entries: *mut ShortEntry, (slots, values): (*const u32, *const i32)) {
        let mut ready = std::mem::MaybeUninit::<Ready>::uninit();
        // SAFETY: the caller vouches for slots and values, which are a batch; each row of what is ready is written.
        unsafe {
            let summands = (&raw mut (*ready.as_mut_ptr()).summands).cast::<__m128i>();
            let extremes = (&raw mut (*ready.as_mut_ptr()).extremes).cast::<__m128i>();
            let four = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
            let of_least = _mm512_broadcast_i32x4(_mm_setr_epi32(0, 0, 0, 16));
            let counts = _mm512_broadcast_i32x4(_mm_setr_epi32(0, COUNT, 0, 0));
            let bias = _mm256_set1_epi32(BIAS);
            for row in (0..BATCH).step_by(LANES) {
                let values = _mm256_loadu_si256(values.add(row).cast());
                let most = _mm512_castsi256_si512(_mm256_add_epi32(bias, values));
                let least = _mm512_castsi256_si512(_mm256_sub_epi32(bias, values));
                for half in 0..2 {
                    let lanes = _mm512_add_epi32(four, _mm512_set1_epi32(4 * half));
                    let summand = _mm512_mask_permutexvar_epi32(counts, 0x1111, lanes, most);
                    let both = _mm512_add_epi32(lanes, of_least);
                    let both = _mm512_maskz_permutex2var_epi32(0xcccc, most, both, least);
                    let row = row + 4 * half as usize;
                    _mm512_storeu_si512(summands.add(row).cast(), summand);
                    _mm512_storeu_si512(extremes.add(row).cast(), both);
                }
            }
            add_ready(entries, slots, &*ready.as_ptr());
        }
    }
}
