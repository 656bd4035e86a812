//! The last station with names compared in full.

use fathom_measure::contender::{Contender, Meta, Preparation};

use super::station;
use super::workload::Text;

pub(super) struct FinalFull;

impl Contender<Text> for FinalFull {
    fn meta(&self) -> Meta {
        Meta {
            name: "final-full",
            hardware: station::hardware,
            ..Meta::of(include_str!("final_full.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Text) -> Preparation<'w> {
        station::prepared("final-full", "", workload)
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w Text) -> Preparation<'w> {
        station::prepared("final-full", variant, workload)
    }
}
