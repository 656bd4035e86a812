//! The crate `blart`, `TreeMap`: an adaptive radix tree, nodes of 4, 16, 48 and 256 children with
//! compressed paths.

use ::blart::TreeMap;
use fathom_measure::contender::{Keeps, Meta, Origin};

use super::escape::ended;
use crate::keyed::operation::PlainMap;
use crate::keyed::{Abilities, Key, Structure};

pub(super) struct Blart;

impl PlainMap for Blart {
    const META: Meta = Meta {
        name: "art-blart",
        origin: Origin::Crate("blart"),
        link: "https://docs.rs/blart",
        licence: "MIT OR Apache-2.0",
        keeps: Keeps::Copied,
        caveat: "byte strings get a terminator, which costs a copy per operation",
        ..Meta::of(include_str!("blart.rs"))
    };
    type Map<K: Key> = Table;
}

pub(super) struct Table(TreeMap<Box<[u8]>, u64>);

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
        Table(TreeMap::new())
    }

    fn entries(&self) -> usize {
        self.0.len()
    }

    fn find(&self, key: K) -> Option<u64> {
        shaped(key, |key| self.0.get(key).copied())
    }

    fn insert(&mut self, key: K, value: u64) -> Option<u64> {
        let inserted = shaped(key, |key| self.0.try_insert(key.into(), value));
        inserted.expect("no key begins another")
    }

    fn erase(&mut self, key: K) -> Option<u64> {
        shaped(key, |key| self.0.remove(key))
    }

    fn each(&self, visit: impl FnMut(u64)) {
        self.0.values().copied().for_each(visit);
    }

    fn range(&self, start: K, span: usize, visit: impl FnMut(u64)) {
        let start: Box<[u8]> = shaped(start, |start| start.into());
        self.0.range::<Box<[u8]>, _>(start..).take(span).map(|(_, &value)| value).for_each(visit);
    }
}
