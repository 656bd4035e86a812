//! `fathom selftest`: the audit of the method that anyone can run, on planted contenders whose true
//! differences and failures are known; with `--full`, the proof of what is promised.

mod full;
mod load;
mod subjects;

use std::fmt::Write as _;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::ValueEnum;
use fathom_contenders::planted;
use fathom_machine::describe::Machine;
use fathom_measure::compare::{Comparison, Verdict};
use fathom_measure::conductor::Bounds;
use fathom_measure::result::Build;
use fathom_measure::rounds::{Plan, Stop};
use fathom_measure::sample::Failure;
use fathom_measure::stats::median;
use fathom_report::number::plural;
use serde::Serialize;

use self::full::{Asked, Book, units};
use self::load::Load;
pub(crate) use self::subjects::planted_pair;
use crate::exit::Exit;
use crate::interrupt;
use crate::measuring::{self, bounds, nanoseconds};
use crate::output::{self, Output};
use crate::sheet;

/// Options of the audit that is not the full one.
const OTHERS: [&str; 6] = ["budget_same", "percent", "kernel", "load", "format", "output"];

/// Audit the method here and now: false verdicts on identical code, planted differences and faults
///
/// Compares identical code again and again and counts the verdicts, all of which are false; compares
/// copies that do exactly 1, 2 and 5 % more work and counts how often that is seen; and plants a
/// wrong answer, crashes, a hang and an allocation without end. Ends with code 1 if more than 1 % of
/// the verdicts on identical code are false, a difference is called in the wrong direction, or a
/// fault is not reported for what it is.
///
/// `--full FILE` proves what is promised, in as many sittings as it takes (the whole is about an hour): a
/// thousand comparisons of identical code in every family, in planted kernels and of commands, half of them
/// under load; planted differences of 1 and 5 % in kernels, of 3 % in every family; default runs of
/// `fathom cpu` against each other. Every finding goes to FILE, what is there is not measured again, and code
/// 1 means that a bound is broken or that something is left to do.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Prove everything, and keep it in this file, which a later call goes on with
    #[arg(long, value_name = "FILE", conflicts_with_all = OTHERS)]
    full: Option<PathBuf>,

    /// Default runs of `fathom cpu` [default: 10]
    #[arg(long, value_name = "N", requires = "full", conflicts_with_all = OTHERS)]
    cpu_runs: Option<u32>,

    /// Comparisons of identical code [default: 100, with --full 1000]
    #[arg(long, value_name = "N")]
    comparisons: Option<u32>,

    /// Time received per contender in each of them
    #[arg(long, value_parser = measuring::duration, value_name = "TIME", default_value = "100ms")]
    budget_same: Duration,

    /// The planted differences
    #[arg(long, value_name = "PERCENT,…", value_delimiter = ',', default_value = "1,2,5",
          value_parser = ["1", "2", "5", "100"])]
    percent: Vec<String>,

    /// Comparisons for each planted difference [default: 10]
    #[arg(long, value_name = "N")]
    slowdowns: Option<u32>,

    /// Time received per contender in each of them [default: 2s]; with --full, when to stop for now
    /// [default: never]
    #[arg(long, value_parser = measuring::duration, value_name = "TIME")]
    budget: Option<Duration>,

    /// What the planted contenders do
    #[arg(long, value_enum, default_value = "registers")]
    kernel: Kernel,

    /// Threads that disturb meanwhile, as a compiler would: bursts of work over memory
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=1024))]
    load: u32,

    /// How to show the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Write it to this file instead of stdout
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kernel {
    /// A chain of instructions in registers
    Registers,
    /// A chain of loads over 8 MiB
    Memory,
}

