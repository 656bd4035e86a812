//! Checks that need more than `cargo test`: other machines, emulated, and other programs. Run them as `cargo xtask NAME`.
//!
//! A check that cannot run here (no Debian, no network, no right to install) says why and fails, as one
//! does that found something wrong. Of `agree`, `arm64`, `counters`, `cpp`, `dist`, `pages` and `sanitize`, those that
//! `FATHOM_CI_ALLOW_SKIP` names leave a line beginning with `skipped:` instead, where they want for packages of Debian,
//! Chromium or a tool.

mod agree;
mod arm64;
mod clusters;
mod counters;
mod cpio;
mod cpp;
mod cross;
mod dist;
mod emulator;
mod mutants;
mod packages;
mod pages;
mod python;
mod record;
mod remote;
mod sanitize;
mod site;
mod study;

use std::process::ExitCode;
use std::time::Duration;

use clap::{CommandFactory, Parser, Subcommand};

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
        /// Only one piece: the one whose turn it is when they follow each other by this number
        #[arg(long)]
        turn: Option<usize>,
    },
    /// Build the C++ runner and check its answers
    Cpp,
    /// Build the Python wheel and run its tests in a fresh environment
    Python {
        /// The wheel to be given away: optimised, its sizes checked; FATHOM_PROGRAM may name its command
        #[arg(long)]
        release: bool,
        /// Build it, and run no tests
        #[arg(long)]
        only_wheel: bool,
    },
    /// Load every kind of page in headless Chromium
    Pages {
        /// Write the outlines of the pages instead of comparing with them
        #[arg(long)]
        bless: bool,
        /// Leave a picture of each page, at both widths and in both colour schemes, in this folder
        #[arg(long, value_name = "FOLDER")]
        pictures: Option<std::path::PathBuf>,
        /// Make the pictures of the documents anew from saved runs, and check nothing
        #[arg(long, conflicts_with_all = ["bless", "pictures"])]
        documents: bool,
    },
    /// Make the site of the documents, every link of which leads somewhere
    Site,
    /// Run the Python package's drivers on clusters of this machine, under faults
    Clusters {
        /// Only engines whose name contains this
        #[arg(default_value = "")]
        only: String,
        /// Runs of each fault
        #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
        runs: u32,
    },
    /// Make what a release consists of: static programs, packages, recipes, sums
    Dist {
        /// The tag, v and the version; without it what lies here is taken
        tag: Option<String>,
        /// Only for these machines
        #[arg(long, value_enum, default_values = ["x86-64", "aarch64"])]
        machine: Vec<dist::Machine>,
        /// Where the repository will be: the Homebrew formula names it
        #[arg(long, default_value = "https://example.invalid/fathom")]
        url: String,
        /// Only check descriptions, recipes and workflows, in seconds
        #[arg(long)]
        check: bool,
        /// Also compile each crate from what would be published of it, in minutes
        #[arg(long, requires = "check")]
        verify: bool,
    },
    /// Plant mistakes one at a time, and run the tests that have to catch them
    Mutants {
        /// Only look for the places
        #[arg(long)]
        check: bool,
        /// How many seconds the tests of one may take; who takes longer hangs
        #[arg(long, default_value_t = 600)]
        limit: u64,
        /// Only those whose name or file contains this
        #[arg(default_value = "")]
        only: String,
    },
    /// Measure a part of what the prose speaks of and save the runs; on a quiet machine, ten minutes
    Record {
        /// What the machine is called: the last part of the folder's name
        machine: String,
        /// Only runs whose name contains this
        #[arg(default_value = "")]
        only: String,
    },
    /// Ask `fathom kv` for advice on a hundred key sets, and compare it with exhaustive measurement; takes hours
    KvStudy(study::Options),
    /// Run tests under Miri and the sanitizers
    Sanitize {
        /// Only under this tool
        #[arg(long)]
        tool: Option<sanitize::Tool>,
        /// Only packages whose name contains this
        #[arg(default_value = "")]
        only: String,
    },
    /// Read objects from stores: one that does wrong, moto, and s3s-fs
    Remote {
        /// Leave out s3s-fs, which is built from its sources
        #[arg(long)]
        brief: bool,
        /// Packages and features to test with, as for cargo test [default: the command with the feature remote]
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        choice: Vec<String>,
    },
    /// Compare our figures with those of `openssl speed` and `xxhsum -b`, in turn
    Agree {
        /// Times each pair is run
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
        turns: u32,
        /// A program that is built already
        #[arg(long)]
        fathom: Option<std::path::PathBuf>,
        /// Only these rows
        rows: Vec<String>,
    },
}

/// Whether there is a check of this name.
fn knows(name: &str) -> bool {
    Arguments::command().find_subcommand(name).is_some()
}

/// Why a check cannot run on this machine.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Skip(String);

/// An error that means "cannot run here", not "wrong".
fn skip(why: impl Into<String>) -> anyhow::Error {
    Skip(why.into()).into()
}

/// Whether the user allows that a check is not run here.
fn may_skip(name: &str) -> bool {
    let allowed = std::env::var("FATHOM_CI_ALLOW_SKIP").unwrap_or_default();
    allowed.split_whitespace().any(|word| word == name)
}

fn main() -> ExitCode {
    let (name, outcome) = match Arguments::parse().check {
        Check::Counters => ("counters", counters::run()),
        Check::Arm64 { part, turn } => ("arm64", arm64::run_all(part, turn)),
        Check::Cpp => ("cpp", cpp::run_all()),
        Check::Python { release, only_wheel } => ("python", python::run_all(release, only_wheel)),
        Check::Pages { documents: true, .. } => ("pages", pages::documents()),
        Check::Pages { bless, pictures, .. } => ("pages", pages::run_all(bless, pictures)),
        Check::Site => ("site", site::run_all()),
        Check::Clusters { only, runs } => ("clusters", clusters::run_all(&only, runs)),
        Check::Dist { check: true, verify, .. } => ("dist", dist::check(verify)),
        Check::Dist { tag, machine, url, .. } => {
            ("dist", dist::run_all(tag.as_deref(), &machine, &url))
        }
        Check::Mutants { check, limit, only } => {
            ("mutants", mutants::run_all(check, &only, Duration::from_secs(limit)))
        }
        Check::Record { machine, only } => ("record", record::run_all(&machine, &only)),
        Check::KvStudy(options) => ("kv-study", study::run_all(&options)),
        Check::Sanitize { tool, only } => ("sanitize", sanitize::run_all(tool, &only)),
        Check::Remote { brief, choice } => ("remote", remote::run_all(brief, &choice)),
        Check::Agree { turns, fathom, rows } => ("agree", agree::run_all(turns, fathom, &rows)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.downcast_ref::<Skip>().is_some() && may_skip(name) => {
            eprintln!("skipped: {error:#}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("failed: {error:#}");
            ExitCode::FAILURE
        }
    }
}
