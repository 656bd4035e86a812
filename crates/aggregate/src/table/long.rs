//! The table of keys of 16 bytes and more, each followed by its bytes, and slots that lead to them.

use std::sync::Arc;

use fathom_machine::os::memory::{Slab, reserve};

use super::displace::{CALM_COST, DISPLACE_MOST_KEYS, displace, slot_of};
use super::kernel::{bytes_of, bytes_of_mut};
use super::{Aside, Hashes, MOST_SLOTS_PER_KEY, Seed, Tenths};
use crate::account::Account;
use crate::merge::Stats;

/// The same for long keys, whose table is at most a quarter full: with a fair hash, runs of this
/// length have a probability below 10^-60.
const LONGEST_LONG_PROBE: usize = 128;

/// Slots of a new table: each thread has one for each column, also where no such key comes.
const NEW_SLOTS: usize = 64;

/// Keys of 16 bytes and more.
#[derive(Debug)]
pub(crate) struct Long {
    /// The number of a key's first unit, from 1; 0 is free. At most a quarter is taken while keys are not
    /// displaced: a probe then seldom takes a second step, which would be a mispredicted branch.
    pub(crate) slots: Slab<u32>,
    /// A power of two; a single zero while keys are not displaced.
    pub(crate) displacements: Vec<u16>,
    /// Statistics and keys.
    pub(crate) units: Vec<LongUnit>,
    keys: usize,
    /// By a key's index, not by its unit.
    pub(crate) aside: Aside,
    pub(crate) seed: Seed,
    /// Whether keys are hashed whole: always where hashes are trusted, otherwise once samples of
    /// the keys turned out to be too much alike.
    pub(crate) thorough: bool,
    pub(crate) trust_hash: bool,
    hashes: Hashes,
    with_squares: bool,
    /// Whether a probe was longer than [`LONGEST_LONG_PROBE`] since the last layout.
    crowded: bool,
    /// Keys when they were last displaced.
    calm_keys: usize,
    /// Rows since any layout, and those of them whose keys were not in their first slots.
    pub(crate) rows: u64,
    pub(crate) missed_rows: u64,
    account: Arc<Account>,
}

/// The first unit of a key; the units that follow it have nothing but key.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct LongUnit {
    pub(crate) tenths: Tenths,
    pub(crate) hash: u64,
    pub(crate) bytes: u32,
    /// How many keys came before.
    pub(crate) index: u32,
    pub(crate) key: [u8; HEAD_BYTES],
}

/// Bytes of a key in its first unit.
pub(crate) const HEAD_BYTES: usize = 32;

/// Units of a key of so many bytes.
fn units_of(bytes: usize) -> usize {
    (bytes + HEAD_BYTES).div_ceil(size_of::<LongUnit>())
}

impl Long {
    pub(crate) fn new(
        hashes: Hashes,
        with_squares: bool,
        trust_hash: bool,
        account: &Arc<Account>,
    ) -> Long {
        Long {
            slots: Slab::new(NEW_SLOTS),
            displacements: vec![0],
            units: Vec::new(),
            keys: 0,
            aside: Aside::default(),
            seed: Seed::random(),
            thorough: trust_hash,
            trust_hash,
            hashes,
            with_squares,
            crowded: false,
            calm_keys: 0,
            rows: 0,
            missed_rows: 0,
            account: Arc::clone(account),
        }
    }

    pub(crate) fn keys(&self) -> usize {
        self.keys
    }

    #[inline(always)]
    pub(crate) fn mask(&self) -> u64 {
        self.slots.len() as u64 - 1
    }

    /// Places the keys anew if they crowd, or if rows miss their first slots too often. Hashes and slots computed
    /// before are void afterwards.
    #[inline(always)]
    pub(crate) fn prepare(&mut self) {
        let tired =
            self.missed_rows * 50 > self.rows && self.missed_rows > self.keys as u64 * CALM_COST;
        if self.crowded | tired {
            self.renew();
        }
    }

