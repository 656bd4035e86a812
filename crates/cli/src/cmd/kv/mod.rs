//! `fathom kv FILE`: which structure is best for the keys in FILE, with the proof.
//!
//! ```text
//! FILE ─▶ data: portrait, samples ─▶ ladder, screen: all combinations on few keys, fewer on more
//!      ─▶ full: the survivors at full size, in rounds ─▶ verdict: cost, front, advice ─▶ show
//! ```
//!
//! With `--trace` the mix is what a program did (`trace`). `fathom kv bench` skips the choice and runs
//! exactly what is asked.

mod advice;
mod alias;
mod bench;
mod candidate;
mod choice;
mod data;
mod explain;
mod full;
mod key_types;
mod ladder;
mod layout;
mod mix;
mod paste;
mod screen;
mod show;
mod special;
mod trace;
mod traced;
mod verdict;

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use fathom_contenders::kv;
use fathom_keys::Portrait;
use fathom_measure::result::{Case, Run};
use fathom_measure::rounds::End;
use fathom_report::number::plural;
use fathom_report::table::Look;
use serde::{Deserialize, Serialize};

use self::advice::Advice;
use self::candidate::Candidate;
use self::choice::{Choice, Source};
use self::data::Prepared;
use self::explain::Fate;
use self::full::{Scan, bounds, measured, plan, scanned, weight};
use self::ladder::{Climb, also, screened, seated};
use self::mix::{Mix, Part};
use self::screen::{Rung, Screen, Why};
use self::show::Extent;
use self::special::Special;
use self::traced::Traced;
use self::verdict::{Compound, Row, Standing, Weighed};
use crate::exit::Exit;
use crate::interrupt;
use crate::measuring;
use crate::output;
use crate::sheet;

/// Find the map, tree or trie that is best for the keys in a file, with proof
///
/// Looks at the keys, tries every structure × hash × allocator on a sample, measures the best at
/// full size in worker processes with answers checked, and advises in plain sentences. How to read
/// it, and what it does not tell: docs/kv.md. -h is the hash, as in kvbench; --help is this.
///
/// Names: fathom list map, tree, trie, store, hash or alloc.
#[derive(Debug, clap::Args)]
#[command(
    disable_help_flag = true,
    args_conflicts_with_subcommands = true,
    after_long_help = "Examples:\n  \
        fathom kv words.txt                     # which is best for these, in 50 s\n  \
        fathom kv users.csv -F csv:email --mix hit=0.5,miss=0.5\n  \
        fathom kv ids.u64 -F u64 --ordered --budget 5m\n  \
        fathom kv words.txt --concurrent 4 --mix hit=0.8,insert=0.1,erase=0.1\n  \
        fathom kv --trace orders.trace          # for what a program did, as recorded\n  \
        fathom kv words.txt -d hashbrown,f14,btreemap -a system,jemalloc\n  \
        fathom kv words.txt --specialise=words  # and a table made for these, as code\n  \
        fathom kv bench words.txt -d f14,cuckoo --operation find-hit,find-miss"
)]
pub(crate) struct Options {
    #[command(subcommand)]
    command: Option<Sub>,

    #[command(flatten)]
    source: Source,

    #[command(flatten)]
    choice: Choice,

    /// What is done to the keys, in shares of anything: hit, miss, insert, update, erase, churn,
    /// iterate, scan, range, zipf [default: hit=0.8,miss=0.1,insert=0.1, or with --ordered
    /// hit=0.7,insert=0.1,range=0.2]
    #[arg(long, value_name = "NAME=SHARE,…")]
    mix: Option<Mix>,

