//! The crate `patricia_tree`: a radix tree whose nodes are small byte arrays with their label inside;
//! siblings form a list.

use fathom_measure::contender::{Keeps, Meta, Origin};
use patricia_tree::PatriciaMap;

use crate::keyed::operation::PlainMap;
use crate::keyed::{Abilities, Key, Structure};

pub(super) struct Patricia;

impl PlainMap for Patricia {
    const META: Meta = Meta {
        name: "patricia",
        origin: Origin::Crate("patricia_tree"),
        link: "https://docs.rs/patricia_tree",
        licence: "MIT",
        keeps: Keeps::Copied,
        ..Meta::of(include_str!("patricia.rs"))
    };
    type Map<K: Key> = PatriciaMap<u64>;
}

impl<K: Key> Structure<K> for PatriciaMap<u64> {
    const ABILITIES: Abilities = Abilities::TRIE;
    type Hasher = ();

    fn sized(_: usize, (): ()) -> Self {
        PatriciaMap::new()
    }

    fn entries(&self) -> usize {
        self.len()
    }

    fn find(&self, key: K) -> Option<u64> {
        self.get(key.raw()).copied()
    }

    fn insert(&mut self, key: K, value: u64) -> Option<u64> {
        self.insert(key.raw(), value)
    }

    fn erase(&mut self, key: K) -> Option<u64> {
        self.remove(key.raw())
    }

    fn each(&self, visit: impl FnMut(u64)) {
        self.values().copied().for_each(visit);
    }
}
