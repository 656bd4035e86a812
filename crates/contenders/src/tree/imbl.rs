//! The crate `imbl`, `OrdMap`: a B+ tree whose versions share nodes. Used here through one version.

use fathom_measure::contender::{Keeps, Meta, Origin};
use imbl::OrdMap;

use crate::keyed::operation::PlainMap;
use crate::keyed::{Abilities, Key, Structure};

pub(super) struct Imbl;

impl PlainMap for Imbl {
    const META: Meta = Meta {
        name: "imbl-ord",
        origin: Origin::Crate("imbl"),
        link: "https://docs.rs/imbl",
        licence: "MPL-2.0",
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("imbl.rs"))
    };
    type Map<K: Key> = OrdMap<K, u64>;
}

impl<K: Key> Structure<K> for OrdMap<K, u64> {
    const ABILITIES: Abilities = Abilities::TREE;
    type Hasher = ();

    fn sized(_: usize, (): ()) -> Self {
        OrdMap::new()
    }

    fn entries(&self) -> usize {
        self.len()
    }

    fn find(&self, key: K) -> Option<u64> {
        self.get(&key).copied()
    }

    fn insert(&mut self, key: K, value: u64) -> Option<u64> {
        self.insert(key, value)
    }

    fn erase(&mut self, key: K) -> Option<u64> {
        self.remove(&key)
    }

    fn each(&self, visit: impl FnMut(u64)) {
        self.values().copied().for_each(visit);
    }

    fn range(&self, start: K, span: usize, visit: impl FnMut(u64)) {
        self.range(start..).take(span).map(|(_, &value)| value).for_each(visit);
    }
}
