//! Tokens handed over where they stand; only what a chunk's end cuts is copied.

use std::io::{self, Read};

use fathom_haversine::Pair;
use fathom_measure::contender::{Meta, Simple};

use super::number::quick;
use super::scanner;
use super::workload::{File, Step};

#[derive(Clone, Copy)]
pub(super) struct Views;

pub(super) static VIEWS: Simple<File> = Simple {
    meta: Meta { name: "views", ..Meta::of(include_str!("views.rs")) },
    prepare: |workload| workload.timed_step(Views),
};

impl Step for Views {
    fn each_pair(self, source: impl Read, take: impl FnMut(Pair)) -> io::Result<()> {
        scanner::each_pair::<false>(source, 4 << 10, quick, take)
    }
}
