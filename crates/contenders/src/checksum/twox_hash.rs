//! The crate `twox-hash`: XXH32, and XXH3 on AVX2, SSE2 or NEON, chosen when it runs.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};
use twox_hash::{XxHash3_64, XxHash32};

use super::workload::{Buffer, Operation};
use crate::unit;

pub(super) struct TwoxHash;

impl Contender<Buffer> for TwoxHash {
    fn meta(&self) -> Meta {
        Meta {
            name: "twox-hash",
            origin: Origin::Crate("twox-hash"),
            link: "https://crates.io/crates/twox-hash",
            licence: "MIT",
            hardware: || unit::VECTOR.path("scalar"),
            ..Meta::of(include_str!("twox_hash.rs"))
        }
    }

    fn path(&self, operation: &str) -> String {
        match operation {
            // Its four lanes are one chain of multiplications each: nobody vectorises one message.
            "xxhash32" => "scalar".into(),
            _ => (self.meta().hardware)(),
        }
    }

    fn prepare<'w>(&self, workload: &'w Buffer) -> Preparation<'w> {
        match workload.operation {
            Operation::Xxhash32 => workload.timed(|bytes| XxHash32::oneshot(0, bytes)),
            Operation::Xxh3 => workload.timed(XxHash3_64::oneshot),
            _ => workload.unsupported(),
        }
    }
}
