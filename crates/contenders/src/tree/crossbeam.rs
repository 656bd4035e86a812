//! The crate `crossbeam-skiplist`, `SkipMap`: a lock-free skip list for several threads. It reclaims
//! memory by epochs, so that it must own its keys.

use std::ops::Bound;
use std::sync::Arc;

use crossbeam_skiplist::SkipMap;
use fathom_measure::contender::{Keeps, Meta, Origin};

use crate::keyed::bench::PlainMap;
use crate::keyed::methods::structure;
use crate::keyed::{Abilities, Key};

pub(super) struct SkipList;

impl PlainMap for SkipList {
    const META: Meta = Meta {
        name: "skiplist-crossbeam",
        origin: Origin::Crate("crossbeam-skiplist"),
        link: "https://docs.rs/crossbeam-skiplist",
        licence: "MIT OR Apache-2.0",
        keeps: Keeps::Copied,
        caveat: "made for several threads; an insert looks first, an update removes before it inserts",
        ..Meta::of(include_str!("crossbeam.rs"))
    };
    type Map<K: Key> = Arc<SkipMap<K::Owned, u64>>;
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
