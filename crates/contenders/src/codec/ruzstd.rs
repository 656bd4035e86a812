//! The crate `ruzstd`: Zstandard in Rust. Its encoder has only a fastest level so far; its decoder reads
//! everything, and is given what the C library makes at level 3 where this machine has it.

use std::io::Read;

use fathom_measure::contender::{Meta, Path, Simple};
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::workload::{Codec, Operation, Texts};
use crate::system::Blocks;
use crate::system::zstd::{self, Level};

/// With who packs in its place.
pub(super) struct Ruzstd(Option<Level>);

pub(super) static RUZSTD: Simple<Texts> = Simple {
    meta: Meta {
        caveat: "its encoder has only a fastest level",
        hardware: Path::portable,
        ..Meta::of_crate("ruzstd", "MIT", include_str!("ruzstd.rs"))
    },
    prepare: |workload| {
        // Decoders are compared on the same bytes.
        let is_reader = workload.operation == Operation::Decompress;
        let library = zstd::LIBRARY.get().ok().filter(|_| is_reader);
        workload.coded(Ruzstd(library.and_then(|library| library.at(3))))
    },
};

impl Codec for Ruzstd {
    fn compress(&mut self, plain: &[u8], payload: &mut Vec<u8>) {
        let Some(other) = &mut self.0 else {
            *payload = compress_to_vec(plain, CompressionLevel::Fastest);
            return;
        };
        payload.resize(other.bound(plain.len()), 0);
        let length = other.compress(plain, payload).unwrap_or(0);
        payload.truncate(length);
    }

    fn decompress(&mut self, payload: &[u8], length: usize, plain: &mut Vec<u8>) -> bool {
        let Ok(mut decoder) = StreamingDecoder::new(payload) else { return false };
        plain.resize(length, 0);
        decoder.read_exact(plain).is_ok()
    }
}
