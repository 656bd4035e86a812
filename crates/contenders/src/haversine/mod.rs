//! Haversine: coordinate pairs in JSON to their mean great-circle distance, by one thread.
//!
//! Every contender reads the same bytes to the same doubles; distances and the exact sum are
//! fathom's for all of them, so what differs is reading. The own ones are the steps from the plain
//! way to the product: a match per byte with the standard library's numbers, then the lexer with
//! its vector searches and exact fast numbers, then templates with four cursors.
//!
//! A file is one document `{"pairs":[…]}`: the other layouts that the engine reads are its own.

use fathom_measure::facts::Facts;
use fathom_measure::family::Family;

use crate::library::{CRATES, more};

mod events;
mod fathom;
#[cfg(all(feature = "cpu", feature = "more"))]
mod jiter;
mod plain;
mod serde_json;
#[cfg(feature = "cpu")]
mod simd_json;
#[cfg(feature = "cpu")]
mod sonic;
pub mod stages;
mod workload;

pub use workload::Document;

/// The family.
pub(crate) const FAMILY: Family<Document> = Family {
    name: "haversine",
    source: include_str!("mod.rs"),
    reference: "plain",
    contenders: &[
        &plain::PLAIN,
        &events::EVENTS,
        &serde_json::SERDE_JSON,
        #[cfg(feature = "cpu")]
        &simd_json::SIMD_JSON,
        #[cfg(feature = "cpu")]
        &sonic::SONIC,
        #[cfg(all(feature = "cpu", feature = "more"))]
        &jiter::JITER,
        &fathom::FATHOM,
    ],
    absent: &[CRATES, more("jiter")],
    facts: &Facts::NONE,
};

/// What a contender of one of these families says of a case.
#[cfg(test)]
fn digest(
    family: &dyn fathom_measure::family::AnyFamily,
    id: &str,
    spec: &fathom_measure::workload::Spec,
) -> fathom_measure::digest::Digest {
    let mut digest = None;
    let opened = family.open(id, spec, &mut |mut opened| {
        digest = Some(opened.prepared.sample(1, &mut fathom_measure::meter::Untimed));
    });
    opened.unwrap();
    digest.unwrap()
}
