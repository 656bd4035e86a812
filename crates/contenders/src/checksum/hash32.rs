//! mORMot's `Hash32` on vectors: two additions per register instead of two per word.
//!
//! The words are dealt to lanes; s1 is the sum of the lanes, and s2, in which an early word counts
//! more often than a late one, is a weighted sum of the lanes and of their own running sums. The
//! derivation stands beside the kernel.

use fathom_machine::level::Level;
use fathom_measure::contender::{Meta, Path, Simple};

use super::kernel::hash32;
use super::workload::{Buffer, Operation};

pub(super) const HASH32: Simple<Buffer> = Simple {
    meta: Meta {
        name: "hash32",
        caveat: "a checksum; weak as the hash of a table",
        hardware: |_| Path::takes(hash32::form(Level::current()).level),
        ..Meta::of(include_str!("hash32.rs"))
    },
    prepare: |workload| match workload.operation {
        Operation::Hash32 => workload.timed(hash32::form(Level::current()).run),
        _ => workload.operation.unsupported(),
    },
};
