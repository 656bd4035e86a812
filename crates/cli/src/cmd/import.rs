//! `fathom import FILE…`: results of other harnesses as a saved run.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use fathom_measure::result::{Build, Case};
use fathom_report::escape;
use fathom_report::import::{Imported, criterion, import};
use fathom_report::view::processor;
use serde_json::Value;

use crate::exit::Exit;
use crate::measuring::{new_run, save, utc};
use crate::output;

/// Turn results of criterion, Google Benchmark, hyperfine or pytest-benchmark into a saved run
///
/// For `report`, `diff` and `history`. These harnesses do not interleave, so nothing is compared within
/// such a run; between two of them `diff` gives verdicts about hyperfine's commands only, whose every
/// run is a process of its own. Benchmarks that come without samples have no spread; those that failed or were
/// skipped, and of hyperfine's commands (with `--ignore-failure`) the runs that failed, are told and left out, and
/// the code is 1.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// JSON files, or the folder `target/criterion`
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Where to save the run: a file, or a folder in which it gets a name; `NAME/` makes the folder [default: stdout]
    #[arg(long, value_name = "PATH")]
    save: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let inputs: Vec<&Path> = options.files.iter().map(PathBuf::as_path).collect();
    output::ensure_files_apart(&[("--save", options.save.as_deref())], &inputs)?;
    let (mut run, mut machines) = (new_run()?, Vec::new());
    let (mut without, mut started, mut failures) = (0, String::new(), Vec::new());
    let mut end = Exit::Done;
    for path in &options.files {
        for (found, file) in read(path)? {
            without += found.without_samples;
            if found.left_out > 0 {
                end = Exit::Incomplete;
            }
            started = started.max(when(found.started.as_deref(), &file)?);
            machines.push(found.machine);
            run.cases.extend(found.cases);
            failures.extend(found.failures);
        }
    }
    run.cases.iter_mut().for_each(Case::judge);
    // What measured is not what imports.
    run.build = Build::default();
    run.level.clear();
    run.machine = machines.last().cloned().unwrap_or_default();
    let differ = |two: &[Value]| {
        // Google Benchmark tells no processor.
        let same = ["host_name", "num_cpus"].iter().all(|key| two[0][*key] == two[1][*key]);
        two[0].is_null() != two[1].is_null() || processor(&two[0]) != processor(&two[1]) || !same
    };
    if machines.windows(2).any(differ) {
        run.machine = Value::Null;
        let said = "the files are of several machines, or not all say of which: none is told";
        run.notes.push(said.into());
    }
    run.program = run.cases.first().map_or_else(String::new, |case| case.source.clone());
    run.started = started;
    run.notes
        .push("imported: nothing was interleaved, so nothing is compared within this run".into());
    if without > 0 {
        let total = run.cases.len();
        run.notes.push(format!(
            "{without} of {total} benchmarks came without samples: nothing is known about their \
             spread, and there are no verdicts about them"
        ));
    }
    failures.iter().for_each(|failure| say!("fathom: {}", escape::line(failure)));
    run.notes.extend(failures);
    match &options.save {
        Some(path) => save(&run, Some(path))?,
        None => output::print(run.to_json()?)?,
    }
    Ok(end)
}

/// What a file, or criterion's folder, has, each with the file that has its time.
fn read(path: &Path) -> anyhow::Result<Vec<(Imported, PathBuf)>> {
    let text = |path: &Path| fs::read(path).with_context(|| path.display().to_string());
    if !path.is_dir() {
        let name = path.display().to_string();
        return Ok(vec![(import(&name, &text(path)?)?, path.to_owned())]);
    }
    let mut samples = Vec::new();
    samples_in(path, &mut samples)?;
    ensure!(!samples.is_empty(), "{}: no new/sample.json of criterion in it", path.display());
    samples.sort();
    let read = |sample: PathBuf| {
        let folder = sample.parent().unwrap_or(path).to_owned();
        let name = folder.display().to_string();
        let found = criterion(&name, &text(&sample)?, &text(&folder.join("benchmark.json"))?)?;
        Ok((found, sample))
    };
    samples.into_iter().map(read).collect()
}

/// Every `new/sample.json` below a folder, and where one should be, for there is a benchmark.
fn samples_in(folder: &Path, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        // No link is followed, so none leads in a circle.
        if !entry.file_type()?.is_dir() {
            continue;
        }
        let sample = entry.path().join("sample.json");
        let is_there = || sample.is_file() || sample.with_file_name("benchmark.json").is_file();
        match entry.file_name() == "new" && is_there() {
            true => found.push(sample),
            false => samples_in(&entry.path(), found)?,
        }
    }
    Ok(())
}

/// The time a file names, in UTC; where it names none, that of its last change, which is told if it should name one.
fn when(named: Option<&str>, file: &Path) -> anyhow::Result<String> {
    let civil = |named: &str| {
        let time: jiff::civil::DateTime = named.parse().ok()?;
        time.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|time| time.timestamp())
    };
    let time = |named: &str| named.parse::<jiff::Timestamp>().ok().or_else(|| civil(named));
    if let Some(time) = named.and_then(time) {
        return Ok(utc(time));
    }
    if let Some(named) = named {
        let said =
            if named.is_empty() { "no date" } else { &format!("no time as date: {named:?}") };
        let said = format!("{}: {said}; the file's last change is taken", file.display());
        say!("fathom: {}", escape::line(&said));
    }
    let changed = fs::metadata(file)?.modified()?;
    Ok(utc(jiff::Timestamp::try_from(changed)?))
}
