//! XXH3, 64 bits, seed 0, in the crate `twox-hash`: the same function as `xxh3-64`, with its
//! vectors (AVX2, SSE2, NEON) chosen at run time. Vectors of xxHash 0.8.

use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone, Copy, Default)]
pub(super) struct Xxh3Twox;

impl HashFunction for Xxh3Twox {
    const META: Meta = Meta {
        name: "xxh3-64-twox",
        origin: Origin::Crate("twox-hash"),
        link: "https://docs.rs/twox-hash",
        licence: "MIT",
        ..Meta::of(include_str!("xxh3_64_twox.rs"))
    };

    fn vectors() -> Vec<(u64, u64)> {
        vec![
            (Xxh3Twox.bytes(b""), 0x2d06_8005_38d3_94c2),
            (Xxh3Twox.bytes(b"abc"), 0x78af_5f94_892f_3950),
        ]
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        twox_hash::XxHash3_64::oneshot(bytes)
    }
}
