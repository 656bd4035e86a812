//! `fathom history DIR`: the course of every contender over the saved runs of a folder.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use fathom_measure::result::Run;
use fathom_report::history::{courses, slower, text};
use fathom_report::number::times;

use crate::exit::Exit;

/// Show how every contender's time developed over the saved runs in a folder, and where it stepped
///
/// A lasting change is shown with its size and the run that began it, if it is larger than 1 % and so
/// clear that noise which is independent from run to run shows one, in any course, in fewer than one
/// folder of a hundred (a permutation test of ranks; ten runs at least, more for many courses).
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The folder; every `.json` file in it that is a saved run counts
    folder: PathBuf,

    /// End with code 1 if a course is slower since its last step
    #[arg(long)]
    gate: bool,

    /// Steps before this are accepted: a time such as 2026-11-22 or 2026-11-22T10:00:00Z
    #[arg(
        long,
        value_name = "TIME",
        requires = "gate",
        default_value = "",
        hide_default_value = true
    )]
    since: String,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let folder = &options.folder;
    let is_time = options.since.is_empty()
        || options.since.len() >= 4 && options.since.bytes().take(4).all(|b| b.is_ascii_digit());
    anyhow::ensure!(is_time, "--since: {:?} is no time such as 2026-11-22", options.since);
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
    let courses = courses(&runs);
    io::stdout().write_all(text(&courses).as_bytes())?;
    for (course, step) in slower(&courses, &options.since).iter().filter(|_| options.gate) {
        let (factor, when) = (times(step.ratio), &course.points[step.at].0);
        println!("REGRESSION: {} {}: {factor} slower since {when}", course.title, course.id);
        end = Exit::Incomplete;
    }
    Ok(end)
}
