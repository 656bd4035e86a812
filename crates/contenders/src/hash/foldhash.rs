//! foldhash, fast variant, with a fixed seed: the default of `hashbrown`. Folded wide
//! multiplications; its authors publish no vectors, because it may change.

use fathom_measure::contender::{Meta, Origin};
use foldhash::fast::FixedState;

use super::methods::by_build_hasher;

by_build_hasher! {
    /// foldhash, fast variant, fixed seed.
    pub FoldHash(FixedState) = FixedState::with_seed(0), true,
    Meta {
        name: "foldhash",
        origin: Origin::Crate("foldhash"),
        link: "https://docs.rs/foldhash",
        licence: "Zlib",
        ..Meta::of(include_str!("foldhash.rs"))
    }
}
