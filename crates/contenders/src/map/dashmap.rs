//! The crate `dashmap`: hashbrown tables in shards, each behind a lock.

use dashmap::DashMap as Table;
use fathom_measure::contender::{Keeps, Meta, Origin};

use crate::hash::{Build, Hashes};
use crate::keyed::operation::HashedMap;
use crate::keyed::structure::{Concurrent, Share, together};
use crate::keyed::{Abilities, Key, Structure, Tally};

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
    type Map<K: Key, H: Hashes> = Table<K, u64, Build<H>>;
}

impl<K: Key, H: Hashes> Structure<K> for Table<K, u64, Build<H>> {
    const ABILITIES: Abilities = Abilities { concurrent: true, ..Abilities::MAP };

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
    fn insert(&mut self, key: K, value: u64) -> Option<u64> {
        self.insert_shared(key, value)
    }

    #[inline]
    fn erase(&mut self, key: K) -> Option<u64> {
        self.remove(&key).map(|(_, value)| value)
    }

    fn each(&self, mut visit: impl FnMut(u64)) {
        self.iter().for_each(|entry| visit(*entry.value()));
    }

    fn share(&mut self, shares: &[Share<K>]) -> Tally {
        together(self, shares)
    }
}

impl<K: Key, H: Hashes> Concurrent<K> for Table<K, u64, Build<H>> {
    #[inline]
    fn insert_shared(&self, key: K, value: u64) -> Option<u64> {
        self.insert(key, value)
    }
}
