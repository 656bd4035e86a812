//! The per-thread tables of the hot path: keys of up to 15 bytes, and longer ones.
//!
//! ```text
//! Short, 32 bytes a slot, two slots a cache line:
//!   ┌────────────── key ; 0 0 … (16) ──────────────┬── total (8) ──┬ most (4) ┬ least (4) ┐
//!   └──────────────────────────────────────────────┴───────────────┴──────────┴───────────┘
//!   total = count << 36 | Σ (value + 1000)         values in tenths, -999 ..= 999
//!   most = largest value + 1000, least = 1000 - smallest value
//! Long, in units of 64 bytes, a cache line each: the first of a key, and those its rest takes
//!   ┌── total (8) ──┬ most (4) ┬ least (4) ┬ hash (8) ┬ bytes (4) ┬ index (4) ┬── key (32) ──┐
//!   └───────────────┴──────────┴───────────┴──────────┴───────────┴───────────┴──────────────┘
//!   ┌────────────────────────────── … key, then zeros (64) ───────────────────────────────────┐
//!   └─────────────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! The key of a short entry ends with its delimiter, so "a" and "a\0" differ without comparing
//! lengths, and no stored key is all zero: a zero key marks a free slot. Statistics of no value are
//! all zero too, so that a new table is what the system gives: memory of zeros that nobody touched.
//! A long key lies right behind its statistics and is followed by zeros, so that comparing it reads
//! whole units and never another key's.
//!
//! `total` holds two numbers in one addition. The count has 28 bits and the biased sum 36, which
//! [`FOLD_ROWS`] rows cannot fill: the tables are folded into wide totals before so many.
//!
//! Above some keys (`DISPLACE_KEYS`) a displacement table (`displace`) moves each bucket of keys so that every key
//! sits in its first slot, at loads linear probing could not bear; below, the least colliding of some seeds does as
//! well without the extra load. Long keys are displaced however few they are: fewer slots are nearer. A table that
//! grows does neither: that is done once rows have missed their first slots so often that it would have paid, the
//! rule of who rents skis until the rent reaches their price.
//!
//! Hostile keys: seeds are random per process, and a probe that is longer than chance allows makes
//! the table change its hash. Short keys get another seed and more room; long keys, which are first
//! hashed by three samples of sixteen bytes, are then hashed whole.

use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use fathom_machine::os::memory::{huge, reserve};

use crate::account::Account;
use crate::merge::Stats;

mod displace;
#[allow(unsafe_code)] // memory seen as other types: each block says why it holds
mod kernel;
mod long;
mod short;

pub(crate) use displace::slot_of;
pub(crate) use long::Long;
pub(crate) use short::{Short, ShortEntry, ShortKey, short_bytes, short_key};

/// Rows the bits below the count hold, whatever their values.
pub(crate) const FOLD_ROWS: u64 = ((1 << COUNT_SHIFT) - 1) / (2 * BIAS as u64 - 1);

const _: () = assert!(FOLD_ROWS < 1 << (u64::BITS - COUNT_SHIFT), "the count has room for them");
const _: () = assert!(FOLD_ROWS < u64::MAX / (BIAS * BIAS) as u64, "64 bits hold their squares");

/// Slots per key beyond which a crowded table does not grow: what makes it crowded is then no
/// accident of a seed, and memory would not help.
const MOST_SLOTS_PER_KEY: usize = 16;

/// Most keys of one table: slots are numbered in 32 bits.
pub(crate) const MOST_KEYS: usize = 1 << 30;

/// What is added to a value so that no sum and no extreme is zero or below.
pub(crate) const BIAS: i32 = 1000;

/// Where the count starts in a total.
pub(crate) const COUNT_SHIFT: u32 = 36;

/// The tables of one thread.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) short: Short,
    pub(crate) long: Long,
    /// Whether most keys of the last batch were long: those of the next will be.
    pub(crate) mostly_long: bool,
}

impl Tables {
    pub(crate) fn new(
        hashes: Hashes,
        with_squares: bool,
        trust_hash: bool,
        account: &Arc<Account>,
    ) -> Tables {
        Tables {
            short: Short::new(hashes.short, with_squares, account),
            long: Long::new(hashes, with_squares, trust_hash, account),
            mostly_long: false,
        }
    }

