//! `fathom worker`: serves contenders over the protocol of `docs/protocol.md`. Started by the
//! measuring commands, one process per contender.

use std::io;

use fathom_contenders::served;
use fathom_machine::os::process;
use fathom_measure::worker::serve;

use crate::exit::Exit;

/// Serve contenders over stdin and stdout, as the measuring commands ask (docs/protocol.md)
#[derive(Debug, clap::Args)]
pub(crate) struct Options {}

pub(crate) fn run(_: &Options) -> anyhow::Result<Exit> {
    // Where this is refused, the end of the input still ends the worker.
    let _ = process::end_with_parent();
    serve(&served(), &mut io::stdin().lock(), &mut io::stdout().lock())?;
    Ok(Exit::Done)
}
