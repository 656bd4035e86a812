//! The crate `xxhash-rust`: XXH32 and XXH3. Its vector code is chosen when it is compiled, so a
//! build for every processor of the architecture gets SSE2 or NEON.

use fathom_measure::contender::{Meta, Path, Simple};

use super::workload::{Buffer, Operation};

pub(super) const XXHASH_RUST: Simple<Buffer> = Simple {
    meta: Meta {
        caveat: "wider vectors need -C target-cpu",
        hardware: |operation| match operation {
            // One chain of multiplications per lane.
            "xxhash32" => Path::Portable,
            _ => Path::compiled(operation),
        },
        // Both, with what stands between them in a manifest.
        feature: r#"xxh32", "xxh3"#,
        ..Meta::of_crate("xxhash-rust", "BSL-1.0", include_str!("xxhash_rust.rs"))
    },
    prepare: |workload| match workload.operation {
        Operation::Xxhash32 => workload.timed(|bytes| xxhash_rust::xxh32::xxh32(bytes, 0)),
        Operation::Xxh3 => workload.timed(xxhash_rust::xxh3::xxh3_64),
        _ => workload.operation.unsupported(),
    },
};
