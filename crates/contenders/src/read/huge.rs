//! `read` into one buffer on huge pages, where the kernel has them: fewer entries of the translation
//! buffer, which matters once a buffer is large.

use fathom_machine::os::memory::{Buffer, Pages};
use fathom_measure::contender::{Meta, Simple, Unsupported};

use super::plain::read_into;
use super::workload::File;

pub(super) const HUGE: Simple<File> = Simple {
    meta: Meta { name: "read-huge", ..Meta::of(include_str!("huge.rs")) },
    prepare: |workload| {
        let buffer = Buffer::new(workload.buffer_bytes, Pages::Huge2M);
        let mut buffer = buffer.map_err(|error| Unsupported(error.to_string()))?;
        buffer.touch();
        workload.timed(move |file, _| read_into(file, &mut buffer))
    },
};
