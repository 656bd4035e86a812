//! foldhash, quality variant, with a fixed seed: one more fold at the end, for tables that use few
//! bits of the hash. Its authors publish no vectors, because it may change.

use std::hash::{BuildHasher, Hasher};

use fathom_measure::contender::{Meta, Origin};
use foldhash::quality::FixedState;

use super::HashFunction;

#[derive(Clone)]
pub(super) struct FoldHashQuality(FixedState);

impl Default for FoldHashQuality {
    #[inline]
    fn default() -> FoldHashQuality {
        FoldHashQuality(FixedState::with_seed(0))
    }
}

impl HashFunction for FoldHashQuality {
    const META: Meta = Meta {
        name: "foldhash-quality",
        origin: Origin::Crate("foldhash"),
        link: "https://docs.rs/foldhash",
        licence: "Zlib",
        ..Meta::of(include_str!("foldhash_quality.rs"))
    };

    fn vectors() -> Vec<(u64, u64)> {
        Vec::new()
    }

    #[inline]
    fn bytes(&self, bytes: &[u8]) -> u64 {
        let mut hasher = self.0.build_hasher();
        hasher.write(bytes);
        hasher.finish()
    }

    #[inline]
    fn word(&self, word: u64) -> u64 {
        let mut hasher = self.0.build_hasher();
        hasher.write_u64(word);
        hasher.finish()
    }
}
