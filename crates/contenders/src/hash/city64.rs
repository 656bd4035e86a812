//! CityHash64, version 1.1, without a seed, in the crate `cityhasher`: kvbench calls it
//! `city::cityhash64`. Vector of `city-test.cc`.

use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone, Copy, Default)]
pub(super) struct City64;

impl HashFunction for City64 {
    const META: Meta = Meta {
        name: "cityhash64",
        origin: Origin::Crate("cityhasher"),
        link: "https://docs.rs/cityhasher",
        licence: "MIT OR Apache-2.0",
        ..Meta::of(include_str!("city64.rs"))
    };

    fn vectors() -> Vec<(u64, u64)> {
        vec![(City64.bytes(b""), 0x9ae1_6a3b_2f90_404f)]
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        cityhasher::hash::<u64>(bytes)
    }
}
