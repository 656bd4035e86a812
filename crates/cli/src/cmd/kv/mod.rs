//! `fathom kv FILE`: which structure is best for the keys in FILE, with the proof.
//!
//! ```text
//! FILE ─▶ data: portrait, samples ─▶ screen: all combinations on few keys, fewer on more
//!      ─▶ measured: the survivors at full size, in rounds ─▶ verdict: cost, front, advice ─▶ show
//! ```
//!
//! `fathom kv bench` skips the choice and runs exactly what is asked.

mod alias;
mod bench;
mod candidate;
mod data;
mod layout;
mod mix;
mod screen;
mod show;
mod verdict;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use fathom_contenders::kv;
use fathom_keys::{Format, Portrait};
use fathom_measure::bench::Bench;
use fathom_measure::conductor::Bounds;
use fathom_measure::family::{Absent, AnyFamily};
use fathom_measure::provision::Prepare;
use fathom_measure::result::{Case, Run};
use fathom_measure::rounds::{Plan, Stop};
use fathom_measure::workload::Spec;
use serde::Serialize;

use self::candidate::Candidate;
use self::data::{Data, Prepared};
use self::mix::{Mix, Part};
use self::screen::{Rung, Score, Screen};
use self::verdict::{Row, Weighed};
use crate::exit::Exit;
use crate::interrupt;
use crate::measuring::{self, Ticker};
use crate::output::Output;

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
        fathom kv words.txt                        which is best for these words, in 50 s\n  \
        fathom kv users.csv -F csv:email --mix hit=0.5,miss=0.5\n  \
        fathom kv ids.u64 -F u64 --ordered --budget 5m\n  \
        fathom kv words.txt --concurrent 4 --mix hit=0.8,insert=0.1,erase=0.1\n  \
        fathom kv words.txt -d hashbrown,f14,btreemap -a system,jemalloc\n  \
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

    /// Only structures that keep their keys in order
    #[arg(long)]
    ordered: bool,

    /// Only structures that several threads may share; so many do the mix at once, each with keys of
    /// its own to change and all keys to find: hit, miss, zipf, insert, update, erase, churn
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    concurrent: Option<u32>,

    /// Wall time for all of it; more finds smaller differences
    #[arg(long, value_parser = measuring::duration, value_name = "TIME", default_value = "50s")]
    budget: Duration,

    /// Every structure is measured at full size, each with the hash and allocator that suited it
    /// best, the arena and stores on disk included; takes as long as it takes
    #[arg(long)]
    all: bool,

    /// Seed of samples and orders
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// How long a contender may take to get ready, or for a sample, before it counts as hung
    /// [default: 60s, and 10s more for every million keys]
    #[arg(long, value_parser = measuring::duration, value_name = "TIME")]
    hang: Option<Duration>,

    /// How to show the result; json has everything
    #[arg(long, value_enum, default_value = "text")]
    format: Shown,

    /// Write it to this file instead of stdout
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,

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

/// Where keys come from.
#[derive(Debug, clap::Args)]
pub(super) struct Source {
    /// The file of keys; - is stdin
    #[arg(value_name = "FILE", conflicts_with = "alias")]
    file: Option<PathBuf>,

    /// The same, as kvbench has it
    #[arg(short = 'f', id = "alias", value_name = "FILE")]
    alias: Option<PathBuf>,

    /// Its format, told from its bytes where they tell: words, lines, csv:COLUMN[:DELIMITER],
    /// jsonl:FIELD, integers, u32, u64, bin-text, bin-text1, bin-text-kv, bin-slice-kv
    #[arg(short = 'F', long, value_name = "FORMAT")]
    from: Option<Format>,
}

/// Who takes part; nothing said is everybody.
#[derive(Debug, clap::Args)]
pub(super) struct Choice {
    /// Only these structures (kvbench's names too: cuckoo, f14, hot, art)
    #[arg(short = 'd', long, value_name = "NAME,…", value_delimiter = ',')]
    structure: Vec<String>,

