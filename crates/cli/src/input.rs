//! Opening inputs, with the name of the file in what is said when that fails.

use std::path::Path;

use anyhow::Context;
pub(crate) use fathom_input::{Input, Lines, ZSTANDARD, identity};

/// Opens a file, or standard input for `-`.
///
/// # Errors
/// As [`fathom_input::open`]; names the file.
pub(crate) fn open(path: &Path) -> anyhow::Result<Input> {
    fathom_input::open(path).with_context(|| format!("cannot read {}", path.display()))
}
