//! This program's engine: newlines first, eight values at once, rows in batches whose slots are
//! prefetched, names compared in full and without a limit on their number or length.

use fathom_measure::contender::{Contender, Meta, Preparation};

use super::station;
use super::workload::Text;

pub(super) struct Fathom;

impl Contender<Text> for Fathom {
    fn meta(&self) -> Meta {
        Meta { name: "fathom", hardware: station::hardware, ..Meta::of(include_str!("fathom.rs")) }
    }

    fn prepare<'w>(&self, workload: &'w Text) -> Preparation<'w> {
        station::prepared("fathom", "", workload)
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w Text) -> Preparation<'w> {
        station::prepared("fathom", variant, workload)
    }
}
