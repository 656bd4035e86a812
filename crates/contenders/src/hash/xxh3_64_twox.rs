//! XXH3, 64 bits, seed 0, in the crate `twox-hash`: the same function as `xxh3-64`, with its
//! vectors (AVX2, SSE2, NEON) chosen at run time. Vectors of xxHash 0.8.

use super::methods::function;

function! {
    Xxh3Twox, library!("xxh3-64-twox", "twox-hash", "MIT", "xxh3_64_twox.rs");
    bytes(bytes) => twox_hash::XxHash3_64::oneshot(bytes),
    vectors [
        (Xxh3Twox.bytes(b""), 0x2d06_8005_38d3_94c2),
        (Xxh3Twox.bytes(b"abc"), 0x78af_5f94_892f_3950),
    ]
}
