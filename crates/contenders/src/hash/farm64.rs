//! FarmHash fingerprint64 in the crate `farmhash`: CityHash with better mixing of long keys.
//! Vectors of the Go port by its users; on keys up to 16 bytes those of CityHash64.

use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone, Copy, Default)]
pub(super) struct Farm64;

impl HashFunction for Farm64 {
    const META: Meta = Meta {
        name: "farmhash64",
        origin: Origin::Crate("farmhash"),
        link: "https://docs.rs/farmhash",
        licence: "MIT",
        ..Meta::of(include_str!("farm64.rs"))
    };

    fn vectors() -> Vec<(u64, u64)> {
        vec![
            (Farm64.bytes(b""), 0x9ae1_6a3b_2f90_404f),
            (Farm64.bytes(b"a"), 0xb345_4265_b6df_75e3),
            (Farm64.bytes(b"abc"), 0x24a5_b3a0_74e7_f369),
        ]
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        farmhash::fingerprint64(bytes)
    }
}
