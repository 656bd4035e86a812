//! Pages on their way out: to stdout, a file, or with `--open` to the browser.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::output;

/// Where a page goes, of commands that show text or a page.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Sheet {
    /// How to show the result
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,

    /// Write it to this file instead of stdout
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,

    /// Show the page in the browser; in place of --format
    #[arg(long, conflicts_with = "format")]
    open: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// For a terminal
    Text,
    /// One self-contained page with plots
    Html,
}

impl Sheet {
    /// Refuses to replace an input.
    ///
    /// # Errors
    /// The input.
    pub(crate) fn ensure_apart(&self, inputs: &[&Path]) -> anyhow::Result<()> {
        output::ensure_files_apart(&[("--output", Some(&*self.output))], inputs)
    }

    /// Whether stdout is the page, which nothing else may follow.
    pub(crate) fn is_page_on_stdout(&self) -> bool {
        self.format == Form::Html && self.output == Path::new("-")
    }

    /// Writes whichever was asked for.
    pub(crate) fn show(
        &self,
        text: impl FnOnce() -> String,
        page: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        match self.open || self.format == Form::Html {
            true => put(page().as_bytes(), &self.output, self.open),
            false => put_text(&text(), &self.output, 4),
        }
    }
}

/// Writes text to a file, or to stdout, [fitted](output::fitted) to the terminal.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn put_text(text: &str, path: &Path, indent: usize) -> anyhow::Result<()> {
    match path == Path::new("-") {
        true => put(output::fitted(text, indent).as_bytes(), path, false),
        false => put(text.as_bytes(), path, false),
    }
}

/// Writes to stdout for `-`, otherwise to the file. With `open` the browser shows it; a page without a
/// file gets one among the temporary files, whose name is told, for nobody knows when it was read.
///
/// # Errors
/// When it cannot be written, or no browser can be started; a file that was written stays.
pub(crate) fn put(content: &[u8], path: &Path, open: bool) -> anyhow::Result<()> {
    let path = match open && path == Path::new("-") {
        false => path.to_owned(),
        true => {
            let named = tempfile::Builder::new().prefix("fathom-").suffix(".html").tempfile();
            let folder = || format!("no temporary file in {}", std::env::temp_dir().display());
            let named = named.map_err(output::nameless).with_context(folder)?;
            named.into_temp_path().keep()?
        }
    };
    output::write(content, &path)?;
    if open { shown(&path) } else { Ok(()) }
}

/// Shows a file in the browser: `$BROWSER`, or the system's.
pub(crate) fn shown(path: &Path) -> anyhow::Result<()> {
    say!("fathom: the page is {}", path.display());
    let whole = path.canonicalize().with_context(|| path.display().to_string())?;
    opener::open_browser(whole).context("no browser could be started; $BROWSER names one")
}
