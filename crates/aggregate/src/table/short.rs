//! The table of keys of up to 15 bytes, each in a slot with its statistics.

use std::sync::Arc;

use fathom_machine::os::memory::{Slab, huge};
use fathom_machine::prefetch;

use super::displace::{CALM_COST, DISPLACE_MOST_KEYS, displace, slot_of};
use super::{Aside, Folded, MOST_KEYS, MOST_SLOTS_PER_KEY, Seed, Tenths};
use crate::account::Account;
use crate::line::DELIMITER;
use crate::merge::Stats;

/// Keys from which the displacement table pays.
const DISPLACE_KEYS: usize = 1500;

/// Slots of a new table, too few for a batch of rows: each thread has a table for each column, also where no row comes.
const NEW_SLOTS: usize = 16;

/// Slots of a table with rows: half a megabyte, small enough to start with.
const FIRST_SLOTS: usize = 1 << 14;

/// A probe longer than this means a hostile or unlucky key set: reseed.
const LONGEST_PROBE: usize = 64;

/// Slots that take the rows of other tables, one per lane, so that they do not wait for each other.
pub(crate) const SINKS: usize = 8;

// At five eighths full this many keys have 2^31 slots, which leave room for those of one window.
const _: () = assert!(MOST_KEYS / 5 * 8 <= 1 << 31);

/// A key of 1 to 15 bytes, its delimiter, and zeros: as two little-endian words.
pub(crate) type ShortKey = [u64; 2];

#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct ShortEntry {
    pub(crate) key: ShortKey,
    pub(crate) tenths: Tenths,
}

/// Keys of up to 15 bytes.
#[derive(Debug)]
pub(crate) struct Short {
    /// A power of two of slots, then [`SINKS`] that take what is not for this table.
    pub(crate) entries: Slab<ShortEntry>,
    /// A power of two; a single zero while keys are not displaced.
    pub(crate) displacements: Vec<u16>,
    pub(crate) aside: Aside,
    pub(crate) seed: Seed,
    hash: fn(&ShortKey, &Seed) -> u64,
    keys: usize,
    /// Keys when the table was last laid out so that they miss least, and what has happened since
    /// any layout.
    calm_keys: usize,
    pub(crate) groups: u64,
    pub(crate) missed_groups: u64,
    /// Whether a probe was longer than [`LONGEST_PROBE`] since the last layout.
    crowded: bool,
    account: Arc<Account>,
    /// Whether memory to grow was refused: new keys then go to the sink, and the run will end.
    is_frozen: bool,
}

impl Short {
    pub(crate) fn new(
        hash: fn(&ShortKey, &Seed) -> u64,
        with_squares: bool,
        account: &Arc<Account>,
    ) -> Short {
        let entries = Slab::new(NEW_SLOTS + SINKS);
        let short = Short {
            account: Arc::clone(account),
            is_frozen: false,
            aside: Aside::new(entries.len(), with_squares),
            entries,
            displacements: vec![0],
            seed: Seed::random(),
            hash,
            keys: 0,
            calm_keys: 0,
            groups: 0,
            missed_groups: 0,
            crowded: false,
        };
        short.account.take(short.bytes(NEW_SLOTS));
        short
    }

    /// The index of the first slot that absorbs rows of other tables; its key is all zero.
    #[inline(always)]
    pub(crate) fn sink(&self) -> usize {
        self.entries.len() - SINKS
    }

    #[inline(always)]
    pub(crate) fn mask(&self) -> u64 {
        self.sink() as u64 - 1
    }

    #[inline(always)]
    pub(crate) fn is_displaced(&self) -> bool {
        self.displacements.len() > 1
    }

    pub(crate) fn keys(&self) -> usize {
        self.keys
    }

    /// What it takes with so many slots.
    fn bytes(&self, slots: usize) -> usize {
        let entries = slots + SINKS;
        entries * size_of::<ShortEntry>()
            + self.aside.bytes(entries, !self.aside.squares.is_empty())
    }

    /// Bytes that it would take anew to have room for so many more keys.
    pub(crate) fn growth(&self, more: usize) -> usize {
        let mut slots = if self.crowded { grown(self.sink()) } else { self.sink() };
        while self.keys + more > slots / 8 * 5 {
            slots = grown(slots);
        }
        if slots == self.sink() { 0 } else { self.bytes(slots) }
    }

    /// Bytes that the next fold takes.
    pub(crate) fn fold_growth(&self) -> usize {
        let entries = self.entries.len();
        self.aside.fold_growth(entries, !self.aside.squares.is_empty())
    }

