//! XXH64, seed 0, in the crate `xxhash-rust`: four 64-bit lanes of multiply and rotate.
//! Vectors of the xxHash specification.

use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone, Copy, Default)]
pub(super) struct Xxh64;

impl HashFunction for Xxh64 {
    const META: Meta = Meta {
        name: "xxh64",
        origin: Origin::Crate("xxhash-rust"),
        link: "https://docs.rs/xxhash-rust",
        licence: "BSL-1.0",
        ..Meta::of(include_str!("xxh64.rs"))
    };

    fn vectors() -> Vec<(u64, u64)> {
        vec![
            (Xxh64.bytes(b""), 0xef46_db37_51d8_e999),
            (Xxh64.bytes(b"abc"), 0x44bc_2cf5_ad77_0999),
        ]
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        xxhash_rust::xxh64::xxh64(bytes, 0)
    }
}
