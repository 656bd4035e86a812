//! The crate `hashbrown`: a Swiss table. One byte of the hash per slot, compared sixteen at a time
//! with SSE2 (eight with NEON); entries inline; load at most 7/8; no tombstone where a group has room.

use hashbrown::HashMap;

use crate::hash::Build;
use crate::keyed::methods::{by_methods, contender};

type Table<K, H> = HashMap<K, u64, Build<H>>;
by_methods!(Table, HashMap::with_capacity_and_hasher, remove);

contender! {
    pub(super) Hashbrown: HashedMap<K, H> = Table<K, H>,
    library!("hashbrown", "hashbrown", "MIT OR Apache-2.0", "hashbrown.rs";
        keeps Borrowed, code hashbrown::HashMap<K, V, S>)
}
