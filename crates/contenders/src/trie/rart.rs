//! The crate `rart`, `AdaptiveRadixTree`: an adaptive radix tree with a node of 16 and 48 searched by
//! vectors.

use ::rart::{AdaptiveRadixTree, KeyTrait, VectorKey};
use fathom_measure::contender::{Keeps, Meta, Origin};

use super::escape::ended;
use crate::keyed::operation::PlainMap;
use crate::keyed::{Abilities, Key, Structure};

pub(super) struct Rart;

impl PlainMap for Rart {
    const META: Meta = Meta {
        name: "art-rart",
        origin: Origin::Crate("rart"),
        link: "https://docs.rs/rart",
        licence: "Apache-2.0",
        keeps: Keeps::Copied,
        caveat: "byte strings get a terminator; an insert or erase allocates a copy of the key",
        ..Meta::of(include_str!("rart.rs"))
    };
    type Map<K: Key> = Table;
}

pub(super) struct Table(AdaptiveRadixTree<VectorKey, u64>);

/// The key as the tree takes it.
#[inline]
fn shaped<K: Key, R>(key: K, take: impl FnOnce(&[u8]) -> R) -> R {
    let raw = key.raw();
    if K::SAME_LENGTH { take(raw.as_ref()) } else { ended(raw.as_ref(), take) }
}

impl<K: Key> Structure<K> for Table {
    const ABILITIES: Abilities = Abilities::TREE;
    type Hasher = ();

    fn sized(_: usize, (): ()) -> Self {
        Table(AdaptiveRadixTree::new())
    }

    fn entries(&self) -> usize {
        self.0.len()
    }

    fn find(&self, key: K) -> Option<u64> {
        shaped(key, |key| self.0.get_bytes(key).copied())
    }

    fn insert(&mut self, key: K, value: u64) -> Option<u64> {
        self.0.insert_k(&shaped(key, VectorKey::new_from_slice), value)
    }

    fn erase(&mut self, key: K) -> Option<u64> {
        self.0.remove_k(&shaped(key, VectorKey::new_from_slice))
    }

    fn each(&self, visit: impl FnMut(u64)) {
        self.0.values_iter().copied().for_each(visit);
    }

    fn range(&self, start: K, span: usize, visit: impl FnMut(u64)) {
        let start = shaped(start, VectorKey::new_from_slice);
        self.0.range(start..).take(span).map(|(_, &value)| value).for_each(visit);
    }
}
