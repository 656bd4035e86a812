//! The crate `rpds`, `HashTrieMap`: a persistent hash trie, changed in place while nobody else holds
//! a version. Its update reports nothing, so that an insert looks first.

use rpds::HashTrieMapSync;

use crate::hash::{Build, Hashes};
use crate::keyed::Key;
use crate::keyed::methods::{contender, structure};

type Table<K, H> = HashTrieMapSync<K, u64, Build<H>>;

contender! {
    pub(super) Rpds: HashedMap<K, H> = Table<K, H>,
    library!("rpds-hash", "rpds", "MIT", "rpds.rs";
        keeps Borrowed, caveat "inserting and erasing look up first to tell what was there",
        code rpds::HashTrieMapSync<K, V, S>)
}

structure! {
    impl[K: Key, H: Hashes] for Table<K, H>: keys K, hasher Build<H>;
    sized(_, hasher) => HashTrieMapSync::new_with_hasher_and_degree_and_ptr_kind(hasher, 32),
    entries(map) => map.size(),
    find(map, key) => map.get(&key).copied(),
    insert(map, key, value) => { let old = map.find(key); map.insert_mut(key, value); old },
    erase(map, key) => { let old = map.find(key); map.remove_mut(&key); old },
    each(map, visit) => map.values().copied().for_each(visit),
}
