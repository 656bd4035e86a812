//! The crate `dashmap`: hashbrown tables in shards, each behind a lock.

use dashmap::DashMap as Table;
use fathom_measure::contender::{Keeps, Meta, Origin};

use crate::hash::{Build, Hashes};
use crate::keyed::Key;
use crate::keyed::operation::HashedMap;
use crate::keyed::structure::{Concurrent, Shared};

pub(super) struct DashMap;

impl HashedMap for DashMap {
    const META: Meta = Meta {
        name: "dashmap",
        origin: Origin::Crate("dashmap"),
        link: "https://docs.rs/dashmap",
        licence: "MIT",
        keeps: Keeps::Borrowed,
        caveat: "made for several threads: every operation synchronises",
        ..Meta::of(include_str!("dashmap.rs"))
    };
    type Map<K: Key, H: Hashes> = Shared<Table<K, u64, Build<H>>>;
}

impl<K: Key, H: Hashes> Concurrent<K> for Table<K, u64, Build<H>> {
    type Hasher = Build<H>;

    fn sized(entries: usize, hasher: Build<H>) -> Self {
        Table::with_capacity_and_hasher(entries, hasher)
    }

    fn entries(&self) -> usize {
        self.len()
    }

    #[inline]
    fn find(&self, key: K) -> Option<u64> {
        self.get(&key).map(|value| *value)
    }

    #[inline]
    fn insert(&self, key: K, value: u64) -> Option<u64> {
        self.insert(key, value)
    }

    #[inline]
    fn erase(&self, key: K) -> Option<u64> {
        self.remove(&key).map(|(_, value)| value)
    }

    fn each(&self, mut visit: impl FnMut(u64)) {
        self.iter().for_each(|entry| visit(*entry.value()));
    }
}
