//! zlib-ng of this machine under its own names: CRC-32 and Adler-32 with the vectors and carry-less
//! multiplication the processor has.

use fathom_measure::contender::Meta;

use super::workload::{Buffer, Operation};
use crate::system::Lent;
use crate::system::zlib_ng::{self, ZlibNg};

pub(super) static ZLIB_NG: Lent<Buffer, ZlibNg> = Lent {
    meta: Meta { source: include_str!("zlib_ng.rs"), ..zlib_ng::META },
    library: &zlib_ng::LIBRARY,
    levels: &[],
    prepare: |library, _, workload| match workload.operation {
        Operation::Crc32 => workload.foreign(|bytes| library.crc32(bytes)),
        Operation::Adler32 => workload.foreign(|bytes| library.adler32(bytes)),
        _ => workload.operation.unsupported(),
    },
};
