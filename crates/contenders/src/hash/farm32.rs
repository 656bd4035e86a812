//! FarmHash fingerprint32 in the crate `farmhash`: portable, and fixed for all time.
//! Vectors of the Go port by its users; the empty key has CityHash32's.

use super::methods::function;

function! {
    Farm32, library!("farmhash32", "farmhash", "MIT", "farm32.rs"), bits 32;
    bytes(bytes) => farmhash::fingerprint32(bytes).into(),
    vectors [
        (Farm32.bytes(b""), 0xdc56_d17a),
        (Farm32.bytes(b"hello world"), 0x19a7_581a),
        (Farm32.bytes(b"size:  a.out:  bad magic"), 0xc624_6b8d),
        (Farm32.bytes(b"Discard medicine more than two years old."), 0xe273_108f),
    ]
}
