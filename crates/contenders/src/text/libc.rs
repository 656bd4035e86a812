//! The C library's `strlen`, on whatever vectors it chose when the program was loaded.

use fathom_measure::contender::{Meta, Simple};

use super::kernel::c_length;
use super::workload::{Operation, Scan};

pub(super) const LIBC: Simple<Scan> = Simple {
    meta: Meta { name: "libc", ..Meta::of(include_str!("libc.rs")) },
    prepare: |workload| match workload.operation {
        Operation::StrLen => workload.counted(|text| c_length(text) as u64),
        _ => workload.operation.unsupported(),
    },
};
