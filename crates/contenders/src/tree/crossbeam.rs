//! The crate `crossbeam-skiplist`, `SkipMap`: a lock-free skip list for several threads. It reclaims
//! memory by epochs, so that it must own its keys.

use std::ops::Bound;

use crossbeam_skiplist::SkipMap;
use fathom_measure::contender::{Keeps, Meta, Origin};

use crate::keyed::operation::PlainMap;
use crate::keyed::structure::{Concurrent, Shared};
use crate::keyed::{Abilities, Key};

pub(super) struct SkipList;

impl PlainMap for SkipList {
    const META: Meta = Meta {
        name: "skiplist-crossbeam",
        origin: Origin::Crate("crossbeam-skiplist"),
        link: "https://docs.rs/crossbeam-skiplist",
        licence: "MIT OR Apache-2.0",
        keeps: Keeps::Copied,
        caveat: "made for several threads; an insert looks first to tell what was there",
        ..Meta::of(include_str!("crossbeam.rs"))
    };
    type Map<K: Key> = Shared<Table<K>>;
}

pub(super) struct Table<K: Key>(SkipMap<K::Owned, u64>);

impl<K: Key> Concurrent<K> for Table<K> {
    const ABILITIES: Abilities = Abilities::TREE;
    type Hasher = ();

    fn sized(_: usize, (): ()) -> Self {
        Table(SkipMap::new())
    }

    fn entries(&self) -> usize {
        self.0.len()
    }

    fn find(&self, key: K) -> Option<u64> {
        self.0.get(key.part()).map(|entry| *entry.value())
    }

    fn insert(&self, key: K, value: u64) -> Option<u64> {
        let old = self.find(key);
        self.0.insert(key.owned(), value);
        old
    }

    fn erase(&self, key: K) -> Option<u64> {
        self.0.remove(key.part()).map(|entry| *entry.value())
    }

    fn each(&self, mut visit: impl FnMut(u64)) {
        self.0.iter().for_each(|entry| visit(*entry.value()));
    }

    fn range(&self, start: K, span: usize, mut visit: impl FnMut(u64)) {
        let from = (Bound::Included(start.part()), Bound::Unbounded);
        self.0.range::<K::Part, _>(from).take(span).for_each(|entry| visit(*entry.value()));
    }
}
