//! The crate `crossbeam-skiplist`, `SkipMap`: a lock-free skip list for several threads. It reclaims
//! memory by epochs, so that it must own its keys.

use std::ops::Bound;

use crossbeam_skiplist::SkipMap;
use fathom_measure::contender::{Keeps, Meta, Origin};

use crate::keyed::methods::concurrent;
use crate::keyed::operation::PlainMap;
use crate::keyed::structure::Shared;
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
    type Map<K: Key> = Shared<Table<K>>;
}

pub(super) struct Table<K: Key>(SkipMap<K::Owned, u64>);

concurrent! {
    impl[K: Key] for Table<K>: keys K, hasher (), can Abilities::TREE;
    sized(_, ()) => Table(SkipMap::new()),
    entries(map) => map.0.len(),
    find(map, key) => map.0.get(key.part()).map(|entry| *entry.value()),
    insert(map, key, value) => { let old = map.find(key); map.0.insert(key.owned(), value); old },
    erase(map, key) => map.0.remove(key.part()).map(|entry| *entry.value()),
    each(map, visit) => map.0.iter().for_each(|entry| visit(*entry.value())),
    range(map, start, span, visit) => {
        let from = (Bound::Included(start.part()), Bound::Unbounded);
        map.0.range::<K::Part, _>(from).take(span).for_each(|entry| visit(*entry.value()));
    },
}
