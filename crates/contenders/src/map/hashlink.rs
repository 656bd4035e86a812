//! The crate `hashlink`: a Swiss table whose entries are also a linked list in insertion order, one
//! allocation per entry.

use fathom_measure::contender::{Keeps, Meta, Origin};
use hashlink::LinkedHashMap;

use crate::hash::{Build, Hashes};
use crate::keyed::Key;
use crate::keyed::bench::HashedMap;
use crate::keyed::methods::by_methods;

type Table<K, H> = LinkedHashMap<K, u64, Build<H>>;
by_methods!(Table, LinkedHashMap::with_capacity_and_hasher, remove);

pub(super) struct Hashlink;

impl HashedMap for Hashlink {
    const META: Meta = Meta {
        name: "hashlink",
        origin: Origin::Crate("hashlink"),
        link: "https://docs.rs/hashlink",
        licence: "MIT OR Apache-2.0",
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("hashlink.rs"))
    };
    type Map<K: Key, H: Hashes> = Table<K, H>;
}
