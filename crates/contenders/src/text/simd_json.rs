//! The crate `simd-json`: a text is valid when its tape can be built. It writes into its input, so each
//! call copies the text first, which is part of its time.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};
use simd_json::Buffers;

use super::workload::{Operation, Scan, up_to};
use crate::unit;

pub(super) struct SimdJson;

impl Contender<Scan> for SimdJson {
    fn meta(&self) -> Meta {
        Meta {
            name: "simd-json",
            origin: Origin::Crate("simd-json"),
            link: "https://crates.io/crates/simd-json",
            licence: "Apache-2.0 OR MIT",
            hardware: || unit::VECTOR.path("scalar"),
            caveat: "copies the text, because it writes into its input",
            ..Meta::of(include_str!("simd_json.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Scan) -> Preparation<'w> {
        let zero = |text: &[u8]| memchr::memchr(0, text);
        let mut copy = Vec::new();
        let mut buffers = Buffers::default();
        let mut is_json = move |text: &[u8]| {
            copy.clear();
            copy.extend_from_slice(text);
            u64::from(simd_json::to_tape_with_buffers(&mut copy, &mut buffers).is_ok())
        };
        match workload.operation {
            Operation::JsonValid => workload.counted(is_json),
            Operation::JsonValidUpToZero => {
                workload.counted(move |text| is_json(up_to(text, zero)))
            }
            _ => workload.unsupported(),
        }
    }
}
