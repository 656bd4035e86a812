//! The hot loop: from bytes to updated table entries.
//!
//! In pseudo-code, for one window of whole rows:
//!
//! ```text
//! for each block of 8 KiB:
//!     ends = positions of its newlines                                  (stage 1)
//!     for each 64 of them:
//!         for each 8 rows:                                              (stage 2A)
//!             parse the value backwards from the newline
//!             key = first 16 bytes of the row, cut after the delimiter
//!             slot = hash(key); prefetch it
//!         for each 8 rows:                                              (stage 2B)
//!             compare the 8 keys with the 8 slots, one branch for all; mend what differs
//!             add the 8 values
//! ```
//!
//! Its departures from the plain program, and why:
//!
//! 1. Only newlines are searched for. A one-decimal value has one of four shapes, so its length,
//!    sign and digits follow from the eight bytes before the newline, without a branch, and with
//!    them the length of the key. No row waits for the row before it.
//! 2. A row that departs from those shapes is *odd*. It goes to the exact parser, and its lane goes
//!    on as a dummy that lands in the table's sink, so that the loop has no second path.
//! 3. A key of 16 bytes or more goes on as a dummy too; its row is put on a list without a branch
//!    and done after the batch.
//! 4. Slots are computed for 64 rows before the first is touched: with many keys the loop is then
//!    bound by throughput, not by the latency of cache misses.
//! 5. Keys are compared whole, always. A key that contains the delimiter is found out when it is
//!    inserted, which costs nothing per row: until then its rows miss.
//!
//! The driver is written once over [`Rows`], which holds what differs between levels: how eight
//! values are parsed and how a key is masked, hashed and compared. It is compiled inside one
//! function per level that carries the `target_feature`.

use fathom_machine::level::Level;
use fathom_machine::os::memory::{self, Zeroed};
use fathom_machine::vector::{Vector, positions_64};

use crate::chunk::Window;
use crate::reference::DELIMITER;
use crate::shard::Shard;
use crate::table::{Hashes, LongUnit, Seed, ShortEntry, ShortKey, Tenths, slot_of};

#[cfg(target_arch = "x86_64")]
mod avx2;
pub(crate) mod collect;
pub(crate) mod fields;
mod plain;
mod quad;

/// Bytes of input whose newlines are listed at a time: the list stays in the first-level cache.
const BLOCK_BYTES: usize = 8 << 10;

/// Rows whose slots are computed before the first is used.
const BATCH: usize = 64;

/// Rows parsed at once.
const LANES: usize = 8;

/// Longest key of the short table, its delimiter included.
const SHORT_BYTES: u32 = 16;

/// How rows are processed; chosen once per run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    pub(crate) level: Level,
}

/// What stage 2A knows of a batch.
#[repr(C, align(64))]
struct Batch<K> {
    keys: [K; BATCH],
    values: [i32; BATCH],
    /// Bytes of the key and its delimiter; 0 for a dummy.
    masks: [u32; BATCH],
    /// The same without the cut at 16: what long keys need.
    key_bytes: [u32; BATCH],
    slots: [u32; BATCH],
}

impl<K> Batch<K> {
    /// Where keys, values, masks, key bytes and slots start, without a reference to any that may not
    /// have been written yet.
    ///
    /// # Safety
    /// A batch fits at `batch`.
    #[inline(always)]
    unsafe fn parts(batch: *mut Batch<K>) -> (*mut K, *mut i32, *mut u32, *mut u32, *mut u32) {
        // SAFETY: the caller vouches for the memory; no element is read.
        unsafe {
            (
                (&raw mut (*batch).keys).cast(),
                (&raw mut (*batch).values).cast(),
                (&raw mut (*batch).masks).cast(),
                (&raw mut (*batch).key_bytes).cast(),
                (&raw mut (*batch).slots).cast(),
            )
        }
    }
}

/// A window of sixteen bytes of this array keeps that many bytes: bytes [16 - n .. 32 - n] start
/// with n ones.
static KEEP: [u8; 32] = {
    let mut keep = [0; 32];
    let mut i = 0;
    while i < 16 {
        keep[i] = 0xff;
        i += 1;
    }
    keep
};

/// What eight rows turned out to be, a bit per row.
#[derive(Clone, Copy)]
struct Shapes {
    odd: u32,
    long: u32,
}

