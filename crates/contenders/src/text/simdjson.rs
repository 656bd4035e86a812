//! simdjson of this machine: its check of UTF-8, by the authors of the algorithm, on vectors chosen when it
//! runs, AVX-512 among them.

use fathom_measure::contender::Meta;

use super::workload::{Operation, Scan};
use crate::system::Lent;
use crate::system::simdjson::{self, Simdjson};

pub(super) static SIMDJSON: Lent<Scan, Simdjson> = Lent {
    meta: Meta { source: include_str!("simdjson.rs"), ..simdjson::META },
    library: &simdjson::LIBRARY,
    levels: &[],
    prepare: |library, _, workload| match workload.operation {
        Operation::Utf8 => workload.counted(|text| library.is_utf8(text).into()),
        _ => workload.operation.unsupported(),
    },
};
