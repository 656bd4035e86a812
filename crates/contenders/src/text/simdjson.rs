//! simdjson of this machine: its check of UTF-8, by the authors of the algorithm, on vectors chosen when it
//! runs, AVX-512 among them.

use super::workload::{Operation, Scan};
use crate::system::lent;

lent! {
    SIMDJSON of Scan: simdjson::Simdjson, "simdjson.rs";
    |library, _, workload| match workload.operation {
        Operation::Utf8 => workload.counted(|text| library.is_utf8(text).into()),
        _ => workload.operation.unsupported(),
    }
}
