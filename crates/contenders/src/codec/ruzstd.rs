//! The crate `ruzstd`: Zstandard in Rust. Its encoder has only a fastest level so far; its decoder reads
//! everything.

use std::io::Read;

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::workload::{Codec, Texts};

pub(super) struct Ruzstd;

impl Contender<Texts> for Ruzstd {
    fn meta(&self) -> Meta {
        Meta {
            name: "ruzstd",
            origin: Origin::Crate("ruzstd"),
            link: "https://crates.io/crates/ruzstd",
            licence: "MIT",
            caveat: "its encoder has only a fastest level",
            ..Meta::of(include_str!("ruzstd.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Texts) -> Preparation<'w> {
        workload.coded(Ruzstd)
    }
}

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
