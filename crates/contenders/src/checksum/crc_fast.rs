//! The crate `crc-fast`: folding with carry-less multiplication over wide vectors, the way Intel's
//! white paper on CRC with PCLMULQDQ describes it, for both polynomials.

use crc_fast::{CrcAlgorithm, checksum, get_calculator_target};
use fathom_measure::contender::{Contender, Meta, Origin, Preparation};

use super::workload::{Buffer, Operation};

pub(super) struct CrcFast;

impl Contender<Buffer> for CrcFast {
    fn meta(&self) -> Meta {
        Meta {
            name: "crc-fast",
            origin: Origin::Crate("crc-fast"),
            link: "https://crates.io/crates/crc-fast",
            licence: "MIT OR Apache-2.0",
            hardware: || get_calculator_target(CrcAlgorithm::Crc32Iscsi),
            ..Meta::of(include_str!("crc_fast.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Buffer) -> Preparation<'w> {
        match workload.operation {
            Operation::Crc32c => {
                workload.timed(|bytes| checksum(CrcAlgorithm::Crc32Iscsi, bytes) as u32)
            }
            Operation::Crc32 => {
                workload.timed(|bytes| checksum(CrcAlgorithm::Crc32IsoHdlc, bytes) as u32)
            }
            _ => workload.unsupported(),
        }
    }
}
