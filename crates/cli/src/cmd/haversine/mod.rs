//! `fathom haversine`: the mean great-circle distance of the pairs in a JSON file.

use std::fs::File;
use std::io::{self, BufReader};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::Context;
use fathom_aggregate::Source as Peeked;
use fathom_haversine::answers::{self, Comparison};
use fathom_haversine::{
    self as haversine, EARTH_RADIUS_KM, Error, MOST_RADIUS, OnError, Outcome, Source,
};
use fathom_machine::level::Level;
use fathom_measure::profile::{self, Report};
use fathom_report::html::flame;

use crate::exit::Exit;
use crate::input::{self, Input, Lines};
use crate::measuring;
use crate::output::{self, Output};
use crate::sheet;

mod stages;

/// Read coordinate pairs from JSON and print their mean great-circle distance, exactly
///
/// Reads {"pairs":[{"x0":…,"y0":…,"x1":…,"y1":…}, …]} (degrees; x is the longitude) in any valid
/// spelling, a bare array of pairs, or a pair per line; plain, gzip or Zstandard. Numbers and mean
/// are rounded once, whatever the number of threads. With ANSWERS, compares every distance with
/// the answer file of the generator and ends with 1 beyond its tolerance of 1e-8 km.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A pair that lacks a coordinate, has one twice, or one that is no number is \
                        an error; so is everything RFC 8259 refuses."
)]
pub(crate) struct Options {
    /// The JSON file; - is stdin, and the address of an object is one as in `fathom aggregate`
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The answers to compare with, as `fathom generate pairs --answers` writes them
    #[arg(value_name = "ANSWERS")]
    answers: Option<PathBuf>,

    /// How many threads [default: one per processor]; the result does not depend on it
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,

    /// Radius of the sphere; means and distances have its unit
    #[arg(long, default_value_t = EARTH_RADIUS_KM, value_parser = radius,
          allow_negative_numbers = true)]
    radius: f64,

    /// What to do with an element that is no pair: stop, or count it and go on
    #[arg(long, value_enum, default_value_t = ErrorPolicy::Fail)]
    on_error: ErrorPolicy,

    /// Which sine, cosine and arcsine: own polynomials, the same bits on every processor with
    /// fused multiply-add, or the C library's, the course's to the last bit
    #[arg(long, value_enum, default_value_t = Trigonometry::Vector)]
    trigonometry: Trigonometry,

    /// Print the exact mean only: the mean in the course's order of additions needs all distances
    /// in memory, 8 bytes a pair
    #[arg(long, conflicts_with_all = ["answers", "write_answers"])]
    exact_only: bool,

    /// Write the computed distances and their mean as an answer file
    #[arg(long, value_name = "FILE")]
    write_answers: Option<PathBuf>,

    /// Form of the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Profile this run: where the time went, by zone
    #[arg(long)]
    profile: bool,

    /// Form of the profile
    #[arg(long, value_enum, default_value_t = ProfileFormat::Text, requires = "profile")]
    profile_format: ProfileFormat,

    /// Where the profile goes [default: stderr]
    #[arg(long, value_name = "FILE", requires = "profile")]
    profile_output: Option<PathBuf>,

    /// Show the profile's page in the browser; in place of --profile-format
    #[arg(long, requires = "profile", conflicts_with = "profile_format")]
    open: bool,

    /// Input a thread reads at a time, in KiB
    #[arg(long, value_name = "KIB", default_value_t = haversine::BLOCK_BYTES >> 10,
          value_parser = block_kib)]
    block: usize,

    /// How far a distance, in the unit of the radius, and the mean may be from the answers
    /// [default: the course's, 1e-8 as a 32-bit float]
    #[arg(long, value_name = "KM", default_value_t = answers::TOLERANCE_KM, value_parser = tolerance,
          hide_default_value = true, allow_negative_numbers = true, requires = "answers", conflicts_with = "exact_only")]
    tolerance: f64,

    #[command(flatten)]
    stages: stages::Stages,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ErrorPolicy {
    Fail,
    Skip,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Trigonometry {
    Vector,
    Libm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The lines the course prints
    Text,
    /// One JSON object
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ProfileFormat {
    /// A line per zone, as the course's profiler prints it
    Text,
    /// One JSON object
    Json,
    /// Folded stacks, for flame graphs
    Folded,
    /// Events for chrome://tracing and Perfetto
    Trace,
    /// One self-contained page: a flame graph, and the zones with their bandwidths
    Html,
}

fn radius(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        // Of -0 as well: its distances would be negative.
        Ok(radius) if (0.0..=MOST_RADIUS).contains(&radius) => Ok(radius.abs()),
        _ => Err(format!("{text:?} is no length from 0 to {MOST_RADIUS:e}")),
    }
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(tolerance) if tolerance >= 0.0 && tolerance.is_finite() => Ok(tolerance),
        _ => Err(format!("{text:?} is no length of 0 or more")),
    }
}

