//! The crate `imbl`, `OrdMap`: a B+ tree whose versions share nodes. Used here through one version.

use imbl::OrdMap;

use crate::keyed::methods::{contender, tree_by_methods};

tree_by_methods!(OrdMap);

contender! {
    pub(super) Imbl: PlainMap<K> = OrdMap<K, u64>,
    library!("imbl-ord", "imbl", "MPL-2.0", "imbl.rs"; keeps Borrowed, code imbl::OrdMap<K, V>)
}
