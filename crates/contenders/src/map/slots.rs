//! A map over one of our own tables that hold the entries themselves: what F14's value flavour and
//! the cuckoo map share. The tables know entries and places; keys and hashes are known here.

use super::place::Place;
use crate::hash::{Build, Hashes};
use crate::keyed::{Key, Structure};

/// A table of items that are plain values: `Copy`, never dropped.
pub(super) trait Slots<I: Copy> {
    /// Room for `entries` items before it grows.
    fn with_capacity(entries: usize) -> Self;
    /// Number of items.
    fn len(&self) -> usize;
    /// The item that has `place` and for which `is` holds.
    fn find(&self, place: Place, is: impl FnMut(&I) -> bool) -> Option<&I>;
    /// The same, to be changed.
    fn find_mut(&mut self, place: Place, is: impl FnMut(&I) -> bool) -> Option<&mut I>;
    /// Puts in an item that is not there yet; `place_of` tells the places of items when the table
    /// grows.
    fn insert_new(&mut self, place: Place, item: I, place_of: impl Fn(&I) -> Place);
    /// Takes out the item that has `place` and for which `is` holds.
    fn remove(&mut self, place: Place, is: impl FnMut(&I) -> bool) -> Option<I>;
    /// Visits every item, in the order of memory.
    fn each(&self, visit: impl FnMut(&I));
}

/// A map whose entries lie in the slots of `T`.
pub(crate) struct SlotMap<T, H> {
    pub(super) table: T,
    function: H,
}

/// Where a key belongs.
#[inline]
fn place<K: Key, H: Hashes>(key: K, function: &H) -> Place {
    Place::of(key.hash_by(function), function.avalanches())
}

impl<K: Key, H: Hashes, T: Slots<(K, u64)>> Structure<K> for SlotMap<T, H> {
    type Hasher = Build<H>;

    fn sized(entries: usize, hasher: Build<H>) -> Self {
        SlotMap { table: T::with_capacity(entries), function: hasher.0 }
    }

    fn entries(&self) -> usize {
        self.table.len()
    }

    #[inline]
    fn find(&self, key: K) -> Option<u64> {
        let place = place(key, &self.function);
        self.table.find(place, |entry| entry.0 == key).map(|entry| entry.1)
    }

    #[inline]
    fn insert(&mut self, key: K, value: u64) -> Option<u64> {
        let (at, function) = (place(key, &self.function), &self.function);
        if let Some(entry) = self.table.find_mut(at, |entry| entry.0 == key) {
            return Some(std::mem::replace(&mut entry.1, value));
        }
        self.table.insert_new(at, (key, value), |entry| place(entry.0, function));
        None
    }

    #[inline]
    fn erase(&mut self, key: K) -> Option<u64> {
        let place = place(key, &self.function);
        self.table.remove(place, |entry| entry.0 == key).map(|entry| entry.1)
    }

    fn each(&self, mut visit: impl FnMut(u64)) {
        self.table.each(|entry| visit(entry.1));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    pub(in crate::map) enum Step {
        Insert(u64, u64),
        Erase(u64),
        Find(u64),
    }

    pub(in crate::map) fn steps() -> impl Strategy<Value = Vec<Step>> {
        let key = || 0_u64..400;
        let step = prop_oneof![
            3 => (key(), any::<u64>()).prop_map(|(key, value)| Step::Insert(key, value)),
            2 => key().prop_map(Step::Erase),
            1 => key().prop_map(Step::Find),
        ];
        prop::collection::vec(step, 0..1500)
    }

    /// The map does as the standard one.
    pub(in crate::map) fn agrees<S: Structure<u64>>(mut map: S, steps: &[Step]) {
        let mut oracle = HashMap::new();
        for step in steps {
            match *step {
                Step::Insert(k, v) => assert_eq!(map.insert(k, v), oracle.insert(k, v)),
                Step::Erase(k) => assert_eq!(map.erase(k), oracle.remove(&k)),
                Step::Find(k) => assert_eq!(map.find(k), oracle.get(&k).copied()),
            }
            assert_eq!(map.entries(), oracle.len());
        }
        let (mut found, mut expected) = (Vec::new(), Vec::from_iter(oracle.values().copied()));
        map.each(|value| found.push(value));
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}
