//! `fathom report FILE`: a saved run, shown again.

use std::path::PathBuf;

use fathom_measure::compare::judge;
use fathom_measure::result::Run;

use crate::exit::Exit;
use crate::measuring::{Show, show};

/// Show a saved run again, in any format, or judged against another baseline
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The saved run
    file: PathBuf,

    /// Judge against this contender instead
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,

    #[command(flatten)]
    show: Show,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let mut run = Run::read(&options.file)?;
    for case in &mut run.cases {
        if let Some(baseline) = &options.baseline {
            let found = case.entrants().find(|(_, row)| row.id == *baseline).map(|(n, _)| n);
            match found {
                // Whoever asks has seen the times.
                Some(number) => {
                    case.roles.chosen |= number != case.roles.baseline;
                    case.roles.baseline = number;
                }
                None => anyhow::bail!("{}: no contender {baseline:?}", case.title()),
            }
        }
        case.judged = judge(&case.measured, case.roles, &case.plan);
    }
    show(&run, &options.show)?;
    Ok(Exit::Done)
}
