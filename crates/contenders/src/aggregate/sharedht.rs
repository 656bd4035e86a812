//! One list of names for all threads, found by a 32-bit hash that is trusted; values parsed with
//! branches; the whole file mapped.

use fathom_measure::contender::Meta;

use super::station::{self, Station};

pub(super) const SHAREDHT: Station = Station(Meta {
    name: "sharedht",
    hardware: station::hardware,
    caveat: "trusts 32-bit hashes: on other data names may silently become one",
    ..Meta::of(include_str!("sharedht.rs"))
});
