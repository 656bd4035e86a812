//! `fathom aggregate`: min, mean, max, quantiles and more per key of delimited text.

use std::ffi::OsStr;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{CommandFactory, ValueEnum};
use fathom_aggregate::delimited;
use fathom_aggregate::format::{self, Sort, Statistic};
use fathom_aggregate::state::Question;
use fathom_aggregate::{
    Column, Error, Filter, Kind, Layout, Method, OnError, Options as EngineOptions, Progress,
    Query, Reject, Rounding, Source, Summary, kernel_level,
};
use fathom_machine::level::Level;
use fathom_report::escape;

use crate::args::Args;
use crate::exit::Exit;
use crate::input::{self, Input};
use crate::output::{self, Output};
use crate::progress;
use crate::value;

pub(crate) mod partial;
mod query;

/// Aggregate delimited text: min, mean, max, quantiles and more per key, exact, at memory speed
///
/// Reads lines `key;value` from the files, or from standard input without any or for `-`; gzip and
/// Zstandard are recognised (the latter is decoded in pure Rust, or twice as fast by the C
/// library in builds with the feature zstd or native; --verbose says which). A key is any bytes but
/// the delimiter and line ends; a value is a decimal number, perhaps with an exponent (`-0.5`, `8.5e-05`).
/// Blank lines are ignored. Numbers are exact from the first digit to the last: only what is printed
/// is rounded.
///
/// With any of --delimiter, --by, --value, --text, --where, --count, --header, --null, --null-values and --ragged the
/// input is delimited text in general, with quoted fields (RFC 4180).
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = "Examples:\n  \
    fathom aggregate measurements.txt\n  \
    fathom aggregate --format table --stats mean,count --sort mean --top 10 measurements.txt\n  \
    fathom aggregate --delimiter , --by host,path --value ms,bytes --null-values NA export.csv\n  \
    fathom aggregate --delimiter , --by path --value ms --text user --stats p50,p99,distinct log.csv\n  \
    fathom aggregate --delimiter , --by host --count --where 'status >= 500 && path =~ \"^/api/\"' log.csv\n  \
    fathom aggregate --delimiter , --by country --count --sort count --top 10 export.csv\n  \
    zcat logs.gz | fathom aggregate --delimiter , --by 3 --value 7 --stats count,sum --format json")]
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

    /// Fields are separated by this one byte (`\t` or `tab` for a tab) [default: with another option of
    /// delimited text, the first of tab ; | and comma that cuts all records at the beginning of the
    /// input into as many fields, or ;]
    #[arg(long, value_name = "BYTE", value_parser = delimiter)]
    delimiter: Option<u8>,

    /// Columns of the key, by name, by number from 1 or in ranges (`host,3,5-7`): several are one key.
    /// A name with a comma, or that is a number, stands in quotes (`'"2024"'`) [default: 1]
    #[arg(long, visible_alias = "key", value_name = "COL,…")]
    by: Vec<String>,

    /// Columns of values, in the same words [default: 2]
    #[arg(long, value_name = "COL,…")]
    value: Vec<String>,

    /// Columns of values that are texts, in the same words: of them `count`, `rows`, `distinct`, `mode`,
    /// `first` and `last` are told
    #[arg(long, value_name = "COL,…")]
    text: Vec<String>,

    /// Take only records for which this is true, such as `status >= 500 && host != "x"`: comparisons of
    /// numbers (with + - * /) and texts, `in (…)`, `=~ "regular expression"`, `is null`, && || ! and
    /// parentheses; a column is a name, \`a name\` or $3. docs/aggregate.md has the grammar
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,

    /// Count the records of each key; there is no value
    #[arg(long, conflicts_with_all = ["value", "text", "stats", "null"])]
    count: bool,

    /// The first record of each file names the columns; so it is where a column is chosen by name
    #[arg(long)]
    header: bool,

    /// What a missing value means: skip it, take it for zero, or refuse the record; `COL=…` says it
    /// of one value column. A record without one value still counts in the others [default: skip]
    #[arg(long, value_name = "[COL=]skip|zero|fail")]
    null: Vec<String>,

    /// Fields that say there is no value, besides empty ones
    #[arg(long, value_name = "TEXT,…", value_delimiter = ',')]
    null_values: Vec<String>,

    /// What to do with a record of more or fewer fields than the header, or the first record, has:
    /// refuse it, or take what it lacks for missing [default: fail]
    #[arg(long, value_enum)]
    ragged: Option<RaggedPolicy>,

    /// Form of the result [default: brc; for delimited text a table on a terminal, csv elsewhere]
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// What to say of each key; all of it exact. Quantiles, `distinct` and `mode` keep all different
    /// values, within --memory-limit
    #[arg(
        long,
        value_parser = Words { with_key: false }.map(|word| word.expect("a statistic")),
        value_delimiter = ',',
        value_name = "STAT,…",
        default_value = "min,mean,max"
    )]
    stats: Vec<Statistic>,

    /// What a quantile is that falls between two values: on the line between them (type 7 of Hyndman and
    /// Fan, as in R, NumPy and spreadsheets), or the smallest value that is large enough (type 1)
    #[arg(long, value_enum, default_value_t = Quantiles::Linear)]
    quantiles: Quantiles,

    /// Order of the keys: by their bytes, or by a statistic of the first value, largest first
    #[arg(
        long,
        value_parser = Words { with_key: true }.map(|word| word.map_or(Sort::Key, Sort::By)),
        default_value = "key",
        value_name = "key|STAT"
    )]
    sort: Sort,

    /// Turn the order around
    #[arg(long)]
    reverse: bool,

    /// Show only the first N keys of the order
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    /// Digits after the decimal point, 0 to 18; by default csv, tsv, json and ndjson show all there
    /// are, and 17 significant ones of means, variances and stddevs without end; brc and table show
    /// those of the finest value (brc at least one), and two more of variance and stddev, and of
    /// means in tables
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=18))]
    decimals: Option<u8>,

    /// What becomes of the digits after those: half-up is the original challenge's, ceiling the
    /// Object Pascal challenge's
    #[arg(long, value_enum, default_value_t = RoundingMode::HalfUp)]
    rounding: RoundingMode,

    /// What to do with a record that is none: stop, or count it and go on
    #[arg(long, value_enum, default_value_t = ErrorPolicy::Fail)]
    on_error: ErrorPolicy,

    /// Keep refused records in this file, byte for byte; needs --on-error skip, and no file that is
    /// read or written otherwise
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,

    /// Stop when the tables of keys outgrow this much memory (such as 500M or 2G, binary)
    #[arg(long, value_name = "SIZE", value_parser = value::bytes)]
    memory_limit: Option<u64>,

    /// Write a state instead of a result: all that is known of this input, exactly, for `fathom merge`
    /// to put together with other states
    #[arg(long)]
    partial: bool,

    /// Read only these bytes of the one FILE: the records that start in them. A cut may fall anywhere but
    /// inside quotes (`fathom plan`); END may be left out
    #[arg(long, value_name = "START..END", value_parser = partial::range)]
    range: Option<(u64, Option<u64>)>,

    /// With --partial: the first FILE is number K, from 0, of the whole input, which has N; `first` and
    /// `last` depend on K, and the merge finds what is missing by N
    #[arg(long, value_name = "K[/N]", value_parser = partial::number)]
    number: Option<(u64, Option<u64>)>,

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

