//! What is wrong with a cell of a column in memory.

use crate::error::Reason;

/// A cell that cannot be taken: its row in the batch, its column (keys first), why, and as text.
pub(super) struct Fault {
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) reason: Reason,
    pub(super) text: String,
}
