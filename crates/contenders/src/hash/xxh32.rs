//! XXH32, seed 0, in the crate `xxhash-rust`: four 32-bit lanes, made for 32-bit processors.
//! Vectors of the xxHash specification.

use super::methods::function;

function! {
    Xxh32, library!("xxh32", "xxhash-rust", "BSL-1.0", "xxh32.rs"; feature "xxh32"), bits 32;
    bytes(bytes) => xxhash_rust::xxh32::xxh32(bytes, 0).into(),
    vectors [(Xxh32.bytes(b""), 0x02cc_5d05), (Xxh32.bytes(b"abc"), 0x32d1_53ff)]
}
