//! libdeflate, the C library, through the crate `libdeflater`, at levels 1 and 6: mORMot's Deflate and
//! DeflateFast rows. Deflate of whole buffers only.

use fathom_measure::contender::{Contender, Meta, Preparation, Unsupported};
use libdeflater::{CompressionLvl, Compressor, Decompressor};

use super::workload::{Codec, Texts};
use crate::library;

pub(super) struct Libdeflate;

impl Contender<Texts> for Libdeflate {
    fn meta(&self) -> Meta {
        Meta { source: include_str!("libdeflate.rs"), ..library::LIBDEFLATE }
    }

    fn variants(&self) -> &'static [&'static str] {
        &["1", "6"]
    }

    fn prepare<'w>(&self, workload: &'w Texts) -> Preparation<'w> {
        self.prepare_variant("6", workload)
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w Texts) -> Preparation<'w> {
        let level = variant.parse().ok().and_then(|level| CompressionLvl::new(level).ok());
        let level = level.ok_or_else(|| Unsupported(format!("has no level {variant}")))?;
        workload
            .coded(Both { compressor: Compressor::new(level), decompressor: Decompressor::new() })
    }
}

struct Both {
    compressor: Compressor,
    decompressor: Decompressor,
}

impl Codec for Both {
    fn compress(&mut self, plain: &[u8], payload: &mut Vec<u8>) {
        payload.resize(self.compressor.deflate_compress_bound(plain.len()), 0);
        let length = self.compressor.deflate_compress(plain, payload).unwrap_or(0);
        payload.truncate(length);
    }

    fn decompress(&mut self, payload: &[u8], length: usize, plain: &mut Vec<u8>) -> bool {
        plain.resize(length, 0);
        matches!(self.decompressor.deflate_decompress(payload, plain), Ok(done) if done == length)
    }
}
