//! ISA-L of this machine, Intel's library for storage, in assembly: CRC-32C and CRC-32 by folding with carry-less
//! multiplication, Adler-32 on vectors.

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
