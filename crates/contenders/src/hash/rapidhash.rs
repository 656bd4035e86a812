//! rapidhash V3 with its default seed, in the crate of the same name: the successor of wyhash,
//! one wide multiplication per 16 bytes.
//!
//! Its authors publish no vectors for version 3; the crate tests itself against their C code.

use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone, Copy, Default)]
pub(super) struct RapidHash;

impl HashFunction for RapidHash {
    const META: Meta = Meta {
        name: "rapidhash",
        origin: Origin::Crate("rapidhash"),
        link: "https://docs.rs/rapidhash",
        licence: "MIT OR Apache-2.0",
        ..Meta::of(include_str!("rapidhash.rs"))
    };

    fn vectors() -> Vec<(u64, u64)> {
        Vec::new()
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        rapidhash::v3::rapidhash_v3(bytes)
    }
}
