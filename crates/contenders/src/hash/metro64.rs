//! MetroHash64, seed 0, in the crate `metrohash`, through its streaming interface: it has no
//! other. Vector of the test code of the original.

use std::hash::Hasher;

use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone, Copy, Default)]
pub(super) struct Metro64;

impl HashFunction for Metro64 {
    const META: Meta = Meta {
        name: "metrohash64",
        origin: Origin::Crate("metrohash"),
        link: "https://docs.rs/metrohash",
        licence: "MIT",
        ..Meta::of(include_str!("metro64.rs"))
    };

    fn vectors() -> Vec<(u64, u64)> {
        vec![(
            Metro64.bytes(b"012345678901234567890123456789012345678901234567890123456789012"),
            0xad4b_7006_ae3d_756b,
        )]
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        let mut hasher = metrohash::MetroHash64::with_seed(0);
        hasher.write(bytes);
        hasher.finish()
    }
}
