//! ISA-L of this machine, Intel's library for storage: CRC-32C, CRC-32 and Adler-32 in assembly, by folding
//! with carry-less multiplication.

use super::workload::{Buffer, Operation};
use crate::system::lent;

lent! {
    ISA_L of Buffer: isal::IsaL, "isal.rs";
    |library, _, workload| match workload.operation {
        Operation::Crc32c => workload.foreign(|bytes| library.crc32c(bytes)),
        Operation::Crc32 => workload.foreign(|bytes| library.crc32(bytes)),
        Operation::Adler32 => workload.foreign(|bytes| library.adler32(bytes)),
        _ => workload.operation.unsupported(),
    }
}
