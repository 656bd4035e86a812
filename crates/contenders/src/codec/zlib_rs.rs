//! The crate `zlib-rs`: zlib-ng's algorithms in Rust, at levels 1 and 6, in the zlib format.

use fathom_measure::contender::{Contender, Meta, Preparation, Unsupported};
use zlib_rs::{DeflateConfig, InflateConfig, compress_bound, compress_slice, decompress_slice};

use super::workload::Texts;
use crate::library;
use crate::system::Blocks;

pub(super) struct ZlibRs;

impl Contender<Texts> for ZlibRs {
    fn meta(&self) -> Meta {
        Meta { source: include_str!("zlib_rs.rs"), ..library::ZLIB_RS }
    }

    fn variants(&self) -> &'static [&'static str] {
        &["1", "6"]
    }

    fn prepare<'w>(&self, workload: &'w Texts) -> Preparation<'w> {
        workload.blocks(Level(6))
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w Texts) -> Preparation<'w> {
        let level = variant.parse().map_err(|_| Unsupported(format!("has no level {variant}")))?;
        workload.blocks(Level(level))
    }
}

struct Level(i32);

impl Blocks for Level {
    fn bound(&self, plain: usize) -> usize {
        compress_bound(plain)
    }

    fn compress(&mut self, plain: &[u8], into: &mut [u8]) -> Option<usize> {
        Some(compress_slice(into, plain, DeflateConfig::new(self.0)).0.len())
    }

    fn decompress(&mut self, payload: &[u8], into: &mut [u8]) -> Option<usize> {
        Some(decompress_slice(into, payload, InflateConfig::default()).0.len())
    }
}
