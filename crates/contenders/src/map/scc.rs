//! The crate `scc`, `HashMap`: buckets of 32 entries, each with a lock of its own and hash bytes
//! compared in vectors; resizes incrementally.

use fathom_measure::contender::{Keeps, Meta, Origin};
use scc::HashMap;

use crate::hash::{Build, Hashes};
use crate::keyed::operation::HashedMap;
use crate::keyed::structure::{Concurrent, Share, together};
use crate::keyed::{Abilities, Key, Structure, Tally};

pub(super) struct Scc;

impl HashedMap for Scc {
    const META: Meta = Meta {
        name: "scc-hash",
        origin: Origin::Crate("scc"),
        link: "https://docs.rs/scc",
        licence: "Apache-2.0",
        keeps: Keeps::Borrowed,
        caveat: "made for several threads: every operation synchronises",
        ..Meta::of(include_str!("scc.rs"))
    };
    type Map<K: Key, H: Hashes> = HashMap<K, u64, Build<H>>;
}

impl<K: Key, H: Hashes> Structure<K> for HashMap<K, u64, Build<H>> {
    const ABILITIES: Abilities = Abilities { concurrent: true, ..Abilities::MAP };

    type Hasher = Build<H>;

    fn sized(entries: usize, hasher: Build<H>) -> Self {
        HashMap::with_capacity_and_hasher(entries, hasher)
    }

    fn entries(&self) -> usize {
        self.len()
    }

    #[inline]
    fn find(&self, key: K) -> Option<u64> {
        self.read_sync(&key, |_, value| *value)
    }

    #[inline]
    fn insert(&mut self, key: K, value: u64) -> Option<u64> {
        self.insert_shared(key, value)
    }

    #[inline]
    fn erase(&mut self, key: K) -> Option<u64> {
        self.remove_sync(&key).map(|(_, value)| value)
    }

    fn each(&self, mut visit: impl FnMut(u64)) {
        self.iter_sync(|_, value| {
            visit(*value);
            true
        });
    }

    fn share(&mut self, shares: &[Share<K>]) -> Tally {
        together(self, shares)
    }
}

impl<K: Key, H: Hashes> Concurrent<K> for HashMap<K, u64, Build<H>> {
    #[inline]
    fn insert_shared(&self, key: K, value: u64) -> Option<u64> {
        self.upsert_sync(key, value)
    }
}
