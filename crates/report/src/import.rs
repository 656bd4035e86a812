//! Results of other harnesses as saved runs: criterion, Google Benchmark, hyperfine, pytest-benchmark.
//!
//! Every benchmark becomes a case with one contender: none of these harnesses interleaves, so nothing
//! is compared within a run. Where only statistics are there and no samples, one sample stands for them.

use std::collections::HashSet;
use std::fmt;

use fathom_measure::compare::Clock;
use fathom_measure::contender::Metric;
use fathom_measure::plan::{End, Measured, Plan, Round};
use fathom_measure::result::{Case, Row, without_place};
use fathom_measure::sample::Sample;
use fathom_measure::stats::median;
use fathom_measure::workload::{Spec, Work};
use serde_json::Value;

use crate::view::{BYTES_RATE, ITEMS_RATE};

/// A harness whose files are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harness {
    /// `sample.json` and `benchmark.json` of criterion, or the lines of `cargo criterion`.
    Criterion,
    /// `--benchmark_out_format=json`.
    Google,
    /// `--export-json`.
    Hyperfine,
    /// `--benchmark-json`.
    Pytest,
}

impl Harness {
    /// Its name, as a family.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Harness::Criterion => "criterion",
            Harness::Google => "google-benchmark",
            Harness::Hyperfine => "hyperfine",
            Harness::Pytest => "pytest-benchmark",
        }
    }
}

/// What a file had.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// A case for each benchmark.
    pub cases: Vec<Case>,
    /// When it was measured, as the file says it; empty where it does not, and none of a harness that never does.
    pub started: Option<String>,
    /// The machine, as the file says it.
    pub machine: Value,
    /// Benchmarks without samples.
    pub without_samples: usize,
    /// Benchmarks that were skipped or failed, at least in some runs; what did is in no case.
    pub left_out: usize,
    /// What went wrong where it was measured, a sentence each; also what was too short for it.
    pub failures: Vec<String>,
}

/// Text that is of no known harness.
#[derive(Debug)]
pub struct ImportError(String);

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ImportError {}

/// One benchmark: its name, nanoseconds per iteration of each sample, and what else is known.
#[derive(Default)]
struct Figures {
    name: String,
    ns: Vec<f64>,
    // By sample, as far as they are known.
    cpu_ns: Vec<Option<f64>>,
    peaks: Vec<Option<u64>>,
    /// Runs that ended with a code other than 0, which are no samples, and runs in all.
    failed: usize,
    runs: usize,
    work: Work,
    bytes: Rate,
    items: Rate,
    is_fresh: bool,
    /// Its one time is a mean or a median.
    is_summary: bool,
}

/// What was done by the time that the harness took for it; of each repetition that says so.
#[derive(Default)]
struct Rate {
    per_second: Vec<f64>,
    per_iteration: Vec<f64>,
}

/// By so small a share of it a count may be off that was a rate: no digit that is shown has it.
const NEAR: f64 = 1e-5;

impl Rate {
    fn add(&mut self, per_second: f64, ns: f64) {
        self.per_second.push(per_second);
        self.per_iteration.push(per_second * ns / 1e9);
    }

    /// How many an iteration; 0 where that is no whole number, for a rate of a rounded one is another.
    fn count(&self) -> u64 {
        let count = median(&self.per_iteration).unwrap_or(0.0);
        let whole = count.round();
        if (count - whole).abs() <= whole * NEAR { whole as u64 } else { 0 }
    }

    /// The harness's own figure.
    fn metric(&self, name: &str) -> Option<Metric> {
        let value = median(&self.per_second)?;
        Some(Metric { name: name.to_owned(), value, less_is_better: Some(false) })
    }
}

