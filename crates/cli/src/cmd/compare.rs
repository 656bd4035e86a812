//! `fathom compare 'WORKER' …`: contenders of one's own programs against each other.

use std::time::Duration;

use anyhow::ensure;
use fathom_measure::bench::{Bench, Entrant};
use fathom_measure::workload::Spec;

use crate::exit::Exit;
use crate::interrupt;
use crate::measuring::{self, Method, Show, Ticker, bounds, is_complete, new_run, show};

/// The family whose contenders outside workers bring with them, reference and all.
const FAMILY: &str = "own";

/// Compare functions of your own programs: processes of their own, interleaved rounds, checked answers
///
/// Each WORKER is a program that speaks the worker protocol (docs/protocol.md) and offers contenders
/// of the family `own`; `@fathom.compare` of the Python package makes one of Python functions. The
/// first contender of the first worker is the baseline, and its answer is what the others' must be.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The workers; words are split as a shell would
    #[arg(required = true, value_name = "WORKER")]
    workers: Vec<String>,

    /// The workload's operation, as workers are told it and the result shows it
    #[arg(long, value_name = "NAME", default_value = "call")]
    operation: String,

    /// How long one sample may take before its contender counts as hung
    #[arg(long, value_parser = measuring::duration, value_name = "TIME", default_value = "1m")]
    hang: Duration,

    #[command(flatten)]
    method: Method,

    #[command(flatten)]
    show: Show,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let stop = interrupt::measuring();
    let mut entrants: Vec<Entrant> = Vec::new();
    for command in &options.workers {
        entrants.extend(measuring::offered(command, FAMILY, options.hang)?);
    }
    ensure!(!entrants.is_empty(), "no worker offers a contender of the family {FAMILY}");
    for (number, entrant) in entrants.iter().enumerate() {
        let before = entrants[..number].iter().any(|other| other.id == entrant.id);
        ensure!(!before, "two contenders are called {:?}", entrant.id);
    }
    let ticker = Ticker::new(&options.operation);
    let mut run = new_run()?;
    run.cases.push(measuring::measured(Bench {
        family: FAMILY,
        workload: Spec::new(&options.operation, &[]),
        reference: None,
        baseline: 0,
        share_file: false,
        prepare: None,
        events: options.method.events(),
        plan: options.method.plan(Duration::from_secs(2)),
        bounds: bounds(Some(options.hang)),
        empty: Some(entrants[0].launch.clone()),
        entrants,
        simulate: false,
        stop,
        progress: Box::new(move |done, planned| ticker.tick(done, planned)),
    })?);
    show(&run, &options.show)?;
    Ok(if is_complete(&run.cases) { Exit::Done } else { Exit::Incomplete })
}
