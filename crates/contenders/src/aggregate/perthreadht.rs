//! Names per thread, found by a 32-bit hash that is trusted; 16-byte entries; chunks mapped one by
//! one; threads bound to processors.

use fathom_measure::contender::{Contender, Meta, Preparation};

use super::station;
use super::workload::Text;

pub(super) struct PerThreadHt;

impl Contender<Text> for PerThreadHt {
    fn meta(&self) -> Meta {
        Meta {
            name: "perthreadht",
            hardware: station::hardware,
            caveat: "trusts 32-bit hashes: on other data names may silently become one",
            ..Meta::of(include_str!("perthreadht.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Text) -> Preparation<'w> {
        station::prepared("perthreadht", "", workload)
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w Text) -> Preparation<'w> {
        station::prepared("perthreadht", variant, workload)
    }
}
