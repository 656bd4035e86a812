//! XXH3, 64 bits, seed 0, in the crate `xxhash-rust`: kvbench calls it `XX3_64bits`.
//!
//! Wide multiplications up to 240 bytes, vector lanes above; the vectors are chosen when the
//! program is compiled, so this build uses SSE2 (x86-64) or NEON. Vectors of xxHash 0.8.

use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone, Copy, Default)]
pub(super) struct Xxh3;

impl HashFunction for Xxh3 {
    const META: Meta = Meta {
        name: "xxh3-64",
        origin: Origin::Crate("xxhash-rust"),
        link: "https://docs.rs/xxhash-rust",
        licence: "BSL-1.0",
        ..Meta::of(include_str!("xxh3_64.rs"))
    };

    fn vectors() -> Vec<(u64, u64)> {
        vec![(Xxh3.bytes(b""), 0x2d06_8005_38d3_94c2), (Xxh3.bytes(b"abc"), 0x78af_5f94_892f_3950)]
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        xxhash_rust::xxh3::xxh3_64(bytes)
    }
}
