//! MurmurHash3 x64, 128 bits, seed 0, in the crate `murmur3`, which reads its key through `Read`:
//! the function can be faster than this. The low half is the hash.

use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone, Copy, Default)]
pub(super) struct Murmur128;

impl HashFunction for Murmur128 {
    const META: Meta = Meta {
        name: "murmur3-128",
        origin: Origin::Crate("murmur3"),
        link: "https://docs.rs/murmur3",
        licence: "MIT OR Apache-2.0",
        ..Meta::of(include_str!("murmur3_128.rs"))
    };

    fn vectors() -> Vec<(u64, u64)> {
        vec![(Murmur128.bytes(b"hello"), 0xcbd8_a7b3_41bd_9b02)]
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        let mut bytes = bytes;
        // A slice cannot fail to be read.
        murmur3::murmur3_x64_128(&mut bytes, 0).unwrap_or_default() as u64
    }
}