/// The part of the kernel that differs between levels.
///
/// # Safety
/// Every method may use the instructions of its level: callers vouch that it is available.
unsafe trait Rows {
    /// The register newlines are searched with.
    type Scan: Vector;
    /// A key of sixteen bytes in the form comparisons like best.
    type Key: Copy;

    /// Parses the eight rows that end at `ends[1..9]`; `ends[0]` is the newline before the first.
    ///
    /// # Safety
    /// `base + ends[i]` lies in a [`Window`]: 64 bytes around it are readable.
    unsafe fn values(
        base: *const u8,
        ends: *const u32,
        values: *mut i32,
        masks: *mut u32,
        key_bytes: *mut u32,
    ) -> Shapes;

    /// The first `bytes <= 16` bytes at `from`, then zeros.
    ///
    /// # Safety
    /// Sixteen bytes from `from` on are readable.
    unsafe fn key(from: *const u8, bytes: u32) -> Self::Key;

    /// The first `bytes <= 15` bytes at `from`, the terminator of stored keys, then zeros.
    ///
    /// # Safety
    /// Sixteen bytes from `from` on are readable.
    unsafe fn field_key(from: *const u8, bytes: u32) -> Self::Key;

    /// Whether the entry has this key.
    ///
    /// # Safety
    /// As the trait.
    unsafe fn is_at(key: Self::Key, entry: &ShortEntry) -> bool;

    /// The key as the table stores it.
    ///
    /// # Safety
    /// As the trait.
    unsafe fn stored(key: Self::Key) -> ShortKey;

    /// Hashes a short key.
    ///
    /// # Safety
    /// As the trait.
    unsafe fn hash(key: Self::Key, seed: &Seed) -> u64;

    /// Hashes a key of `bytes >= 16` bytes by its first, middle and last sixteen: without a loop,
    /// whose end could not be predicted.
    ///
    /// # Safety
    /// `bytes` bytes from `from` on are readable.
    unsafe fn hash_samples(from: *const u8, bytes: usize, seed: &Seed) -> u64;

    /// Hashes a key of `bytes >= 16` bytes, all of them.
    ///
    /// # Safety
    /// `bytes` bytes from `from` on are readable.
    unsafe fn hash_long(from: *const u8, bytes: usize, seed: &Seed) -> u64;

    /// Whether two long keys of `bytes` bytes are the same.
    ///
    /// # Safety
    /// `bytes` bytes, and at least 32, are readable at both.
    unsafe fn same_long(left: *const u8, right: *const u8, bytes: usize) -> bool;

    /// Bit i is set where `keys[i]` is not the key of `entries[slots[i]]`.
    ///
    /// # Safety
    /// Eight keys and slots are readable and the slots lie in `entries`.
    unsafe fn differ(keys: *const Self::Key, slots: *const u32, entries: *const ShortEntry) -> u32;

    /// Adds a value to statistics.
    ///
    /// # Safety
    /// As the trait.
    #[inline(always)]
    unsafe fn add(to: &mut Tenths, value: i32) {
        to.add(value);
    }

    /// Fetches the cache line at `at`, which may be any address.
    fn prefetch(at: *const u8);
}

// SAFETY: two words and statistics of integers, and no padding between them.
unsafe impl Zeroed for ShortEntry {}

const _: () = assert!(size_of::<ShortEntry>() == 32 && size_of::<LongUnit>() == 64);

/// Units as their bytes.
pub(crate) fn bytes_of(units: &[LongUnit]) -> &[u8] {
    // SAFETY: a unit is integers and bytes in the order of C without padding: see its size.
    unsafe { std::slice::from_raw_parts(units.as_ptr().cast(), size_of_val(units)) }
}

/// The same to be written: any bytes are a unit.
pub(crate) fn bytes_of_mut(units: &mut [LongUnit]) -> &mut [u8] {
    // SAFETY: as in `bytes_of`.
    unsafe { std::slice::from_raw_parts_mut(units.as_mut_ptr().cast(), size_of_val(units)) }
}

/// Wishes for huge pages under the free room of a vector.
pub(crate) fn prefer_huge<T>(values: &mut Vec<T>) {
    memory::prefer_huge(values.spare_capacity_mut());
}

/// Fetches the cache line in which a value starts, if this machine can.
#[inline(always)]
pub(crate) fn prefetch<T>(value: &T) {
    plain::prefetch(std::ptr::from_ref(value).cast());
}

