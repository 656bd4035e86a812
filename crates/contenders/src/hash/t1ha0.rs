//! t1ha0, seed 0, in the crate `t1ha`: whichever of its functions is fastest here, with AES
//! instructions where the processor has them. Its values differ between processors; only the
//! empty key has one that is published for all.

use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone, Copy, Default)]
pub(super) struct T1ha0;

impl HashFunction for T1ha0 {
    const META: Meta = Meta {
        name: "t1ha0",
        origin: Origin::Crate("t1ha"),
        link: "https://docs.rs/t1ha",
        licence: "Zlib",
        ..Meta::of(include_str!("t1ha0.rs"))
    };

    fn vectors() -> Vec<(u64, u64)> {
        vec![(T1ha0.bytes(b""), 0)]
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        t1ha::t1ha0(bytes, 0)
    }
}
