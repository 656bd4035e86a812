//! Names per thread, found by a 32-bit hash that is trusted; 16-byte entries; chunks mapped one by
//! one; threads bound to processors.

use fathom_measure::contender::Meta;

use super::station::{self, Station};

pub(super) const PERTHREADHT: Station = Station(Meta {
    name: "perthreadht",
    hardware: station::hardware,
    caveat: "trusts 32-bit hashes: on other data names may silently become one",
    ..Meta::of(include_str!("perthreadht.rs"))
});
