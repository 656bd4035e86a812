//! `O_DIRECT`, one request at a time: the device writes into the buffer itself, nothing is copied and nothing
//! read ahead.

use fathom_measure::contender::{Meta, Simple};

use super::sum::Sum;
use super::workload::{File, fill_direct};

pub(super) const DIRECT: Simple<File> = Simple {
    meta: Meta {
        name: "direct",
        caveat: "from the device, also if the file is in memory",
        ..Meta::of(include_str!("direct.rs"))
    },
    prepare: |workload| {
        let mut buffer = workload.aligned()?;
        workload.direct(move |file, _| {
            let (mut sum, mut at) = (Sum::default(), 0);
            loop {
                let filled = fill_direct(file, &mut buffer, at)?;
                sum.add(&buffer[..filled]);
                if filled < buffer.len() {
                    return Ok(sum);
                }
                at += filled as u64;
            }
        })
    },
};
