//! The crate `crc32c`: the processor's CRC instruction over three interleaved streams, which hide
//! its latency; a slicing table where the processor has none. CRC-32/ISCSI only.

use fathom_measure::contender::{Meta, Simple};

use super::workload::{Buffer, Operation};

pub(super) const CRC32C: Simple<Buffer> = Simple {
    meta: Meta::of_crate("crc32c", "Apache-2.0 OR MIT", include_str!("crc32c.rs")),
    prepare: |workload| match workload.operation {
        Operation::Crc32c => workload.timed(crc32c::crc32c),
        _ => workload.operation.unsupported(),
    },
};
