//! CityHash128, version 1.1, in the crate `cityhash-rs`; the low half is the hash.
//! Vector of `city-test.cc`.

use cityhash_rs::cityhash_110_128;
use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone, Copy, Default)]
pub(super) struct City128;

impl HashFunction for City128 {
    const META: Meta = Meta {
        name: "cityhash128",
        origin: Origin::Crate("cityhash-rs"),
        link: "https://docs.rs/cityhash-rs",
        licence: "MIT OR Apache-2.0",
        ..Meta::of(include_str!("city128.rs"))
    };

    fn vectors() -> Vec<(u64, u64)> {
        vec![
            (cityhash_110_128(b"") as u64, 0x3cb5_40c3_92e5_1e29),
            ((cityhash_110_128(b"") >> 64) as u64, 0x3df0_9dfc_64c0_9a2b),
        ]
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        cityhash_110_128(bytes) as u64
    }
}
