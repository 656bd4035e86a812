//! `fathom haversine FILE --stages`: the ladder from the plain program to the product on the user's
//! own file, each step measured in the same rounds and compared with exact arithmetic.
//!
//! Knows no step: they are the contenders of the family `haversine-stages`, in their order.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fathom_contenders::haversine::stages::{self, MEAN_OFF_KM, PAIRS_WRONG};
use fathom_measure::bench::Bench;
use fathom_measure::result::Case;
use fathom_measure::rounds::Plan;
use fathom_measure::workload::Spec;
use fathom_report::number::plural;
use fathom_report::wrap::wrapped;

use crate::exit::Exit;
use crate::measuring::{self, entrant, is_complete, new_run};
use crate::output;

/// Options of a run that the ladder has none of.
const OTHERS: [&str; 13] = [
    "answers", "threads", "radius", "on_error", "trigonometry", "exact_only", "write_answers",
    "profile", "profile_format", "profile_output", "open", "block", "tolerance",
];

/// How the ladder is measured.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Stages")]
pub(crate) struct Stages {
    /// Measure the way from the plain program to this one on FILE, step by step: what the
    /// haversine notes tried, and what fathom does beyond; each step's speed and its errors
    #[arg(long, conflicts_with_all = OTHERS)]
    pub(crate) stages: bool,

    /// With --stages: time each step receives
    #[arg(long, value_parser = measuring::duration, value_name = "TIME", default_value = "2s",
          requires = "stages", conflicts_with_all = OTHERS)]
    budget: Duration,

    /// With --stages: exactly this many rounds instead
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000),
          requires = "stages", conflicts_with_all = OTHERS)]
    rounds: Option<u32>,

    /// With --stages: also save the run, samples and all, for `report` and `diff`
    #[arg(long, value_name = "PATH", requires = "stages", conflicts_with_all = OTHERS)]
    pub(super) save: Option<PathBuf>,
}

/// Measures the ladder on a file that was read once without complaint.
pub(crate) fn run(options: &Stages, file: &Path, as_json: bool) -> anyhow::Result<Exit> {
    let family = stages::family();
    let entries = family.entries();
    let entrants: anyhow::Result<Vec<_>> =
        entries.iter().map(|entry| entrant(&entry.id, &entry.meta)).collect();
    let spec = family.completed(&Spec { file: Some(file.to_owned()), ..Spec::default() })?;
    let plan = Plan {
        budget_ns: measuring::nanoseconds(options.budget),
        rounds: options.rounds,
        warm_ups: 1,
        ..Plan::default()
    };
    let case = measuring::measured(Bench {
        baseline: entries.iter().position(|entry| entry.id == family.reference()).unwrap_or(0),
        ..measuring::usual(family, spec, entrants?, plan)?
    })?;
    let mut run = new_run()?;
    run.cases.push(case);
    let saved = measuring::save(&run, options.save.as_deref());
    let text =
        if as_json { run.to_json()? } else { ladder(&run.cases[0], output::terminal_width()) };
    output::print(text)?;
    saved?;
    Ok(if is_complete(&run.cases) { Exit::Done } else { Exit::Incomplete })
}

/// A line per step: time, speed, what it gained, what it got wrong, what it is. What it is stands below where
/// the lines would be wider than `width`.
fn ladder(case: &Case, width: Option<usize>) -> String {
    const INDENT: usize = 13;
    let (bytes, pairs) = (case.work.bytes, case.work.items);
    let head = format!(
        "{:<12} {:>10} {:>8} {:>8} {:>8}  {:>12} {:>12}",
        "step", "ms", "ns/pair", "GB/s", "x before", "pairs wrong", "mean off km",
    );
    let mut lines = vec![(head, "what it is")];
    let mut before: Option<f64> = None;
    for (number, row) in case.entrants() {
        let name = row.id.rsplit('+').next().unwrap_or(&row.id);
        let summary = case.judged.summaries[number].as_ref();
        let Some(summary) = summary.filter(|_| case.measured.failures[number].is_none()) else {
            let why = case.measured.failures[number].as_ref().map(ToString::to_string);
            let why = why.unwrap_or_else(|| "not measured".to_owned());
            lines.push((format!("{name:<12} {why}"), ""));
            continue;
        };
        let ns = summary.ns_median;
        let gain = before.map_or_else(|| "-".to_owned(), |before| format!("{:.2}", before / ns));
        let metric = |name: &str| row.metrics.iter().find(|metric| metric.name == name);
        let wrong = metric(PAIRS_WRONG).map_or_else(|| "?".to_owned(), |m| m.value.to_string());
        let off =
            metric(MEAN_OFF_KM).map_or_else(|| "?".to_owned(), |m| format!("{:.1e}", m.value));
        let line = format!(
            "{name:<12} {:>10} {:>8.1} {:>8.3} {gain:>8}  {wrong:>12} {off:>12}",
            milliseconds(ns),
            ns / pairs.max(1) as f64,
            bytes as f64 / ns,
        );
        lines.push((line, &row.about.summary));
        before = Some(ns);
    }
    let width = width.unwrap_or(usize::MAX);
    let rounds = plural(case.measured.rounds.len(), "round");
    let pairs = plural(pairs as usize, "pair");
    let title = format!("{pairs}, {bytes} bytes; medians of {rounds}, wall clock, file and all");
    let mut text = wrapped(&title, width, 0) + "\n\n";
    let beside = |(line, what): &(String, &str)| format!("{line}  {what}").trim_end().to_owned();
    if lines.iter().all(|line| beside(line).chars().count() <= width) {
        text.extend(lines.iter().map(|line| beside(line) + "\n"));
        return text;
    }
    text.extend(lines.iter().map(|(line, _)| wrapped(line, width, INDENT) + "\n"));
    text.push('\n');
    for (line, what) in lines.iter().skip(1).filter(|(_, what)| !what.is_empty()) {
        let name = line.split(' ').next().unwrap_or_default();
        text += &(wrapped(&format!("{name:<12} {what}"), width, INDENT) + "\n");
    }
    text
}

/// Four digits of a short time, a decimal of a long one.
fn milliseconds(ns: f64) -> String {
    let decimals = if ns < 10e6 { 3 } else { 1 };
    format!("{:.decimals$}", ns / 1e6)
}
