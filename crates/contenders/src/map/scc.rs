//! The crate `scc`, `HashMap`: buckets of 32 entries, each with a lock of its own and hash bytes
//! compared in vectors; resizes incrementally.

use std::sync::Arc;

use scc::HashMap;

use crate::hash::{Build, Hashes};
use crate::keyed::Key;
use crate::keyed::methods::{contender, structure};

contender! {
    pub(super) Scc: HashedMap<K, H> = Arc<HashMap<K, u64, Build<H>>>,
    library!("scc-hash", "scc", "Apache-2.0", "scc.rs";
        keeps Borrowed, caveat "made for several threads: every operation synchronises",
        code scc::HashMap<K, V, S>)
}

structure! {
    impl[K: Key, H: Hashes] for shared HashMap<K, u64, Build<H>>: keys K, hasher Build<H>;
    sized(entries, hasher) => HashMap::with_capacity_and_hasher(entries, hasher),
    entries(map) => map.len(),
    find(map, key) => map.read_sync(&key, |_, value| *value),
    insert(map, key, value) => map.upsert_sync(key, value),
    erase(map, key) => map.remove_sync(&key).map(|(_, value)| value),
    each(map, visit) => { map.iter_sync(|_, value| { visit(*value); true }); },
}
