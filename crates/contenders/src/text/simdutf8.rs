//! The crate `simdutf8`: the lookup algorithm of Keiser and Lemire on AVX2, SSE4.2 or NEON.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};
use simdutf8::basic::from_utf8;

use super::workload::{Operation, Scan, up_to};
use crate::unit;

pub(super) struct SimdUtf8;

impl Contender<Scan> for SimdUtf8 {
    fn meta(&self) -> Meta {
        Meta {
            name: "simdutf8",
            origin: Origin::Crate("simdutf8"),
            link: "https://crates.io/crates/simdutf8",
            licence: "MIT OR Apache-2.0",
            hardware: || unit::VECTOR.path("scalar"),
            ..Meta::of(include_str!("simdutf8.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Scan) -> Preparation<'w> {
        match workload.operation {
            Operation::Utf8 => workload.counted(|text| from_utf8(text).is_ok().into()),
            Operation::Utf8UpToZero => workload.counted(|text| {
                from_utf8(up_to(text, |text| memchr::memchr(0, text))).is_ok().into()
            }),
            _ => workload.unsupported(),
        }
    }
}
