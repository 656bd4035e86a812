//! The crate `indexmap`: entries in a dense array in insertion order, and a Swiss table of their
//! places. Erasing moves the last entry into the hole. Iterates fast, looks up with one more miss.

use indexmap::IndexMap as Indexed;

use crate::hash::Build;
use crate::keyed::methods::{by_methods, contender};

type Table<K, H> = Indexed<K, u64, Build<H>>;
by_methods!(Table, Indexed::with_capacity_and_hasher, swap_remove);

contender! {
    pub(super) IndexMap: HashedMap<K, H> = Table<K, H>,
    library!("indexmap", "indexmap", "Apache-2.0 OR MIT", "indexmap.rs";
        keeps Borrowed, code indexmap::IndexMap<K, V, S>)
}
