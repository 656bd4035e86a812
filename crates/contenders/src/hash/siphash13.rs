//! SipHash-1-3 in the crate `siphasher`: what the standard library's `HashMap` uses, safe against
//! chosen keys where its own key is secret. Here that key is the one of the published vectors.

use fathom_measure::contender::{Meta, Origin};
use siphasher::sip::SipHasher13;

use super::HashFunction;

const KEY: (u64, u64) = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908);

#[derive(Clone, Copy, Default)]
pub(super) struct SipHash13;

impl HashFunction for SipHash13 {
    const META: Meta = Meta {
        name: "siphash13",
        origin: Origin::Crate("siphasher"),
        link: "https://docs.rs/siphasher",
        licence: "MIT OR Apache-2.0",
        ..Meta::of(include_str!("siphash13.rs"))
    };

    fn vectors() -> Vec<(u64, u64)> {
        vec![
            (SipHash13.bytes(b""), 0xabac_0158_050f_c4dc),
            (SipHash13.bytes(&[0]), 0xc9f4_9bf3_7d57_ca93),
        ]
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        SipHasher13::new_with_keys(KEY.0, KEY.1).hash(bytes)
    }
}
