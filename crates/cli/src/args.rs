//! The definition of the command line: parser, help, completions, man pages and `docs/cli.md` all
//! come from here.
//!
//! Each command's options stand beside its code in `cmd/<command>.rs`; this file is the list.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::cmd;

/// Measure, do not guess: find out what is fastest for your data on your machine, with proof, and
/// do the work at that speed.
#[derive(Debug, Parser)]
#[command(
    name = "fathom",
    version,
    disable_help_subcommand = false,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done; 1 done, but something was skipped or differed, or run \
                  --against, diff or history --gate found something slower; 2 usage; 3 bad data; \
                  4 input or output failed; 130 interrupted.\n\
                  FATHOM_LEVEL=scalar|sse2|avx2|avx512|neon forces an instruction level."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Args {
    /// What was typed, or the error to show. Where -h is an option of the command's own, nobody can have
    /// meant that with nothing after it.
    pub(crate) fn typed() -> Result<Args, clap::Error> {
        let mut words: Vec<OsString> = std::env::args_os().collect();
        // Of workers one measurement starts hundreds, none of which needs the options of all commands.
        if words.get(1).is_some_and(|word| word == "worker") {
            let options = cmd::worker::Options::try_parse_from(&words[1..]);
            return options
                .map(|options| Args { command: Command::Worker(options) })
                .map_err(in_a_line);
        }
        match (Args::parsed(&words), words.last_mut()) {
            (Err(error), Some(last)) if *last == "-h" && error.kind() != ErrorKind::DisplayHelp => {
                *last = "--help".into();
                let help = Args::try_parse_from(words).err();
                Err(help.filter(|help| help.kind() == ErrorKind::DisplayHelp).unwrap_or(error))
            }
            (typed, _) => typed,
        }
    }

    /// What these words mean. A negative number behind an option is its value, good or bad, and no option that nobody knows.
    fn parsed(words: &[OsString]) -> Result<Args, clap::Error> {
        let is_negative = |word: &OsString| {
            let number = word.to_str().and_then(|word| word.strip_prefix('-'));
            number
                .is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
        };
        match Args::try_parse_from(words) {
            Err(error)
                if error.kind() == ErrorKind::UnknownArgument && words.iter().any(is_negative) =>
            {
                let mut matches = with_negative(Args::command()).try_get_matches_from(words)?;
                Args::from_arg_matches_mut(&mut matches)
            }
            parsed => parsed,
        }
    }
}

/// What is wrong, in one line, since the last one is what the conductor of a worker shows.
fn in_a_line(error: clap::Error) -> clap::Error {
    if !error.use_stderr() {
        return error;
    }
    let said = error.to_string();
    let line = said.lines().next().unwrap_or_default();
    clap::Error::raw(error.kind(), format!("{}\n", line.trim_start_matches("error: ")))
}

/// The same command, of whose options each takes a negative number for its value.
fn with_negative(command: clap::Command) -> clap::Command {
    let option = |arg: clap::Arg| match arg.get_action().takes_values() && !arg.is_positional() {
        true => arg.allow_negative_numbers(true),
        false => arg,
    };
    command.mut_args(option).mut_subcommands(with_negative)
}

/// One line per command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Aggregate(cmd::aggregate::Options),
    Merge(Box<cmd::merge::Options>),
    Plan(cmd::plan::Options),
    Haversine(cmd::haversine::Options),
    #[cfg(feature = "kv")]
    Kv(Box<cmd::kv::Options>),
    Bench(Box<cmd::bench::Options>),
    Run(Box<cmd::run::Options>),
    Own(cmd::own::Options),
    Diff(cmd::diff::Options),
    History(cmd::history::Options),
    Import(cmd::import::Options),
    Report(cmd::report::Options),
    Selftest(cmd::selftest::Options),
    List(cmd::list::Options),
    Generate(cmd::generate::Options),
    Convert(cmd::convert::Options),
    Machine(cmd::machine::Options),
    #[command(hide = true)]
    Worker(cmd::worker::Options),
    Demo(cmd::demo::Options),
    Cpu(cmd::cpu::Options),
    Completions(cmd::completions::Options),
    Man(cmd::man::Options),
}

#[cfg(test)]
mod tests {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    use clap::{Arg, ArgAction};

    use super::*;

    /// Values, of which each option takes one.
    const VALUES: [&str; 8] = ["x", "1", "1s", "0/1", "0..1", "1%", "2026-01-01", "a=1"];

