//! aHash with fixed seeds, in the crate of the same name. Its AES path exists only in builds for
//! processors with AES; this build uses its folded multiplications. Its authors publish no
//! vectors, because it may change.

use ahash::RandomState;

use super::methods::by_build_hasher;

by_build_hasher! {
    pub(super) AHash(RandomState) = RandomState::with_seeds(1, 2, 3, 4), true,
    library!("ahash", "ahash", "MIT OR Apache-2.0", "ahash.rs"),
    flooding Seeded by ahash::RandomState
}