/// What to do with records of another number of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RaggedPolicy {
    Fail,
    Pad,
}

/// What a quantile is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Quantiles {
    Linear,
    Nearest,
}

/// Reads the word of a statistic, or `key` for none.
#[derive(Clone)]
struct Words {
    with_key: bool,
}

impl TypedValueParser for Words {
    type Value = Option<Statistic>;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        word: &OsStr,
    ) -> Result<Option<Statistic>, clap::Error> {
        let statistic = word.to_str().and_then(Statistic::named);
        if statistic.is_some() || self.with_key && word == "key" {
            return Ok(statistic);
        }
        // Says what there is, and what is nearest.
        let values = self.possible_values().into_iter().flatten();
        PossibleValuesParser::new(values).parse_ref(command, argument, word).map(|_| None)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let key = PossibleValue::new("key").help("The bytes of the key, ascending");
        let words = Statistic::WORDS.iter().map(|(word, doc)| PossibleValue::new(*word).help(*doc));
        Some(Box::new(self.with_key.then_some(key).into_iter().chain(words)))
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

pub(crate) fn delimiter(text: &str) -> Result<u8, String> {
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
    let condition = options.condition.as_deref().map(Filter::parse).transpose();
    let condition = match condition {
        Ok(condition) => condition,
        Err(error) => return usage(&format!("--where: {error}")),
    };
    let mut query = query::query(options, condition)?;
    let format = options.format(query.is_none());
    let files = match options.files.as_slice() {
        [] => &[PathBuf::from("-")],
        files => files,
    };
    if let Some(mistake) = mistake(options, query.as_ref(), files, format) {
        return usage(&mistake);
    }
    if options.partial {
        return partial::run(options, query, files);
    }
    let start = Instant::now();
    let (mut sources, known_bytes) = open(files)?;
    if let (Some(query), None) = (&mut query, options.delimiter) {
        query::guess_delimiter(query, &mut sources);
    }
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
    let sources = sources.into_iter().map(|source| partial::part(options, source));
    let sources = sources.collect::<anyhow::Result<_>>()?;
    let summary = execute(options, query.as_ref(), sources, &engine, rejects.as_mut(), &progress)?;
    drop(bar);
    if let Some(rejects) = rejects {
        rejects.finish()?;
    }
    let is_named = query.is_some_and(|query| query.header || query.by.len() > 1);
    show(options, format, is_named, summary, start)
}

/// Runs the engine; what is wrong with the input is said in the words of the command line.
fn execute(
    options: &Options,
    query: Option<&Query>,
    sources: Vec<Source>,
    engine: &EngineOptions,
    rejects: Option<&mut Output>,
    progress: &Progress,
) -> anyhow::Result<Summary> {
    let on_error = match options.on_error {
        ErrorPolicy::Fail => OnError::Fail,
        ErrorPolicy::Skip => {
            OnError::Skip(rejects.map(|file| Box::new(file) as Box<dyn Write + Send>))
        }
    };
    let outcome = match query {
        Some(query) => delimited::aggregate(sources, query, engine, on_error, progress),
        None => fathom_aggregate::aggregate(sources, engine, on_error, progress),
    };
    let mut summary = outcome.map_err(|error| {
        let error = partial::located(error, options, query.is_some());
        if let Error::Record(reject) = &error {
            if options.verbose {
                eprintln!("{}", bytes(reject));
            }
            if query.is_none() && reject.reason == fathom_aggregate::Reason::NoDelimiter {
                eprintln!("fathom: without --by, --value or --delimiter, input is key;value lines");
            }
        }
        error
    })?;
    if options.range.is_some() {
        summary.shown_rejects.iter_mut().for_each(partial::count_lines);
    }
    Ok(summary)
}

/// Writes a result in its order and form.
fn show(
    options: &Options,
    format: Format,
    is_named: bool,
    mut summary: Summary,
    start: Instant,
) -> anyhow::Result<Exit> {
    let keys = summary.columns[0].groups.len();
    format::arrange(&mut summary.columns, options.sort(), options.reverse, options.top);
    let text = render(format, &summary.columns, &layout(options, is_named, &summary));
    let mut output = Output::create(&options.output)?;
    output.write_all(&text)?;
    output.finish()?;
    if options.verbose {
        verdict(&text, keys, &summary, start.elapsed());
    }
    Ok(report_rejects(&summary, options.verbose))
}

const ONE_EACH: &str =
    "the brc format shows one key and one value: choose another --format for several";

/// What is wrong with how the command was called.
fn mistake(
    options: &Options,
    query: Option<&Query>,
    files: &[PathBuf],
    format: Format,
) -> Option<String> {
    if let Some(mistake) = partial::mistake(options) {
        return Some(mistake.to_owned());
    }
    let is_standard = |file: &&PathBuf| *file == Path::new("-");
    if options.files.is_empty() && std::io::stdin().is_terminal() {
        let said = "no FILE was named, and standard input is a terminal (- insists on it)";
        return Some(said.to_owned());
    }
    if files.iter().filter(is_standard).count() > 1 {
        return Some("standard input can be read only once".to_owned());
    }
    if format == Format::Brc && query.is_some_and(|q| q.values.len() > 1 || q.by.len() > 1) {
        return Some(ONE_EACH.to_owned());
    }
    let values = query.map_or(&[][..], |query| &query.values);
    let mut kinds = values.iter().map(|value| value.kind);
    if kinds.clone().all(|kind| kind == Kind::Text)
        && !values.is_empty()
        && !options.stats.iter().any(|statistic| statistic.is_of_texts())
    {
        return Some(
            "--stats: of texts count, rows, distinct, mode, first and last are told".into(),
        );
    }
    if kinds.next() == Some(Kind::Text) && options.sorted().is_some_and(|sort| !sort.is_of_texts())
    {
        return Some("--sort: the first value is a text, and has no such statistic".to_owned());
    }
    let rejects = options.rejects.as_deref()?;
    if options.on_error == ErrorPolicy::Fail {
        return Some("--rejects needs --on-error skip".to_owned());
    }
    if output::is_same_file(rejects, &options.output) {
        return Some("--rejects and --output are the same file".to_owned());
    }
    let inputs = files.iter().filter(|file| !is_standard(file));
    let input = inputs.into_iter().find(|file| output::is_same_file(rejects, file))?;
    Some(format!("--rejects would replace the input {}", input.display()))
}

/// A mistake in how the command was called: what clap reports, said by us.
fn usage(message: &str) -> anyhow::Result<Exit> {
    let mut args = Args::command();
    args.build();
    let command = args.find_subcommand_mut("aggregate").expect("this command exists");
    Err(command.error(clap::error::ErrorKind::ArgumentConflict, message).into())
}

/// What is said of each key.
fn statistics(options: &Options) -> Vec<Statistic> {
    if options.count {
        return vec![Statistic::Count];
    }
    options.stats.iter().map(|statistic| statistic.by(options.method())).collect()
}

/// What `fathom merge` has of these options.
impl Options {
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    pub(crate) fn output(&self) -> &Path {
        &self.output
    }

    pub(crate) fn is_partial(&self) -> bool {
        self.partial
    }

    pub(crate) fn mistake_in_output(&self) -> Option<&'static str> {
        partial::mistake(self)
    }

    /// Chooses the statistics that are shown.
    pub(crate) fn choose(&mut self, stats: Vec<Statistic>) {
        self.stats = stats;
    }

    /// What must be known to show what is asked.
    pub(crate) fn asked(&self) -> Vec<Statistic> {
        self.stats.iter().copied().chain(self.sorted()).collect()
    }

    /// Shows a result that was put together elsewhere.
    pub(crate) fn print(
        &self,
        summary: Summary,
        question: &Question,
        start: Instant,
    ) -> anyhow::Result<Exit> {
        let format = self.format(question.is_plain);
        let is_single = summary.columns.len() == 1 && summary.keys.len() == 1;
        if format == Format::Brc && !is_single {
            anyhow::bail!(ONE_EACH);
        }
        show(self, format, question.has_names, summary, start)
    }
}

