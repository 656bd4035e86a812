//! Tokens searched to their end and copied in one piece, instead of a match and a copy per byte. From
//! here on, that the text is JSON is taken on trust, as in the notes.

use std::io::{self, Read};

use fathom_haversine::Pair;
use fathom_measure::contender::{Contender, Meta, Preparation};

use super::number::quick;
use super::scanner;
use super::workload::{File, Step};

#[derive(Clone, Copy)]
pub(super) struct Scan;

impl Contender<File> for Scan {
    fn meta(&self) -> Meta {
        Meta { name: "scan", hardware: || "scalar".into(), ..Meta::of(include_str!("scan.rs")) }
    }

    fn prepare<'w>(&self, workload: &'w File) -> Preparation<'w> {
        workload.timed_step(*self)
    }
}

impl Step for Scan {
    fn each_pair(self, source: impl Read, take: impl FnMut(Pair)) -> io::Result<()> {
        scanner::each_pair::<true>(source, 4 << 10, quick, take)
    }
}
