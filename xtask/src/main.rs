//! Checks that need more than `cargo test`: other machines, emulated, and other programs. Run them as `cargo xtask NAME`.
//!
//! A check that cannot run here (no Debian, no network, no right to install) says why in one line
//! beginning with `skipped:` and succeeds; a check that ran and found something wrong fails.

mod agree;
mod arm64;
mod counters;
mod cpio;
mod cpp;
mod cross;
mod emulator;
mod packages;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Checks that need more than cargo test")]
struct Arguments {
    #[command(subcommand)]
    check: Check,
}

#[derive(Subcommand)]
enum Check {
    /// Boot an emulated AArch64 machine and check that counters count exactly
    Counters,
    /// Run the tests and commands on emulated AArch64 processors
    Arm64 {
        /// Only this half
        part: Option<arm64::Part>,
    },
    /// Build the C++ runner and check its answers
    Cpp,
    /// Compare our figures with those of `openssl speed` and `xxhsum -b`, in turn
    Agree {
        /// Times each pair is run
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
        turns: u32,
        /// A program that is built already, with feature `native`
        #[arg(long)]
        fathom: Option<std::path::PathBuf>,
        /// Only these rows
        rows: Vec<String>,
    },
}

/// Why a check cannot run on this machine.
#[derive(Debug)]
struct Skip(String);

impl std::fmt::Display for Skip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Skip {}

/// An error that means "cannot run here", not "wrong".
fn skip(why: impl Into<String>) -> anyhow::Error {
    Skip(why.into()).into()
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().check {
        Check::Counters => counters::run(),
        Check::Arm64 { part } => arm64::run_all(part),
        Check::Cpp => cpp::run_all(),
        Check::Agree { turns, fathom, rows } => agree::run_all(turns, fathom, &rows),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.downcast_ref::<Skip>().is_some() => {
            eprintln!("skipped: {error:#}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("failed: {error:#}");
            ExitCode::FAILURE
        }
    }
}
