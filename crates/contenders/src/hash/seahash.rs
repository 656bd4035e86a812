//! SeaHash with its default seeds, in the crate of the same name: four lanes of multiply and
//! xor-shift. Vector of its documentation.

use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone, Copy, Default)]
pub(super) struct SeaHash;

impl HashFunction for SeaHash {
    const META: Meta = Meta {
        name: "seahash",
        origin: Origin::Crate("seahash"),
        link: "https://docs.rs/seahash",
        licence: "MIT",
        ..Meta::of(include_str!("seahash.rs"))
    };

    fn vectors() -> Vec<(u64, u64)> {
        vec![(SeaHash.bytes(b"to be or not to be"), 1_988_685_042_348_123_509)]
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        seahash::hash(bytes)
    }
}
