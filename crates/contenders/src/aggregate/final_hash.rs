//! The last station: one list of names for all threads, found by a 32-bit hash that is trusted;
//! 12-byte entries; chunks mapped one by one; threads bound to processors.

use fathom_measure::contender::Meta;

use super::station::{self, Station};

pub(super) const FINAL_HASH: Station = Station(Meta {
    name: "final",
    hardware: station::hardware,
    caveat: "trusts 32-bit hashes: on other data names may silently become one",
    ..Meta::of(include_str!("final_hash.rs"))
});