    /// The hash under which a key of at least 16 bytes is looked for.
    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        let hash = if self.thorough { self.hashes.long } else { self.hashes.samples };
        hash(key, &self.seed)
    }

    /// The first unit of a key of at least 16 bytes, which is added if it is new; None if it
    /// contains `forbidden` and so is no key, or if there is no memory. Other keys stay where they are.
    pub(crate) fn find_or_insert(
        &mut self,
        key: &[u8],
        hash: u64,
        forbidden: Option<u8>,
    ) -> Option<usize> {
        let mask = self.slots.len() - 1;
        let mut slot = self.first_slot(hash);
        let mut probes = 0;
        loop {
            let unit = self.slots[slot];
            if unit == 0 {
                return self.insert(key, hash, slot, forbidden);
            }
            let at = unit as usize - 1;
            if self.units[at].hash == hash && (self.trust_hash || self.key(at) == key) {
                return Some(at);
            }
            slot = (slot + 1) & mask;
            probes += 1;
            self.crowded |= probes > LONGEST_LONG_PROBE;
        }
    }

    /// The key whose first unit is `at`.
    pub(crate) fn key(&self, at: usize) -> &[u8] {
        let bytes = self.units[at].bytes as usize;
        let units = &self.units[at..at + units_of(bytes)];
        let before = size_of::<LongUnit>() - HEAD_BYTES;
        &bytes_of(units)[before..before + bytes]
    }

    /// The first units of all keys.
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let at = next;
            next += units_of(self.units.get(at)?.bytes as usize);
            Some(at)
        })
    }

    #[cold]
    #[inline(never)]
    fn insert(
        &mut self,
        key: &[u8],
        hash: u64,
        slot: usize,
        forbidden: Option<u8>,
    ) -> Option<usize> {
        if forbidden.is_some_and(|byte| memchr::memchr(byte, key).is_some()) {
            return None;
        }
        if !self.has_room(key.len()) {
            return None;
        }
        let at = self.units.len();
        let unit = u32::try_from(at + 1).expect("256 GiB of keys in one table");
        let units = units_of(key.len());
        let bytes = u32::try_from(key.len()).expect("records are shorter than chunks");
        let index = u32::try_from(self.keys).expect("fewer than units");
        let tenths = Tenths::default();
        let first = LongUnit { tenths, hash, bytes, index, key: [0; HEAD_BYTES] };
        self.aside.push(self.with_squares);
        self.units.push(first);
        self.units.resize(at + units, LongUnit { hash: 0, bytes: 0, index: 0, ..first });
        let before = size_of::<LongUnit>() - HEAD_BYTES;
        bytes_of_mut(&mut self.units[at..])[before..before + key.len()].copy_from_slice(key);
        self.keys += 1;
        self.slots[slot] = unit;
        let most = if self.displacements.len() > 1 {
            self.slots.len() / 4 * 3
        } else {
            self.slots.len() / 4
        };
        if self.keys > most {
            self.lay_out((8 * self.keys).next_power_of_two(), false);
        }
        Some(at)
    }

    /// Takes in what is at these places of a table that was not folded.
    pub(crate) fn absorb(&mut self, from: &Long, places: &[u32]) {
        for &at in places {
            self.prepare();
            let key = from.key(at as usize);
            let hash = self.hash(key);
            let own = self.find_or_insert(key, hash, None).expect("there is no limit of memory");
            let unit = &from.units[at as usize];
            self.units[own].tenths.absorb(unit.tenths);
            if let Some(squares) = from.aside.squares.get(unit.index as usize) {
                self.aside.squares[self.units[own].index as usize] += squares;
            }
        }
    }

    /// Takes all keys out, of which nothing was folded; memory is kept.
    pub(super) fn clear(&mut self) {
        self.slots.fill(0);
        self.units.clear();
        self.aside.squares.clear();
        self.displacements = vec![0];
        (self.keys, self.crowded) = (0, false);
        (self.calm_keys, self.rows, self.missed_rows) = (0, 0, 0);
    }

    /// Bytes that it would take at most to have room for so many more keys, which have so many bytes.
    pub(crate) fn growth(&self, more: usize, bytes: usize) -> usize {
        // Keys of 16 bytes and more; none takes two units more than its bytes do.
        let more = more.min(bytes / 16);
        let units = 2 * more + bytes / size_of::<LongUnit>();
        let (used, old) = (self.units.len(), self.units.capacity());
        let units = if old - used < units { used + units.max(used) } else { 0 };
        units * size_of::<LongUnit>() + bytes + more * self.beside()
    }

    /// Bytes that the next fold takes.
    pub(crate) fn fold_growth(&self) -> usize {
        self.aside.fold_growth(self.keys, self.with_squares)
    }

    /// What a key takes beside its units: its slots, now and four times as many when
    /// they are laid out, and folded totals.
    fn beside(&self) -> usize {
        20 * size_of::<u32>() + self.aside.bytes(1, self.with_squares)
    }

    /// Makes room for one more key of so many bytes; false if memory is refused, and the run will end.
    fn has_room(&mut self, bytes: usize) -> bool {
        let (used, units, old) = (self.units.len(), units_of(bytes), self.units.capacity());
        if old - used < units {
            let new = used + units.max(used);
            if !self.account.take(new * size_of::<LongUnit>()) {
                return false;
            }
            reserve(&mut self.units, new - used);
            self.account.give(old * size_of::<LongUnit>());
        }
        // Its bytes will be in the result, too.
        self.account.take(bytes + self.beside())
    }

    #[cold]
    #[inline(never)]
    fn renew(&mut self) {
        if self.crowded {
            self.spread();
        } else if (self.calm_keys + 1..DISPLACE_MOST_KEYS).contains(&self.keys) {
            // Fewer slots, which are nearer: between three eighths and three quarters of them are taken.
            self.lay_out((self.keys * 4 / 3 + 1).next_power_of_two(), true);
        } else {
            (self.rows, self.missed_rows) = (0, 0);
        }
    }

    /// Hashes keys whole, under another seed, and gives them more room if that was tried before.
    fn spread(&mut self) {
        self.crowded = false;
        let grow = self.thorough && self.slots.len() < self.keys() * MOST_SLOTS_PER_KEY;
        self.thorough = true;
        self.seed = Seed::random();
        let places: Vec<usize> = self.places().collect();
        for at in places {
            self.units[at].hash = (self.hashes.long)(self.key(at), &self.seed);
        }
        let least = (4 * self.keys).next_power_of_two();
        self.lay_out(self.slots.len().max(least) * if grow { 2 } else { 1 }, false);
    }

    /// Places all keys in so many slots; `calm`ly so that as many as possible are in their first ones.
    #[cold]
    fn lay_out(&mut self, slots: usize, calm: bool) {
        let mask = slots - 1;
        let mut table = Slab::new(slots);
        self.displacements = vec![0];
        if calm {
            let hashes = self.places().map(|at| self.units[at].hash).collect();
            self.displacements = displace(hashes, mask as u64);
        }
        for at in self.places() {
            let mut slot = slot_of(self.units[at].hash, &self.displacements, mask as u64);
            while table[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            table[slot] = at as u32 + 1;
        }
        self.slots = table;
        self.calm_keys = if calm { self.keys } else { 0 };
        (self.rows, self.missed_rows) = (0, 0);
    }

    fn first_slot(&self, hash: u64) -> usize {
        slot_of(hash, &self.displacements, self.mask())
    }

    pub(crate) fn fold(&mut self) {
        let (keys, before) = (self.keys, self.aside.bytes(self.keys, self.with_squares));
        let places: Vec<usize> = self.places().collect();
        for at in places {
            let unit = &mut self.units[at];
            self.aside.fold(keys, unit.index as usize, &mut unit.tenths);
        }
        self.account.take(self.aside.bytes(self.keys, self.with_squares) - before);
    }

    pub(crate) fn stats(&self, at: usize) -> Stats {
        let unit = &self.units[at];
        self.aside.stats(unit.index as usize, unit.tenths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Decimal;

    fn hashes(long: fn(&[u8], &Seed) -> u64) -> Hashes {
        Hashes { short: |_, _| 0, samples: |_, _| 4711, long }
    }

    fn flat(_: &[u8], _: &Seed) -> u64 {
        9
    }

    #[test]
    fn folding_changes_nothing_that_is_read() {
        let mut table = Long::new(hashes(flat), true, false, &Account::new(None));
        let name = b"a name of many bytes, more than thirty-two of them";
        for value in [-999, 999, 5] {
            let at = table.find_or_insert(name, 1, None).unwrap();
            table.units[at].tenths.add(value);
            table.aside.squares[0] += (value * value) as u64;
            table.fold();
        }
        assert_eq!(table.places().collect::<Vec<_>>(), [0]);
        let stats = table.stats(0);
        let tenths = |units| Decimal::new(units, 1);
        assert_eq!((stats.count(), stats.sum()), (3, tenths(5)));
        assert_eq!((stats.min(), stats.max()), (Some(tenths(-999)), Some(tenths(999))));
        let squares: i128 = 2 * 999 * 999 + 25;
        let numerator = (3 * squares - 25).unsigned_abs();
        assert_eq!(stats.variance(), Some((numerator.into(), 6_u32.into())));
    }

    #[test]
    fn long_keys_with_equal_hash_ends_and_length_differ_in_the_middle() {
        let mut table = Long::new(hashes(flat), false, false, &Account::new(None));
        let keys: Vec<Vec<u8>> =
            (0..50_u8).map(|i| [&[b'a'; 20][..], &[i; 1], &[b'z'; 20][..]].concat()).collect();
        let first: Vec<_> = keys.iter().map(|key| table.find_or_insert(key, 9, None)).collect();
        let again: Vec<_> = keys.iter().map(|key| table.find_or_insert(key, 9, None)).collect();
        assert_eq!(first, again);
        assert_eq!(table.keys(), 50);
    }

    #[test]
    fn long_keys_that_look_alike_in_samples_are_hashed_whole() {
        // What quick hashes see of hostile keys is the same; the whole differs.
        fn whole(key: &[u8], seed: &Seed) -> u64 {
            key.iter().fold(seed.0[0], |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
                >> 7
        }
        let mut table = Long::new(hashes(whole), false, false, &Account::new(None));
        let keys: Vec<String> = (0..20_000).map(|i| format!("the same start, {i:06}")).collect();
        for key in &keys {
            table.prepare();
            table.find_or_insert(key.as_bytes(), table.hash(key.as_bytes()), None);
        }
        assert!(table.thorough);
        assert_eq!(table.keys(), keys.len());
        let longest = table
            .places()
            .map(|at| {
                let home = table.units[at].hash as usize & (table.slots.len() - 1);
                (0..).find(|i| table.slots[(home + i) % table.slots.len()] == at as u32 + 1)
            })
            .max();
        assert!(longest.flatten().is_some_and(|n| n <= LONGEST_LONG_PROBE), "{longest:?}");
    }

    #[test]
    fn keys_that_missed_their_slots_are_displaced_into_fewer() {
        fn mixed(key: &[u8], _: &Seed) -> u64 {
            let hash =
                key.iter().fold(0, |h: u64, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
            let hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
            hash ^ hash >> 33
        }
        let account = Account::new(None);
        let mut table =
            Long::new(Hashes { samples: mixed, ..hashes(mixed) }, false, false, &account);
        let name = |i: usize| format!("a name of many bytes, {i:06}");
        let enter = |table: &mut Long, i: usize| {
            let key = name(i);
            table.prepare();
            table.find_or_insert(key.as_bytes(), table.hash(key.as_bytes()), None).unwrap()
        };
        let in_first_slots = |table: &Long| {
            let is_first =
                |&at: &usize| table.slots[table.first_slot(table.units[at].hash)] == at as u32 + 1;
            table.places().filter(is_first).count()
        };
        let places: Vec<usize> = (0..5000).map(|i| enter(&mut table, i)).collect();
        assert!(table.slots.len() >= 4 * 5000 && in_first_slots(&table) < 5000);

        let miss = |table: &mut Long, times: u64| {
            table.missed_rows = table.keys as u64 * CALM_COST + times;
            table.rows = table.missed_rows;
            table.prepare();
        };
        miss(&mut table, 0);
        assert_eq!(table.displacements, [0], "too few rows have missed");
        miss(&mut table, 1);
        // Keys that share a bucket and the end of their hash cannot be told apart.
        assert_eq!(table.slots.len(), 8192);
        assert!(in_first_slots(&table) >= 4975, "{}", in_first_slots(&table));
        assert_eq!((0..5000).map(|i| enter(&mut table, i)).collect::<Vec<_>>(), places);
        let displacements = table.displacements.clone();
        miss(&mut table, 1);
        assert_eq!(table.displacements, displacements, "nothing would be gained");
        assert_eq!((table.rows, table.missed_rows), (0, 0));

        // New keys go where there is room, up to three quarters; then all have the room that they had before.
        for i in 5000..6144 {
            enter(&mut table, i);
        }
        assert_eq!((table.slots.len(), table.displacements.len()), (8192, displacements.len()));
        enter(&mut table, 6144);
        assert_eq!(table.displacements, [0]);
        assert!(table.slots.len() >= 4 * 6145);
        assert_eq!((0..5000).map(|i| enter(&mut table, i)).collect::<Vec<_>>(), places);
        miss(&mut table, 1);
        assert!(in_first_slots(&table) >= 6100, "{}", in_first_slots(&table));
        table.crowded = true;
        table.prepare();
        assert!(table.thorough && table.slots.len() >= 4 * 6145 && table.displacements == [0]);
        assert_eq!((0..5000).map(|i| enter(&mut table, i)).collect::<Vec<_>>(), places);
    }

    #[test]
    fn a_hash_beyond_help_is_not_given_all_memory() {
        let mut table = Long::new(hashes(flat), false, false, &Account::new(None));
        for i in 0..1000 {
            table.prepare();
            table.find_or_insert(format!("sixteen bytes at least {i}").as_bytes(), 9, None);
        }
        assert_eq!(table.keys(), 1000);
        assert!(table.slots.len() <= 2 * MOST_SLOTS_PER_KEY * 1000, "{}", table.slots.len());
    }
}
