//! t1ha1, little-endian, seed 0, in the crate `t1ha`: the portable function of 2017 that kvbench
//! calls `t1ha::t1ha`. Its authors call its avalanche weak. Vectors of its self-check.

use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone, Copy, Default)]
pub(super) struct T1ha1;

impl HashFunction for T1ha1 {
    const META: Meta = Meta {
        name: "t1ha1",
        origin: Origin::Crate("t1ha"),
        link: "https://docs.rs/t1ha",
        licence: "Zlib",
        ..Meta::of(include_str!("t1ha1.rs"))
    };
    const AVALANCHES: bool = false;

    fn vectors() -> Vec<(u64, u64)> {
        vec![
            (T1ha1.bytes(b""), 0),
            (t1ha::t1ha1_le(b"", u64::MAX), 0x6a58_0668_d604_8674),
            (T1ha1.bytes(b"abc"), 0xaaf2_9d91_6709_fed8),
        ]
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        t1ha::t1ha1_le(bytes, 0)
    }
}
