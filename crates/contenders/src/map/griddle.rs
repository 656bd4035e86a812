//! The crate `griddle`: hashbrown that resizes a little at each insert instead of all at once. The
//! only incremental resize in Rust: look at its latency, not its total.

use fathom_measure::contender::{Keeps, Meta, Origin};
use griddle::HashMap;

use crate::hash::{Build, Hashes};
use crate::keyed::Key;
use crate::keyed::bench::HashedMap;
use crate::keyed::methods::by_methods;

type Table<K, H> = HashMap<K, u64, Build<H>>;
by_methods!(Table, HashMap::with_capacity_and_hasher, remove);

pub(super) struct Griddle;

impl HashedMap for Griddle {
    const META: Meta = Meta {
        name: "griddle",
        origin: Origin::Crate("griddle"),
        link: "https://docs.rs/griddle",
        licence: "MIT OR Apache-2.0",
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("griddle.rs"))
    };
    type Map<K: Key, H: Hashes> = Table<K, H>;
}
