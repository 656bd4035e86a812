//! The crate `patricia_tree`: a radix tree whose nodes are small byte arrays with their label inside;
//! siblings form a list.

use patricia_tree::PatriciaMap;

use crate::keyed::methods::{contender, structure};
use crate::keyed::{Abilities, Key};

contender! {
    pub(super) Patricia: PlainMap<K> = PatriciaMap<u64>,
    library!("patricia", "patricia_tree", "MIT", "patricia.rs";
        keeps Copied, code patricia_tree::PatriciaMap<V>)
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
