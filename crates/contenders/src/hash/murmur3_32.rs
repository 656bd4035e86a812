//! MurmurHash3 x86, 32 bits, seed 0, in the crate `murmur3`, which reads its key through `Read`:
//! the function can be faster than this. Vectors of its users; none came with it.

use super::methods::function;

function! {
    Murmur32, library!("murmur3-32", "murmur3", "MIT OR Apache-2.0", "murmur3_32.rs"), bits 32;
    bytes(bytes) => {
        let mut bytes = bytes;
        // A slice cannot fail to be read.
        murmur3::murmur3_32(&mut bytes, 0).unwrap_or_default().into()
    },
    vectors [(Murmur32.bytes(b""), 0), (Murmur32.bytes(b"hello"), 0x248b_fa47)]
}
