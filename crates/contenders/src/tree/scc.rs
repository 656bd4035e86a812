//! The crate `scc`, `TreeIndex`: a B+ tree for several threads whose readers never wait. It reclaims
//! memory by epochs, so that it must own its keys.

use std::ops::Bound;
use std::sync::Arc;

use scc::{Guard, TreeIndex};

use crate::keyed::methods::{contender, structure};
use crate::keyed::{Abilities, Key};

contender! {
    pub(super) Scc: PlainMap<K> = Arc<TreeIndex<K::Owned, u64>>,
    library!("scc-tree", "scc", "Apache-2.0", "scc.rs";
        keeps Copied,
        caveat "made for several threads; inserting and erasing look first to tell what was there",
        code scc::TreeIndex<K, V>)
}

structure! {
    impl[K: Key] for shared TreeIndex<K::Owned, u64>: keys K, hasher (), can Abilities::TREE;
    sized(_, ()) => TreeIndex::new(),
    entries(map) => map.len(),
    find(map, key) => map.peek_with(key.part(), |_, value| *value),
    insert(map, key, value) => {
        let old = map.peek_with(key.part(), |_, value| *value);
        map.upsert_sync(key.owned(), value);
        old
    },
    erase(map, key) => {
        let old = map.peek_with(key.part(), |_, value| *value);
        map.remove_sync(key.part());
        old
    },
    each(map, visit) => map.iter(&Guard::new()).for_each(|(_, value)| visit(*value)),
    range(map, start, span, visit) => {
        let (from, guard) = ((Bound::Included(start.part()), Bound::Unbounded), Guard::new());
        map.range::<K::Part, _>(from, &guard).take(span).for_each(|(_, value)| visit(*value));
    },
}
