//! The crate `ruzstd`: Zstandard in Rust. Its encoder has only a fastest level so far; its decoder reads
//! everything.

use std::io::Read;

use fathom_measure::contender::{Meta, Path, Simple};
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::workload::{Codec, Texts};

pub(super) struct Ruzstd;

pub(super) static RUZSTD: Simple<Texts> = Simple {
    meta: Meta {
        caveat: "its encoder has only a fastest level",
        hardware: Path::portable,
        ..Meta::of_crate("ruzstd", "MIT", include_str!("ruzstd.rs"))
    },
    prepare: |workload| workload.coded(Ruzstd),
};

impl Codec for Ruzstd {
    fn compress(&mut self, plain: &[u8], payload: &mut Vec<u8>) {
        *payload = compress_to_vec(plain, CompressionLevel::Fastest);
    }

    fn decompress(&mut self, payload: &[u8], length: usize, plain: &mut Vec<u8>) -> bool {
        let Ok(mut decoder) = StreamingDecoder::new(payload) else { return false };
        plain.resize(length, 0);
        decoder.read_exact(plain).is_ok()
    }
}
