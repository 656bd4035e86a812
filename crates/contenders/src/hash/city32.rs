//! CityHash32, version 1.1, in the crate `cityhasher`. Vector of `city-test.cc`.

use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone, Copy, Default)]
pub(super) struct City32;

impl HashFunction for City32 {
    const META: Meta = Meta {
        name: "cityhash32",
        origin: Origin::Crate("cityhasher"),
        link: "https://docs.rs/cityhasher",
        licence: "MIT OR Apache-2.0",
        ..Meta::of(include_str!("city32.rs"))
    };
    const BITS: u32 = 32;

    fn vectors() -> Vec<(u64, u64)> {
        vec![(City32.bytes(b""), 0xdc56_d17a)]
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        cityhasher::hash::<u32>(bytes).into()
    }
}
