//! Strategies of aggregating `key;value` text: the stations of the mORMot entry to the Object Pascal
//! challenge beside this program's own engine, each written anew in [`journey`].
//!
//! One iteration opens the file, aggregates it and formats the result; what a process pays before
//! and after is no part of it. All run on several threads, so only the wall clock counts. Where
//! hashes are trusted a wrong result on the given file costs the contender its row. Any preset takes
//! other choices as a variant: `final+check=full,input=pread`.

use fathom_measure::family::Family;

mod fathom;
mod final_full;
mod final_hash;
mod fullcheck;
pub mod journey;
mod old;
mod outside;
mod perthreadht;
mod reference;
mod sharedht;
mod station;
mod workload;

pub use workload::Text;

/// The family.
pub static FAMILY: Family<Text> = Family {
    name: "aggregate",
    source: include_str!("mod.rs"),
    reference: "plain",
    contenders: &[
        &reference::Plain,
        &old::Old,
        &sharedht::SharedHt,
        &fullcheck::FullCheck,
        &perthreadht::PerThreadHt,
        &final_hash::Final,
        &final_full::FinalFull,
        &fathom::Fathom,
    ],
    absent: &[],
};
