//! The crate `ruzstd`: Zstandard in Rust. Its encoder has only a fastest level so far; its decoder reads
//! everything, and is given what the C library makes at level 3 where this machine has it.

use fathom_measure::contender::{Meta, Path, Simple};
use ruzstd::decoding::FrameDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::workload::{Codec, Operation, Texts};
use crate::system::Blocks;
use crate::system::zstd::{self, Level};

struct Ruzstd {
    /// Who packs in its place.
    packer: Option<Level>,
    decoder: FrameDecoder,
}

pub(super) const RUZSTD: Simple<Texts> = Simple {
    meta: Meta {
        caveat: "its encoder has only a fastest level",
        hardware: Path::portable,
        ..Meta::of_crate("ruzstd", "MIT", include_str!("ruzstd.rs"))
    },
    prepare: |workload| {
        // Decoders are compared on the same bytes.
        let is_reader = workload.operation == Operation::Decompress;
        let library = zstd::LIBRARY.get().ok().filter(|_| is_reader);
        let packer = library.and_then(|library| library.at(3));
        workload.coded(Ruzstd { packer, decoder: FrameDecoder::new() })
    },
};

impl Codec for Ruzstd {
    fn compress(&mut self, plain: &[u8], payload: &mut Vec<u8>) {
        let Some(other) = &mut self.packer else {
            *payload = compress_to_vec(plain, CompressionLevel::Fastest);
            return;
        };
        payload.resize(other.bound(plain.len()), 0);
        let length = other.compress(plain, payload).unwrap_or(0);
        payload.truncate(length);
    }

    fn decompress(&mut self, payload: &[u8], plain: &mut [u8]) -> bool {
        self.decoder.decode_all(payload, plain).is_ok_and(|written| written == plain.len())
    }
}
