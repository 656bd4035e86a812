//! jemalloc: size classes in slabs, a cache per thread, arenas behind it; FreeBSD's allocator.

use fathom_measure::contender::{Meta, Origin};

use super::workload::Called;

pub(super) const JEMALLOC: Called<tikv_jemallocator::Jemalloc> = Called {
    meta: Meta {
        name: "jemalloc",
        origin: Origin::Crate("tikv-jemallocator"),
        link: "https://github.com/jemalloc/jemalloc",
        licence: "BSD-2-Clause",
        code: "tikv_jemallocator::Jemalloc",
        ..Meta::of(include_str!("jemalloc.rs"))
    },
    fresh: || tikv_jemallocator::Jemalloc,
};
