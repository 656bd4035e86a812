//! The crate `rart`, `AdaptiveRadixTree`: an adaptive radix tree with a node of 16 and 48 searched by
//! vectors.

use ::rart::{AdaptiveRadixTree, KeyTrait, VectorKey};

use super::escape::shaped;
use crate::keyed::methods::{contender, structure};
use crate::keyed::{Abilities, Key};

contender! {
    pub(super) Rart: PlainMap<K> = Table,
    library!("art-rart", "rart", "Apache-2.0", "rart.rs";
        keeps Copied,
        caveat "byte strings get a terminator; an insert or erase allocates a copy of the key",
        code rart::AdaptiveRadixTree<rart::VectorKey, V>)
}

type Table = AdaptiveRadixTree<VectorKey, u64>;

structure! {
    impl[K: Key] for Table: keys K, hasher (), can Abilities::TREE;
    sized(_, ()) => Table::new(),
    entries(map) => map.len(),
    find(map, key) => shaped(key, |key| map.get_bytes(key).copied()),
    insert(map, key, value) => map.insert_k(&shaped(key, VectorKey::new_from_slice), value),
    erase(map, key) => map.remove_k(&shaped(key, VectorKey::new_from_slice)),
    each(map, visit) => map.values_iter().copied().for_each(visit),
    range(map, start, span, visit) => {
        let start = shaped(start, VectorKey::new_from_slice);
        map.range(start..).take(span).map(|(_, &value)| value).for_each(visit);
    },
}
