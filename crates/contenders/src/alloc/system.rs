//! The allocator of the system's C library: glibc's `malloc` on most Linux systems, musl's on some.

use fathom_measure::contender::{Meta, Origin};

use super::kernel::libc_version;
use super::workload::Called;

pub(super) const SYSTEM: Called<std::alloc::System> = Called {
    meta: Meta {
        name: "system",
        origin: Origin::Library("libc", libc_version),
        link: "https://www.gnu.org/software/libc/manual/html_node/The-GNU-Allocator.html",
        licence: "LGPL-2.1-or-later",
        ..Meta::of(include_str!("system.rs"))
    },
    fresh: || std::alloc::System,
};
