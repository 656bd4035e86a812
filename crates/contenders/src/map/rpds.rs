//! The crate `rpds`, `HashTrieMap`: a persistent hash trie, changed in place while nobody else holds
//! a version. Its update reports nothing, so that an insert looks first.

use fathom_measure::contender::{Keeps, Meta, Origin};
use rpds::HashTrieMapSync;

use crate::hash::{Build, Hashes};
use crate::keyed::operation::HashedMap;
use crate::keyed::{Key, Structure};

type Table<K, H> = HashTrieMapSync<K, u64, Build<H>>;

pub(super) struct Rpds;

impl HashedMap for Rpds {
    const META: Meta = Meta {
        name: "rpds-hash",
        origin: Origin::Crate("rpds"),
        link: "https://docs.rs/rpds",
        licence: "MIT",
        keeps: Keeps::Borrowed,
        caveat: "inserting and erasing look up first to tell what was there",
        ..Meta::of(include_str!("rpds.rs"))
    };
    type Map<K: Key, H: Hashes> = Table<K, H>;
}

impl<K: Key, H: Hashes> Structure<K> for Table<K, H> {
    type Hasher = Build<H>;

    fn sized(_: usize, hasher: Build<H>) -> Self {
        HashTrieMapSync::new_with_hasher_and_degree_and_ptr_kind(hasher, 32)
    }

    fn entries(&self) -> usize {
        self.size()
    }

    #[inline]
    fn find(&self, key: K) -> Option<u64> {
        self.get(&key).copied()
    }

    #[inline]
    fn insert(&mut self, key: K, value: u64) -> Option<u64> {
        let old = self.find(key);
        self.insert_mut(key, value);
        old
    }

    #[inline]
    fn erase(&mut self, key: K) -> Option<u64> {
        let old = self.find(key);
        self.remove_mut(&key);
        old
    }

    fn each(&self, visit: impl FnMut(u64)) {
        self.values().copied().for_each(visit);
    }
}
