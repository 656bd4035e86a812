//! foldhash, quality variant, with a fixed seed: one more fold at the end, for tables that use few
//! bits of the hash. Its authors publish no vectors, because it may change.

use foldhash::quality::FixedState;

use super::methods::by_build_hasher;

by_build_hasher! {
    pub(super) FoldHashQuality(FixedState) = FixedState::with_seed(0), true,
    library!("foldhash-quality", "foldhash", "Zlib", "foldhash_quality.rs"),
    flooding Seeded by foldhash::quality::RandomState
}
