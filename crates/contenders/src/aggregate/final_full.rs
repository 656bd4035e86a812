//! The last station with names compared in full.

use fathom_measure::contender::Meta;

use super::station::{self, Station};

pub(super) const FINAL_FULL: Station = Station(Meta {
    name: "final-full",
    hardware: station::hardware,
    ..Meta::of(include_str!("final_full.rs"))
});
