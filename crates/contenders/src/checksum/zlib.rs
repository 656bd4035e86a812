//! zlib of this machine, or zlib-ng where that is installed in its place: CRC-32 by tables and Adler-32 in
//! portable code, by the original.

use super::workload::{Buffer, Operation};
use crate::system::lent;

lent! {
    ZLIB of Buffer: zlib::Zlib, "zlib.rs";
    |library, _, workload| match workload.operation {
        Operation::Crc32 => workload.foreign(|bytes| library.crc32(bytes)),
        Operation::Adler32 => workload.foreign(|bytes| library.adler32(bytes)),
        _ => workload.operation.unsupported(),
    }
}
