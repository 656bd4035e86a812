//! The crate `intmap`: integer keys alone, hashed by one multiplication of its own; buckets are
//! vectors of entries.

use crate::keyed::methods::{contender, structure};

type Table = intmap::IntMap<u64, u64>;

contender! {
    pub(super) IntMap: IntegerMap = Table,
    library!("intmap", "intmap", "MIT", "intmap.rs";
        caveat "integer keys only", code intmap::IntMap<u64, V>)
}

structure! {
    impl[] for Table: keys u64, hasher ();
    sized(room, ()) => if room == 0 { Table::new() } else { Table::with_capacity(room) },
    entries(map) => map.len(),
    find(map, key) => map.get(key).copied(),
    insert(map, key, value) => map.insert(key, value),
    erase(map, key) => map.remove(key),
    each(map, visit) => map.values().copied().for_each(visit),
}
