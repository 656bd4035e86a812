//! t1ha2 at once, seed 0, in the crate `t1ha`: the portable function with a full avalanche.
//! Vectors of its self-check.

use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone, Copy, Default)]
pub(super) struct T1ha2;

impl HashFunction for T1ha2 {
    const META: Meta = Meta {
        name: "t1ha2",
        origin: Origin::Crate("t1ha"),
        link: "https://docs.rs/t1ha",
        licence: "Zlib",
        ..Meta::of(include_str!("t1ha2.rs"))
    };

    fn vectors() -> Vec<(u64, u64)> {
        vec![(T1ha2.bytes(b""), 0), (t1ha::t1ha2_atonce(b"", u64::MAX), 0x772c_7311_be32_ff42)]
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        t1ha::t1ha2_atonce(bytes, 0)
    }
}
