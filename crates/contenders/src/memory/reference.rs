//! Rust's slice methods, which call the C library's `memset`, `memmove` and `memcpy`; reads are summed
//! by a plain loop over words.

use fathom_measure::contender::{Meta, Path, Simple};

use super::workload::{Area, Mover, Operation};

pub(super) struct Std;

pub(super) const STD: Simple<Area> = Simple {
    meta: Meta {
        name: "std",
        hardware: |operation| match operation {
            "read" | "chase" => Path::Portable,
            _ => Path::takes("C library"),
        },
        ..Meta::of(include_str!("reference.rs"))
    },
    prepare: |workload| match workload.operation {
        Operation::Chase => workload.chased(),
        _ => workload.moved(Std),
    },
};

impl Mover for Std {
    fn fill(&self, bytes: &mut [u8], byte: u8) {
        bytes.fill(byte);
    }

    fn move_within(&self, bytes: &mut [u8], from: usize, to: usize, length: usize) {
        bytes.copy_within(from..from + length, to);
    }

    fn copy(&self, from: &[u8], to: &mut [u8]) {
        to.copy_from_slice(from);
    }

    fn sum(&self, bytes: &[u8]) -> u64 {
        let words = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        words.fold(0, u64::wrapping_add)
    }
}
