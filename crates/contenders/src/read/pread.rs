//! `pread`, which names the offset instead of moving the file's own.

use std::os::unix::fs::FileExt;

use fathom_measure::contender::{Contender, Meta, Preparation};

use super::sum::Sum;
use super::workload::{File, fill};

pub(super) struct Pread;

impl Contender<File> for Pread {
    fn meta(&self) -> Meta {
        Meta { name: "pread", ..Meta::of(include_str!("pread.rs")) }
    }

    fn prepare<'w>(&self, workload: &'w File) -> Preparation<'w> {
        let mut buffer = vec![0; workload.buffer_bytes];
        workload.timed(move |file, _| {
            let (mut sum, mut at) = (Sum::default(), 0);
            loop {
                let filled = fill(&mut buffer, |room, done| file.read_at(room, at + done as u64))?;
                sum.add(&buffer[..filled]);
                if filled < buffer.len() {
                    return Ok(sum);
                }
                at += filled as u64;
            }
        })
    }
}
