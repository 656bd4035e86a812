//! `fathom history DIR`: the course of every contender over the saved runs of a folder.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use fathom_measure::result::Run;
use fathom_report::history::{courses, text};

use crate::exit::Exit;

/// Show how every contender's time developed over the saved runs in a folder, and where it stepped
///
/// A lasting change is shown with its size and the run that began it, once it is clearer than chance
/// makes one in a hundred courses (Pettitt's test; 15 runs at least) and larger than 1 %.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The folder; every `.json` file in it that is a saved run counts
    folder: PathBuf,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let folder = &options.folder;
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(".json") {
            paths.push(path);
        }
    }
    paths.sort();
    let (mut runs, mut end) = (Vec::new(), Exit::Done);
    for path in paths {
        match Run::read(&path) {
            Ok(run) => runs.push(run),
            Err(error) => {
                eprintln!("fathom: left out: {:#}", anyhow::Error::from(error));
                end = Exit::Incomplete;
            }
        }
    }
    anyhow::ensure!(!runs.is_empty(), "{}: no saved runs", folder.display());
    io::stdout().write_all(text(&courses(&runs)).as_bytes())?;
    Ok(end)
}