    /// Makes room for `more` keys, and lays the table out anew when rows miss their first slot too
    /// often.
    #[inline(always)]
    pub(crate) fn prepare(&mut self, more: usize) {
        let slots = self.sink();
        // Without displacement, runs of taken slots grow fast.
        let full =
            self.keys + more > if self.is_displaced() { slots / 4 * 3 } else { slots / 8 * 5 };
        let tired = self.missed_groups * 400 > self.groups
            && self.missed_groups > self.keys as u64 * CALM_COST;
        if (full | tired | self.crowded) & !self.is_frozen {
            self.renew(full, tired);
        }
    }

    #[cold]
    #[inline(never)]
    fn renew(&mut self, full: bool, tired: bool) {
        let slots = self.sink();
        // A run this long is no accident of a random seed, unless a very rare one; more room and
        // another seed dissolve it. A hash that is beyond help is not given all memory.
        let crowded = self.crowded && slots < self.keys * MOST_SLOTS_PER_KEY;
        if crowded && !full && !self.account.allows(self.bytes(grown(slots))) {
            // It stays crowded until it is spilled, which is soon: see `growth`.
            return;
        }
        self.crowded = false;
        let (calmed, most) = (self.calm_keys, DISPLACE_MOST_KEYS);
        if full || crowded {
            if crowded {
                self.seed = Seed::random();
            }
            self.lay_out(grown(slots), false);
        } else if tired && self.keys < most && self.keys > calmed {
            self.lay_out(slots, true);
        } else {
            (self.groups, self.missed_groups) = (0, 0);
        }
    }

    /// The slot of a key, which is added if it is new. Slots of other keys stay where they are.
    pub(crate) fn find_or_insert(&mut self, key: &ShortKey) -> usize {
        let hash = (self.hash)(key, &self.seed);
        self.find_or_insert_from(self.first_slot(hash), key)
    }

    /// The same where the first slot is known.
    pub(crate) fn find_or_insert_from(&mut self, first: usize, key: &ShortKey) -> usize {
        let mask = self.sink() - 1;
        let mut slot = first;
        let mut probes = 0;
        loop {
            let stored = &mut self.entries[slot].key;
            if *stored == *key {
                return slot;
            }
            if *stored == [0, 0] {
                if self.is_frozen {
                    return self.sink();
                }
                *stored = *key;
                self.keys += 1;
                return slot;
            }
            slot = (slot + 1) & mask;
            probes += 1;
            self.crowded |= probes > LONGEST_PROBE;
        }
    }

    /// Takes in what is at these places of a table that was not folded.
    pub(crate) fn absorb(&mut self, from: &Short, places: &[u32]) {
        const BATCH: usize = 16;
        for places in places.chunks(BATCH) {
            self.prepare(places.len());
            let mut first = [0; BATCH];
            for (first, &at) in first.iter_mut().zip(places) {
                *first = self.first_slot((self.hash)(&from.entries[at as usize].key, &self.seed));
                prefetch(&self.entries[*first]);
            }
            for (&first, &at) in first.iter().zip(places) {
                let entry = &from.entries[at as usize];
                let slot = self.find_or_insert_from(first, &entry.key);
                self.entries[slot].tenths.absorb(entry.tenths);
                if let Some(squares) = from.aside.squares.get(at as usize) {
                    self.aside.squares[slot] += squares;
                }
            }
        }
    }

    /// Takes all keys out, of which nothing was folded; memory is kept.
    pub(super) fn clear(&mut self) {
        self.entries.fill(ShortEntry { key: [0, 0], tenths: Tenths::default() });
        self.aside.squares.fill(0);
        self.displacements = vec![0];
        (self.keys, self.calm_keys, self.groups, self.missed_groups) = (0, 0, 0, 0);
        self.crowded = false;
    }

    fn first_slot(&self, hash: u64) -> usize {
        slot_of(hash, &self.displacements, self.mask())
    }