    /// It was told as an option, behind which `--` would make it a file.
    #[test]
    fn a_negative_number_is_a_bad_value_of_its_option() {
        for (line, option) in [
            ("aggregate --top -1 f", "--top <N>"),
            ("aggregate --threads -1 f", "--threads"),
            ("merge --top -1 f", "--top <N>"),
            ("plan --tasks -2 f", "--tasks"),
            ("generate keys --count -5", "--count"),
        ] {
            let words: Vec<OsString> =
                ["fathom"].into_iter().chain(line.split(' ')).map(Into::into).collect();
            let said = Args::parsed(&words).unwrap_err().to_string();
            assert!(said.contains("invalid value '-") && said.contains(option), "{said}");
        }
        // Which is a number, but no share.
        let words = ["fathom", "generate", "keys", "-n", "5", "--duplicates", "-0.1"];
        assert!(Args::parsed(&words.map(OsString::from)).is_ok());
        let words = ["fathom", "aggregate", "-7", "f"].map(OsString::from);
        assert_eq!(Args::parsed(&words).unwrap_err().kind(), ErrorKind::UnknownArgument);
    }

    fn parsed(words: &[String]) -> Result<(), clap::Error> {
        Args::command().try_get_matches_from(words).map(drop)
    }

    /// Ways to give an argument.
    fn ways(arg: &Arg) -> Vec<Vec<String>> {
        let name = arg.get_long().map(|long| format!("--{long}"));
        if !matches!(arg.get_action(), ArgAction::Set | ArgAction::Append) {
            return name.into_iter().map(|name| vec![name]).collect();
        }
        let possible = arg.get_possible_values();
        let values = possible.iter().map(|value| value.get_name().to_owned());
        let many = arg.get_num_args().map_or(1, |range| range.min_values().max(1));
        let way = |value: String| {
            let values = std::iter::repeat_n(value, many);
            name.clone().into_iter().chain(values).collect()
        };
        values.chain(VALUES.map(str::to_owned)).map(way).collect()
    }

    fn leaves(
        command: &clap::Command,
        path: &[String],
        found: &mut Vec<(Vec<String>, clap::Command)>,
    ) {
        let path = [path, &[command.get_name().to_owned()]].concat();
        if !command.has_subcommands() {
            return found.push((path, command.clone()));
        }
        let named = command.get_subcommands().filter(|command| command.get_name() != "help");
        named.for_each(|command| leaves(command, &path, found));
    }

    /// What an error says is lacking.
    fn lacking(error: &clap::Error) -> Vec<String> {
        match (error.kind(), error.get(ContextKind::InvalidArg)) {
            (ErrorKind::MissingRequiredArgument, Some(ContextValue::Strings(lacks))) => {
                lacks.clone()
            }
            _ => Vec::new(),
        }
    }

    /// Where the other one conflicts with what is given, clap does not ask for it.
    #[test]
    fn options_that_need_another_were_taken_and_ignored() {
        let mut command = Args::command();
        command.build();
        let mut found = Vec::new();
        leaves(&command, &[], &mut found);
        let (mut holes, mut needy) = (Vec::new(), 0);
        for (mut base, command) in found {
            while parsed(&base).is_err_and(|error| !lacking(&error).is_empty()) {
                base.push("x".to_owned());
            }
            let with = |words: &[&[String]]| parsed(&[&base, &*words.concat()].concat());
            // Each argument that can be given in some way, and what it lacks.
            let mut given: Vec<(&Arg, Vec<String>, Vec<String>)> = Vec::new();
            for arg in command.get_arguments().filter(|arg| !arg.is_required_set()) {
                let tried = |way: Vec<String>| match with(&[&way]) {
                    Ok(()) => Some((arg, way, Vec::new())),
                    Err(error) => Some((arg, way, lacking(&error))).filter(|of| !of.2.is_empty()),
                };
                given.extend(ways(arg).into_iter().find_map(tried));
            }
            for (arg, way, lacks) in given.iter().filter(|(_, _, lacks)| !lacks.is_empty()) {
                needy += 1;
                let is_lacking = |other: &Arg| {
                    let long = other.get_long().map(|long| format!("--{long}"));
                    lacks.iter().any(|lack| match &long {
                        Some(long) => lack.split(' ').next() == Some(long),
                        None => !lack.starts_with('-'),
                    })
                };
                let others = given.iter().filter(|(other, ..)| other != arg && !is_lacking(other));
                for (_, more, _) in others.filter(|(_, more, _)| with(&[way, more]).is_ok()) {
                    holes.push([&base, way, more].map(|words| words.join(" ")).join(" "));
                }
            }
        }
        assert!(needy > 10, "{needy}");
        assert!(holes.is_empty(), "{holes:#?}");
    }
}
