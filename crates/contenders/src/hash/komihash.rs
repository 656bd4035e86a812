//! komihash 5, seed 0, in the crate of the same name: wide multiplications, eight lanes for long
//! keys. Vectors of the README of the original.

use super::methods::function;

function! {
    KomiHash, library!("komihash", "komihash", "MIT", "komihash.rs");
    bytes(bytes) => komihash::v5::komihash(bytes, 0),
    vectors [(KomiHash.bytes(b"This is a 32-byte tester string."), 0x8e92_e061_2783_66d2)]
}
