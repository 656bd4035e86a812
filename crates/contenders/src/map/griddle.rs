//! The crate `griddle`: hashbrown that resizes a little at each insert instead of all at once. The
//! only incremental resize in Rust: look at its latency, not its total.

use griddle::HashMap;

use crate::hash::Build;
use crate::keyed::methods::{by_methods, contender};

type Table<K, H> = HashMap<K, u64, Build<H>>;
by_methods!(Table, HashMap::with_capacity_and_hasher, remove);

contender! {
    pub(super) Griddle: HashedMap<K, H> = Table<K, H>,
    library!("griddle", "griddle", "MIT OR Apache-2.0", "griddle.rs";
        keeps Borrowed, code griddle::HashMap<K, V, S>)
}
