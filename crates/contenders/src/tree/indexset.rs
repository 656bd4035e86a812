//! The crate `indexset`, `BTreeMap`: two levels, wide nodes kept as sorted arrays, and entries that
//! can be asked for by their rank.

use fathom_measure::contender::{Keeps, Meta, Origin};
use indexset::BTreeMap;

use crate::keyed::operation::PlainMap;
use crate::keyed::{Abilities, Key, Structure};

pub(super) struct IndexSet;

impl PlainMap for IndexSet {
    const META: Meta = Meta {
        name: "indexset",
        origin: Origin::Crate("indexset"),
        link: "https://docs.rs/indexset",
        licence: "MIT",
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("indexset.rs"))
    };
    type Map<K: Key> = BTreeMap<K, u64>;
}

impl<K: Key> Structure<K> for BTreeMap<K, u64> {
    const ABILITIES: Abilities = Abilities::TREE;
    type Hasher = ();

    fn sized(_: usize, (): ()) -> Self {
        BTreeMap::new()
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
