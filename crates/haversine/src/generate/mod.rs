//! The course's generator of test files: the same bytes and the same answers for the same method,
//! seed and count, with any number of threads.
//!
//! Knows nothing of how the files are read.

mod numbers;
mod pairs;
pub mod reference;
mod write;

pub use numbers::Numbers;
pub use pairs::{Method, Pairs};
pub use write::{PAIRS_LIMIT, write};
