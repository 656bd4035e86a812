//! The result as a Parquet or Arrow file, each column of one type; in builds with the feature `tables`.

use std::io::IsTerminal;
use std::path::Path;

use super::{Format, Options};

#[cfg(feature = "tables")]
mod written;

#[cfg(feature = "tables")]
pub(super) use written::{arrow, parquet};

/// What is wrong with how such a file was asked for.
pub(super) fn mistake(options: &Options) -> Option<String> {
    let format = match options.format {
        Some(Format::Parquet) => "parquet",
        Some(Format::Arrow) => "arrow",
        _ => return None,
    };
    if !cfg!(feature = "tables") {
        return Some(format!(
            "--format {format}: this fathom was built without the feature `tables`, which writes it: \
             cargo build --features tables"
        ));
    }
    let is_shown = options.output == Path::new("-") && std::io::stdout().is_terminal();
    is_shown.then(|| format!("--format {format} is not for a terminal: -o FILE, or a pipe"))
}

/// Refused before anything was read.
#[cfg(not(feature = "tables"))]
pub(super) fn parquet(
    _: &[fathom_aggregate::Column],
    _: &fathom_aggregate::Layout,
) -> anyhow::Result<Vec<u8>> {
    anyhow::bail!("a build without the feature `tables` writes no tables")
}

#[cfg(not(feature = "tables"))]
pub(super) use parquet as arrow;
