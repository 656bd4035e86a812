//! Numbers to the nearest double, by the exact conversion of `fathom-json`: the digits that the quick
//! parser lost are back.

use std::io::{self, Read};

use fathom_haversine::Pair;
use fathom_measure::contender::{Contender, Meta, Preparation};

use super::scanner;
use super::workload::{File, Step};

#[derive(Clone, Copy)]
pub(super) struct Exact;

impl Contender<File> for Exact {
    fn meta(&self) -> Meta {
        Meta { name: "exact", hardware: || "scalar".into(), ..Meta::of(include_str!("exact.rs")) }
    }

    fn prepare<'w>(&self, workload: &'w File) -> Preparation<'w> {
        workload.timed_step(*self)
    }
}

impl Step for Exact {
    fn each_pair(self, source: impl Read, take: impl FnMut(Pair)) -> io::Result<()> {
        scanner::each_pair::<false>(source, 256 << 10, nearest, take)
    }
}

pub(super) fn nearest(text: &[u8]) -> f64 {
    fathom_json::nearest(text).unwrap_or(f64::NAN)
}
