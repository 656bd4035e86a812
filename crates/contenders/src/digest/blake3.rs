//! The crate `blake3` of its authors: several chunks at once on AVX-512, AVX2, SSE4.1 or NEON. Without
//! its C and assembly files here, so that the default build needs no C compiler.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};

use super::workload::{Messages, Operation};
use crate::unit;

pub(super) struct Blake3;

impl Contender<Messages> for Blake3 {
    fn meta(&self) -> Meta {
        Meta {
            name: "blake3",
            origin: Origin::Crate("blake3"),
            link: "https://crates.io/crates/blake3",
            licence: "CC0-1.0 OR Apache-2.0",
            hardware: || unit::VECTOR.path("portable"),
            caveat: "the assembly of its default build is faster where AVX-512 exists",
            ..Meta::of(include_str!("blake3.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Messages) -> Preparation<'w> {
        match workload.operation {
            Operation::Blake3 => workload.timed(|bytes| *blake3::hash(bytes).as_bytes()),
            _ => workload.unsupported(),
        }
    }
}
