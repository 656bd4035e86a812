//! Maps: from a key to its value, in no order.
//!
//! A structure that takes a hash function is combined with every function of the family `hash`
//! (`f14-value+xxh3-64`). Short functions are inlined, but called by maps that synchronise or copy
//! paths (dashmap, papaya, scc, imbl, rpds); long ones are called by all. Keys of bytes are borrowed: 16 bytes that refer to the data set, so that
//! no structure pays for copying them; values are eight bytes. One iteration is a pass over all
//! keys.

use fathom_measure::contender::Contender;
use fathom_measure::facts::Facts;
use fathom_measure::family::Family;

#[cfg(feature = "more")]
use crate::keyed::bench::Plain;
use crate::keyed::bench::{Hashed, HashedByCall, Integers};
use crate::keyed::reference::Reference;
use crate::keyed::{CPP, Keyed};
use crate::library::more;

mod cuckoo;
mod dashmap;
mod f14;
mod griddle;
mod hashbrown;
mod hashlink;
pub mod held;
#[cfg(feature = "more")]
mod imbl;
mod indexmap;
mod intmap;
mod papaya;
mod place;
#[cfg(feature = "more")]
mod ptr_hash;
#[cfg(feature = "more")]
mod rpds;
mod scc;
mod slots;
pub mod special;
mod std;
mod touch;

pub(crate) use self::std::Std;

/// All of them, the reference first.
pub(crate) const CONTENDERS: &[&dyn Contender<Keyed>] = &[
    &Reference,
    &touch::Touch,
    &Hashed(Std),
    &Hashed(hashbrown::Hashbrown),
    &Hashed(f14::Value),
    &Hashed(f14::Vector),
    &Hashed(cuckoo::Cuckoo),
    &Hashed(indexmap::IndexMap),
    &Hashed(griddle::Griddle),
    &Hashed(hashlink::Hashlink),
    #[cfg(feature = "more")]
    &HashedByCall(imbl::Imbl),
    #[cfg(feature = "more")]
    &HashedByCall(rpds::Rpds),
    &HashedByCall(dashmap::DashMap),
    &HashedByCall(papaya::Papaya),
    &HashedByCall(scc::Scc),
    &Integers(intmap::IntMap),
    #[cfg(feature = "more")]
    &Plain(ptr_hash::PtrHash),
    &held::Held::<String>::NEW,
    &held::Held::<Box<str>>::NEW,
    &held::Held::<::std::sync::Arc<str>>::NEW,
    &held::Held::<compact_str::CompactString>::NEW,
    &held::Held::<smol_str::SmolStr>::NEW,
    &special::Specialised { batch: false },
    &special::Specialised { batch: true },
];

/// The family.
pub(crate) const FAMILY: Family<Keyed> = Family {
    name: "map",
    source: include_str!("mod.rs"),
    reference: "btreemap",
    contenders: CONTENDERS,
    absent: &[CPP, more("imbl-hash"), more("rpds-hash"), more("ptr-hash")],
    facts: &Facts::NONE,
};

/// One hash for every key: tables have to bear it.
#[cfg(test)]
#[derive(Clone, Default)]
struct OneHash;

#[cfg(test)]
impl crate::hash::Hashes for OneHash {
    fn bytes(&self, _: &[u8]) -> u64 {
        7
    }

    fn word(&self, _: u64) -> u64 {
        7
    }

    fn avalanches(&self) -> bool {
        true
    }
}