    /// Only these hash functions (kvbench's names too: xxhash:XX3_64bits, t1ha::t1ha,
    /// city::cityhash64)
    #[arg(short = 'h', long, value_name = "NAME,…", value_delimiter = ',')]
    hash: Vec<String>,

    /// Only these allocators
    #[arg(short = 'a', long, value_name = "NAME,…", value_delimiter = ',')]
    allocator: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Shown {
    /// For a terminal
    Text,
    /// Everything: portrait, screening, rows, advice, every sample
    Json,
}

/// The end of it all.
#[derive(Serialize)]
struct Verdict {
    schema: &'static str,
    version: u32,
    file: Origin,
    portrait: Portrait,
    /// Where the keys were while they were measured.
    data: String,
    mix: String,
    screening: Vec<Rung>,
    scan: Option<Scan>,
    method: String,
    baseline: String,
    rows: Vec<Row>,
    advice: Vec<String>,
    notes: Vec<String>,
    run: Run,
}

/// The user's file.
#[derive(Serialize)]
struct Origin {
    name: String,
    format: String,
    bytes: u64,
}

/// What touching every key costs, in nanoseconds per key.
#[derive(Serialize)]
struct Scan {
    ns_median: f64,
    ns_low: f64,
    ns_high: f64,
}

/// Keys of the samples that combinations are tried on.
const SAMPLES: [usize; 3] = [2_048, 16_384, 131_072];
/// Share of the budget that screening may take.
const SCREENING_SHARE: f64 = 0.3;
/// Times the least time that nobody is worth.
const HOPELESS: f64 = 8.0;

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    if let Some(Sub::Bench(options)) = &options.command {
        return bench::run(options);
    }
    let mut start = Instant::now();
    let stop = interrupt::measuring();
    let path = options.source.path()?;
    let mix = options.mix.clone();
    let mix = mix.unwrap_or_else(|| Mix::usual(options.ordered, options.concurrent));
    let parts = mix.parts(options.concurrent)?;
    let prepared = data::prepare(path, options.source.from.as_ref(), &SAMPLES, 2, options.seed)?;
    let key_bytes = borrowed_bytes(&prepared.portrait);
    let mut candidates = options.choice.candidates(options.all, options.planted)?;
    if options.concurrent.is_some() {
        // It does the work of all threads on one, as the oracle: nobody may share it.
        candidates.retain(|candidate| candidate.structure != "btreemap");
        ensure!(!candidates.is_empty(), "no structure asked for may be shared by threads");
    }
    let bounds = bounds(options.hang, prepared.full.keys);
    let mut screen = Screen::new(&candidates, &parts, options.seed, key_bytes, bounds.clone());
    screen.must_be_ordered = options.ordered;
    let (chosen, screening) = screened(options, &prepared, &mut screen, &mut start)?;
    drop(screen);
    let (finalists, baseline) = seated(options, &candidates, &chosen)?;

    let deadline = start + options.budget;
    let mut cases: Vec<Weighed> = Vec::new();
    let scan = scanned(&prepared.full, bounds.clone())?;
    for (done, part) in parts.iter().enumerate() {
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            break;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let slice = left.mul_f64(weight(part) / parts[done..].iter().map(weight).sum::<f64>());
        let plan = plan(options, slice, finalists.len(), parts.len(), prepared.full.keys);
        let mut spec = prepared.full.spec(&part.workload);
        if let Some(probes) = probes(&part.workload.operation) {
            spec.parameters.insert("probes".to_owned(), probes.to_string());
        }
        let case = measured(spec, &finalists, baseline, plan, bounds.clone())?;
        cases.push(Weighed { case, share: part.share });
    }
    ensure!(!cases.is_empty(), "interrupted before anything was measured");
    let verdict = judged(options, &mix, prepared, screening, finalists, baseline, cases, scan)?;
    if let Some(path) = &options.save {
        measuring::save(&verdict.run, path)?;
    }
    let text = match options.format {
        Shown::Text => show::text(&verdict),
        Shown::Json => serde_json::to_string(&verdict)? + "\n",
    };
    let mut output = Output::create(&options.output)?;
    output.write_all(text.as_bytes())?;
    output.finish()?;
    let lost = verdict.rows.iter().any(|row| row.failure.is_some())
        || verdict.screening.iter().any(|rung| !rung.failures.is_empty());
    Ok(if lost { Exit::Incomplete } else { Exit::Done })
}

