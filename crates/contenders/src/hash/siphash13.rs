//! SipHash-1-3 in the crate `siphasher`: what the standard library's `HashMap` uses, safe against
//! chosen keys where its own key is secret. Here that key is the one of the published vectors.

use super::methods::function;

function! {
    SipHash13, library!("siphash13", "siphasher", "MIT OR Apache-2.0", "siphash13.rs"),
    flooding Keyed by std::hash::RandomState;
    const KEY: (u64, u64) = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908);
    bytes(bytes) => siphasher::sip::SipHasher13::new_with_keys(KEY.0, KEY.1).hash(bytes),
    vectors [
        (SipHash13.bytes(b""), 0xabac_0158_050f_c4dc),
        (SipHash13.bytes(&[0]), 0xc9f4_9bf3_7d57_ca93),
    ]
}
