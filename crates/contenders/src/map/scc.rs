//! The crate `scc`, `HashMap`: buckets of 32 entries, each with a lock of its own and hash bytes
//! compared in vectors; resizes incrementally.

use fathom_measure::contender::{Keeps, Meta, Origin};
use scc::HashMap;

use crate::hash::{Build, Hashes};
use crate::keyed::Key;
use crate::keyed::operation::HashedMap;
use crate::keyed::structure::{Concurrent, Shared};

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
    type Map<K: Key, H: Hashes> = Shared<HashMap<K, u64, Build<H>>>;
}

impl<K: Key, H: Hashes> Concurrent<K> for HashMap<K, u64, Build<H>> {
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
    fn insert(&self, key: K, value: u64) -> Option<u64> {
        self.upsert_sync(key, value)
    }

    #[inline]
    fn erase(&self, key: K) -> Option<u64> {
        self.remove_sync(&key).map(|(_, value)| value)
    }

    fn each(&self, mut visit: impl FnMut(u64)) {
        self.iter_sync(|_, value| {
            visit(*value);
            true
        });
    }
}