impl Source {
    fn path(&self) -> anyhow::Result<&Path> {
        self.file.as_deref().or(self.alias.as_deref()).context("no file of keys was given")
    }
}

impl Choice {
    /// Whether everybody is wanted.
    fn is_open(&self) -> bool {
        self.structure.is_empty() && self.allocator.is_empty()
    }

    /// The combinations that are wanted.
    ///
    /// # Errors
    /// A name that nothing in this build has.
    fn candidates(&self, everybody: bool, with_planted: bool) -> anyhow::Result<Vec<Candidate>> {
        let structures: Vec<&str> =
            self.structure.iter().map(|name| alias::structure(name)).collect();
        let hashes: Vec<String> = self.hash.iter().map(|name| alias::hash(name)).collect();
        let asks = |names: &[&str], prefix: &str| names.iter().any(|name| name.starts_with(prefix));
        let allocators: Vec<&str> = self.allocator.iter().map(String::as_str).collect();
        let unasked = |name: &str| {
            let named = allocators.contains(&name) || structures.contains(&name);
            named || (everybody && name != "counting")
        };
        let mut all = candidate::all(&unasked, with_planted || asks(&structures, "planted"));
        let any = |names: &[&str]| names.is_empty() || names == ["all"];
        for name in structures.iter().filter(|_| !any(&structures)) {
            let known = all.iter().any(|candidate| candidate.structure == *name);
            ensure!(
                known,
                "no structure {name:?} in this build; fathom list names them{}",
                absent(name)
            );
        }
        let hash_names: Vec<&str> = hashes.iter().map(String::as_str).collect();
        for name in hash_names.iter().filter(|_| !any(&hash_names)) {
            let known = all.iter().any(|candidate| candidate.hash.as_deref() == Some(*name));
            ensure!(known, "no hash function {name:?} in this build; fathom list hash names them");
        }
        for name in allocators.iter().filter(|_| !any(&allocators)) {
            measuring::worker(Some(name))?;
        }
        all.retain(|candidate| {
            let hash = candidate.hash.as_deref();
            (any(&structures) || structures.contains(&candidate.structure.as_str()))
                && (any(&hash_names) || hash.is_none_or(|hash| hash_names.contains(&hash)))
                && (any(&allocators) || allocators.contains(&candidate.allocator.as_str()))
        });
        Ok(all)
    }
}

/// Why a structure is not in this build, if it is known at all.
fn absent(name: &str) -> String {
    let families = kv::FAMILY.families().iter();
    let is_it = |absent: &&Absent| match absent.name.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => absent.name == name,
    };
    let found = families.flat_map(|family| family.absent()).find(is_it);
    found.map_or_else(String::new, |absent| format!(" ({})", absent.reason))
}