fn block_kib(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(kib @ 1..=1_048_576) => Ok(kib),
        _ => Err("a block has 1 to 1048576 KiB".to_owned()),
    }
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    ensure_apart(options)?;
    if options.stages.stages {
        options.stages.save.as_deref().map_or(Ok(()), measuring::ensure_savable)?;
        read_once(options)?;
        return stages::run(&options.stages, &options.file, options.format == Format::Json);
    }
    let answers = options.answers.as_deref().map(Answers::open).transpose()?;
    for path in options.write_answers.iter().chain(&options.profile_output) {
        output::ensure_writable(path)?;
    }
    let lines = Lines::default();
    let (source, lines) = match open(&options.file, engine_options(options)?.threads.get())? {
        Input::File(file, size) => {
            file.expect(0..size);
            (Source::File(file), None)
        }
        Input::Stream(stream) => (Source::Stream(lines.watch(stream)), Some(lines)),
    };
    if options.profile {
        anyhow::ensure!(
            profile::COMPILED_IN,
            "this fathom was built without the feature `profile`: cargo build -p fathom-cli"
        );
        let wants_trace = options.profile_format == ProfileFormat::Trace;
        profile::start(profile::Options { trace_events: if wants_trace { 1 << 16 } else { 0 } });
    }
    let read = haversine::read(source, &engine_options(options)?);
    let mean = read.as_ref().ok().and_then(Outcome::mean_in_order);
    let report = options.profile.then(profile::stop);
    let outcome = read.map_err(|error| located(error, &options.file, lines))?;
    let compared = answers.zip(mean);
    let compared =
        compared.map(|(answers, mean)| answers.compare(&outcome, mean, options.tolerance));
    let comparison = compared.transpose()?;
    if let Some(path) = &options.write_answers {
        let mut output = Output::create(path)?;
        let mean = mean.unwrap_or(outcome.mean_exact);
        let written = answers::write(outcome.parts(), mean, &mut output);
        output::unless_closed(written.map_err(Into::into).and_then(|()| output.finish()))?;
    }
    let text = match options.format {
        Format::Text => text(&outcome, mean, comparison.as_ref()),
        Format::Json => json(&outcome, mean, comparison.as_ref(), options.radius),
    };
    let shown = output::print(text);
    if let Some(report) = report {
        show_profile(options, &report, mean.unwrap_or(outcome.mean_exact))?;
    }
    let differs = comparison.is_some_and(|comparison| !comparison.is_within_tolerance());
    if outcome.skipped > 0 {
        let (s, is, pairs) =
            if outcome.skipped == 1 { ("", "is", "a pair") } else { ("s", "are", "pairs") };
        say!("fathom: skipped {} element{s} that {is} not {pairs}", outcome.skipped);
    }
    shown?;
    Ok(if differs || outcome.skipped > 0 { Exit::Incomplete } else { Exit::Done })
}

