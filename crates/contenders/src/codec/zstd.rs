//! Zstandard's C library through the crate `zstd`, at levels 1, 3 and 6.

use fathom_measure::contender::{Contender, Meta, Preparation, Unsupported};
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::compress_bound;

use super::workload::{Codec, Texts};

pub(super) struct Zstd;

impl Contender<Texts> for Zstd {
    fn meta(&self) -> Meta {
        Meta::of_crate("zstd", "BSD-3-Clause", include_str!("zstd.rs"))
    }

    fn variants(&self) -> &'static [&'static str] {
        &["1", "3", "6"]
    }

    fn prepare<'w>(&self, workload: &'w Texts) -> Preparation<'w> {
        self.prepare_variant("3", workload)
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w Texts) -> Preparation<'w> {
        let unsupported = |_| Unsupported(format!("has no level {variant}"));
        let level = variant
            .parse()
            .map_err(|error: std::num::ParseIntError| unsupported(error.to_string()))?;
        let failed = |error: std::io::Error| Unsupported(error.to_string());
        let compressor = Compressor::new(level).map_err(failed)?;
        let decompressor = Decompressor::new().map_err(failed)?;
        workload.coded(Both { compressor, decompressor })
    }
}

struct Both {
    compressor: Compressor<'static>,
    decompressor: Decompressor<'static>,
}

impl Codec for Both {
    fn compress(&mut self, plain: &[u8], payload: &mut Vec<u8>) {
        payload.resize(compress_bound(plain.len()), 0);
        let length = self.compressor.compress_to_buffer(plain, &mut payload[..]).unwrap_or(0);
        payload.truncate(length);
    }

    fn decompress(&mut self, payload: &[u8], length: usize, plain: &mut Vec<u8>) -> bool {
        plain.resize(length, 0);
        let done = self.decompressor.decompress_to_buffer(payload, &mut plain[..]);
        matches!(done, Ok(done) if done == length)
    }
}