/// The ladder: who is measured, in the order of their time, and what the rungs did.
fn screened(
    options: &Options,
    prepared: &Prepared,
    screen: &mut Screen<'_>,
    start: &mut Instant,
) -> anyhow::Result<(Vec<usize>, Vec<Rung>)> {
    // With few keys the full data is the last rung.
    let mut data: Vec<&Data> = prepared.samples.iter().collect();
    if data.is_empty() {
        data.push(&prepared.full);
    }
    // On few keys the allocator decides nothing: each combination starts on one, and whoever goes on
    // goes on with all.
    let mut chosen: Vec<usize> = match data.len() {
        1 => (0..screen.candidates.len()).collect(),
        _ => screen::on_one_allocator(screen.candidates),
    };
    let mut rungs = Vec::new();
    let mut scores: Vec<Score> = Vec::new();
    for (number, sample) in data.iter().enumerate() {
        note(&format!("{} combinations on {} keys", chosen.len(), sample.keys));
        let share = SCREENING_SHARE * (number + 1) as f64 / data.len() as f64;
        let deadline = match options.all {
            true => *start + Duration::from_secs(86_400),
            false => *start + options.budget.mul_f64(share),
        };
        let (found, mut rung) = screen
            .rung(&chosen, sample, deadline)
            .map_err(|failure| anyhow::anyhow!("the reference {failure}"))?;
        // Nobody else pays for a hang.
        *start += Duration::from_secs_f64(rung.lost_seconds);
        let before = chosen.len();
        // Half of the logarithm: many combinations fall together, few one by one.
        let at_most = (before / 8).max(24);
        let hopeless = if options.all { f64::INFINITY } else { HOPELESS };
        let kept = screen::keep(&found, screen.candidates, at_most, hopeless);
        // A rung that reached nobody leaves the choice of the one before.
        if !found.is_empty() {
            (chosen, scores) = (kept, found);
        }
        rung.kept = chosen.len();
        rungs.push(rung);
        if number == 0 {
            chosen = screen::on_all_allocators(&chosen, screen.candidates);
        }
    }
    let many = match options.all {
        true => usize::MAX,
        false => (options.budget.as_secs() as usize / 12).clamp(4, 16),
    };
    let hopeless = if options.all { f64::INFINITY } else { HOPELESS };
    let finalists = screen::finalists(&scores, screen.candidates, many, hopeless);
    let lost = rungs.iter().flat_map(|rung| &rung.failures).map(|(id, why)| format!("{id} {why}"));
    let lacking = rungs.iter().filter_map(|rung| rung.lacking.clone());
    let why = lost.chain(lacking).next().map_or_else(String::new, |first| format!(": {first}"));
    ensure!(!finalists.is_empty(), "no combination could do what was asked{why}");
    if let Some(last) = rungs.last_mut() {
        last.kept = finalists.len();
        last.left_out = screen::small_but_slow(&scores, screen.candidates, hopeless);
    }
    Ok((finalists, rungs))
}

/// Those who are measured, and the number of the one all are compared with: what one takes without
/// thinking about it.
fn seated(
    options: &Options,
    candidates: &[Candidate],
    chosen: &[usize],
) -> anyhow::Result<(Vec<Candidate>, usize)> {
    let usual = match (options.ordered, options.concurrent) {
        (true, Some(_)) => "skiplist-crossbeam",
        (false, Some(_)) => "dashmap+siphash13",
        (true, None) => "btreemap",
        (false, None) => "std+siphash13",
    };
    let usual = candidate::named(usual)?;
    let mut seated: Vec<Candidate> =
        chosen.iter().map(|&number| candidates[number].clone()).collect();
    let found = seated.iter().position(|candidate| candidate.id() == usual.id());
    let baseline = found.unwrap_or_else(|| {
        seated.push(usual);
        seated.len() - 1
    });
    Ok((seated, baseline))
}

/// Part of the time that an operation gets: what is done to all keys takes longer each time.
fn weight(part: &Part) -> f64 {
    if probes(&part.workload.operation).is_some_and(|probes| probes > 100_000) { 1.0 } else { 2.0 }
}

/// How many probes a sample takes at most: many short samples say more than few long ones. What
/// inserts is proved by fewer. What erases needs them all.
fn probes(operation: &str) -> Option<usize> {
    match operation {
        "insert" | "build" => Some(100_000),
        "erase" => None,
        _ => Some(250_000),
    }
}

