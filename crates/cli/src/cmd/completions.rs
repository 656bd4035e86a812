//! `fathom completions`: what a shell needs to complete fathom's commands and flags.

use clap::builder::Resettable;
use clap::{Arg, Command, CommandFactory, Id, ValueHint};
use clap_complete::Shell;

use crate::args::Args;
use crate::exit::Exit;
use crate::output;

/// Print the completion script of a shell
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The shell that will read the script
    shell: Shell,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut shown(&Args::command()), "fathom", &mut script);
    output::print(script)?;
    Ok(Exit::Done)
}

/// A command with those arguments and commands alone that help shows: what is refused, or for programs, is no completion.
fn shown(command: &Command) -> Command {
    let arguments = command.get_arguments().filter(|argument| !argument.is_hide_set());
    // They may speak of some that are left out.
    let alone = |argument: &Arg| {
        let others = command.get_arg_conflicts_with(argument).into_iter();
        let others = others.filter(|other| !other.is_hide_set()).map(|other| other.get_id());
        let none = || Resettable::<Id>::Reset;
        let argument = argument.clone().requires(none()).overrides_with(none());
        hinted(argument.conflicts_with(none()).conflicts_with_all(others))
    };
    let commands = command.get_subcommands().filter(|command| !command.is_hide_set());
    Command::new(command.get_name().to_owned().leak() as &'static str)
        .about(command.get_about().cloned().unwrap_or_default())
        .version(command.get_version().map(|_| env!("CARGO_PKG_VERSION")))
        .disable_help_flag(command.is_disable_help_flag_set())
        .args(arguments.map(alone))
        .subcommands(commands.map(shown))
}

/// An option with what its values are, for which shells have words: files, or nothing that they know of. Without one bash
/// offers the words of a name of a file, unquoted, whatever is wanted.
fn hinted(option: Arg) -> Arg {
    let is_free = option.get_action().takes_values() && option.get_possible_values().is_empty();
    if option.is_positional() || !is_free {
        return option;
    }
    let names = option.get_value_names().unwrap_or_default();
    let is_path = option.get_value_hint() == ValueHint::AnyPath
        || names.iter().any(|name| name.split('|').any(|name| name == "FILE"));
    option.value_hint(if is_path { ValueHint::FilePath } else { ValueHint::Other })
}
