//! libdeflate of this machine: CRC-32 and Adler-32 with the widest vectors and carry-less multiplication
//! the processor has. Its CRC-32 is the one in mORMot.

use fathom_measure::contender::Meta;

use super::workload::{Buffer, Operation};
use crate::system::Lent;
use crate::system::libdeflate::{self, Libdeflate};

pub(super) static LIBDEFLATE: Lent<Buffer, Libdeflate> = Lent {
    meta: Meta { source: include_str!("libdeflate.rs"), ..libdeflate::META },
    library: &libdeflate::LIBRARY,
    levels: &[],
    prepare: |library, _, workload| match workload.operation {
        Operation::Crc32 => workload.foreign(|bytes| library.crc32(bytes)),
        Operation::Adler32 => workload.foreign(|bytes| library.adler32(bytes)),
        _ => workload.operation.unsupported(),
    },
};
