//! Allocators: where blocks of memory come from, and where they go back to.
//!
//! Two ways to compare them. In this family each is called directly, on patterns of allocation.
//! And a whole process runs on one of them when the environment variable `FATHOM_ALLOCATOR` names
//! it, which puts any structure of any family on it; that is decided before `main`, so it takes one
//! process per allocator. `arena` is an upper bound: it never takes anything back.

mod kernel;

pub(crate) use kernel::counter;
pub use kernel::{Allocator, CHOICES, VARIABLE, chosen};