    /// What a program did instead of a mix: a line `get KEY`, `put KEY`, `del KEY` or `scan KEY N` for
    /// each operation, replayed on the keys of FILE or, without one, on none; - is stdin
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["mix", "concurrent"])]
    trace: Option<PathBuf>,

    /// Only structures that keep their keys in order
    #[arg(long)]
    ordered: bool,

    /// Only structures that several threads may share; so many do the mix at once, each with keys of
    /// its own to change and all keys to find: hit, miss, zipf, insert, update, erase, churn
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    concurrent: Option<u32>,

    /// Also makes a table for these very keys, which never changes, and measures it: which bytes tell them
    /// apart, a slot for each, no collisions; with a DIR writes it there as a module in Rust and C++,
    /// won or not [default --mix: hit=0.9,miss=0.1]
    #[arg(
        long,
        value_name = "DIR",
        num_args = 0..=1,
        require_equals = true,
        conflicts_with_all = ["trace", "ordered", "concurrent"]
    )]
    specialise: Option<Option<PathBuf>>,

    /// Wall time that all of it aims at; more finds smaller differences
    #[arg(long, value_parser = measuring::duration, value_name = "TIME", default_value = "50s")]
    budget: Duration,

    /// Every structure is measured at full size, each with the hash and allocator that suited it
    /// best, the arena and stores on disk included; takes as long as it takes
    #[arg(long)]
    all: bool,

    /// Every combination is tried on all keys, and all that are near the fastest are measured at full size: no
    /// sample decides anything. Takes minutes to an hour; --budget is for the measuring alone
    #[arg(long, conflicts_with = "all")]
    exhaustive: bool,

    /// These are measured at full size too, however they do before: hashbrown+foldhash@jemalloc
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    also: Vec<String>,

    /// Exactly these are measured at full size, beside the usual choice, and nobody is tried before
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', conflicts_with_all = ["all", "exhaustive", "also", "structure", "hash", "allocator"])]
    exactly: Vec<String>,

    /// The keys as the map's own, too, as programs hold strings: these types are measured at full size in the
    /// standard library's map, and that with references to keys beside them
    #[arg(
        long,
        value_name = "TYPE,…",
        value_delimiter = ',',
        value_parser = key_types::parser(),
        conflicts_with_all = ["ordered", "concurrent", "exactly"]
    )]
    key_as: Vec<String>,

    /// Seed of samples and orders
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// How long a contender may take to get ready, or for a sample, before it counts as hung
    /// [default: 60s, and 10s more for every million keys]
    #[arg(long, value_parser = measuring::duration, value_name = "TIME")]
    hang: Option<Duration>,

    /// How to show the result; json has everything
    #[arg(long, value_enum, default_value_t = Shown::Text)]
    format: Shown,

    /// Every column of the table, what the keys are like, and how the finalists were found
    #[arg(long)]
    wide: bool,

    /// Also a line for each combination that was considered: on which keys it was ruled out, and why; in
    /// text and JSON, not on a page
    #[arg(long, conflicts_with = "open")]
    explain: bool,

    /// Only what to take, its code and the table
    #[arg(long, conflicts_with = "wide")]
    brief: bool,

    /// Write it to this file instead of stdout
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,

    /// Show the page in the browser; in place of --format
    #[arg(long, conflicts_with = "format")]
    open: bool,

    /// Also save the measurements for `report`, `diff` and `history`: a file, or a folder
    #[arg(long, value_name = "PATH")]
    save: Option<PathBuf>,

    /// Structures that fail on purpose take part too: a test of the method
    #[arg(long, hide = true)]
    planted: bool,

    /// Print help
    #[arg(long, action = clap::ArgAction::Help)]
    help: Option<bool>,
}

