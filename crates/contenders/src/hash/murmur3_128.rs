//! MurmurHash3 x64, 128 bits, seed 0, in the crate `murmur3`, which reads its key through `Read`:
//! the function can be faster than this. The low half is the hash.

use super::methods::function;

function! {
    Murmur128, library!("murmur3-128", "murmur3", "MIT OR Apache-2.0", "murmur3_128.rs");
    bytes(bytes) => {
        let mut bytes = bytes;
        // A slice cannot fail to be read.
        murmur3::murmur3_x64_128(&mut bytes, 0).unwrap_or_default() as u64
    },
    vectors [(Murmur128.bytes(b"hello"), 0xcbd8_a7b3_41bd_9b02)]
}
