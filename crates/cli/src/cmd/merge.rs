//! `fathom merge`: states that `fathom aggregate --partial` wrote, as one result or one state.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, FromArgMatches};
use fathom_aggregate::Selector;
use fathom_aggregate::format::Statistic;
use fathom_aggregate::state::{MOST_PARTITIONS, Merger, Partition, Question, State};

use super::aggregate;
use crate::exit::Exit;
use crate::input::{self, Input};
use crate::output;

/// The options of `aggregate` that say how a result looks: those about reading are hidden and refused.
#[derive(Debug)]
pub(crate) struct Options {
    show: aggregate::Options,
    /// Whether statistics were chosen here; otherwise they are those the states were made for.
    has_stats: bool,
    /// The only keys to merge.
    partition: Option<Partition>,
}

/// What `aggregate` asks about its input, or inputs.
const ABOUT_READING: &str = "chunk delimiter by value text condition count header null null_values ragged \
                             on_error rejects memory_limit spill input range number format_in trim \
                             ignore_case compare approx quotes decimal_comma";

const ABOUT: &str =
    "Merge states that `fathom aggregate --partial` wrote, into a result or one state";

const LONG_ABOUT: &str = "\
Merge states that `fathom aggregate --partial` wrote, into a result or one state

The states come from the files, or from standard input without any or for `-`; a file may hold several, \
one behind the other, and may be compressed. The result is the same, to the last byte, as that of `fathom aggregate` on the \
whole input, however it was cut and in whatever order and tree it was merged.

States say which bytes of which files they are of. What is in two of them, what changed in between and, \
unless --partial is given, what is in none of them is an error. docs/scaling.md describes the format: \
pyarrow, Polars and DuckDB read it.";

const EXAMPLES: &str = "Examples:\n  \
    fathom aggregate --partial --range 0..1G -o 0.fathom measurements.txt\n  \
    fathom aggregate --partial --range 1G.. -o 1.fathom measurements.txt\n  \
    fathom merge 0.fathom 1.fathom\n  \
    fathom merge --partial -o both.fathom 0.fathom 1.fathom\n  \
    seq 0 15 | xargs -P 4 -I{} fathom merge --partial --partition {}/16 \\\n    \
    -o key-{}.fathom [01].fathom\n  \
    fathom merge key-*.fathom\n  \
    ssh host fathom aggregate --partial log.txt | fathom merge - here.fathom";

impl clap::Args for Options {
    fn augment_args(command: Command) -> Command {
        let hidden: Vec<&str> = ABOUT_READING.split(' ').collect();
        aggregate::Options::augment_args(command)
            .mut_args(|argument| match argument.get_id().as_str() {
                "files" => argument.value_name("STATE").help("States to merge; `-` is standard input"),
                "partial" => {
                    argument.help("Write one state of all instead of a result; parts of the input may lack").long_help(None)
                }
                "stats" => argument.default_value(None::<&str>).conflicts_with("partial").help(
                    "What to say of each key, of what the states know [default: what they were made for]",
                ),
                "verbose" => {
                    let help = "Say on stderr hash (CRC-32C), length and UTF-8 validity of the result without its last line \
                                end, how many records its states are of, and the time";
                    argument.help(help).long_help(None)
                }
                "histogram" => argument.conflicts_with("partial"),
                name if hidden.contains(&name) => argument.hide(true),
                _ => argument,
            })
            .arg(
                Arg::new("partition")
                    .long("partition")
                    .value_name("K/N")
                    .value_parser(partition)
                    .requires("partial")
                    .conflicts_with_all(aggregate::SHOWN)
                    .conflicts_with_all(["stats", "histogram", "spill"])
                    .help("Take the keys of partition K of N (from 0) only, by their hash")
                    .long_help(
                        "Take the keys of partition K of N (from 0) only, by their hash: for N processes, each with \
                         1/N of the keys, and a STATE as it is read, in memory. Merging what they write joins all keys again, \
                         in the memory that all of them take.",
                    ),
            )
            .about(ABOUT)
            .long_about(LONG_ABOUT)
            .after_long_help(EXAMPLES)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Options::augment_args(command)
    }
}

