//! The crate `indexset`, `BTreeMap`: two levels, wide nodes kept as sorted arrays, and entries that
//! can be asked for by their rank.

use fathom_measure::contender::{Keeps, Meta, Origin};
use indexset::BTreeMap;

use crate::keyed::Key;
use crate::keyed::bench::PlainMap;
use crate::keyed::methods::tree_by_methods;

tree_by_methods!(BTreeMap);

pub(super) struct IndexSet;

impl PlainMap for IndexSet {
    const META: Meta = Meta {
        name: "indexset",
        origin: Origin::Crate("indexset"),
        link: "https://docs.rs/indexset",
        licence: "MIT",
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("indexset.rs"))
    };
    type Map<K: Key> = BTreeMap<K, u64>;
}
