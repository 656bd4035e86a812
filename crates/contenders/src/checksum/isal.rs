//! ISA-L of this machine, Intel's library for storage: CRC-32C, CRC-32 and Adler-32 in assembly, by folding
//! with carry-less multiplication.

use fathom_measure::contender::Meta;

use super::workload::{Buffer, Operation};
use crate::system::Lent;
use crate::system::isal::{self, IsaL};

pub(super) static ISA_L: Lent<Buffer, IsaL> = Lent {
    meta: Meta { source: include_str!("isal.rs"), ..isal::META },
    library: &isal::LIBRARY,
    levels: &[],
    prepare: |library, _, workload| match workload.operation {
        Operation::Crc32c => workload.foreign(|bytes| library.crc32c(bytes)),
        Operation::Crc32 => workload.foreign(|bytes| library.crc32(bytes)),
        Operation::Adler32 => workload.foreign(|bytes| library.adler32(bytes)),
        _ => workload.operation.unsupported(),
    },
};
