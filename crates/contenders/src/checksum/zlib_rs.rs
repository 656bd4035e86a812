//! The crate `zlib-rs`, zlib-ng in Rust: its CRC-32 by carry-less multiplication and its Adler-32
//! on AVX2 or NEON.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};

use super::workload::{Buffer, Operation};
use crate::unit;

pub(super) struct ZlibRs;

impl Contender<Buffer> for ZlibRs {
    fn meta(&self) -> Meta {
        Meta {
            name: "zlib-rs",
            origin: Origin::Crate("zlib-rs"),
            link: "https://crates.io/crates/zlib-rs",
            licence: "Zlib",
            hardware: || format!("{}, {}", unit::CRC32.path("table"), unit::VECTOR.path("scalar")),
            ..Meta::of(include_str!("zlib_rs.rs"))
        }
    }

    fn path(&self, operation: &str) -> String {
        match operation {
            "crc32" => unit::CRC32.path("table"),
            _ => unit::VECTOR.path("scalar"),
        }
    }

    fn prepare<'w>(&self, workload: &'w Buffer) -> Preparation<'w> {
        match workload.operation {
            Operation::Crc32 => workload.timed(|bytes| zlib_rs::crc32::crc32(0, bytes)),
            Operation::Adler32 => workload.timed(|bytes| zlib_rs::adler32::adler32(1, bytes)),
            _ => workload.unsupported(),
        }
    }
}
