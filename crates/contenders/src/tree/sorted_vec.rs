//! The crate `sorted-vec`: one sorted array, searched by halving. An insert moves half the array,
//! so that it is measured as what it is good for: built once, densely packed, then read.

use std::cmp::Ordering;

use fathom_measure::contender::Meta;
use sorted_vec::SortedSet;

use crate::keyed::bench::PlainMap;
use crate::keyed::methods::structure;
use crate::keyed::{Abilities, Key};

pub(super) struct SortedVec;

const CAN: Abilities = Abilities { insert: false, erase: false, ..Abilities::TREE };

impl PlainMap for SortedVec {
    const META: Meta = library!("sorted-vec", "sorted-vec", "MIT OR Apache-2.0", "sorted_vec.rs";
        keeps Borrowed,
        caveat "built once; inserting one by one takes time proportional to the size");
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

structure! {
    impl[K: Key] for SortedSet<Entry<K>>: keys K, hasher (), can CAN;
    sized(entries, ()) => SortedSet::with_capacity(entries),
    build(keys, values, ()) => {
        let entries = keys.iter().zip(values).map(|(&key, &value)| Entry(key, value));
        SortedSet::from_unsorted(entries.collect())
    },
    entries(map) => map.len(),
    find(map, key) => map.binary_search(&Entry(key, 0)).ok().map(|at| map[at].1),
    each(map, visit) => map.iter().map(|entry| entry.1).for_each(visit),
    range(map, start, span, visit) => {
        let from = map.partition_point(|entry| entry.0 < start);
        map[from..].iter().take(span).map(|entry| entry.1).for_each(visit);
    },
}
