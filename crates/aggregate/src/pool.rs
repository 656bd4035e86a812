//! Tables that all threads of a run share, for input whose keys come once or twice each.
//!
//! ```text
//! thread 1: tables, many keys ─┐              ┌─▶ part 1 ─▶ run ─┐
//! thread 2: tables, many keys ─┼─ by a hash ─▶├─▶ part 2 ─▶ run ─┼─▶ gathered with what threads kept
//! …                           ─┘              └─▶ …              ┘
//! ```
//!
//! Otherwise nearly every thread would have nearly every key, and each would be given memory, put in order and merged as
//! often: of 10 million rows of a million keys sixteen threads made seven times the work of one.
//! A thread whose tables have [many](POOLED_KEYS) keys and hardly more rows empties them into the parts, one after the
//! other, and goes on with tables that fit its cache. A part has each of its keys once for all threads, and what a
//! thread brings it at a time is of that part alone, so that it stays in the cache meanwhile. Once a thread has brought
//! the same keys so often that tables of its own would have been as cheap, it has these, and brings them in the end.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use fathom_machine::prefetch;

use crate::account::Account;
use crate::error::Error;
use crate::kernel::{self, Kernel};
use crate::merge::Keep;
use crate::reference::Held;
use crate::table::{FOLD_ROWS, Hashes, MOST_KEYS, Seed, Tables};
use crate::wide::Wide;

/// Threads from which it pays: with four it takes less for a million keys, and more for values that are no tenths.
pub(crate) const FEWEST_THREADS: usize = 8;

/// Keys of a thread's tables from which they may be emptied: with the next chunk of the usual size they fill three fifths of
/// a table of 8 MiB.
pub(crate) const POOLED_KEYS: usize = 80 << 10;

/// Rows of two of these keys from which they are kept, and the tables grow: they are then among some 140,000.
const KEPT_ROWS_OF_TWO_KEYS: u64 = 3;

/// Keys of all threads that tables of each may as well have: a second or third level of caches holds them.
const CACHED_KEYS: usize = 1 << 18;

/// How often a thread brings as many keys as there are, if those are more, before it has tables of its own for them: they
/// then took about as long as such tables do.
const PATIENCE: usize = 8;

/// States of any values that are taken in together: of each what it leads to is fetched before the first is looked at.
const BATCH: usize = 16;

/// Parts for each thread, so that none waits long for another.
const PARTS_PER_THREAD: usize = 4;

/// The shared tables of one column.
#[derive(Debug)]
pub(crate) struct Pool {
    parts: Vec<Mutex<Part>>,
    /// As in the threads.
    pub(crate) kernel: Kernel,
    pub(crate) keep: Keep,
    hashes: Hashes,
    /// Of the hashes that choose a part; those of parts have others.
    seed: Seed,
    /// What the tables of any values begin as, here and in the threads, so that keys are hashed once.
    wide: Wide,
    /// Where the next thread begins.
    next: AtomicUsize,
    /// Keys of all parts.
    keys: AtomicUsize,
}

/// A thread's way to the pool, until it has been there so often that tables of its own are cheaper.
#[derive(Debug)]
pub(crate) struct Link {
    pool: Arc<Pool>,
    /// Rows since its tables were empty.
    rows: u64,
    /// Keys that it brought and that were there.
    known: usize,
    is_used: bool,
}

impl Link {
    pub(crate) fn new(pool: Arc<Pool>) -> Link {
        Link { pool, rows: 0, known: 0, is_used: false }
    }

    /// Whether anything was brought there.
    pub(crate) fn is_used(&self) -> bool {
        self.is_used
    }

    /// Whether tables of so many keys are to be emptied after so many more rows.
    pub(crate) fn is_wanted(&mut self, keys: usize, rows: u64) -> bool {
        self.rows += rows;
        keys >= POOLED_KEYS && 2 * self.rows < KEPT_ROWS_OF_TWO_KEYS * keys as u64 && {
            let all = self.pool.keys.load(Relaxed);
            self.known < if all < CACHED_KEYS { all.max(1) } else { PATIENCE * all }
        }
    }

    /// Brings there all that tables know, which have to be emptied then.
    ///
    /// # Errors
    /// [`Error::TooManyKeys`].
    pub(crate) fn take(&mut self, held: Held<'_>) -> Result<(), Error> {
        self.known += self.pool.take(held, std::mem::take(&mut self.rows))?;
        self.is_used = true;
        Ok(())
    }
}

