//! The crate `indexmap`: entries in a dense array in insertion order, and a Swiss table of their
//! places. Erasing moves the last entry into the hole. Iterates fast, looks up with one more miss.

use fathom_measure::contender::{Keeps, Meta, Origin};
use indexmap::IndexMap as Table;

use crate::hash::{Build, Hashes};
use crate::keyed::operation::HashedMap;
use crate::keyed::{Key, Structure};

pub(super) struct IndexMap;

impl HashedMap for IndexMap {
    const META: Meta = Meta {
        name: "indexmap",
        origin: Origin::Crate("indexmap"),
        link: "https://docs.rs/indexmap",
        licence: "Apache-2.0 OR MIT",
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("indexmap.rs"))
    };
    type Map<K: Key, H: Hashes> = Table<K, u64, Build<H>>;
}

impl<K: Key, H: Hashes> Structure<K> for Table<K, u64, Build<H>> {
    type Hasher = Build<H>;

    fn sized(entries: usize, hasher: Build<H>) -> Self {
        Table::with_capacity_and_hasher(entries, hasher)
    }

    fn entries(&self) -> usize {
        self.len()
    }

    #[inline]
    fn find(&self, key: K) -> Option<u64> {
        self.get(&key).copied()
    }

    #[inline]
    fn insert(&mut self, key: K, value: u64) -> Option<u64> {
        self.insert(key, value)
    }

    #[inline]
    fn erase(&mut self, key: K) -> Option<u64> {
        self.swap_remove(&key)
    }

    fn each(&self, visit: impl FnMut(u64)) {
        self.values().copied().for_each(visit);
    }
}