/// Refuses an output that would replace the file, the answers or the other output.
fn ensure_apart(options: &Options) -> anyhow::Result<()> {
    let is_stdout = options.write_answers.as_deref() == Some(Path::new("-"));
    anyhow::ensure!(!is_stdout, "--write-answers: stdout has the result: name a file");
    let outputs = [
        ("--write-answers", &options.write_answers),
        ("--profile-output", &options.profile_output),
        ("--save", &options.stages.save),
    ];
    let outputs = outputs.iter().filter_map(|(option, path)| Some((*option, path.as_deref()?)));
    let inputs = std::iter::once(&options.file).chain(&options.answers).map(PathBuf::as_path);
    output::ensure_apart(&outputs.collect::<Vec<_>>(), &inputs.collect::<Vec<_>>())
}

/// What is wrong with a file that is going to be measured on, said as in any other run.
fn read_once(options: &Options) -> anyhow::Result<()> {
    let reason = "--stages reads its file again and again: it needs a regular file, neither compressed nor empty";
    let is_regular = options.file != Path::new("-") && !input::is_remote(&options.file);
    anyhow::ensure!(is_regular, reason);
    let Input::File(file, _) = open(&options.file, 1)? else { anyhow::bail!(reason) };
    let engine = haversine::Options { keep_distances: false, ..engine_options(options)? };
    let read = haversine::read(Source::File(file), &engine);
    read.map(drop).map_err(|error| located(error, &options.file, None))
}

fn engine_options(options: &Options) -> anyhow::Result<haversine::Options> {
    Ok(haversine::Options {
        threads: match options.threads {
            Some(threads) => NonZeroUsize::new(threads.into()).expect("checked by the parser"),
            None => thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
        },
        radius: options.radius,
        on_error: match options.on_error {
            ErrorPolicy::Fail => OnError::Stop,
            ErrorPolicy::Skip => OnError::Skip,
        },
        trigonometry: match options.trigonometry {
            Trigonometry::Vector => haversine::Trigonometry::Vector,
            Trigonometry::Libm => haversine::Trigonometry::Libm,
        },
        keep_distances: !options.exact_only,
        block_bytes: NonZeroUsize::new(options.block << 10).expect("checked by the parser"),
        level: Level::chosen()?,
    })
}

/// The error as `path:line:column: what was expected`; `lines` are those of a stream.
fn located(error: Error, path: &Path, lines: Option<Lines>) -> anyhow::Error {
    let place = error.offset().and_then(|offset| {
        let lines = lines.or_else(|| Lines::of_file(path, offset).ok())?;
        lines.place(offset)
    });
    let path = path.display();
    anyhow::Error::from(error).context(match place {
        Some((line, column)) => format!("{path}:{line}:{column}"),
        None => path.to_string(),
    })
}

/// The input, which has no beginning that no JSON has.
fn open(path: &Path, threads: usize) -> anyhow::Result<Input> {
    const LOOKED_AT_BYTES: usize = 64;
    let name = path.to_owned();
    let mut source = match input::open(path, threads)? {
        Input::File(file, size) => Peeked::File { path: name, file, size },
        Input::Stream(reader) => Peeked::Stream { path: name, reader },
    };
    let (first, _) = source.peek(LOOKED_AT_BYTES);
    if let Some((what, hint)) = input::no_json(&first) {
        // A stream from a file is what its bytes decode to, and the commands take these.
        let is_packed = matches!(source, Peeked::Stream { .. }) && path.is_file();
        let before =
            if is_packed && hint.contains("FILE") { "decompress it first, then " } else { "" };
        let hint = format!("{before}{hint}");
        return Err(located(Error::Foreign { what, hint }, path, None));
    }
    Ok(match source {
        Peeked::File { file, size, .. } => Input::File(file, size),
        stream => Input::Stream(stream.into_reader()),
    })
}

/// An answer file that was opened before what is compared with it is computed.
struct Answers<'p> {
    path: &'p Path,
    file: File,
    count: u64,
}

