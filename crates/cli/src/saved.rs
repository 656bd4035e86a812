//! Saved runs: one, or those of a folder.

use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context, ensure};
use fathom_measure::result::Run;
use fathom_report::escape;

use crate::exit::Exit;
use crate::measuring::utc;

/// Every `.json` file in `folder` that is a saved run, by name; others are told and left out, and the end
/// says so.
///
/// # Errors
/// A folder that cannot be read, or has no run in it.
pub(crate) fn runs(folder: &Path) -> anyhow::Result<(Vec<(PathBuf, Run)>, Exit)> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in entries {
        let path = entry?.path();
        // Whatever its name: a folder is no run.
        if path.to_string_lossy().ends_with(".json") && !path.is_dir() {
            paths.push(path);
        }
    }
    paths.sort();
    let (mut runs, mut left_out) = (Vec::new(), Vec::new());
    for path in paths {
        match read_file(&path) {
            Ok(run) => runs.push((path, run)),
            Err(error) => left_out.push(error),
        }
    }
    let end = if left_out.is_empty() { Exit::Done } else { Exit::Incomplete };
    let last = left_out.pop_if(|_| runs.is_empty());
    for error in left_out {
        say!("fathom: left out: {}", escape::line(&format!("{error:#}")));
    }
    let none = || format!("{}: no saved runs", folder.display());
    match last {
        Some(error) => return Err(error.context(none())),
        None => ensure!(!runs.is_empty(), none()),
    }
    Ok((runs, end))
}

/// A run; nothing else is opened than a file, for nobody may ever write to a pipe.
fn read_file(path: &Path) -> anyhow::Result<Run> {
    let is_file = !path.exists() || path.is_file();
    ensure!(is_file, "{}: no file", path.display());
    read(path)
}

/// A run, its start in UTC and to the second whatever it is in the file: then the order of their texts is that of the times.
///
/// # Errors
/// As [`Run::read`] has them, and a start that is no time.
pub(crate) fn read(path: &Path) -> anyhow::Result<Run> {
    let mut run = Run::read(path)?;
    let time = run.started.parse::<jiff::Timestamp>().map_err(|_| {
        let (path, started) = (path.display(), &run.started);
        let said = format!(
            "{path}: not a saved run: started: {started:?} is no time such as 2026-11-22T10:00:00Z"
        );
        io::Error::new(io::ErrorKind::InvalidData, said)
    })?;
    run.started = utc(time);
    Ok(run)
}
