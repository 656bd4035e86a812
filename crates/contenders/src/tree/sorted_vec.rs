//! The crate `sorted-vec`: one sorted array, searched by halving. An insert moves half the array,
//! so that it is measured as what it is good for: built once, densely packed, then read.

use std::cmp::Ordering;

use fathom_measure::contender::{Keeps, Meta, Origin};
use sorted_vec::SortedSet;

use crate::keyed::operation::PlainMap;
use crate::keyed::{Abilities, Key, Structure};

pub(super) struct SortedVec;

impl PlainMap for SortedVec {
    const META: Meta = Meta {
        name: "sorted-vec",
        origin: Origin::Crate("sorted-vec"),
        link: "https://docs.rs/sorted-vec",
        licence: "MIT OR Apache-2.0",
        keeps: Keeps::Borrowed,
        caveat: "built once; inserting one by one takes time proportional to the size",
        ..Meta::of(include_str!("sorted_vec.rs"))
    };
    type Map<K: Key> = SortedSet<Entry<K>>;
}

/// Ordered and equal by its key alone.
#[derive(Clone, Copy)]
pub(super) struct Entry<K>(K, u64);

impl<K: Key> PartialEq for Entry<K> {
    fn eq(&self, other: &Entry<K>) -> bool {
        self.0 == other.0
    }
}

impl<K: Key> Eq for Entry<K> {}

impl<K: Key> PartialOrd for Entry<K> {
    fn partial_cmp(&self, other: &Entry<K>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Key> Ord for Entry<K> {
    fn cmp(&self, other: &Entry<K>) -> Ordering {
        self.0.cmp(&other.0)
    }
}

impl<K: Key> Structure<K> for SortedSet<Entry<K>> {
    const ABILITIES: Abilities = Abilities { insert: false, erase: false, ..Abilities::TREE };
    type Hasher = ();

    fn sized(entries: usize, (): ()) -> Self {
        SortedSet::with_capacity(entries)
    }

    fn build(keys: &[K], values: &[u64], (): ()) -> Self {
        let entries = keys.iter().zip(values).map(|(&key, &value)| Entry(key, value));
        SortedSet::from_unsorted(entries.collect())
    }

    fn entries(&self) -> usize {
        self.len()
    }

    fn find(&self, key: K) -> Option<u64> {
        self.binary_search(&Entry(key, 0)).ok().map(|at| self[at].1)
    }

    fn each(&self, visit: impl FnMut(u64)) {
        self.iter().map(|entry| entry.1).for_each(visit);
    }

    fn range(&self, start: K, span: usize, visit: impl FnMut(u64)) {
        let from = self.partition_point(|entry| entry.0 < start);
        self[from..].iter().take(span).map(|entry| entry.1).for_each(visit);
    }
}
