//! The crate `snap`: Google's Snappy in Rust.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};
use snap::raw::{Decoder, Encoder, max_compress_len};

use super::workload::{Codec, Texts};

pub(super) struct Snap;

impl Contender<Texts> for Snap {
    fn meta(&self) -> Meta {
        Meta {
            name: "snap",
            origin: Origin::Crate("snap"),
            link: "https://crates.io/crates/snap",
            licence: "BSD-3-Clause",
            ..Meta::of(include_str!("snap.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Texts) -> Preparation<'w> {
        workload.coded(Both { encoder: Encoder::new(), decoder: Decoder::new() })
    }
}

struct Both {
    encoder: Encoder,
    decoder: Decoder,
}

impl Codec for Both {
    fn compress(&mut self, plain: &[u8], payload: &mut Vec<u8>) {
        payload.resize(max_compress_len(plain.len()), 0);
        let length = self.encoder.compress(plain, payload).unwrap_or(0);
        payload.truncate(length);
    }

    fn decompress(&mut self, payload: &[u8], length: usize, plain: &mut Vec<u8>) -> bool {
        plain.resize(length, 0);
        self.decoder.decompress(payload, plain) == Ok(length)
    }
}