impl Kernel {
    fn operation(self) -> &'static str {
        match self {
            Kernel::Registers => planted::REGISTERS,
            Kernel::Memory => planted::MEMORY,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Sentences
    Text,
    /// For programs
    Json,
}

/// The audit's findings.
#[derive(Debug, Serialize)]
struct Audit {
    schema: &'static str,
    version: u32,
    command: Vec<String>,
    started: String,
    build: Build,
    machine: String,
    load_threads: u32,
    /// Share of samples whose wall time exceeded their processor time by more than 2 %, median.
    disturbed_share_median: f64,
    same: Tally,
    planted: Vec<Planted>,
    faults: Vec<Fault>,
}

/// What verdicts there were on one pair of contenders.
#[derive(Debug, Default, Serialize)]
struct Tally {
    comparisons: u32,
    faster: u32,
    slower: u32,
    not_resolved: u32,
    withheld: u32,
    /// Width of the ratio's interval, median over the comparisons.
    interval_width_median: f64,
    /// Largest error of the ratio, over the comparisons.
    ratio_error_most: f64,
    /// Processor time each contender received in the rounds, in seconds, median.
    received_s_median: f64,
    /// Wall time of a comparison's rounds, in seconds, median.
    wall_s_median: f64,
}

#[derive(Debug, Serialize)]
struct Planted {
    percent: u64,
    #[serde(flatten)]
    tally: Tally,
}

#[derive(Debug, Serialize)]
struct Fault {
    name: String,
    reported: String,
    as_expected: bool,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    match &options.full {
        Some(path) => prove(options, path),
        None => audit(options),
    }
}

/// `--full`.
fn prove(options: &Options, path: &Path) -> anyhow::Result<Exit> {
    let start = Instant::now();
    let run = measuring::new_run()?;
    let machine = Machine::here().title();
    let mut book = Book::new(run.command, run.started, run.build, run.level, machine);
    match fs::read(path) {
        Ok(text) => book = book.resumed(&text).with_context(|| path.display().to_string())?,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    }
    let has_cpu = cfg!(feature = "cpu");
    let asked = Asked {
        comparisons: options.comparisons.unwrap_or(1000),
        slowdowns: options.slowdowns.unwrap_or(10),
        cpu_runs: if has_cpu { options.cpu_runs.unwrap_or(10) } else { 0 },
    };
    let units = units(asked, &subjects::names(), &subjects::differences());
    ensure!(!units.is_empty(), "0 comparisons, 0 slow-downs and 0 runs: nothing would be proved");
    let stop = interrupt::measuring();
    let is_time_left = || {
        let is_over = options.budget.is_some_and(|budget| start.elapsed() >= budget);
        !is_over && !stop.load(Ordering::Relaxed)
    };
    let mut done = 0;
    let mut measure = |unit: &full::Unit| {
        let found = subjects::measured(unit)?;
        // What an interrupt left is no finding.
        ensure!(!stop.load(Ordering::Relaxed), "interrupted");
        done += 1;
        if done % 50 == 0 {
            say!("fathom: {done} measured");
        }
        Ok(found)
    };
    let mut save = |book: &Book| {
        let mut output = Output::create(path)?;
        output.write_all((serde_json::to_string(book)? + "\n").as_bytes())?;
        output.finish()
    };
    book.fill(&units, &is_time_left, &mut measure, &mut save)?;
    output::print(book.text())?;
    Ok(if book.is_proved() { Exit::Done } else { Exit::Incomplete })
}

fn audit(options: &Options) -> anyhow::Result<Exit> {
    output::ensure_writable(&options.output)?;
    let comparisons = options.comparisons.unwrap_or(100);
    let slowdowns = options.slowdowns.unwrap_or(10);
    let is_any = comparisons > 0 || (slowdowns > 0 && !options.percent.is_empty());
    ensure!(is_any, "--comparisons 0 and --slowdowns 0: nothing would be audited");
    let budget = options.budget.unwrap_or(Duration::from_secs(2));
    let load = Load::start(options.load)?;
    let mut disturbed = Vec::new();
    let same_plan = Plan {
        budget_ns: nanoseconds(options.budget_same),
        sample_ns: 2_000_000,
        stop: Stop::Budget,
        ..Plan::default()
    };
    let same = tally(options, "steady-too", &same_plan, comparisons, &mut disturbed)?;
    let plan = Plan { budget_ns: nanoseconds(budget), ..Plan::default() };
    let mut planted = Vec::new();
    for percent in options.percent.iter().filter(|_| slowdowns > 0) {
        let name = format!("slower-{percent}");
        let tally = tally(options, &name, &plan, slowdowns, &mut disturbed)?;
        planted.push(Planted { percent: percent.parse()?, tally });
    }
    let faults = faults()?;
    drop(load);
    let run = measuring::new_run()?;
    let audit = Audit {
        schema: "fathom-selftest",
        version: 1,
        command: run.command,
        started: run.started,
        build: run.build,
        machine: Machine::here().title(),
        load_threads: options.load,
        disturbed_share_median: median(&disturbed).unwrap_or(0.0),
        same,
        planted,
        faults,
    };
    match options.format {
        Format::Text => sheet::put_text(&audit.text(), &options.output, 2)?,
        Format::Json => {
            let text = serde_json::to_string_pretty(&audit)? + "\n";
            sheet::put(text.as_bytes(), &options.output, false)?;
        }
    }
    Ok(if audit.is_passed() { Exit::Done } else { Exit::Incomplete })
}

/// Compares `name` with the steady contender, `count` times, with a new seed and fresh processes
/// each time.
fn tally(
    options: &Options,
    name: &str,
    plan: &Plan,
    count: u32,
    disturbed: &mut Vec<f64>,
) -> anyhow::Result<Tally> {
    let stop = interrupt::measuring();
    let mut tally = Tally::default();
    let (mut widths, mut received, mut walls) = (Vec::new(), Vec::new(), Vec::new());
    let truth =
        1.0 + name.strip_prefix("slower-").map_or(0.0, |p| p.parse().unwrap_or(0.0)) / 100.0;
    for number in 0..count {
        if stop.load(Ordering::Relaxed) {
            anyhow::bail!("interrupted");
        }
        let plan = Plan { seed: u64::from(number) + 1, ..plan.clone() };
        let case =
            planted_pair(options.kernel.operation(), &["steady", name], &plan, bounds(None))?;
        let comparison = case.judged.comparisons.first().context("a contender failed")?;
        match comparison.verdict {
            Verdict::Faster => tally.faster += 1,
            Verdict::Slower => tally.slower += 1,
            Verdict::NotResolved { .. } => tally.not_resolved += 1,
            Verdict::Withheld { .. } => tally.withheld += 1,
        }
        tally.comparisons += 1;
        widths.extend(comparison.interval.map(|interval| interval.width()));
        let error = comparison.ratio.map_or(0.0, |ratio| (ratio / truth - 1.0).abs());
        tally.ratio_error_most = tally.ratio_error_most.max(error);
        disturbed.push(case.judged.disturbed_share);
        let samples = || case.measured.rounds.iter().filter_map(|r| r.samples[1].as_ref());
        received.push(samples().filter_map(|s| s.cpu_ns).sum::<u64>() as f64 / 1e9);
        let all = case.measured.rounds.iter().flat_map(|round| &round.samples).flatten();
        walls.push(all.map(|sample| sample.wall_ns).sum::<u64>() as f64 / 1e9);
        if (number + 1).is_multiple_of(50) {
            say!("{name}: {} of {count} comparisons", number + 1);
        }
    }
    tally.interval_width_median = median(&widths).unwrap_or(0.0);
    tally.received_s_median = median(&received).unwrap_or(0.0);
    tally.wall_s_median = median(&walls).unwrap_or(0.0);
    Ok(tally)
}

/// All faults in one measurement, next to contenders that are sound.
fn faults() -> anyhow::Result<Vec<Fault>> {
    let names = ["steady", "wrong", "crash", "late-crash", "hang", "hungry", "slower-100"];
    let limit = Duration::from_secs(5);
    let bounds =
        Bounds { memory_bytes: Some(256 << 20), open: limit, sample: limit, ..bounds(None) };
    let mut plan = Plan { sample_ns: 2_000_000, ..Plan::default() };
    // In registers, whatever else is planted: there the late ones come early enough for any budget.
    let mut measured = |budget_ns| {
        plan.budget_ns = budget_ns;
        planted_pair(planted::REGISTERS, &names, &plan, bounds.clone())
    };
    let mut case = measured(100_000_000)?;
    // Not resolved is no mistake; a restless machine takes longer to see the difference.
    for budget_ns in [400_000_000, 1_600_000_000] {
        let of_sound = |c: &&Comparison| case.measured.failures[c.contender].is_none();
        let is_open = |c: &Comparison| matches!(c.verdict, Verdict::NotResolved { .. });
        if case.judged.comparisons.iter().filter(of_sound).any(is_open) {
            case = measured(budget_ns)?;
        }
    }
    let faults = case.entrants().skip(1).map(|(number, row)| {
        let failure = case.measured.failures[number].as_ref();
        let as_expected = match row.id.as_str() {
            "wrong" => matches!(failure, Some(Failure::WrongAnswer { .. })),
            "crash" | "late-crash" => matches!(failure, Some(Failure::Crashed { .. })),
            "hang" => matches!(failure, Some(Failure::Hung { .. })),
            "hungry" => matches!(failure, Some(Failure::OutOfMemory { .. })),
            // Twice the work beside all those faults.
            _ => case.judged.comparisons.iter().any(|c| {
                c.contender == number
                    && c.verdict == Verdict::Slower
                    && c.ratio.is_some_and(|ratio| (1.8..2.2).contains(&ratio))
            }),
        };
        let reported = match failure {
            Some(failure) => failure.to_string(),
            None => {
                let own = case.judged.comparisons.iter().filter(|c| c.contender == number);
                own.map(|c| fathom_report::sentence::verdict(&case, c)).collect()
            }
        };
        Fault { name: row.id.clone(), reported, as_expected }
    });
    Ok(faults.collect())
}

impl Audit {
    fn is_passed(&self) -> bool {
        let wrong = self.same.faster + self.same.slower;
        wrong * 100 <= self.same.comparisons
            && self.planted.iter().all(|planted| planted.tally.faster == 0)
            && self.faults.iter().all(|fault| fault.as_expected)
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "$ {}", self.command.join(" "));
        let _ = writeln!(
            text,
            "{}; {} disturbing threads, {:.0} % of the samples disturbed",
            self.machine,
            self.load_threads,
            self.disturbed_share_median * 100.0
        );
        let Tally { comparisons, faster, slower, withheld, .. } = self.same;
        let _ = writeln!(
            text,
            "identical code: {} in {} ({:.2} %), {withheld} withheld; {}",
            plural((faster + slower) as usize, "false verdict"),
            plural(comparisons as usize, "comparison"),
            f64::from(faster + slower) * 100.0 / f64::from(comparisons.max(1)),
            self.same.figures()
        );
        for Planted { percent, tally } in &self.planted {
            let _ = writeln!(
                text,
                "{percent} % slower: called in {} of {} ({:.0} %), {} not resolved, {} withheld, \
                 {} in the wrong direction; {}",
                tally.slower,
                tally.comparisons,
                f64::from(tally.slower) * 100.0 / f64::from(tally.comparisons.max(1)),
                tally.not_resolved,
                tally.withheld,
                tally.faster,
                tally.figures()
            );
        }
        for fault in &self.faults {
            let word = if fault.as_expected { "as it should" } else { "NOT as it should" };
            let _ = writeln!(text, "planted {}: {} ({word})", fault.name, fault.reported);
        }
        let _ = writeln!(text, "{}", if self.is_passed() { "passed" } else { "NOT passed" });
        text
    }
}

impl Tally {
    fn figures(&self) -> String {
        format!(
            "median interval {:.2} % wide, largest error of a ratio {:.2} %, {:.2} s of processor time \
             per contender, {:.1} s wall",
            self.interval_width_median * 100.0,
            self.ratio_error_most * 100.0,
            self.received_s_median,
            self.wall_s_median
        )
    }
}
