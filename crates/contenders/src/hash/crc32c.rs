//! CRC-32C on the hardware instruction, in the crate `crc32c`: a checksum, and linear: keys that
//! differ in the same bits have hashes that differ in the same bits. Vector of the CRC catalogue.

use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone, Copy, Default)]
pub(super) struct Crc32c;

impl HashFunction for Crc32c {
    const META: Meta = Meta {
        name: "crc32c",
        origin: Origin::Crate("crc32c"),
        link: "https://docs.rs/crc32c",
        licence: "Apache-2.0 OR MIT",
        ..Meta::of(include_str!("crc32c.rs"))
    };
    const BITS: u32 = 32;
    const AVALANCHES: bool = false;

    fn vectors() -> Vec<(u64, u64)> {
        vec![(Crc32c.bytes(b"123456789"), 0xe306_9283)]
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        crc32c::crc32c(bytes).into()
    }
}