/// The cases of a file, be it behind a byte order mark; `name` is shown in errors.
///
/// # Errors
/// What is no JSON, with line and column, or no file of a harness.
pub fn import(name: &str, text: &[u8]) -> Result<Imported, ImportError> {
    let unknown = || ImportError(format!("{name}: of no harness that is known here"));
    let text = without_mark(text);
    let (harness, all, imported) = match serde_json::from_slice::<Value>(text) {
        Ok(value) => of_value(&value).ok_or_else(unknown)?,
        // Of `cargo criterion`: a value in each line.
        Err(error) => {
            let mut all = Vec::new();
            let lines = text.split(|byte| *byte == b'\n').enumerate();
            let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
            for (nth, (number, line)) in lines.enumerate() {
                // One value over several lines is broken where that is, not at the end of its first line.
                let value: Value = serde_json::from_slice(line).map_err(|inner| match nth {
                    0 => no_json(name, &error, 0),
                    _ => no_json(name, &inner, number),
                })?;
                all.extend(message(&value).ok_or_else(|| {
                    ImportError(format!("{name}:{}: not as criterion writes it", number + 1))
                })?);
            }
            (Harness::Criterion, all, Imported::default())
        }
    };
    if all.is_empty() {
        let failures: String = imported.failures.iter().map(|said| format!("; {said}")).collect();
        return Err(ImportError(format!("{name}: no benchmarks in it{failures}")));
    }
    finished(name, harness, all, imported)
}

/// One benchmark of criterion, from the two files it keeps of it.
///
/// # Errors
/// As [`import`].
pub fn criterion(name: &str, sample: &[u8], benchmark: &[u8]) -> Result<Imported, ImportError> {
    let read = |text: &[u8], what: &str| {
        let wrong = |error| no_json(&format!("{name}/{what}"), &error, 0);
        serde_json::from_slice::<Value>(without_mark(text)).map_err(wrong)
    };
    let (sample, about) = (read(sample, "sample.json")?, read(benchmark, "benchmark.json")?);
    let parts = per_iteration(&sample["times"], &sample["iters"]).zip(about["full_id"].as_str());
    let (ns, id) =
        parts.ok_or_else(|| ImportError(format!("{name}: not as criterion writes it")))?;
    let throughput = &about["throughput"];
    let (both, whole) = (&throughput["ElementsAndBytes"], |value: &Value| value.as_u64());
    let work = Work {
        bytes: whole(&throughput["Bytes"])
            .or_else(|| whole(&throughput["BytesDecimal"]))
            .or_else(|| whole(&both["bytes"]))
            .or_else(|| {
                whole(&throughput["Bits"]).filter(|bits| bits % 8 == 0).map(|bits| bits / 8)
            })
            .unwrap_or(0),
        items: whole(&throughput["Elements"]).or_else(|| whole(&both["elements"])).unwrap_or(0),
    };
    let mut bytes = Rate::default();
    // Of what is no whole number of bytes.
    if let (0, Some(bits), Some(time)) = (work.bytes, whole(&throughput["Bits"]), median(&ns)) {
        bytes.add(bits as f64 / 8.0 * 1e9 / time, time);
    }
    let figures = Figures { name: id.to_owned(), ns, work, bytes, ..Figures::default() };
    finished(name, Harness::Criterion, vec![figures], Imported::default())
}

fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text)
}

/// Of a text that begins behind so many lines.
fn no_json(name: &str, error: &serde_json::Error, lines: usize) -> ImportError {
    let (line, column) = (lines + error.line(), error.column().max(1));
    ImportError(format!("{name}:{line}:{column}: no JSON: {}", without_place(error)))
}

type Found = (Harness, Vec<Figures>, Imported);

fn of_value(value: &Value) -> Option<Found> {
    if value["reason"].is_string() {
        let all = message(value)?.into_iter().collect();
        return Some((Harness::Criterion, all, Imported::default()));
    }
    if let Some(results) = value["results"].as_array() {
        let mut all = results.iter().map(hyperfine).collect::<Option<Vec<Figures>>>()?;
        let failed = |figures: &Figures| {
            let Figures { name, ns, failed, runs, .. } = figures;
            (*failed > 0).then(|| match ns.is_empty() && failed < runs {
                true => format!(
                    "{name}: {failed} of {runs} runs failed, and the mean is of all: left out"
                ),
                false => format!("{name}: left out {failed} of {runs} runs, which failed"),
            })
        };
        let failures: Vec<String> = all.iter().filter_map(failed).collect();
        let left_out = failures.len();
        all.retain(|figures| figures.failed == 0 || !figures.ns.is_empty());
        let imported = Imported { failures, left_out, ..Imported::default() };
        return Some((Harness::Hyperfine, all, imported));
    }
    let benchmarks = value["benchmarks"].as_array()?;
    if value["machine_info"].is_object() {
        let all: Option<Vec<Figures>> = benchmarks.iter().map(pytest).collect();
        let started = Some(value["datetime"].as_str().unwrap_or_default().to_owned());
        let machine = value["machine_info"].clone();
        return Some((Harness::Pytest, all?, Imported { started, machine, ..Imported::default() }));
    }
    let context = value["context"].as_object()?;
    let started = context.get("date").and_then(Value::as_str).unwrap_or_default();
    let started = Some(started.to_owned());
    let machine = value["context"].clone();
    let failures: Vec<String> = benchmarks.iter().filter_map(untimed).collect();
    let left_out = failures.len();
    let imported = Imported { started, machine, failures, left_out, ..Imported::default() };
    Some((Harness::Google, google(benchmarks)?, imported))
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    value.as_array()?.iter().map(Value::as_f64).collect()
}