#[derive(Debug, clap::Subcommand)]
enum Sub {
    Bench(Box<bench::Options>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Shown {
    /// For a terminal
    Text,
    /// Everything: portrait, screening, rows, advice, every sample
    Json,
    /// One self-contained page with plots
    Html,
}

/// The end of it all but the measurements: what a saved run keeps of it, and pages show.
#[derive(Serialize, Deserialize)]
struct Verdict {
    schema: Cow<'static, str>,
    version: u32,
    file: Origin,
    portrait: Portrait,
    /// The portrait as people read it.
    portrait_words: String,
    /// Where the keys were while they were measured.
    data: String,
    mix: String,
    /// What the trace does, where one was replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trace: Option<Traced>,
    screening: Vec<Rung>,
    /// Combinations of structure, hash and allocator.
    #[serde(default)]
    considered: usize,
    /// What became of each, where that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    fates: Vec<Fate>,
    scan: Option<Scan>,
    method: String,
    baseline: String,
    rows: Vec<Row>,
    #[serde(flatten)]
    advice: Advice,
    /// Who is out because it failed.
    losses: Vec<String>,
    notes: Vec<String>,
}

/// Everything, for programs.
#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    verdict: &'a Verdict,
    run: &'a Run,
}

/// The user's file.
#[derive(Serialize, Deserialize)]
struct Origin {
    name: String,
    format: String,
    bytes: u64,
}

/// What [`Verdict`] is called in saved runs.
const SCHEMA: &str = "fathom-kv";

/// Keys of the samples that combinations are tried on.
const SAMPLES: [usize; 3] = [2_048, 16_384, 131_072];
pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    if let Some(Sub::Bench(options)) = &options.command {
        return bench::run(options);
    }
    ensure!(
        !options.explain || options.format != Shown::Html,
        "--explain is for --format text and json: a page has no line for each combination"
    );
    let mut outputs =
        vec![("--output", Some(&*options.output)), ("--save", options.save.as_deref())];
    let folder = options.specialise.as_ref().and_then(Option::as_deref);
    let written = folder.map_or_else(Vec::new, special::written);
    outputs.extend(written.iter().map(|path| ("--specialise", Some(&**path))));
    let inputs = options.source.named().into_iter().chain(options.trace.as_deref());
    output::ensure_files_apart(&outputs, &inputs.collect::<Vec<_>>())?;
    output::ensure_writable(&options.output)?;
    options.save.as_deref().map_or(Ok(()), measuring::ensure_savable)?;
    let mut start = Instant::now();
    let stop = interrupt::measuring();
    // A name that nothing has is told before the keys are read.
    let mut candidates = options.choice.candidates(options.all, options.planted)?;
    if options.concurrent.is_some() {
        // It does the work of all threads on one, as the oracle: nobody may share it.
        candidates.retain(|candidate| candidate.structure != kv::members()[0].reference());
        ensure!(!candidates.is_empty(), "no structure asked for may be shared by threads");
    }
    let also = also(options, &candidates)?;
    if !options.exactly.is_empty() {
        candidates.clone_from(&also);
    }
    let (prepared, parts, mix) = asked(options)?;
    prepared.describe(options.source.from.is_none());
    key_types::check(options, &prepared)?;
    let special = options.specialise.clone();
    let special = special.map(|folder| Special::made(folder, &prepared, &parts)).transpose()?;
    let bounds = bounds(options.hang, prepared.size());
    if options.ordered {
        screen::ensure_ordered(&also, &prepared, bounds.clone())?;
    }
    let mut screen =
        Screen::new(&candidates, &parts, options.seed, prepared.key_bytes, bounds.clone());
    screen.must_be_ordered = options.ordered;
    let climb = match options.exactly.is_empty() {
        true => screened(options, &prepared, &mut screen, &mut start)?,
        false => Climb::begun(candidates.len()),
    };
    drop(screen);
    if options.exhaustive {
        start = Instant::now();
    }
    // The usual choice can do what is measured.
    let walks_in_order = |part: &Part| ["scan", "range"].contains(&&*part.workload.operation);
    let is_ordered = options.ordered
        || parts.iter().any(walks_in_order)
        || prepared.trace.as_ref().is_some_and(|t| t.scans > 0);
    let (mut finalists, baseline) =
        seated(options, &candidates, &climb.finalists, also, is_ordered)?;
    let mut fates = explain::settled(climb.fates, &candidates, &finalists, prepared.full.keys);
    if let Some(special) = &special {
        let seated: Vec<String> = finalists.iter().map(Candidate::id).collect();
        finalists
            .extend(special.candidates()?.into_iter().filter(|own| !seated.contains(&own.id())));
    }

