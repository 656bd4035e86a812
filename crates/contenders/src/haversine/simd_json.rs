//! The crate `simd-json`, into a typed vector. It writes into its input, so each iteration copies the
//! text first, which is part of its time.

use fathom_haversine::Pair;
use fathom_measure::contender::{Contender, Meta, Origin, Preparation};

use super::serde_json::Root;
use super::workload::Document;
use crate::unit;

pub(super) struct SimdJson;

impl Contender<Document> for SimdJson {
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

    fn prepare<'w>(&self, workload: &'w Document) -> Preparation<'w> {
        let mut copy = Vec::new();
        workload.timed_pairs(move |json| {
            copy.clear();
            copy.extend_from_slice(json);
            read(&mut copy)
        })
    }
}

fn read(json: &mut [u8]) -> Vec<Pair> {
    ::simd_json::serde::from_slice::<Root>(json).expect("the document is valid").into_pairs()
}
