//! The crate `crc-fast`: folding with carry-less multiplication over wide vectors, the way Intel's
//! white paper on CRC with PCLMULQDQ describes it, for both polynomials.

use crc_fast::{CrcAlgorithm, checksum, get_calculator_target};
use fathom_measure::contender::{Meta, Path, Simple};

use super::workload::{Buffer, Operation};

pub(super) const CRC_FAST: Simple<Buffer> = Simple {
    meta: Meta {
        hardware: |_| Path::takes(get_calculator_target(CrcAlgorithm::Crc32Iscsi)),
        ..Meta::of_crate("crc-fast", "MIT OR Apache-2.0", include_str!("crc_fast.rs"))
    },
    prepare: |workload| match workload.operation {
        Operation::Crc32c => {
            workload.timed(|bytes| checksum(CrcAlgorithm::Crc32Iscsi, bytes) as u32)
        }
        Operation::Crc32 => {
            workload.timed(|bytes| checksum(CrcAlgorithm::Crc32IsoHdlc, bytes) as u32)
        }
        _ => workload.operation.unsupported(),
    },
};
