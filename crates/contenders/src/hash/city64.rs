//! CityHash64, version 1.1, without a seed, in the crate `cityhasher`: kvbench calls it
//! `city::cityhash64`. Vectors of `city-test.cc`.

use super::methods::{city_test, function};

function! {
    City64, library!("cityhash64", "cityhasher", "MIT OR Apache-2.0", "city64.rs");
    bytes(bytes) => cityhasher::hash::<u64>(bytes),
    vectors [
        (City64.bytes(b""), 0x9ae1_6a3b_2f90_404f),
        (City64.bytes(&city_test(5)), 0x831f_448b_dc56_00b3),
        (City64.bytes(&city_test(30)), 0xb747_7bf0_b9ce_37c6),
        (City64.bytes(&city_test(100)), 0x6369_1635_6581_4de6),
    ]
}
