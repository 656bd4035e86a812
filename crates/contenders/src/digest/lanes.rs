//! SHA-256 of sixteen messages at once, each in a lane of AVX-512 or AVX2 registers. fathom's own; of no use
//! for one message.

use fathom_machine::level::Level;
use fathom_measure::contender::{Meta, Path, Simple};

use super::kernel;
use super::workload::{Messages, Operation};

pub(super) static LANES: Simple<Messages> = Simple {
    meta: Meta {
        name: "lanes",
        hardware: |_| match kernel::form(Level::current()) {
            Some(form) => Path::takes(form.level),
            None => Path::Portable,
        },
        ..Meta::of(include_str!("lanes.rs"))
    },
    prepare: |workload| match (workload.operation, kernel::form(Level::current())) {
        (Operation::Sha256Many, Some(form)) => workload.together(form.run),
        _ => workload.operation.unsupported(),
    },
};