/// Takes every row of the window into the shard; returns the number of lines.
pub(crate) fn run(kernel: Kernel, window: &Window<'_>, shard: &mut Shard, squares: bool) -> u64 {
    match kernel.level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level was checked to be available when the kernel was chosen.
        Level::Avx2 => unsafe {
            if squares {
                avx2::run::<true>(window, shard)
            } else {
                avx2::run::<false>(window, shard)
            }
        },
        level => plain::run(level, window, shard, squares),
    }
}

/// The hashes tables use at this level.
pub(crate) fn hashes(level: Level) -> Hashes {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => {
            Hashes { short: avx2::short_hash, samples: avx2::samples_hash, long: avx2::long_hash }
        }
        _ => Hashes {
            short: plain::short_hash,
            samples: plain::samples_hash,
            long: plain::long_hash,
        },
    }
}

/// The driver.
///
/// # Safety
/// The level of `R` is available.
#[inline(always)]
unsafe fn drive<R: Rows, const SQUARES: bool>(window: &Window<'_>, shard: &mut Shard) -> u64 {
    let base = window.buffer().as_ptr();
    let to = window.to();
    let mut at = window.from();
    let mut lines = 0;
    // ends[0] is the newline before the first pending row, ends[1..=pending] end the rows. A block
    // adds at most BLOCK_BYTES ends to fewer than BATCH pending ones, and writes up to six more
    // than it counts; a group reads eight.
    let mut ends = [0_u32; BATCH + BLOCK_BYTES + 16];
    let mut pending = 0;
    let mut dense = true;
    ends[0] = at as u32 - 1;
    while at < to {
        let stop = to.min(at + BLOCK_BYTES);
        // SAFETY: the block lies in the window; see the size of `ends`.
        let found = unsafe {
            let into = ends.as_mut_ptr().add(pending + 1);
            if dense {
                newlines::<R, 6>(base, at, stop, into)
            } else {
                newlines::<R, 3>(base, at, stop, into)
            }
        };
        // Rows of one block are about as long as those of the next.
        dense = found * 32 > stop - at;
        pending += found;
        at = stop;
        let mut done = 0;
        while pending - done >= BATCH {
            // SAFETY: rows done..done + BATCH are in `ends`; the level is available.
            unsafe { batch::<R, SQUARES>(window, ends.as_ptr().add(done), BATCH, shard) };
            done += BATCH;
        }
        lines += done as u64;
        ends.copy_within(done..=pending, 0);
        pending -= done;
    }
    // Rows of the last, incomplete group: its spare lanes repeat the last end, as rows of less
    // than no bytes, which are odd and then left out.
    let last = ends[pending];
    ends[pending + 1..pending + 1 + LANES].fill(last);
    // SAFETY: `pending` rows are in `ends`; the level is available.
    unsafe { batch::<R, SQUARES>(window, ends.as_ptr(), pending, shard) };
    lines + pending as u64
}

/// Writes the places of the newlines from `at` to `stop` and returns how many there are.
///
/// # Safety
/// The level of `R` is available, `at..stop` lies in a window from `base` on, and `into` has room for
/// as many as there are bytes and for `FIRST` more.
#[inline(always)]
unsafe fn newlines<R: Rows, const FIRST: usize>(
    base: *const u8,
    mut at: usize,
    stop: usize,
    into: *mut u32,
) -> usize {
    let mut found = 0;
    while at < stop {
        // SAFETY: a window has 64 readable bytes past its end, so past any `at` inside it.
        let mut mask = unsafe { positions_64::<R::Scan>(base.add(at), b'\n') };
        if stop - at < 64 {
            mask &= (1 << (stop - at)) - 1;
        }
        // SAFETY: forwarded.
        unsafe { write_positions::<FIRST>(into.add(found), mask, at as u32) };
        found += mask.count_ones() as usize;
        at += 64;
    }
    found
}

/// Writes the position of each set bit, `at` added. The first ones are written whether they exist
/// or not, so that one branch decides for 64 bytes: six where rows are short, which seldom have fewer
/// than ten bytes, and three where 64 bytes hardly ever end more rows.
///
/// # Safety
/// `into` has room for as many as there are bits, and for at least `FIRST`.
#[inline(always)]
pub(crate) unsafe fn write_positions<const FIRST: usize>(into: *mut u32, mut mask: u64, at: u32) {
    let found = mask.count_ones() as usize;
    for i in 0..FIRST {
        // SAFETY: room for the first ones.
        unsafe { *into.add(i) = at.wrapping_add(mask.trailing_zeros()) };
        mask &= mask.wrapping_sub(1);
    }
    let mut i = FIRST;
    while i < found {
        // SAFETY: room for `found`.
        unsafe { *into.add(i) = at + mask.trailing_zeros() };
        mask &= mask.wrapping_sub(1);
        i += 1;
    }
}

