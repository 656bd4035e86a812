//! aHash with fixed seeds, in the crate of the same name. Its AES path exists only in builds for
//! processors with AES; this build uses its folded multiplications. Its authors publish no
//! vectors, because it may change.

use std::hash::{BuildHasher, Hasher};

use ahash::RandomState;
use fathom_measure::contender::{Meta, Origin};

use super::HashFunction;

#[derive(Clone)]
pub(super) struct AHash(RandomState);

impl Default for AHash {
    #[inline]
    fn default() -> AHash {
        AHash(RandomState::with_seeds(1, 2, 3, 4))
    }
}

impl HashFunction for AHash {
    const META: Meta = Meta {
        name: "ahash",
        origin: Origin::Crate("ahash"),
        link: "https://docs.rs/ahash",
        licence: "MIT OR Apache-2.0",
        ..Meta::of(include_str!("ahash.rs"))
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
