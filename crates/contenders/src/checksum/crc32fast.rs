//! The crate `crc32fast`: folding with carry-less multiplication on x86-64, the CRC instruction on
//! AArch64, slicing tables elsewhere. CRC-32/ISO-HDLC only.

use fathom_measure::contender::{Meta, Simple};

use super::workload::{Buffer, Operation};

pub(super) const CRC32_FAST: Simple<Buffer> = Simple {
    meta: Meta::of_crate("crc32fast", "MIT OR Apache-2.0", include_str!("crc32fast.rs")),
    prepare: |workload| match workload.operation {
        Operation::Crc32 => workload.timed(crc32fast::hash),
        _ => workload.operation.unsupported(),
    },
};
