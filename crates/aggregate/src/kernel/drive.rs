//! The driver: the loop of the module above, once for all levels.

use fathom_machine::prefetch;
use fathom_machine::simd::SURPLUS;

use super::long::long_rows;
use super::rows::{Home, Parsed, Rows};
use super::span::AHEAD_BYTES;
use super::update::{add_short, add_square};
use super::{BATCH, LANES, Odd, Span, newlines};
use crate::line::DELIMITER;
use crate::table::{Tables, slot_of};

/// Bytes of input whose newlines are listed at a time: the list stays in the first-level cache, and a mapped file is fetched
/// [farther ahead](Span::fetch_ahead) than so.
const BLOCK_BYTES: usize = 2 << 10;

const _: () = assert!(BLOCK_BYTES < AHEAD_BYTES, "its end was fetched when its beginning was");
const _: () = assert!(SURPLUS <= BATCH, "the list of newlines has room for a batch");

/// Keys whose entries the first-level cache holds: fetching those ahead is only work.
const NEAR_KEYS: usize = 600;

/// What stages 2A and 2B find out about a batch.
#[repr(C, align(64))]
struct Batch<K> {
    keys: [K; BATCH],
    /// As in [`Parsed`].
    values: [i32; BATCH],
    masks: [u32; BATCH],
    key_bytes: [u32; BATCH],
    slots: [u32; BATCH],
}

/// Where keys, what is parsed, and slots of a batch start.
type Parts<K> = (*mut K, Parsed, *mut u32);

impl<K> Batch<K> {
    /// Where keys, what is parsed, and slots start, without a reference to any that may not
    /// have been written yet.
    ///
    /// # Safety
    /// A batch fits at `batch`.
    #[inline(always)]
    unsafe fn parts(batch: *mut Batch<K>) -> Parts<K> {
        // SAFETY: the caller vouches for the memory; no element is read.
        unsafe {
            let parsed = Parsed {
                values: (&raw mut (*batch).values).cast(),
                masks: (&raw mut (*batch).masks).cast(),
                key_bytes: (&raw mut (*batch).key_bytes).cast(),
            };
            ((&raw mut (*batch).keys).cast(), parsed, (&raw mut (*batch).slots).cast())
        }
    }
}

/// The driver.
///
/// # Safety
/// The level of `R` is available.
#[inline(always)]
pub(super) unsafe fn drive<R: Rows, const SQUARES: bool>(
    span: &Span<'_>,
    tables: &mut Tables,
    odd: &mut Odd,
) -> u64 {
    let base = span.base();
    let to = span.to();
    let mut at = span.from();
    let mut lines = 0;
    // ends[0] is the newline before the first pending row, ends[1..=pending] end the rows. A block
    // adds at most BLOCK_BYTES ends to fewer than BATCH pending ones, and writes up to SURPLUS more
    // than it counts; behind the last of all there is room for a batch.
    let mut ends = [0_u32; BATCH + BLOCK_BYTES + BATCH];
    let mut pending = 0;
    // Whether there are more than one in 32 bytes.
    let mut dense = true;
    ends[0] = at as u32 - 1;
    while at < to {
        let stop = to.min(at + BLOCK_BYTES);
        // SAFETY: the block lies in the span; see the size of `ends`.
        let found = unsafe {
            let into = ends.as_mut_ptr().add(pending + 1);
            match dense {
                true => newlines::list::<R::Scan, 6>(base, (at, stop), into),
                false => newlines::list::<R::Scan, 3>(base, (at, stop), into),
            }
        };
        // Rows of one block are about as long as those of the next.
        dense = found * 32 > stop - at;
        pending += found;
        at = stop;
        if at == to {
            let last = ends[pending];
            ends[pending + 1..pending + 1 + BATCH].fill(last);
        }
        let mut done = 0;
        while pending - done >= BATCH || at == to && done < pending {
            let rows = BATCH.min(pending - done);
            // SAFETY: rows from `done` on are in `ends`, and behind the last a batch of its end; the level is available.
            unsafe { batch::<R, SQUARES>(span, ends.as_ptr().add(done), rows, tables, odd) };
            done += rows;
        }
        lines += done as u64;
        ends.copy_within(done..=pending, 0);
        pending -= done;
    }
    lines
}

