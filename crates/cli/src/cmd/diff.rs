//! `fathom diff OLD NEW`: two saved runs compared.

use std::path::PathBuf;

use fathom_report::diff::diff;
use fathom_report::html;

use crate::exit::Exit;
use crate::saved;
use crate::sheet::Sheet;

/// Compare two saved runs, honest about their not being interleaved
///
/// Where both runs share a baseline, ratios to it are compared, otherwise times. Ends with code 1
/// when something became slower or failed, when the later run lacks something of the earlier one, and
/// when nothing could be judged, as with too few rounds (unless what failed before no longer does).
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The earlier run
    old: PathBuf,

    /// The later run
    new: PathBuf,

    #[command(flatten)]
    sheet: Sheet,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    options.sheet.ensure_apart(&[&options.old, &options.new])?;
    let diff = diff(&saved::read(&options.old)?, &saved::read(&options.new)?);
    let names = [&options.old, &options.new].map(|path| path.display().to_string());
    let page = || html::diff::page(&diff, [&names[0], &names[1]]);
    options.sheet.show(|| diff.text(), page)?;
    Ok(if diff.is_worse() || diff.is_incomplete() { Exit::Incomplete } else { Exit::Done })
}
