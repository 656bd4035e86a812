//! The crate `hashbrown`: a Swiss table. One byte of the hash per slot, compared sixteen at a time
//! with SSE2 (eight with NEON); entries inline; load at most 7/8; no tombstone where a group has room.

use fathom_measure::contender::{Keeps, Meta, Origin};
use hashbrown::HashMap;

use crate::hash::{Build, Hashes};
use crate::keyed::operation::HashedMap;
use crate::keyed::{Key, Structure};

pub(super) struct Hashbrown;

impl HashedMap for Hashbrown {
    const META: Meta = Meta {
        name: "hashbrown",
        origin: Origin::Crate("hashbrown"),
        link: "https://docs.rs/hashbrown",
        licence: "MIT OR Apache-2.0",
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("hashbrown.rs"))
    };
    type Map<K: Key, H: Hashes> = HashMap<K, u64, Build<H>>;
}

impl<K: Key, H: Hashes> Structure<K> for HashMap<K, u64, Build<H>> {
    type Hasher = Build<H>;

    fn sized(entries: usize, hasher: Build<H>) -> Self {
        HashMap::with_capacity_and_hasher(entries, hasher)
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
