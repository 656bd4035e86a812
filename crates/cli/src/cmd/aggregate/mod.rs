//! `fathom aggregate`: min, mean, max, quantiles and more per key of delimited text.

use std::ffi::OsStr;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::builder::{
    ArgPredicate, PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser,
};
use clap::{CommandFactory, ValueEnum};
use fathom_aggregate::delimited;
use fathom_aggregate::format::{self, Statistic};
use fathom_aggregate::guess::{self, Guessed};
use fathom_aggregate::state::Question;
use fathom_aggregate::{
    Approx, By, Column, Error, Filter, Input as EngineInput, Layout, Method, OnError,
    Options as EngineOptions, Progress, Query, Ragged, Reason, Reject, Rejects, Rounding, Selector,
    Source, Summary, Syntax, Way, kernel_level,
};
use fathom_machine::level::Level;
use fathom_report::escape;

use crate::args::Args;
use crate::exit::Exit;
use crate::input::{self, Input};
use crate::output::{self, Output};
use crate::progress;
use crate::sheet;
use crate::value;
pub(crate) use query::NotThere;

#[cfg(feature = "tables")]
mod columns;
#[cfg(not(feature = "tables"))]
mod no_columns;
mod order;
mod page;
pub(crate) mod partial;
mod query;
mod spilled;
mod tables;

#[cfg(not(feature = "tables"))]
use no_columns as columns;

/// Why tables beside texts are refused.
pub(crate) const TABLES_APART: &str =
    "tables (Parquet, Arrow) and texts are read in runs of their own";

/// Options of showing, which a state has nothing of.
pub(crate) const SHOWN: [&str; 11] = [
    "format", "quantiles", "sort", "reverse", "top", "shares", "total", "compare", "decimals",
    "rounding", "open",
];

/// Aggregate delimited text: min, mean, max, quantiles and more per key, exact, at memory speed
///
/// Reads lines `key;value` from the files, or from standard input without any or for `-`; gzip and
/// Zstandard are recognised (the latter is decoded in pure Rust, or several times as fast by the C
/// library in builds with the feature zstd or native; --verbose says which). A key is any bytes but
/// the delimiter and line ends; a value is a decimal number, perhaps with an exponent (`-0.5`, `8.5e-05`).
/// Blank lines are ignored. Numbers are exact from the first digit to the last: only what is printed
/// is rounded.
///
/// With any of --delimiter, --by, --value, --text, --where, --count, --header, --quotes, --decimal-comma,
/// --trim, --ignore-case, --null, --null-values and --ragged the
/// input is delimited text in general, with quoted fields (RFC 4180); blanks around names of columns, numbers and
/// times are no part of them; --format-in takes access logs and lines of JSON.
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = "Examples:\n  \
    fathom aggregate measurements.txt\n  \
    fathom aggregate --format table --stats mean,count --sort mean --top 10 \\\n    \
    measurements.txt\n  \
    fathom aggregate --delimiter , --by host,path --value ms,bytes \\\n    \
    --null-values NA export.csv\n  \
    fathom aggregate --by time:1h,status --value ms --stats count,p99 access.csv\n  \
    fathom aggregate --delimiter , --by path --value ms --text user \\\n    \
    --stats p50,p99,distinct log.csv\n  \
    fathom aggregate --delimiter , --by host --count \\\n    \
    --where 'status >= 500 && path =~ \"^/api/\"' log.csv\n  \
    fathom aggregate --by country,city --value price --stats count,sum --shares \\\n    \
    --total --sort country,sum export.csv\n  \
    fathom aggregate --compare --by path --value ms --stats count,p99 \\\n    \
    --sort p99_change --top 10 before.csv after.csv\n  \
    fathom aggregate --format-in combined --by time:1h,status --count --shares \\\n    \
    access.log\n  \
    fathom aggregate --format-in ndjson --by user.country --value request.ms \\\n    \
    --stats count,p99 events.ndjson\n  \
    zcat logs.gz | fathom aggregate --delimiter , --by 3 --value 7 \\\n    \
    --stats count,sum --format json")]
pub(crate) struct Options {
    /// Files to read, all into one result; `-` is standard input, a folder all files in it but hidden
    /// ones, and where no file is called so, `*` any text and `?` any character of a name. Builds with the
    /// feature tables read Parquet and Arrow files, those with the feature remote objects of stores:
    /// s3://BUCKET/KEY, gs://, az://, https:// (docs/scaling.md)
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Threads; by default as many as there are processors
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,

    /// Input a thread takes at a time, in MiB [default: 0.25, which fits a core's cache]
    #[arg(short, long, value_name = "MIB", value_parser = mebibytes)]
    chunk: Option<usize>,

    /// How files of `key;value` lines get into memory: read into buffers, mapped, or whichever takes less time,
    /// which files of 64 MiB and 128 chunks at least that are in memory are tried for. Pipes and what is compressed are
    /// read whatever this says, delimited text and statistics of all values, too, but for `map`, which they refuse.
    /// --verbose says what was done with `key;value` lines, and why
    #[arg(long, value_parser = one_of(EngineInput::ALL), default_value = "auto")]
    input: EngineInput,

    /// Say on stderr what runs and what decodes Zstandard, then how files of `key;value` lines got into memory, of the result without
    /// its last line end the hash (CRC-32C), length and UTF-8 validity, time and GB/s
    #[arg(short, long)]
    verbose: bool,

