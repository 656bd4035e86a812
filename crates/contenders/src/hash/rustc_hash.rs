//! rustc-hash 2, the hash of the Rust compiler: one multiplication per integer and a rotation at
//! the end. Quick and weak. Its authors publish no vectors, because it may change.

use fathom_measure::contender::{Meta, Origin};
use rustc_hash::FxBuildHasher;

use super::methods::by_build_hasher;

by_build_hasher! {
    pub(super) RustcHash(FxBuildHasher) = FxBuildHasher, false,
    Meta {
        name: "rustc-hash",
        origin: Origin::Crate("rustc-hash"),
        link: "https://docs.rs/rustc-hash",
        licence: "Apache-2.0 OR MIT",
        ..Meta::of(include_str!("rustc_hash.rs"))
    }
}
