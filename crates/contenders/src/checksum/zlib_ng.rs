//! zlib-ng of this machine under its own names: CRC-32 and Adler-32 with the vectors and carry-less
//! multiplication the processor has.

use super::workload::{Buffer, Operation};
use crate::system::lent;

lent! {
    ZLIB_NG of Buffer: zlib_ng::ZlibNg, "zlib_ng.rs";
    |library, _, workload| match workload.operation {
        Operation::Crc32 => workload.foreign(|bytes| library.crc32(bytes)),
        Operation::Adler32 => workload.foreign(|bytes| library.adler32(bytes)),
        _ => workload.operation.unsupported(),
    }
}
