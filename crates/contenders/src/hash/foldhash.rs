//! foldhash, fast variant, with a fixed seed: the default of `hashbrown`. Folded wide
//! multiplications; its authors publish no vectors, because it may change.

use std::hash::{BuildHasher, Hasher};

use fathom_measure::contender::{Meta, Origin};
use foldhash::fast::FixedState;

use super::HashFunction;

/// foldhash, fast variant, fixed seed.
#[derive(Clone)]
pub struct FoldHash(FixedState);

impl Default for FoldHash {
    #[inline]
    fn default() -> FoldHash {
        FoldHash(FixedState::with_seed(0))
    }
}

impl HashFunction for FoldHash {
    const META: Meta = Meta {
        name: "foldhash",
        origin: Origin::Crate("foldhash"),
        link: "https://docs.rs/foldhash",
        licence: "Zlib",
        ..Meta::of(include_str!("foldhash.rs"))
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
