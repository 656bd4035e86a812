//! The product by one thread: what looks like the pair before is read by its template, four cursors
//! in turn, numbers converted four at a time; the strict lexer reads the rest.

use std::fs;
use std::io;
use std::num::NonZeroUsize;

use fathom_haversine::{Options, Source, Trigonometry, read};
use fathom_measure::contender::{Meta, Simple};

use super::vector::hardware;
use super::workload::{Answer, File};

pub(super) const FATHOM: Simple<File> = Simple {
    meta: Meta { name: "fathom", hardware, ..Meta::of(include_str!("fathom.rs")) },
    prepare: |workload| {
        workload.timed(|file| run(file, NonZeroUsize::MIN), |file| by(file, NonZeroUsize::MIN))
    },
};

/// The mean by `threads` threads.
pub(super) fn run(file: fs::File, threads: NonZeroUsize) -> io::Result<Answer> {
    let options = Options { threads, keep_distances: false, ..Options::default() };
    let outcome = read(Source::File(Box::new(file)), &options).map_err(io::Error::other)?;
    Ok(Answer { pairs: outcome.pairs, mean: outcome.mean_exact })
}

/// All distances by the reference formula.
pub(super) fn by(file: fs::File, threads: NonZeroUsize) -> io::Result<Vec<f64>> {
    let options = Options { threads, trigonometry: Trigonometry::Libm, ..Options::default() };
    let outcome = read(Source::File(Box::new(file)), &options).map_err(io::Error::other)?;
    Ok(outcome.distances.concat())
}
