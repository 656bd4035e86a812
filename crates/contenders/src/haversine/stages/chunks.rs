//! Larger chunks: fewer calls of the kernel, fewer tokens cut.

use std::io::{self, Read};

use fathom_haversine::Pair;
use fathom_measure::contender::{Contender, Meta, Preparation, Unsupported};

use super::number::quick;
use super::scanner;
use super::workload::{File, Step};

pub(super) struct Chunks;

#[derive(Clone, Copy)]
struct Sized {
    chunk_bytes: usize,
}

impl Contender<File> for Chunks {
    fn meta(&self) -> Meta {
        Meta { name: "chunks", ..Meta::of(include_str!("chunks.rs")) }
    }

    fn prepare<'w>(&self, workload: &'w File) -> Preparation<'w> {
        self.prepare_variant("16k", workload)
    }

    fn variants(&self) -> &'static [&'static str] {
        &["16k", "256k"]
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w File) -> Preparation<'w> {
        let chunk_bytes = match variant {
            "16k" => 16 << 10,
            "256k" => 256 << 10,
            _ => return Err(Unsupported(format!("has no chunks of {variant:?}"))),
        };
        workload.timed_step(Sized { chunk_bytes })
    }
}

impl Step for Sized {
    fn each_pair(self, source: impl Read, take: impl FnMut(Pair)) -> io::Result<()> {
        scanner::each_pair::<false>(source, self.chunk_bytes, quick, take)
    }
}