impl Options {
    fn format(&self, is_plain: bool) -> Format {
        self.format.unwrap_or_else(|| match is_plain {
            true => Format::Brc,
            false if self.output == Path::new("-") && std::io::stdout().is_terminal() => {
                Format::Table
            }
            false => Format::Csv,
        })
    }

    fn method(&self) -> Method {
        match self.quantiles {
            Quantiles::Linear => Method::Linear,
            Quantiles::Nearest => Method::Nearest,
        }
    }

    fn sort(&self) -> Sort {
        self.sorted().map_or(Sort::Key, Sort::By)
    }

    /// The statistic that is sorted by.
    fn sorted(&self) -> Option<Statistic> {
        match self.sort {
            Sort::Key => None,
            Sort::By(statistic) => Some(statistic.by(self.method())),
        }
    }
}

fn layout(options: &Options, is_named: bool, summary: &Summary) -> Layout {
    let default = Layout::default();
    Layout {
        statistics: statistics(options),
        decimals: options.decimals,
        rounding: match options.rounding {
            RoundingMode::HalfUp => Rounding::HalfUp,
            RoundingMode::Ceiling => Rounding::Ceiling,
            RoundingMode::HalfEven => Rounding::HalfEven,
        },
        keys: if is_named { summary.keys.clone() } else { default.keys },
        threads: options.threads.map_or(default.threads, usize::from),
    }
}

