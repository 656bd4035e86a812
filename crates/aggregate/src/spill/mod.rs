//! More keys than memory: what tables hold goes to disk, and results come from there.
//!
//! ```text
//! thread 1: tables of a column, full ─▶ run ─┐
//! thread 1: the same tables, full    ─▶ run ─┼ k runs of each column, merged by their keys ─▶ pieces ─▶ text
//! thread 2: …                        ─▶ run ─┘  (first into fewer, where there are too many)
//! ```
//!
//! A [run](store::Run) has keys in order, so runs are merged a block of each at a time, whatever the keys are: nothing
//! depends on how hashes spread them. Merging is that of states, which no order or grouping changes
//! ([`crate::Stats::merge`]); so what comes out is what a run without a limit gives, to the last byte.
//! Another order than that of the keys is a second sort of the same kind, of whole rows.
//!
//! What is known of one key has to fit the memory, and a thread's part of the total of all keys, if that is asked for, half
//! of its share.

mod codec;
mod lane;
mod merging;
mod rows;
mod store;

pub use lane::Spilled;
pub(crate) use lane::{Lane, Memory};
pub use store::Spill;
