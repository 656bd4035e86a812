//! The crate `papaya`: an open-addressed table of atomic pointers, read without a lock; one
//! allocation per entry, and old entries are freed once no reader can see them.

use std::sync::Arc;

use papaya::HashMap;

use crate::hash::{Build, Hashes};
use crate::keyed::Key;
use crate::keyed::methods::{contender, structure};

contender! {
    pub(super) Papaya: HashedMap<K, H> = Arc<HashMap<K, u64, Build<H>>>,
    library!("papaya", "papaya", "MIT", "papaya.rs";
        keeps Borrowed, caveat "made for several threads: every operation synchronises",
        code papaya::HashMap<K, V, S>)
}

structure! {
    impl[K: Key, H: Hashes] for shared HashMap<K, u64, Build<H>>: keys K, hasher Build<H>;
    sized(entries, hasher) => HashMap::with_capacity_and_hasher(entries, hasher),
    entries(map) => map.len(),
    find(map, key) => map.pin().get(&key).copied(),
    insert(map, key, value) => map.pin().insert(key, value).copied(),
    erase(map, key) => map.pin().remove(&key).copied(),
    each(map, visit) => map.pin().values().for_each(|value| visit(*value)),
}
