//! CityHash32, version 1.1, in the crate `cityhasher`. Vectors of `city-test.cc`.

use super::methods::{city_test, function};

function! {
    City32, library!("cityhash32", "cityhasher", "MIT OR Apache-2.0", "city32.rs"), bits 32;
    bytes(bytes) => cityhasher::hash::<u32>(bytes).into(),
    vectors [
        (City32.bytes(b""), 0xdc56_d17a),
        (City32.bytes(&city_test(5)), 0xb042_c047),
        (City32.bytes(&city_test(30)), 0xbd4c_3637),
        (City32.bytes(&city_test(100)), 0x9d90_eaf5),
    ]
}
