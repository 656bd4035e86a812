//! The crate `zlib-rs`, zlib-ng in Rust: its CRC-32 by carry-less multiplication and its Adler-32
//! on AVX2 or NEON.

use fathom_measure::contender::{Meta, Simple};

use super::workload::{Buffer, Operation};
use crate::library;

pub(super) const ZLIB_RS: Simple<Buffer> = Simple {
    meta: Meta { source: include_str!("zlib_rs.rs"), ..library::ZLIB_RS },
    prepare: |workload| match workload.operation {
        Operation::Crc32 => workload.timed(|bytes| zlib_rs::crc32::crc32(0, bytes)),
        Operation::Adler32 => workload.timed(|bytes| zlib_rs::adler32::adler32(1, bytes)),
        _ => workload.operation.unsupported(),
    },
};
