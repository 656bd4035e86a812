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

#[derive(Deserialize)]
struct Root {
    pairs: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    x0: f64,
    y0: f64,
    x1: f64,
    y1: f64,
}

fn read(json: &[u8]) -> Vec<Pair> {
    let root: Root = ::serde_json::from_slice(json).expect("the document is valid");
    root.pairs.into_iter().map(|Row { x0, y0, x1, y1 }| Pair { x0, y0, x1, y1 }).collect()
}
