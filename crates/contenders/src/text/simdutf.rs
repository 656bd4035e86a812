//! The C++ library simdutf through the crate of its name: UTF-8 checked on vectors chosen when it runs,
//! AVX-512 among them. The algorithm is that of `simdutf8`.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};
use simdutf::validate_utf8;

use super::workload::{Operation, Scan, up_to};

pub(super) struct SimdUtf;

impl Contender<Scan> for SimdUtf {
    fn meta(&self) -> Meta {
        Meta {
            name: "simdutf",
            origin: Origin::Crate("simdutf"),
            link: "https://crates.io/crates/simdutf",
            licence: "MIT",
            hardware: || "chosen at run time".into(),
            ..Meta::of(include_str!("simdutf.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Scan) -> Preparation<'w> {
        match workload.operation {
            Operation::Utf8 => workload.counted(|text| validate_utf8(text).into()),
            Operation::Utf8UpToZero => workload
                .counted(|text| validate_utf8(up_to(text, |text| memchr::memchr(0, text))).into()),
            _ => workload.unsupported(),
        }
    }
}
