//! The crate `simd-json`, into a typed vector. It writes into its input, so each iteration copies the
//! text first, which is part of its time.

use fathom_haversine::Pair;
use fathom_measure::contender::{Meta, Simple};

use super::serde_json::Root;
use super::workload::Document;
use crate::library;

pub(super) const SIMD_JSON: Simple<Document> = Simple {
    meta: Meta { source: include_str!("simd_json.rs"), ..library::SIMD_JSON },
    prepare: |workload| {
        let mut copy = Vec::new();
        workload.timed_pairs(move |json| {
            copy.clear();
            copy.extend_from_slice(json);
            read(&mut copy)
        })
    },
};

fn read(json: &mut [u8]) -> Vec<Pair> {
    ::simd_json::serde::from_slice::<Root>(json).expect("the document is valid").into_pairs()
}
