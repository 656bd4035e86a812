//! The file mapped a buffer's length at a time and read in place, no copy: each page faults at its
//! first byte, or, as `populated`, all pages of a piece are mapped by one call; as `whole`, the whole
//! file by one call, whatever the buffer.

use fathom_machine::os::map::FileMap;
use fathom_measure::contender::{Meta, Unsupported};

use super::sum::Sum;
use super::workload::File;
use crate::several::Several;

pub(super) const MMAP: Several<File> = Several {
    meta: Meta {
        name: "mmap",
        caveat: "a file made shorter while it is mapped ends the process",
        ..Meta::of(include_str!("mmap.rs"))
    },
    ways: &["faulted", "populated", "whole"],
    usual: "faulted",
    prepare: |variant, workload| {
        let (populate, is_whole) = match variant {
            "faulted" => (false, false),
            "populated" => (true, false),
            "whole" => (true, true),
            _ => return Err(Unsupported(format!("has no way {variant:?}"))),
        };
        workload.timed(move |file, workload| {
            let (mut sum, mut at) = (Sum::default(), 0);
            let step = if is_whole { workload.bytes.max(1) } else { workload.buffer_bytes as u64 };
            while at < workload.bytes {
                let end = workload.bytes.min(at + step);
                // SAFETY: the user offers this file to be measured; that nobody changes it
                // meanwhile is the caveat above.
                let map = unsafe { FileMap::new(file, at..end, populate)? };
                sum.add(&map.padded()[map.place()]);
                at = end;
            }
            Ok(sum)
        })
    },
};
