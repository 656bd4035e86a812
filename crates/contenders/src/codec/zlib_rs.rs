//! The crate `zlib-rs`: zlib-ng's algorithms in Rust, at levels 1 and 6, in the zlib format.

use fathom_measure::contender::{Meta, Unsupported};
use zlib_rs::{DeflateConfig, InflateConfig, compress_bound, compress_slice, decompress_slice};

use super::workload::Texts;
use crate::library;
use crate::several::Several;
use crate::system::Blocks;

pub(super) const ZLIB_RS: Several<Texts> = Several {
    meta: Meta { source: include_str!("zlib_rs.rs"), ..library::ZLIB_RS },
    ways: &["1", "6"],
    usual: "6",
    prepare: |variant, workload| {
        let level = variant.parse().map_err(|_| Unsupported(format!("has no level {variant}")))?;
        workload.blocks(Level(level))
    },
};

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
