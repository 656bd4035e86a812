//! The table of keys with any values: exact states of any size, found by keys of any length.
//!
//! ```text
//! slots   tag (4), group + 1 (4)   half full at most; the tag is the upper half of the hash
//! places  hash (8), end (8)        of a group's key in `keys`
//! keys    all keys, one behind the other
//! stats   of each group, but for the last ones if nothing is known of them yet
//! ```
//!
//! Groups are numbered as they come. Rows come in batches: the slots of all are fetched before the first is
//! looked at, then the places they name, then the keys, so that a table beyond the caches costs
//! bandwidth and not one wait for each row.
//!
//! Hashes are seeded at random for each table, or for all that share a pool, so that nobody can prepare keys that collide.

use std::ops::Range;

use fathom_machine::os::memory::{List, huge};
use fathom_machine::prefetch;

use crate::account::Account;
use crate::merge::Stats;
use crate::table::Seed;

/// States by key.
#[derive(Debug)]
pub(crate) struct Wide {
    slots: Vec<Slot>,
    places: List<Place>,
    keys: List<u8>,
    stats: List<Own>,
    seed: Seed,
}

/// A state with a cache line to itself.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Own(pub(crate) Stats);

const _: () = assert!(size_of::<Own>() == 64);

/// All zero while it is free.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    tag: u32,
    /// The number of the group, and one.
    group: u32,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    hash: u64,
    /// Behind the key; the one before it ends where it starts.
    end: usize,
}

/// Fewest slots.
const FEWEST_SLOTS: usize = 64;

/// Bytes that a key and its state take at least.
const BYTES: usize = size_of::<Place>() + size_of::<Own>();

impl Wide {
    pub(crate) fn new() -> Wide {
        let (slots, seed) = (huge(FEWEST_SLOTS, Slot::default()), Seed::random());
        Wide { slots, places: List::new(), keys: List::new(), stats: List::new(), seed }
    }

    /// An empty one, in which hashes are the same.
    pub(crate) fn emptied(&self) -> Wide {
        Wide { seed: self.seed, ..Wide::new() }
    }

    /// Bytes that a new group may allocate beside what its state keeps.
    pub(crate) fn growth(&self, key_bytes: usize) -> usize {
        let is_full = 2 * (self.len() + 1) > self.slots.len();
        let slots = if is_full { 2 * size_of_val(&*self.slots) } else { 0 };
        key_bytes
            + slots
            + grown(&self.keys, key_bytes).unwrap_or(0)
            + grown(&self.places, 1).map_or(0, |places| places * size_of::<Place>())
            + grown(&self.stats, 1).map_or(0, |stats| stats * size_of::<Own>())
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Takes all groups out; memory is kept.
    pub(crate) fn clear(&mut self) {
        self.slots.fill(Slot::default());
        self.places.clear();
        self.keys.clear();
        self.stats.clear();
    }

    pub(crate) fn hash_of(&self, group: usize) -> u64 {
        self.places[group].hash
    }

    pub(crate) fn key(&self, group: usize) -> &[u8] {
        &self.keys[self.range(group)]
    }

    pub(crate) fn stats(&self, group: usize) -> &Stats {
        &self.stats[group].0
    }

    /// The states of all groups but for the last ones of which nothing is known; no more is asked of the table.
    pub(crate) fn take_stats(&mut self) -> List<Own> {
        std::mem::take(&mut self.stats)
    }

    #[inline]
    pub(crate) fn stats_mut(&mut self, group: usize) -> &mut Stats {
        if group >= self.stats.len() {
            self.fill_up();
        }
        &mut self.stats[group].0
    }

    /// Gives every group a state.
    #[cold]
    fn fill_up(&mut self) {
        self.stats.enlarge(self.len());
        (self.stats.len()..self.len()).for_each(|_| self.stats.push(Own(Stats::without_room())));
    }

    fn range(&self, group: usize) -> Range<usize> {
        let start = if group == 0 { 0 } else { self.places[group - 1].end };
        start..self.places[group].end
    }

    /// The hash of a key: folded multiplications of its words with seeds, and of its length.
    #[inline]
    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        let Seed([first, second, third, fourth]) = self.seed;
        let fold = |a: u64, b: u64| {
            let wide = u128::from(a) * u128::from(b);
            wide as u64 ^ (wide >> 64) as u64
        };
        let word = |at: usize| u64::from_le_bytes(key[at..at + 8].try_into().expect("8 bytes"));
        let half = |at: usize| u32::from_le_bytes(key[at..at + 4].try_into().expect("4 bytes"));
        let len = key.len();
        let mut state = third;
        // Words that overlap cover a key of any length.
        let [low, high] = match len {
            0 => [0, 0],
            1..4 => [u64::from(key[0]) << 8 | u64::from(key[len - 1]), key[len / 2].into()],
            4..8 => [half(0).into(), half(len - 4).into()],
            8..=16 => [word(0), word(len - 8)],
            _ => {
                for at in (0..len - 16).step_by(16) {
                    state = fold(word(at) ^ first ^ state, word(at + 8) ^ second);
                }
                [word(len - 16), word(len - 8)]
            }
        };
        fold(fold(low ^ first ^ state, high ^ second) ^ len as u64, fourth | 1)
    }