    pub(crate) fn fold(&mut self) {
        self.short.fold();
        self.long.fold();
    }

    /// Takes all keys out, of which nothing was folded; memory is kept.
    pub(crate) fn clear(&mut self) {
        self.short.clear();
        self.long.clear();
    }

    /// Whether anything was folded since they were empty.
    pub(crate) fn are_folded(&self) -> bool {
        !(self.short.aside.folded.is_empty() && self.long.aside.folded.is_empty())
    }

    /// Bytes that both would take anew at most for so many more keys, which have so many bytes together.
    pub(crate) fn growth(&self, more: usize, bytes: usize) -> usize {
        // Before each batch the loops want room for all of it.
        const BATCH: usize = 64;
        self.short.growth(more + BATCH) + self.long.growth(more, bytes)
    }

    /// Bytes that the next fold takes.
    pub(crate) fn fold_growth(&self) -> usize {
        self.short.fold_growth() + self.long.fold_growth()
    }

    /// Keys of both.
    pub(crate) fn keys(&self) -> usize {
        self.short.keys() + self.long.keys()
    }

    /// Whether one of them has more keys than it can number.
    pub(crate) fn are_full(&self) -> bool {
        self.short.keys().max(self.long.keys()) > MOST_KEYS
    }
}

/// Random per process, so that nobody can prepare keys that collide.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(crate) struct Seed(pub(crate) [u64; 4]);

impl Seed {
    pub(crate) fn random() -> Seed {
        let state = std::hash::RandomState::new();
        Seed(std::array::from_fn(|i| {
            let mut hasher = state.build_hasher();
            hasher.write_usize(i);
            hasher.finish()
        }))
    }
}

/// The hashes of a level: the tables call them when they place keys anew.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hashes {
    pub(crate) short: fn(&ShortKey, &Seed) -> u64,
    /// Of a key of at least sixteen bytes, by samples.
    pub(crate) samples: fn(&[u8], &Seed) -> u64,
    /// Of a key of at least sixteen bytes, all of it.
    pub(crate) long: fn(&[u8], &Seed) -> u64,
}

/// Statistics in tenths, sixteen bytes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(16))]
pub(crate) struct Tenths {
    total: u64,
    /// The largest value and the largest negated one, each with [`BIAS`].
    pub(crate) extremes: [i32; 2],
}

impl Tenths {
    #[inline(always)]
    pub(crate) fn add(&mut self, value: i32) {
        self.count_and_sum(value);
        let [most, least] = self.extremes;
        self.extremes = [most.max(BIAS + value), least.max(BIAS - value)];
    }

    /// What [`Tenths::add`] does but for the extremes, which are left to the caller.
    #[inline(always)]
    pub(crate) fn count_and_sum(&mut self, value: i32) {
        // Only the sink sees values below -BIAS, whose total means nothing.
        let biased = (value + BIAS) as u64;
        self.total = self.total.wrapping_add((1_u64 << COUNT_SHIFT).wrapping_add(biased));
    }

    /// Takes in those of another table; together they are of no more than [`FOLD_ROWS`] rows.
    pub(crate) fn absorb(&mut self, other: Tenths) {
        self.total += other.total;
        let [most, least] = self.extremes;
        self.extremes = [most.max(other.extremes[0]), least.max(other.extremes[1])];
    }

    fn count(self) -> u64 {
        self.total >> COUNT_SHIFT
    }

    fn sum(self) -> i64 {
        let biased = (self.total & ((1 << COUNT_SHIFT) - 1)) as i64;
        biased - self.count() as i64 * i64::from(BIAS)
    }
}

/// Wide totals of one entry: 2^63 / 999 rows fill the sum, which no thread reads in a hundred years.
#[derive(Clone, Copy, Debug, Default)]
struct Folded {
    count: u64,
    sum: i64,
}

/// What both tables keep beside their entries.
#[derive(Debug, Default)]
pub(crate) struct Aside {
    /// One per entry, once the first fold has happened.
    folded: Vec<Folded>,
    /// One per entry if squares are kept, otherwise empty.
    pub(crate) squares: Vec<u64>,
    /// What was in `squares` before the last fold, one per entry once there was one.
    folded_squares: Vec<u128>,
}

