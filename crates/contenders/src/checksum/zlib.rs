//! zlib of this machine, or zlib-ng where that is installed in its place: CRC-32 by tables and Adler-32 in
//! portable code, by the original.

use fathom_measure::contender::Meta;

use super::workload::{Buffer, Operation};
use crate::system::Lent;
use crate::system::zlib::{self, Zlib};

pub(super) static ZLIB: Lent<Buffer, Zlib> = Lent {
    meta: Meta { source: include_str!("zlib.rs"), ..zlib::META },
    library: &zlib::LIBRARY,
    levels: &[],
    prepare: |library, _, workload| match workload.operation {
        Operation::Crc32 => workload.foreign(|bytes| library.crc32(bytes)),
        Operation::Adler32 => workload.foreign(|bytes| library.adler32(bytes)),
        _ => workload.operation.unsupported(),
    },
};