fn engine_options(options: &Options) -> anyhow::Result<EngineOptions> {
    let default = EngineOptions::default();
    let engine = EngineOptions {
        threads: options.threads.map_or(default.threads, usize::from),
        chunk_bytes: options.chunk.unwrap_or(default.chunk_bytes),
        level: Level::chosen()?,
        memory_limit_bytes: options
            .memory_limit
            .map(|limit| usize::try_from(limit).unwrap_or(usize::MAX)),
        ..default
    };
    Ok(engine.for_statistics(&options.asked()))
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
        kernel_level(engine.level),
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
        "{} records, {} blank lines{}, {} refused in {seconds:.3} s: {:.1} M records/s, {:.3} GB/s",
        summary.records,
        summary.blank_lines,
        match summary.left_out {
            0 => String::new(),
            left_out => format!(", {left_out} left out by --where"),
        },
        summary.rejected,
        summary.records as f64 / seconds / 1e6,
        summary.bytes as f64 / seconds / 1e9,
    );
}

/// Where a refused record stands, in bytes.
fn bytes(reject: &Reject) -> String {
    let (at, record) = (reject.position.byte, reject.record_byte);
    format!("{}: byte {at}, in the record from byte {record} on", reject.position)
}

fn report_rejects(summary: &Summary, verbose: bool) -> Exit {
    if summary.rejected == 0 {
        return Exit::Done;
    }
    for reject in &summary.shown_rejects {
        eprintln!("fathom: skipped {}", escape::line(&reject.to_string()));
        if verbose {
            eprintln!("{}", escape::line(&bytes(reject)));
        }
    }
    let more = summary.rejected - summary.shown_rejects.len() as u64;
    if more > 0 {
        eprintln!("fathom: … and {more} more");
    }
    let records = if summary.rejected == 1 { "record" } else { "records" };
    eprintln!("fathom: {} {records} skipped", summary.rejected);
    Exit::Incomplete
}
