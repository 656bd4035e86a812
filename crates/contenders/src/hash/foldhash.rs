//! foldhash, fast variant, with a fixed seed: the default of `hashbrown`. Folded wide
//! multiplications; its authors publish no vectors, because it may change.

use foldhash::fast::FixedState;

use super::methods::by_build_hasher;

by_build_hasher! {
    /// foldhash, fast variant, fixed seed.
    pub FoldHash(FixedState) = FixedState::with_seed(0), true,
    library!("foldhash", "foldhash", "Zlib", "foldhash.rs"),
    flooding Seeded by foldhash::fast::RandomState
}
