//! FarmHash fingerprint32 in the crate `farmhash`: portable, and fixed for all time.
//! On short keys it is CityHash32, whose vector it must reproduce.

use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone, Copy, Default)]
pub(super) struct Farm32;

impl HashFunction for Farm32 {
    const META: Meta = Meta {
        name: "farmhash32",
        origin: Origin::Crate("farmhash"),
        link: "https://docs.rs/farmhash",
        licence: "MIT",
        ..Meta::of(include_str!("farm32.rs"))
    };
    const BITS: u32 = 32;

    fn vectors() -> Vec<(u64, u64)> {
        vec![(Farm32.bytes(b""), 0xdc56_d17a)]
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        farmhash::fingerprint32(bytes).into()
    }
}
