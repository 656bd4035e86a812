//! The crate `hashbrown`: a Swiss table. One byte of the hash per slot, compared sixteen at a time
//! with SSE2 (eight with NEON); entries inline; load at most 7/8; no tombstone where a group has room.

use fathom_measure::contender::{Keeps, Meta, Origin};
use hashbrown::HashMap;

use crate::hash::{Build, Hashes};
use crate::keyed::Key;
use crate::keyed::bench::HashedMap;
use crate::keyed::methods::by_methods;

type Table<K, H> = HashMap<K, u64, Build<H>>;
by_methods!(Table, HashMap::with_capacity_and_hasher, remove);

pub(super) struct Hashbrown;

impl HashedMap for Hashbrown {
    const META: Meta = Meta {
        name: "hashbrown",
        origin: Origin::Crate("hashbrown"),
        link: "https://docs.rs/hashbrown",
        licence: "MIT OR Apache-2.0",
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("hashbrown.rs"))
    };
    type Map<K: Key, H: Hashes> = Table<K, H>;
}
