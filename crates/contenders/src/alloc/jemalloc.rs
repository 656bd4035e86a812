//! jemalloc: size classes in slabs, a cache per thread, arenas behind it; FreeBSD's allocator.

use fathom_measure::contender::{Meta, Origin};

use super::workload::Direct;

pub(super) struct Jemalloc;

impl Direct for Jemalloc {
    const META: Meta = Meta {
        name: "jemalloc",
        origin: Origin::Crate("tikv-jemallocator"),
        link: "https://github.com/jemalloc/jemalloc",
        licence: "BSD-2-Clause",
        code: "tikv_jemallocator::Jemalloc",
        ..Meta::of(include_str!("jemalloc.rs"))
    };
    type Source = tikv_jemallocator::Jemalloc;

    fn fresh() -> tikv_jemallocator::Jemalloc {
        tikv_jemallocator::Jemalloc
    }
}