/// A plan whose rounds fill their part of `slice`; the rest is for getting ready.
fn plan(options: &Options, slice: Duration, seats: usize, parts: usize, keys: usize) -> Plan {
    let limit = slice.mul_f64(0.65);
    Plan {
        seed: options.seed,
        // The operations share the error of the whole.
        alpha: 0.01 / parts as f64,
        stop: Stop::Width { target: 0.01 },
        budget_ns: measuring::nanoseconds(limit) / (seats as u64 + 1),
        limit_ns: measuring::nanoseconds(if options.all {
            Duration::from_secs(3600)
        } else {
            limit
        }),
        iterations: (keys >= 100_000).then_some(1),
        warm_ups: 1,
        ..Plan::default()
    }
}

fn measured(
    spec: Spec,
    finalists: &[Candidate],
    baseline: usize,
    plan: Plan,
    bounds: Bounds,
) -> anyhow::Result<Case> {
    let spec = kv::FAMILY.completed(&spec)?;
    let title = format!("{} on {}", spec.operation, finalists.len());
    let ticker = Ticker::new(&title);
    let entrants = finalists.iter().map(Candidate::entrant).collect::<anyhow::Result<_>>()?;
    let reference = (kv::FAMILY.reference().to_owned(), measuring::worker(None)?);
    fathom_measure::bench::bench(Bench {
        family: kv::FAMILY.name(),
        workload: spec.clone(),
        reference: Some(reference),
        entrants,
        baseline,
        share_file: true,
        prepare: Some(Prepare::new(&kv::FAMILY, &spec)),
        events: Vec::new(),
        plan,
        bounds,
        empty: None,
        simulate: false,
        stop: interrupt::measuring(),
        progress: &mut |done, planned| ticker.tick(done, planned),
    })
    .with_context(|| title.clone())
}

/// What it costs to read every byte of every key once, in the order of the probes.
fn scanned(data: &Data, bounds: Bounds) -> anyhow::Result<Option<Scan>> {
    let touch = candidate::named(candidate::TOUCH)?;
    let launch = measuring::worker(None)?;
    let spec = kv::FAMILY.completed(&data.spec(&Spec::new("touch", &[])))?;
    let case = fathom_measure::bench::bench(Bench {
        family: kv::FAMILY.name(),
        workload: spec.clone(),
        reference: Some((kv::FAMILY.reference().to_owned(), launch)),
        entrants: vec![touch.entrant()?],
        baseline: 0,
        share_file: true,
        prepare: Some(Prepare::new(&kv::FAMILY, &spec)),
        events: Vec::new(),
        plan: Plan {
            rounds: Some(12),
            iterations: (data.keys >= 100_000).then_some(1),
            limit_ns: 2_000_000_000,
            ..Plan::default()
        },
        bounds,
        empty: None,
        simulate: false,
        stop: interrupt::measuring(),
        progress: &mut |_, _| {},
    })?;
    Ok(scan(&case))
}

fn scan(case: &Case) -> Option<Scan> {
    let items = case.work.items.max(1) as f64;
    let clock = case.judged.clock;
    let rounds = case.measured.rounds.iter().filter_map(|round| round.samples[0].as_ref());
    let per_item = items * case.measured.iterations.max(1) as f64;
    let times: Vec<f64> = rounds.map(|sample| clock.of(sample) as f64 / per_item).collect();
    let interval = fathom_measure::stats::sign_interval(&times, 0.01)?;
    let ns_median = fathom_measure::stats::median(&times)?;
    Some(Scan { ns_median, ns_low: interval.low, ns_high: interval.high })
}

