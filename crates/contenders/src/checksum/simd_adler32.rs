//! The crate `simd-adler32`: Adler-32 on AVX-512, AVX2, SSSE3 or NEON, chosen when it runs.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};

use super::workload::{Buffer, Operation};
use crate::unit;

pub(super) struct SimdAdler32;

impl Contender<Buffer> for SimdAdler32 {
    fn meta(&self) -> Meta {
        Meta {
            name: "simd-adler32",
            origin: Origin::Crate("simd-adler32"),
            link: "https://crates.io/crates/simd-adler32",
            licence: "MIT",
            hardware: || unit::VECTOR.path("scalar"),
            ..Meta::of(include_str!("simd_adler32.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Buffer) -> Preparation<'w> {
        match workload.operation {
            Operation::Adler32 => workload.timed(|bytes| simd_adler32::adler32(&bytes)),
            _ => workload.unsupported(),
        }
    }
}