    /// Moves all keys to a table of so many slots; `calm`ly with the seed or the displacements under
    /// which they miss least, otherwise quickly.
    #[cold]
    fn lay_out(&mut self, slots: usize, calm: bool) {
        let before = self.bytes(self.sink());
        let bytes = self.bytes(slots);
        if !(if calm { self.account.spare(bytes) } else { self.account.take(bytes) }) {
            // Without room to be laid out anew it stays as it is, and slower.
            self.is_frozen = !calm;
            (self.calm_keys, self.groups, self.missed_groups) = (self.keys, 0, 0);
            return;
        }
        // All of it before anything is replaced: where memory is refused, a table that others share stays whole.
        let entries = Slab::new(slots + SINKS);
        let mut aside = Aside::new(slots + SINKS, !self.aside.squares.is_empty());
        if !self.aside.folded.is_empty() {
            aside.folded = huge(slots + SINKS, Folded::default());
            aside.folded_squares = huge(aside.squares.len(), 0);
        }
        let old = std::mem::replace(&mut self.entries, entries);
        let old_aside = std::mem::replace(&mut self.aside, aside);
        self.displacements = vec![0];
        if calm {
            let keys = live(&old[..old.len() - SINKS]).map(|(_, entry)| entry.key);
            let keys: Vec<ShortKey> = keys.collect();
            if keys.len() < DISPLACE_KEYS {
                self.seed = self.calmest_seed(&keys);
            } else {
                self.seed = Seed::random();
                let hashes = keys.iter().map(|key| (self.hash)(key, &self.seed)).collect();
                self.displacements = displace(hashes, self.mask());
            }
        }
        self.calm_keys = if calm { self.keys } else { 0 };
        // In the order of the old slots, which under the same seed is nearly that of the new ones:
        // two streams of writes instead of one all over the table.
        for (at, entry) in live(&old[..old.len() - SINKS]) {
            let mut slot = self.first_slot((self.hash)(&entry.key, &self.seed));
            while self.entries[slot].key != [0, 0] {
                slot = (slot + 1) & (slots - 1);
            }
            self.entries[slot] = *entry;
            self.aside.copy(slot, &old_aside, at);
        }
        self.account.give(before);
        self.groups = 0;
        self.missed_groups = 0;
    }

    /// Of some random seeds the one under which the fewest keys share a slot: of a few where that will be some of them
    /// anyway, of hundreds where it may be none.
    fn calmest_seed(&self, keys: &[ShortKey]) -> Seed {
        /// Keys hashed at most, but for the last seed.
        const MOST_HASHED: usize = 100_000;
        const LEAST_SEEDS: usize = 24;
        let mask = self.mask();
        let mut best = (usize::MAX, self.seed);
        // The last round in which a slot was taken.
        let mut taken = vec![0_u32; mask as usize + 1];
        let (mut hashed, mut round) = (0, 0);
        while best.0 > 0 && (round < LEAST_SEEDS as u32 || hashed < MOST_HASHED) {
            round += 1;
            let seed = Seed::random();
            let mut clashes = 0;
            for key in keys {
                hashed += 1;
                let last = &mut taken[((self.hash)(key, &seed) & mask) as usize];
                clashes += usize::from(std::mem::replace(last, round) == round);
                if clashes >= best.0 {
                    break;
                }
            }
            if clashes < best.0 {
                best = (clashes, seed);
            }
        }
        best.1
    }

    pub(crate) fn fold(&mut self) {
        let (entries, before) = (self.entries.len(), self.bytes(self.sink()));
        for at in 0..self.sink() {
            self.aside.fold(entries, at, &mut self.entries[at].tenths);
        }
        self.account.take(self.bytes(self.sink()) - before);
    }

    /// The keys that have rows, with their slots.
    pub(crate) fn keyed(&self) -> impl Iterator<Item = (usize, &ShortKey)> {
        let has_rows = |at: usize, entry: &ShortEntry| {
            entry.tenths.total != 0 || self.aside.folded.get(at).is_some_and(|f| f.count > 0)
        };
        live(&self.entries[..self.sink()])
            .filter(move |(at, entry)| has_rows(*at, entry))
            .map(|(at, entry)| (at, &entry.key))
    }

    pub(crate) fn stats(&self, at: usize) -> Stats {
        self.aside.stats(at, self.entries[at].tenths)
    }
}

/// The next larger number of slots.
fn grown(slots: usize) -> usize {
    FIRST_SLOTS.max(slots * if slots < 1 << 16 { 4 } else { 2 })
}

/// The slots that are taken.
fn live(entries: &[ShortEntry]) -> impl Iterator<Item = (usize, &ShortEntry)> {
    entries.iter().enumerate().filter(|(_, entry)| entry.key != [0, 0])
}

/// A key of 1 to 15 bytes as the table stores it; None for other lengths.
pub(crate) fn short_key(key: &[u8]) -> Option<ShortKey> {
    let mut bytes = [0; 16];
    if key.is_empty() || key.len() > 15 {
        return None;
    }
    bytes[..key.len()].copy_from_slice(key);
    bytes[key.len()] = DELIMITER;
    let (words, _) = bytes.as_chunks::<8>();
    Some([u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1])])
}

