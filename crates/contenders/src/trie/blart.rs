//! The crate `blart`, `TreeMap`: an adaptive radix tree, nodes of 4, 16, 48 and 256 children with
//! compressed paths.

use ::blart::TreeMap;

use super::escape::shaped;
use crate::keyed::methods::{contender, structure};
use crate::keyed::{Abilities, Key};

contender! {
    pub(super) Blart: PlainMap<K> = Table,
    library!("art-blart", "blart", "MIT OR Apache-2.0", "blart.rs";
        keeps Copied, caveat "byte strings get a terminator, which costs a copy per operation",
        code blart::TreeMap<Box<[u8]>, V>)
}

type Table = TreeMap<Box<[u8]>, u64>;

structure! {
    impl[K: Key] for Table: keys K, hasher (), can Abilities::TREE;
    sized(_, ()) => Table::new(),
    entries(map) => map.len(),
    find(map, key) => shaped(key, |key| map.get(key).copied()),
    insert(map, key, value) =>
        shaped(key, |key| map.try_insert(key.into(), value)).expect("no key begins another"),
    erase(map, key) => shaped(key, |key| map.remove(key)),
    each(map, visit) => map.values().copied().for_each(visit),
    range(map, start, span, visit) => {
        let start: Box<[u8]> = shaped(start, |start| start.into());
        map.range::<Box<[u8]>, _>(start..).take(span).map(|(_, &value)| value).for_each(visit);
    },
}
