//! libdeflate, the C library, through the crate `libdeflater`: CRC-32 and Adler-32 with the widest
//! vectors and carry-less multiplication the processor has. Its CRC-32 is the one in mORMot.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};

use super::workload::{Buffer, Operation};
use crate::unit;

pub(super) struct Libdeflate;

impl Contender<Buffer> for Libdeflate {
    fn meta(&self) -> Meta {
        Meta {
            name: "libdeflate",
            origin: Origin::Crate("libdeflater"),
            link: "https://crates.io/crates/libdeflater",
            licence: "MIT AND Apache-2.0",
            hardware: || format!("{}, {}", unit::CRC32.path("table"), unit::VECTOR.path("scalar")),
            ..Meta::of(include_str!("libdeflate.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Buffer) -> Preparation<'w> {
        match workload.operation {
            Operation::Crc32 => workload.timed(libdeflater::crc32),
            Operation::Adler32 => workload.timed(libdeflater::adler32),
            _ => workload.unsupported(),
        }
    }
}
