//! `fathom selftest`: the audit of the method that anyone can run, on planted contenders whose true
//! differences and failures are known.

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context;
use clap::ValueEnum;
use fathom_contenders::planted;
use fathom_machine::describe::Machine;
use fathom_measure::bench::Bench;
use fathom_measure::compare::Verdict;
use fathom_measure::conductor::Bounds;
use fathom_measure::family::AnyFamily;
use fathom_measure::result::{Build, Case};
use fathom_measure::rounds::{Plan, Stop};
use fathom_measure::sample::Failure;
use fathom_measure::stats::median;
use fathom_measure::workload::Spec;
use serde::Serialize;

use crate::exit::Exit;
use crate::interrupt;
use crate::measuring::{self, bounds, entrant, nanoseconds};
use crate::output::Output;

/// Audit the method here and now: false verdicts on identical code, planted differences and faults
///
/// Compares identical code again and again and counts the verdicts, all of which are false; compares
/// copies that do exactly 1, 2 and 5 % more work and counts how often that is seen; and plants a
/// wrong answer, crashes, a hang and an allocation without end. Ends with code 1 if more than 1 % of
/// the verdicts on identical code are false, a difference is called in the wrong direction, or a
/// fault is not reported for what it is.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Comparisons of identical code
    #[arg(long, value_name = "N", default_value_t = 100)]
    comparisons: u32,

    /// Time received per contender in each of them
    #[arg(long, value_parser = measuring::duration, value_name = "TIME", default_value = "100ms")]
    budget_same: Duration,

    /// The planted differences
    #[arg(long, value_name = "PERCENT,…", value_delimiter = ',', default_value = "1,2,5",
          value_parser = ["1", "2", "5", "100"])]
    percent: Vec<String>,

    /// Comparisons for each planted difference
    #[arg(long, value_name = "N", default_value_t = 10)]
    slowdowns: u32,

    /// Time received per contender in each of them
    #[arg(long, value_parser = measuring::duration, value_name = "TIME", default_value = "2s")]
    budget: Duration,

    /// What the planted contenders do
    #[arg(long, value_enum, default_value = "registers")]
    kernel: Kernel,

    /// Threads that disturb meanwhile, as a compiler would: bursts of work over memory
    #[arg(long, value_name = "N", default_value_t = 0)]
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
    let load = Load::start(options.load)?;
    let mut disturbed = Vec::new();
    let same_plan = Plan {
        budget_ns: nanoseconds(options.budget_same),
        sample_ns: 2_000_000,
        stop: Stop::Budget,
        ..Plan::default()
    };
    let same = tally(options, "steady-too", &same_plan, options.comparisons, &mut disturbed)?;
    let plan = Plan { budget_ns: nanoseconds(options.budget), ..Plan::default() };
    let mut planted = Vec::new();
    for percent in options.percent.iter().filter(|_| options.slowdowns > 0) {
        let name = format!("slower-{percent}");
        let tally = tally(options, &name, &plan, options.slowdowns, &mut disturbed)?;
        planted.push(Planted { percent: percent.parse()?, tally });
    }
    let faults = faults(options)?;
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
    let text = match options.format {
        Format::Text => audit.text(),
        Format::Json => serde_json::to_string_pretty(&audit)? + "\n",
    };
    let mut output = Output::create(&options.output)?;
    output.write_all(text.as_bytes())?;
    output.finish()?;
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
        let case = compare(options, &["steady", name], &plan, bounds(None))?;
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
            eprintln!("{name}: {} of {count} comparisons", number + 1);
        }
    }
    tally.interval_width_median = median(&widths).unwrap_or(0.0);
    tally.received_s_median = median(&received).unwrap_or(0.0);
    tally.wall_s_median = median(&walls).unwrap_or(0.0);
    Ok(tally)
}

/// One measurement of planted contenders; the first is baseline and reference.
fn compare(options: &Options, names: &[&str], plan: &Plan, bounds: Bounds) -> anyhow::Result<Case> {
    let family = &planted::FAMILY;
    let operation = match options.kernel {
        Kernel::Registers => planted::REGISTERS,
        Kernel::Memory => planted::MEMORY,
    };
    let entries = family.entries();
    let entrants: anyhow::Result<Vec<_>> = names
        .iter()
        .map(|name| {
            let entry = entries.iter().find(|entry| entry.id == *name);
            entrant(name, &entry.context("no such planted contender")?.meta)
        })
        .collect();
    let spec = family.completed(&Spec::new(operation, &[]))?;
    measuring::measured(Bench {
        reference: None,
        bounds,
        ..measuring::usual(family, spec, entrants?, plan.clone())?
    })
}

/// All faults in one measurement, next to contenders that are sound.
fn faults(options: &Options) -> anyhow::Result<Vec<Fault>> {
    let names = ["steady", "wrong", "crash", "late-crash", "hang", "hungry", "slower-100"];
    let limit = Duration::from_secs(5);
    let bounds =
        Bounds { memory_bytes: Some(256 << 20), open: limit, sample: limit, ..bounds(None) };
    let plan = Plan { budget_ns: 100_000_000, sample_ns: 2_000_000, ..Plan::default() };
    let case = compare(options, &names, &plan, bounds)?;
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
            "identical code: {} false verdicts in {comparisons} comparisons ({:.2} %), {withheld} \
             withheld; {}",
            faster + slower,
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

/// Threads that behave somewhat like a compiler: bursts of work over a few megabytes, short pauses.
struct Load {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    fn start(threads: u32) -> anyhow::Result<Load> {
        let mut load = Load { stop: Arc::default(), threads: Vec::new() };
        for number in 0..threads {
            let stop = Arc::clone(&load.stop);
            let thread = std::thread::Builder::new();
            let thread = thread.spawn(move || disturb(&stop, u64::from(number)));
            load.threads.push(thread.context("cannot start a disturbing thread")?);
        }
        Ok(load)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A disturber that panicked disturbs no more; nothing of the result is its.
            let _ = thread.join();
        }
    }
}

fn disturb(stop: &AtomicBool, number: u64) {
    let mut random = fathom_measure::stats::Random::new(number);
    let mut memory = vec![1_u64; 1 << 19];
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..random.below(40) {
            let start = random.below(memory.len() / 2);
            for word in &mut memory[start..start + (1 << 18)] {
                *word = word.rotate_left(5) ^ 0x9e37;
            }
            black_box(&memory);
        }
        std::thread::sleep(Duration::from_micros(random.below(1500) as u64));
    }
}
