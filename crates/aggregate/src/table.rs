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
//! 2^36 / 1999 = 34.3 million rows cannot fill: the tables are folded into wide totals before
//! [`FOLD_ROWS`] rows.
//!
//! Above [`DISPLACE_KEYS`] keys a displacement table (a perfect hash in the manner of Belazzougui,
//! Botelho and Dietzfelbinger's CHD) moves each bucket of keys so that every key sits in its first
//! slot, at loads linear probing could not bear; below, the least colliding of a few seeds does as
//! well without the extra load. A table that grows does neither: that is done once rows have missed
//! their first slots so often that it would have paid, the rule of who rents skis until the rent
//! reaches their price.
//!
//! Hostile keys: seeds are random per process, and a probe that is longer than chance allows makes
//! the table change its hash. Short keys get another seed and more room; long keys, which are first
//! hashed by three samples of sixteen bytes, are then hashed whole.

use std::hash::{BuildHasher, Hasher};

use fathom_machine::os::memory::{Slab, prefer_huge};

use crate::kernel::{bytes_of, bytes_of_mut};
use crate::merge::Stats;
use crate::reference::DELIMITER;

/// Rows after which totals are folded: below 2^36 / 1999.
pub(crate) const FOLD_ROWS: u64 = 32 << 20;

/// Keys from which the displacement table pays.
const DISPLACE_KEYS: usize = 1500;

/// Keys beyond which it does not: placing them costs more than their misses, since the table no
/// longer fits any cache and 16 bits of displacement are few among millions of slots.
const DISPLACE_MOST_KEYS: usize = 200_000;

/// What laying a table out with seeds or displacements costs per key, in groups of rows that miss:
/// both were near 100 to 200 ns.
const CALM_COST: u64 = 2;

/// Slots of a new table: half a megabyte, small enough to start with.
const FIRST_SLOTS: usize = 1 << 14;

/// A probe longer than this means a hostile or unlucky key set: reseed.
const LONGEST_PROBE: usize = 64;

/// The same for long keys, whose table is at most a quarter full: with a fair hash, runs of this
/// length have a probability below 10^-60.
const LONGEST_LONG_PROBE: usize = 128;

/// Slots per key beyond which a crowded table does not grow: what makes it crowded is then no
/// accident of a seed, and memory would not help.
const MOST_SLOTS_PER_KEY: usize = 16;

/// Slots that take the rows of other tables, one per lane, so that they do not wait for each other.
pub(crate) const SINKS: usize = 8;

/// Most keys of one table: slots are numbered in 32 bits.
pub(crate) const MOST_KEYS: usize = 1 << 30;

// At five eighths full this many keys have 2^31 slots, which leave room for those of one window.
const _: () = assert!(MOST_KEYS / 5 * 8 <= 1 << 31);

/// What is added to a value so that no sum and no extreme is zero or below.
pub(crate) const BIAS: i32 = 1000;

/// Where the count starts in a total.
pub(crate) const COUNT_SHIFT: u32 = 36;

/// A key of 1 to 15 bytes, its delimiter, and zeros: as two little-endian words.
pub(crate) type ShortKey = [u64; 2];

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

#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct ShortEntry {
    pub(crate) key: ShortKey,
    pub(crate) tenths: Tenths,
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

    fn count(self) -> u64 {
        self.total >> COUNT_SHIFT
    }

    fn sum(self) -> i64 {
        let biased = (self.total & ((1 << COUNT_SHIFT) - 1)) as i64;
        biased - self.count() as i64 * i64::from(BIAS)
    }
}

/// Wide totals of one entry; squares only when a variance was asked for.
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
}

impl Aside {
    fn new(entries: usize, with_squares: bool) -> Aside {
        Aside { folded: Vec::new(), squares: vec![0; if with_squares { entries } else { 0 }] }
    }

    fn copy(&mut self, to: usize, from: &Aside, at: usize) {
        if !from.folded.is_empty() {
            self.folded[to] = from.folded[at];
        }
        if !from.squares.is_empty() {
            self.squares[to] = from.squares[at];
        }
    }

    fn fold(&mut self, entries: usize, at: usize, tenths: &mut Tenths) {
        if self.folded.is_empty() {
            self.folded = vec![Folded::default(); entries];
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
            self.squares.get(at).copied(),
        )
    }
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
}

