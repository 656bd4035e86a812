//! One list of names for all threads, found by a 32-bit hash that is trusted; values parsed with
//! branches; the whole file mapped.

use fathom_measure::contender::{Contender, Meta, Preparation};

use super::station;
use super::workload::Text;

pub(super) struct SharedHt;

impl Contender<Text> for SharedHt {
    fn meta(&self) -> Meta {
        Meta {
            name: "sharedht",
            hardware: station::hardware,
            caveat: "trusts 32-bit hashes: on other data names may silently become one",
            ..Meta::of(include_str!("sharedht.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Text) -> Preparation<'w> {
        station::prepared("sharedht", "", workload)
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w Text) -> Preparation<'w> {
        station::prepared("sharedht", variant, workload)
    }
}
