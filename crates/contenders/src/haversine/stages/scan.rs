//! Tokens searched to their end and copied in one piece, instead of a match and a copy per byte. From
//! here on, that the text is JSON is taken on trust, as in the notes.

use std::io::{self, Read};

use fathom_haversine::Pair;
use fathom_measure::contender::{Meta, Simple};

use super::number::quick;
use super::scanner;
use super::workload::{File, Step};

#[derive(Clone, Copy)]
pub(super) struct Scan;

pub(super) static SCAN: Simple<File> = Simple {
    meta: Meta { name: "scan", ..Meta::of(include_str!("scan.rs")) },
    prepare: |workload| workload.timed_step(Scan),
};

impl Step for Scan {
    fn each_pair(self, source: impl Read, take: impl FnMut(Pair)) -> io::Result<()> {
        scanner::each_pair::<true>(source, 4 << 10, quick, take)
    }
}
