//! t1ha1, little-endian, seed 0, in the crate `t1ha`: the portable function of 2017 that kvbench calls `t1ha::t1ha`. Its authors
//! call its avalanche weak. Reads up to seven bytes beside a key, on its page. Vectors of its self-check.

use super::methods::{amid, function};

function! {
    T1ha1, library!("t1ha1", "t1ha", "Zlib", "t1ha1.rs"), within amid, avalanches false;
    bytes(bytes) => t1ha::t1ha1_le(bytes, 0),
    vectors [
        (T1ha1.bytes(b""), 0),
        (t1ha::t1ha1_le(b"", u64::MAX), 0x6a58_0668_d604_8674),
        (T1ha1.bytes(b"abc"), 0xaaf2_9d91_6709_fed8),
    ]
}
