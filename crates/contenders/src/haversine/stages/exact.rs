//! Numbers to the nearest double, by the exact conversion of `fathom-json`: the digits that the quick
//! parser lost are back.

use std::io::{self, Read};

use fathom_haversine::Pair;
use fathom_measure::contender::{Meta, Simple};

use super::scanner;
use super::workload::{File, Step};

#[derive(Clone, Copy)]
pub(super) struct Exact;

pub(super) static EXACT: Simple<File> = Simple {
    meta: Meta { name: "exact", ..Meta::of(include_str!("exact.rs")) },
    prepare: |workload| workload.timed_step(Exact),
};

impl Step for Exact {
    fn each_pair(self, source: impl Read, take: impl FnMut(Pair)) -> io::Result<()> {
        scanner::each_pair::<false>(source, 256 << 10, nearest, take)
    }
}

pub(super) fn nearest(text: &[u8]) -> f64 {
    fathom_json::nearest(text).unwrap_or(f64::NAN)
}
