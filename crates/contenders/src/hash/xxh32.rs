//! XXH32, seed 0, in the crate `xxhash-rust`: four 32-bit lanes, made for 32-bit processors.
//! Vectors of the xxHash specification.

use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone, Copy, Default)]
pub(super) struct Xxh32;

impl HashFunction for Xxh32 {
    const META: Meta = Meta {
        name: "xxh32",
        origin: Origin::Crate("xxhash-rust"),
        link: "https://docs.rs/xxhash-rust",
        licence: "BSL-1.0",
        ..Meta::of(include_str!("xxh32.rs"))
    };
    const BITS: u32 = 32;

    fn vectors() -> Vec<(u64, u64)> {
        vec![(Xxh32.bytes(b""), 0x02cc_5d05), (Xxh32.bytes(b"abc"), 0x32d1_53ff)]
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        xxhash_rust::xxh32::xxh32(bytes, 0).into()
    }
}
