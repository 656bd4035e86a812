//! `fathom machine`: this computer, as it is stored beside every result.

use std::io::{self, Write};

use fathom_machine::describe::Machine;

use crate::exit::Exit;

/// Describe this computer: system, processor, caches, memory, limits, instruction levels, timers
///
/// What the kernel, a container or a board does not tell is shown as unknown, in JSON as null.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How to show it
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs: every field, feature bits and all
    Json,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let machine = Machine::here();
    let text = match options.format {
        Format::Text => machine.text(),
        Format::Json => serde_json::to_string_pretty(&machine)? + "\n",
    };
    io::stdout().write_all(text.as_bytes())?;
    Ok(Exit::Done)
}