/// Stage 2 for a batch, of which all but so many rows repeat the last end: as rows of less than no bytes they are odd, and then left
/// out.
///
/// # Safety
/// `ends[0..=BATCH]` are newlines of the span (the first may stand one before it), `rows <= BATCH`; the level of `R` is available.
#[inline(always)]
unsafe fn batch<R: Rows, const SQUARES: bool>(
    span: &Span<'_>,
    ends: *const u32,
    rows: usize,
    tables: &mut Tables,
    odd: &mut Odd,
) {
    tables.short.prepare(BATCH);
    tables.long.prepare();
    let mut batch = std::mem::MaybeUninit::<Batch<R::Key>>::uninit();
    // SAFETY: only element pointers are made of the uninitialised batch. What the first loop writes and others read
    // is of the same rows.
    let parts = unsafe { Batch::parts(batch.as_mut_ptr()) };
    // SAFETY: forwarded.
    let odd_rows = unsafe {
        if tables.mostly_long {
            long_stages::<R, SQUARES>(span, ends, rows, parts, tables)
        } else {
            let (odd_rows, long_rows_of) = if tables.short.is_displaced() {
                stages::<R, SQUARES, true>(span, ends, rows, parts, tables)
            } else {
                stages::<R, SQUARES, false>(span, ends, rows, parts, tables)
            };
            odd_rows | long::<R, SQUARES>(span, ends, long_rows_of, parts.1, tables)
        }
    };
    // SAFETY: forwarded.
    unsafe { hand_over(ends, odd_rows & first(rows), odd) };
}

/// Takes the rows that have a bit, whose keys are long; a bit for each that is odd.
///
/// # Safety
/// As [`batch`]; the rows have been parsed.
#[inline(always)]
unsafe fn long<R: Rows, const SQUARES: bool>(
    span: &Span<'_>,
    ends: *const u32,
    rows: u64,
    parsed: Parsed,
    tables: &mut Tables,
) -> u64 {
    tables.mostly_long = rows.count_ones() as usize > BATCH / 2;
    if rows == 0 {
        return 0;
    }
    let mut longs = [0_u8; BATCH];
    let longs = list(rows, &mut longs);
    // SAFETY: these rows are of this batch, their keys inside the span.
    unsafe {
        // Key bytes include the delimiter, which is no part of the key.
        let place_of = |row: u8| {
            let start = *ends.add(row as usize) as usize + 1;
            (start, *parsed.key_bytes.add(row as usize) as usize - 1)
        };
        long_rows::<R, SQUARES>(span, place_of, longs, parsed.values, Some(DELIMITER), tables)
    }
}

