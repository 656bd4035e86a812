//! `fathom bench FAMILY`: the contenders of a family in the same rounds, checked against its
//! reference, with verdicts.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::ensure;
use fathom_measure::bench::{Bench, BenchError, Entrant};
use fathom_measure::conductor::{Conductor, Launch, Piece, Seat};
use fathom_measure::family::AnyFamily;
use fathom_measure::provision::{Prepare, Provision};
use fathom_measure::result::Case;
use fathom_measure::sample::Failure;
use fathom_measure::workload::Spec;

use crate::choices;
use crate::exit::Exit;
use crate::interrupt;
use crate::measuring::{
    self, Libraries, Method, Show, bounds, entrant, is_complete, new_run, show_with,
};
use crate::names::{self, is_named};
use crate::output;

/// Measure the contenders of a family against each other, answers checked, with verdicts
///
/// Every contender runs in a process of its own, all in the same rounds in balanced random order.
/// No time is shown for a contender whose answer differs from the reference's. How to read a
/// verdict: docs/method.md.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The family (fathom list says what each is)
    #[arg(value_parser = names::families())]
    family: String,

    /// Data files, for families that work on files; each gives cases of its own
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Only these contenders, by name; `name` stands for all its variants, `na*` for all that begin so
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    only: Vec<String>,

    /// Compare with this contender [default: the family's reference if it takes part, else the
    /// first]
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,

    /// Only this operation of the family
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,

    /// A parameter of the workload; several values, separated by commas, give a case each
    #[arg(long = "set", short = 'p', value_name = "NAME=VALUE,…")]
    parameters: Vec<String>,

    /// An outside program that speaks the worker protocol (docs/protocol.md) takes part with what
    /// it offers for this family
    #[arg(long = "worker", value_name = "COMMAND")]
    workers: Vec<String>,

    /// How long a contender may take for one sample, or a worker to say what it has, before it counts as
    /// hung
    #[arg(long, value_parser = measuring::duration, value_name = "TIME", default_value = "2m")]
    hang: Duration,

    /// Run every contender once on small data and check its answer; no times
    #[arg(long, conflicts_with_all = ["baseline", "Method", "Show"])]
    test: bool,

    #[command(flatten)]
    choices: choices::Choices,

    #[command(flatten)]
    method: Method,

    #[command(flatten)]
    show: Show,

    #[command(flatten)]
    libraries: Libraries,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let files = options.files.iter().map(PathBuf::as_path);
    let inputs = files.chain(measuring::traces(&options.parameters));
    options.show.ensure_possible(&inputs.collect::<Vec<_>>())?;
    options.libraries.choose()?;
    let family = names::family(&options.family)?;
    let entrants = entrants(options, family)?;
    let specs = specs(options, family)?;
    if options.test {
        return test(options, family, &entrants, &specs);
    }
    let all: Vec<_> = specs.iter().map(|spec| &spec.parameters).collect();
    options.show.ensure_drawable(&all)?;
    let stop = interrupt::measuring();
    let mut run = new_run()?;
    let (mut end, mut refused) = (Ok(()), None);
    for spec in specs {
        match measured(options, family, &entrants, spec) {
            Ok(case) => run.cases.push(case),
            // What cannot be done here may be one case of several, and nobody may have asked for it.
            Err(error) if is_refused(&error) => {
                run.notes.push(format!("not measured: {error:#}"));
                refused.get_or_insert(error);
            }
            // What was measured before is no less worth.
            Err(error) if !run.cases.is_empty() => {
                run.notes.push(format!("ended early: {error:#}"));
                end = Err(error);
                break;
            }
            Err(error) => return Err(error),
        }
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            run.notes.push("interrupted: the rest was not measured".to_owned());
            break;
        }
    }
    if let (true, Some(error)) = (run.cases.is_empty(), refused) {
        return Err(error);
    }
    show_with(&run, &options.show, &choices::tables(&run))?;
    end?;
    Ok(if is_complete(&run.cases) { Exit::Done } else { Exit::Incomplete })
}

/// Whether the reference does not take part, and so nobody does.
fn is_refused(error: &anyhow::Error) -> bool {
    let failure = match error.downcast_ref() {
        Some(BenchError::Reference { failure, .. }) => Some(failure),
        _ => None,
    };
    matches!(failure, Some(Failure::Unsupported { .. }))
}

