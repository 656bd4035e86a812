//! Tokens handed over where they stand; only what a chunk's end cuts is copied.

use std::io::{self, Read};

use fathom_haversine::Pair;
use fathom_measure::contender::{Contender, Meta, Preparation};

use super::number::quick;
use super::scanner;
use super::workload::{File, Step};

#[derive(Clone, Copy)]
pub(super) struct Views;

impl Contender<File> for Views {
    fn meta(&self) -> Meta {
        Meta { name: "views", hardware: || "scalar".into(), ..Meta::of(include_str!("views.rs")) }
    }

    fn prepare<'w>(&self, workload: &'w File) -> Preparation<'w> {
        workload.timed_step(*self)
    }
}

impl Step for Views {
    fn each_pair(self, source: impl Read, take: impl FnMut(Pair)) -> io::Result<()> {
        scanner::each_pair::<false>(source, 4 << 10, quick, take)
    }
}