    fn first(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    /// The group of a key with this hash.
    pub(crate) fn find(&self, hash: u64, key: &[u8]) -> Option<usize> {
        self.groups(hash).find(|&group| is_same(self.key(group), key))
    }

    /// The same, most likely the first that [`Wide::prefetch_group`] named.
    #[inline]
    pub(crate) fn find_from(&self, first: Option<usize>, hash: u64, key: &[u8]) -> Option<usize> {
        let is_own = |&group: &usize| group < self.len() && is_same(self.key(group), key);
        first.filter(is_own).or_else(|| self.find(hash, key))
    }

    /// The groups whose keys may have this hash.
    #[inline]
    fn groups(&self, hash: u64) -> impl Iterator<Item = usize> {
        let (mut at, tag) = (self.first(hash), (hash >> 32) as u32);
        std::iter::from_fn(move || {
            loop {
                let Slot { tag: found, group } = self.slots[at];
                at = (at + 1) & (self.slots.len() - 1);
                match group.checked_sub(1) {
                    None => return None,
                    Some(group) if found == tag => return Some(group as usize),
                    Some(_) => {}
                }
            }
        })
    }

    /// Begins to fetch what [`Wide::find`] looks at first.
    #[inline]
    pub(crate) fn prefetch_slot(&self, hash: u64) {
        prefetch(&self.slots[self.first(hash)]);
    }

    /// And what it looks at next, with the state if that is wanted, too; the slot should have come. The first group
    /// whose key may have this hash.
    #[inline]
    pub(crate) fn prefetch_group(&self, hash: u64, with_stats: bool) -> Option<usize> {
        let group = self.groups(hash).next()?;
        prefetch(&self.places[group]);
        if with_stats && let Some(stats) = self.stats.get(group) {
            prefetch(stats);
        }
        Some(group)
    }

    /// And the key; its place should have come.
    #[inline]
    pub(crate) fn prefetch_key(&self, group: usize) {
        let Range { start, end } = self.range(group);
        for at in [start, (start + 63).min(end.saturating_sub(1))] {
            self.keys.get(at).inspect(|key| prefetch(*key));
        }
    }

    /// A new group, of which something is known. False where the account does not allow it: what does not fit ends the
    /// run.
    pub(crate) fn insert(
        &mut self,
        hash: u64,
        key: &[u8],
        stats: Stats,
        account: &Account,
    ) -> bool {
        if self.stats.len() < self.len() {
            self.fill_up();
        }
        // While values of threads become one list they are there twice.
        let fits = account.take(2 * stats.kept_bytes())
            && room(&mut self.stats, 1, account)
            && self.insert_key(hash, key, account);
        if fits {
            self.stats.push(Own(stats));
        }
        fits
    }

    /// A new group, of which nothing is known. False as there.
    pub(crate) fn insert_key(&mut self, hash: u64, key: &[u8], account: &Account) -> bool {
        // A key stands here and in the result.
        let fits = account.take(key.len())
            && room(&mut self.keys, key.len(), account)
            && room(&mut self.places, 1, account);
        if !fits || 2 * (self.len() + 1) > self.slots.len() && !self.grow(account) {
            return false;
        }
        self.keys.extend_from_slice(key);
        self.places.push(Place { hash, end: self.keys.len() });
        self.enter(hash, self.len() - 1);
        true
    }

    fn enter(&mut self, hash: u64, group: usize) {
        let group = u32::try_from(group + 1).expect("fewer groups than 2^32");
        let mut at = self.first(hash);
        while self.slots[at].group != 0 {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = Slot { tag: (hash >> 32) as u32, group };
    }

    /// Twice as many slots.
    #[cold]
    fn grow(&mut self, account: &Account) -> bool {
        let (old, new) = (self.slots.len(), 2 * self.slots.len());
        if !account.take(new * size_of::<Slot>()) {
            return false;
        }
        self.slots = huge(new, Slot::default());
        account.give(old * size_of::<Slot>());
        for group in 0..self.len() {
            self.enter(self.places[group].hash, group);
        }
        true
    }
}

/// Whether two keys are the same, without a call where they are short: words that overlap cover them.
#[inline]
fn is_same(one: &[u8], other: &[u8]) -> bool {
    const SHORT: usize = 128;
    let len = one.len();
    if len != other.len() || !(8..=SHORT).contains(&len) {
        return one == other;
    }
    let word = |key: &[u8], at: usize| -> u64 {
        u64::from_le_bytes(key[at..at + 8].try_into().expect("8 bytes"))
    };
    if len <= 16 {
        let differs = (word(one, 0) ^ word(other, 0)) | (word(one, len - 8) ^ word(other, len - 8));
        return differs == 0;
    }
    let pair = |key: &[u8], at: usize| -> u128 {
        u128::from_le_bytes(key[at..at + 16].try_into().expect("16 bytes"))
    };
    let mut differs = pair(one, len - 16) ^ pair(other, len - 16);
    let mut at = 0;
    while at + 16 < len {
        differs |= pair(one, at) ^ pair(other, at);
        at += 16;
    }
    differs == 0
}

/// How many a list is to have room for if there is none for so many more: for twice as many if it grows.
fn grown<T>(list: &List<T>, more: usize) -> Option<usize> {
    let (len, old) = (list.len(), list.capacity());
    (old - len < more).then(|| (2 * old).max(len + more).max(4096 / BYTES))
}

/// Makes room for more in a list; false where the account does not allow it.
fn room<T>(list: &mut List<T>, more: usize, account: &Account) -> bool {
    let Some(new) = grown(list, more) else { return true };
    let fits = account.take((new - list.capacity()) * size_of::<T>());
    if fits {
        list.enlarge(new);
    }
    fits
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::number::Decimal;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_key_has_one_group(keys in prop::collection::vec("[ab]{0,3}|[a-c]{4,40}", 0..2000)) {
            let is_known = |group: usize| group % 7 < 3;
            let (mut wide, mut known) = (Wide::new(), HashMap::new());
            let account = Account::new(None);
            for key in &keys {
                let (bytes, next) = (key.as_bytes(), known.len());
                let hash = wide.hash(bytes);
                let expected = known.get(key).copied();
                prop_assert_eq!(wide.find(hash, bytes), expected);
                for first in [wide.prefetch_group(hash, true), Some(next), next.checked_sub(1), None] {
                    prop_assert_eq!(wide.find_from(first, hash, bytes), expected);
                }
                if expected.is_none() {
                    let stats = Stats::of(&Decimal::new(next as i128, 0), false);
                    let fits = match is_known(next) {
                        true => wide.insert(hash, bytes, stats, &account),
                        false => wide.insert_key(hash, bytes, &account),
                    };
                    prop_assert!(fits);
                    known.insert(key, next);
                }
            }
            prop_assert_eq!(wide.len(), known.len());
            for (key, group) in known {
                prop_assert_eq!(wide.key(group), key.as_bytes());
                let stats = wide.stats_mut(group);
                prop_assert_eq!(stats.count(), u64::from(is_known(group)));
                prop_assert_eq!(stats.max(), is_known(group).then(|| Decimal::new(group as i128, 0)));
            }
        }
    }

    #[test]
    fn keys_are_the_same_where_no_byte_differs() {
        for len in 0..150 {
            let (one, mut other) = (vec![7; len], vec![7; len]);
            assert!(is_same(&one, &other), "{len}");
            assert!(!is_same(&one, &vec![7; len + 1]));
            for at in 0..len {
                other[at] = 8;
                assert!(!is_same(&one, &other), "{at} of {len}");
                other[at] = 7;
            }
        }
    }

    #[test]
    fn hashes_depend_on_every_byte_the_length_and_the_seed() {
        let (one, other) = (Wide::new(), Wide::new());
        let emptied = one.emptied();
        let mut hashes = Vec::new();
        for len in 0..70 {
            let mut key = vec![0; len];
            hashes.push(one.hash(&key));
            assert_ne!(one.hash(&key), other.hash(&key));
            assert_eq!(one.hash(&key), emptied.hash(&key));
            for at in 0..len {
                key[at] = 1;
                hashes.push(one.hash(&key));
                key[at] = 0;
            }
        }
        let all = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), all);
    }
}
