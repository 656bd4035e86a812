//! t1ha0, seed 0, in the crate `t1ha`: whichever of its functions is fastest here, with AES
//! instructions where the processor has them. Its values differ between processors; only the
//! empty key has one that is published for all.

use super::methods::function;

function! {
    T1ha0, library!("t1ha0", "t1ha", "Zlib", "t1ha0.rs");
    bytes(bytes) => t1ha::t1ha0(bytes, 0),
    vectors [(T1ha0.bytes(b""), 0)]
}
