//! The C library's `strlen`, on whatever vectors it chose when the program was loaded.

use fathom_measure::contender::{Contender, Meta, Preparation};

use super::kernel::c_length;
use super::workload::{Operation, Scan};

pub(super) struct Libc;

impl Contender<Scan> for Libc {
    fn meta(&self) -> Meta {
        Meta { name: "libc", hardware: || "C library".into(), ..Meta::of(include_str!("libc.rs")) }
    }

    fn prepare<'w>(&self, workload: &'w Scan) -> Preparation<'w> {
        match workload.operation {
            Operation::StrLen => workload.counted(|text| c_length(text) as u64),
            _ => workload.unsupported(),
        }
    }
}
