//! The crate `papaya`: an open-addressed table of atomic pointers, read without a lock; one
//! allocation per entry, and old entries are freed once no reader can see them.

use fathom_measure::contender::{Keeps, Meta, Origin};
use papaya::HashMap;

use crate::hash::{Build, Hashes};
use crate::keyed::Key;
use crate::keyed::operation::HashedMap;
use crate::keyed::structure::{Concurrent, Shared};

pub(super) struct Papaya;

impl HashedMap for Papaya {
    const META: Meta = Meta {
        name: "papaya",
        origin: Origin::Crate("papaya"),
        link: "https://docs.rs/papaya",
        licence: "MIT",
        keeps: Keeps::Borrowed,
        caveat: "made for several threads: every operation synchronises",
        ..Meta::of(include_str!("papaya.rs"))
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
        self.pin().get(&key).copied()
    }

    #[inline]
    fn insert(&self, key: K, value: u64) -> Option<u64> {
        self.pin().insert(key, value).copied()
    }

    #[inline]
    fn erase(&self, key: K) -> Option<u64> {
        self.pin().remove(&key).copied()
    }

    fn each(&self, mut visit: impl FnMut(u64)) {
        self.pin().values().for_each(|value| visit(*value));
    }
}
