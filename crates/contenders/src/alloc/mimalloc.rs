//! mimalloc, Microsoft's: free lists per page of one size, sharded by thread. With the feature
//! `mimalloc-secure` the build has its hardened form instead: guard pages, encoded free lists,
//! random order.

use fathom_measure::contender::{Meta, Origin};

use super::kernel::MIMALLOC;
use super::workload::Called;

pub(super) const MI_MALLOC: Called<mimalloc::MiMalloc> = Called {
    meta: Meta {
        name: MIMALLOC,
        origin: Origin::Crate("mimalloc"),
        link: "https://github.com/microsoft/mimalloc",
        licence: "MIT",
        feature: if cfg!(feature = "mimalloc-secure") { "secure" } else { "" },
        code: "mimalloc::MiMalloc",
        ..Meta::of(include_str!("mimalloc.rs"))
    },
    fresh: || mimalloc::MiMalloc,
};
