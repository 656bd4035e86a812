//! The engine of `fathom haversine`: templates, four cursors, vector conversion; strict, and from a
//! stream, so that the copy into its blocks is counted.

use fathom_haversine::{Error, Options, Outcome, Source};
use fathom_measure::contender::{Contender, Meta, Preparation};

use super::workload::Document;

pub(super) struct Fathom;

impl Contender<Document> for Fathom {
    fn meta(&self) -> Meta {
        Meta { name: "fathom", hardware, ..Meta::of(include_str!("fathom.rs")) }
    }

    fn prepare<'w>(&self, workload: &'w Document) -> Preparation<'w> {
        workload.timed_outcome(|json| read(json).expect("the document is valid"))
    }
}

fn hardware() -> String {
    Options::default().levels()
}

pub(super) fn read(json: &[u8]) -> Result<Outcome, Error> {
    let options = Options { keep_distances: false, ..Options::default() };
    fathom_haversine::read(Source::Stream(Box::new(json)), &options)
}
