//! This program's engine: newlines first, eight values at once, rows in batches whose slots are
//! prefetched, names compared in full and without a limit on their number or length.

use fathom_measure::contender::Meta;

use super::station::{self, Station};

pub(super) const FATHOM: Station = Station(Meta {
    name: "fathom",
    hardware: station::hardware,
    ..Meta::of(include_str!("fathom.rs"))
});