/// Stage 2 for `rows <= BATCH` rows.
///
/// # Safety
/// `ends[0..=rows]` are newlines of the window (the first may stand one before it), followed by
/// eight more readable positions inside it; the level of `R` is available.
#[inline(always)]
unsafe fn batch<R: Rows, const SQUARES: bool>(
    window: &Window<'_>,
    ends: *const u32,
    rows: usize,
    shard: &mut Shard,
) {
    shard.short.prepare(BATCH);
    shard.long.prepare();
    // SAFETY: forwarded.
    unsafe {
        if shard.mostly_long {
            long_stages::<R, SQUARES>(window, ends, rows, shard);
        } else if shard.short.is_displaced() {
            stages::<R, SQUARES, true>(window, ends, rows, shard);
        } else {
            stages::<R, SQUARES, false>(window, ends, rows, shard);
        }
    }
}

/// # Safety
/// As [`batch`]; `DISPLACED` says whether the short table has displacements.
#[inline(always)]
unsafe fn stages<R: Rows, const SQUARES: bool, const DISPLACED: bool>(
    window: &Window<'_>,
    ends: *const u32,
    rows: usize,
    shard: &mut Shard,
) {
    let base = window.buffer().as_ptr();
    let mut batch = std::mem::MaybeUninit::<Batch<R::Key>>::uninit();
    // SAFETY: only element pointers are made of the uninitialised batch, and each element is
    // written in stage 2A before stage 2B reads it: both loops cover the same groups.
    let (keys, values, masks, key_bytes, slots) = unsafe { Batch::parts(batch.as_mut_ptr()) };
    let mut longs = [0_u8; BATCH + LANES];
    let mut long_count = 0;

    let seed = shard.short.seed;
    let sink = shard.short.sink() as u32;
    let mask = shard.short.mask();
    let entries = shard.short.entries.as_mut_ptr();
    let displacements: &[u16] = &shard.short.displacements;
    let mut odd_rows = 0_u64;
    let mut group = 0;
    while group < rows {
        // SAFETY: eight ends follow `group`, all inside the window; every index below is smaller
        // than BATCH, since `rows` is and groups are eight aligned.
        unsafe {
            let shapes = R::values(
                base,
                ends.add(group),
                values.add(group),
                masks.add(group),
                key_bytes.add(group),
            );
            odd_rows |= u64::from(shapes.odd) << group;
            for lane in 0..LANES {
                let row = group + lane;
                let bytes = *masks.add(row);
                let start = *ends.add(row) as usize + 1;
                let key = R::key(base.add(start), bytes);
                let hash = R::hash(key, &seed);
                let slot = if DISPLACED {
                    slot_of(hash, displacements, mask) as u32
                } else {
                    (hash & mask) as u32
                };
                let slot = if bytes == 0 { sink + lane as u32 } else { slot };
                *keys.add(row) = key;
                *slots.add(row) = slot;
                R::prefetch(entries.add(slot as usize).cast());
            }
            let mut rest = shapes.long;
            while rest != 0 {
                longs[long_count] = (group + rest.trailing_zeros() as usize) as u8;
                long_count += 1;
                rest &= rest - 1;
            }
        }
        group += LANES;
    }

    let mut group = 0;
    let mut missed = 0;
    while group < rows {
        // SAFETY: as above; slots lie in the table because they were masked, or are the sink.
        // Inserting does not move entries: `prepare` made room for a batch of keys.
        unsafe {
            let differ = R::differ(keys.add(group), slots.add(group), entries);
            if differ != 0 {
                missed += 1;
                mend::<R>(shard, keys.add(group), slots.add(group), differ, group, &mut odd_rows);
            }
            let entries = shard.short.entries.as_mut_ptr();
            for row in group..group + LANES {
                let (slot, value) = (*slots.add(row) as usize, *values.add(row));
                R::add(&mut (*entries.add(slot)).tenths, value);
                if SQUARES {
                    // The sink takes anything, so this may wrap there, and only there.
                    let square = i64::from(value).wrapping_mul(value.into()) as u64;
                    let sum = shard.short.aside.squares.as_mut_ptr().add(slot);
                    *sum = (*sum).wrapping_add(square);
                }
            }
        }
        group += LANES;
    }
    shard.short.groups += (rows / LANES) as u64;
    shard.short.missed_groups += missed;
    shard.mostly_long = long_count > BATCH / 2;

    if long_count > 0 {
        // SAFETY: rows in `longs` are of this batch, their keys inside the window.
        unsafe {
            // Key bytes include the delimiter, which is no part of the key.
            let place_of = |row: u8| {
                let start = *ends.add(row as usize) as usize + 1;
                (start, *key_bytes.add(row as usize) as usize - 1)
            };
            let longs = &longs[..long_count];
            odd_rows |=
                long_rows::<R, SQUARES>(window, place_of, longs, values, Some(DELIMITER), shard);
        }
    }
    // SAFETY: forwarded.
    unsafe { hand_over(window, ends, odd_rows & first(rows), shard) };
}