/// Bytes of a short key before its delimiter, which is the last byte before the zeros.
pub(crate) fn short_bytes(key: &ShortKey) -> usize {
    let bytes =
        if key[1] == 0 { 8 - key[0].leading_zeros() / 8 } else { 16 - key[1].leading_zeros() / 8 };
    bytes as usize - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> ShortKey {
        let mut bytes = [0; 16];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        bytes[text.len()] = b';';
        let word = |half: &[u8]| u64::from_le_bytes(half.try_into().unwrap());
        [word(&bytes[..8]), word(&bytes[8..])]
    }

    fn weak(_: &ShortKey, _: &Seed) -> u64 {
        7
    }

    fn fair(key: &ShortKey, seed: &Seed) -> u64 {
        let mixed = (u128::from(key[0] ^ seed.0[0])) * u128::from(key[1] ^ seed.0[1] | 1);
        (mixed as u64 ^ (mixed >> 64) as u64).wrapping_mul(seed.0[2] | 1).rotate_left(29)
    }

    #[test]
    fn short_keys_survive_growth_and_displacement() {
        let mut table = Short::new(fair, true, &Account::new(None));
        let names: Vec<String> = (0..60_000).map(|i| format!("k{i}")).collect();
        for name in &names {
            table.prepare(1);
            let slot = table.find_or_insert(&key(name));
            table.entries[slot].tenths.add(name.len() as i32);
        }
        assert_eq!(table.keys(), names.len());
        table.lay_out(table.sink(), true);
        assert!(table.is_displaced());
        assert_eq!(table.keyed().count(), names.len());
        for name in &names {
            let slot = table.find_or_insert(&key(name));
            assert_eq!(table.stats(slot).sum().small(), Some(name.len() as i128));
            assert_eq!(short_bytes(&table.entries[slot].key), name.len());
        }
    }

    /// Each had a mapping of its own, of which a process may have 65,530.
    #[test]
    fn a_table_without_a_row_takes_a_kilobyte_at_most() {
        let mut table = Short::new(fair, true, &Account::new(None));
        assert!(table.bytes(table.sink()) <= 1024, "{} slots", table.sink());
        table.prepare(NEW_SLOTS);
        assert_eq!(table.sink(), FIRST_SLOTS);
    }

    #[test]
    fn a_layout_after_the_last_key_puts_nearly_every_key_in_its_first_slot() {
        let mut table = Short::new(fair, false, &Account::new(None));
        for i in 0..41_000 {
            table.prepare(1);
            table.find_or_insert(&key(&format!("n{i}")));
        }
        table.lay_out(table.sink(), true);
        let home = (0..41_000)
            .filter(|i| {
                let key = key(&format!("n{i}"));
                table.entries[table.first_slot(fair(&key, &table.seed))].key == key
            })
            .count();
        assert!(home > 40_990, "{home} of 41000");
    }

    #[test]
    fn keys_that_all_collide_are_still_told_apart() {
        let mut table = Short::new(weak, false, &Account::new(None));
        for round in 0..2 {
            for i in 0..60 {
                table.prepare(1);
                let slot = table.find_or_insert(&key(&format!("{i}")));
                table.entries[slot].tenths.add(i);
                assert_eq!(table.entries[slot].tenths.count(), round + 1);
            }
        }
    }

    #[test]
    fn a_hash_beyond_help_is_not_given_all_memory() {
        let mut table = Short::new(weak, false, &Account::new(None));
        for i in 0..1500 {
            table.prepare(1);
            table.find_or_insert(&key(&i.to_string()));
        }
        assert!(table.sink() <= FIRST_SLOTS.max(4 * MOST_SLOTS_PER_KEY * 1500), "{}", table.sink());
    }

    #[test]
    fn a_crowded_table_grows_beyond_its_account_only_where_nothing_is_spilled() {
        let crowd = |account: &Arc<Account>| {
            let mut table = Short::new(weak, false, account);
            table.prepare(NEW_SLOTS);
            for i in 0..=FIRST_SLOTS / MOST_SLOTS_PER_KEY {
                table.find_or_insert(&key(&i.to_string()));
            }
            assert!(table.crowded);
            table.prepare(1);
            table
        };
        let first_bytes = Short::new(weak, false, &Account::new(None)).bytes(FIRST_SLOTS);
        let spilled = crowd(&Account::granting(2 * first_bytes));
        assert_eq!(spilled.sink(), FIRST_SLOTS);
        assert!(spilled.growth(1) > first_bytes, "whoever spills it is told that it is full");
        let roomy = crowd(&Account::granting(100 * first_bytes));
        let alone = crowd(&Account::new(None));
        for table in [roomy, alone] {
            assert_eq!((table.sink(), table.crowded), (grown(FIRST_SLOTS), false));
        }
    }
}
