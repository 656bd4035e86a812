//! The crate `intmap`: integer keys alone, hashed by one multiplication of its own; buckets are
//! vectors of entries.

use fathom_measure::contender::{Meta, Origin};

use crate::keyed::bench::IntegerMap;
use crate::keyed::methods::structure;

type Table = intmap::IntMap<u64, u64>;

pub(super) struct IntMap;

impl IntegerMap for IntMap {
    const META: Meta = Meta {
        name: "intmap",
        origin: Origin::Crate("intmap"),
        link: "https://docs.rs/intmap",
        licence: "MIT",
        caveat: "integer keys only",
        ..Meta::of(include_str!("intmap.rs"))
    };
    type Map = Table;
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
