//! MetroHash128, seed 0, in the crate `metrohash`, through its streaming interface; the low half
//! is the hash. Vector of the test code of the original.

use super::methods::function;

function! {
    Metro128, library!("metrohash128", "metrohash", "MIT", "metro128.rs");
    bytes(bytes) => {
        let mut hasher = metrohash::MetroHash128::with_seed(0);
        std::hash::Hasher::write(&mut hasher, bytes);
        std::hash::Hasher::finish(&hasher)
    },
    vectors [(
            Metro128.bytes(b"012345678901234567890123456789012345678901234567890123456789012"),
            0x9b9f_eda4_bfe2_7cc7,
        )]
}
