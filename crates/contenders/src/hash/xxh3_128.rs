//! XXH3, 128 bits, seed 0, in the crate `xxhash-rust`; the low half is the hash.
//! Vectors of xxHash 0.8.

use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone, Copy, Default)]
pub(super) struct Xxh3Wide;

impl HashFunction for Xxh3Wide {
    const META: Meta = Meta {
        name: "xxh3-128",
        origin: Origin::Crate("xxhash-rust"),
        link: "https://docs.rs/xxhash-rust",
        licence: "BSL-1.0",
        ..Meta::of(include_str!("xxh3_128.rs"))
    };

    fn vectors() -> Vec<(u64, u64)> {
        vec![
            (Xxh3Wide.bytes(b""), 0x6001_c324_468d_497f),
            (Xxh3Wide.bytes(b"abc"), 0x78af_5f94_892f_3950),
        ]
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        xxhash_rust::xxh3::xxh3_128(bytes) as u64
    }
}
