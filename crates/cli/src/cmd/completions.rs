//! `fathom completions`: what a shell needs to complete fathom's commands and flags.

use std::io::{self, Write};

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Args;
use crate::exit::Exit;

/// Print the completion script of a shell
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The shell that will read the script
    shell: Shell,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Args::command(), "fathom", &mut script);
    io::stdout().write_all(&script)?;
    Ok(Exit::Done)
}
