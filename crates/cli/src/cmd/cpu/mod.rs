//! `fathom cpu`: which implementation of each primitive is fastest on this processor, verified first.
//!
//! Chooses rows and their share of the time, runs them through the rounds of
//! [`fathom_measure::bench`], and hands the cases to [`answer`], which turns them into text.

mod answer;
mod banner;
mod common;
mod form;
mod join;
mod recommend;
mod winners;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use clap::Parser;
use fathom_contenders::families;
use fathom_machine::describe::Machine;
use fathom_measure::bench::{Bench, Entrant, Session};
use fathom_measure::contender::Path as Hardware;
use fathom_measure::digest::Digest;
use fathom_measure::facts::{Common, Timed};
use fathom_measure::family::{AnyFamily, Entry, OpenError};
use fathom_measure::meter::Untimed;
use fathom_measure::result::{Case, Run};
use fathom_measure::rounds::{Plan, Stop};
use fathom_measure::worker::labelled;
use fathom_measure::workload::{Spec, SpecError, parse_number};
use fathom_report::escape;
use fathom_report::number::plural;
use fathom_report::view::lines;

use crate::exit::Exit;
use crate::interrupt;
use crate::measuring::{self, Format, Libraries, Show, Ticker, entrant, is_complete, nanoseconds};
use crate::names::{self, is_named};
use crate::output;
use crate::saved;
use crate::sheet;

/// Find the fastest implementation of each primitive on this processor: memory moves, checksums,
/// digests, ciphers, codecs, text, JSON, SQL
///
/// Every implementation is checked against a plain reference before it is timed; a wrong one has
/// no time. Figures are shown in the form of mORMot's regression tests and in fathom's, with the
/// hardware path each implementation takes: docs/cpu.md.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Families to measure, or parts of the forebear's table (`hash` is checksum and digest)
    /// [default: all that this command knows]
    #[arg(value_name = "FAMILY")]
    families: Vec<String>,

    /// Only these rows (`sha256`) or these implementations (`openssl`), by name; `fathom list FAMILY`
    /// knows both
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    only: Vec<String>,

    /// Bytes per call of checksums, digests and ciphers: sizes, or `mix`, the forebear's five
    /// lengths
    #[arg(long, value_delimiter = ',', value_name = "SIZE,…", default_value = "mix")]
    size: Vec<String>,

    /// Threads that do the same work at the same time
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: u32,

    /// Time the whole run aims at, shared among the rows; those that cannot be measured in their share take
    /// longer, as do those of the first screen that leave more than 10 % without a verdict
    #[arg(long, value_parser = measuring::duration, value_name = "TIME", default_value = "20s")]
    budget: Duration,

    /// Every row in full, not only the first screen's; what names rows, families or sizes asks for
    /// these in full anyway
    #[arg(long)]
    all: bool,

    /// Rows as wide as they are: each with the form of mORMot's tests, and why a difference does not count
    #[arg(long, conflicts_with_all = ["columns", "time_unit", "sort", "style"])]
    wide: bool,

    /// What is not in this build or not on this machine, with the reason; measures nothing
    #[arg(long, conflicts_with_all = [
        "only", "size", "threads", "budget", "all", "wide", "recommend", "save", "open", "test", "format",
        "columns", "time_unit", "sort", "style",
    ])]
    absent: bool,

    /// One line per task: what to use here, and what loses how much; then the lines that add it to a
    /// project
    #[arg(long, conflicts_with_all = ["format", "open", "wide", "columns", "time_unit", "sort", "style"])]
    recommend: bool,

    /// Put two saved runs, of two machines, side by side; measures nothing
    #[arg(long, num_args = 2, value_names = ["A.json", "B.json"],
          conflicts_with_all = [
              "families", "only", "size", "threads", "budget", "all", "wide", "absent", "recommend", "chosen",
              "save", "open", "test", "format", "columns", "time_unit", "sort", "style",
          ])]
    join: Vec<PathBuf>,

    /// Measure on this file: codecs on what it holds, UTF-8 and JSON if it is that
    #[arg(long, value_name = "FILE", conflicts_with_all = ["absent", "join", "test"])]
    file: Option<PathBuf>,

    /// What an outside program that speaks the worker protocol (docs/protocol.md) offers takes part; of another build of
    /// this program (`fathom worker --build v3`) whatever of this one does
    #[arg(long = "worker", value_name = "COMMAND", conflicts_with_all = ["absent", "join", "test"])]
    workers: Vec<String>,

    /// Check every implementation on small data; no times
    #[arg(long, conflicts_with_all = ["size", "threads", "budget", "all", "wide", "recommend", "Show"])]
    test: bool,

    #[command(flatten)]
    libraries: Libraries,

    #[command(flatten)]
    show: Show,
}