    let deadline = start + options.budget;
    let mut cases: Vec<Weighed> = Vec::new();
    let mut share = full::ROUNDS_SHARE;
    let scan = scanned(&prepared.full, bounds.clone())?;
    for (done, part) in parts.iter().enumerate() {
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            break;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let slice = left.mul_f64(weight(part) / parts[done..].iter().map(weight).sum::<f64>());
        let (limit, begun) = (slice.mul_f64(share), Instant::now());
        let plan = plan(options, limit, finalists.len(), parts.len(), prepared.size());
        let spec = full::spec(&prepared.full, part);
        let mut case = measured(spec, &finalists, baseline, plan, bounds.clone())?;
        share = full::rounds_share(limit, begun.elapsed());
        prepared.rename(&mut case.workload);
        cases.push(Weighed { case, share: part.share });
    }
    let missing = missing(&parts, &cases);
    if !missing.is_empty() {
        let were = if missing.len() == 1 { "was" } else { "were" };
        let missing = advice::listed(&missing);
        say!(
            "fathom: interrupted before {missing} {were} measured: no verdict without all of the mix"
        );
        return Ok(Exit::Incomplete);
    }
    // Whom the screen did not try may have no place in it.
    let all: Vec<&Case> = cases.iter().map(|weighed| &weighed.case).collect();
    fates.iter_mut().for_each(|fate| fate.told_by(&all));
    let lacks = !options.exactly.is_empty() && fates.iter().any(|fate| fate.why == Why::Lacks);
    let (verdict, mut run) = judged(
        options,
        mix,
        prepared,
        (climb.rungs, fates),
        finalists,
        baseline,
        cases,
        scan,
        special.as_ref(),
    )?;
    let json = (options.format == Shown::Json)
        .then(|| serde_json::to_string(&Whole { verdict: &verdict, run: &run }))
        .transpose()?;
    run.answer = serde_json::to_value(&verdict)?;
    let saved = measuring::save(&run, options.save.as_deref());
    let text = match (json, options.open || options.format == Shown::Html) {
        (Some(json), _) => json + "\n",
        (None, true) => fathom_report::html::run(&run, &Look::default()),
        (None, false) => {
            show::text(&verdict, output::width(), Extent::of(options.wide, options.brief))
        }
    };
    // Neither fails for the other.
    let written = special.map_or(Ok(()), Special::write);
    sheet::put(text.as_bytes(), &options.output, options.open)?;
    saved.and(written)?;
    let lost = lacks
        || !measuring::is_complete(&run.cases)
        || verdict.screening.iter().any(|rung| !rung.failures.is_empty());
    Ok(if lost { Exit::Incomplete } else { Exit::Done })
}

/// The operations that nobody has a figure of, because the measurement was interrupted.
fn missing(parts: &[Part], cases: &[Weighed]) -> Vec<String> {
    let is_measured = |number: usize| {
        cases.get(number).is_some_and(|Weighed { case, .. }| {
            case.measured.end != End::Interrupted
                || case.judged.summaries.iter().any(Option::is_some)
        })
    };
    let names = parts.iter().enumerate().filter(|(number, _)| !is_measured(*number));
    names.map(|(_, part)| part.workload.operation.clone()).collect()
}

/// The data, what is measured on it, and that in words.
fn asked(options: &Options) -> anyhow::Result<(Prepared, Vec<Part>, String)> {
    if let Some(path) = &options.trace {
        let prepared = trace::prepare(path, &options.source, &SAMPLES, options.seed)?;
        let part = prepared.trace.as_ref().map(|trace| (trace.part(), trace.words()));
        let (part, words) = part.context("a trace")?;
        return Ok((prepared, vec![part], words));
    }
    let path = options.source.path()?;
    let mix = options.mix.clone();
    let mix = mix.unwrap_or_else(|| match options.specialise {
        Some(_) => special::usual_mix(),
        None => Mix::usual(options.ordered, options.concurrent),
    });
    let parts = mix.parts(options.concurrent)?;
    let prepared = data::prepare(path, options.source.from.as_ref(), &SAMPLES, 2, options.seed)?;
    Ok((prepared, parts, mix.words(options.concurrent)))
}

#[expect(clippy::too_many_arguments, reason = "the one place where everything meets")]
fn judged(
    options: &Options,
    mix: String,
    prepared: Prepared,
    (screening, fates): (Vec<Rung>, Vec<Fate>),
    finalists: Vec<Candidate>,
    baseline: usize,
    cases: Vec<Weighed>,
    scan: Option<Scan>,
    special: Option<&Special>,
) -> anyhow::Result<(Verdict, Run)> {
    let Prepared { portrait, name, format, file_bytes, key_bytes, trace, .. } = prepared;
    // If the usual choice failed, the method compares with somebody else.
    let baseline = cases.first().map_or(baseline, |weighed| weighed.case.roles.baseline);
    let rows = verdict::rows(&finalists, &cases, baseline, key_bytes);
    let mut advice = advice::advice(&rows, &finalists, &cases, baseline, &mix, &portrait);
    for caution in cautions(options.concurrent, portrait.distinct as usize, &cases) {
        advice.sentences.push(caution.clone());
        advice.beside.push(caution);
    }
    advice.sentences.extend(key_types::sentences(&rows, &finalists, &cases));
    if let Some(special) = special {
        advice.sentences.extend(special.sentences(&rows, &finalists, &cases));
    }
    let data = cases
        .iter()
        .flat_map(|weighed| &weighed.case.contenders)
        .map(|row| row.data.clone())
        .find(|data| !data.is_empty())
        .unwrap_or_default();
    let method =
        cases.first().map_or_else(String::new, |weighed| method(&weighed.case, cases.len()));
    let mut run = measuring::new_run()?;
    let losses = screening.iter().flat_map(|rung| failures(&rung.failures)).collect();
    let mut notes = notes(&screening, data::unit(trace.is_some()));
    if options.choice.is_open() {
        notes.extend(candidate::absent(&options.choice.candidates(true, false)?));
    }
    for weighed in cases {
        notes.extend(weighed.case.notes.iter().cloned());
        run.cases.push(weighed.case);
    }
    let verdict = Verdict {
        schema: SCHEMA.into(),
        version: 1,
        file: Origin { name, format, bytes: file_bytes },
        portrait_words: portrait.to_string(),
        portrait,
        data,
        mix,
        trace,
        screening,
        considered: fates.len(),
        fates: if options.explain { fates } else { Vec::new() },
        scan,
        method,
        baseline: finalists[baseline].id(),
        rows,
        advice,
        losses,
        notes,
    };
    Ok((verdict, run))
}