/// Takes the rows of short keys; a bit for each row that is odd, and for each whose key is long.
///
/// # Safety
/// As [`batch`], with the parts of one; `DISPLACED` says whether the short table has displacements.
#[inline(always)]
unsafe fn stages<R: Rows, const SQUARES: bool, const DISPLACED: bool>(
    span: &Span<'_>,
    ends: *const u32,
    rows: usize,
    (keys, parsed, slots): Parts<R::Key>,
    tables: &mut Tables,
) -> (u64, u64) {
    let base = span.base();
    let Parsed { values, masks, .. } = parsed;
    let far = tables.short.keys() > NEAR_KEYS;
    // SAFETY: there are so many ends.
    let (from, to) = unsafe { (*ends as usize, *ends.add(BATCH) as usize) };
    // Lines behind each eight rows: one after the other where lines of the table have to be fetched as well.
    let lines = (to - from) / (BATCH / LANES * 64) + 1;
    if !far {
        span.fetch_ahead(from, BATCH / LANES * lines);
    }
    // SAFETY: forwarded.
    let (mut odd_rows, long_rows_of) = unsafe { parse::<R>(span, ends, rows, parsed) };
    let mut entries = tables.short.entries.as_mut_ptr();
    let home = Home {
        seed: tables.short.seed,
        displacements: &tables.short.displacements,
        mask: tables.short.mask(),
    };
    for group in (0..BATCH).step_by(LANES) {
        // SAFETY: every index is smaller than BATCH, since groups are eight aligned.
        unsafe {
            let from = (base, ends.add(group), masks.add(group).cast_const());
            R::place::<DISPLACED>(from, &home, keys.add(group), slots.add(group));
            if far {
                for row in group..group + LANES {
                    prefetch(entries.add(*slots.add(row) as usize));
                }
            }
        }
    }
    let mut dummies = odd_rows | long_rows_of | !first(rows);
    while dummies != 0 {
        let row = dummies.trailing_zeros() as usize;
        dummies &= dummies - 1;
        // SAFETY: `row` is below BATCH.
        unsafe { *slots.add(row) = (tables.short.sink() + row % LANES) as u32 };
    }
    let mut missed = 0;
    for group in (0..BATCH).step_by(LANES) {
        // SAFETY: as above; slots lie in the table because they were masked, or are the sink.
        // Inserting does not move entries: `prepare` made room for a batch of keys.
        unsafe {
            if far {
                span.fetch_ahead(from + group / LANES * lines * 64, lines);
            }
            let differ = R::differ(keys.add(group), slots.add(group), entries);
            if differ != 0 {
                missed += 1;
                mend::<R>(tables, keys.add(group), slots.add(group), differ, group, &mut odd_rows);
                // The same: but who changes entries by a reference is the only one who may have had one before.
                entries = tables.short.entries.as_mut_ptr();
            }
        }
    }
    // SAFETY: as above, of all groups.
    unsafe {
        R::add_all(entries, (slots, values));
        if SQUARES {
            for row in 0..rows {
                add_square(&mut tables.short, *slots.add(row) as usize, *values.add(row));
            }
        }
    }
    tables.short.groups += (rows / LANES) as u64;
    tables.short.missed_groups += missed;
    (odd_rows, long_rows_of)
}

/// Parses the values of a batch; a bit for each row that is odd, and for each whose key is long.
///
/// # Safety
/// As [`batch`]; there is a batch of elements of each kind to write.
#[inline(always)]
unsafe fn parse<R: Rows>(
    span: &Span<'_>,
    ends: *const u32,
    rows: usize,
    into: Parsed,
) -> (u64, u64) {
    let (mut odd, mut long) = (0, 0);
    for group in (0..BATCH).step_by(R::PARSED) {
        // SAFETY: so many ends follow `group`, all inside the window, and they are no more than a batch.
        unsafe {
            let shapes = R::values(span.base(), ends.add(group), into.at_row(group));
            odd |= u64::from(shapes.odd) << group;
            long |= u64::from(shapes.long) << group;
        }
    }
    (odd & first(rows), long & first(rows))
}

/// The rows that have a bit.
#[inline(always)]
fn list(mut rows: u64, into: &mut [u8; BATCH]) -> &[u8] {
    let mut count = 0;
    while rows != 0 {
        into[count] = rows.trailing_zeros() as u8;
        count += 1;
        rows &= rows - 1;
    }
    &into[..count]
}

/// A bit for each of the first rows.
#[inline(always)]
fn first(rows: usize) -> u64 {
    if rows < BATCH { (1 << rows) - 1 } else { u64::MAX }
}

