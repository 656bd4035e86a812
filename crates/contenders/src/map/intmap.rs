//! The crate `intmap`: integer keys alone, hashed by one multiplication of its own; buckets are
//! vectors of entries.

use fathom_measure::contender::{Meta, Origin};

use crate::keyed::Structure;
use crate::keyed::operation::IntegerMap;

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

impl Structure<u64> for Table {
    type Hasher = ();

    fn sized(entries: usize, (): ()) -> Self {
        if entries == 0 { Table::new() } else { Table::with_capacity(entries) }
    }

    fn entries(&self) -> usize {
        self.len()
    }

    #[inline]
    fn find(&self, key: u64) -> Option<u64> {
        self.get(key).copied()
    }

    #[inline]
    fn insert(&mut self, key: u64, value: u64) -> Option<u64> {
        self.insert(key, value)
    }

    #[inline]
    fn erase(&mut self, key: u64) -> Option<u64> {
        self.remove(key)
    }

    fn each(&self, visit: impl FnMut(u64)) {
        self.values().copied().for_each(visit);
    }
}