/// Tables of the keys of one part.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) tables: Tables,
    pub(crate) wide: Wide,
    /// Since they were folded.
    rows: u64,
}

/// The places of a table, sorted by their part.
struct Sorted {
    places: Vec<u32>,
    /// Where those of each part end.
    ends: Vec<usize>,
}

impl Sorted {
    /// From the part and the place of each.
    fn new(parts: usize, all: impl Iterator<Item = (usize, usize)>) -> Sorted {
        let all: Vec<(usize, usize)> = all.collect();
        let mut ends = vec![0; parts];
        all.iter().for_each(|&(part, _)| ends[part] += 1);
        let mut before = 0;
        for end in &mut ends {
            before += std::mem::replace(end, before);
        }
        // Now where they start, and behind each that is put, where the next goes.
        let mut places = vec![0; all.len()];
        for (part, place) in all {
            places[ends[part]] = u32::try_from(place).expect("tables number their keys in 32 bits");
            ends[part] += 1;
        }
        Sorted { places, ends }
    }

    fn of(&self, part: usize) -> &[u32] {
        let start = if part == 0 { 0 } else { self.ends[part - 1] };
        &self.places[start..self.ends[part]]
    }
}

/// The part of a key of a wide table, whose lowest bits choose a slot and whose upper half tells keys apart: a product's
/// upper bits are of all of these, so that keys of a part still differ in each.
fn wide_part(hash: u64, parts: usize) -> usize {
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % parts
}

impl Pool {
    pub(crate) fn new(threads: usize, kernel: Kernel, keep: Keep) -> Pool {
        let (wide, account, hashes) =
            (Wide::new(), Account::new(None), kernel::hashes(kernel.level));
        let part = |_| {
            let tables = Tables::new(hashes, keep.squares, false, &account);
            Mutex::new(Part { tables, wide: wide.emptied(), rows: 0 })
        };
        let parts = (PARTS_PER_THREAD * threads).next_power_of_two();
        let parts = (0..parts).map(part).collect();
        let [next, keys] = [0, 0].map(AtomicUsize::new);
        Pool { parts, kernel, keep, hashes, seed: Seed::random(), wide, next, keys }
    }

    /// An empty table of any values, in which hashes are those of the pool.
    pub(crate) fn wide(&self) -> Wide {
        self.wide.emptied()
    }

    /// Takes all that tables know of so many rows; how many of their keys it knew.
    ///
    /// # Errors
    /// [`Error::TooManyKeys`].
    fn take(&self, held: Held<'_>, rows: u64) -> Result<usize, Error> {
        let (parts, mut known) = (self.parts.len(), 0);
        let upper = |hash: u64| (hash >> 32) as usize % parts;
        let (short, long) = (&held.tables.short, &held.tables.long);
        let shorts =
            short.keyed().map(|(at, key)| (upper((self.hashes.short)(key, &self.seed)), at));
        let longs =
            long.places().map(|at| (upper((self.hashes.long)(long.key(at), &self.seed)), at));
        let wides = (0..held.wide.len()).map(|at| (wide_part(held.wide.hash_of(at), parts), at));
        let [shorts, longs, wides] =
            [Sorted::new(parts, shorts), Sorted::new(parts, longs), Sorted::new(parts, wides)];
        let first = self.next.fetch_add(PARTS_PER_THREAD, Relaxed);
        for at in (first..first + parts).map(|at| at % parts) {
            let places = [shorts.of(at), longs.of(at), wides.of(at)];
            if places.iter().all(|places| places.is_empty()) {
                continue;
            }
            // Whoever was refused memory while holding it ends the run.
            let mut part = self.parts[at].lock().unwrap_or_else(PoisonError::into_inner);
            let before = part.keys();
            part.absorb(held, places, rows);
            let more = part.keys() - before;
            if part.keys() > MOST_KEYS {
                return Err(Error::TooManyKeys { most: MOST_KEYS });
            }
            drop(part);
            self.keys.fetch_add(more, Relaxed);
            known += places.iter().map(|places| places.len()).sum::<usize>() - more;
        }
        Ok(known)
    }

    /// The parts that have keys.
    pub(crate) fn into_parts(self) -> impl Iterator<Item = Part> {
        self.into_all_parts().filter(|part| part.keys() > 0)
    }

