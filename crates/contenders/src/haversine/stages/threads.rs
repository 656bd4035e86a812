//! The product by as many threads as there are processors: blocks read from guessed beginnings and
//! joined only where the guess was right; the same bits.

use std::num::NonZeroUsize;
use std::thread;

use fathom_measure::contender::{Meta, Simple};

use super::fathom::{by, run};
use super::vector::hardware;
use super::workload::File;

pub(super) const THREADS: Simple<File> = Simple {
    meta: Meta { name: "threads", hardware, ..Meta::of(include_str!("threads.rs")) },
    prepare: |workload| {
        let all = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        workload.timed(move |file| run(file, all), move |file| by(file, all))
    },
};
