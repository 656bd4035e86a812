//! MetroHash128, seed 0, in the crate `metrohash`, through its streaming interface; the low half
//! is the hash. Vector of the test code of the original.

use std::hash::Hasher;

use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone, Copy, Default)]
pub(super) struct Metro128;

impl HashFunction for Metro128 {
    const META: Meta = Meta {
        name: "metrohash128",
        origin: Origin::Crate("metrohash"),
        link: "https://docs.rs/metrohash",
        licence: "MIT",
        ..Meta::of(include_str!("metro128.rs"))
    };

    fn vectors() -> Vec<(u64, u64)> {
        vec![(
            Metro128.bytes(b"012345678901234567890123456789012345678901234567890123456789012"),
            0x9b9f_eda4_bfe2_7cc7,
        )]
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        let mut hasher = metrohash::MetroHash128::with_seed(0);
        hasher.write(bytes);
        hasher.finish()
    }
}
