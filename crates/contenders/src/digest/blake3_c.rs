//! BLAKE3 of this machine, in C and assembly by its authors: sixteen chunks at once on AVX-512. One thread.

use fathom_measure::contender::Meta;

use super::workload::{Messages, Operation};
use crate::system::Lent;
use crate::system::blake3::{self, Blake3};

pub(super) static BLAKE3_C: Lent<Messages, Blake3> = Lent {
    meta: Meta { source: include_str!("blake3_c.rs"), ..blake3::META },
    library: &blake3::LIBRARY,
    levels: &[],
    prepare: |library, _, workload| match workload.operation {
        Operation::Blake3 => workload.timed(library.digest()),
        _ => workload.operation.unsupported(),
    },
};
