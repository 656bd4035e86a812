//! rustc-hash 2, the hash of the Rust compiler: one multiplication per integer and a rotation at
//! the end. Quick and weak. Its authors publish no vectors, because it may change.

use std::hash::{BuildHasher, Hasher};

use fathom_measure::contender::{Meta, Origin};
use rustc_hash::FxBuildHasher;

use super::HashFunction;

#[derive(Clone)]
pub(super) struct RustcHash(FxBuildHasher);

impl Default for RustcHash {
    #[inline]
    fn default() -> RustcHash {
        RustcHash(FxBuildHasher)
    }
}

impl HashFunction for RustcHash {
    const META: Meta = Meta {
        name: "rustc-hash",
        origin: Origin::Crate("rustc-hash"),
        link: "https://docs.rs/rustc-hash",
        licence: "Apache-2.0 OR MIT",
        ..Meta::of(include_str!("rustc_hash.rs"))
    };
    const AVALANCHES: bool = false;

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
