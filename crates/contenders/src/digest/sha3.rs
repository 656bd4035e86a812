//! The crate `sha3` of RustCrypto: Keccak in portable code, or on the SHA-3 instructions of ARMv8.2.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};
use sha3::{Digest, Sha3_256, Sha3_512};

use super::workload::{Messages, Operation};
use crate::unit;

pub(super) struct Sha3;

impl Contender<Messages> for Sha3 {
    fn meta(&self) -> Meta {
        Meta {
            name: "sha3",
            origin: Origin::Crate("sha3"),
            link: "https://crates.io/crates/sha3",
            licence: "MIT OR Apache-2.0",
            hardware: || unit::SHA3.path("portable"),
            ..Meta::of(include_str!("sha3.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Messages) -> Preparation<'w> {
        match workload.operation {
            Operation::Sha3_256 => workload.timed(|bytes| Sha3_256::digest(bytes).0),
            Operation::Sha3_512 => workload.timed(|bytes| Sha3_512::digest(bytes).0),
            _ => workload.unsupported(),
        }
    }
}
