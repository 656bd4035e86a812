//! `fathom report FILE`: a saved run, shown again; or the index of a folder of them.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use fathom_measure::result::Run;
use fathom_report::headline::in_list;
use fathom_report::html::index::{self, Entry};
use fathom_report::table::Look;
use fathom_report::wrap::{padded, places};
use fathom_report::{escape, html, view};

use crate::exit::Exit;
use crate::measuring::{Format, Show, save, show};
use crate::{output, saved, sheet};

/// Show a saved run again, in any format, or judged against another baseline
///
/// Of a folder: the index of its saved runs, newest first. With `--format html` and an `--output` that is
/// a folder, each run gets its page there, and index.html leads to them.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The saved run, or a folder of them
    #[arg(value_name = "FILE")]
    path: PathBuf,

    /// Judge against this contender instead
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,

    #[command(flatten)]
    show: Show,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    options.show.ensure_apart(&[&options.path])?;
    if options.path.is_dir() {
        let said = "and this is a folder";
        ensure!(options.baseline.is_none(), "--baseline is of one run, {said}");
        ensure!(options.show.save.is_none(), "--save is of one run, {said}");
        let tables = "--columns, --time-unit, --sort and --style are of one run's tables";
        ensure!(options.show.has_usual_tables(), "{tables}, {said}");
        return folder(options);
    }
    let mut run = saved::read(&options.path)?;
    if let Some(baseline) = &options.baseline {
        judge_against(baseline, &mut run)?;
    }
    // Whose tables were chosen sees tables.
    let is_plain = options.baseline.is_none() && options.show.is_plain_text();
    match is_plain.then(|| as_shown(&run)).flatten() {
        Some((text, is_wide)) => {
            let Show { output, save: place, .. } = &options.show;
            let saved = save(&run, place.as_deref());
            saved.and(match is_wide {
                true => sheet::put_text(&text, output, output::LABEL),
                false => sheet::put(text.as_bytes(), output, false),
            })?;
        }
        None => show(&run, &options.show)?,
    }
    Ok(Exit::Done)
}

/// Judges all cases anew that have a contender which tables show under this name; others keep their baseline.
fn judge_against(baseline: &str, run: &mut Run) -> anyhow::Result<()> {
    let mut others = Vec::new();
    for case in &mut run.cases {
        match view::named(case).into_iter().find(|(_, name)| name == baseline) {
            // Whoever asks has seen the times.
            Some((number, _)) => {
                case.roles.chosen |= number != case.roles.baseline;
                case.roles.baseline = number;
                case.judge();
            }
            None => others.push(case.title()),
        }
    }
    match &others[..] {
        [] => {}
        [first, ..] if others.len() == run.cases.len() => {
            bail!("{first}: no contender {baseline:?}");
        }
        _ => run.notes.push(format!("{baseline} is not in {}", others.join(", nor in "))),
    }
    // What the command concluded was about its own baseline.
    run.answer = serde_json::Value::Null;
    Ok(())
}

/// What a command with a text of its own showed of its run, and whether that has yet to be fitted to a terminal.
fn as_shown(run: &Run) -> Option<(String, bool)> {
    type Again = fn(&Run) -> Option<String>;
    let commands: &[(Again, bool)] = &[
        // It has code, which stays as it is.
        #[cfg(feature = "kv")]
        (super::kv::again, false),
        (super::cpu::again, true),
    ];
    commands.iter().find_map(|(again, is_wide)| Some((again(run)?, *is_wide)))
}

fn folder(options: &Options) -> anyhow::Result<Exit> {
    let (mut runs, end) = saved::runs(&options.path)?;
    runs.iter_mut().for_each(|(_, run)| *run = view::told_apart(run));
    let inputs: Vec<&Path> = runs.iter().map(|(path, _)| path.as_path()).collect();
    options.show.ensure_apart(&inputs)?;
    let Show { output, open, .. } = &options.show;
    match options.show.form() {
        Format::Text => sheet::put_text(&text(&runs), output, 4)?,
        Format::Html => {
            let name = options.path.display().to_string();
            match is_file(output) {
                true => sheet::put(index_of(&name, &runs, false).as_bytes(), output, *open)?,
                false => pages(&name, &runs, output, *open)?,
            }
        }
        _ => bail!("{}: a folder is shown as text or html", options.path.display()),
    }
    Ok(end)
}

/// Whether an output is one file, by what is there, or else by its name.
fn is_file(output: &Path) -> bool {
    let is_named_so = || {
        let is_folder = output.as_os_str().as_encoded_bytes().ends_with(b"/");
        !is_folder && output.extension().is_some_and(|ending| ending == "html")
    };
    let there = fs::metadata(output);
    output == Path::new("-") || there.map_or_else(|_| is_named_so(), |there| !there.is_dir())
}

/// A line per run, newest first.
fn text(runs: &[(PathBuf, Run)]) -> String {
    let mut sorted: Vec<&(PathBuf, Run)> = runs.iter().collect();
    sorted.sort_by(|a, b| b.1.started.cmp(&a.1.started));
    let shown = |path: &Path| escape::line(&name(path));
    let width = sorted.iter().map(|(path, _)| places(&shown(path))).max().unwrap_or(0);
    let mut text = String::new();
    for (path, run) in sorted {
        let line = format!("{}  {}  {}", padded(&shown(path), width), run.started, in_list(run));
        let _ = writeln!(text, "{}", escape::line(&line));
    }
    text
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The page of each run beside the index, none of which is the index or another's: names that are no
/// Unicode may look the same.
fn links(runs: &[(PathBuf, Run)]) -> Vec<String> {
    let mut seen = HashSet::new();
    let link = |(path, _): &(PathBuf, Run)| {
        let name = name(path);
        let numbered = (2..).map(|number| format!("{name}_{number}.run.html"));
        let mut all = std::iter::once(format!("{name}.run.html")).chain(numbered);
        all.find(|link| seen.insert(link.clone())).expect("there is no end of numbers")
    };
    runs.iter().map(link).collect()
}

fn index_of(folder: &str, runs: &[(PathBuf, Run)], are_linked: bool) -> String {
    let names: Vec<String> = runs.iter().map(|(path, _)| name(path)).collect();
    let links = links(runs);
    let mut entries = Vec::new();
    for (((_, run), name), link) in runs.iter().zip(&names).zip(&links) {
        entries.push(Entry { name, link: are_linked.then_some(link.as_str()), run });
    }
    index::page(folder, &entries)
}

/// A page for each run, then the index.
fn pages(folder: &str, runs: &[(PathBuf, Run)], output: &Path, open: bool) -> anyhow::Result<()> {
    output::made(output)?;
    for ((_, run), link) in runs.iter().zip(links(runs)) {
        let page = html::run(run, &Look::default());
        sheet::put(page.as_bytes(), &output.join(link), false)?;
    }
    sheet::put(index_of(folder, runs, true).as_bytes(), &output.join("index.html"), open)
}
