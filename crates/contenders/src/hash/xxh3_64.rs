//! XXH3, 64 bits, seed 0, in the crate `xxhash-rust`: kvbench calls it `XX3_64bits`.
//!
//! Wide multiplications up to 240 bytes, vector lanes above; the vectors are chosen when the
//! program is compiled, so this build uses SSE2 (x86-64) or NEON. Vectors of xxHash 0.8.

use super::methods::function;

function! {
    Xxh3, library!("xxh3-64", "xxhash-rust", "BSL-1.0", "xxh3_64.rs"; feature "xxh3");
    bytes(bytes) => xxhash_rust::xxh3::xxh3_64(bytes),
    vectors [(Xxh3.bytes(b""), 0x2d06_8005_38d3_94c2), (Xxh3.bytes(b"abc"), 0x78af_5f94_892f_3950)]
}
