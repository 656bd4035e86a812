//! The kernel of the levels without AVX2: newlines by the level's vectors, values by its vectors of
//! four lanes or, at the scalar level, in integer registers.
//!
//! The shapes of a value are those of the AVX2 kernel, found without a branch. Keys are two words,
//! hashed by a folded multiplication.

#[cfg(target_arch = "aarch64")]
use std::arch::aarch64::uint32x4_t;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m128i;
use std::marker::PhantomData;

use fathom_machine::simd::{self, Vector};

use super::quad::{self, Quad};
use super::rows::{Parsed, Rows, Shapes};
use super::{KEEP, LANES, SHORT_BYTES};
use crate::line::DELIMITER;
use crate::table::{Seed, ShortEntry, ShortKey};

pub(super) type Scalar = Plain<simd::Scalar, OneByOne>;
#[cfg(target_arch = "x86_64")]
pub(super) type Sse2 = Plain<simd::Sse2, Quads<__m128i>>;
#[cfg(target_arch = "aarch64")]
pub(super) type Neon = Plain<simd::Neon, Quads<uint32x4_t>>;

/// The hash of a stored key, for tables that place it anew.
pub(super) fn short_hash(key: &ShortKey, seed: &Seed) -> u64 {
    let mixed = folded(key[0] ^ seed.0[0], key[1] ^ seed.0[1]);
    folded(mixed ^ seed.0[2], seed.0[3] | 1)
}

/// The same of three samples of a long key.
pub(super) fn samples_hash(key: &[u8], seed: &Seed) -> u64 {
    assert!(key.len() >= 16);
    // SAFETY: all bytes of the slice are readable; scalar code is everywhere.
    unsafe { Scalar::hash_samples(key.as_ptr(), key.len(), seed) }
}

/// The same for long keys.
pub(super) fn long_hash(key: &[u8], seed: &Seed) -> u64 {
    assert!(key.len() >= 16);
    // SAFETY: all bytes of the slice are readable; scalar code is everywhere.
    unsafe { Scalar::hash_long(key.as_ptr(), key.len(), seed) }
}

/// The 128-bit product, its halves added without carry.
#[inline(always)]
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// The value before one newline, from the eight bytes that end there, and how many bytes it takes
/// with its delimiter; the third is false for any other shape.
#[inline(always)]
fn value(word: u64) -> (i32, u32, bool) {
    let byte = |back: u32| (word >> (64 - 8 * back)) as u8;
    let is = |back: u32, what: u8| u32::from(byte(back) == what);
    let (d4, d5, d6) = (is(4, DELIMITER), is(5, DELIMITER), is(6, DELIMITER));
    let (m4, m5) = (is(4, b'-'), is(5, b'-'));
    let d45 = d4 | d5;
    // Digits become 0..=9 and the dot 0; a fourth byte that is no digit is taken out.
    let digits = ((word >> 32) as u32 ^ 0x302e_3030) & !((d4 | m4) * 0xff);
    let over = (digits.wrapping_add(0x767f_7676) | digits) & 0x8080_8080;
    let magnitude = (digits & 0xff) * 100 + (digits >> 8 & 0xff) * 10 + (digits >> 24);
    let negative = (m4 | m5 & !d45).wrapping_neg();
    let shaped = (d45 | d6 & m5 & !m4) & u32::from(over == 0);
    ((magnitude ^ negative).wrapping_sub(negative) as i32, 6 - d45 - d4, shaped == 1)
}

/// How values are parsed.
pub(super) trait Values: Copy {
    /// As [`Rows::values`].
    ///
    /// # Safety
    /// As there.
    unsafe fn values(base: *const u8, ends: *const u32, into: Parsed) -> Shapes;
}

/// Each in integer registers.
#[derive(Clone, Copy)]
pub(super) struct OneByOne;

impl Values for OneByOne {
    #[inline(always)]
    unsafe fn values(base: *const u8, ends: *const u32, into: Parsed) -> Shapes {
        let mut shapes = Shapes { odd: 0, long: 0 };
        for lane in 0..LANES {
            // SAFETY: nine ends, eight elements of each array, eight bytes before each end.
            unsafe {
                let (before, end) = (*ends.add(lane), *ends.add(lane + 1));
                let word = base.add(end as usize - 8).cast::<u64>().read_unaligned();
                let (value, tail, shaped) = value(u64::from_le(word));
                let bytes = end.wrapping_sub(before).wrapping_sub(tail);
                let even = (bytes as i32 > 1) & shaped;
                let long = (bytes > SHORT_BYTES) & even;
                shapes.odd |= u32::from(!even) << lane;
                shapes.long |= u32::from(long) << lane;
                *into.values.add(lane) = value;
                *into.masks.add(lane) = bytes & u32::from(even & !long).wrapping_neg();
                *into.key_bytes.add(lane) = bytes;
            }
        }
        shapes
    }
}

/// Four in a register.
#[derive(Clone, Copy)]
pub(super) struct Quads<Q>(PhantomData<Q>);

impl<Q: Quad> Values for Quads<Q> {
    #[inline(always)]
    unsafe fn values(base: *const u8, ends: *const u32, into: Parsed) -> Shapes {
        // SAFETY: eight rows are twice four.
        let four = |at: usize| unsafe { quad::values::<Q>(base, ends.add(at), into.at_row(at)) };
        let (low, high) = (four(0), four(4));
        Shapes { odd: low.odd | high.odd << 4, long: low.long | high.long << 4 }
    }
}