    /// How the input is written: delimited text, an access log in the common or combined format, or
    /// a JSON object a line [default: where all columns are named and nothing else is said, what its first line is].
    /// Columns of logs are host, ident, user, time, request, method, path, query, protocol,
    /// status, bytes, referer, agent and rest; those of JSON are paths such as user.name or tags.0
    #[arg(long, value_enum)]
    format_in: Option<FormatIn>,

    /// Fields are separated by this one byte (`\t` or `tab` for a tab) [default: with another option of
    /// delimited text, the first of tab ; | and comma that cuts all records at the beginning of the
    /// input, or all but few, into as many fields, or that has all columns that are named, or ;]
    #[arg(long, value_name = "BYTE", value_parser = delimiter)]
    delimiter: Option<u8>,

    /// Columns of the key, by name, by number from 1 or in ranges (`host,3,5-7`): several are one key.
    /// A name with a comma, or that is a number, stands in quotes (`'"2024"'`). A width behind a colon
    /// joins times (`time:15m`; s, m, h, d, w, mo and y) or numbers (`ms:100`) in buckets, each called by its
    /// lower end, times in UTC [default: 1]
    #[arg(long, visible_alias = "key", value_name = "COL,…")]
    by: Vec<String>,

    /// Blanks around the parts of keys are no part of them
    #[arg(long)]
    trim: bool,

    /// Keys that differ only in the case of ASCII letters are one, in small letters
    #[arg(long)]
    ignore_case: bool,

    /// Columns of values, in the same words [default: 2], or formulas with blanks around their signs
    /// (`'price * quantity,(total - tax) / 2'`): exact, so that quotients by columns are rounded (`'round(bytes / ms, 3)'`).
    /// In them a column is a name, `a name` or $3, as in --where
    #[arg(long, value_name = "COL,…", allow_hyphen_values = true)]
    value: Vec<String>,

    /// Columns of values that are texts, in the same words: of them `count`, `rows`, `count%`, `rows%`, `distinct`,
    /// `mode`, `first` and `last` are told
    #[arg(long, value_name = "COL,…")]
    text: Vec<String>,

    /// Take only records for which this is true, such as `status >= 500 && host != "x"`: comparisons of
    /// numbers (with + - * /) and texts, `in (…)`, `=~ "regular expression"`, `is null`, && || ! and
    /// parentheses; a column is a name that begins with a letter or _, `any name` or $3. docs/aggregate.md has the grammar
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    condition: Option<String>,

    /// Count the records of each key; there is no value
    #[arg(long, conflicts_with_all = ["value", "text", "stats", "null"])]
    count: bool,

    /// The first record of each file names the columns; so it is where a column is chosen by name [default: where
    /// it has no number in the columns that are read as numbers, and all behind it in the first 64 KiB have one or
    /// nothing there, one at least one; where no column is read as numbers, any may show it, and each name is empty, or has a
    /// letter and is not again below it]
    #[arg(long, value_name = "yes|no", value_parser = yes_or_no, num_args = 0..=1, require_equals = true, default_missing_value = "yes")]
    header: Option<bool>,

    /// Whether fields may stand in quotes (RFC 4180); otherwise a quote is a byte like any other [default: no where
    /// the beginning of the input has quotes that enclose nothing]
    #[arg(long, value_name = "yes|no", value_parser = yes_or_no)]
    quotes: Option<bool>,

    /// Numbers have a comma where others have a point, as in 1,5, and no points [default: whether those at the
    /// beginning of the input do, and the delimiter is another]; results have points
    #[arg(long, value_name = "yes|no", value_parser = yes_or_no, num_args = 0..=1, require_equals = true, default_missing_value = "yes")]
    decimal_comma: Option<bool>,

    /// What a missing value means: skip it, take it for zero (a text for `0`), or refuse the record; `COL=…` says it
    /// of one value column. A record without one value still counts in the others [default: skip]
    #[arg(long, value_name = "[COL=]skip|zero|fail")]
    null: Vec<String>,

    /// Fields that say there is no value, besides empty ones; one with a comma, or that begins with a quote, stands in
    /// quotes (`'NA,"-99,9"'`)
    #[arg(long, value_name = "TEXT,…", allow_hyphen_values = true)]
    null_values: Vec<String>,

    /// What to do with a record of more or fewer fields than the header, or the first record, has:
    /// refuse it, or take what it lacks for missing [default: fail]
    #[arg(long, value_parser = one_of([("fail", Ragged::Fail), ("pad", Ragged::Pad)]))]
    ragged: Option<Ragged>,

