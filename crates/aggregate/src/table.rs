//! The per-thread tables of the hot path: keys of up to 15 bytes, and longer ones.
//!
//! ```text
//! Short, 32 bytes a slot, two slots a cache line:
//!   ┌────────────── key ; 0 0 … (16) ──────────────┬── total (8) ──┬ min (4) ┬ -max (4) ┐
//!   └──────────────────────────────────────────────┴───────────────┴─────────┴──────────┘
//!   total = count << 36 | Σ (value + 999)          values in tenths, -999 ..= 999
//! Long, 32 bytes an entry, and the key in units of 32:
//!   ┌── total (8) ──┬ min (4) ┬ -max (4) ┬ hash (8) ┬ bytes (4) ┬ place (4) ┐
//!   └───────────────┴─────────┴──────────┴──────────┴───────────┴─────┬─────┘
//!       ┌────────────────────────────────────────────────────────────┘
//!       └▶ keys: │ 32 bytes │ 32 bytes │ rest 0 0 … │
//! ```
//!
//! The key of a short entry ends with its delimiter, so "a" and "a\0" differ without comparing
//! lengths, and no stored key is all zero: a zero key marks a free slot. A long key starts on a unit
//! of its own, so that comparing it reads whole units and never another key's.
//!
//! `total` holds two numbers in one addition. The count has 28 bits and the biased sum 36, which
//! 2^36 / 1998 = 34.4 million rows cannot fill: the tables are folded into wide totals before
//! [`FOLD_ROWS`] rows.
//!
//! Above [`DISPLACE_KEYS`] keys a displacement table (a perfect hash in the manner of Belazzougui,
//! Botelho and Dietzfelbinger's CHD) moves each bucket of keys so that every key sits in its first
//! slot, at loads linear probing could not bear; below, the least colliding of a few seeds does as
//! well without the extra load.
//!
//! Hostile keys: seeds are random per process, and a probe that is longer than chance allows makes
//! the table change its hash. Short keys get another seed and more room; long keys, which are first
//! hashed by three samples of sixteen bytes, are then hashed whole.

use std::hash::{BuildHasher, Hasher};

use crate::merge::{Partial, Stats};
use crate::reference::DELIMITER;

/// Rows after which totals are folded: below 2^36 / 1998.
pub(crate) const FOLD_ROWS: u64 = 32 << 20;

/// Keys from which the displacement table pays.
const DISPLACE_KEYS: usize = 1500;

/// Keys beyond which it does not: placing them costs more than their misses, since the table no
/// longer fits any cache and 16 bits of displacement are few among millions of slots.
const DISPLACE_MOST_KEYS: usize = 200_000;

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

/// What is added to a value so that sums of a key never go below zero.
pub(crate) const BIAS: i32 = 999;

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
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(crate) struct Tenths {
    pub(crate) total: u64,
    pub(crate) min: i32,
    pub(crate) max_negated: i32,
}

impl Tenths {
    const NONE: Tenths = Tenths { total: 0, min: i32::MAX, max_negated: i32::MAX };

    #[inline(always)]
    pub(crate) fn add(&mut self, value: i32) {
        // Only the sink sees values below -BIAS, whose total means nothing.
        let biased = (value + BIAS) as u64;
        self.total = self.total.wrapping_add((1_u64 << COUNT_SHIFT).wrapping_add(biased));
        self.min = self.min.min(value);
        self.max_negated = self.max_negated.min(-value);
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
            tenths.min,
            -tenths.max_negated,
            folded.sum + tenths.sum(),
            self.squares.get(at).copied(),
        )
    }
}

/// Keys of up to 15 bytes.
#[derive(Debug)]
pub(crate) struct Short {
    /// A power of two of slots, then [`SINKS`] that take what is not for this table.
    pub(crate) entries: Vec<ShortEntry>,
    /// A power of two; a single zero while keys are not displaced.
    pub(crate) displacements: Vec<u16>,
    pub(crate) aside: Aside,
    pub(crate) seed: Seed,
    hash: fn(&ShortKey, &Seed) -> u64,
    keys: usize,
    /// Keys when the table was last laid out, and what has happened since.
    laid_out_keys: usize,
    pub(crate) groups: u64,
    pub(crate) missed_groups: u64,
    /// Whether a probe was longer than [`LONGEST_PROBE`] since the last layout.
    crowded: bool,
}

