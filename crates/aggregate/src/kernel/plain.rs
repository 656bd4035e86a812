//! The kernel of the levels without AVX2: newlines by the level's vectors, rows in integer
//! registers.
//!
//! The shapes of a value are those of the AVX2 kernel, found with comparisons that compile to
//! conditional moves. Keys are two words, hashed by a folded multiplication.

use fathom_machine::level::Level;
use fathom_machine::vector::{self, Vector};

use super::fields::{self, Wanted};
use super::{LANES, Rows, SHORT_BYTES, Shapes, drive};
use crate::chunk::Window;
use crate::reference::DELIMITER;
use crate::shard::Shard;
use crate::table::{Seed, ShortEntry, ShortKey};

pub(super) fn run(level: Level, window: &Window<'_>, shard: &mut Shard, squares: bool) -> u64 {
    // SAFETY: SSE2 is in every x86-64 and NEON in every AArch64 this project runs on; the scalar
    // type uses nothing else.
    unsafe {
        match (level, squares) {
            #[cfg(target_arch = "x86_64")]
            (Level::Sse2, false) => drive::<Plain<vector::Sse2>, false>(window, shard),
            #[cfg(target_arch = "x86_64")]
            (Level::Sse2, true) => drive::<Plain<vector::Sse2>, true>(window, shard),
            #[cfg(target_arch = "aarch64")]
            (Level::Neon, false) => drive::<Plain<vector::Neon>, false>(window, shard),
            #[cfg(target_arch = "aarch64")]
            (Level::Neon, true) => drive::<Plain<vector::Neon>, true>(window, shard),
            (_, false) => drive::<Plain<vector::Scalar>, false>(window, shard),
            (_, true) => drive::<Plain<vector::Scalar>, true>(window, shard),
        }
    }
}

pub(super) fn run_fields<const SQUARES: bool>(
    level: Level,
    window: &Window<'_>,
    wanted: &Wanted<'_>,
    shards: &mut [Shard],
    odd: &mut Vec<(usize, usize)>,
) -> u64 {
    // SAFETY: as in `run`.
    unsafe {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Sse2 => {
                fields::drive::<Plain<vector::Sse2>, SQUARES>(window, wanted, shards, odd)
            }
            #[cfg(target_arch = "aarch64")]
            Level::Neon => {
                fields::drive::<Plain<vector::Neon>, SQUARES>(window, wanted, shards, odd)
            }
            _ => fields::drive::<Plain<vector::Scalar>, SQUARES>(window, wanted, shards, odd),
        }
    }
}

/// The hash of a stored key, for tables that place it anew.
pub(super) fn short_hash(key: &ShortKey, seed: &Seed) -> u64 {
    let mixed = folded(key[0] ^ seed.0[0], key[1] ^ seed.0[1]);
    folded(mixed ^ seed.0[2], seed.0[3] | 1)
}

/// The same of three samples of a long key.
pub(super) fn samples_hash(key: &[u8], seed: &Seed) -> u64 {
    assert!(key.len() >= 16);
    // SAFETY: all bytes of the slice are readable; scalar code is everywhere.
    unsafe { Plain::<vector::Scalar>::hash_samples(key.as_ptr(), key.len(), seed) }
}

/// The same for long keys.
pub(super) fn long_hash(key: &[u8], seed: &Seed) -> u64 {
    assert!(key.len() >= 16);
    // SAFETY: all bytes of the slice are readable; scalar code is everywhere.
    unsafe { Plain::<vector::Scalar>::hash_long(key.as_ptr(), key.len(), seed) }
}

/// The 128-bit product, its halves added without carry.
#[inline(always)]
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// The value before one newline, from the eight bytes that end there, and how many bytes it takes
/// with its delimiter; None for any other shape.
#[inline(always)]
fn value(word: u64) -> Option<(i32, u32)> {
    let byte = |back: u32| (word >> (64 - 8 * back)) as u8;
    let digit = |back: u32| i32::from(byte(back)) - i32::from(b'0');
    let is_digit = |back: u32| (0..10).contains(&digit(back));
    let (d4, d5, d6) = (byte(4) == DELIMITER, byte(5) == DELIMITER, byte(6) == DELIMITER);
    let (m4, m5) = (byte(4) == b'-', byte(5) == b'-');
    let last = is_digit(1) & (byte(2) == b'.') & is_digit(3);
    let shaped = last & (d4 | (d5 & (m4 | is_digit(4))) | (d6 & m5 & is_digit(4)));
    let tens = if d4 | m4 { 0 } else { digit(4) };
    let magnitude = 100 * tens + 10 * digit(3) + digit(1);
    let negative = m4 | (m5 & !(d4 | d5));
    let tail = if d4 { 4 } else { 6 - u32::from(d5) };
    shaped.then_some((if negative { -magnitude } else { magnitude }, tail))
}

