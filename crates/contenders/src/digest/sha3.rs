//! The crate `sha3` of RustCrypto: Keccak in portable code, or on the SHA-3 instructions of ARMv8.2.

use fathom_measure::contender::{Meta, Simple};
use sha3::{Digest, Sha3_256, Sha3_512};

use super::workload::{Messages, Operation};
use crate::library;

pub(super) const SHA3: Simple<Messages> = Simple {
    meta: Meta {
        hardware: library::arm_alone,
        ..Meta::of_crate("sha3", "MIT OR Apache-2.0", include_str!("sha3.rs"))
    },
    prepare: |workload| match workload.operation {
        Operation::Sha3_256 => workload.timed(|bytes| Sha3_256::digest(bytes).0),
        Operation::Sha3_512 => workload.timed(|bytes| Sha3_512::digest(bytes).0),
        _ => workload.operation.unsupported(),
    },
};
