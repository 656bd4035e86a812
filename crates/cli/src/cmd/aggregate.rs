//! `fathom aggregate`: min, mean, max and more per key of delimited text.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::{CommandFactory, ValueEnum};
use fathom_aggregate::delimited::{self, Selector, Shape, Value};
use fathom_aggregate::format::{self, Sort, Statistic};
use fathom_aggregate::{
    Column, Layout, OnError, Options as EngineOptions, Progress, Rounding, Source, Summary,
};
use fathom_machine::level::Level;

use crate::args::Args;
use crate::exit::Exit;
use crate::input::{self, Input};
use crate::output::Output;
use crate::progress;
use crate::value;

/// Aggregate `key;value` records: min, mean and max per key, exact, at memory speed
///
/// Reads lines `key;value` from the files, or from standard input without any or for `-`; gzip and
/// Zstandard are recognised (the latter is decoded in pure Rust, or twice as fast by the C
/// library in builds with the feature zstd or native; --verbose says which). A key is any bytes but
/// the delimiter and line ends; a value is a decimal number of up to 18 significant digits. Blank
/// lines are ignored. Numbers are exact from the first digit to the last: only what is printed is
/// rounded.
///
/// With any of --delimiter, --key, --value and --header the input is delimited text in general,
/// with quoted fields (RFC 4180).
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:\n  \
    fathom aggregate measurements.txt\n  \
    fathom aggregate --format table --stats mean,count --sort mean --top 10 measurements.txt\n  \
    zcat logs.gz | fathom aggregate --delimiter , --header --key host --value ms --format csv")]
pub(crate) struct Options {
    /// Files to read, all into one result; `-` is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Threads; by default as many as there are processors
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,

    /// Input a thread takes at a time, in MiB [default: 0.25, which fits a core's cache]
    #[arg(short, long, value_name = "MIB", value_parser = mebibytes)]
    chunk: Option<usize>,

    /// Say on stderr what runs and what decodes Zstandard, then hash, length and UTF-8 validity of
    /// the result, time and GB/s
    #[arg(short, long)]
    verbose: bool,

    /// Fields are separated by this one byte (`\t` or `tab` for a tab)
    #[arg(long, value_name = "BYTE", value_parser = delimiter)]
    delimiter: Option<u8>,

    /// Column of the key: its number from 1, or its name with --header [default: 1]
    #[arg(long, value_name = "COL")]
    key: Option<String>,

    /// Column of a value: number or name; may be given several times [default: 2]
    #[arg(long, value_name = "COL")]
    value: Vec<String>,

    /// The first record of each file names the columns
    #[arg(long)]
    header: bool,

    /// Form of the result
    #[arg(long, value_enum, default_value_t = Format::Brc)]
    format: Format,

    /// What to say of each key
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "STAT,…",
        default_value = "min,mean,max"
    )]
    stats: Vec<Stat>,

    /// Order of the keys: by their bytes, or by a statistic of the first value, largest first
    #[arg(long, value_enum, default_value_t = Order::Key)]
    sort: Order,

    /// Turn the order around
    #[arg(long)]
    reverse: bool,

    /// Show only the first N keys of the order
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    /// Digits after the decimal point, 0 to 18; by default those of the finest value and at least
    /// one, and two more for variance and stddev
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=18))]
    decimals: Option<u8>,

    /// What becomes of the digits after those: half-up is the original challenge's, ceiling the
    /// Object Pascal challenge's
    #[arg(long, value_enum, default_value_t = RoundingMode::HalfUp)]
    rounding: RoundingMode,

    /// What to do with a record that is none: stop, or count it and go on
    #[arg(long, value_enum, default_value_t = ErrorPolicy::Fail)]
    on_error: ErrorPolicy,

    /// Keep refused records in this file, byte for byte; needs --on-error skip
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,

    /// Stop when the tables of keys outgrow this much memory (such as 500M or 2G, binary)
    #[arg(long, value_name = "SIZE", value_parser = value::bytes)]
    memory_limit: Option<u64>,

    /// Write the result to this file, which appears whole or not at all
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

/// Forms of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// `{key=min/mean/max, …}`, the challenge's form
    Brc,
    /// Aligned columns for people
    Table,
    /// Comma-separated values with a header
    Csv,
    /// Tab-separated values with a header
    Tsv,
    /// One JSON array of objects
    Json,
    /// One JSON object a line
    Ndjson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Stat {
    Min,
    Mean,
    Max,
    Count,
    Sum,
    /// Sample variance
    Variance,
    /// Sample standard deviation
    Stddev,
}