#[derive(Clone, Copy)]
struct Plain<V>(std::marker::PhantomData<V>);

// SAFETY: uses the scan vector only for scanning; reads what the trait allows.
unsafe impl<V: Vector> Rows for Plain<V> {
    type Scan = V;
    type Key = ShortKey;

    #[inline(always)]
    unsafe fn values(
        base: *const u8,
        ends: *const u32,
        values: *mut i32,
        masks: *mut u32,
        key_bytes: *mut u32,
    ) -> Shapes {
        let mut shapes = Shapes { odd: 0, long: 0 };
        for lane in 0..LANES {
            // SAFETY: nine ends, eight elements of each array, eight bytes before each end.
            unsafe {
                let (before, end) = (*ends.add(lane), *ends.add(lane + 1));
                let word = base.add(end as usize - 8).cast::<u64>().read_unaligned();
                let (value, tail) = value(u64::from_le(word)).unwrap_or((0, u32::MAX));
                let row_bytes = end.wrapping_sub(before);
                let bytes = row_bytes.wrapping_sub(tail);
                // The newline before counts as a byte of the row, the delimiter as one of the key.
                let even = u64::from(row_bytes) >= u64::from(tail) + 2 && row_bytes < 1 << 31;
                let long = even && bytes > SHORT_BYTES;
                shapes.odd |= u32::from(!even) << lane;
                shapes.long |= u32::from(long) << lane;
                *values.add(lane) = value;
                *masks.add(lane) = if even && !long { bytes } else { 0 };
                *key_bytes.add(lane) = bytes;
            }
        }
        shapes
    }

    #[inline(always)]
    unsafe fn key(from: *const u8, bytes: u32) -> ShortKey {
        // SAFETY: sixteen bytes from `from` on are readable.
        let (low, high) = unsafe {
            let words = from.cast::<u64>();
            (words.read_unaligned(), words.add(1).read_unaligned())
        };
        let keep = |bytes: u32| if bytes == 0 { 0 } else { u64::MAX >> (64 - 8 * bytes.min(8)) };
        [u64::from_le(low) & keep(bytes), u64::from_le(high) & keep(bytes.saturating_sub(8))]
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
        let pair = |at: usize| unsafe {
            let words = from.add(at).cast::<u64>();
            (words.read_unaligned(), words.add(1).read_unaligned())
        };
        let (first, middle, last) = (pair(0), pair((bytes - 16) / 2), pair(bytes - 16));
        let left = folded(first.0 ^ seed.0[0] ^ bytes as u64, first.1 ^ seed.0[1]);
        let right = folded(last.0 ^ seed.0[2], last.1 ^ seed.0[3]);
        let middle = folded(middle.0 ^ seed.0[1], middle.1 ^ seed.0[2]);
        folded(left ^ middle ^ seed.0[2], right ^ seed.0[3])
    }

    #[inline(always)]
    unsafe fn same_long(left: *const u8, right: *const u8, bytes: usize) -> bool {
        // SAFETY: `bytes` bytes are readable at both.
        unsafe {
            std::slice::from_raw_parts(left, bytes) == std::slice::from_raw_parts(right, bytes)
        }
    }

    #[inline(always)]
    unsafe fn hash_long(from: *const u8, bytes: usize, seed: &Seed) -> u64 {
        // SAFETY: every load lies in the `bytes >= 16` bytes.
        let pair = |at: usize| unsafe {
            let words = from.add(at).cast::<u64>();
            (words.read_unaligned(), words.add(1).read_unaligned())
        };
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
        let mut differ = 0;
        for lane in 0..LANES {
            // SAFETY: the caller vouches for eight keys and slots.
            unsafe {
                let (key, stored) =
                    (*keys.add(lane), (*entries.add(*slots.add(lane) as usize)).key);
                let difference = (key[0] ^ stored[0]) | (key[1] ^ stored[1]);
                differ |= u32::from(difference != 0) << lane;
            }
        }
        differ
    }

    #[inline(always)]
    fn prefetch(at: *const u8) {
        prefetch(at);
    }
}

/// Fetches a cache line at any address, where an instruction for it is known.
#[inline(always)]
pub(super) fn prefetch(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching never faults, whatever the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: prefetching never faults, whatever the address.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) at, options(nostack, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = at;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<(i32, u32)> {
        let mut bytes = [b'x'; 8];
        bytes[8 - text.len()..].copy_from_slice(text.as_bytes());
        value(u64::from_le_bytes(bytes))
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