impl Options {
    /// Whether nothing was asked for but the first screen.
    fn is_common(&self) -> bool {
        let names_rows = !self.families.is_empty() || !self.only.is_empty() || self.size != ["mix"];
        let asks_more = self.all || self.recommend || self.threads > 1 || self.file.is_some();
        let has_others = !self.workers.is_empty();
        !names_rows && !asks_more && !has_others && self.show.is_plain_text()
    }
}

/// The families of this command, in the order of the forebear's table.
fn known() -> impl Iterator<Item = &'static dyn AnyFamily> + Clone {
    families().iter().copied().filter(|family| family.facts().part.is_some())
}

/// A row to measure: one operation on one workload.
struct Row {
    family: &'static dyn AnyFamily,
    spec: Spec,
    entrants: Vec<Entrant>,
    /// Whether the plain reference is timed because nobody else is here.
    is_left_alone: bool,
    /// What getting its workers ready takes, by how long opening everybody took here.
    opening: Duration,
    /// Why its data cannot be taken, where that is so.
    refused: Option<SpecError>,
}

impl Row {
    /// Who takes time: the entrants and the hidden twin.
    fn seats(&self) -> u32 {
        self.entrants.len() as u32 + 1
    }
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let inputs: Vec<&Path> = options.join.iter().chain(&options.file).map(|path| &**path).collect();
    options.show.ensure_possible(&inputs)?;
    // What is absent has a reason, which is what is asked for.
    if options.absent { options.libraries.take() } else { options.libraries.choose() }?;
    if let [a, b] = &options.join[..] {
        return joined(a, b, &options.show.output);
    }
    let families = chosen(&options.families)?;
    let only = options.only.iter().map(|name| meant(name, &families)).collect();
    let options = &Options { only, ..options.clone() };
    if options.absent {
        return written(&absent(&families), &options.show.output);
    }
    if options.test {
        return test(&families, &options.only);
    }
    // Finding out who takes part opens everybody once: it is part of the time the run may take.
    let start = Instant::now();
    let others = others(options, &families)?;
    let rows = rows(options, &families, &others)?;
    if options.show.form() == Format::Svg {
        check_plot(&rows)?;
    }
    let mut run = measuring::new_run()?;
    let time = options.budget.mul_f64(PLANNED).saturating_sub(start.elapsed());
    let longer = if options.is_common() { LONGER } else { 0.0 };
    run.cases = measured(&rows, time, start + options.budget.mul_f64(1.0 + longer))?;
    if interrupt::happened() {
        run.notes.push("interrupted: the rest was not measured".to_owned());
    }
    shown(options, &run, &families)?;
    Ok(if is_complete(&run.cases) { Exit::Done } else { Exit::Incomplete })
}