    /// Form of the result [default: brc; for delimited text a table on a terminal, csv elsewhere]
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// What to say of each key (of texts alone count,distinct if nothing is said); all of it exact. Quantiles, `distinct`, `mode` and `histogram` keep
    /// all different values, within --memory-limit
    #[arg(
        long,
        value_parser = Words,
        value_delimiter = ',',
        value_name = "STAT,…",
        default_value = "min,mean,max",
        default_value_ifs = OF_TEXTS
    )]
    pub(crate) stats: Vec<Statistic>,

    /// What a quantile is that falls between two values: on the line between them (type 7 of Hyndman and
    /// Fan, as in R, NumPy and spreadsheets), or the smallest value that is large enough (type 1)
    #[arg(long, value_parser = one_of(METHODS), default_value = "linear")]
    quantiles: Method,

    /// Tell quantiles, histograms and `distinct` nearly, from sketches whose size does not grow with the values: quantiles
    /// no farther than this from the exact ones (1%, 0.1% or 0.01% of them), `distinct` with a standard
    /// error of 0.81 % where 1,024 and more values differ. Behind each quantile and `distinct` a column has its
    /// error in percent: none of a quantile on the line from a number below zero to one above; behind a change of
    /// them (--compare) that of both together, in the unit of the values
    #[arg(
        long,
        value_name = "ERROR",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1%",
        value_parser = one_of(Approx::ALL)
    )]
    pub(crate) approx: Option<Approx>,

    /// Show also how the values of each key are spread, as `histogram` in --stats does: a bar for each tenth of the
    /// way from the smallest to the largest; csv, tsv, json, ndjson, parquet and arrow have their bounds and how many values are
    /// in each
    #[arg(long, conflicts_with = "count")]
    histogram: bool,

    /// Order of the keys [default: their own]: the name of one of their columns, `key` (all of them, unless one is called
    /// so), a statistic (of the first value), or a column of the result such as
    /// `ms_p99`, in quotes if it has a comma; the next in the list decides where one does not. Keys start with the
    /// smallest, numbers with the largest, unless `:asc` or `:desc` follows
    #[arg(long, value_name = "COL[:asc|:desc],…", value_parser = order::list)]
    sort: Option<order::Wishes>,

    /// Turn the order around
    #[arg(long)]
    reverse: bool,

    /// Show only the first N keys of the order
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    /// Beside each count, rows and sum show its percentage of that of all keys
    #[arg(long)]
    shares: bool,

    /// Add a last line of all keys together, also of those that --top leaves out, under this name (`total` without one)
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "total")]
    total: Option<String>,

    /// Show two FILEs side by side, the one from before and the one from after: each number of both,
    /// its change, and the change in percent (of standard deviations, histograms and what is a text before and after alone)
    #[arg(long)]
    compare: bool,

    /// Digits after the decimal point, 0 to 18; by default csv, tsv, json and ndjson show all there
    /// are, and of means, variances, stddevs, shares and changes in percent the first 17 significant ones; parquet and arrow have the nearest
    /// double of those, and with this option decimals; brc, table, markdown and html show
    /// those of the finest value (brc at least one), two more of variance and stddev, in all but brc of means and
    /// interpolated quantiles, too, and two of shares and changes in percent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=18))]
    decimals: Option<u8>,

    /// What becomes of the digits after those: half-up is the original challenge's, ceiling the
    /// Object Pascal challenge's
    #[arg(long, value_parser = one_of(ROUNDINGS), default_value = "half-up")]
    rounding: Rounding,

    /// What to do with a record that is none: stop, or count it and go on
    #[arg(long, value_enum, default_value_t = ErrorPolicy::Fail)]
    on_error: ErrorPolicy,

    /// Keep refused records in this file, byte for byte (UTF-16 as UTF-8, rows of tables as CSV of the columns that
    /// are asked for); needs --on-error skip, and no file that is read or written otherwise
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,

    /// Stop when the tables of keys outgrow this much memory (such as 500M or 2G, binary)
    #[arg(long, value_name = "SIZE", value_parser = value::some_bytes)]
    memory_limit: Option<u64>,

    /// When --memory-limit is reached, write what the tables hold to files without a name in this folder, and go on: any
    /// number of keys in bounded memory, of which each thread has 2M for each column at least. In the order of keys or
    /// another one, as brc, csv, tsv, json or ndjson; with --top in every format. What one key keeps has to fit
    #[arg(long, value_name = "DIR", conflicts_with_all = ["partial", "compare", "open"])]
    spill: Option<PathBuf>,

    /// Write a state instead of a result: all that is known of this input, exactly, for `fathom merge`
    /// to put together with other states, which takes the options about showing but --compare
    #[arg(long, conflicts_with_all = SHOWN)]
    pub(crate) partial: bool,

    /// Read only these bytes of the one FILE: the records that start in them. A cut may fall anywhere but
    /// in a record with line breaks in quotes (`fathom plan`); END may be left out; K, M and G are binary
    #[arg(long, value_name = "START..END", value_parser = partial::range)]
    range: Option<(u64, Option<u64>)>,

    /// With --partial: the first FILE is number K, from 0, of the whole input, which has N; `first` and
    /// `last` depend on K, and the merge finds what is missing by N
    #[arg(long, value_name = "K[/N]", value_parser = partial::number)]
    number: Option<(u64, Option<u64>)>,

    /// Write the result to this file, which appears whole or not at all, also in the place of one that was read
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,

    /// Show the page in the browser; in place of --format
    #[arg(long, conflicts_with = "format")]
    open: bool,
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
    /// A table in Markdown
    Markdown,
    /// One self-contained page: a table to sort, with bars from min to max
    Html,
    /// A Parquet file, in builds with the feature tables
    Parquet,
    /// An Arrow IPC file (Feather), in builds with the feature tables
    Arrow,
}

/// Forms of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FormatIn {
    /// Fields with a delimiter between them, some in quotes (RFC 4180)
    Delimited,
    /// `host ident user [time] "request" status bytes`
    #[value(alias = "clf")]
    Common,
    /// The same with `"referer" "agent"`
    Combined,
    /// One JSON object a line
    #[value(aliases = ["jsonl", "json-lines"])]
    Ndjson,
}

const METHODS: [(&str, Method); 2] = [("linear", Method::Linear), ("nearest", Method::Nearest)];

const ROUNDINGS: [(&str, Rounding); 3] = [
    ("half-up", Rounding::HalfUp),
    ("ceiling", Rounding::Ceiling),
    ("half-even", Rounding::HalfEven),
];