impl Answers<'_> {
    fn open(path: &Path) -> anyhow::Result<Answers<'_>> {
        input::ensure_local(path)?;
        let cannot = || format!("cannot read {}", path.display());
        // How many there are is known by its size.
        let elsewhere = || Err(io::Error::other("answers are in a regular file"));
        if path == Path::new("-") {
            return elsewhere().with_context(cannot);
        }
        let file = File::open(path).with_context(cannot)?;
        let meta = file.metadata().with_context(cannot)?;
        if !meta.is_file() {
            return elsewhere().with_context(cannot);
        }
        let count = answers::count(meta.len());
        let count = count.map_err(|error| located(error.into(), path, None))?;
        Ok(Answers { path, file, count })
    }

    fn compare(self, outcome: &Outcome, mean: f64, tolerance: f64) -> anyhow::Result<Comparison> {
        let file = BufReader::with_capacity(1 << 18, self.file);
        let compared = answers::compare(outcome.parts(), mean, self.count, file, tolerance);
        compared.map_err(|error| located(error, self.path, None))
    }
}

fn text(outcome: &Outcome, mean: Option<f64>, comparison: Option<&Comparison>) -> String {
    let mut lines =
        vec![format!("Input size: {}", outcome.bytes), format!("Pair count: {}", outcome.pairs)];
    if outcome.skipped > 0 {
        lines.push(format!("Skipped: {}", outcome.skipped));
    }
    if let Some(mean) = mean {
        lines.push(format!("Haversine sum: {mean:.16}"));
    }
    lines.push(format!("Exact mean: {:.16}", outcome.mean_exact));
    if let Some(comparison) = comparison {
        lines.extend([
            String::new(),
            "Validation:".into(),
            format!("Reference sum: {:.16}", comparison.reference_mean_km),
            format!("Difference: {:.16}", comparison.difference_km),
        ]);
        if let Some(worst) = comparison.worst {
            lines.push(format!(
                "Worst pair: {} (computed {:.16}, reference {:.16}, difference {:.3e})",
                worst.index,
                worst.computed_km,
                worst.reference_km,
                worst.computed_km - worst.reference_km
            ));
        }
        if !comparison.is_within_tolerance() {
            let what = match comparison.pairs_beyond {
                0 => "the mean differs".to_owned(),
                1 => "1 pair differs".to_owned(),
                pairs => format!("{pairs} pairs differ"),
            };
            // Of a tolerance that was given no digit is left out: rounded up, the sentence might be false.
            let is_usual = comparison.tolerance_km == answers::TOLERANCE_KM;
            let tolerance =
                if is_usual { "1e-8".to_owned() } else { format!("{:e}", comparison.tolerance_km) };
            lines.push(format!("FAILED: {what} by more than {tolerance}"));
        }
    }
    lines.join("\n") + "\n"
}

fn json(
    outcome: &Outcome,
    mean: Option<f64>,
    comparison: Option<&Comparison>,
    radius: f64,
) -> String {
    let comparison = comparison.map(|comparison| {
        serde_json::json!({
            "reference_mean": comparison.reference_mean_km,
            "difference": comparison.difference_km,
            "pairs_beyond": comparison.pairs_beyond,
            "tolerance": comparison.tolerance_km,
            "worst": comparison.worst.map(|worst| serde_json::json!({
                "pair": worst.index,
                "computed": worst.computed_km,
                "reference": worst.reference_km,
            })),
        })
    });
    let value = serde_json::json!({
        "input_bytes": outcome.bytes,
        "pairs": outcome.pairs,
        "skipped": outcome.skipped,
        "radius": radius,
        "mean_in_order": mean,
        "mean_exact": outcome.mean_exact,
        "validation": comparison,
    });
    format!("{value:#}\n")
}

fn show_profile(options: &Options, report: &Report, mean: f64) -> anyhow::Result<()> {
    let form = if options.open { ProfileFormat::Html } else { options.profile_format };
    let shown = match form {
        ProfileFormat::Text => format!("{}\nResult {mean:.16}\n", report.text().trim_end()),
        ProfileFormat::Json => report.json(),
        ProfileFormat::Folded => report.folded(),
        ProfileFormat::Trace => report.trace(),
        ProfileFormat::Html => {
            flame::page(report, &format!("fathom haversine {}", options.file.display()))
        }
    };
    match &options.profile_output {
        None if !options.open => say!("{}", shown.trim_end()),
        path => {
            let path = path.as_deref().unwrap_or(Path::new("-"));
            sheet::put(shown.as_bytes(), path, options.open)?;
        }
    }
    Ok(())
}
