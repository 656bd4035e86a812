//! The crate `twox-hash`: XXH32, and XXH3 on AVX2, SSE2 or NEON, chosen when it runs.

use fathom_measure::contender::{Meta, Path, Simple};
use twox_hash::{XxHash3_64, XxHash32};

use super::workload::{Buffer, Operation};

pub(super) const TWOX_HASH: Simple<Buffer> = Simple {
    meta: Meta {
        hardware: |operation| match operation {
            // Its four lanes are one chain of multiplications each: nobody vectorises one message.
            "xxhash32" => Path::Portable,
            _ => Path::NotKnown,
        },
        ..Meta::of_crate("twox-hash", "MIT", include_str!("twox_hash.rs"))
    },
    prepare: |workload| match workload.operation {
        Operation::Xxhash32 => workload.timed(|bytes| XxHash32::oneshot(0, bytes)),
        Operation::Xxh3 => workload.timed(XxHash3_64::oneshot),
        _ => workload.operation.unsupported(),
    },
};
