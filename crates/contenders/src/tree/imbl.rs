//! The crate `imbl`, `OrdMap`: a B+ tree whose versions share nodes. Used here through one version.

use fathom_measure::contender::{Keeps, Meta, Origin};
use imbl::OrdMap;

use crate::keyed::Key;
use crate::keyed::bench::PlainMap;
use crate::keyed::methods::tree_by_methods;

tree_by_methods!(OrdMap);

pub(super) struct Imbl;

impl PlainMap for Imbl {
    const META: Meta = Meta {
        name: "imbl-ord",
        origin: Origin::Crate("imbl"),
        link: "https://docs.rs/imbl",
        licence: "MPL-2.0",
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("imbl.rs"))
    };
    type Map<K: Key> = OrdMap<K, u64>;
}
