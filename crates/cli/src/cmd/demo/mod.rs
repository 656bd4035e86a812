//! `fathom demo`: five acts in a quarter of a minute, by running the commands a user would run.
//!
//! Each command line is shown and then run by this same program in a temporary folder: what is printed is
//! what it prints (of `kv` the answer and the table), and it can be repeated on other data. What the acts
//! measure against is what this machine has; how much of it, what this machine can do in the time.

mod acts;
mod stage;
mod words;

use std::time::Instant;

use self::acts::ACTS;
use self::stage::Stage;
use crate::exit::Exit;
use crate::interrupt;
use crate::output;

/// Show in a quarter of a minute what fathom does, on this machine
///
/// 1: the same command twice, and what a harness of means makes of it. 2: aggregate against other
/// programs of this machine. 3: a wrong answer. 4: which map suits words of this machine. 5: the page.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only this act; several times for several
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=5))]
    act: Vec<u8>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    interrupt::measuring();
    let mut stage = Stage::new()?;
    let start = Instant::now();
    for (number, act) in (1..).zip(&ACTS) {
        if options.act.is_empty() || options.act.contains(&number) {
            output::print(format!("== {number} of {}: {}\n", ACTS.len(), act.title))?;
            (act.play)(&mut stage)?;
        }
        if output::is_closed() {
            return Ok(Exit::Done);
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    output::print(format!(
        "{seconds:.0} s. Now the lines after $ on data of your own; fathom help.\n"
    ))?;
    Ok(Exit::Done)
}