    fn into_all_parts(self) -> impl Iterator<Item = Part> {
        let parts = self.parts.into_iter();
        parts.map(|part| part.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Part {
    fn keys(&self) -> usize {
        self.tables.keys() + self.wide.len()
    }

    /// Takes in what is at these places of tables of no more than so many rows, which were not folded: of keys of up to 15
    /// bytes, of longer ones, and of any values.
    fn absorb(&mut self, from: Held<'_>, places: [&[u32]; 3], rows: u64) {
        let [shorts, longs, wides] = places;
        assert!(rows <= FOLD_ROWS, "one entry holds what another does");
        if self.rows + rows > FOLD_ROWS {
            self.tables.fold();
            self.rows = 0;
        }
        self.rows += rows;
        self.tables.short.absorb(&from.tables.short, shorts);
        self.tables.long.absorb(&from.tables.long, longs);
        let account = Account::new(None);
        for wides in wides.chunks(BATCH) {
            let wides = || wides.iter().map(|&at| at as usize);
            wides().for_each(|at| self.wide.prefetch_slot(from.wide.hash_of(at)));
            let mut groups = [None; BATCH];
            for (at, group) in wides().zip(&mut groups) {
                *group = self.wide.prefetch_group(from.wide.hash_of(at), true);
                prefetch(from.wide.stats(at));
            }
            groups.iter().flatten().for_each(|&group| self.wide.prefetch_key(group));
            for (at, &group) in wides().zip(&groups) {
                let (hash, key) = (from.wide.hash_of(at), from.wide.key(at));
                let stats = from.wide.stats(at);
                match self.wide.find_from(group, hash, key) {
                    Some(group) => self.wide.stats_mut(group).merge(stats),
                    None => {
                        let fits = self.wide.insert(hash, key, stats.clone(), &account);
                        assert!(fits, "there is no limit");
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use fathom_machine::level::Level;

    use super::*;
    use crate::number::Decimal;
    use crate::table::short_key;

    #[test]
    fn a_part_folds_before_more_rows_than_its_entries_hold() {
        let (kernel, account) = (Kernel { level: Level::best() }, Account::new(None));
        let pool = Pool::new(1, kernel, Keep { squares: true, ..Keep::default() });
        let (mut tables, wide) =
            (Tables::new(kernel::hashes(kernel.level), true, false, &account), pool.wide());
        let at = tables.short.find_or_insert(&short_key(b"key").unwrap());
        (0..1000).for_each(|_| tables.short.entries[at].tenths.add(999));
        tables.short.aside.squares[at] = 1000 * 999 * 999;
        let (held, mut part) =
            (Held { tables: &tables, wide: &wide }, pool.into_all_parts().next().unwrap());
        // As if of so many rows each.
        for (took, folded) in [(1, false), (2, true), (3, true)] {
            part.absorb(held, [&[at as u32], &[], &[]], FOLD_ROWS);
            assert_eq!(part.tables.are_folded(), folded);
            let (slot, _) = part.tables.short.keyed().next().unwrap();
            let stats = part.tables.short.stats(slot);
            let all = Decimal::new(999, 1).times(1000 * took);
            assert_eq!((stats.count(), stats.sum()), (1000 * took, all));
            assert_eq!(stats.squares(), Some((1000 * took * 999 * 999).into()));
        }
    }

    /// The bits that chose a part were constant in it, and chose slots, too, from 2^25 of them on.
    #[test]
    fn keys_of_a_part_differ_in_all_bits_that_choose_slots() {
        let mut random = fathom_random::Random::new(1);
        let hashes = (0..1 << 20).map(|_| random.word());
        let own: Vec<u64> = hashes.filter(|&hash| wide_part(hash, 64) == 5).collect();
        assert!((14_000..19_000).contains(&own.len()), "{}", own.len());
        for bits in (0..48).step_by(4) {
            let mut counts = [0; 16];
            own.iter().for_each(|hash| counts[(hash >> bits) as usize % 16] += 1);
            assert!(counts.iter().all(|count| (600..1500).contains(count)), "{bits} {counts:?}");
        }
    }

    #[test]
    fn places_are_sorted_by_their_part() {
        let all = [(2, 7), (0, 3), (2, 1), (3, 9), (0, 4)];
        let sorted = Sorted::new(5, all.into_iter());
        let parts: Vec<&[u32]> = (0..5).map(|part| sorted.of(part)).collect();
        assert_eq!(parts, [&[3, 4][..], &[], &[7, 1], &[9], &[]]);
    }
}