/// Sixteen bytes as two little-endian words.
///
/// # Safety
/// They are readable.
#[inline(always)]
unsafe fn words(from: *const u8) -> [u64; 2] {
    // SAFETY: the caller's.
    let (low, high) = unsafe {
        let words = from.cast::<u64>();
        (words.read_unaligned(), words.add(1).read_unaligned())
    };
    [u64::from_le(low), u64::from_le(high)]
}

#[derive(Clone, Copy)]
pub(super) struct Plain<V, P>(PhantomData<(V, P)>);

// SAFETY: uses the scan vector and the values' only for what they are for; reads what the trait
// allows.
unsafe impl<V: Vector, P: Values> Rows for Plain<V, P> {
    type Scan = V;
    type Key = ShortKey;

    #[inline(always)]
    unsafe fn values(base: *const u8, ends: *const u32, into: Parsed) -> Shapes {
        // SAFETY: forwarded.
        unsafe { P::values(base, ends, into) }
    }

    #[inline(always)]
    unsafe fn key(from: *const u8, bytes: u32) -> ShortKey {
        // SAFETY: sixteen bytes from `from` on are readable; 16 - bytes + 16 <= 32.
        let (text, keep) = unsafe { (words(from), words(KEEP.as_ptr().add(16 - bytes as usize))) };
        [text[0] & keep[0], text[1] & keep[1]]
    }

    #[inline(always)]
    unsafe fn field_key(from: *const u8, bytes: u32) -> ShortKey {
        // SAFETY: as in `key`.
        let mut key = unsafe { Self::key(from, bytes) };
        key[bytes as usize / 8] |= u64::from(DELIMITER) << (bytes % 8 * 8);
        key
    }

    #[inline(always)]
    unsafe fn is_at(key: ShortKey, entry: &ShortEntry) -> bool {
        (key[0] ^ entry.key[0]) | (key[1] ^ entry.key[1]) == 0
    }

    #[inline(always)]
    unsafe fn stored(key: ShortKey) -> ShortKey {
        key
    }

    #[inline(always)]
    unsafe fn hash(key: ShortKey, seed: &Seed) -> u64 {
        short_hash(&key, seed)
    }

    #[inline(always)]
    unsafe fn hash_samples(from: *const u8, bytes: usize, seed: &Seed) -> u64 {
        // SAFETY: every load lies in the `bytes >= 16` bytes.
        let pair = |at: usize| <(u64, u64)>::from(unsafe { words(from.add(at)) });
        let (first, middle, last) = (pair(0), pair((bytes - 16) / 2), pair(bytes - 16));
        let left = folded(first.0 ^ seed.0[0] ^ bytes as u64, first.1 ^ seed.0[1]);
        let right = folded(last.0 ^ seed.0[2], last.1 ^ seed.0[3]);
        let middle = folded(middle.0 ^ seed.0[1], middle.1 ^ seed.0[2]);
        folded(left ^ middle ^ seed.0[2], right ^ seed.0[3])
    }

    #[inline(always)]
    unsafe fn same_long(left: *const u8, right: *const u8, bytes: usize) -> bool {
        // SAFETY: every load lies in the `bytes >= 16` bytes of both; the last one overlaps.
        let same = |at: usize| unsafe { words(left.add(at)) == words(right.add(at)) };
        (0..bytes - 16).step_by(16).all(same) && same(bytes - 16)
    }

    #[inline(always)]
    unsafe fn hash_long(from: *const u8, bytes: usize, seed: &Seed) -> u64 {
        // SAFETY: every load lies in the `bytes >= 16` bytes.
        let pair = |at: usize| <(u64, u64)>::from(unsafe { words(from.add(at)) });
        let mut state = seed.0[0] ^ bytes as u64;
        let mut at = 0;
        while at + 16 < bytes {
            let (a, b) = pair(at);
            state = folded(a ^ seed.0[1], b ^ state);
            at += 16;
        }
        let (a, b) = pair(bytes - 16);
        state = folded(a ^ seed.0[1], b ^ state);
        folded(state ^ seed.0[2], seed.0[3] | 1)
    }

    #[inline(always)]
    unsafe fn differ(keys: *const ShortKey, slots: *const u32, entries: *const ShortEntry) -> u32 {
        // SAFETY: the caller vouches for eight keys and slots.
        let difference = |lane: usize| unsafe {
            let (key, stored) = (*keys.add(lane), (*entries.add(*slots.add(lane) as usize)).key);
            (key[0] ^ stored[0]) | (key[1] ^ stored[1])
        };
        let all = (0..LANES).map(difference).fold(0, |all, difference| all | difference);
        if all == 0 {
            return 0;
        }
        (0..LANES).map(|lane| u32::from(difference(lane) != 0) << lane).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<(i32, u32)> {
        let mut bytes = [b'x'; 8];
        bytes[8 - text.len()..].copy_from_slice(text.as_bytes());
        let (value, tail, shaped) = value(u64::from_le_bytes(bytes));
        shaped.then_some((value, tail))
    }

    #[test]
    fn the_four_shapes_and_no_others_have_a_value() {
        for tenths in -999..=999_i32 {
            let sign = if tenths < 0 { "-" } else { "" };
            let text = format!(";{sign}{}.{}", tenths.abs() / 10, tenths.abs() % 10);
            assert_eq!(parse(&text), Some((tenths, text.len() as u32)), "{text}");
        }
        assert_eq!(parse(";-0.0"), Some((0, 5)));
        assert_eq!(parse("a-;1.5"), Some((15, 4)));
        for text in
            ["1.5", ";123.4", ";1", ";1.", ";.5", ";--1.5", ";+1.5", ";1.55", ";1.5\r", ";a.b"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