/// What has to be known of the figures: that threads had little to do, or that somebody was impatient.
fn cautions(threads: Option<u32>, keys: usize, cases: &[Weighed]) -> Vec<String> {
    let few = threads.map(|threads| threads as usize).filter(|threads| keys < threads * ENOUGH);
    let few = few.map(|threads| {
        format!(
            "{} for {}: waking and awaiting the threads is part of each figure, of few keys most of it. \
             --concurrent tells what structures take from some {} on.",
            plural(keys, "key"),
            plural(threads, "thread"),
            plural(threads * ENOUGH, "key"),
        )
    });
    let last = cases.iter().find(|one| one.case.measured.end == End::Interrupted);
    let cut = last.map(|Weighed { case, .. }| {
        let rounds = plural(case.measured.rounds.len(), "round");
        format!("Interrupted: {} has {rounds} only.", case.workload.operation)
    });
    few.into_iter().chain(cut).collect()
}

/// Operations of each thread, of some 50 ns, beside which the 50 µs that it may take to wake it and to await it
/// are a tenth.
const ENOUGH: usize = 10_000;

/// The verdict of a saved run as it was shown, if the run is one of this command. A run of an older version
/// may lack what is shown now.
pub(crate) fn again(run: &Run) -> Option<String> {
    let verdict: Verdict = serde_json::from_value(run.answer.clone()).ok()?;
    let has = |option: &str| run.command.iter().any(|word| word == option);
    let extent = Extent::of(has("--wide"), has("--brief"));
    (verdict.schema == SCHEMA).then(|| show::text(&verdict, output::width(), extent))
}

/// Whether what a saved run of this command advises is proved to be faster than the usual choice, or is it.
pub(crate) fn is_proved(run: &Run) -> bool {
    let Ok(verdict) = serde_json::from_value::<Verdict>(run.answer.clone()) else { return false };
    let chosen = verdict.advice.choice.as_ref();
    let row = verdict.rows.iter().find(|row| Some(&row.id) == chosen);
    row.is_some_and(|row| stands(row, &verdict.baseline))
}

/// One without a ratio may be one that has no baseline, because that failed.
fn stands(row: &Row, baseline: &str) -> bool {
    let is_resolved = |ratio: Compound| ratio.standing() == Standing::Resolved;
    row.id == baseline || row.against_baseline.is_some_and(is_resolved)
}

/// How it was measured, in one line.
fn method(case: &Case, operations: usize) -> String {
    let rounds = plural(case.measured.rounds.len(), "round");
    let share = match operations {
        1 => "an error of 1 %".to_owned(),
        _ => format!("the {operations} operations share an error of 1 %"),
    };
    let clock = case.judged.clock.words();
    let floor = fathom_report::sentence::floor_words(case.judged.floor);
    format!(
        "one process each, {rounds} in balanced random order, {clock}, {floor}; {share}; every answer checked \
         against the standard library's"
    )
}

/// What the user should know about the screening.
fn notes(screening: &[Rung], unit: &str) -> Vec<String> {
    let mut notes = Vec::new();
    for rung in screening {
        notes.extend(rung.left_out.clone());
        let (unreached, keys) = (&rung.unreached, plural(rung.keys, unit));
        if rung.reached_nobody() {
            notes
                .push(format!("nobody was tried on {keys}, fewer decided: give a longer --budget"));
        } else if *unreached > 0 {
            let many = plural(*unreached, "combination");
            let were = if *unreached == 1 { "was" } else { "were" };
            notes.push(format!(
                "{many}, chosen by chance, {were} not tried on {keys}: give a longer --budget"
            ));
        }
    }
    notes
}

