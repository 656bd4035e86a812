//! CityHash128, version 1.1, in the crate `cityhash-rs`; the low half is the hash.
//! Vectors of `city-test.cc`.

use super::methods::{city_test, function};

function! {
    City128, library!("cityhash128", "cityhash-rs", "MIT OR Apache-2.0", "city128.rs");
    bytes(bytes) => cityhash_rs::cityhash_110_128(bytes) as u64,
    vectors [
        (cityhash_rs::cityhash_110_128(b"") as u64, 0x3cb5_40c3_92e5_1e29),
        ((cityhash_rs::cityhash_110_128(b"") >> 64) as u64, 0x3df0_9dfc_64c0_9a2b),
        (City128.bytes(&city_test(5)), 0xd2b1_1b20_81ae_b002),
        (City128.bytes(&city_test(30)), 0x0036_2976_82b6_4b67),
        (City128.bytes(&city_test(100)), 0xd598_3cc9_3a9d_126a),
    ]
}
