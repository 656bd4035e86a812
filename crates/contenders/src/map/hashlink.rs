//! The crate `hashlink`: a Swiss table whose entries are also a linked list in insertion order, one
//! allocation per entry.

use hashlink::LinkedHashMap;

use crate::hash::Build;
use crate::keyed::methods::{by_methods, contender};

type Table<K, H> = LinkedHashMap<K, u64, Build<H>>;
by_methods!(Table, LinkedHashMap::with_capacity_and_hasher, remove);

contender! {
    pub(super) Hashlink: HashedMap<K, H> = Table<K, H>,
    library!("hashlink", "hashlink", "MIT OR Apache-2.0", "hashlink.rs";
        keeps Borrowed, code hashlink::LinkedHashMap<K, V, S>)
}