/// A bit for each of the first rows.
#[inline(always)]
fn first(rows: usize) -> u64 {
    if rows < BATCH { (1 << rows) - 1 } else { u64::MAX }
}

/// Gives odd rows to the exact parser.
///
/// # Safety
/// `ends` has the newlines before and behind each row that has a bit.
#[inline(always)]
unsafe fn hand_over(window: &Window<'_>, ends: *const u32, mut rows: u64, shard: &mut Shard) {
    while rows != 0 {
        let row = rows.trailing_zeros() as usize;
        rows &= rows - 1;
        // SAFETY: the caller vouches for both.
        let (before, end) = unsafe { (*ends.add(row) as usize, *ends.add(row + 1) as usize) };
        shard.odd(window.buffer(), before + 1, end);
    }
}

/// Stage 2 where most keys are long: rows are parsed as in [`stages`] but then sorted into lists,
/// so that long keys do not go through the short table as dummies, which took a fifth of their time.
///
/// # Safety
/// As [`batch`].
#[inline(always)]
unsafe fn long_stages<R: Rows, const SQUARES: bool>(
    window: &Window<'_>,
    ends: *const u32,
    rows: usize,
    shard: &mut Shard,
) {
    let base = window.buffer().as_ptr();
    let mut batch = std::mem::MaybeUninit::<Batch<R::Key>>::uninit();
    // SAFETY: only element pointers are made of the uninitialised batch. What the first loop writes
    // and the others read is of the same rows; keys and slots are written and read for short rows.
    let (keys, values, masks, key_bytes, slots) = unsafe { Batch::parts(batch.as_mut_ptr()) };
    let (mut odd_rows, mut long_rows_of) = (0_u64, 0_u64);
    for group in (0..rows).step_by(LANES) {
        // SAFETY: eight ends follow `group`, all inside the window; `group + 8 <= BATCH`.
        unsafe {
            let (ends, values) = (ends.add(group), values.add(group));
            let shapes = R::values(base, ends, values, masks.add(group), key_bytes.add(group));
            odd_rows |= u64::from(shapes.odd) << group;
            long_rows_of |= u64::from(shapes.long) << group;
        }
    }
    odd_rows &= first(rows);
    long_rows_of &= first(rows);
    let short_rows = first(rows) & !odd_rows & !long_rows_of;

    let seed = shard.short.seed;
    let mask = shard.short.mask();
    let mut rest = short_rows;
    while rest != 0 {
        let row = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        // SAFETY: `row < rows`; a short row's key and delimiter have 2 to 16 bytes in the window.
        unsafe {
            let key = R::key(base.add(*ends.add(row) as usize + 1), *masks.add(row));
            let slot = slot_of(R::hash(key, &seed), &shard.short.displacements, mask);
            *keys.add(row) = key;
            *slots.add(row) = slot as u32;
            R::prefetch(shard.short.entries.as_ptr().add(slot).cast());
        }
    }
    let mut longs = [0_u8; BATCH];
    let mut long_count = 0;
    let mut rest = long_rows_of;
    while rest != 0 {
        longs[long_count] = rest.trailing_zeros() as u8;
        long_count += 1;
        rest &= rest - 1;
    }
    // SAFETY: rows in `longs` are of this batch, their keys inside the window; key bytes include the
    // delimiter.
    odd_rows |= unsafe {
        let place_of = |row: u8| {
            let start = *ends.add(row as usize) as usize + 1;
            (start, *key_bytes.add(row as usize) as usize - 1)
        };
        let longs = &longs[..long_count];
        long_rows::<R, SQUARES>(window, place_of, longs, values, Some(DELIMITER), shard)
    };
    let mut rest = short_rows;
    let mut missed = 0;
    while rest != 0 {
        let row = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        // SAFETY: written above for short rows. Slots lie in the table, which `prepare` made large
        // enough for a batch of new keys.
        unsafe {
            let entry = shard.short.entries.as_ptr().add(*slots.add(row) as usize);
            if !R::is_at(*keys.add(row), &*entry) {
                missed += 1;
                mend::<R>(shard, keys.add(row), slots.add(row), 1, row, &mut odd_rows);
            }
            let (slot, value) = (*slots.add(row) as usize, *values.add(row));
            R::add(&mut (*shard.short.entries.as_mut_ptr().add(slot)).tenths, value);
            if SQUARES {
                let sum = shard.short.aside.squares.as_mut_ptr().add(slot);
                *sum = (*sum).wrapping_add(i64::from(value).wrapping_mul(value.into()) as u64);
            }
        }
    }
    shard.short.groups += u64::from(short_rows.count_ones()) / LANES as u64;
    shard.short.missed_groups += missed;
    shard.mostly_long = long_count > BATCH / 2;
    // SAFETY: forwarded.
    unsafe { hand_over(window, ends, odd_rows, shard) };
}

