//! The crate `crc32fast`: folding with carry-less multiplication on x86-64, the CRC instruction on
//! AArch64, slicing tables elsewhere. CRC-32/ISO-HDLC only.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};

use super::workload::{Buffer, Operation};
use crate::unit;

pub(super) struct Crc32Fast;

impl Contender<Buffer> for Crc32Fast {
    fn meta(&self) -> Meta {
        Meta {
            name: "crc32fast",
            origin: Origin::Crate("crc32fast"),
            link: "https://crates.io/crates/crc32fast",
            licence: "MIT OR Apache-2.0",
            hardware: || unit::CRC32.path("table"),
            ..Meta::of(include_str!("crc32fast.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Buffer) -> Preparation<'w> {
        match workload.operation {
            Operation::Crc32 => workload.timed(crc32fast::hash),
            _ => workload.unsupported(),
        }
    }
}
