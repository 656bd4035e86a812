//! MD5, SHA-256, SHA-512 and SHA3-256 of many messages at once, each in a lane of the registers of the level.
//! fathom's own; of no use for one message.

use fathom_machine::level::Level;
use fathom_measure::contender::{Meta, Path, Simple};

use super::kernel;
use super::workload::{Messages, Operation};

pub(super) const LANES: Simple<Messages> = Simple {
    meta: Meta {
        name: "lanes",
        hardware: |_| Path::takes(kernel::md5(Level::current()).level()),
        ..Meta::of(include_str!("lanes.rs"))
    },
    prepare: |workload| match workload.operation {
        Operation::Md5 => workload.together(kernel::md5(Level::current())),
        Operation::Sha256 => workload.together(kernel::sha256(Level::current())),
        Operation::Sha512 => workload.together(kernel::sha512(Level::current())),
        Operation::Sha3_256 => workload.together(kernel::sha3_256(Level::current())),
        _ => workload.operation.unsupported(),
    },
};
