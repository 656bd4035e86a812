//! Larger chunks: fewer calls of the kernel, fewer tokens cut.

use std::io::{self, Read};

use fathom_haversine::Pair;
use fathom_measure::contender::{Meta, Unsupported};

use super::number::quick;
use super::scanner;
use super::workload::{File, Step};
use crate::several::Several;

#[derive(Clone, Copy)]
struct Sized {
    chunk_bytes: usize,
}

pub(super) const CHUNKS: Several<File> = Several {
    meta: Meta { name: "chunks", ..Meta::of(include_str!("chunks.rs")) },
    ways: &["16k", "256k"],
    usual: "16k",
    prepare: |variant, workload| {
        let chunk_bytes = match variant {
            "16k" => 16 << 10,
            "256k" => 256 << 10,
            _ => return Err(Unsupported(format!("has no chunks of {variant:?}"))),
        };
        workload.timed_step(Sized { chunk_bytes })
    },
};

impl Step for Sized {
    fn each_pair(self, source: impl Read, take: impl FnMut(Pair)) -> io::Result<()> {
        scanner::each_pair::<false>(source, self.chunk_bytes, quick, take)
    }
}