fn hyperfine(result: &Value) -> Option<Figures> {
    let codes = result["exit_codes"].as_array().map_or(&[][..], Vec::as_slice);
    // Of a run that a signal ended there is none.
    let is_done = |code: &Value| code.as_i64() == Some(0);
    let failed = codes.iter().filter(|code| !is_done(code)).count();
    let times = &result["times"];
    let times = if times.is_null() { None } else { Some(numbers(times)?) };
    if times.as_ref().is_some_and(|times| ![0, times.len()].contains(&codes.len())) {
        return None;
    }
    let is_summary = times.is_none();
    let seconds = match times {
        Some(times) => times,
        // Without --export-json's runs, as some tools keep it: the mean is of those that failed, too.
        None if failed > 0 => Vec::new(),
        None => vec![result["mean"].as_f64()?],
    };
    let done = seconds.iter().enumerate().filter(|(run, _)| codes.get(*run).is_none_or(is_done));
    let peaks = &result["memory_usage_byte"];
    let peak = |run: usize| match is_summary {
        true => peaks.as_array()?.iter().filter_map(Value::as_u64).max(),
        false => peaks[run].as_u64(),
    };
    let (ns, peaks) = done.map(|(run, seconds)| (seconds * 1e9, peak(run))).unzip();
    let mut name = match result["command"].as_str()? {
        // As `run` shows it.
        "" => "''".to_owned(),
        command => command.to_owned(),
    };
    for (parameter, value) in result["parameters"].as_object().into_iter().flatten() {
        let value = value.as_str()?;
        // As a part of a word it may be another's.
        if name.split_whitespace().all(|word| word != value) {
            name = format!("{name} {parameter}={value}");
        }
    }
    Some(Figures {
        name,
        ns,
        peaks,
        failed,
        runs: codes.len(),
        is_fresh: true,
        is_summary,
        ..Figures::default()
    })
}

/// Why a benchmark of Google's has no times, if so: it failed, or ended itself without an error.
fn untimed(benchmark: &Value) -> Option<String> {
    let ends =
        [("error_occurred", "failed", "error_message"), ("skipped", "was skipped", "skip_message")];
    let (_, how, why) =
        ends.into_iter().find(|(flag, ..)| benchmark[*flag] == Value::Bool(true))?;
    let name = benchmark["name"].as_str().unwrap_or_default();
    Some(format!("{name} {how}: {}", benchmark[why].as_str().unwrap_or("no reason is given")))
}

/// The repetitions of each benchmark together; where only aggregates of it were written, its median.
fn google(benchmarks: &[Value]) -> Option<Vec<Figures>> {
    let is_run =
        |benchmark: &Value| benchmark["run_type"].as_str().is_none_or(|kind| kind == "iteration");
    fn name_of(benchmark: &Value) -> Option<&str> {
        benchmark["run_name"].as_str().or(benchmark["name"].as_str())
    }
    let with_runs: HashSet<_> = benchmarks.iter().filter(|b| is_run(b)).map(name_of).collect();
    let is_taken = |benchmark: &&Value| match with_runs.contains(&name_of(benchmark)) {
        true => is_run(benchmark),
        false => benchmark["aggregate_name"] == "median",
    };
    let mut all: Vec<Figures> = Vec::new();
    for benchmark in benchmarks.iter().filter(is_taken) {
        if untimed(benchmark).is_some() {
            continue;
        }
        let name = name_of(benchmark)?;
        let unit = unit_ns(benchmark["time_unit"].as_str().unwrap_or("ns"));
        let ns = benchmark["real_time"].as_f64()? * unit;
        let cpu_ns = benchmark["cpu_time"].as_f64().map(|time| time * unit);
        let rated_ns = cpu_ns.filter(|_| !is_rated_by_wall(name)).unwrap_or(ns);
        if all.iter().all(|figures| figures.name != name) {
            let is_summary = !is_run(benchmark);
            all.push(Figures { name: name.to_owned(), is_summary, ..Figures::default() });
        }
        let figures = all.iter_mut().find(|figures| figures.name == name)?;
        figures.ns.push(ns);
        figures.cpu_ns.push(cpu_ns);
        for (rate, name) in [(&mut figures.bytes, BYTES_RATE), (&mut figures.items, ITEMS_RATE)] {
            let said = benchmark[name].as_f64().filter(|rate| *rate > 0.0);
            said.into_iter().for_each(|said| rate.add(said, rated_ns));
        }
    }
    for figures in &mut all {
        figures.work = Work { bytes: figures.bytes.count(), items: figures.items.count() };
    }
    Some(all)
}

