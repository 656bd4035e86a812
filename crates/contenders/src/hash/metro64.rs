//! MetroHash64, seed 0, in the crate `metrohash`, through its streaming interface: it has no
//! other. Vector of the test code of the original.

use super::methods::function;

function! {
    Metro64, library!("metrohash64", "metrohash", "MIT", "metro64.rs");
    bytes(bytes) => {
        let mut hasher = metrohash::MetroHash64::with_seed(0);
        std::hash::Hasher::write(&mut hasher, bytes);
        std::hash::Hasher::finish(&hasher)
    },
    vectors [(
            Metro64.bytes(b"012345678901234567890123456789012345678901234567890123456789012"),
            0xad4b_7006_ae3d_756b,
        )]
}
