//! Names per thread, compared in full; values parsed without branches; chunks mapped one by one.

use fathom_measure::contender::Meta;

use super::station::{self, Station};

pub(super) const FULLCHECK: Station = Station(Meta {
    name: "fullcheck",
    hardware: station::hardware,
    ..Meta::of(include_str!("fullcheck.rs"))
});