/// Not a number for what is none of these: its benchmark is refused with the name.
fn unit_ns(unit: &str) -> f64 {
    match unit {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => f64::NAN,
    }
}

/// Whether Google Benchmark divided what was done by wall time, as `UseRealTime` and `UseManualTime` ask;
/// it takes processor time otherwise.
fn is_rated_by_wall(name: &str) -> bool {
    name.split('/').any(|part| matches!(part, "real_time" | "manual_time"))
}

fn pytest(benchmark: &Value) -> Option<Figures> {
    let name = benchmark["fullname"].as_str().or(benchmark["name"].as_str())?.to_owned();
    let stats = &benchmark["stats"];
    // There with --benchmark-save-data only.
    let data = numbers(&stats["data"]).filter(|data| !data.is_empty());
    let is_summary = data.is_none();
    let seconds = match data {
        Some(data) => data,
        None => vec![stats["median"].as_f64()?],
    };
    let ns = seconds.iter().map(|seconds| seconds * 1e9).collect();
    Some(Figures { name, ns, is_summary, ..Figures::default() })
}

/// A line of `cargo criterion --message-format=json`: what it has, if it is about a benchmark; `None` if it is
/// not as criterion writes it.
fn message(value: &Value) -> Option<Option<Figures>> {
    if value["reason"] != "benchmark-complete" {
        return Some(None);
    }
    let unit = unit_ns(&value["unit"].as_str()?.replace('µ', "u"));
    let ns = per_iteration(&value["measured_values"], &value["iteration_count"])?;
    let ns = ns.into_iter().map(|time| time * unit).collect();
    let done = |unit: &str| {
        let found = value["throughput"].as_array()?.iter().find(|done| done["unit"] == unit)?;
        found["per_iteration"].as_u64()
    };
    let work = Work { bytes: done("bytes").unwrap_or(0), items: done("elements").unwrap_or(0) };
    let name = value["id"].as_str()?.to_owned();
    Some(Some(Figures { name, ns, work, ..Figures::default() }))
}

/// The time of one iteration in each of criterion's samples; each has a count of its own.
fn per_iteration(times: &Value, counts: &Value) -> Option<Vec<f64>> {
    let (times, counts) = (numbers(times)?, numbers(counts)?);
    let each = || times.iter().zip(&counts).map(|(time, count)| time / count).collect();
    (times.len() == counts.len()).then(each)
}

/// Iterations of a sample, so that times per iteration keep a thousandth of a nanosecond.
const ITERATIONS: f64 = 1000.0;

fn finished(
    name: &str,
    harness: Harness,
    all: Vec<Figures>,
    mut imported: Imported,
) -> Result<Imported, ImportError> {
    for figures in &all {
        let is_time = |ns: &f64| (0.0..1e15).contains(ns);
        if figures.ns.is_empty() || !figures.ns.iter().all(is_time) {
            let what = &figures.name;
            return Err(ImportError(format!("{name}: {what}: a time that is none")));
        }
        imported.without_samples += usize::from(figures.is_summary);
        let zeros = figures.ns.iter().filter(|ns| **ns == 0.0).count();
        if zeros > 0 {
            let (name, runs) = (&figures.name, figures.ns.len());
            let said = format!("{name}: {zeros} of {runs} times are 0: too short to be measured");
            imported.failures.push(said);
        }
    }
    imported.cases = all.into_iter().map(|figures| case(harness, figures)).collect();
    Ok(imported)
}

