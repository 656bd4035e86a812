//! `fathom generate`: test data from a seed; one file per kind of data.

pub(crate) mod keys;
pub(crate) mod measurements;
pub(crate) mod pairs;

use clap::Subcommand;

use crate::exit::Exit;

/// Write test data from a seed
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    kind: Kind,
}

/// One line per kind of data.
#[derive(Debug, Subcommand)]
enum Kind {
    Measurements(measurements::Options),
    Keys(keys::Options),
    PairsKv(keys::PairOptions),
    Pairs(pairs::Options),
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    match &options.kind {
        Kind::Measurements(options) => measurements::run(options),
        Kind::Keys(options) => keys::run(options),
        Kind::PairsKv(options) => keys::run_pairs(options),
        Kind::Pairs(options) => pairs::run(options),
    }
}
