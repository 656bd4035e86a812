//! The crate `imbl`, `HashMap`: a hash array mapped trie whose versions share structure. Copies cost
//! nothing and every change walks a path; used here through one version.

use fathom_measure::contender::{Keeps, Meta, Origin};
use imbl::GenericHashMap;
use imbl::shared_ptr::DefaultSharedPtr;

use crate::hash::{Build, Hashes};
use crate::keyed::operation::HashedMap;
use crate::keyed::{Key, Structure};

type Table<K, H> = GenericHashMap<K, u64, Build<H>, DefaultSharedPtr>;

pub(super) struct Imbl;

impl HashedMap for Imbl {
    const META: Meta = Meta {
        name: "imbl-hash",
        origin: Origin::Crate("imbl"),
        link: "https://docs.rs/imbl",
        licence: "MPL-2.0",
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("imbl.rs"))
    };
    type Map<K: Key, H: Hashes> = Table<K, H>;
}

impl<K: Key, H: Hashes> Structure<K> for Table<K, H> {
    type Hasher = Build<H>;

    fn sized(_: usize, hasher: Build<H>) -> Self {
        GenericHashMap::with_hasher(hasher)
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