/// Reads one of these words as what it stands for.
fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    meanings: [(&'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(meanings.map(|(word, _)| word)).map(move |word| {
        let meaning = meanings.iter().find(|(known, _)| *known == word);
        meaning.expect("no other word is let through").1
    })
}

/// Reads the word of a statistic.
#[derive(Clone)]
struct Words;

/// What is told if nothing is said: texts have neither minimum nor mean.
const OF_TEXTS: [(&str, ArgPredicate, Option<&str>); 2] = [
    ("value", ArgPredicate::IsPresent, Some("min,mean,max")),
    ("text", ArgPredicate::IsPresent, Some("count,distinct")),
];

const OF_TEXTS_ARE: &str =
    "of texts count, rows, count%, rows%, distinct, mode, first and last are told";

impl TypedValueParser for Words {
    type Value = Statistic;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        word: &OsStr,
    ) -> Result<Statistic, clap::Error> {
        if let Some(statistic) = word.to_str().and_then(Statistic::named) {
            return Ok(statistic);
        }
        let of_quantile = word.to_str().and_then(|word| word.strip_prefix('p')?.bytes().next());
        if of_quantile.is_some_and(|first| first.is_ascii_digit()) {
            let said = |_| Err("quantiles are p0 to p100, with up to six decimals");
            return StringValueParser::new().try_map(said).parse_ref(command, argument, word);
        }
        // Says what there is, and what is nearest.
        let values = self.possible_values().into_iter().flatten();
        let known = PossibleValuesParser::new(values).parse_ref(command, argument, word);
        known.map(|_| unreachable!("all of them are statistics"))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let words = Statistic::WORDS.iter().map(|(word, doc)| PossibleValue::new(*word).help(*doc));
        Some(Box::new(words))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ErrorPolicy {
    Fail,
    Skip,
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(format!("{text:?} is neither yes nor no")),
    }
}