/// Leaves odd rows to the exact parser.
///
/// # Safety
/// `ends` has the newlines before and behind each row that has a bit.
#[inline(always)]
unsafe fn hand_over(ends: *const u32, mut rows: u64, odd: &mut Odd) {
    while rows != 0 {
        let row = rows.trailing_zeros() as usize;
        rows &= rows - 1;
        // SAFETY: the caller vouches for both.
        let (before, end) = unsafe { (*ends.add(row) as usize, *ends.add(row + 1) as usize) };
        odd.push((before + 1, end));
    }
}

/// Stage 2 where most keys are long: rows are parsed as in [`stages`] but then sorted into lists,
/// so that long keys do not go through the short table as dummies, which took a fifth of their time.
///
/// # Safety
/// As [`batch`], with the parts of one, of which keys and slots are written and read for short rows.
#[inline(always)]
unsafe fn long_stages<R: Rows, const SQUARES: bool>(
    span: &Span<'_>,
    ends: *const u32,
    rows: usize,
    (keys, parsed, slots): Parts<R::Key>,
    tables: &mut Tables,
) -> u64 {
    let base = span.base();
    let Parsed { values, masks, .. } = parsed;
    // SAFETY: forwarded.
    let (mut odd_rows, long_rows_of) = unsafe { parse::<R>(span, ends, rows, parsed) };
    let short_rows = first(rows) & !odd_rows & !long_rows_of;

    let seed = tables.short.seed;
    let mask = tables.short.mask();
    let mut rest = short_rows;
    while rest != 0 {
        let row = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        // SAFETY: `row < rows`; a short row's key and delimiter have 2 to 16 bytes in the span.
        unsafe {
            let key = R::key(base.add(*ends.add(row) as usize + 1), *masks.add(row));
            let slot = slot_of(R::hash(key, &seed), &tables.short.displacements, mask);
            *keys.add(row) = key;
            *slots.add(row) = slot as u32;
            prefetch(tables.short.entries.as_ptr().add(slot));
        }
    }
    // SAFETY: forwarded.
    odd_rows |= unsafe { long::<R, SQUARES>(span, ends, long_rows_of, parsed, tables) };
    let mut rest = short_rows;
    let mut missed = 0;
    while rest != 0 {
        let row = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        // SAFETY: written above for short rows. Slots lie in the table, which `prepare` made large
        // enough for a batch of new keys.
        unsafe {
            let entry = tables.short.entries.as_ptr().add(*slots.add(row) as usize);
            if !R::is_at(*keys.add(row), &*entry) {
                missed += 1;
                mend::<R>(tables, keys.add(row), slots.add(row), 1, row, &mut odd_rows);
            }
            let (slot, value) = (*slots.add(row) as usize, *values.add(row));
            add_short::<R, SQUARES>(&mut tables.short, slot, value);
        }
    }
    tables.short.groups += u64::from(short_rows.count_ones()) / LANES as u64;
    tables.short.missed_groups += missed;
    odd_rows
}

/// Finds or inserts the keys that are not in their first slot. A new key that contains the
/// delimiter before its end belongs to an odd row.
///
/// # Safety
/// Eight keys and slots are readable and writable, for the rows from `group` on.
#[cold]
#[inline(never)]
unsafe fn mend<R: Rows>(
    tables: &mut Tables,
    keys: *const R::Key,
    slots: *mut u32,
    mut differ: u32,
    group: usize,
    odd_rows: &mut u64,
) {
    while differ != 0 {
        let lane = differ.trailing_zeros() as usize;
        differ &= differ - 1;
        // SAFETY: lane < 8.
        unsafe {
            let key = R::stored(*keys.add(lane));
            let bytes = key.map(u64::to_le_bytes);
            let delimiters = bytes.as_flattened().iter().filter(|&&b| b == DELIMITER).count();
            *slots.add(lane) = if delimiters == 1 {
                tables.short.find_or_insert_from(*slots.add(lane) as usize, &key) as u32
            } else {
                *odd_rows |= 1 << (group + lane);
                tables.short.sink() as u32
            };
        }
    }
}
