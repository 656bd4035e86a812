//! The definition of the command line: parser, help, completions, man pages and `docs/cli.md` all
//! come from here.
//!
//! Each command's options stand beside its code in `cmd/<command>.rs`; this file is the list.

use clap::{CommandFactory, Parser, Subcommand};

use crate::cmd;

/// Measure, do not guess: find out what is fastest for your data on your machine, with proof, and
/// do the work at that speed.
#[derive(Debug, Parser)]
#[command(
    name = "fathom",
    version,
    disable_help_subcommand = false,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done; 1 done, but something was skipped, slower than the baseline \
                  or differed; 2 usage; 3 bad data; 4 input or output failed; 130 interrupted.\n\
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
        let mut words: Vec<std::ffi::OsString> = std::env::args_os().collect();
        let command = Args::command();
        let typed = words.get(1).and_then(|word| command.find_subcommand(word));
        if typed.is_some_and(clap::Command::is_disable_help_flag_set)
            && let Some(last) = words.last_mut().filter(|last| *last == "-h")
        {
            *last = "--help".into();
        }
        Args::try_parse_from(words)
    }
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