fn measured(
    options: &Options,
    family: &dyn AnyFamily,
    entrants: &[Entrant],
    spec: Spec,
) -> anyhow::Result<Case> {
    let baseline = options.baseline.as_deref().unwrap_or(family.reference());
    let plan = options.method.plan(Duration::from_secs(2));
    let asked = spec.clone();
    let case = measuring::measured(Bench {
        prepare: Some(Prepare::new(family, &spec)),
        baseline: entrants.iter().position(|entrant| entrant.id == baseline).unwrap_or(0),
        share_file: family.wants_bytes(),
        events: options.method.events(),
        bounds: bounds(Some(options.hang)),
        empty: Some(measuring::worker(None)?),
        simulate: options.method.simulates(),
        ..measuring::usual(family, spec, entrants.to_vec(), plan)?
    });
    case.map_err(|error| explained(error, family, &asked))
}

/// The error, or what is wrong with the file or a parameter, if that is why the reference could not be opened.
pub(super) fn explained(
    error: anyhow::Error,
    family: &dyn AnyFamily,
    spec: &Spec,
) -> anyhow::Error {
    let is_broken = |error: &BenchError| matches!(error, BenchError::Reference { failure, .. } if is_broken(failure));
    match error.downcast_ref().is_some_and(is_broken) {
        true => cause(family, spec).unwrap_or(error),
        false => error,
    }
}

fn is_broken(failure: &Failure) -> bool {
    matches!(failure, Failure::Broken { .. })
}

/// What is wrong with the file or a parameter, if anything is: why the reference could not be opened.
fn cause(family: &dyn AnyFamily, spec: &Spec) -> Option<anyhow::Error> {
    family.prepared(spec).err().map(anyhow::Error::from)
}

/// Who takes part: what was chosen of the build's contenders, then the outside workers'.
fn entrants(options: &Options, family: &dyn AnyFamily) -> anyhow::Result<Vec<Entrant>> {
    let mut others = Vec::new();
    for command in &options.workers {
        others.extend(outside(command, family.name(), options)?);
    }
    let mut found = choices::chosen(&options.choices, &options.only, family)?;
    if found.is_empty() {
        found = named(&options.only, family, &others)?;
    }
    found.extend(others);
    found.extend(choices::outside(&options.choices, family)?);
    if let Some(baseline) = &options.baseline {
        let takes_part = found.iter().any(|entrant| entrant.id == *baseline);
        let plain = baseline.split(['@', ',']).next().unwrap_or(baseline);
        if !takes_part && !family.entries().iter().any(|entry| is_named(&entry.id, plain)) {
            return Err(names::no_contender(plain, family).context("--baseline"));
        }
        ensure!(takes_part, "the baseline {baseline:?} does not take part");
    }
    Ok(found)
}

/// The contenders that `--only` names, or else all that take part unasked.
fn named(
    only: &[String],
    family: &dyn AnyFamily,
    others: &[Entrant],
) -> anyhow::Result<Vec<Entrant>> {
    let mut found = Vec::new();
    let entries = family.entries();
    for entry in &entries {
        if only.is_empty() && choices::is_shown(family, &entry.id) {
            found.push(entrant(&entry.id, &entry.meta)?);
        }
    }
    for wanted in only {
        let (plain, allocator) = match wanted.split_once('@') {
            Some((plain, allocator)) => (plain, Some(allocator)),
            None => (wanted.as_str(), None),
        };
        let is_wanted = |entrant: &Entrant| is_named(&entrant.id, wanted);
        let mut any = found.iter().chain(others).any(is_wanted);
        for entry in entries.iter().filter(|entry| is_named(&entry.id, plain)) {
            let id = match allocator {
                Some(allocator) => format!("{}@{allocator}", entry.id),
                None => entry.id.clone(),
            };
            if !found.iter().any(|entrant| entrant.id == id) {
                found.push(entrant(&id, &entry.meta)?);
            }
            any = true;
        }
        if !any {
            return Err(names::no_contender(plain, family));
        }
    }
    Ok(found)
}

/// What an outside worker offers for the family.
fn outside(command: &str, family: &str, options: &Options) -> anyhow::Result<Vec<Entrant>> {
    let (launch, worker) = measuring::outside(command, "worker ", options.hang)?;
    let offered = worker.offered.iter().filter(|offered| offered.family == family);
    let families: BTreeSet<&str> = worker.offered.iter().map(|o| &*o.family).collect();
    let families = Vec::from_iter(families).join(", ");
    let has = if families.is_empty() { "nothing" } else { &families };
    ensure!(
        offered.clone().next().is_some(),
        "worker {command:?} offers nothing of {family}; it has {has}"
    );
    let is_wanted = |name: &str| {
        options.only.is_empty() || options.only.iter().any(|wanted| is_named(name, wanted))
    };
    let wanted = offered.filter(|offered| is_wanted(&offered.name));
    Ok(wanted.map(|offered| measuring::entrant_outside(offered, &launch)).collect())
}

