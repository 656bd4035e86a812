//! The crate `snap`: Google's Snappy in Rust.

use fathom_measure::contender::{Meta, Path, Simple};
use snap::raw::{Decoder, Encoder, max_compress_len};

use super::workload::Texts;
use crate::system::Blocks;

pub(super) const SNAP: Simple<Texts> = Simple {
    meta: Meta {
        hardware: Path::portable,
        ..Meta::of_crate("snap", "BSD-3-Clause", include_str!("snap.rs"))
    },
    prepare: |workload| workload.blocks(Both { encoder: Encoder::new(), decoder: Decoder::new() }),
};

struct Both {
    encoder: Encoder,
    decoder: Decoder,
}

impl Blocks for Both {
    fn bound(&self, plain: usize) -> usize {
        max_compress_len(plain)
    }

    fn compress(&mut self, plain: &[u8], into: &mut [u8]) -> Option<usize> {
        self.encoder.compress(plain, into).ok()
    }

    fn decompress(&mut self, payload: &[u8], into: &mut [u8]) -> Option<usize> {
        self.decoder.decompress(payload, into).ok()
    }
}
