//! The crate `memchr`: the zero byte on AVX2, SSE2 or NEON, chosen when it runs.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};

use super::workload::{Operation, Scan};
use crate::unit;

pub(super) struct Memchr;

impl Contender<Scan> for Memchr {
    fn meta(&self) -> Meta {
        Meta {
            name: "memchr",
            origin: Origin::Crate("memchr"),
            link: "https://crates.io/crates/memchr",
            licence: "Unlicense OR MIT",
            hardware: || unit::VECTOR.path("scalar"),
            ..Meta::of(include_str!("memchr.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Scan) -> Preparation<'w> {
        match workload.operation {
            Operation::StrLen => {
                workload.counted(|text| memchr::memchr(0, text).map_or(0, |at| at as u64))
            }
            _ => workload.unsupported(),
        }
    }
}