impl Short {
    pub(crate) fn new(hash: fn(&ShortKey, &Seed) -> u64, with_squares: bool) -> Short {
        let entries = Slab::new(FIRST_SLOTS + SINKS);
        Short {
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
        }
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

    pub(crate) fn bytes(&self) -> usize {
        self.entries.len() * size_of::<ShortEntry>() + self.displacements.len() * 2
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
        if full | tired | self.crowded {
            self.renew(full, tired);
        }
    }

    #[cold]
    #[inline(never)]
    fn renew(&mut self, full: bool, tired: bool) {
        let slots = self.sink();
        // A run this long is no accident of a random seed, unless a very rare one; more room and
        // another seed dissolve it. A hash that is beyond help is not given all memory.
        let crowded = std::mem::take(&mut self.crowded) && slots < self.keys * MOST_SLOTS_PER_KEY;
        let (calmed, most) = (self.calm_keys, DISPLACE_MOST_KEYS);
        if full || crowded {
            if crowded {
                self.seed = Seed::random();
            }
            self.lay_out(slots * if slots < 1 << 16 { 4 } else { 2 }, false);
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
                *stored = *key;
                self.keys += 1;
                return slot;
            }
            slot = (slot + 1) & mask;
            probes += 1;
            self.crowded |= probes > LONGEST_PROBE;
        }
    }

    fn first_slot(&self, hash: u64) -> usize {
        slot_of(hash, &self.displacements, self.mask())
    }

