//! Maps: from a key to its value, in no order.
//!
//! A structure that takes a hash function is combined with every function of the family `hash`
//! (`f14-value+xxh3-64`). Keys of bytes are borrowed: 16 bytes that refer to the data set, so that
//! no structure pays for copying them; values are eight bytes. One iteration is a pass over all
//! keys.

use fathom_measure::family::Family;

use crate::keyed::Keyed;
use crate::keyed::operation::{Hashed, Integers, Plain};
use crate::keyed::reference::Reference;

mod cuckoo;
mod dashmap;
mod f14;
mod griddle;
mod hashbrown;
mod hashlink;
mod imbl;
mod indexmap;
mod intmap;
mod papaya;
mod place;
mod ptr_hash;
mod rpds;
mod scc;
mod std;
mod touch;

/// The family.
pub static FAMILY: Family<Keyed> = Family {
    name: "map",
    source: include_str!("mod.rs"),
    reference: "btreemap",
    contenders: &[
        &Reference,
        &touch::Touch,
        &Hashed(std::Std),
        &Hashed(hashbrown::Hashbrown),
        &Hashed(f14::Value),
        &Hashed(f14::Vector),
        &Hashed(cuckoo::Cuckoo),
        &Hashed(indexmap::IndexMap),
        &Hashed(griddle::Griddle),
        &Hashed(hashlink::Hashlink),
        &Hashed(imbl::Imbl),
        &Hashed(rpds::Rpds),
        &Hashed(dashmap::DashMap),
        &Hashed(papaya::Papaya),
        &Hashed(scc::Scc),
        &Integers(intmap::IntMap),
        &Plain(ptr_hash::PtrHash),
    ],
    absent: &[],
};