impl Short {
    pub(crate) fn new(hash: fn(&ShortKey, &Seed) -> u64, with_squares: bool) -> Short {
        let entries = vec![EMPTY; FIRST_SLOTS + SINKS];
        Short {
            aside: Aside::new(entries.len(), with_squares),
            entries,
            displacements: vec![0],
            seed: Seed::random(),
            hash,
            keys: 0,
            laid_out_keys: 0,
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
    /// often because of keys added since.
    pub(crate) fn prepare(&mut self, more: usize) {
        let slots = self.sink();
        let displaceable = self.keys < DISPLACE_MOST_KEYS;
        // Without displacement, runs of taken slots grow fast.
        let full = self.keys + more > if displaceable { slots / 4 * 3 } else { slots / 8 * 5 };
        let stale = displaceable
            && self.keys > self.laid_out_keys + self.laid_out_keys / 16
            && self.missed_groups * 400 > self.groups
            && self.groups > 64;
        // A run this long is no accident of a random seed, unless a very rare one; more room and
        // another seed dissolve it. A hash that is beyond help is not given all memory.
        let crowded = std::mem::take(&mut self.crowded) && slots < self.keys * MOST_SLOTS_PER_KEY;
        if full || crowded {
            self.lay_out(slots * if slots < 1 << 16 { 4 } else { 2 });
        } else if stale {
            self.lay_out(slots);
        }
    }

    /// The slot of a key, which is added if it is new. Slots of other keys stay where they are.
    pub(crate) fn find_or_insert(&mut self, key: &ShortKey) -> usize {
        let hash = (self.hash)(key, &self.seed);
        let mut slot = self.first_slot(hash);
        let mut probes = 0;
        loop {
            if self.entries[slot].key == *key {
                return slot;
            }
            if self.entries[slot].key == [0, 0] {
                self.entries[slot].key = *key;
                self.keys += 1;
                return slot;
            }
            slot = (slot + 1) & (self.sink() - 1);
            probes += 1;
            self.crowded |= probes > LONGEST_PROBE;
        }
    }

    fn first_slot(&self, hash: u64) -> usize {
        slot_of(hash, &self.displacements, self.mask())
    }

    #[cold]
    fn lay_out(&mut self, slots: usize) {
        let old = std::mem::replace(&mut self.entries, vec![EMPTY; slots + SINKS]);
        let aside = Aside::new(slots + SINKS, !self.aside.squares.is_empty());
        let old_aside = std::mem::replace(&mut self.aside, aside);
        if !old_aside.folded.is_empty() {
            self.aside.folded = vec![Folded::default(); slots + SINKS];
        }
        let live: Vec<usize> = (0..old.len() - SINKS).filter(|&at| old[at].key != [0, 0]).collect();
        if live.len() < DISPLACE_KEYS {
            self.displacements = vec![0];
            self.seed = self.calmest_seed(&old, &live);
        } else if live.len() > DISPLACE_MOST_KEYS {
            self.displacements = vec![0];
        } else {
            self.seed = Seed::random();
            self.displacements = self.displace(&old, &live);
        }
        for at in live {
            let hash = (self.hash)(&old[at].key, &self.seed);
            let mut slot = self.first_slot(hash);
            while self.entries[slot].key != [0, 0] {
                slot = (slot + 1) & (slots - 1);
            }
            self.entries[slot] = old[at];
            self.aside.copy(slot, &old_aside, at);
        }
        self.laid_out_keys = self.keys;
        self.groups = 0;
        self.missed_groups = 0;
    }

    /// Of a few random seeds the one under which the fewest keys share a slot.
    fn calmest_seed(&self, old: &[ShortEntry], live: &[usize]) -> Seed {
        const SEEDS: usize = 24;
        let mask = self.mask();
        let mut best = (usize::MAX, self.seed);
        let mut taken = vec![0_u8; mask as usize + 1];
        for round in 0..SEEDS {
            let seed = Seed::random();
            let mut clashes = 0;
            for &at in live {
                let slot = ((self.hash)(&old[at].key, &seed) & mask) as usize;
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
    fn displace(&self, old: &[ShortEntry], live: &[usize]) -> Vec<u16> {
        let mask = self.mask();
        let buckets = (live.len() / 4).next_power_of_two();
        let mut members: Vec<Vec<u64>> = vec![Vec::new(); buckets];
        for &at in live {
            let hash = (self.hash)(&old[at].key, &self.seed);
            members[bucket_of(hash, buckets)].push(hash);
        }
        let mut order: Vec<usize> = (0..buckets).collect();
        order.sort_by_key(|&bucket| std::cmp::Reverse(members[bucket].len()));
        let mut taken = vec![false; mask as usize + 1];
        let mut displacements = vec![0_u16; buckets];
        for bucket in order {
            let hashes = &members[bucket];
            let slots =
                |d: u16| hashes.iter().map(move |&hash| ((hash ^ u64::from(d)) & mask) as usize);
            let fits = |d: u16, taken: &[bool]| slots(d).all(|slot| !taken[slot]);
            let distinct = {
                let mut low: Vec<u64> = hashes.iter().map(|hash| hash & mask).collect();
                low.sort_unstable();
                low.windows(2).all(|pair| pair[0] != pair[1])
            };
            let most = mask.min(u64::from(u16::MAX)) as u16;
            let found = if distinct { (0..=most).find(|&d| fits(d, &taken)) } else { None };
            displacements[bucket] = found.unwrap_or(0);
            for slot in slots(displacements[bucket]) {
                taken[slot] = true;
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

    pub(crate) fn partials(&self, into: &mut Vec<Partial>) {
        for (at, entry) in self.entries[..self.sink()].iter().enumerate() {
            if entry.key == [0, 0] {
                continue;
            }
            let stats = self.aside.stats(at, entry.tenths);
            if stats.count() > 0 {
                into.push(Partial { key: short_name(&entry.key).into(), stats });
            }
        }
    }
}

const EMPTY: ShortEntry = ShortEntry { key: [0, 0], tenths: Tenths::NONE };

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

/// The bytes of a short key before its delimiter: the last byte before the zeros that fill up.
fn short_name(key: &ShortKey) -> Vec<u8> {
    let mut bytes: Vec<u8> = key.iter().flat_map(|word| word.to_le_bytes()).collect();
    while let Some(0) = bytes.last() {
        bytes.pop();
    }
    bytes.pop();
    bytes
}

/// Keys of 16 bytes and more.
#[derive(Debug)]
pub(crate) struct Long {
    /// The number of an entry, from 1; 0 is free. At most a quarter is taken: a probe then seldom
    /// takes a second step, which would be a mispredicted branch.
    pub(crate) slots: Vec<u32>,
    pub(crate) entries: Vec<LongEntry>,
    /// The bytes of all keys, each from a unit of its own on, zeros behind it.
    pub(crate) units: Vec<[u8; UNIT_BYTES]>,
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

#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct LongEntry {
    pub(crate) tenths: Tenths,
    pub(crate) hash: u64,
    pub(crate) bytes: u32,
    /// The key's first unit.
    pub(crate) place: u32,
}

/// Bytes of a unit of long keys: 32 bits address 128 GiB of them.
pub(crate) const UNIT_BYTES: usize = 32;

impl Long {
    pub(crate) fn new(hash: fn(&[u8], &Seed) -> u64, with_squares: bool, trust_hash: bool) -> Long {
        Long {
            slots: vec![0; 1024],
            entries: Vec::new(),
            units: Vec::new(),
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
        self.slots.len() * 4
            + self.entries.capacity() * size_of::<LongEntry>()
            + self.units.capacity() * UNIT_BYTES
    }

    pub(crate) fn keys(&self) -> usize {
        self.entries.len()
    }

    /// Places the keys anew if they crowd. Hashes computed before are void afterwards.
    #[inline(always)]
    pub(crate) fn prepare(&mut self) {
        if self.crowded {
            self.spread();
        }
    }

    /// The entry of a key of at least 16 bytes, which is added if it is new; None if it contains
    /// `forbidden` and so is no key. Other entries stay where they are.
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
            let index = self.slots[slot];
            if index == 0 {
                return self.insert(key, hash, slot, forbidden);
            }
            let at = index as usize - 1;
            if self.entries[at].hash == hash && (self.trust_hash || self.key(at) == key) {
                return Some(at);
            }
            slot = (slot + 1) & mask;
            probes += 1;
            self.crowded |= probes > LONGEST_LONG_PROBE;
        }
    }

    fn key(&self, at: usize) -> &[u8] {
        let entry = &self.entries[at];
        let start = entry.place as usize * UNIT_BYTES;
        &self.units.as_flattened()[start..start + entry.bytes as usize]
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
        let place = u32::try_from(self.units.len()).expect("128 GiB of keys in one thread");
        let (whole, rest) = key.as_chunks::<UNIT_BYTES>();
        self.units.extend_from_slice(whole);
        if !rest.is_empty() {
            let mut unit = [0; UNIT_BYTES];
            unit[..rest.len()].copy_from_slice(rest);
            self.units.push(unit);
        }
        let at = self.entries.len();
        let bytes = u32::try_from(key.len()).expect("records are shorter than chunks");
        self.entries.push(LongEntry { tenths: Tenths::NONE, hash, bytes, place });
        if self.with_squares {
            self.aside.squares.push(0);
        }
        if !self.aside.folded.is_empty() {
            self.aside.folded.push(Folded::default());
        }
        self.slots[slot] = u32::try_from(at + 1).expect("fewer than MOST_KEYS");
        if (at + 1) * 4 > self.slots.len() {
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
        for at in 0..self.entries.len() {
            self.entries[at].hash = (self.hash)(self.key(at), &self.seed);
        }
        self.lay_out(self.slots.len() * if grow { 2 } else { 1 });
    }

    #[cold]
    fn lay_out(&mut self, slots: usize) {
        let mask = slots - 1;
        self.slots.clear();
        self.slots.resize(slots, 0);
        for (at, entry) in self.entries.iter().enumerate() {
            let mut slot = entry.hash as usize & mask;
            while self.slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = at as u32 + 1;
        }
    }

    pub(crate) fn fold(&mut self) {
        let entries = self.entries.len();
        for at in 0..entries {
            self.aside.fold(entries, at, &mut self.entries[at].tenths);
        }
    }

    pub(crate) fn partials(&self, into: &mut Vec<Partial>) {
        for (at, entry) in self.entries.iter().enumerate() {
            into.push(Partial {
                key: self.key(at).into(),
                stats: self.aside.stats(at, entry.tenths),
            });
        }
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
        assert!(table.is_displaced());
        assert_eq!(table.keys(), names.len());
        let mut partials = Vec::new();
        table.partials(&mut partials);
        partials.sort_by(|a, b| a.key.cmp(&b.key));
        let mut expected: Vec<&str> = names.iter().map(String::as_str).collect();
        expected.sort_unstable();
        for (partial, name) in partials.iter().zip(expected) {
            assert_eq!(&*partial.key, name.as_bytes());
            assert_eq!(partial.stats.sum(), name.len() as i128);
        }
    }

    #[test]
    fn a_layout_after_the_last_key_puts_nearly_every_key_in_its_first_slot() {
        let mut table = Short::new(fair, false);
        for i in 0..41_000 {
            table.prepare(1);
            table.find_or_insert(&key(&format!("n{i}")));
        }
        table.lay_out(table.sink());
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
        let mut tenths = Tenths::NONE;
        tenths.total = FOLD_ROWS * ((1 << COUNT_SHIFT) + 2 * BIAS as u64);
        assert_eq!((tenths.count(), tenths.sum()), (FOLD_ROWS, FOLD_ROWS as i64 * 999));
    }

    #[test]
    fn folding_changes_nothing_that_is_read() {
        let mut table = Long::new(flat, true, false);
        let name = b"a name of many bytes, more than thirty-two of them";
        for value in [-999, 999, 5] {
            let at = table.find_or_insert(name, 1, None).unwrap();
            table.entries[at].tenths.add(value);
            table.aside.squares[at] += (value * value) as u64;
            table.fold();
        }
        let mut partials = Vec::new();
        table.partials(&mut partials);
        let stats = &partials[0].stats;
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
        let longest = (0..table.keys())
            .map(|at| {
                let home = table.entries[at].hash as usize & (table.slots.len() - 1);
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
