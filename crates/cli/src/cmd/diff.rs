//! `fathom diff OLD NEW`: two saved runs compared.

use std::io::{self, Write};
use std::path::PathBuf;

use fathom_measure::result::Run;
use fathom_report::diff::diff;

use crate::exit::Exit;

/// Compare two saved runs, honest about their not being interleaved
///
/// Where both runs share a baseline, ratios to it are compared, otherwise times. Ends with code 1
/// when something became slower or failed.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The earlier run
    old: PathBuf,

    /// The later run
    new: PathBuf,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let diff = diff(&Run::read(&options.old)?, &Run::read(&options.new)?);
    io::stdout().write_all(diff.text().as_bytes())?;
    Ok(if diff.is_worse() { Exit::Incomplete } else { Exit::Done })
}
