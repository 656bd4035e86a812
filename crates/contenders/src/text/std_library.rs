//! Rust's standard library: its UTF-8 check, which skips ASCII two words at a time.

use std::str::from_utf8;

use fathom_measure::contender::{Contender, Meta, Preparation};

use super::kernel::c_length;
use super::workload::{Operation, Scan, up_to};

pub(super) struct Std;

impl Contender<Scan> for Std {
    fn meta(&self) -> Meta {
        Meta { name: "std", ..Meta::of(include_str!("std_library.rs")) }
    }

    fn prepare<'w>(&self, workload: &'w Scan) -> Preparation<'w> {
        match workload.operation {
            Operation::Utf8 => workload.counted(|text| from_utf8(text).is_ok().into()),
            Operation::Utf8UpToZero => workload
                .counted(|text| from_utf8(up_to(text, |t| Some(c_length(t)))).is_ok().into()),
            _ => workload.unsupported(),
        }
    }
}