/// Finds or inserts the keys that are not in their first slot. A new key that contains the
/// delimiter before its end belongs to an odd row.
///
/// # Safety
/// Eight keys and slots are readable and writable, for the rows from `group` on.
#[cold]
#[inline(never)]
unsafe fn mend<R: Rows>(
    shard: &mut Shard,
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
                shard.short.find_or_insert_from(*slots.add(lane) as usize, &key) as u32
            } else {
                *odd_rows |= 1 << (group + lane);
                shard.short.sink() as u32
            };
        }
    }
}

/// Rows whose keys have 16 bytes and more: all hashes first, then all slots, then keys, so that
/// their cache misses overlap. Keys of up to 128 bytes take no branch that depends on their length:
/// with loops over the bytes of a key, whose ends are hard to predict, keys of 1 to 100 bytes took
/// 1.5x as long.
///
/// # Safety
/// For each of `longs`, `place_of` tells where in the window a key of at least 16 bytes starts and how
/// many bytes it has, and `values` has its value; the level of `R` is available.
#[inline(always)]
unsafe fn long_rows<R: Rows, const SQUARES: bool>(
    window: &Window<'_>,
    place_of: impl Fn(u8) -> (usize, usize),
    longs: &[u8],
    values: *const i32,
    forbidden: Option<u8>,
    shard: &mut Shard,
) -> u64 {
    // SAFETY: forwarded.
    unsafe {
        if shard.long.thorough {
            long_rows_hashed::<R, SQUARES, true>(window, place_of, longs, values, forbidden, shard)
        } else {
            long_rows_hashed::<R, SQUARES, false>(window, place_of, longs, values, forbidden, shard)
        }
    }
}

