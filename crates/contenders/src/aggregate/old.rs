//! The first station: per thread, 64-byte entries with the name inside, compared in full; values
//! parsed with branches; the whole file mapped. Names of 51 bytes at most.

use fathom_measure::contender::Meta;

use super::station::{self, Station};

pub(super) const OLD: Station =
    Station(Meta { name: "old", hardware: station::hardware, ..Meta::of(include_str!("old.rs")) });
