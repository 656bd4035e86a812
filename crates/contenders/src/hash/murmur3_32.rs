//! MurmurHash3 x86, 32 bits, seed 0, in the crate `murmur3`, which reads its key through `Read`:
//! the function can be faster than this. Vectors of its users; none came with it.

use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone, Copy, Default)]
pub(super) struct Murmur32;

impl HashFunction for Murmur32 {
    const META: Meta = Meta {
        name: "murmur3-32",
        origin: Origin::Crate("murmur3"),
        link: "https://docs.rs/murmur3",
        licence: "MIT OR Apache-2.0",
        ..Meta::of(include_str!("murmur3_32.rs"))
    };
    const BITS: u32 = 32;

    fn vectors() -> Vec<(u64, u64)> {
        vec![(Murmur32.bytes(b""), 0), (Murmur32.bytes(b"hello"), 0x248b_fa47)]
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        let mut bytes = bytes;
        // A slice cannot fail to be read.
        murmur3::murmur3_32(&mut bytes, 0).unwrap_or_default().into()
    }
}
