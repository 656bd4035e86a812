//! The crate `indexmap`: entries in a dense array in insertion order, and a Swiss table of their
//! places. Erasing moves the last entry into the hole. Iterates fast, looks up with one more miss.

use fathom_measure::contender::{Keeps, Meta, Origin};
use indexmap::IndexMap as Indexed;

use crate::hash::{Build, Hashes};
use crate::keyed::Key;
use crate::keyed::bench::HashedMap;
use crate::keyed::methods::by_methods;

type Table<K, H> = Indexed<K, u64, Build<H>>;
by_methods!(Table, Indexed::with_capacity_and_hasher, swap_remove);

pub(super) struct IndexMap;

impl HashedMap for IndexMap {
    const META: Meta = Meta {
        name: "indexmap",
        origin: Origin::Crate("indexmap"),
        link: "https://docs.rs/indexmap",
        licence: "Apache-2.0 OR MIT",
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("indexmap.rs"))
    };
    type Map<K: Key, H: Hashes> = Table<K, H>;
}
