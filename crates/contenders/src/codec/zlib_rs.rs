//! The crate `zlib-rs`: zlib-ng's algorithms in Rust, at levels 1 and 6, in the zlib format.

use fathom_measure::contender::{Contender, Meta, Preparation, Unsupported};
use zlib_rs::{DeflateConfig, InflateConfig, compress_bound, compress_slice, decompress_slice};

use super::workload::{Codec, Texts};
use crate::library;

pub(super) struct ZlibRs;

impl Contender<Texts> for ZlibRs {
    fn meta(&self) -> Meta {
        Meta { source: include_str!("zlib_rs.rs"), ..library::ZLIB_RS }
    }

    fn variants(&self) -> &'static [&'static str] {
        &["1", "6"]
    }

    fn prepare<'w>(&self, workload: &'w Texts) -> Preparation<'w> {
        workload.coded(Level(6))
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w Texts) -> Preparation<'w> {
        let level = variant.parse().map_err(|_| Unsupported(format!("has no level {variant}")))?;
        workload.coded(Level(level))
    }
}

struct Level(i32);

impl Codec for Level {
    fn compress(&mut self, plain: &[u8], payload: &mut Vec<u8>) {
        payload.resize(compress_bound(plain.len()), 0);
        let length = compress_slice(payload, plain, DeflateConfig::new(self.0)).0.len();
        payload.truncate(length);
    }

    fn decompress(&mut self, payload: &[u8], length: usize, plain: &mut Vec<u8>) -> bool {
        plain.resize(length, 0);
        decompress_slice(plain, payload, InflateConfig::default()).0.len() == length
    }
}
