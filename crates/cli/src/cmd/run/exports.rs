//! `--export-…`: results as hyperfine writes them, into as many files as are asked for.

use std::path::{Path, PathBuf};

use fathom_measure::result::Run;
use fathom_report::hyperfine::{Markup, csv, json, table};

use crate::measuring::{Show, may_be_written};
use crate::output;

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
    pub(super) fn files(&self) -> [(&'static str, Option<&Path>); 5] {
        let Exports { export_json, export_csv, export_markdown, export_asciidoc, export_orgmode } =
            self;
        [
            ("--export-json", export_json.as_deref()),
            ("--export-csv", export_csv.as_deref()),
            ("--export-markdown", export_markdown.as_deref()),
            ("--export-asciidoc", export_asciidoc.as_deref()),
            ("--export-orgmode", export_orgmode.as_deref()),
        ]
    }

    /// Writes all that can be written; the error is of the first that cannot.
    pub(super) fn write(&self, run: &Run, show: &Show) -> anyhow::Result<()> {
        let in_markup = |markup| table(run, markup, show.time_unit(), show.is_by_mean());
        let texts: [&dyn Fn() -> String; 5] = [
            &|| json(run),
            &|| csv(run),
            &|| in_markup(Markup::Markdown),
            &|| in_markup(Markup::Asciidoc),
            &|| in_markup(Markup::Orgmode),
        ];
        let mut end = Ok(());
        for ((_, path), text) in self.files().into_iter().zip(texts) {
            if let Some(path) = path.filter(|path| may_be_written(run, path)) {
                end = end.and(output::write(text().as_bytes(), path));
            }
        }
        end
    }
}