impl Stat {
    fn statistic(self) -> Statistic {
        Statistic::ALL[self as usize]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Order {
    Key,
    Min,
    Mean,
    Max,
    Count,
    Sum,
    Variance,
    Stddev,
}

impl Order {
    fn sort(self) -> Sort {
        match self {
            Order::Key => Sort::Key,
            order => Sort::By(Statistic::ALL[order as usize - 1]),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RoundingMode {
    HalfUp,
    Ceiling,
    HalfEven,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ErrorPolicy {
    Fail,
    Skip,
}

fn mebibytes(text: &str) -> Result<usize, String> {
    let mebibytes: f64 = text.parse().map_err(|_| format!("{text:?} is no number of MiB"))?;
    let bytes = mebibytes * f64::from(1 << 20);
    if (64.0..=f64::from(1 << 30)).contains(&bytes) {
        Ok(bytes as usize)
    } else {
        Err("a chunk has 64 bytes to 1024 MiB".to_owned())
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    let byte = match text.as_bytes() {
        b"\\t" | b"tab" => b'\t',
        [byte] => *byte,
        _ => return Err(format!("{text:?} is not one byte")),
    };
    if byte.is_ascii_digit() || b"\"\r\n.+-".contains(&byte) {
        return Err(format!("{text:?} is part of numbers, quotes or line ends"));
    }
    Ok(byte)
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let shape = shape(options)?;
    let layout = layout(options);
    if options.format == Format::Brc && options.value.len() > 1 {
        return usage("the brc format shows one value: choose another --format for several");
    }
    if options.rejects.is_some() && options.on_error == ErrorPolicy::Fail {
        return usage("--rejects needs --on-error skip");
    }
    let files = match options.files.as_slice() {
        [] if std::io::stdin().is_terminal() => {
            return usage("no FILE was named, and standard input is a terminal (- insists on it)");
        }
        [] => &[PathBuf::from("-")],
        files => files,
    };
    if files.iter().filter(|file| *file == Path::new("-")).count() > 1 {
        return usage("standard input can be read only once");
    }
    let start = Instant::now();
    let (sources, known_bytes) = open(files)?;
    let engine = engine_options(options)?;
    if options.verbose {
        announce(&engine, files);
    }
    let mut rejects = options.rejects.as_deref().map(Output::create).transpose()?;
    let progress = Arc::new(Progress::default());
    let bar = progress::watch(known_bytes, {
        let progress = Arc::clone(&progress);
        move || progress.bytes.load(Ordering::Relaxed)
    });
    let on_error = match options.on_error {
        ErrorPolicy::Fail => OnError::Fail,
        ErrorPolicy::Skip => {
            OnError::Skip(rejects.as_mut().map(|file| Box::new(file) as Box<dyn Write + Send>))
        }
    };
    let outcome = match &shape {
        Some(shape) => delimited::aggregate(sources, shape, &engine, on_error, &progress),
        None => fathom_aggregate::aggregate(sources, &engine, on_error, &progress),
    };
    drop(bar);
    let mut summary = outcome?;
    let keys = summary.columns[0].groups.len();
    format::arrange(&mut summary.columns, options.sort.sort(), options.reverse, options.top);
    let text = render(options.format, &summary.columns, &layout);
    if let Some(rejects) = rejects {
        rejects.finish()?;
    }
    let mut output = Output::create(&options.output)?;
    output.write_all(&text)?;
    output.finish()?;
    if options.verbose {
        verdict(&text, keys, &summary, start.elapsed());
    }
    Ok(report_rejects(&summary))
}

/// A mistake in how the command was called: what clap reports, said by us.
fn usage(message: &str) -> anyhow::Result<Exit> {
    let mut args = Args::command();
    args.build();
    let command = args.find_subcommand_mut("aggregate").expect("this command exists");
    Err(command.error(clap::error::ErrorKind::ArgumentConflict, message).into())
}

fn shape(options: &Options) -> anyhow::Result<Option<Shape>> {
    let plain = options.delimiter.is_none()
        && options.key.is_none()
        && options.value.is_empty()
        && !options.header;
    if plain {
        return Ok(None);
    }
    let selector = |text: &str| match text.parse() {
        Ok(0) => anyhow::bail!("columns count from 1"),
        Ok(place) => Ok(Selector::Place(place)),
        Err(_) if options.header => Ok(Selector::Name(text.to_owned())),
        Err(_) => anyhow::bail!("column {text:?}: only --header gives columns names"),
    };
    let mut shape =
        Shape { header: options.header, ..Shape::new(options.delimiter.unwrap_or(b';')) };
    if let Some(key) = &options.key {
        shape.key = selector(key)?;
    }
    if !options.value.is_empty() {
        let values = options.value.iter().map(|text| selector(text).map(Value::from));
        shape.values = values.collect::<Result<_, _>>()?;
    }
    Ok(Some(shape))
}

fn needs_squares(options: &Options) -> bool {
    let sorted = matches!(options.sort, Order::Variance | Order::Stddev);
    sorted || options.stats.iter().any(|stat| stat.statistic().needs_squares())
}

fn layout(options: &Options) -> Layout {
    Layout {
        statistics: options.stats.iter().map(|stat| stat.statistic()).collect(),
        decimals: options.decimals,
        rounding: match options.rounding {
            RoundingMode::HalfUp => Rounding::HalfUp,
            RoundingMode::Ceiling => Rounding::Ceiling,
            RoundingMode::HalfEven => Rounding::HalfEven,
        },
        threads: options.threads.map_or(Layout::default().threads, usize::from),
    }
}

fn engine_options(options: &Options) -> anyhow::Result<EngineOptions> {
    let default = EngineOptions::default();
    Ok(EngineOptions {
        threads: options.threads.map_or(default.threads, usize::from),
        chunk_bytes: options.chunk.unwrap_or(default.chunk_bytes),
        level: Level::chosen()?,
        with_squares: needs_squares(options),
        memory_limit_bytes: options
            .memory_limit
            .map(|limit| usize::try_from(limit).unwrap_or(usize::MAX)),
    })
}

/// Opens all inputs, and adds up their bytes if all sizes are known.
fn open(files: &[PathBuf]) -> anyhow::Result<(Vec<Source>, Option<u64>)> {
    let mut known_bytes = Some(0);
    let mut sources = Vec::new();
    for path in files {
        let path = path.clone();
        sources.push(match input::open(&path)? {
            Input::File(file, size) => {
                known_bytes = known_bytes.map(|bytes| bytes + size);
                Source::File { path, file, size }
            }
            Input::Stream(reader) => {
                known_bytes = None;
                Source::Stream { path, reader }
            }
        });
    }
    Ok((sources, known_bytes))
}

fn announce(engine: &EngineOptions, files: &[PathBuf]) {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    eprintln!("aggregating {}", names.join(", "));
    eprintln!("Zstandard, if there is any, is decoded by {}", input::ZSTANDARD);
    eprintln!(
        "{} thread{}, level {}, chunks of {} KiB",
        engine.threads,
        if engine.threads == 1 { "" } else { "s" },
        engine.level,
        engine.chunk_bytes >> 10,
    );
}

fn render(format: Format, columns: &[Column], layout: &Layout) -> Vec<u8> {
    match format {
        Format::Brc => format::brc(&columns[0], layout),
        Format::Table => format::table(columns, layout),
        Format::Csv => format::csv(columns, layout),
        Format::Tsv => format::tsv(columns, layout),
        Format::Json => format::json(columns, layout),
        Format::Ndjson => format::ndjson(columns, layout),
    }
}

/// The forebear's verbose block: the hash is CRC-32C of the result without its last newline.
fn verdict(text: &[u8], keys: usize, summary: &Summary, elapsed: Duration) {
    let result = text.strip_suffix(b"\n").unwrap_or(text);
    eprintln!("result hash={:08x}", crc32c::crc32c(result));
    eprintln!("result length={}", result.len());
    eprintln!("stations count={keys}");
    eprintln!("valid utf8={}", std::str::from_utf8(result).is_ok());
    let seconds = elapsed.as_secs_f64();
    eprintln!(
        "{} records, {} blank lines, {} refused in {seconds:.3} s: {:.1} M records/s, {:.3} GB/s",
        summary.records,
        summary.blank_lines,
        summary.rejected,
        summary.records as f64 / seconds / 1e6,
        summary.bytes as f64 / seconds / 1e9,
    );
}

fn report_rejects(summary: &Summary) -> Exit {
    if summary.rejected == 0 {
        return Exit::Done;
    }
    for reject in &summary.shown_rejects {
        eprintln!("fathom: skipped {reject}");
    }
    let more = summary.rejected - summary.shown_rejects.len() as u64;
    if more > 0 {
        eprintln!("fathom: … and {more} more");
    }
    let records = if summary.rejected == 1 { "record" } else { "records" };
    eprintln!("fathom: {} {records} skipped", summary.rejected);
    Exit::Incomplete
}
