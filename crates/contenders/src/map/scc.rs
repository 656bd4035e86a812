//! The crate `scc`, `HashMap`: buckets of 32 entries, each with a lock of its own and hash bytes
//! compared in vectors; resizes incrementally.

use std::sync::Arc;

use fathom_measure::contender::{Keeps, Meta, Origin};
use scc::HashMap;

use crate::hash::{Build, Hashes};
use crate::keyed::Key;
use crate::keyed::bench::HashedMap;
use crate::keyed::methods::structure;

pub(super) struct Scc;

impl HashedMap for Scc {
    const META: Meta = Meta {
        name: "scc-hash",
        origin: Origin::Crate("scc"),
        link: "https://docs.rs/scc",
        licence: "Apache-2.0",
        keeps: Keeps::Borrowed,
        caveat: "made for several threads: every operation synchronises",
        ..Meta::of(include_str!("scc.rs"))
    };
    type Map<K: Key, H: Hashes> = Arc<HashMap<K, u64, Build<H>>>;
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
