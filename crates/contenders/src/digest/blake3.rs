//! The crate `blake3` of its authors: several chunks at once on AVX2 or SSE4.1, portable on AArch64. Without
//! its C and assembly files here, so that the default build needs no C compiler.

use fathom_measure::contender::{Meta, Path, Simple};

use super::workload::{Messages, Operation};

pub(super) const BLAKE3: Simple<Messages> = Simple {
    meta: Meta {
        caveat: "its default build has AVX-512 and NEON too, in C and assembly",
        hardware: |_| {
            Path::takes(format!("{:?}", blake3::platform::Platform::detect()).to_lowercase())
        },
        feature: "pure",
        ..Meta::of_crate("blake3", "CC0-1.0 OR Apache-2.0", include_str!("blake3.rs"))
    },
    prepare: |workload| match workload.operation {
        Operation::Blake3 => workload.timed(|bytes| *blake3::hash(bytes).as_bytes()),
        _ => workload.operation.unsupported(),
    },
};
