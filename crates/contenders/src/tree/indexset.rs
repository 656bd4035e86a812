//! The crate `indexset`, `BTreeMap`: two levels, wide nodes kept as sorted arrays, and entries that
//! can be asked for by their rank.

use indexset::BTreeMap;

use crate::keyed::methods::{contender, tree_by_methods};

tree_by_methods!(BTreeMap);

contender! {
    pub(super) IndexSet: PlainMap<K> = BTreeMap<K, u64>,
    library!("indexset", "indexset", "MIT", "indexset.rs";
        keeps Borrowed, code indexset::BTreeMap<K, V>)
}