fn shown(options: &Options, run: &Run, families: &[&'static dyn AnyFamily]) -> anyhow::Result<()> {
    // Whoever chooses tables sees tables.
    if !options.show.is_plain_text() {
        return measuring::show(run, &options.show);
    }
    let saved = measuring::save(run, options.show.save.as_deref());
    let text =
        text(options, run, families, &Machine::here()) + &absences(options, &run.cases, families);
    saved.and(written(&text, &options.show.output).map(drop))
}

/// A run as text: all but what is absent here.
fn text(
    options: &Options,
    run: &Run,
    families: &[&'static dyn AnyFamily],
    machine: &Machine,
) -> String {
    let mut text = banner::text(machine);
    if options.is_common() {
        // The machine alone, not what decides about paths: the answer is what the screen is for.
        text = text.lines().take(2).map(|line| format!("{line}\n")).collect::<String>() + "\n";
    }
    if let Some(file) = &options.file {
        text = format!(
            "{}\ndata         {}\n\n",
            text.trim_end(),
            escape::line(&file.display().to_string())
        );
    }
    if options.recommend {
        text += &recommend::text(&run.cases, families);
    } else if options.is_common() {
        text += &common::text(&run.cases, families);
        text += "all rows: fathom cpu --all; some: fathom cpu --only sha256,crc32c\n";
    } else {
        for case in &run.cases {
            text += &answer::text(case, options.wide);
        }
        text += &winners::text(&run.cases, options.wide);
    }
    for note in &run.notes {
        text += &format!("note: {}\n", escape::line(note));
    }
    text
}

/// A saved run of this command.
#[derive(clap::Parser)]
struct Saved {
    #[command(flatten)]
    options: Options,
}

/// The text of a saved run of this command, as its options asked for it; none for runs of others.
pub(crate) fn again(run: &Run) -> Option<String> {
    let [_, command, ..] = &run.command[..] else { return None };
    if command != "cpu" {
        return None;
    }
    // Under a baseline that `report` gave it nobody could be told to be the fastest.
    let is_led = |case: &Case| {
        let (all, baseline) = (lines(case), case.roles.baseline);
        all.first().is_none_or(|first| first.summary.is_none() || first.number == baseline)
    };
    if !run.cases.iter().all(is_led) {
        return None;
    }
    let Saved { options } = Saved::try_parse_from(&run.command[1..]).ok()?;
    let machine = serde_json::from_value(run.machine.clone()).unwrap_or_default();
    let families = chosen(&options.families).ok()?;
    Some(text(&options, run, &families, &machine))
}

/// Two saved runs side by side; incomplete if no row is in both.
fn joined(a: &Path, b: &Path, output: &Path) -> anyhow::Result<Exit> {
    let runs = [saved::read(a)?, saved::read(b)?];
    let end = written(&join::text(&runs[0], &runs[1]), output)?;
    if join::have_common_rows(&runs[0], &runs[1]) {
        return Ok(end);
    }
    say!("fathom: {} and {} have no row in common", a.display(), b.display());
    Ok(Exit::Incomplete)
}

fn written(text: &str, path: &Path) -> anyhow::Result<Exit> {
    sheet::put_text(text, path, output::LABEL)?;
    Ok(Exit::Done)
}

/// The families of these names, or of these parts of the forebear's table.
fn chosen(names: &[String]) -> anyhow::Result<Vec<&'static dyn AnyFamily>> {
    if names.is_empty() {
        return Ok(known().collect());
    }
    let mut found: Vec<&'static dyn AnyFamily> = Vec::new();
    for name in names {
        let own = known().filter(|family| family.name() == name);
        let part = known().filter(|family| family.facts().part == Some(name));
        let mut named = own.chain(part.filter(|family| family.name() != name)).peekable();
        let all: Vec<&str> = known().map(AnyFamily::name).collect();
        let words = || format!("no family {name:?} in fathom cpu{}", names::hint(name, &all));
        ensure!(named.peek().is_some(), "{}; there is: {}", words(), all.join(", "));
        for family in named {
            if found.iter().all(|found| found.name() != family.name()) {
                found.push(family);
            }
        }
    }
    Ok(found)
}

/// A contender of an outside worker, and its family.
type Other = (&'static dyn AnyFamily, Entrant);

/// What outside workers offer of these families.
fn others(options: &Options, families: &[&'static dyn AnyFamily]) -> anyhow::Result<Vec<Other>> {
    let mut others: Vec<Other> = Vec::new();
    for command in &options.workers {
        let (launch, worker) = measuring::outside(command, "worker ", PATIENCE)?;
        let of = |family: &&'static dyn AnyFamily| {
            let (family, launch) = (*family, &launch);
            let offered = worker.offered.iter().filter(move |o| o.family == family.name());
            offered.map(move |offered| (family, measuring::entrant_outside(offered, launch)))
        };
        let offered: Vec<Other> = families.iter().flat_map(of).collect();
        ensure!(!offered.is_empty(), "worker {command:?} offers nothing of these families");
        for (family, entrant) in offered {
            let named = |id: &str| id == entrant.id;
            let is_here = family.entries().iter().any(|entry| named(&entry.id));
            let mut same = others.iter().filter(|(of, _)| of.name() == family.name());
            let is_known = is_here || same.any(|(_, other)| named(&other.id));
            ensure!(!is_known, "worker {command:?}: there is a {} already", entrant.id);
            others.push((family, entrant));
        }
    }
    Ok(others)
}

/// The rows asked for, each with who takes part.
fn rows(
    options: &Options,
    families: &[&'static dyn AnyFamily],
    others: &[Other],
) -> anyhow::Result<Vec<Row>> {
    check_names(&options.only, families, others)?;
    let rows = match &options.file {
        Some(file) => own(options, families, others, file),
        None if options.is_common() => questions(families),
        None => {
            let sizes = sizes(options)?;
            asked(options, families, others, |family, operation| specs(family, operation, &sizes))
        }
    }?;
    ensure!(!rows.is_empty(), "nothing to measure: these implementations have none of these rows");
    let rows = possible(rows)?;
    let is_sized = options.size == ["mix"] || rows.iter().any(|row| has_calls(row.family));
    ensure!(is_sized, "--size: none of these rows has calls of a size");
    Ok(rows)
}

/// The rows that this machine can do; of the others it is said why not.
fn possible(rows: Vec<Row>) -> anyhow::Result<Vec<Row>> {
    let (rows, others): (Vec<Row>, Vec<Row>) =
        rows.into_iter().partition(|row| row.refused.is_none());
    for Row { family, spec, refused, .. } in others {
        let Some(error) = refused else { continue };
        ensure!(matches!(error, SpecError::Machine { .. }) && !rows.is_empty(), error);
        say!("fathom: left out: {} {spec}: {error}", family.name());
    }
    Ok(rows)
}

/// The rows of the first screen, each with those who answer its questions.
fn questions(families: &[&'static dyn AnyFamily]) -> anyhow::Result<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    for (family, common) in common::questions(families) {
        let spec = match common.parameters {
            [] => specs(family, common.operation, &["mix".to_owned()]).swap_remove(0),
            parameters => Spec::new(common.operation, parameters),
        };
        let spec = family.completed(&spec)?;
        if rows.iter().any(|row| row.family.name() == family.name() && row.spec == spec) {
            continue;
        }
        let (mut entrants, is_left_alone) = entrants(family, &spec, &[], &[])?;
        entrants.retain(|entrant| common::takes_part(family, &spec, &entrant.id));
        rows.extend(row(family, spec, (entrants, is_left_alone)));
    }
    Ok(rows)
}

/// The rows that can be asked of a file of the user's, and take this one.
fn own(
    options: &Options,
    families: &[&'static dyn AnyFamily],
    others: &[Other],
    file: &Path,
) -> anyhow::Result<Vec<Row>> {
    ensure!(options.size == ["mix"], "--file and --size: the file has the size that it has");
    let file = measurable(file)?;
    let cases = |family: &dyn AnyFamily, operation: &str| match family.facts().task(operation).own {
        true => vec![Spec { file: Some(file.clone()), ..Spec::new(operation, &[]) }],
        false => Vec::new(),
    };
    let rows = asked(options, families, others, cases)?;
    ensure!(
        !rows.is_empty(),
        "no row of these can be asked of a file; see fathom cpu --file alone"
    );
    let (rows, others): (Vec<Row>, Vec<Row>) =
        rows.into_iter().partition(|row| row.refused.is_none());
    let why = |(row, error): &(String, SpecError)| format!("{row}: {error}");
    let refused = others.into_iter().filter_map(|row| Some((row.spec.operation, row.refused?)));
    let mut refused: Vec<(String, SpecError)> = refused.collect();
    let said: Vec<String> = refused.iter().map(why).collect();
    if let (true, Some((_, error))) = (rows.is_empty(), refused.pop()) {
        return Err(anyhow::Error::from(error).context(said.join("; ")));
    }
    for line in said {
        say!("fathom: left out: {line}");
    }
    Ok(rows)
}

/// The file as workers find it; refuses what no row can take, once for all rows.
fn measurable(file: &Path) -> anyhow::Result<PathBuf> {
    if fathom_contenders::regular(file)? == 0 {
        return Err(SpecError::empty(file).into());
    }
    // The standard input of a worker is another.
    let is_descriptor = file.starts_with("/dev") || file.starts_with("/proc");
    Ok(if is_descriptor { file.canonicalize()? } else { file.to_owned() })
}

/// What of the names asked for are rows, and what contenders.
fn named<'o>(
    options: &'o Options,
    families: &[&'static dyn AnyFamily],
) -> (Vec<&'o String>, Vec<&'o String>) {
    let is_row = |name: &String| {
        families.iter().any(|f| f.operations().iter().any(|operation| operation.name == name))
    };
    options.only.iter().partition(|name| is_row(name))
}

fn is_wanted(operations: &[&String], name: &str) -> bool {
    operations.is_empty() || operations.iter().any(|operation| *operation == name)
}

/// The rows that were asked for by name, or all, each with its cases.
fn asked(
    options: &Options,
    families: &[&'static dyn AnyFamily],
    others: &[Other],
    cases: impl Fn(&dyn AnyFamily, &str) -> Vec<Spec>,
) -> anyhow::Result<Vec<Row>> {
    let (operations, contenders) = named(options, families);
    let mut rows = Vec::new();
    for family in families {
        let offers = family.operations().iter().filter(|offer| is_wanted(&operations, offer.name));
        for mut spec in offers.flat_map(|offer| cases(*family, offer.name)) {
            if options.threads > 1 {
                spec.parameters.insert("threads".to_owned(), options.threads.to_string());
            }
            let spec = family.completed(&spec)?;
            let entrants = entrants(*family, &spec, &contenders, others)?;
            rows.extend(row(*family, spec, entrants));
        }
    }
    Ok(rows)
}

/// A row, if there is anybody in it.
fn row(
    family: &'static dyn AnyFamily,
    spec: Spec,
    (entrants, is_left_alone): (Vec<Entrant>, bool),
) -> Option<Row> {
    let first = entrants.first()?;
    let begun = Instant::now();
    // Whoever cannot be opened for another reason says so when it is to be measured.
    let refused = match family.open(&first.id, &spec, &mut |_| {}) {
        Err(OpenError::Spec(error)) => Some(error),
        _ => None,
    };
    let opening = (WORKER_START + begun.elapsed()) * (entrants.len() as u32 + 2);
    Some(Row { family, spec, entrants, is_left_alone, opening, refused })
}

/// Refuses what cannot be drawn before any time is spent on it.
fn check_plot(rows: &[Row]) -> anyhow::Result<()> {
    let operation = |row: &Row| (row.family.name(), row.spec.operation.clone());
    let is_one = rows.iter().all(|row| operation(row) == operation(&rows[0]));
    let is_scan = rows.iter().all(|row| parse_number(row.spec.text("size")).is_some());
    ensure!(
        is_one && is_scan && rows.len() > 1,
        "a plot shows one row at several sizes, such as --only sha256 --size 64,1K,64K"
    );
    Ok(())
}

/// The name of the row that the first screen calls so, in capitals or not; any other name stays.
fn meant(name: &str, families: &[&'static dyn AnyFamily]) -> String {
    let mut questions = common::questions(families).map(|(_, common)| common);
    let is_it =
        |common: &&Common| common.only.is_empty() && common.question.eq_ignore_ascii_case(name);
    questions.find(is_it).map_or(name, |common| common.operation).to_owned()
}

/// Refuses names that are neither a row nor an implementation of these families.
fn check_names(
    names: &[String],
    families: &[&'static dyn AnyFamily],
    others: &[Other],
) -> anyhow::Result<()> {
    for name in names {
        let is_row = families.iter().any(|f| f.operations().iter().any(|row| row.name == name));
        let is_here = || {
            let mut entries = families.iter().flat_map(|family| family.entries());
            entries.any(|entry| entry.id == *name || entry.meta.name == name)
                || others.iter().any(|(_, other)| is_named(&other.id, name))
        };
        if is_row || is_here() {
            continue;
        }
        if let Some(absent) = families.iter().flat_map(|f| f.absent()).find(|a| a.name == name) {
            bail!("{name} is not here: {}", absent.reason);
        }
        bail!("no row and no implementation {name:?}{}; see fathom list", hint(name, families));
    }
    Ok(())
}

/// Where a name is known that these families do not know, or which of theirs it resembles.
fn hint(name: &str, families: &[&'static dyn AnyFamily]) -> String {
    let names = |family: &dyn AnyFamily| -> Vec<String> {
        let rows = family.operations().iter().map(|row| row.name.to_owned());
        rows.chain(family.entries().into_iter().map(|entry| entry.id)).collect()
    };
    if let Some(other) = known().find(|family| names(*family).iter().any(|n| n == name)) {
        let asked: Vec<&str> = families.iter().map(|family| family.name()).collect();
        return format!(" in {}; family {} has it", asked.join(", "), other.name());
    }
    let known: Vec<String> = known().flat_map(names).collect();
    names::hint(name, &known)
}

/// The sizes asked for; for recommendations also those where winners change.
fn sizes(options: &Options) -> anyhow::Result<Vec<String>> {
    for size in &options.size {
        let is_size = size == "mix" || parse_number(size).is_some();
        ensure!(is_size, "{size:?} is no size (such as 64, 1K, 1M or mix)");
    }
    Ok(match options.recommend && options.size == ["mix"] {
        true => ["mix", "64", "1K", "64K"].map(str::to_owned).to_vec(),
        false => once(&options.size),
    })
}

/// The sizes given, each once, however it is written.
fn once(given: &[String]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    given.iter().filter(|size| seen.insert(parse_number(size))).cloned().collect()
}

/// The workloads of an operation: one per size where calls have a size, otherwise one that is small
/// enough for a row's share of the time.
fn specs(family: &dyn AnyFamily, operation: &str, sizes: &[String]) -> Vec<Spec> {
    if has_calls(family) {
        return sizes.iter().map(|size| Spec::new(operation, &[("size", size)])).collect();
    }
    let facts = family.facts();
    match facts.task(operation).quick {
        [] => vec![Spec::new(operation, facts.quick)],
        cases => cases.iter().map(|parameters| Spec::new(operation, parameters)).collect(),
    }
}

/// Whether the rows of a family are calls of the sizes asked for.
fn has_calls(family: &dyn AnyFamily) -> bool {
    family.parameters().iter().any(|p| p.name == "size" && p.default == "mix")
}

/// Who takes part in a row, and whether these are its plain references alone. They are there to check the others: they
/// are timed only when they are asked for or nobody else is here.
fn entrants(
    family: &dyn AnyFamily,
    spec: &Spec,
    wanted: &[&String],
    others: &[Other],
) -> anyhow::Result<(Vec<Entrant>, bool)> {
    let mut found = Vec::new();
    let mut references = Vec::new();
    let mut unable = Vec::new();
    // Who takes part depends on the operation alone, and a small case of it is opened at once.
    let small = family.small_cases().into_iter().find(|small| small.operation == spec.operation);
    let small = family.completed(small.as_ref().unwrap_or(spec))?;
    for entry in family.entries() {
        let takes_part = family.open(&entry.id, &small, &mut |_| {});
        let name = wanted.iter().find(|name| ***name == entry.id || **name == entry.meta.name);
        if !matches!(takes_part, Ok(()) | Err(OpenError::Spec(_))) {
            unable.push(entry.id);
            continue;
        }
        let mut entrant = entrant(&entry.id, &entry.meta)?;
        entrant.about.hardware = (entry.meta.hardware)(&spec.operation).to_string();
        match (wanted.is_empty(), name.is_some()) {
            (true, _) if is_oracle(family, &entry.id) => references.push(entrant),
            (true, _) | (_, true) => found.push(entrant),
            _ => {}
        }
    }
    for (_, other) in others.iter().filter(|(of, _)| of.name() == family.name()) {
        let (own, _) = labelled(&other.id);
        let is_wanted = wanted.iter().any(|name| is_named(&other.id, name));
        let takes_part = wanted.is_empty() && !is_oracle(family, own) || is_wanted;
        if takes_part && !unable.iter().any(|id| id == own) {
            found.push(other.clone());
        }
    }
    let is_left_alone = found.is_empty() && !references.is_empty();
    Ok((if is_left_alone { references } else { found }, is_left_alone))
}

/// Whether a contender is there to check the others.
fn is_oracle(family: &dyn AnyFamily, id: &str) -> bool {
    family.facts().reference != Timed::Always && id == family.reference()
}

/// Sets of fresh processes. All rows have their first before any has its second, so that each row sees
/// the machine in states that lie as far apart as the run is long.
const SETS: u32 = 4;
/// The sets of a row that leaves a difference open, at most.
const MOST_SETS: u32 = 4 * SETS;
/// The largest difference that may be left open while there is time.
const OPEN: f64 = 0.1;
/// How much longer than asked for the first screen may take for what it leaves open, as a share.
const LONGER: f64 = 0.75;
/// The rounds a row aims at: enough that some disturbed ones do not decide.
const ROUNDS: u32 = 40;
/// Samples of a contender besides the rounds: calibration, and each set's warm-up.
const OTHER_SAMPLES: u32 = 4 + 2 * SETS;
/// The shortest sample: well above the clocks' resolution and cost.
const SHORTEST_NS: u64 = 50_000;
/// The part of the budget that is planned for: the last rows cannot make up for what they overdraw.
const PLANNED: f64 = 0.85;
/// How long an outside worker may take to say what it has.
const PATIENCE: Duration = Duration::from_secs(120);
/// What it takes to start a worker, shake hands and end it, before it opens anything.
const WORKER_START: Duration = Duration::from_millis(3);

/// Measures all rows within about `time`, and those that leave a difference open for longer, until
/// `latest`; fewer than all if the user interrupts.
fn measured(rows: &[Row], time: Duration, latest: Instant) -> anyhow::Result<Vec<Case>> {
    let stop = interrupt::measuring();
    let ticker = Ticker::new("rows");
    let planned = rows.len() as u32 * SETS;
    let seats: u32 = rows.iter().map(Row::seats).sum();
    let openings: Duration = rows.iter().map(|row| row.opening).sum();
    let each = time.saturating_sub(openings * SETS) / seats.max(1);
    let mut sessions = Vec::new();
    for row in rows {
        let mut session = match opened(row, each * row.seats()) {
            // What was measured before is no less worth.
            Err(_) if stop.load(Ordering::Relaxed) && !sessions.is_empty() => break,
            session => session?,
        };
        let more = session.set();
        session.rest();
        sessions.push((session, more));
        ticker.tick(sessions.len() as u32, planned);
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    let mut done = sessions.len() as u32;
    for set in 1..MOST_SETS {
        let open = sessions.iter_mut().filter(|(_, more)| *more);
        for (session, more) in open {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            if set >= SETS && Instant::now() >= latest {
                session.end();
                *more = false;
                continue;
            }
            *more = session.set();
            session.rest();
            done += 1;
            ticker.tick(done, planned.max(done));
        }
    }
    let sessions = sessions.into_iter().map(|(session, _)| session);
    Ok(rows.iter().zip(sessions).map(|(row, session)| finished(row, session.finish())).collect())
}

fn opened(row: &Row, share: Duration) -> anyhow::Result<Session<'_>> {
    let seats = u64::from(row.seats());
    let share_ns = nanoseconds(share).max(1);
    let sample_ns = share_ns / (seats * u64::from(ROUNDS + OTHER_SAMPLES));
    let sample_ns = sample_ns.clamp(SHORTEST_NS, 50_000_000);
    // As many rounds as fit, where an iteration alone is longer than the sample wanted.
    let plan = Plan {
        stop: Stop::Said { above: OPEN },
        budget_ns: sample_ns * u64::from(ROUNDS * MOST_SETS / SETS),
        sample_ns,
        shortest_ns: SHORTEST_NS,
        limit_ns: nanoseconds(share)
            .saturating_mul(3)
            .max(200_000_000)
            .saturating_mul(u64::from(MOST_SETS / SETS)),
        processes: MOST_SETS,
        ..Plan::default()
    };
    let (spec, entrants) = (row.spec.clone(), row.entrants.clone());
    let usual = measuring::usual(row.family, spec, entrants, plan)?;
    Session::open(Bench { progress: Box::new(|_, _| {}), ..usual })
        .with_context(|| format!("{} {}", row.family.name(), row.spec))
}

fn finished(row: &Row, mut case: Case) -> Case {
    answer::compare_with_winner(&mut case);
    case.notes.extend(missed(row));
    if row.is_left_alone {
        let absent: Vec<&str> = row.family.absent().iter().map(|absent| absent.name).collect();
        let absent = if absent.is_empty() { "no other" } else { &absent.join(", ") };
        case.notes.push(format!("the plain reference alone: not here are {absent}"));
    }
    case
}

/// Implementations that say they take other instructions than the best this processor has for it.
fn missed(row: &Row) -> Vec<String> {
    let operation = row.spec.operation.as_str();
    let Some(best) = (row.family.facts().task(operation).best)() else { return Vec::new() };
    let here = |id: &str| row.entrants.iter().any(|entrant| entrant.id == id);
    let entries = row.family.entries().into_iter();
    let others = entries.filter(|entry| here(&entry.id) && !is_oracle(row.family, &entry.id));
    let note = |entry: Entry| match (entry.meta.hardware)(operation) {
        Hardware::Portable => Some(format!("{} is portable; {best} is here", entry.id)),
        Hardware::Takes(path) if !path.contains(best) => {
            Some(format!("{} takes {path}; {best} is here", entry.id))
        }
        _ => None,
    };
    others.filter_map(note).collect()
}

/// How much of the families that were asked is not here, in a line.
fn absences(options: &Options, cases: &[Case], families: &[&'static dyn AnyFamily]) -> String {
    let is_asked = |name: &str| options.is_common() || cases.iter().any(|case| case.family == name);
    let asked = || families.iter().filter(|family| is_asked(family.name()));
    let lacking = || asked().filter(|family| !family.absent().is_empty());
    let words = match lacking().flat_map(|family| family.absent()).count() {
        0 => return String::new(),
        1 => "1 implementation is not here".to_owned(),
        count => format!("{count} implementations are not here"),
    };
    let names: String = match asked().count() == known().count() {
        true => String::new(),
        false => lacking().map(|family| format!("{} ", family.name())).collect(),
    };
    format!("{words}, and why: fathom cpu {names}--absent\n")
}

/// What is not in this build or not on this machine, and why.
fn absent(families: &[&'static dyn AnyFamily]) -> String {
    let mut text = String::new();
    for family in families {
        for absent in family.absent() {
            text += &format!("absent: {} {}: {}\n", family.name(), absent.name, absent.reason);
        }
    }
    text
}

/// Every implementation on every small workload, in this process: a line per family that was asked.
fn test(families: &[&'static dyn AnyFamily], only: &[String]) -> anyhow::Result<Exit> {
    check_names(only, families, &[])?;
    let mut end = Exit::Done;
    for family in families {
        let (mut asked, mut checked) = (BTreeSet::new(), 0);
        for spec in family.small_cases() {
            let spec = family.completed(&spec)?;
            let expected = digest(*family, family.reference(), &spec)?;
            let expected = expected.with_context(|| format!("the reference has no {spec}"))?;
            for entry in family.entries() {
                let names = [entry.id.as_str(), entry.meta.name, spec.operation.as_str()];
                let is_wanted = only.is_empty() || only.iter().any(|n| names.contains(&n.as_str()));
                if !is_wanted {
                    continue;
                }
                let Some(found) = digest(*family, &entry.id, &spec)? else { continue };
                asked.insert(entry.id.clone());
                if found == expected {
                    checked += 1;
                    continue;
                }
                end = Exit::Incomplete;
                let (family, id) = (family.name(), &entry.id);
                output::print(format!(
                    "{family} {id} on {spec}: wrong, {found} instead of {expected}\n"
                ))?;
            }
        }
        if asked.is_empty() {
            continue;
        }
        let (name, asked) = (family.name(), plural(asked.len(), "implementation"));
        output::print(format!("{name}: {asked}, {checked} right answers\n"))?;
    }
    Ok(end)
}

/// The digest of one iteration; `None` where the contender does not take part.
fn digest(family: &dyn AnyFamily, id: &str, spec: &Spec) -> anyhow::Result<Option<Digest>> {
    let mut digest = None;
    let opened = family.open(id, spec, &mut |opened| {
        let mut prepared = opened.prepared;
        digest = Some(prepared.sample(1, &mut Untimed));
    });
    match opened {
        Ok(()) => Ok(digest),
        Err(OpenError::Unsupported(_)) => Ok(None),
        Err(error) => Err(error).with_context(|| format!("{} {id} on {spec}", family.name())),
    }
}