fn case(harness: Harness, figures: Figures) -> Case {
    // A sample of nothing would be none, and the others a wrong median; of more such samples than others there is none.
    let zeros = figures.ns.iter().filter(|ns| **ns == 0.0).count();
    let is_read = zeros * 2 < figures.ns.len();
    let whole = |ns: f64| if is_read { ((ns * ITERATIONS).round() as u64).max(1) } else { 0 };
    let sample = |(number, ns): (usize, &f64)| {
        let sample = Sample {
            wall_ns: whole(*ns),
            cpu_ns: figures.cpu_ns.get(number).copied().flatten().map(whole),
            peak_bytes: figures.peaks.get(number).copied().flatten().unwrap_or(0),
            ..Sample::default()
        };
        Round { order: vec![0], samples: vec![Some(sample)], ..Round::default() }
    };
    let rounds: Vec<Round> = figures.ns.iter().enumerate().map(sample).collect();
    let measured = Measured {
        iterations: ITERATIONS as u64,
        planned: rounds.len() as u32,
        rounds,
        failures: vec![None],
        end: End::Rounds,
        alpha_share: 1.0,
    };
    let peak_bytes = figures.peaks.iter().flatten().copied().max().unwrap_or(0);
    let rates = [figures.bytes.metric(BYTES_RATE), figures.items.metric(ITEMS_RATE)];
    let metrics = rates.into_iter().flatten().collect();
    Case {
        family: harness.name().to_owned(),
        workload: Spec { operation: figures.name.clone(), ..Spec::default() },
        work: figures.work,
        contenders: vec![Row { id: figures.name, peak_bytes, metrics, ..Row::default() }],
        plan: Plan { clock: Some(Clock::Wall), fresh: figures.is_fresh, ..Plan::default() },
        measured,
        source: harness.name().to_owned(),
        ..Case::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It had the figure of the next one.
    #[test]
    fn a_sample_without_a_figure_has_none() {
        let text = r#"{"context":{},"benchmarks":[{"name":"a","real_time":1},
            {"name":"a","real_time":2,"cpu_time":1.5}]}"#;
        let peaks = r#"{"results":[{"command":"a","times":[1,2],"memory_usage_byte":[null,7]}]}"#;
        let samples = |text: &str| {
            let rounds = import("x", text.as_bytes()).unwrap().cases.remove(0).measured.rounds;
            rounds.into_iter().flat_map(|mut round| round.samples.remove(0)).collect::<Vec<_>>()
        };
        let times: Vec<Option<u64>> = samples(text).iter().map(|sample| sample.cpu_ns).collect();
        assert_eq!(times, [None, Some(1500)]);
        let peaks: Vec<u64> = samples(peaks).iter().map(|sample| sample.peak_bytes).collect();
        assert_eq!(peaks, [0, 7]);
    }

    /// Where its value was a part of a word: two were called "sort f10".
    #[test]
    fn a_parameter_that_no_command_shows_was_in_no_name() {
        let of =
            |n: &str| format!(r#"{{"command":"sort f10","times":[1],"parameters":{{"n":"{n}"}}}}"#);
        let text = format!(r#"{{"results":[{},{},{}]}}"#, of("1"), of("0"), of("f10"));
        let cases = import("x", text.as_bytes()).unwrap().cases;
        let names = cases.iter().map(|case| case.contenders[0].id.as_str());
        assert_eq!(names.collect::<Vec<_>>(), ["sort f10 n=1", "sort f10 n=0", "sort f10"]);
    }

    /// Runs that cannot be told from each other were left out, or a mean was taken for them.
    #[test]
    fn times_that_are_none_and_codes_of_other_runs_are_refused() {
        for times in ["[1,null]", "[\"1\"]", "[1,2],\"exit_codes\":[0]", "[1],\"exit_codes\":[0,1]"]
        {
            let text = format!(r#"{{"results":[{{"command":"a","mean":1,"times":{times}}}]}}"#);
            assert!(import("x", text.as_bytes()).is_err(), "{times}");
        }
    }

    /// One sample was called none, and faults and switches that nobody counted were zero.
    #[test]
    fn what_a_harness_did_not_say_is_not_made_up() {
        let one = br#"{"results":[{"command":"a","times":[1]}]}"#;
        let mean = br#"{"results":[{"command":"a","mean":1}]}"#;
        let of = |text: &[u8]| import("x", text).unwrap();
        assert_eq!([of(one), of(mean)].map(|found| found.without_samples), [0, 1]);
        let mut case = of(one).cases.remove(0);
        case.judge();
        assert_eq!(case.judged.usage, [None]);
    }
}
