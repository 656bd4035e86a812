//! The crate `bumpalo`: an arena. Blocks are cut off one after another; all go together at the end of
//! the iteration, which is part of the time, and so is that the next one's memory is touched for the first time.

use super::kernel::Passing;
use super::workload::Called;

pub(super) const ARENA: Called<Passing> = Called {
    meta: library!("arena", "bumpalo", "MIT OR Apache-2.0", "arena.rs"; caveat "gives no single block back: memory that is freed stays taken"),
    fresh: Passing::default,
};
