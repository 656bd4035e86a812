//! The engine of `fathom haversine`: templates, four cursors, vector conversion; strict, and from a
//! stream, so that the copy into its blocks is counted.

use fathom_haversine::{Error, Options, Outcome, Source};
use fathom_measure::contender::{Meta, Path, Simple};

use super::workload::Document;

pub(super) const FATHOM: Simple<Document> = Simple {
    meta: Meta { name: "fathom", hardware, ..Meta::of(include_str!("fathom.rs")) },
    prepare: |workload| workload.timed_outcome(|json| read(json).expect("the document is valid")),
};

fn hardware(_: &str) -> Path {
    Path::takes(Options::default().levels())
}

pub(super) fn read(json: &[u8]) -> Result<Outcome, Error> {
    let options = Options { keep_distances: false, ..Options::default() };
    fathom_haversine::read(Source::Stream(Box::new(json)), &options)
}
