//! XXH3, 128 bits, seed 0, in the crate `xxhash-rust`; the low half is the hash.
//! Vectors of xxHash 0.8.

use super::methods::function;

function! {
    Xxh3Wide, library!("xxh3-128", "xxhash-rust", "BSL-1.0", "xxh3_128.rs"; feature "xxh3");
    bytes(bytes) => xxhash_rust::xxh3::xxh3_128(bytes) as u64,
    vectors [
        (Xxh3Wide.bytes(b""), 0x6001_c324_468d_497f),
        (Xxh3Wide.bytes(b"abc"), 0x78af_5f94_892f_3950),
    ]
}
