//! `fathom man`: the manual, as man pages or as the Markdown of `docs/cli.md`.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::CommandFactory;
use clap_mangen::Man;

use crate::args::Args;
use crate::exit::Exit;
use crate::manual;
use crate::output;

/// Print the manual page of fathom or of one command
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The command, as words ("generate measurements"); without it, fathom itself
    command: Vec<String>,

    /// All commands in one Markdown document instead of a man page
    #[arg(long, conflicts_with = "command")]
    markdown: bool,

    /// The pages of all commands, as files of this folder, which is made: for packages
    #[arg(long, value_name = "PATH", conflicts_with_all = ["command", "markdown"])]
    folder: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    // There are no pages of what prints help.
    let mut root = Args::command().disable_help_subcommand(!options.markdown);
    root.build();
    if let Some(folder) = &options.folder {
        output::made(folder)?;
        pages(&root, folder).with_context(|| format!("cannot write {}", folder.display()))?;
        return Ok(Exit::Done);
    }
    let mut page = Vec::new();
    if options.markdown {
        page = manual::markdown(&root).into_bytes();
    } else {
        let command = find(root, &options.command)?;
        man(command).render(&mut page).context("cannot render the manual")?;
    }
    output::print(page)?;
    Ok(Exit::Done)
}

/// The page of a command, which has the version of the program and none of its own.
fn man(command: clap::Command) -> Man {
    Man::new(command).source(concat!("fathom ", env!("CARGO_PKG_VERSION")))
}

/// The page of a command and those of all below it that are for people.
fn pages(command: &clap::Command, folder: &Path) -> io::Result<()> {
    for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        pages(command, folder)?;
    }
    man(command.clone()).generate_to(folder).map(drop)
}

fn find(root: clap::Command, words: &[String]) -> anyhow::Result<clap::Command> {
    let mut command = root;
    for word in words.iter().flat_map(|words| words.split_whitespace()) {
        command = command
            .find_subcommand(word)
            .with_context(|| format!("no such command: {word:?} (see fathom --help)"))?
            .clone();
    }
    Ok(command)
}
