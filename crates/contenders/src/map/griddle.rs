//! The crate `griddle`: hashbrown that resizes a little at each insert instead of all at once. The
//! only incremental resize in Rust: look at its latency, not its total.

use fathom_measure::contender::{Keeps, Meta, Origin};
use griddle::HashMap;

use crate::hash::{Build, Hashes};
use crate::keyed::operation::HashedMap;
use crate::keyed::{Key, Structure};

pub(super) struct Griddle;

impl HashedMap for Griddle {
    const META: Meta = Meta {
        name: "griddle",
        origin: Origin::Crate("griddle"),
        link: "https://docs.rs/griddle",
        licence: "MIT OR Apache-2.0",
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("griddle.rs"))
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
