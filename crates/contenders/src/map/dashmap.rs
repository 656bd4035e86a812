//! The crate `dashmap`: hashbrown tables in shards, each behind a lock.

use std::sync::Arc;

use dashmap::DashMap as Table;

use crate::hash::{Build, Hashes};
use crate::keyed::Key;
use crate::keyed::methods::{contender, structure};

contender! {
    pub(super) DashMap: HashedMap<K, H> = Arc<Table<K, u64, Build<H>>>,
    library!("dashmap", "dashmap", "MIT", "dashmap.rs";
        keeps Borrowed, caveat "made for several threads: every operation synchronises",
        code dashmap::DashMap<K, V, S>)
}

structure! {
    impl[K: Key, H: Hashes] for shared Table<K, u64, Build<H>>: keys K, hasher Build<H>;
    sized(entries, hasher) => Table::with_capacity_and_hasher(entries, hasher),
    entries(map) => map.len(),
    find(map, key) => map.get(&key).map(|value| *value),
    insert(map, key, value) => map.insert(key, value),
    erase(map, key) => map.remove(&key).map(|(_, value)| value),
    each(map, visit) => map.iter().for_each(|entry| visit(*entry.value())),
}
