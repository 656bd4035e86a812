//! The crate `rpds`, `RedBlackTreeMap`: a persistent red-black tree, changed in place while nobody
//! else holds a version. Its update reports nothing, so that an insert looks first.

use rpds::RedBlackTreeMapSync;

use crate::keyed::methods::{contender, structure};
use crate::keyed::{Abilities, Key};

contender! {
    pub(super) Rpds: PlainMap<K> = RedBlackTreeMapSync<K, u64>,
    library!("rpds-ord", "rpds", "MIT", "rpds.rs";
        keeps Borrowed, caveat "inserting and erasing look up first to tell what was there",
        code rpds::RedBlackTreeMapSync<K, V>)
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
