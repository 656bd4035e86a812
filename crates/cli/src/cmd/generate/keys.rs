//! `fathom generate keys` and `pairs-kv`: files for `fathom kv` and its forebear.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use fathom_keys::generate::{Order, Recipe, Shape, Sizes, generate};
use fathom_keys::{Format, Keys, Target, WriteError, write};

use crate::exit::Exit;
use crate::key_file;
use crate::output::{self, Output};
use crate::value;

/// Write a file of keys
///
/// The same options give the same bytes on any machine. Sizes are in bytes: 16 (always), 8..32 (all
/// equally likely), normal:24,8 (mean, standard deviation), zipf:4..400,1.2 (the shortest most
/// often), sample:FILE (the lengths of the keys in FILE).
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    keys: KeyOptions,

    /// The format to write: words, lines, integers, u32, u64, bin-text, bin-text1
    #[arg(short = 'F', long, default_value = "words")]
    format: Format,
}

/// Write a file of keys with values, in kvbench's formats of pairs
///
/// Keys as `fathom generate keys` makes them; values are random bytes.
#[derive(Debug, clap::Args)]
pub(crate) struct PairOptions {
    #[command(flatten)]
    keys: KeyOptions,

    /// Sizes of the values, like those of the keys
    #[arg(long, value_name = "SIZES", default_value = "8")]
    value_size: String,

    /// bin-text-kv (printable values) or bin-slice-kv (any bytes)
    #[arg(short = 'F', long, default_value = "bin-slice-kv")]
    format: Format,
}

/// What both kinds of files have.
#[derive(Debug, clap::Args)]
struct KeyOptions {
    /// How many keys, duplicates counted: 1000, 250k, 1.5M (decimal)
    #[arg(short = 'n', long, value_parser = value::count)]
    count: u64,

    /// What keys look like: random, sequential, clustered, urls, emails, uuids, words,
    /// ipv4, paths, hex, dna
    #[arg(short = 'k', long, value_name = "SHAPE", default_value = "random")]
    keys: Shape,

    /// Sizes of the keys, from 1 on [default: what suits the shape]; shapes with a form of their own (sequential,
    /// clustered, urls, emails, paths) come as near as it allows; uuids and ipv4 take none
    #[arg(long, value_name = "SIZES")]
    size: Option<String>,

    /// In what order they stand
    #[arg(long, value_enum, default_value = "random")]
    order: OrderOption,

    /// Share of the keys that repeat another one: 0.1 is a tenth
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    duplicates: f64,

    /// Which of the many possible files
    #[arg(short, long, default_value_t = 1)]
    seed: u64,

    /// Where to write; - is stdout. A file appears when it is complete
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,

    /// Write the 64-bit variant with its checksum even where 32 bits are enough (bin-text, bin-text-kv, bin-slice-kv)
    #[arg(long)]
    wide: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum OrderOption {
    Random,
    Sorted,
    Reversed,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let format = &options.format;
    anyhow::ensure!(
        !format.has_values(),
        "{format} has values: fathom generate pairs-kv makes them"
    );
    make(&options.keys, format, None)
}

pub(crate) fn run_pairs(options: &PairOptions) -> anyhow::Result<Exit> {
    let format = &options.format;
    anyhow::ensure!(format.has_values(), "{format} has no values: bin-text-kv or bin-slice-kv");
    make(&options.keys, format, Some(&options.value_size))
}

fn make(options: &KeyOptions, format: &Format, value_size: Option<&str>) -> anyhow::Result<Exit> {
    let samples = options.size.as_deref().into_iter().chain(value_size).filter_map(sample);
    output::ensure_apart(&[("--output", &options.output)], &samples.collect::<Vec<_>>())?;
    let recipe = Recipe {
        count: options.count,
        seed: options.seed,
        shape: options.keys,
        integer_bits: match format {
            Format::U32 => Some(32),
            Format::U64 | Format::Integers => Some(64),
            _ => None,
        },
        sizes: options.size.as_deref().map(sizes).transpose()?,
        values: value_size.map(sizes).transpose()?,
        printable_values: *format == Format::BinTextKv,
        order: match options.order {
            OrderOption::Random => Order::Random,
            OrderOption::Sorted => Order::Sorted,
            OrderOption::Reversed => Order::Reversed,
        },
        duplicates: options.duplicates,
    };
    if recipe.integer_bits.is_some() && recipe.sizes.is_some() {
        anyhow::bail!("integers take no --size: {format} fixes it");
    }
    let keys = generate(&recipe)?;
    let mut output = Output::create(&options.output)?;
    let target = Target { wide: options.wide, ..Target::new(format.clone()) };
    write(&mut output, &keys, &target).map_err(|error| match error {
        WriteError::Io(error) => anyhow::Error::from(error),
        other => other.into(),
    })?;
    output.finish()?;
    Ok(Exit::Done)
}

/// The file whose keys are a sample.
fn sample(text: &str) -> Option<&Path> {
    text.strip_prefix("sample:").map(Path::new)
}

/// A distribution of sizes; that of a sample comes from its file.
fn sizes(text: &str) -> anyhow::Result<Sizes> {
    let Some(path) = sample(text) else { return Ok(text.parse()?) };
    let bytes = key_file::load(path)?;
    let found = key_file::keys(path, &bytes, None).map_err(anyhow::Error::from);
    let (_, keys) = found.map_err(|error| match bytes.is_empty() {
        true => error,
        false => error
            .context("--size sample: `fathom convert` makes a file of keys of one that has others"),
    })?;
    let lengths: Arc<[u32]> = match &keys.keys {
        Keys::Bytes(spans) => spans.iter().map(|span| span.len).collect(),
        Keys::Integers(_) => (0..keys.len()).map(|at| keys.key(at).len() as u32).collect(),
    };
    let longest =
        lengths.iter().copied().max().context(format!("{} has no key", path.display()))?;
    anyhow::ensure!(longest <= 1 << 20, "{}: a key of {longest} bytes", path.display());
    Ok(Sizes::Sample(lengths))
}
