//! libdeflate of this machine: CRC-32 and Adler-32 with carry-less multiplication and vectors, as wide as its
//! version has them. Its CRC-32 is the one in mORMot.

use super::workload::{Buffer, Operation};
use crate::system::lent;

lent! {
    LIBDEFLATE of Buffer: libdeflate::Libdeflate, "libdeflate.rs";
    |library, _, workload| match workload.operation {
        Operation::Crc32 => workload.foreign(|bytes| library.crc32(bytes)),
        Operation::Adler32 => workload.foreign(|bytes| library.adler32(bytes)),
        _ => workload.operation.unsupported(),
    }
}
