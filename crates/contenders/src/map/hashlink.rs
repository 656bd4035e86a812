//! The crate `hashlink`: a Swiss table whose entries are also a linked list in insertion order, one
//! allocation per entry.

use fathom_measure::contender::{Keeps, Meta, Origin};
use hashlink::LinkedHashMap;

use crate::hash::{Build, Hashes};
use crate::keyed::operation::HashedMap;
use crate::keyed::{Key, Structure};

pub(super) struct Hashlink;

impl HashedMap for Hashlink {
    const META: Meta = Meta {
        name: "hashlink",
        origin: Origin::Crate("hashlink"),
        link: "https://docs.rs/hashlink",
        licence: "MIT OR Apache-2.0",
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("hashlink.rs"))
    };
    type Map<K: Key, H: Hashes> = LinkedHashMap<K, u64, Build<H>>;
}

impl<K: Key, H: Hashes> Structure<K> for LinkedHashMap<K, u64, Build<H>> {
    type Hasher = Build<H>;

    fn sized(entries: usize, hasher: Build<H>) -> Self {
        LinkedHashMap::with_capacity_and_hasher(entries, hasher)
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
        self.remove(&key)
    }

    fn each(&self, visit: impl FnMut(u64)) {
        self.values().copied().for_each(visit);
    }
}
