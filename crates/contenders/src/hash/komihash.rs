//! komihash 5, seed 0, in the crate of the same name: wide multiplications, eight lanes for long
//! keys. Vectors of the README of the original.

use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone, Copy, Default)]
pub(super) struct KomiHash;

impl HashFunction for KomiHash {
    const META: Meta = Meta {
        name: "komihash",
        origin: Origin::Crate("komihash"),
        link: "https://docs.rs/komihash",
        licence: "MIT",
        ..Meta::of(include_str!("komihash.rs"))
    };

    fn vectors() -> Vec<(u64, u64)> {
        vec![(KomiHash.bytes(b"This is a 32-byte tester string."), 0x8e92_e061_2783_66d2)]
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        komihash::v5::komihash(bytes, 0)
    }
}