fn mebibytes(text: &str) -> Result<usize, String> {
    let mebibytes: f64 = text.parse().map_err(|_| format!("{text:?} is no number of MiB"))?;
    let bytes = mebibytes * f64::from(1 << 20);
    if (64.0..=f64::from(32 << 20)).contains(&bytes) {
        Ok(bytes as usize)
    } else {
        Err("a chunk has 64 bytes to 32 MiB".to_owned())
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
    output::ensure_writable(&options.output)?;
    options.note_idle();
    let start = Instant::now();
    let mut engine = engine_options(options)?;
    if options.verbose {
        announce(&engine, files);
    }
    if options.partial {
        return partial::run(options, query, (files, &engine), start);
    }
    engine.gathers_later = spilled::may_gather_later(options, format);
    if options.spill.is_some() {
        // Such runs are long, whoever started them.
        output::handle_interrupts();
    }
    let mut rejects = Kept::create(options)?;
    let inputs: Vec<&[PathBuf]> =
        if options.compare { files.chunks(1).collect() } else { vec![files] };
    let mut summaries = Vec::new();
    let (mut guesses, mut has_names) = (true, false);
    for files in inputs {
        let mut own = query.clone();
        let asked = (own.as_mut(), &mut guesses);
        summaries.push(summarise(options, asked, files, &engine, rejects.as_mut())?);
        has_names |= own.as_ref().is_some_and(Query::has_named_parts);
        // What a text tells holds for the next one; what holds for tables does not.
        if !guesses {
            query = own;
        }
    }
    // One result, or two side by side.
    let summary = summaries.into_iter().reduce(format::compared);
    let summary = summary.expect("there is an input");
    tell_absent(options, &summary);
    let number_parts = query.as_ref().map(Query::number_parts).unwrap_or_default();
    let about = ("aggregate", &number_parts[..], has_names);
    beside(rejects, || show(options, format, about, summary, start))
}

/// The file of what is refused, by one run after the other.
struct Kept {
    file: Output,
    /// As [`Rejects::is_open`].
    is_open: bool,
}

impl Kept {
    fn create(options: &Options) -> anyhow::Result<Option<Kept>> {
        let file = options.rejects.as_deref().map(Output::create).transpose()?;
        Ok(file.map(|file| Kept { file, is_open: false }))
    }
}

/// Makes a result, and gives the rejects their name if there is one, or nobody reads it any more.
fn beside(
    rejects: Option<Kept>,
    result: impl FnOnce() -> anyhow::Result<Exit>,
) -> anyhow::Result<Exit> {
    let mut rejects = rejects.map(|kept| kept.file);
    rejects.as_mut().map(Write::flush).transpose()?;
    let result = result();
    if result.is_ok() {
        rejects.map(Output::finish).transpose()?;
    }
    result
}

/// Runs the engine; what is wrong with the input is said in the words of the command line.
fn execute(
    options: &Options,
    query: Option<&Query>,
    sources: Vec<Source>,
    engine: &EngineOptions,
    rejects: Option<&mut Kept>,
    progress: &Progress,
) -> anyhow::Result<Summary> {
    let on_error = match options.on_error {
        ErrorPolicy::Fail => OnError::Fail,
        ErrorPolicy::Skip => OnError::Skip(
            rejects
                .map(|kept| Rejects { sink: Box::new(&mut kept.file), is_open: &mut kept.is_open }),
        ),
    };
    let outcome = match query {
        Some(query) => delimited::aggregate(sources, query, engine, on_error, progress),
        None => fathom_aggregate::aggregate(sources, engine, on_error, progress),
    };
    let mut summary = outcome.map_err(|error| {
        let error = partial::located(error, options, query);
        if let Error::Record(reject) = &error {
            if options.verbose {
                say!("{}", escape::line(&bytes(reject)));
            }
            if query.is_none() && reject.reason == Reason::NoDelimiter {
                say!("fathom: without --by, --value or --delimiter, input is key;value lines");
            }
            if let Some(read) = reject.pointed_thousands() {
                say!(
                    "fathom: --decimal-comma reads it as {read}; separators of thousands are not read"
                );
            } else if reject.has_decimal_comma() {
                say!("fathom: --decimal-comma reads numbers with a comma, such as 1,5");
            } else if let Some(hint) = reject.hint() {
                say!("fathom: {hint}");
            }
        }
        error
    })?;
    if options.range.is_some() {
        summary.shown_rejects.iter_mut().for_each(partial::count_lines);
    }
    Ok(summary)
}

/// Says which members no line of JSON has, on neither side of a comparison. Of a range nobody knows what others have.
fn tell_absent(options: &Options, summary: &Summary) {
    if options.range.is_some() || summary.records + summary.left_out == 0 {
        return;
    }
    for name in &summary.absent {
        say!("fathom: no record has a member {name:?}{}", delimited::hint(name, &[]));
    }
}

/// What came of a run; where records were refused, or a column is not there, also which guess may explain it.
fn explained(
    summary: anyhow::Result<Summary>,
    guessed: Option<Guessed>,
) -> anyhow::Result<Summary> {
    let Some(guessed) = guessed else { return summary };
    let (rejects, is_column) = match &summary {
        Ok(summary) => (&summary.shown_rejects[..], false),
        Err(error) => match error.downcast_ref() {
            Some(Error::Record(reject)) => (std::slice::from_ref(&**reject), false),
            Some(Error::NoSuchColumn { .. }) => (&[][..], true),
            _ => (&[][..], false),
        },
    };
    query::explain(&guessed, rejects, is_column);
    summary
}

/// Writes a result in its order and form.
fn show(
    options: &Options,
    format: Format,
    (command, number_parts, has_names): (&str, &[usize], bool),
    mut summary: Summary,
    start: Instant,
) -> anyhow::Result<Exit> {
    let mut keys = summary.columns[0].groups.len();
    let layout = layout(options, has_names, &summary);
    let order = match order::criteria(options, number_parts, &layout, &summary.columns) {
        Ok(order) => order,
        Err(mistake) => return usage_of(command, &mistake),
    };
    let total = options.total.as_deref();
    if let (true, Some(spilled)) = (options.verbose, &summary.spilled) {
        let (runs, bytes) = (spilled.runs(), spilled.bytes());
        say!("spilled {bytes} bytes in {runs} runs");
    }
    if summary.gathering.is_some() || summary.spilled.is_some() && options.top.is_none() {
        let written = spilled::write(options, format, (&order, &layout), &mut summary);
        let written = output::unless_closed(written)?;
        if let (true, Some((keys, digest))) = (options.verbose, written) {
            verdict(&digest, keys, &summary, (command, start.elapsed()));
        }
        return Ok(ended(options, summary));
    }
    if let Some(top) = options.top.filter(|_| summary.spilled.is_some()) {
        keys = summary.first(&order, top, options.verbose)?;
        if let Some(label) = total {
            format::append_total(&mut summary.columns, label, layout.keys.len());
        }
    } else {
        format::prepare(&mut summary.columns, &layout, (&order, options.top), total);
    }
    total.into_iter().for_each(|label| note_twin(&summary.columns[0], label));
    let title = page::title(command, &options.files);
    let text = render(format, title, (&summary.columns, total.is_some()), &layout)?;
    sheet::put(&text, &options.output, options.open)?;
    if options.verbose {
        verdict(&Digest::of(&text), keys, &summary, (command, start.elapsed()));
    }
    Ok(ended(options, summary))
}

/// Says that a key is called as the total, the last one, is: nothing else tells them apart.
fn note_twin(column: &Column, label: &str) {
    let Some((total, keys)) = column.groups.split_last() else { return };
    if keys.iter().any(|group| group.key == total.key) {
        tell_twin(label);
    }
}

fn tell_twin(label: &str) {
    say!(
        "fathom: a key is called {label:?} as well as the line of all keys: \
         --total=NAME calls that otherwise"
    );
}

/// Tells what was refused of a result that was written.
fn ended(options: &Options, summary: Summary) -> Exit {
    let exit = report_rejects(&summary, options.verbose);
    // The process ends: what millions of keys kept is given back as a whole, not one by one.
    std::mem::forget(summary);
    exit
}

/// What is known of these inputs together. What is not said of how they are written is guessed once for all of them, and
/// for those of the other side of a comparison.
fn summarise(
    options: &Options,
    (mut query, guesses): (Option<&mut Query>, &mut bool),
    files: &[PathBuf],
    engine: &EngineOptions,
    rejects: Option<&mut Kept>,
) -> anyhow::Result<Summary> {
    let inputs = open(options, (query.as_deref_mut(), guesses), files)?;
    let query = query.map(|query| &*query);
    let (known_bytes, guessed) = (inputs.bytes, inputs.guessed);
    let progress = Arc::new(Progress::default());
    let _bar = progress::watch(known_bytes, {
        let progress = Arc::clone(&progress);
        move || progress.bytes.load(Ordering::Relaxed)
    });
    if let Some(summary) = columns::summarise(options, query, &inputs.tables, engine, &progress) {
        return Ok(summary);
    }
    let sources = inputs.into_texts(engine.threads).into_iter();
    let sources = sources.map(|source| partial::part(options, source));
    let sources = sources.collect::<anyhow::Result<_>>()?;
    explained(execute(options, query, sources, engine, rejects, &progress), guessed)
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
    if let Some(mistake) = options.mistake_in_output() {
        return Some(mistake);
    }
    if let Some(mistake) = input::mistake(&options.files, "FILE") {
        return Some(mistake);
    }
    let is_brc = format == Format::Brc;
    let is_several = |query: &Query| query.values.len() > 1 || query.by.len() > 1;
    let is_mapped = options.input == EngineInput::Map;
    let keeps_more =
        |engine: EngineOptions| engine.with_values || engine.with_sketch || engine.with_ends;
    let is_other = query.is_some_and(|query| query.syntax != Syntax::Delimited);
    let delimited = options.delimiter.is_some()
        || options.header.is_some()
        || options.quotes.is_some()
        || options.ragged.is_some();
    let mistakes = [
        (is_brc && query.is_some_and(is_several), ONE_EACH),
        (
            is_mapped && query.is_some(),
            "--input map: only key;value lines are mapped, other text is read",
        ),
        (
            is_mapped && options.spill.is_some(),
            "--input map: where tables may be spilled, files are read",
        ),
        (
            is_mapped && engine_options(options).is_ok_and(keeps_more),
            "--input map: these statistics need whole records, which are read",
        ),
        (
            is_other && delimited,
            "--delimiter, --header, --quotes and --ragged are of delimited text, which --format-in is not",
        ),
        (
            options.header == Some(false) && query.is_some_and(Query::has_names),
            "--header=no: columns are chosen by name, and only a header has names",
        ),
        (
            is_other && options.by.is_empty(),
            "--by names the columns of the key: this --format-in has no first one",
        ),
        (is_other && !options.has_value(), query::NO_VALUE),
        (
            options.compare && options.files.len() != 2,
            "--compare takes two FILEs: the one from before and the one from after",
        ),
        (
            options.compare && is_brc,
            "the brc format shows one input: choose another --format to --compare two",
        ),
    ];
    let found = mistakes.into_iter().find(|(is_so, _)| *is_so).map(|(_, said)| said);
    if let Some(said) = found.or_else(|| spilled::mistake(options, format)) {
        return Some(said.to_owned());
    }
    if query.is_some_and(Query::has_only_texts)
        && let Some(mistake) = options.mistake_of_texts()
    {
        return Some(mistake);
    }
    // A key that is chosen by its place may be called like what is sorted by.
    let is_named = |query: &Query| query.by.iter().all(|by| matches!(by.column, Selector::Name(_)));
    let told = if query.is_none_or(is_named) { options.asked() } else { options.stats() };
    if let Some(statistic) = told.into_iter().find(|told| told.needs_all())
        && options.approx.is_some()
    {
        return Some(format!("--approx keeps no values, and cannot tell {statistic}"));
    }
    if let Some(mistake) = order::mistake(options, query) {
        return Some(mistake);
    }
    let rejects = options.rejects.as_deref()?;
    if options.on_error == ErrorPolicy::Fail {
        return Some("--rejects needs --on-error skip".to_owned());
    }
    let named = input::files_of(files).unwrap_or_default();
    let inputs: Vec<&Path> = named.iter().map(PathBuf::as_path).collect();
    let rejects = ("--rejects", rejects);
    let apart = output::ensure_apart(&[("--output", &options.output), rejects], &[])
        .and_then(|()| output::ensure_apart(&[rejects], &inputs));
    apart.err().map(|said| said.to_string())
}

/// A mistake in how the command was called: what clap reports, said by us.
fn usage(message: &str) -> anyhow::Result<Exit> {
    usage_of("aggregate", message)
}

fn usage_of(command: &str, message: &str) -> anyhow::Result<Exit> {
    let mut args = Args::command();
    args.build();
    let command = args.find_subcommand_mut(command).expect("this command exists");
    Err(command.error(clap::error::ErrorKind::ArgumentConflict, message).into())
}

/// What is said of each key.
fn statistics(options: &Options) -> Vec<Statistic> {
    let wanted = if options.count { vec![Statistic::Count] } else { options.stats() };
    let told: Vec<Statistic> = wanted.iter().map(|told| told.by(options.quantiles)).collect();
    if options.shares { Statistic::with_shares(&told) } else { told }
}

/// What `fathom merge` has of these options.
impl Options {
    /// Whether it is said what is told of each key.
    fn has_value(&self) -> bool {
        self.count || !self.value.is_empty() || !self.text.is_empty()
    }

    pub(crate) fn mistake_in_output(&self) -> Option<String> {
        partial::mistake(self).map(str::to_owned).or_else(|| tables::mistake(self))
    }

    /// What is wrong with what is asked where there are texts alone.
    pub(crate) fn mistake_of_texts(&self) -> Option<String> {
        if !self.stats.iter().any(|told| told.is_of_texts()) {
            return Some(format!("--stats: {OF_TEXTS_ARE}"));
        }
        self.histogram.then(|| "--histogram: texts have none".to_owned())
    }

    /// What must be known to show what is asked.
    pub(crate) fn asked(&self) -> Vec<Statistic> {
        // What is wrong with --by is said elsewhere.
        let by = self.by.iter().filter_map(|list| By::list(list).ok()).flatten();
        self.asked_beside(&by.map(|by| by.column).collect::<Vec<_>>())
    }

    /// The same of keys of these columns: what is called as one of them is no statistic.
    pub(crate) fn asked_beside(&self, keys: &[Selector]) -> Vec<Statistic> {
        let sorted =
            self.sort.iter().flat_map(|sort| &sort.0).flat_map(|wish| wish.statistics(keys));
        self.stats().into_iter().chain(sorted).collect()
    }

    /// What --stats names, and what --histogram adds.
    fn stats(&self) -> Vec<Statistic> {
        let has_one = self.stats.contains(&Statistic::Histogram);
        let more = (self.histogram && !has_one).then_some(Statistic::Histogram);
        self.stats.iter().copied().chain(more).collect()
    }

    /// Says which options change nothing.
    pub(crate) fn note_idle(&self) {
        let told = self.asked();
        if self.approx.is_some() && !told.iter().any(|told| told.needs_values(None)) {
            say!("fathom: --approx changes nothing: it is of quantiles, distinct and histograms");
        }
        let is_quantile = |told: &Statistic| matches!(told, Statistic::Quantile(_));
        if self.quantiles == Method::Nearest && !told.iter().any(is_quantile) {
            say!("fathom: --quantiles changes nothing: no quantile is told");
        }
        if self.shares && !statistics(self).iter().any(|told| told.is_share()) {
            say!("fathom: --shares changes nothing: it is of count, rows and sum");
        }
        // What a state keeps of texts is for the merge to ask.
        if self.text.is_empty() || self.partial {
            return;
        }
        let others = self.stats.iter().filter(|told| !told.is_of_texts());
        let others: Vec<String> = others.map(ToString::to_string).collect();
        if !told.iter().any(|told| told.is_of_texts()) {
            say!("fathom: --text changes nothing: {OF_TEXTS_ARE}");
        } else if self.value.is_empty() && !others.is_empty() {
            say!("fathom: --stats {} changes nothing: {OF_TEXTS_ARE}", others.join(","));
        }
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
        show(self, format, ("merge", &question.number_parts, question.has_names), summary, start)
    }
}

impl Options {
    fn format(&self, is_plain: bool) -> Format {
        if self.open {
            return Format::Html;
        }
        self.format.unwrap_or_else(|| match is_plain {
            true => Format::Brc,
            false if self.output == Path::new("-") && std::io::stdout().is_terminal() => {
                Format::Table
            }
            false => Format::Csv,
        })
    }
}

fn layout(options: &Options, has_names: bool, summary: &Summary) -> Layout {
    let default = Layout::default();
    Layout {
        statistics: statistics(options),
        decimals: options.decimals,
        rounding: options.rounding,
        keys: if has_names { summary.keys.clone() } else { default.keys },
        pairs: options.compare,
        errors: options.approx.is_some(),
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
        approx: options.approx,
        spill: spilled::spill(options),
        input: options.input,
        ..default
    };
    Ok(engine.for_statistics(&options.asked()))
}

/// What was opened: tables, or texts.
struct Inputs {
    tables: Vec<(PathBuf, input::Columns)>,
    texts: Vec<Source>,
    /// How many there are, if that is known.
    bytes: Option<u64>,
    /// What was guessed and not told.
    guessed: Option<Guessed>,
}

impl Inputs {
    /// All as text.
    fn into_texts(self, threads: usize) -> Vec<Source> {
        let of_table = |(path, columns): (_, input::Columns)| Source::Stream {
            path,
            reader: columns.text(threads),
        };
        self.tables.into_iter().map(of_table).chain(self.texts).collect()
    }
}

/// Opens all inputs, finds out how they are written where nobody said it and none before had a text that tells, and adds
/// up their bytes if all sizes are known.
fn open(
    options: &Options,
    (query, guesses): (Option<&mut Query>, &mut bool),
    files: &[PathBuf],
) -> anyhow::Result<Inputs> {
    let (mut bytes, mut guessed) = (Some(0), None);
    let (mut tables, mut texts) = (Vec::new(), Vec::new());
    let files = input::files_of(files)?;
    anyhow::ensure!(options.range.is_none() || files.len() == 1, partial::RANGE_OF_ONE);
    let threads = engine_options(options)?.threads;
    // With a file for each thread none needs help in decoding its own.
    let threads = if files.len() < threads { threads } else { 1 };
    input::prepare(&files)?;
    for path in files {
        let source = match input::open_kept(&path, threads)? {
            Input::File(file, size) => match input::table(&path, file, size)? {
                Ok(table) => {
                    let columns = query::columns_of(options, query.as_deref(), table)
                        .with_context(|| path.display().to_string())?;
                    tables.push((path, columns));
                    bytes = None;
                    continue;
                }
                Err(file) => {
                    bytes = bytes.map(|bytes| bytes + size);
                    Source::File { path, file, size }
                }
            },
            Input::Stream(reader) => {
                bytes = None;
                Source::Stream { path, reader }
            }
        };
        texts.push(text_of(source)?);
    }
    // As programs leave them beside the tables that they wrote.
    let is_empty = |source: &Source| matches!(source, Source::File { size: 0, .. });
    if !tables.is_empty() {
        texts.retain(|text| !is_empty(text));
    }
    match query {
        Some(query) if tables.is_empty() && *guesses => {
            *guesses = !guess::has_text(&mut texts);
            guessed = query::guess(query, options, &mut texts)?;
        }
        Some(_) if tables.is_empty() => {}
        Some(query) if texts.is_empty() => query::of_tables(query),
        None if tables.is_empty() => {}
        _ => {
            let told = |(table, text): (&(PathBuf, _), &Source)| {
                let [table, text] = [&*table.0, text.path()].map(|path| path.display().to_string());
                format!(": {table} is a table, and {text} is none")
            };
            let told = tables.first().zip(texts.first()).map_or_else(String::new, told);
            anyhow::bail!("{TABLES_APART}{told}")
        }
    }
    Ok(Inputs { tables, texts, bytes, guessed })
}

/// The source as text in UTF-8.
fn text_of(mut source: Source) -> anyhow::Result<Source> {
    const LOOKED_AT_BYTES: usize = 64;
    let (first, _) = source.peek(LOOKED_AT_BYTES);
    let path = source.path().to_owned();
    if let Some((what, hint)) = input::foreign(&first) {
        return Err(Error::Foreign { path, what, hint }.into());
    }
    let Some(is_little) = input::utf_16(&first) else { return Ok(source) };
    if std::io::stderr().is_terminal() {
        say!(
            "fathom: {} is UTF-16 by its mark, and decoded",
            escape::line(&path.display().to_string())
        );
    }
    let reader = input::decoded(source.into_reader(), is_little);
    Ok(Source::Stream { path, reader })
}

fn announce(engine: &EngineOptions, files: &[PathBuf]) {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    say!("aggregating {}", escape::line(&names.join(", ")));
    say!("Zstandard, if there is any, is decoded by {}", input::ZSTANDARD);
    say!(
        "{}{} thread{}, level {}, chunks of {} KiB",
        if engine.threads == 1 { "" } else { "up to " },
        engine.threads,
        if engine.threads == 1 { "" } else { "s" },
        kernel_level(engine.level),
        engine.chunk_bytes >> 10,
    );
}

fn render(
    format: Format,
    title: String,
    (columns, has_total): (&[Column], bool),
    layout: &Layout,
) -> anyhow::Result<Vec<u8>> {
    Ok(match format {
        Format::Brc => format::brc(&columns[0], layout),
        Format::Table => format::table(columns, layout),
        Format::Csv => format::csv(columns, layout),
        Format::Tsv => format::tsv(columns, layout),
        Format::Json => format::json(columns, layout),
        Format::Ndjson => format::ndjson(columns, layout),
        Format::Markdown => format::markdown(columns, layout),
        Format::Html => page::page(title, columns, layout, has_total),
        Format::Parquet => tables::parquet(columns, layout)?,
        Format::Arrow => tables::arrow(columns, layout)?,
    })
}

/// What is told of a result without its last newline.
#[derive(Default)]
struct Digest {
    /// CRC-32C.
    hash: u32,
    length: usize,
    has_other: bool,
    /// Whether the text so far ends with a newline, which is counted when more follows.
    newline: bool,
}

impl Digest {
    fn of(text: &[u8]) -> Digest {
        let mut digest = Digest::default();
        digest.add(text);
        digest
    }

    /// Adds a piece, which ends where a character does.
    fn add(&mut self, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        let before = if self.newline { &b"\n"[..] } else { b"" };
        let result = text.strip_suffix(b"\n").unwrap_or(text);
        self.newline = result.len() < text.len();
        for part in [before, result] {
            self.hash = crc32c::crc32c_append(self.hash, part);
            self.length += part.len();
        }
        self.has_other |= std::str::from_utf8(result).is_err();
    }
}

fn tell(ways: &[Way]) {
    ways.iter().for_each(|way| say!("{}", escape::line(&way.to_string())));
}

/// The forebear's verbose block.
fn verdict(digest: &Digest, keys: usize, summary: &Summary, (command, elapsed): (&str, Duration)) {
    tell(&summary.ways);
    say!("result hash={:08x}", digest.hash);
    say!("result length={}", digest.length);
    say!("stations count={keys}");
    say!("valid utf8={}", !digest.has_other);
    let seconds = elapsed.as_secs_f64();
    let took = match command {
        // Nobody read so many.
        "merge" => format!("merged in {seconds:.3} s"),
        _ => format!(
            "in {seconds:.3} s: {:.1} M records/s, {:.3} GB/s",
            summary.records as f64 / seconds / 1e6,
            summary.bytes as f64 / seconds / 1e9,
        ),
    };
    say!(
        "{} records, {} blank lines{}, {} refused {took}",
        summary.records,
        summary.blank_lines,
        match summary.left_out {
            0 => String::new(),
            left_out => format!(", {left_out} left out by --where"),
        },
        summary.rejected,
    );
}

/// Where a refused record stands, in bytes.
fn bytes(reject: &Reject) -> String {
    let (at, record) = (reject.position.byte, reject.record_byte);
    format!("{}: byte {at}, in the record from byte {record} on", reject.position)
}

/// Tells what was refused.
pub(crate) fn report_rejects(summary: &Summary, verbose: bool) -> Exit {
    if summary.rejected == 0 {
        return Exit::Done;
    }
    for reject in &summary.shown_rejects {
        say!("fathom: skipped {}", escape::line(&reject.to_string()));
        if verbose {
            say!("{}", escape::line(&bytes(reject)));
        }
    }
    let more = summary.rejected - summary.shown_rejects.len() as u64;
    if more > 0 && !summary.shown_rejects.is_empty() {
        say!("fathom: … and {more} more");
    }
    let records = if summary.rejected == 1 { "record" } else { "records" };
    say!("fathom: {} {records} skipped", summary.rejected);
    Exit::Incomplete
}
