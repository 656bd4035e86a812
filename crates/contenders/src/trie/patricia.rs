//! The crate `patricia_tree`: a radix tree whose nodes are small byte arrays with their label inside;
//! siblings form a list.

use fathom_measure::contender::{Keeps, Meta, Origin};
use patricia_tree::PatriciaMap;

use crate::keyed::bench::PlainMap;
use crate::keyed::methods::structure;
use crate::keyed::{Abilities, Key};

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

structure! {
    impl[K: Key] for PatriciaMap<u64>: keys K, hasher (), can Abilities::TRIE;
    sized(_, ()) => PatriciaMap::new(),
    entries(map) => map.len(),
    find(map, key) => map.get(key.raw()).copied(),
    insert(map, key, value) => map.insert(key.raw(), value),
    erase(map, key) => map.remove(key.raw()),
    each(map, visit) => map.values().copied().for_each(visit),
}
