//! The crate `simdutf8`: the lookup algorithm of Keiser and Lemire on AVX2, SSE4.2 or NEON.

use fathom_measure::contender::{Meta, Simple};
use simdutf8::basic::from_utf8;

use super::workload::{Operation, Scan, up_to};

pub(super) const SIMD_UTF8: Simple<Scan> = Simple {
    meta: Meta::of_crate("simdutf8", "MIT OR Apache-2.0", include_str!("simdutf8.rs")),
    prepare: |workload| match workload.operation {
        Operation::Utf8 => workload.counted(|text| from_utf8(text).is_ok().into()),
        Operation::Utf8UpToZero => workload
            .counted(|text| from_utf8(up_to(text, |text| memchr::memchr(0, text))).is_ok().into()),
        _ => workload.operation.unsupported(),
    },
};
