//! Names per thread, compared in full; values parsed without branches; chunks mapped one by one.

use fathom_measure::contender::{Contender, Meta, Preparation};

use super::station;
use super::workload::Text;

pub(super) struct FullCheck;

impl Contender<Text> for FullCheck {
    fn meta(&self) -> Meta {
        Meta {
            name: "fullcheck",
            hardware: station::hardware,
            ..Meta::of(include_str!("fullcheck.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Text) -> Preparation<'w> {
        station::prepared("fullcheck", "", workload)
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w Text) -> Preparation<'w> {
        station::prepared("fullcheck", variant, workload)
    }
}
