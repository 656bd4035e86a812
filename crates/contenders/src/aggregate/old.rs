//! The first station: per thread, 64-byte entries with the name inside, compared in full; values
//! parsed with branches; the whole file mapped. Names of 51 bytes at most.

use fathom_measure::contender::{Contender, Meta, Preparation};

use super::station;
use super::workload::Text;

pub(super) struct Old;

impl Contender<Text> for Old {
    fn meta(&self) -> Meta {
        Meta { name: "old", hardware: station::hardware, ..Meta::of(include_str!("old.rs")) }
    }

    fn prepare<'w>(&self, workload: &'w Text) -> Preparation<'w> {
        station::prepared("old", "", workload)
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w Text) -> Preparation<'w> {
        station::prepared("old", variant, workload)
    }
}
