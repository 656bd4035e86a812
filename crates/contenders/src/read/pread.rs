//! `pread`, which names the offset instead of moving the file's own.

use std::os::unix::fs::FileExt;

use fathom_measure::contender::{Meta, Simple};

use super::sum::Sum;
use super::workload::{File, fill};

pub(super) const PREAD: Simple<File> = Simple {
    meta: Meta { name: "pread", ..Meta::of(include_str!("pread.rs")) },
    prepare: |workload| {
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
    },
};
