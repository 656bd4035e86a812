//! The crate `simd-adler32`: Adler-32 on AVX2, SSSE3 or NEON, chosen when it runs; its AVX-512 needs a nightly
//! compiler and is not here.

use fathom_measure::contender::{Meta, Simple};

use super::workload::{Buffer, Operation};

pub(super) const SIMD_ADLER32: Simple<Buffer> = Simple {
    meta: Meta::of_crate("simd-adler32", "MIT", include_str!("simd_adler32.rs")),
    prepare: |workload| match workload.operation {
        Operation::Adler32 => workload.timed(|bytes| simd_adler32::adler32(&bytes)),
        _ => workload.operation.unsupported(),
    },
};
