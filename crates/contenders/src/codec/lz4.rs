//! LZ4's C library through the crate `lz4`, at its default speed.

use fathom_measure::contender::{Meta, Simple};
use lz4::block::{CompressionMode, compress_bound, compress_to_buffer, decompress_to_buffer};

use super::workload::{Codec, Texts};

pub(super) struct Lz4;

pub(super) static LZ4: Simple<Texts> = Simple {
    meta: Meta::of_crate("lz4", "MIT AND BSD-2-Clause", include_str!("lz4.rs")),
    prepare: |workload| workload.coded(Lz4),
};

impl Codec for Lz4 {
    fn compress(&mut self, plain: &[u8], payload: &mut Vec<u8>) {
        payload.resize(compress_bound(plain.len()).unwrap_or(0), 0);
        let mode = Some(CompressionMode::DEFAULT);
        let length = compress_to_buffer(plain, mode, false, payload).unwrap_or(0);
        payload.truncate(length);
    }

    fn decompress(&mut self, payload: &[u8], length: usize, plain: &mut Vec<u8>) -> bool {
        plain.resize(length, 0);
        let size = i32::try_from(length).ok();
        matches!(decompress_to_buffer(payload, size, plain), Ok(done) if done == length)
    }
}
