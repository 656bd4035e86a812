//! snmalloc, Microsoft Research's: blocks freed by another thread go back to their owner in batches
//! of messages.

use fathom_measure::contender::{Meta, Origin};

use super::workload::Called;

pub(super) const SNMALLOC: Called<snmalloc_rs::SnMalloc> = Called {
    meta: Meta {
        name: "snmalloc",
        origin: Origin::Crate("snmalloc-rs"),
        link: "https://github.com/microsoft/snmalloc",
        licence: "MIT",
        code: "snmalloc_rs::SnMalloc",
        ..Meta::of(include_str!("snmalloc.rs"))
    },
    fresh: || snmalloc_rs::SnMalloc,
};
