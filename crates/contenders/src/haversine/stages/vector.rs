//! Distances several pairs at a time, by fathom's own polynomials, added up exactly.

use std::io::{self, Read};

use fathom_haversine::{ExactSum, Options, Pair};
use fathom_measure::contender::{Meta, Path, Simple};

use super::exact::Exact;
use super::workload::{Answer, File, Step, distances};

pub(super) const VECTOR: Simple<File> = Simple {
    meta: Meta { name: "vector", hardware, ..Meta::of(include_str!("vector.rs")) },
    prepare: |workload| {
        workload.timed(|file| in_batches(Exact, file), |file| distances(Exact, file))
    },
};

pub(super) fn hardware(_: &str) -> Path {
    Path::takes(Options::default().levels())
}

/// Pairs whose distances are computed together: with their distances, they stay in a first-level
/// cache.
const BATCH: usize = 512;

/// The exact mean of what a step reads.
pub(super) fn in_batches(step: impl Step, source: impl Read) -> io::Result<Answer> {
    let options = Options::default();
    let (mut pairs, mut distances) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
    let mut sum = ExactSum::default();
    let mut compute = |pairs: &mut Vec<Pair>| {
        distances.clear();
        fathom_haversine::distances(pairs, &options, &mut distances);
        sum.add(&distances);
        pairs.clear();
    };
    step.each_pair(source, |pair| {
        pairs.push(pair);
        if pairs.len() == BATCH {
            compute(&mut pairs);
        }
    })?;
    compute(&mut pairs);
    Ok(Answer { pairs: sum.count(), mean: sum.mean().unwrap_or(f64::NAN) })
}