    /// Moves all keys to a table of so many slots; `calm`ly with the seed or the displacements under
    /// which they miss least, otherwise quickly.
    #[cold]
    fn lay_out(&mut self, slots: usize, calm: bool) {
        let old = std::mem::replace(&mut self.entries, Slab::new(slots + SINKS));
        let aside = Aside::new(slots + SINKS, !self.aside.squares.is_empty());
        let old_aside = std::mem::replace(&mut self.aside, aside);
        if !old_aside.folded.is_empty() {
            self.aside.folded = vec![Folded::default(); slots + SINKS];
        }
        self.displacements = vec![0];
        if calm {
            let keys = live(&old[..old.len() - SINKS]).map(|(_, entry)| entry.key);
            let keys: Vec<ShortKey> = keys.collect();
            if keys.len() < DISPLACE_KEYS {
                self.seed = self.calmest_seed(&keys);
            } else {
                self.seed = Seed::random();
                self.displacements = self.displace(&keys);
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
        self.groups = 0;
        self.missed_groups = 0;
    }

    /// Of a few random seeds the one under which the fewest keys share a slot.
    fn calmest_seed(&self, keys: &[ShortKey]) -> Seed {
        const SEEDS: usize = 24;
        let mask = self.mask();
        let mut best = (usize::MAX, self.seed);
        let mut taken = vec![0_u8; mask as usize + 1];
        for round in 0..SEEDS {
            let seed = Seed::random();
            let mut clashes = 0;
            for key in keys {
                let slot = ((self.hash)(key, &seed) & mask) as usize;
                clashes += usize::from(taken[slot] == round as u8 + 1);
                taken[slot] = round as u8 + 1;
            }
            if clashes < best.0 {
                best = (clashes, seed);
            }
            if clashes == 0 {
                break;
            }
        }
        best.1
    }

    /// A displacement per bucket of keys, fullest bucket first, such that every key of the bucket
    /// finds its slot free. A bucket that finds none keeps zero, and its keys are probed for.
    fn displace(&self, keys: &[ShortKey]) -> Vec<u16> {
        let mask = self.mask();
        let buckets = (keys.len() / 4).next_power_of_two();
        // Hashes bucket by bucket: bucket b has those from starts[b] to starts[b + 1].
        let mut starts = vec![0_u32; buckets + 1];
        let hashes: Vec<u64> = keys.iter().map(|key| (self.hash)(key, &self.seed)).collect();
        for &hash in &hashes {
            starts[bucket_of(hash, buckets) + 1] += 1;
        }
        for bucket in 0..buckets {
            starts[bucket + 1] += starts[bucket];
        }
        let mut next = starts.clone();
        let mut members = vec![0_u64; hashes.len()];
        for hash in hashes {
            let place = &mut next[bucket_of(hash, buckets)];
            members[*place as usize] = hash;
            *place += 1;
        }
        let size = |bucket: u32| starts[bucket as usize + 1] - starts[bucket as usize];
        let mut order: Vec<u32> = (0..buckets as u32).collect();
        order.sort_by_key(|&bucket| std::cmp::Reverse(size(bucket)));
        // A bit per slot: for 100,000 keys a first-level cache holds it.
        let mut taken = vec![0_u64; (mask as usize + 1).div_ceil(64)];
        let mut displacements = vec![0_u16; buckets];
        for bucket in order {
            let bucket = bucket as usize;
            let hashes = &mut members[starts[bucket] as usize..starts[bucket + 1] as usize];
            let slots = |d: u16, hash: &u64| ((hash ^ u64::from(d)) & mask) as usize;
            let is_free = |slot: usize, taken: &[u64]| taken[slot / 64] >> (slot % 64) & 1 == 0;
            let distinct = {
                hashes.sort_unstable_by_key(|hash| hash & mask);
                hashes.windows(2).all(|pair| (pair[0] ^ pair[1]) & mask != 0)
            };
            let most = mask.min(u64::from(u16::MAX)) as u16;
            let fits = |d: &u16| hashes.iter().all(|hash| is_free(slots(*d, hash), &taken));
            let found = if distinct { (0..=most).find(fits) } else { None };
            displacements[bucket] = found.unwrap_or(0);
            for hash in &*hashes {
                let slot = slots(displacements[bucket], hash);
                taken[slot / 64] |= 1 << (slot % 64);
            }
        }
        displacements
    }

    pub(crate) fn fold(&mut self) {
        let entries = self.entries.len();
        for at in 0..self.sink() {
            self.aside.fold(entries, at, &mut self.entries[at].tenths);
        }
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

/// Where a hash looks first. The low bits choose the slot, the high half the bucket.
#[inline(always)]
pub(crate) fn slot_of(hash: u64, displacements: &[u16], mask: u64) -> usize {
    let displacement = displacements[bucket_of(hash, displacements.len())];
    ((hash ^ u64::from(displacement)) & mask) as usize
}

#[inline(always)]
fn bucket_of(hash: u64, buckets: usize) -> usize {
    (hash >> 32) as usize & (buckets - 1)
}

/// Bytes of a short key before its delimiter, which is the last byte before the zeros.
pub(crate) fn short_bytes(key: &ShortKey) -> usize {
    let bytes =
        if key[1] == 0 { 8 - key[0].leading_zeros() / 8 } else { 16 - key[1].leading_zeros() / 8 };
    bytes as usize - 1
}

/// Keys of 16 bytes and more.
#[derive(Debug)]
pub(crate) struct Long {
    /// The number of a key's first unit, from 1; 0 is free. At most a quarter is taken: a probe then
    /// seldom takes a second step, which would be a mispredicted branch.
    pub(crate) slots: Slab<u32>,
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
    hash: fn(&[u8], &Seed) -> u64,
    with_squares: bool,
    /// Whether a probe was longer than [`LONGEST_LONG_PROBE`] since the last layout.
    crowded: bool,
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
    pub(crate) fn new(hash: fn(&[u8], &Seed) -> u64, with_squares: bool, trust_hash: bool) -> Long {
        Long {
            slots: Slab::new(1024),
            units: Vec::new(),
            keys: 0,
            aside: Aside::default(),
            seed: Seed::random(),
            thorough: trust_hash,
            trust_hash,
            hash,
            with_squares,
            crowded: false,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.slots.len() * 4 + self.units.capacity() * size_of::<LongUnit>()
    }

    pub(crate) fn keys(&self) -> usize {
        self.keys
    }

    /// Places the keys anew if they crowd. Hashes computed before are void afterwards.
    #[inline(always)]
    pub(crate) fn prepare(&mut self) {
        if self.crowded {
            self.spread();
        }
    }

    /// The first unit of a key of at least 16 bytes, which is added if it is new; None if it
    /// contains `forbidden` and so is no key. Other keys stay where they are.
    pub(crate) fn find_or_insert(
        &mut self,
        key: &[u8],
        hash: u64,
        forbidden: Option<u8>,
    ) -> Option<usize> {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
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
        let at = self.units.len();
        let unit = u32::try_from(at + 1).expect("256 GiB of keys in one thread");
        let units = units_of(key.len());
        if self.units.capacity() - at < units {
            self.units.reserve(units.max(at));
            prefer_huge(self.units.spare_capacity_mut());
        }
        let bytes = u32::try_from(key.len()).expect("records are shorter than chunks");
        let index = u32::try_from(self.keys).expect("fewer than units");
        let tenths = Tenths::default();
        let first = LongUnit { tenths, hash, bytes, index, key: [0; HEAD_BYTES] };
        self.units.push(first);
        self.units.resize(at + units, LongUnit { hash: 0, bytes: 0, index: 0, ..first });
        let before = size_of::<LongUnit>() - HEAD_BYTES;
        bytes_of_mut(&mut self.units[at..])[before..before + key.len()].copy_from_slice(key);
        self.keys += 1;
        if self.with_squares {
            self.aside.squares.push(0);
        }
        if !self.aside.folded.is_empty() {
            self.aside.folded.push(Folded::default());
        }
        self.slots[slot] = unit;
        if self.keys * 4 > self.slots.len() {
            self.lay_out(self.slots.len() * 4);
        }
        Some(at)
    }

    /// Hashes keys whole, under another seed, and gives them more room if that was tried before.
    #[cold]
    fn spread(&mut self) {
        self.crowded = false;
        let grow = self.thorough && self.slots.len() < self.keys() * MOST_SLOTS_PER_KEY;
        self.thorough = true;
        self.seed = Seed::random();
        let places: Vec<usize> = self.places().collect();
        for at in places {
            self.units[at].hash = (self.hash)(self.key(at), &self.seed);
        }
        self.lay_out(self.slots.len() * if grow { 2 } else { 1 });
    }

    #[cold]
    fn lay_out(&mut self, slots: usize) {
        let mask = slots - 1;
        let mut table = Slab::new(slots);
        for at in self.places() {
            let mut slot = self.units[at].hash as usize & mask;
            while table[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            table[slot] = at as u32 + 1;
        }
        self.slots = table;
    }

    pub(crate) fn fold(&mut self) {
        let keys = self.keys;
        let places: Vec<usize> = self.places().collect();
        for at in places {
            let unit = &mut self.units[at];
            self.aside.fold(keys, unit.index as usize, &mut unit.tenths);
        }
    }

    pub(crate) fn stats(&self, at: usize) -> Stats {
        let unit = &self.units[at];
        self.aside.stats(unit.index as usize, unit.tenths)
    }
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

    fn flat(_: &[u8], _: &Seed) -> u64 {
        9
    }

    fn fair(key: &ShortKey, seed: &Seed) -> u64 {
        let mixed = (u128::from(key[0] ^ seed.0[0])) * u128::from(key[1] ^ seed.0[1] | 1);
        (mixed as u64 ^ (mixed >> 64) as u64).wrapping_mul(seed.0[2] | 1).rotate_left(29)
    }

    #[test]
    fn short_keys_survive_growth_and_displacement() {
        let mut table = Short::new(fair, true);
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
            assert_eq!(table.stats(slot).sum(), name.len() as i128);
            assert_eq!(short_bytes(&table.entries[slot].key), name.len());
        }
    }

    #[test]
    fn a_layout_after_the_last_key_puts_nearly_every_key_in_its_first_slot() {
        let mut table = Short::new(fair, false);
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
        let mut table = Short::new(weak, false);
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
    fn totals_hold_the_rows_between_two_folds() {
        let rows = FOLD_ROWS * ((1 << COUNT_SHIFT) + BIAS as u64 + 999);
        let tenths = Tenths { total: rows, ..Tenths::default() };
        assert_eq!((tenths.count(), tenths.sum()), (FOLD_ROWS, FOLD_ROWS as i64 * 999));
    }

    #[test]
    fn folding_changes_nothing_that_is_read() {
        let mut table = Long::new(flat, true, false);
        let name = b"a name of many bytes, more than thirty-two of them";
        for value in [-999, 999, 5] {
            let at = table.find_or_insert(name, 1, None).unwrap();
            table.units[at].tenths.add(value);
            table.aside.squares[0] += (value * value) as u64;
            table.fold();
        }
        assert_eq!(table.places().collect::<Vec<_>>(), [0]);
        let stats = table.stats(0);
        assert_eq!((stats.count(), stats.min(), stats.max(), stats.sum()), (3, -999, 999, 5));
    }

    #[test]
    fn long_keys_with_equal_hash_ends_and_length_differ_in_the_middle() {
        let mut table = Long::new(flat, false, false);
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
        let mut table = Long::new(whole, false, false);
        let keys: Vec<String> = (0..20_000).map(|i| format!("the same start, {i:06}")).collect();
        for key in &keys {
            table.prepare();
            let hash = if table.thorough { whole(key.as_bytes(), &table.seed) } else { 4711 };
            table.find_or_insert(key.as_bytes(), hash, None);
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
    fn a_hash_beyond_help_is_not_given_all_memory() {
        let mut table = Long::new(flat, false, false);
        for i in 0..1000 {
            table.prepare();
            table.find_or_insert(format!("sixteen bytes at least {i}").as_bytes(), 9, None);
        }
        assert_eq!(table.keys(), 1000);
        assert!(table.slots.len() <= 2 * MOST_SLOTS_PER_KEY * 1000, "{}", table.slots.len());
        let mut table = Short::new(weak, false);
        for i in 0..1500 {
            table.prepare(1);
            table.find_or_insert(&key(&i.to_string()));
        }
        assert!(table.sink() <= FIRST_SLOTS.max(4 * MOST_SLOTS_PER_KEY * 1500), "{}", table.sink());
    }
}
