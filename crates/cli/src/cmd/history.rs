//! `fathom history DIR`: the course of every contender over the saved runs of a folder.

use std::path::{Path, PathBuf};

use fathom_measure::result::Run;
use fathom_report::escape::line;
use fathom_report::history::{Course, courses, lost, slower, text, untimed_last};
use fathom_report::html;
use fathom_report::number::times;

use crate::exit::Exit;
use crate::measuring::utc;
use crate::output;
use crate::saved;
use crate::sheet::Sheet;

/// Show how every contender's time developed over the saved runs in a folder, and where it stepped
///
/// A lasting change is shown with its size and the run that began it, if it is larger than 1 % and so
/// clear that noise which is independent from run to run shows one, in any course, in fewer than one
/// folder of a hundred (a permutation test of ranks; ten runs at least, more for many courses).
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The folder; every `.json` file in it is to be a saved run: others are told and left out, and the code is 1
    folder: PathBuf,

    /// End with code 1 if a course is slower than it was before any of its steps, or has no time in the last run of its
    /// case, such as one that failed; who is no longer measured is only told, unless the last run has no time at all
    #[arg(long)]
    gate: bool,

    /// With --gate: steps and failures before this are accepted; a day (in UTC) or a time, such as 2026-11-22 or 2026-11-22T10:00:00+01:00
    #[arg(long, value_name = "TIME", requires = "gate", value_parser = time)]
    since: Option<String>,

    #[command(flatten)]
    sheet: Sheet,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let folder = &options.folder;
    let (runs, mut end) = saved::runs(folder)?;
    let inputs: Vec<&Path> = runs.iter().map(|(path, _)| path.as_path()).collect();
    options.sheet.ensure_apart(&inputs)?;
    let runs: Vec<Run> = runs.into_iter().map(|(_, run)| run).collect();
    let courses = courses(&runs);
    let name = folder.display().to_string();
    if courses.is_empty() {
        say!("fathom: {}: no run has a time", line(&name));
        end = Exit::Incomplete;
    }
    options.sheet.show(|| text(&courses), || html::history::page(&courses, &name))?;
    let since = options.since.as_deref().unwrap_or_default();
    if let Some(started) = untimed_last(&runs).filter(|_| !courses.is_empty()) {
        say!("fathom: {}: the last run, of {}, has no time", line(&name), line(started));
        if options.gate && started >= since {
            end = Exit::Incomplete;
        }
    }
    for said in options.gate.then(|| refused(&courses, since)).into_iter().flatten() {
        match options.sheet.is_page_on_stdout() {
            true => say!("{said}"),
            false => output::print(format!("{said}\n"))?,
        }
        end = Exit::Incomplete;
    }
    Ok(end)
}

/// What a gate does not let pass, a line each.
fn refused(courses: &[Course], since: &str) -> Vec<String> {
    let slower = slower(courses, since).into_iter().map(|(course, step)| {
        let (factor, when) = (times(step.ratio), &course.points[step.at].0);
        ("REGRESSION", course, format!("{factor} slower since {when}"))
    });
    let lost = lost(courses, since).map(|(course, lost)| ("NO TIME", course, lost.why.clone()));
    let said = |(word, course, what): (&str, &Course, String)| {
        line(&format!("{word}: {} {}: {what}", course.title, course.id))
    };
    slower.chain(lost).map(said).collect()
}

/// A day or a time, as runs say when they started.
fn time(text: &str) -> Result<String, String> {
    // A date is parsed from a time without an offset, too, which is left out then.
    let day = || {
        let day = Some(text).filter(|text| text.len() == "2026-11-22".len())?;
        day.parse::<jiff::civil::Date>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok()
    };
    let time = text.parse::<jiff::Timestamp>().ok().or_else(|| day().map(|day| day.timestamp()));
    let time = time.ok_or_else(|| {
        format!("{text:?} is no time such as 2026-11-22 or 2026-11-22T10:00:00+01:00")
    })?;
    Ok(utc(time))
}
