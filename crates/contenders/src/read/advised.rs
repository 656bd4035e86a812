//! `read` with a word to the kernel beforehand: that the file is read in order (`sequential`: it reads twice as far
//! ahead), or that all of it is going to be needed (`willneed`: it begins to read all).

use fathom_machine::os::cache;
use fathom_measure::contender::{Meta, Unsupported};

use super::plain::read_into;
use super::workload::File;
use crate::several::Several;

pub(super) const ADVISED: Several<File> = Several {
    meta: Meta { name: "advised", ..Meta::of(include_str!("advised.rs")) },
    ways: &["sequential", "willneed"],
    usual: "sequential",
    prepare: |variant, workload| {
        let advise = match variant {
            "sequential" => cache::expect_in_order,
            "willneed" => cache::expect_whole,
            _ => return Err(Unsupported(format!("has no way {variant:?}"))),
        };
        let mut buffer = vec![0; workload.buffer_bytes];
        workload.timed(move |file, _| {
            advise(file)?;
            read_into(file, &mut buffer)
        })
    },
};
