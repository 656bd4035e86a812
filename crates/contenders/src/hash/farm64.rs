//! FarmHash fingerprint64 in the crate `farmhash`: CityHash with better mixing of long keys.
//! Vectors of the Go port by its users; on keys up to 16 bytes those of CityHash64.

use super::methods::function;

function! {
    Farm64, library!("farmhash64", "farmhash", "MIT", "farm64.rs");
    bytes(bytes) => farmhash::fingerprint64(bytes),
    vectors [
        (Farm64.bytes(b""), 0x9ae1_6a3b_2f90_404f),
        (Farm64.bytes(b"a"), 0xb345_4265_b6df_75e3),
        (Farm64.bytes(b"abc"), 0x24a5_b3a0_74e7_f369),
    ]
}