impl FromArgMatches for Options {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Options, clap::Error> {
        let is_given = |name: &&str| matches.value_source(name) == Some(ValueSource::CommandLine);
        if let Some(name) = ABOUT_READING.split(' ').find(is_given) {
            let said = match name {
                "compare" => {
                    "--compare is of inputs: two results of merges cannot be compared".to_owned()
                }
                "condition" => "--where is for reading, which was done".to_owned(),
                _ => format!("--{} is for reading, which was done", name.replace('_', "-")),
            };
            return Err(<Options as clap::Args>::augment_args(Command::new("fathom merge"))
                .error(clap::error::ErrorKind::ArgumentConflict, said));
        }
        let has_stats = is_given(&"stats");
        let partition = matches.get_one("partition").copied();
        Ok(Options { show: aggregate::Options::from_arg_matches(matches)?, has_stats, partition })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Options::from_arg_matches(matches)?;
        Ok(())
    }
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let start = Instant::now();
    let standard = [PathBuf::from("-")];
    let show = &options.show;
    if let Some(mistake) = show.mistake_in_output().or_else(|| input::mistake(&show.files, "STATE"))
    {
        anyhow::bail!(mistake);
    }
    output::ensure_writable(&show.output)?;
    let files = if show.files.is_empty() { &standard[..] } else { &show.files };
    let mut merger = Merger::default();
    for path in files {
        let name = || path.display().to_string();
        input::ensure_local(path)?;
        let bytes = read(path)?;
        for state in State::all_of(&bytes, options.partition).with_context(name)? {
            merger.push(state).with_context(name)?;
        }
    }
    let state = merger.finish()?;
    if show.partial {
        let summary = show.write_state(state, ("merge", start))?;
        return Ok(aggregate::report_rejects(&summary, false));
    }
    state.check_whole()?;
    let question = state.question().clone();
    let mut show = show.clone();
    if !options.has_stats {
        show.stats = question.stats.iter().filter_map(|word| Statistic::named(word)).collect();
    }
    show.note_idle();
    show.approx = question.approx;
    let summary = state.into_summary();
    let keys: Vec<Selector> = summary.keys.iter().cloned().map(Selector::Name).collect();
    if let Some(mistake) = unknown(&question, &show.asked_beside(&keys)) {
        anyhow::bail!(mistake);
    }
    if summary.columns.iter().all(|column| column.is_text)
        && let Some(mistake) = show.mistake_of_texts()
    {
        anyhow::bail!(mistake);
    }
    show.print(summary, &question, start)
}

/// `K/N`: partition K of N.
fn partition(text: &str) -> Result<Partition, String> {
    let numbers = text.split_once('/').map(|(k, n)| (k.parse(), n.parse()));
    match numbers {
        Some((Ok(number), Ok(of))) if number < of && of <= MOST_PARTITIONS => {
            Ok(Partition { number, of })
        }
        _ => Err(format!("not K/N with K below N, which is at most {MOST_PARTITIONS}")),
    }
}

/// The bytes of a file, decompressed if it is compressed.
fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = match input::open(path, 1)? {
        Input::Stream(mut reader) => reader.read_to_end(&mut bytes).map(drop),
        Input::File(file, size) => {
            bytes.resize(usize::try_from(size)?, 0);
            file.read_exact_at(&mut bytes, 0)
        }
    };
    read.with_context(|| format!("cannot read {}", path.display()))?;
    Ok(bytes)
}

/// What is asked that the states do not know.
fn unknown(question: &Question, asked: &[Statistic]) -> Option<String> {
    // A query without values has this line; its column has zeros in their place.
    let has_values = !question.query.lines().any(|line| line == "values: ");
    let is_known = |statistic: &&Statistic| {
        (has_values || statistic.is_of_records())
            && (question.squares || !statistic.needs_squares())
            && (question.values || !statistic.needs_values(question.approx))
            && (question.sketch || !statistic.needs_sketch(question.approx))
            && (question.approx.is_none() || !statistic.needs_all())
            && (question.ends || !statistic.needs_ends())
    };
    let statistic = asked.iter().find(|statistic| !is_known(statistic))?;
    let made_for = question.stats.join(",");
    Some(format!("the states know no {statistic}: they were made for --stats {made_for}"))
}