/// # Safety
/// As [`long_rows`]; `THOROUGH` says how the table hashes.
#[inline(always)]
unsafe fn long_rows_hashed<R: Rows, const SQUARES: bool, const THOROUGH: bool>(
    window: &Window<'_>,
    place_of: impl Fn(u8) -> (usize, usize),
    longs: &[u8],
    values: *const i32,
    forbidden: Option<u8>,
    shard: &mut Shard,
) -> u64 {
    let buffer = window.buffer();
    let mut hashes = std::mem::MaybeUninit::<[u64; BATCH]>::uninit();
    let hashes = hashes.as_mut_ptr().cast::<u64>();
    let mut found = std::mem::MaybeUninit::<[u32; BATCH]>::uninit();
    let found = found.as_mut_ptr().cast::<u32>();
    assert!(longs.len() <= BATCH);
    let seed = shard.long.seed;
    let trusted = shard.long.trust_hash;
    let mask = shard.long.slots.len() - 1;
    let slots = shard.long.slots.as_ptr();
    let units = shard.long.units.as_mut_ptr();
    for (i, &row) in longs.iter().enumerate() {
        let (start, bytes) = place_of(row);
        // SAFETY: the key lies in the window and has at least 16 bytes; the level is available. The
        // slot is masked, and `i` is below BATCH.
        unsafe {
            let key = buffer.as_ptr().add(start);
            let hash = if THOROUGH {
                R::hash_long(key, bytes, &seed)
            } else {
                R::hash_samples(key, bytes, &seed)
            };
            *hashes.add(i) = hash;
            R::prefetch(slots.add(hash as usize & mask).cast());
        }
    }
    for i in 0..longs.len() {
        // SAFETY: the slot is masked; hash `i` was written above.
        let unit = unsafe { *slots.add(*hashes.add(i) as usize & mask) };
        // SAFETY: as above.
        unsafe { *found.add(i) = unit };
        let first = units.wrapping_add(unit as usize).wrapping_sub(1);
        R::prefetch(first.cast());
        R::prefetch(first.wrapping_add(1).cast());
    }
    let mut misses = 0_u64;
    for (i, &row) in longs.iter().enumerate() {
        let (start, bytes) = place_of(row);
        // SAFETY: slots number units from 1 and number first ones; as many units as the bytes of a
        // key take follow. The window has 64 readable bytes behind its end.
        unsafe {
            let unit = *found.add(i) as usize;
            let first = units.wrapping_add(unit).wrapping_sub(1);
            let key = buffer.as_ptr().add(start);
            let same = unit != 0
                && if THOROUGH && trusted {
                    (*first).hash == *hashes.add(i)
                } else {
                    let stored = (&raw const (*first).key).cast();
                    (*first).bytes as usize == bytes && R::same_long(key, stored, bytes)
                };
            if same {
                let value = *values.add(row as usize);
                R::add(&mut (*first).tenths, value);
                if SQUARES {
                    shard.long.aside.squares[(*first).index as usize] += (value * value) as u64;
                }
            } else {
                misses |= 1 << i;
            }
        }
    }
    let mut odd_rows = 0;
    while misses != 0 {
        let i = misses.trailing_zeros() as usize;
        misses &= misses - 1;
        let (start, bytes) = place_of(longs[i]);
        // SAFETY: rows come from `longs`; hash `i` was written above.
        let (value, hash) = unsafe { (*values.add(longs[i] as usize), *hashes.add(i)) };
        let key = &buffer[start..start + bytes];
        if !shard.add_long(key, hash, value, forbidden) {
            odd_rows |= 1 << longs[i];
        }
    }
    odd_rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_bytes_of_a_short_key_leave_slots_unused_under_any_seed() {
        // Hostile keys differ where a weak hash mixes least; each pair of bytes must reach slots as
        // evenly as chance, which leaves a share of 1/e free.
        for level in Level::available() {
            let seed = Seed::random();
            let hash = hashes(level).short;
            for (i, j) in (0..15).flat_map(|i| (0..i).map(move |j| (i, j))) {
                let mut taken = vec![false; 1 << 16];
                for pair in 0..=u16::MAX {
                    let mut bytes = [b'k'; 16];
                    [bytes[i], bytes[j]] = pair.to_le_bytes();
                    let (words, _) = bytes.as_chunks::<8>();
                    let key = [0, 1].map(|word| u64::from_le_bytes(words[word]));
                    taken[hash(&key, &seed) as usize & 0xffff] = true;
                }
                let free = taken.iter().filter(|&&taken| !taken).count();
                assert!(free < 26_000, "{level}: bytes {i} and {j} leave {free} slots free");
            }
        }
    }

    #[test]
    fn seeds_are_random() {
        assert_ne!(Seed::random().0, Seed::random().0);
        assert_eq!(std::mem::size_of::<Seed>(), 32);
    }

    #[test]
    fn the_hashes_tables_use_are_those_of_the_loop() {
        for level in Level::available() {
            let seed = Seed::random();
            for bytes in 16..200 {
                let key: Vec<u8> = (0..bytes).map(|i| i as u8).collect();
                let hashes = hashes(level);
                let mut twin = key.clone();
                twin[bytes / 2] ^= 1;
                assert_ne!((hashes.long)(&key, &seed), (hashes.long)(&twin, &seed), "{level}");
                assert_ne!((hashes.samples)(&key, &seed), (hashes.samples)(&twin, &seed));
                assert_eq!((hashes.long)(&key, &seed), (hashes.long)(&key.clone(), &seed));
            }
        }
    }
}
