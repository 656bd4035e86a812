//! XXH64, seed 0, in the crate `xxhash-rust`: four 64-bit lanes of multiply and rotate.
//! Vectors of the xxHash specification.

use super::methods::function;

function! {
    Xxh64, library!("xxh64", "xxhash-rust", "BSL-1.0", "xxh64.rs"; feature "xxh64");
    bytes(bytes) => xxhash_rust::xxh64::xxh64(bytes, 0),
    vectors [
        (Xxh64.bytes(b""), 0xef46_db37_51d8_e999),
        (Xxh64.bytes(b"abc"), 0x44bc_2cf5_ad77_0999),
    ]
}
