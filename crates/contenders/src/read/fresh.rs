//! `read` into a buffer allocated anew for each piece: the first write to each new page is a fault,
//! once the allocator gets its memory from the kernel.

use std::io::Read;

use fathom_machine::os::memory::{Buffer, Pages};
use fathom_measure::contender::{Meta, Simple};

use super::sum::Sum;
use super::workload::{File, fill};

pub(super) const FRESH: Simple<File> = Simple {
    meta: Meta {
        name: "read-fresh",
        caveat: "always from the kernel, where an allocator may keep what was freed",
        ..Meta::of(include_str!("fresh.rs"))
    },
    prepare: |workload| {
        workload.timed(|mut file, workload| {
            let mut sum = Sum::default();
            loop {
                let mut buffer = Buffer::new(workload.buffer_bytes, Pages::Base)?;
                let filled = fill(&mut buffer, |room, _| file.read(room))?;
                sum.add(&buffer[..filled]);
                if filled < buffer.len() {
                    return Ok(sum);
                }
            }
        })
    },
};
