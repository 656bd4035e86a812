//! The crate `serde_json`, into a typed vector; its feature `float_roundtrip` is on, since numbers
//! are not rounded rightly without it.

use fathom_haversine::Pair;
use fathom_measure::contender::{Contender, Meta, Origin, Preparation};
use serde::Deserialize;

use super::workload::Document;

pub(super) struct SerdeJson;

impl Contender<Document> for SerdeJson {
    fn meta(&self) -> Meta {
        Meta {
            name: "serde-json",
            origin: Origin::Crate("serde_json"),
            link: "https://crates.io/crates/serde_json",
            licence: "MIT OR Apache-2.0",
            hardware: || "scalar".into(),
            ..Meta::of(include_str!("serde_json.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Document) -> Preparation<'w> {
        workload.timed_pairs(read)
    }
}

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
