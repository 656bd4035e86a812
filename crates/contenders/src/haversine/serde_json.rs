//! The crate `serde_json`, into a typed vector; its feature `float_roundtrip` is on, since numbers
//! are not rounded rightly without it.

use fathom_haversine::Pair;
use fathom_measure::contender::{Meta, Simple};
use serde::Deserialize;

use super::workload::Document;
use crate::library;

pub(super) const SERDE_JSON: Simple<Document> = Simple {
    meta: Meta { source: include_str!("serde_json.rs"), ..library::SERDE_JSON },
    prepare: |workload| workload.timed_pairs(read),
};

/// The document as a type: what every crate that deserialises fills.
#[derive(Deserialize)]
pub(super) struct Root {
    pairs: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    x0: f64,
    y0: f64,
    x1: f64,
    y1: f64,
}

impl Root {
    pub(super) fn into_pairs(self) -> Vec<Pair> {
        let pair = |Row { x0, y0, x1, y1 }| Pair { x0, y0, x1, y1 };
        self.pairs.into_iter().map(pair).collect()
    }
}

fn read(json: &[u8]) -> Vec<Pair> {
    ::serde_json::from_slice::<Root>(json).expect("the document is valid").into_pairs()
}
