//! The standard library's `HashMap`: hashbrown as of the compiler, with any hash function here. Its own
//! default is `siphash13` with a random seed.

use ::std::collections::HashMap;

use fathom_measure::contender::{Keeps, Meta};

use crate::hash::{Build, Hashes};
use crate::keyed::operation::{HashedMap, STD};
use crate::keyed::{Key, Structure};

pub(super) struct Std;

impl HashedMap for Std {
    const META: Meta = Meta {
        name: "std",
        origin: STD,
        link: "https://doc.rust-lang.org/std/collections/struct.HashMap.html",
        licence: "MIT OR Apache-2.0",
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("std.rs"))
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