/// The cases: the family's own, or the product of what was asked for, for each file.
fn specs(options: &Options, family: &dyn AnyFamily) -> anyhow::Result<Vec<Spec>> {
    let mut specs = if options.test { family.small_cases() } else { family.cases() };
    if let Some(operation) = &options.operation {
        specs.retain(|spec| spec.operation == *operation);
        if specs.is_empty() {
            specs.push(Spec::new(operation, &[]));
        }
    }
    if !options.files.is_empty() {
        // Operations with data of their own are no cases of a file, unless somebody asks for one.
        let is_asked = options.operation.is_some() || family.made().is_empty();
        specs.retain(|spec| is_asked || family.takes_file(spec));
        specs = without_made(specs, family);
    }
    let threads: Vec<String> = options.choices.threads.iter().map(u16::to_string).collect();
    let threads = (!threads.is_empty()).then(|| format!("threads={}", threads.join(",")));
    let mut specs = measuring::combined(specs, options.parameters.iter().chain(&threads))?;
    if !options.files.is_empty() {
        let with = |file: &PathBuf, spec: &Spec| Spec { file: Some(file.clone()), ..spec.clone() };
        let mut seen = BTreeSet::new();
        let files = options.files.iter().filter(|file| seen.insert(*file));
        specs = files.flat_map(|file| specs.iter().map(|spec| with(file, spec))).collect();
    }
    measuring::completed(family, &specs, &options.parameters)
}

/// The same for a file: cases that differ only in data to be made are one case.
fn without_made(specs: Vec<Spec>, family: &dyn AnyFamily) -> Vec<Spec> {
    let mut cases = Vec::new();
    for mut spec in specs {
        spec.parameters.retain(|name, _| !family.made().contains(&name.as_str()));
        if !cases.contains(&spec) {
            cases.push(spec);
        }
    }
    cases
}

/// Every contender once on every small case: a line each, no times.
fn test(
    options: &Options,
    family: &dyn AnyFamily,
    entrants: &[Entrant],
    specs: &[Spec],
) -> anyhow::Result<Exit> {
    let seat = |contender: &str, launch: &Launch| Seat {
        launch: launch.clone(),
        family: family.name().to_owned(),
        contender: Some(contender.to_owned()),
    };
    let (mut end, mut tested) = (Exit::Done, 0);
    for spec in specs {
        let seats = entrants.iter().map(|e| seat(&e.contender, &e.launch)).collect();
        let piece = Piece {
            workload: spec.clone(),
            provision: Provision::new(None, Some(Prepare::new(family, spec))),
            events: Vec::new(),
            bounds: bounds(Some(options.hang)),
            stop: interrupt::measuring(),
            progress: Box::new(|_, _| {}),
        };
        let mut conductor = Conductor::new(seats, piece);
        let reference = seat(family.reference(), &measuring::worker(None)?);
        let digest = match conductor.expect(&reference) {
            Ok(digest) => digest,
            Err(failure @ Failure::Unsupported { .. }) => {
                let name = family.name();
                output::print(format!("{name} {spec}: not run: the reference {failure}\n"))?;
                continue;
            }
            Err(failure) => {
                let cause = is_broken(&failure).then(|| cause(family, spec)).flatten();
                return Err(cause.unwrap_or_else(|| {
                    anyhow::Error::from(failure).context(format!("the reference on {spec}"))
                }));
            }
        };
        tested += 1;
        output::print(format!("{} {spec}: {digest}\n", family.name()))?;
        for (entrant, failure) in entrants.iter().zip(conductor.open()) {
            let word = match &failure {
                None => "ok".to_owned(),
                Some(failure) => failure.to_string(),
            };
            if failure.is_some_and(|f| !matches!(f, Failure::Unsupported { .. })) {
                end = Exit::Incomplete;
            }
            output::print(format!("  {:<24} {word}\n", entrant.id))?;
        }
    }
    // What cannot be run here may be one case of several, but not all.
    Ok(if tested > 0 { end } else { Exit::Incomplete })
}
