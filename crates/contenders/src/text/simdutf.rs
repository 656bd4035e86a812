//! The C++ library simdutf through the crate of its name: UTF-8 checked on vectors chosen when it runs,
//! AVX-512 among them. The algorithm is that of `simdutf8`.

use fathom_measure::contender::{Meta, Simple};
use simdutf::validate_utf8;

use super::workload::{Operation, Scan, up_to};

pub(super) const SIMD_UTF: Simple<Scan> = Simple {
    meta: Meta::of_crate("simdutf", "MIT", include_str!("simdutf.rs")),
    prepare: |workload| match workload.operation {
        Operation::Utf8 => workload.counted(|text| validate_utf8(text).into()),
        Operation::Utf8UpToZero => workload
            .counted(|text| validate_utf8(up_to(text, |text| memchr::memchr(0, text))).into()),
        _ => workload.operation.unsupported(),
    },
};