impl Aside {
    /// What it takes for so many entries.
    fn bytes(&self, entries: usize, with_squares: bool) -> usize {
        let has = |is: bool, bytes: usize| if is { entries * bytes } else { 0 };
        let folded = !self.folded.is_empty();
        has(folded, size_of::<Folded>())
            + has(with_squares, size_of::<u64>())
            + has(with_squares && folded, size_of::<u128>())
    }

    /// What its first fold takes with so many entries; the next ones take nothing.
    fn fold_growth(&self, entries: usize, with_squares: bool) -> usize {
        let squares = if with_squares { size_of::<u128>() } else { 0 };
        if self.folded.is_empty() { entries * (size_of::<Folded>() + squares) } else { 0 }
    }

    fn new(entries: usize, with_squares: bool) -> Aside {
        let squares = huge(if with_squares { entries } else { 0 }, 0);
        Aside { squares, ..Aside::default() }
    }

    /// Zeros of one more entry.
    fn push(&mut self, with_squares: bool) {
        let folded = !self.folded.is_empty();
        // For all of it before any: where memory is refused, a table that others share stays whole.
        room(&mut self.squares, with_squares);
        room(&mut self.folded, folded);
        room(&mut self.folded_squares, folded && with_squares);
        if with_squares {
            self.squares.push(0);
        }
        if folded {
            self.folded.push(Folded::default());
        }
        if folded && with_squares {
            self.folded_squares.push(0);
        }
    }

    fn copy(&mut self, to: usize, from: &Aside, at: usize) {
        if !from.folded.is_empty() {
            self.folded[to] = from.folded[at];
        }
        if !from.squares.is_empty() {
            self.squares[to] = from.squares[at];
        }
        if !from.folded_squares.is_empty() {
            self.folded_squares[to] = from.folded_squares[at];
        }
    }

    fn fold(&mut self, entries: usize, at: usize, tenths: &mut Tenths) {
        if self.folded.is_empty() {
            self.folded = huge(entries, Folded::default());
            self.folded_squares = huge(self.squares.len(), 0);
        }
        if let Some(squares) = self.squares.get_mut(at) {
            self.folded_squares[at] += u128::from(std::mem::take(squares));
        }
        self.folded[at].count += tenths.count();
        self.folded[at].sum += tenths.sum();
        tenths.total = 0;
    }

    fn stats(&self, at: usize, tenths: Tenths) -> Stats {
        let folded = self.folded.get(at).copied().unwrap_or_default();
        Stats::of_tenths(
            folded.count + tenths.count(),
            BIAS - tenths.extremes[1],
            tenths.extremes[0] - BIAS,
            folded.sum + tenths.sum(),
            self.squares.get(at).map(|&squares| {
                u128::from(squares) + self.folded_squares.get(at).copied().unwrap_or(0)
            }),
        )
    }
}

/// Makes room for one more, if there is to be one. Memory that is refused does not end the process, as it would within a
/// vector.
fn room<T>(list: &mut Vec<T>, is_wanted: bool) {
    if is_wanted && list.len() == list.capacity() {
        reserve(list, list.len().max(4));
    }
}

#[cfg(test)]
mod tests {
    use fathom_machine::os::memory::NoMemory;

    use super::*;

    #[test]
    fn memory_that_is_refused_beside_entries_is_an_error() {
        assert!(NoMemory::caught(|| Aside::new(1 << 60, true)).is_err());
        let fold = || Aside::default().fold(1 << 60, 0, &mut Tenths::default());
        assert!(NoMemory::caught(fold).is_err());
    }

    #[test]
    fn totals_hold_the_rows_between_two_folds() {
        let rows = FOLD_ROWS * ((1 << COUNT_SHIFT) + BIAS as u64 + 999);
        let tenths = Tenths { total: rows, ..Tenths::default() };
        assert_eq!((tenths.count(), tenths.sum()), (FOLD_ROWS, FOLD_ROWS as i64 * 999));
        let more = Tenths { total: rows + rows / FOLD_ROWS, ..tenths };
        assert_ne!(more.sum(), (FOLD_ROWS as i64 + 1) * 999, "the bound is the exact one");
    }
}
