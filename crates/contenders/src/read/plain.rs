//! `read` into one buffer, used again and again: what most programs do.

use std::fs;
use std::io::{self, Read as _};

use fathom_measure::contender::{Meta, Simple};

use super::sum::Sum;
use super::workload::{File, fill};

pub(super) const READ: Simple<File> = Simple {
    meta: Meta { name: "read", ..Meta::of(include_str!("plain.rs")) },
    prepare: |workload| {
        let mut buffer = vec![0; workload.buffer_bytes];
        workload.timed(move |file, _| read_into(file, &mut buffer))
    },
};

/// The sum of a file read into `buffer`, a piece after the other.
pub(super) fn read_into(mut file: &fs::File, buffer: &mut [u8]) -> io::Result<Sum> {
    let mut sum = Sum::default();
    loop {
        let filled = fill(buffer, |room, _| file.read(room))?;
        sum.add(&buffer[..filled]);
        if filled < buffer.len() {
            return Ok(sum);
        }
    }
}
