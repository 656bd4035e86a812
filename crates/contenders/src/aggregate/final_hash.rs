//! The last station: one list of names for all threads, found by a 32-bit hash that is trusted;
//! 12-byte entries; chunks mapped one by one; threads bound to processors.

use fathom_measure::contender::{Contender, Meta, Preparation};

use super::station;
use super::workload::Text;

pub(super) struct Final;

impl Contender<Text> for Final {
    fn meta(&self) -> Meta {
        Meta {
            name: "final",
            hardware: station::hardware,
            caveat: "trusts 32-bit hashes: on other data names may silently become one",
            ..Meta::of(include_str!("final_hash.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Text) -> Preparation<'w> {
        station::prepared("final", "", workload)
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w Text) -> Preparation<'w> {
        station::prepared("final", variant, workload)
    }
}
