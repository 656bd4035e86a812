//! Search trees and other structures that compare keys: slower than maps on single keys, but the keys
//! come out in order and ranges can be read.
//!
//! Keys of bytes are borrowed where the structure allows it. One iteration is a pass over all keys.

use fathom_measure::contender::Contender;
use fathom_measure::facts::Facts;
use fathom_measure::family::{Absent, Family};

use crate::keyed::bench::Plain;
use crate::keyed::reference::Reference;
use crate::keyed::{CPP, Keyed};
use crate::library::more;

mod crossbeam;
#[cfg(feature = "more")]
mod imbl;
mod indexset;
mod intrusive;
#[cfg(feature = "more")]
mod rpds;
mod scc;
mod sorted_vec;

/// All of them, the reference first.
pub(crate) const CONTENDERS: &[&dyn Contender<Keyed>] = &[
    &Reference,
    &Plain(indexset::IndexSet),
    &Plain(crossbeam::SkipList),
    &Plain(scc::Scc),
    &Plain(sorted_vec::SortedVec),
    &Plain(intrusive::Intrusive),
    #[cfg(feature = "more")]
    &Plain(imbl::Imbl),
    #[cfg(feature = "more")]
    &Plain(rpds::Rpds),
];

/// The family.
pub(crate) const FAMILY: Family<Keyed> = Family {
    name: "tree",
    source: include_str!("mod.rs"),
    reference: "btreemap",
    contenders: CONTENDERS,
    absent: &[
        CPP,
        more("imbl-ord"),
        more("rpds-ord"),
        Absent::left_out(
            "skiplist",
            "its crate needs a newer compiler (1.98) than this project is built with",
        ),
    ],
    facts: &Facts::NONE,
};
