//! snmalloc, Microsoft Research's: blocks freed by another thread go back to their owner in batches
//! of messages.

use fathom_measure::contender::{Meta, Origin};

use super::workload::Direct;

pub(super) struct Snmalloc;

impl Direct for Snmalloc {
    const META: Meta = Meta {
        name: "snmalloc",
        origin: Origin::Crate("snmalloc-rs"),
        link: "https://github.com/microsoft/snmalloc",
        licence: "MIT",
        code: "snmalloc_rs::SnMalloc",
        ..Meta::of(include_str!("snmalloc.rs"))
    };
    type Source = snmalloc_rs::SnMalloc;

    fn fresh() -> snmalloc_rs::SnMalloc {
        snmalloc_rs::SnMalloc
    }
}
