//! `--export-…`: results as hyperfine writes them, into as many files as are asked for.

use std::io::Write;
use std::path::{Path, PathBuf};

use fathom_measure::result::Run;
use fathom_report::hyperfine::{Markup, csv, json, table};
use fathom_report::number::TimeUnit;

use crate::output::Output;

/// Results in the forms of hyperfine; `-` is stdout.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Exports in the forms of hyperfine")]
pub(super) struct Exports {
    /// Means and every run, in seconds
    #[arg(long, value_name = "FILE")]
    export_json: Option<PathBuf>,

    /// Means, in seconds
    #[arg(long, value_name = "FILE")]
    export_csv: Option<PathBuf>,

    /// A table; its last column is ours: the ratio with its interval
    #[arg(long, value_name = "FILE")]
    export_markdown: Option<PathBuf>,

    /// The same
    #[arg(long, value_name = "FILE")]
    export_asciidoc: Option<PathBuf>,

    /// The same
    #[arg(long, value_name = "FILE")]
    export_orgmode: Option<PathBuf>,
}

impl Exports {
    /// The files, each with its option.
    pub(super) fn files(&self) -> Vec<(&'static str, &Path)> {
        let all = [
            ("--export-json", &self.export_json),
            ("--export-csv", &self.export_csv),
            ("--export-markdown", &self.export_markdown),
            ("--export-asciidoc", &self.export_asciidoc),
            ("--export-orgmode", &self.export_orgmode),
        ];
        all.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?))).collect()
    }

    pub(super) fn write(&self, run: &Run, unit: Option<TimeUnit>) -> anyhow::Result<()> {
        let write = |path: &Option<PathBuf>, text: &dyn Fn() -> String| {
            path.as_deref().map_or(Ok(()), |path| written(path, &text()))
        };
        write(&self.export_json, &|| json(run))?;
        write(&self.export_csv, &|| csv(run))?;
        write(&self.export_markdown, &|| table(run, Markup::Markdown, unit))?;
        write(&self.export_asciidoc, &|| table(run, Markup::Asciidoc, unit))?;
        write(&self.export_orgmode, &|| table(run, Markup::Orgmode, unit))
    }
}

fn written(path: &Path, text: &str) -> anyhow::Result<()> {
    let mut output = Output::create(path)?;
    output.write_all(text.as_bytes())?;
    output.finish()
}
