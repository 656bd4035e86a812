//! The crate `sonic-rs`, into a typed vector: vector searches, chosen when it is compiled.

use fathom_haversine::Pair;
use fathom_measure::contender::{Meta, Simple};

use super::serde_json::Root;
use super::workload::Document;
use crate::library;

pub(super) const SONIC: Simple<Document> = Simple {
    meta: Meta { source: include_str!("sonic.rs"), ..library::SONIC },
    prepare: |workload| workload.timed_pairs(read),
};

fn read(json: &[u8]) -> Vec<Pair> {
    sonic_rs::from_slice::<Root>(json).expect("the document is valid").into_pairs()
}
