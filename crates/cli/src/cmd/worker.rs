//! `fathom worker`: serves contenders over the protocol of `docs/protocol.md`. Started by the
//! measuring commands, one process per contender.

use std::path::PathBuf;
use std::{env, io};

use anyhow::Context;
use fathom_contenders::served;
use fathom_machine::os::process;
use fathom_measure::worker::serve;

use crate::exit::Exit;

/// Serve contenders over stdin and stdout, as the measuring commands ask (docs/protocol.md)
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The memory allocator of this process, if not the system's: arena, mimalloc, jemalloc …
    #[arg(long, value_name = "NAME")]
    allocator: Option<String>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    if let Some(name) = &options.allocator {
        run_on(name)?;
    }
    // Where this is refused, the end of the input still ends the worker.
    let _ = process::end_with_parent();
    serve(&served(), &mut io::stdin().lock(), &mut io::stdout().lock())?;
    Ok(Exit::Done)
}

/// The program whose workers can run on the allocator `name`: this one or, for what cannot be in the
/// same program, `fathom-NAME` beside it.
///
/// # Errors
/// No such allocator, or the command that builds it.
#[cfg(feature = "kv")]
pub(crate) fn program(name: &str) -> anyhow::Result<PathBuf> {
    use fathom_contenders::allocator::{CHOICES, absent};

    let own = own()?;
    if CHOICES.contains(&name) {
        return Ok(own);
    }
    let all = absent();
    let absent = all.iter().find(|absent| absent.name == name).with_context(|| {
        let known = CHOICES.iter().copied().chain(all.iter().map(|absent| absent.name));
        format!("no allocator {name:?}; there is: {}", known.collect::<Vec<_>>().join(", "))
    })?;
    let beside = own.with_file_name(format!("fathom-{name}"));
    anyhow::ensure!(beside.exists(), "allocator {name:?} is not in this build: {}", absent.reason);
    Ok(beside)
}

/// This program's own file.
pub(crate) fn own() -> anyhow::Result<PathBuf> {
    env::current_exe().context("cannot find this program's own file")
}

/// Makes `name` this process's allocator. It is chosen before `main`, from the environment, so the
/// program starts itself again in its own place; the second time there is nothing left to do.
#[cfg(feature = "kv")]
fn run_on(name: &str) -> anyhow::Result<()> {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use fathom_contenders::allocator::{VARIABLE, chosen};

    if chosen() == Some(name) {
        return Ok(());
    }
    let mut again = Command::new(program(name)?);
    Err(again.args(env::args_os().skip(1)).env(VARIABLE, name).exec().into())
}

/// The program whose workers can run on the allocator `name`: there is none.
///
/// # Errors
/// Always.
#[cfg(not(feature = "kv"))]
pub(crate) fn program(name: &str) -> anyhow::Result<PathBuf> {
    anyhow::bail!("no allocator {name:?} in this build: it was made without the feature kv")
}

#[cfg(not(feature = "kv"))]
fn run_on(name: &str) -> anyhow::Result<()> {
    program(name).map(drop)
}
