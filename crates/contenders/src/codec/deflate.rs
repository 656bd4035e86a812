//! The crate `miniz_oxide`: deflate in safe Rust, at levels 1 and 6, in the zlib format.

use fathom_measure::contender::{Meta, Path, Unsupported};
use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::decompress_slice_iter_to_slice;

use super::workload::{Codec, Texts};
use crate::several::Several;

pub(super) const DEFLATE: Several<Texts> = Several {
    meta: Meta {
        name: "miniz-oxide",
        hardware: Path::portable,
        ..Meta::of_crate("miniz_oxide", "MIT OR Zlib OR Apache-2.0", include_str!("deflate.rs"))
    },
    ways: &["1", "6"],
    usual: "6",
    prepare: |variant, workload| {
        let level = variant.parse().map_err(|_| Unsupported(format!("has no level {variant}")))?;
        workload.coded(Level(level))
    },
};

struct Level(u8);

impl Codec for Level {
    fn compress(&mut self, plain: &[u8], payload: &mut Vec<u8>) {
        *payload = compress_to_vec_zlib(plain, self.0);
    }

    fn decompress(&mut self, payload: &[u8], plain: &mut [u8]) -> bool {
        // A zlib header at the start, the checksum looked at.
        decompress_slice_iter_to_slice(plain, [payload].into_iter(), true, false) == Ok(plain.len())
    }
}
