//! The crate `snap`: Google's Snappy in Rust.

use fathom_measure::contender::{Meta, Path, Simple};
use snap::raw::{Decoder, Encoder, max_compress_len};

use super::workload::{Codec, Texts};

pub(super) static SNAP: Simple<Texts> = Simple {
    meta: Meta {
        hardware: Path::portable,
        ..Meta::of_crate("snap", "BSD-3-Clause", include_str!("snap.rs"))
    },
    prepare: |workload| workload.coded(Both { encoder: Encoder::new(), decoder: Decoder::new() }),
};

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
