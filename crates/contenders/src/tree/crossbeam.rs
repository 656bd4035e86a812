//! The crate `crossbeam-skiplist`, `SkipMap`: a lock-free skip list for several threads. It reclaims
//! memory by epochs, so that it must own its keys.

use std::ops::Bound;
use std::sync::Arc;

use crossbeam_skiplist::SkipMap;

use crate::keyed::methods::{contender, structure};
use crate::keyed::{Abilities, Key};

contender! {
    pub(super) SkipList: PlainMap<K> = Arc<SkipMap<K::Owned, u64>>,
    library!("skiplist-crossbeam", "crossbeam-skiplist", "MIT OR Apache-2.0", "crossbeam.rs";
        keeps Copied,
        caveat "made for several threads; an insert looks first, an update removes before it inserts",
        code crossbeam_skiplist::SkipMap<K, V>)
}

structure! {
    impl[K: Key] for shared SkipMap<K::Owned, u64>: keys K, hasher (), can Abilities::TREE;
    sized(_, ()) => SkipMap::new(),
    entries(map) => map.len(),
    find(map, key) => map.get(key.part()).map(|entry| *entry.value()),
    insert(map, key, value) => {
        let old = map.get(key.part()).map(|entry| *entry.value());
        map.insert(key.owned(), value);
        old
    },
    erase(map, key) => map.remove(key.part()).map(|entry| *entry.value()),
    each(map, visit) => map.iter().for_each(|entry| visit(*entry.value())),
    range(map, start, span, visit) => {
        let from = (Bound::Included(start.part()), Bound::Unbounded);
        map.range::<K::Part, _>(from).take(span).for_each(|entry| visit(*entry.value()));
    },
}
