//! The crate `qp-trie`: a quadbit Patricia trie: four bits a step, children packed behind a bitmap.
//! Its iteration is not in the order of the keys: it looks at the low half of a byte first.

use qp_trie::Trie;

use crate::keyed::Key;
use crate::keyed::methods::{contender, structure};

contender! {
    pub(super) Qp: PlainMap<K> = Table<K>,
    library!("qp-trie", "qp-trie", "MPL-2.0", "qp.rs"; keeps Borrowed, code qp_trie::Trie<K, V>)
}

pub(super) struct Table<K: Key>(Trie<K::Raw, u64>);

structure! {
    impl[K: Key] for Table<K>: keys K, hasher ();
    sized(_, ()) => Table(Trie::new()),
    entries(map) => map.0.count(),
    find(map, key) => map.0.get(key.raw().as_ref()).copied(),
    insert(map, key, value) => map.0.insert(key.raw(), value),
    erase(map, key) => map.0.remove(key.raw().as_ref()),
    each(map, visit) => map.0.values().copied().for_each(visit),
}
