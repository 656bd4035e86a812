//! `fathom kv bench`: exactly these structures, hash functions, allocators and operations, as tables
//! or in kvbench's layout.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use fathom_contenders::alloc::SYSTEM;
use fathom_contenders::{hash, kv};
use fathom_measure::bench::{Bench, Entrant};
use fathom_measure::conductor::Bounds;
use fathom_measure::provision::Prepare;
use fathom_measure::result::Case;
use fathom_measure::workload::Spec;

use super::candidate::{self, Candidate};
use super::choice::{Choice, Source};
use super::data::{self, Prepared};
use super::full::bounds;
use super::layout::{self, Config};
use crate::cmd::bench::explained;
use crate::exit::Exit;
use crate::interrupt;
use crate::measuring::{self, Method, Show};
use crate::output;
use crate::value;

/// How everything but blocks is shown.
const SHOWN: [&str; 6] = ["format", "open", "columns", "time_unit", "sort", "style"];

/// Measure exactly these structures on the keys of a file
///
/// kvbench's command line is understood: -f FILE -F bin-text -d f14 -h xxhash:XX3_64bits -a
/// mimalloc. Every operation is a case of its own, all combinations in the same rounds.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Options {
    #[command(flatten)]
    source: Source,

    #[command(flatten)]
    choice: Choice,

    /// The operations: insert, build, find-same, find-hit, find-miss, find-mixed, find-zipf, update,
    /// erase, churn, iterate, scan, range, shared, replay; touch, which only reads the probes, is always measured
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        default_value = "insert,find-same,find-hit,find-miss"
    )]
    operation: Vec<String>,

    /// A parameter of the operations: probes, hit, skew, span, seed, table (built or grown), for shared
    /// threads, reads, hot, inserts, erases, and for replay trace (its file); several values are a case
    /// each: threads=1,2,4
    #[arg(short = 'p', long = "set", value_name = "NAME=VALUE,…")]
    parameters: Vec<String>,

    /// Also on random parts of the file, of so many keys each: 1k,10k, or 100k..200k:8 for eight
    /// sizes evenly apart, which shows how full tables are; the whole file comes last
    #[arg(long, value_name = "COUNT,…", value_delimiter = ',', value_parser = sizes)]
    sizes: Vec<Sizes>,

    /// Compare with this combination [default: the first]
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,

    /// Show the result in kvbench's layout of blocks, as valid JSON
    #[arg(long, conflicts_with_all = SHOWN)]
    blocks: bool,

    /// With --blocks: how many of the last rounds are shown
    #[arg(long, value_name = "N", default_value_t = 1, requires = "blocks",
          conflicts_with_all = SHOWN)]
    record_runs: usize,

    /// How long a contender may take to get ready, or for a sample, before it counts as hung
    /// [default: 60s, and 10s more for every million keys]
    #[arg(long, value_parser = measuring::duration, value_name = "TIME")]
    hang: Option<Duration>,

    #[command(flatten)]
    method: Method,

    #[command(flatten)]
    show: Show,

    /// Print help
    #[arg(long, action = clap::ArgAction::Help)]
    help: Option<bool>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let stop = interrupt::measuring();
    let path = options.source.path()?;
    let traces = measuring::traces(&options.parameters);
    options.show.ensure_possible(&traces.chain([path]).collect::<Vec<_>>())?;
    if options.blocks {
        say!("loading '{}'", path.display());
    }
    let parts: Vec<usize> = options.sizes.iter().flat_map(|sizes| sizes.0.clone()).collect();
    let prepared = data::prepare(path, options.source.from.as_ref(), &parts, 1, 1)?;
    let keys = prepared.full.keys;
    if let Some(more) = parts.iter().find(|&&size| size > keys) {
        bail!("--sizes: {more} keys are more than the {keys} of {}", path.display());
    }
    if options.blocks {
        say!("000000000 bytes left");
    } else {
        prepared.describe(options.source.from.is_none());
    }
    let candidates = chosen(&options.choice)?;
    let entrants: Vec<Entrant> =
        candidates.iter().map(Candidate::entrant).collect::<anyhow::Result<_>>()?;
    let baseline = match &options.baseline {
        None => 0,
        Some(id) => {
            let found = entrants.iter().position(|entrant| entrant.id == *id);
            found.with_context(|| format!("the baseline {id:?} does not take part"))?
        }
    };
    let specs = specs(options, &prepared)?;
    let mut run = measuring::new_run()?;
    let touch = candidate::named(kv::SCAN)?.entrant()?;
    let bounds = bounds(options.hang, prepared.full.keys);
    // Few probes are touched in nearer caches than many.
    let probes = options.parameters.iter().filter_map(|given| given.strip_prefix("probes="));
    let probes = probes.filter_map(|values| Some(("probes", values.split(',').next()?)));
    let probes: Vec<_> = probes.take(1).collect();
    let scan = kv::family().completed(&prepared.full.spec(&Spec::new("touch", &probes)))?;
    // The samples' numbers, and beside them that of all keys.
    let rename = |workload: &mut Spec| {
        prepared.rename(workload);
        if !options.sizes.is_empty() {
            workload.parameters.entry("count".to_owned()).or_insert_with(|| keys.to_string());
        }
    };
    let mut named = specs.clone();
    named.iter_mut().for_each(rename);
    let all: Vec<_> = named.iter().map(|spec| &spec.parameters).collect();
    options.show.ensure_drawable(&all)?;
    run.cases.push(measured(options, scan, vec![touch], 0, &bounds)?);
    let mut end = Ok(());
    for spec in specs {
        match measured(options, spec, entrants.clone(), baseline, &bounds) {
            Ok(case) => run.cases.push(case),
            // What was measured before is no less worth; keys that were touched alone say nothing.
            Err(error) if run.cases.len() > 1 => {
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
    let (touched, others) = run.cases.split_first_mut().context("nothing was measured")?;
    prepared.rename(&mut touched.workload);
    others.iter_mut().for_each(|case| rename(&mut case.workload));
    if options.blocks {
        let saved = measuring::save(&run, options.show.save.as_deref());
        saved.and(show_blocks(options, &prepared, path, &candidates, &run.cases))?;
    } else {
        measuring::show(&run, &options.show)?;
    }
    end?;
    // Whoever touches keys alone is no structure, unless that is all that was asked for.
    let asked = if run.cases.len() > 1 { &run.cases[1..] } else { &run.cases };
    let is_complete = measuring::is_complete(asked);
    Ok(if is_complete { Exit::Done } else { Exit::Incomplete })
}

/// The combinations asked for: what is not said has the usual hash and the system's allocator.
fn chosen(choice: &Choice) -> anyhow::Result<Vec<Candidate>> {
    ensure!(!choice.structure.is_empty(), "which structures? --structure NAME,… or all");
    let mut all = choice.candidates(false, false)?;
    let is_usual = |candidate: &Candidate| {
        let has_usual = candidate.hash.as_deref().is_none_or(|name| name == hash::DEFAULT);
        (has_usual || !choice.hash.is_empty())
            && (candidate.allocator == SYSTEM || !choice.allocator.is_empty())
    };
    all.retain(is_usual);
    ensure!(!all.is_empty(), "nothing in this build has these names together");
    Ok(all)
}

/// A case for each operation, each part of the keys and each combination of parameters.
fn specs(options: &Options, prepared: &Prepared) -> anyhow::Result<Vec<Spec>> {
    let mut specs = Vec::new();
    // Touching is measured anyway, and no structure has a part in it.
    for operation in options.operation.iter().filter(|&operation| operation != kv::SCAN) {
        let data = prepared.samples.iter().chain([&prepared.full]);
        specs.extend(data.map(|data| data.spec(&Spec::new(operation, &[]))));
    }
    let specs = measuring::combined(specs, &options.parameters)?;
    measuring::completed(kv::family(), &specs, &options.parameters)
}

/// Numbers of keys.
#[derive(Clone, Debug, PartialEq)]
struct Sizes(Vec<usize>);

/// `1k`, or `1k..2k:5`: that many from the first to the last, evenly apart.
fn sizes(text: &str) -> Result<Sizes, String> {
    let number = |text: &str| match value::count(text)? as usize {
        0 => Err("a part of a file has one key at least".to_owned()),
        count => Ok(count),
    };
    let Some((first, rest)) = text.split_once("..") else {
        return Ok(Sizes(vec![number(text)?]));
    };
    let (last, steps) = rest.split_once(':').ok_or("a range of sizes ends in :HOW-MANY")?;
    let (first, last, steps) = (number(first)?, number(last)?, number(steps)?);
    if first >= last || !(2..=1000).contains(&steps) {
        return Err("expected a range from few to many, of 2 to 1000 sizes".to_owned());
    }
    let at = |step: usize| first + (last - first) * step / (steps - 1);
    Ok(Sizes((0..steps).map(at).collect()))
}

fn measured(
    options: &Options,
    spec: Spec,
    entrants: Vec<Entrant>,
    baseline: usize,
    bounds: &Bounds,
) -> anyhow::Result<Case> {
    let asked = spec.clone();
    let case = measuring::measured(Bench {
        baseline,
        share_file: true,
        prepare: Some(Prepare::new(kv::family(), &spec)),
        events: events(&options.method),
        bounds: bounds.clone(),
        empty: Some(measuring::worker(None)?),
        simulate: options.method.simulates(),
        ..measuring::usual(
            kv::family(),
            spec,
            entrants,
            options.method.plan(Duration::from_secs(2)),
        )?
    });
    case.map_err(|error| explained(error, kv::family(), &asked))
}

/// The events asked for, and the one that kvbench divides by besides.
fn events(method: &Method) -> Vec<String> {
    const DIVISOR: &str = "ref-cycles";
    let mut events = method.events();
    if !events.is_empty() && !events.iter().any(|event| event == DIVISOR) {
        events.push(DIVISOR.to_owned());
    }
    events
}

fn show_blocks(
    options: &Options,
    prepared: &Prepared,
    path: &Path,
    candidates: &[Candidate],
    cases: &[Case],
) -> anyhow::Result<()> {
    let config = Config {
        filename: &path.display().to_string(),
        file_bytes: prepared.file_bytes,
        format: prepared.format.clone(),
        record_runs: options.record_runs.max(1),
    };
    let (scan, cases) = cases.split_first().context("nothing was measured")?;
    let document = layout::documents(candidates, Some(scan), cases, &config);
    let text = serde_json::to_string_pretty(&document)? + "\n";
    output::write(text.as_bytes(), &options.show.output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_one_or_evenly_apart() {
        assert_eq!(sizes("2k"), Ok(Sizes(vec![2000])));
        assert_eq!(sizes("100..200:3"), Ok(Sizes(vec![100, 150, 200])));
        for text in ["", "0", "0..4:2", "5..4:2", "1..9", "1..9:1", "x"] {
            assert!(sizes(text).is_err(), "{text}");
        }
    }
}