#[expect(clippy::too_many_arguments, reason = "the one place where everything meets")]
fn judged(
    options: &Options,
    mix: &Mix,
    prepared: Prepared,
    screening: Vec<Rung>,
    finalists: Vec<Candidate>,
    baseline: usize,
    cases: Vec<Weighed>,
    scan: Option<Scan>,
) -> anyhow::Result<Verdict> {
    let Prepared { portrait, format, file_bytes, .. } = prepared;
    let key_bytes = borrowed_bytes(&portrait);
    // If the usual choice failed, the method compares with somebody else.
    let baseline = cases.first().map_or(baseline, |weighed| weighed.case.roles.baseline);
    let rows = verdict::rows(&finalists, &cases, baseline, key_bytes);
    let words = mix.words(options.concurrent);
    let advice = verdict::advice(&rows, &finalists, baseline, &words, &portrait);
    let data = cases
        .iter()
        .flat_map(|weighed| &weighed.case.contenders)
        .map(|row| row.data.clone())
        .find(|data| !data.is_empty())
        .unwrap_or_default();
    let method =
        cases.first().map_or_else(String::new, |weighed| method(&weighed.case, cases.len()));
    let mut run = measuring::new_run()?;
    let mut notes = notes(&screening);
    if options.choice.is_open() {
        notes.extend(candidate::absent());
    }
    for weighed in cases {
        notes.extend(weighed.case.notes.iter().cloned());
        run.cases.push(weighed.case);
    }
    let name = options.source.path()?.display().to_string();
    Ok(Verdict {
        schema: "fathom-kv",
        version: 1,
        file: Origin { name, format: format.to_string(), bytes: file_bytes },
        portrait,
        data,
        mix: words,
        screening,
        scan,
        method,
        baseline: finalists[baseline].id(),
        rows,
        advice,
        notes,
        run,
    })
}

/// How it was measured, in one line.
fn method(case: &Case, operations: usize) -> String {
    let rounds = case.measured.rounds.len();
    let clock = case.judged.clock.words();
    let floor = fathom_report::view::floor_words(case.judged.floor);
    format!(
        "one process each, {rounds} rounds in balanced random order, {clock}, {floor}; the \
         {operations} operation(s) share an error of 1 %; every answer checked against the standard \
         library's"
    )
}

/// Bytes of a key, on average, that lie in the file and not in a structure which borrows them. An
/// integer lies in the structure.
fn borrowed_bytes(portrait: &Portrait) -> f64 {
    match portrait.range {
        Some(_) => 0.0,
        None => portrait.bytes as f64 / portrait.keys as f64,
    }
}

/// What the user should know about the screening.
fn notes(screening: &[Rung]) -> Vec<String> {
    let mut notes = Vec::new();
    for rung in screening {
        notes.extend(failures(&rung.failures));
        notes.extend(rung.left_out.clone());
        if rung.unreached > 0 {
            notes.push(format!(
                "{} combinations, chosen by chance, were not tried on {} keys: give a longer \
                 --budget",
                rung.unreached, rung.keys
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

/// What workers may do: getting ready, the first checked sample included, may hang as well. With more
/// keys everything takes longer.
fn bounds(hang: Option<Duration>, keys: usize) -> Bounds {
    let usual = Duration::from_secs(60)
        + Duration::from_micros(10) * u32::try_from(keys).unwrap_or(u32::MAX);
    let hang = hang.unwrap_or(usual);
    Bounds { open: hang, ..measuring::bounds(Some(hang)) }
}

fn note(text: &str) {
    if std::io::stderr().is_terminal() {
        eprintln!("fathom kv: {text}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_are_out_for_the_same_reason_are_named_together() {
        let lost = |id: &str, why: &str| (id.to_owned(), why.to_owned());
        let all = [lost("a", "hung"), lost("b", "wrong"), lost("c", "hung"), lost("d", "hung")];
        assert_eq!(failures(&all), ["a and 2 others are out: hung", "b is out: wrong"]);
        assert_eq!(failures(&all[1..3]), ["b is out: wrong", "c is out: hung"]);
        let two = [lost("a", "hung"), lost("b", "hung")];
        assert_eq!(failures(&two), ["a and b are out: hung"]);
    }

    #[test]
    fn more_keys_mean_more_patience() {
        let hang = |given, keys| bounds(given, keys).sample.as_secs();
        assert_eq!(hang(None, 1_000_000), 70);
        assert_eq!(hang(None, 10_000_000), 160);
        assert_eq!(hang(Some(Duration::from_secs(5)), 10_000_000), 5);
    }
}
