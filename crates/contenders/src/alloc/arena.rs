//! The crate `bumpalo`: an arena. Blocks are cut off one after another; all go together at the end of
//! the iteration, which is part of the time: the bound for everything that frees block by block.

use fathom_measure::contender::{Meta, Origin};

use super::kernel::Passing;
use super::workload::Direct;

pub(super) struct Arena;

impl Direct for Arena {
    const META: Meta = Meta {
        name: "arena",
        origin: Origin::Crate("bumpalo"),
        link: "https://docs.rs/bumpalo",
        licence: "MIT OR Apache-2.0",
        caveat: "gives no single block back: memory that is freed stays taken",
        ..Meta::of(include_str!("arena.rs"))
    };
    type Source = Passing;

    fn fresh() -> Passing {
        Passing::default()
    }
}