/// Who is out and why; those with the same reason together.
fn failures(failures: &[(String, String)]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (id, why) in failures {
        match reasons.iter_mut().find(|(known, _)| known == why) {
            Some((_, ids)) => ids.push(id),
            None => reasons.push((why, vec![id])),
        }
    }
    let sentence = |(why, ids): (&str, Vec<&str>)| match &ids[..] {
        [id] => format!("{id} is out: {why}"),
        [first, second] => format!("{first} and {second} are out: {why}"),
        [first, rest @ ..] => format!("{first} and {} others are out: {why}", rest.len()),
        [] => String::new(),
    };
    reasons.into_iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A verdict on half of a mix named who was best at that half, with a time of the whole.
    #[test]
    fn a_mix_is_measured_when_each_operation_has_a_figure() {
        use super::verdict::tests::weighed;
        let parts = "hit=0.5,insert=0.3,erase=0.2".parse::<Mix>().unwrap().parts(None).unwrap();
        let case = |number: usize| weighed(&parts[number].workload.operation, 0.3, &[10, 20], &[]);
        assert_eq!(missing(&parts, &[]), ["find-hit", "insert", "erase"]);
        assert_eq!(missing(&parts, &[case(0)]), ["insert", "erase"]);
        let mut cut = case(2);
        cut.case.measured.end = End::Interrupted;
        let said = cautions(None, 5, std::slice::from_ref(&cut));
        assert_eq!(said, ["Interrupted: erase has 16 rounds only."]);
        assert!(missing(&parts, &[case(0), case(1), cut]).is_empty());
        let mut nothing = case(2);
        nothing.case.measured.end = End::Interrupted;
        nothing.case.judged.summaries.fill(None);
        assert_eq!(missing(&parts, &[case(0), case(1), nothing]), ["erase"]);
    }

    #[test]
    fn without_a_baseline_nothing_is_proved() {
        use super::verdict::{rows, tests};
        let cases = [tests::weighed("insert", 1.0, &[1000, 500], &[])];
        let mut rows = rows(&tests::candidates(&["base", "quick"]), &cases, 0, 0.0);
        assert!(rows.iter().all(|row| stands(row, "base")));
        rows[1].against_baseline = None;
        assert!(!stands(&rows[1], "base"));
    }

    #[test]
    fn threads_that_have_little_to_do_are_told_of() {
        let said = cautions(Some(4), 1, &[]).concat();
        assert!(said.starts_with("1 key for 4 threads: waking and awaiting"), "{said}");
        assert!(said.ends_with("from some 40000 keys on."), "{said}");
        assert!(cautions(Some(4), 40_000, &[]).is_empty() && cautions(None, 1, &[]).is_empty());
    }

    #[test]
    fn a_rung_that_reached_nobody_puts_nobody_out() {
        let rung = |candidates, unsupported, unreached| Rung {
            keys: 2048,
            candidates,
            unsupported,
            unreached,
            ..Rung::default()
        };
        let rungs = [rung(9, 0, 1), rung(8, 2, 6), rung(8, 2, 0)];
        assert_eq!(
            notes(&rungs, "key"),
            [
                "1 combination, chosen by chance, was not tried on 2048 keys: give a longer --budget",
                "nobody was tried on 2048 keys, fewer decided: give a longer --budget",
            ]
        );
        assert!(show::screening(&rungs, 2, "key").ends_with("; 1 was not reached in time"));
    }

    #[test]
    fn those_who_are_out_for_the_same_reason_are_named_together() {
        let lost = |id: &str, why: &str| (id.to_owned(), why.to_owned());
        let all = [lost("a", "hung"), lost("b", "wrong"), lost("c", "hung"), lost("d", "hung")];
        assert_eq!(failures(&all), ["a and 2 others are out: hung", "b is out: wrong"]);
        assert_eq!(failures(&all[1..3]), ["b is out: wrong", "c is out: hung"]);
        let two = [lost("a", "hung"), lost("b", "hung")];
        assert_eq!(failures(&two), ["a and b are out: hung"]);
    }
}
