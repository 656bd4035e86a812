//! t1ha2 at once, seed 0, in the crate `t1ha`: the portable function with a full avalanche. Reads beside a key as t1ha1 does.
//! Vectors of its self-check.

use super::methods::{amid, function};

function! {
    T1ha2, library!("t1ha2", "t1ha", "Zlib", "t1ha2.rs"), within amid;
    bytes(bytes) => t1ha::t1ha2_atonce(bytes, 0),
    vectors [(T1ha2.bytes(b""), 0), (t1ha::t1ha2_atonce(b"", u64::MAX), 0x772c_7311_be32_ff42)]
}
