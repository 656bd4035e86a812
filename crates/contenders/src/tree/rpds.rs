//! The crate `rpds`, `RedBlackTreeMap`: a persistent red-black tree, changed in place while nobody
//! else holds a version. Its update reports nothing, so that an insert looks first.

use fathom_measure::contender::{Keeps, Meta, Origin};
use rpds::RedBlackTreeMapSync;

use crate::keyed::bench::PlainMap;
use crate::keyed::methods::structure;
use crate::keyed::{Abilities, Key};

pub(super) struct Rpds;

impl PlainMap for Rpds {
    const META: Meta = Meta {
        name: "rpds-ord",
        origin: Origin::Crate("rpds"),
        link: "https://docs.rs/rpds",
        licence: "MIT",
        keeps: Keeps::Borrowed,
        caveat: "inserting and erasing look up first to tell what was there",
        ..Meta::of(include_str!("rpds.rs"))
    };
    type Map<K: Key> = RedBlackTreeMapSync<K, u64>;
}

structure! {
    impl[K: Key] for RedBlackTreeMapSync<K, u64>: keys K, hasher (), can Abilities::TREE;
    sized(_, ()) => RedBlackTreeMapSync::new_sync(),
    entries(map) => map.size(),
    find(map, key) => map.get(&key).copied(),
    insert(map, key, value) => { let old = map.find(key); map.insert_mut(key, value); old },
    erase(map, key) => { let old = map.find(key); map.remove_mut(&key); old },
    each(map, visit) => map.values().copied().for_each(visit),
    range(map, start, span, visit) =>
        map.range(start..).take(span).map(|(_, &value)| value).for_each(visit),
}
