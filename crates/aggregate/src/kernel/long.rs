//! Rows whose keys have 16 bytes and more, of `key;value` lines and of delimited text.

use fathom_machine::prefetch;

use super::rows::Rows;
use super::update::add_long;
use super::{BATCH, Span};
use crate::table::{Long, Tables, slot_of};

/// Rows whose keys have 16 bytes and more: all hashes first, then all slots, then keys, so that
/// their cache misses overlap. Keys of up to 128 bytes take no branch that depends on their length:
/// with loops over the bytes of a key, whose ends are hard to predict, keys of 1 to 100 bytes took
/// 1.5x as long.
///
/// # Safety
/// For each of `longs`, `place_of` tells where in the span a key of at least 16 bytes starts and how
/// many bytes it has, and `values` has its value; the level of `R` is available.
#[inline(always)]
pub(super) unsafe fn long_rows<R: Rows, const SQUARES: bool>(
    span: &Span<'_>,
    place_of: impl Fn(u8) -> (usize, usize),
    longs: &[u8],
    values: *const i32,
    forbidden: Option<u8>,
    tables: &mut Tables,
) -> u64 {
    // SAFETY: forwarded.
    unsafe {
        if tables.long.thorough {
            long_rows_hashed::<R, SQUARES, true>(span, place_of, longs, values, forbidden, tables)
        } else {
            long_rows_hashed::<R, SQUARES, false>(span, place_of, longs, values, forbidden, tables)
        }
    }
}

/// # Safety
/// As [`long_rows`]; `THOROUGH` says how the table hashes.
#[inline(always)]
unsafe fn long_rows_hashed<R: Rows, const SQUARES: bool, const THOROUGH: bool>(
    span: &Span<'_>,
    place_of: impl Fn(u8) -> (usize, usize),
    longs: &[u8],
    values: *const i32,
    forbidden: Option<u8>,
    tables: &mut Tables,
) -> u64 {
    let base = span.base();
    let mut hashes = std::mem::MaybeUninit::<[u64; BATCH]>::uninit();
    let hashes = hashes.as_mut_ptr().cast::<u64>();
    let mut found = std::mem::MaybeUninit::<[u32; BATCH]>::uninit();
    let found = found.as_mut_ptr().cast::<u32>();
    assert!(longs.len() <= BATCH);
    let seed = tables.long.seed;
    let trusted = tables.long.trust_hash;
    let (slots, mask) = (tables.long.slots.as_ptr(), tables.long.mask());
    let displacements = &*tables.long.displacements;
    let units = tables.long.units.as_mut_ptr();
    for (i, &row) in longs.iter().enumerate() {
        let (start, bytes) = place_of(row);
        // SAFETY: the key lies in the span and has at least 16 bytes; the level is available. The
        // slot is masked, and `i` is below BATCH.
        unsafe {
            let key = base.add(start);
            let hash = if THOROUGH {
                R::hash_long(key, bytes, &seed)
            } else {
                R::hash_samples(key, bytes, &seed)
            };
            *hashes.add(i) = hash;
            let slot = slot_of(hash, displacements, mask);
            *found.add(i) = slot as u32;
            prefetch(slots.add(slot));
        }
    }
    for i in 0..longs.len() {
        // SAFETY: the slot is one of the table, and was written above.
        let unit = unsafe { *slots.add(*found.add(i) as usize) };
        // SAFETY: as above.
        unsafe { *found.add(i) = unit };
        let first = units.wrapping_add(unit as usize).wrapping_sub(1);
        prefetch(first);
        prefetch(first.wrapping_add(1));
    }
    let mut misses = 0_u64;
    for (i, &row) in longs.iter().enumerate() {
        let (start, bytes) = place_of(row);
        // SAFETY: slots number units from 1 and number first ones; as many units as the bytes of a
        // key take follow. The span has 64 readable bytes behind its end.
        unsafe {
            let unit = *found.add(i) as usize;
            let first = units.wrapping_add(unit).wrapping_sub(1);
            let key = base.add(start);
            span.fetch_behind(start, bytes);
            let same = unit != 0
                && if THOROUGH && trusted {
                    (*first).hash == *hashes.add(i)
                } else {
                    let stored = (&raw const (*first).key).cast();
                    (*first).bytes as usize == bytes && R::same_long(key, stored, bytes)
                };
            if same {
                let value = *values.add(row as usize);
                add_long::<R, SQUARES>(&mut tables.long, unit - 1, value);
            } else {
                misses |= 1 << i;
            }
        }
    }
    tables.long.rows += longs.len() as u64;
    let mut odd_rows = 0;
    while misses != 0 {
        let i = misses.trailing_zeros() as usize;
        misses &= misses - 1;
        let (start, bytes) = place_of(longs[i]);
        // SAFETY: rows come from `longs`; hash `i` was written above, and the key lies in the span.
        unsafe {
            let (value, hash) = (*values.add(longs[i] as usize), *hashes.add(i));
            let at = match find::<R>(&tables.long, base.add(start), bytes, hash) {
                Some(at) => {
                    tables.long.missed_rows += 1;
                    Some(at)
                }
                None => insert(span, (start, bytes), hash, forbidden, &mut tables.long),
            };
            match at {
                Some(at) => add_long::<R, SQUARES>(&mut tables.long, at, value),
                None => odd_rows |= 1 << longs[i],
            }
        }
    }
    odd_rows
}

/// The first unit of a key that is in one of the first few slots from its own on: as [`Long::find_or_insert`] finds it,
/// of bytes to which there may be no reference.
///
/// # Safety
/// `bytes >= 16` bytes from `key` on, and at least 32, are readable; the level of `R` is available.
#[inline(always)]
unsafe fn find<R: Rows>(long: &Long, key: *const u8, bytes: usize, hash: u64) -> Option<usize> {
    const PROBES: usize = 16;
    let mask = long.mask();
    let first = slot_of(hash, &long.displacements, mask);
    for probe in 0..PROBES {
        let at = (long.slots[(first + probe) & mask as usize] as usize).checked_sub(1)?;
        let unit = &long.units[at];
        // SAFETY: as many units as the bytes of a key take follow its first.
        let is_same = || unsafe { R::same_long(key, (&raw const unit.key).cast(), bytes) };
        if unit.hash == hash && (long.trust_hash || unit.bytes as usize == bytes && is_same()) {
            return Some(at);
        }
    }
    None
}

/// The first unit of a key that is probably new, and then added; None as [`Long::find_or_insert`] says.
#[cold]
#[inline(never)]
fn insert(
    span: &Span<'_>,
    (start, bytes): (usize, usize),
    hash: u64,
    forbidden: Option<u8>,
    long: &mut Long,
) -> Option<usize> {
    let mut copy = Vec::new();
    let key = span.bytes(start..start + bytes, &mut copy);
    // A key and its hash belong together also where the key is not any more what was hashed.
    let hash = if span.is_live() { long.hash(key) } else { hash };
    long.find_or_insert(key, hash, forbidden)
}
