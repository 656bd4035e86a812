//! The command `fathom`: the whole program on one page.
//!
//! Arguments become options (`args`), options become library calls and text (`cmd`), and the
//! end of it becomes an exit code (`exit`). Nothing is decided here. It is a library so that cargo
//! compiles it beside the contenders: a program waits until all that it is linked with is compiled.
#![forbid(unsafe_code)]
// They panic where the stream is closed or full, and the result is lost: `say!`, `writeln!`.
#![deny(clippy::print_stderr, clippy::print_stdout)]
// The docs of options are help texts, in which brackets mean what they mean to a shell.
#![allow(rustdoc::broken_intra_doc_links)]

#[macro_use]
mod say;

mod args;
mod choices;
mod cmd;
mod exit;
mod input;
mod interrupt;
mod key_file;
mod manual;
mod measuring;
mod names;
mod output;
mod progress;
mod saved;
mod sheet;
mod value;

use std::process::ExitCode;

use crate::args::{Args, Command};
use crate::exit::Exit;

/// One of several, chosen when the process starts; the system's unless a worker is told otherwise.
#[cfg(feature = "kv")]
#[global_allocator]
static ALLOCATOR: fathom_contenders::allocator::Allocator = fathom_contenders::allocator::Allocator;

/// Does what the command line of this process says.
#[must_use]
pub fn main() -> ExitCode {
    fathom_machine::os::file::survive_size_limit();
    if let Some(parent) = std::env::var("FATHOM_PARENT").ok().and_then(|pid| pid.parse().ok()) {
        let _ = fathom_machine::os::process::follow(parent);
    }
    exit::report(Args::typed().map_err(anyhow::Error::from).and_then(|args| run(args.command)))
}

fn run(command: Command) -> anyhow::Result<Exit> {
    fathom_machine::level::Level::chosen()?;
    match command {
        Command::Aggregate(options) => cmd::aggregate::run(&options),
        Command::Merge(options) => cmd::merge::run(&options),
        Command::Plan(options) => cmd::plan::run(&options),
        Command::Haversine(options) => cmd::haversine::run(&options),
        #[cfg(feature = "kv")]
        Command::Kv(options) => cmd::kv::run(&options),
        Command::Bench(options) => cmd::bench::run(&options),
        Command::Run(options) => cmd::run::run(&options),
        Command::Own(options) => cmd::own::run(&options),
        Command::Diff(options) => cmd::diff::run(&options),
        Command::History(options) => cmd::history::run(&options),
        Command::Import(options) => cmd::import::run(&options),
        Command::Report(options) => cmd::report::run(&options),
        Command::Selftest(options) => cmd::selftest::run(&options),
        Command::List(options) => cmd::list::run(&options),
        Command::Generate(options) => cmd::generate::run(&options),
        Command::Convert(options) => cmd::convert::run(&options),
        Command::Machine(options) => cmd::machine::run(&options),
        Command::Worker(options) => cmd::worker::run(&options),
        Command::Demo(options) => cmd::demo::run(&options),
        Command::Cpu(options) => cmd::cpu::run(&options),
        Command::Completions(options) => cmd::completions::run(&options),
        Command::Man(options) => cmd::man::run(&options),
    }
}
