//! libdeflate, the C library, through the crate `libdeflater`: CRC-32 and Adler-32 with the widest
//! vectors and carry-less multiplication the processor has. Its CRC-32 is the one in mORMot.

use fathom_measure::contender::{Meta, Simple};

use super::workload::{Buffer, Operation};
use crate::library;

pub(super) static LIBDEFLATE: Simple<Buffer> = Simple {
    meta: Meta { source: include_str!("libdeflate.rs"), ..library::LIBDEFLATE },
    prepare: |workload| match workload.operation {
        Operation::Crc32 => workload.timed(libdeflater::crc32),
        Operation::Adler32 => workload.timed(libdeflater::adler32),
        _ => workload.operation.unsupported(),
    },
};
