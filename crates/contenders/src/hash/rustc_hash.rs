//! rustc-hash 2, the hash of the Rust compiler: one multiplication per integer and a rotation at
//! the end. Quick and weak. Vectors of its crate's own tests: it may change.

use rustc_hash::FxBuildHasher;

use super::methods::by_build_hasher;

by_build_hasher! {
    pub(super) RustcHash(FxBuildHasher) = FxBuildHasher, false,
    library!("rustc-hash", "rustc-hash", "Apache-2.0 OR MIT", "rustc_hash.rs"),
    flooding Open by rustc_hash::FxBuildHasher,
    vectors [
        (RustcHash::default().word(1), 12_157_901_119_326_311_915),
        (RustcHash::default().word(u64::MAX), 6_288_842_954_450_348_564),
        (RustcHash::default().bytes(b"uwu"), 7_168_164_714_682_931_527),
        (
            RustcHash::default().bytes(b"These are some bytes for testing rustc_hash."),
            2_349_210_501_944_688_211,
        ),
    ]
}
