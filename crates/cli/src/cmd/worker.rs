//! `fathom worker`: serves contenders over the protocol of `docs/protocol.md`. Started by the
//! measuring commands, one process per contender.

use std::io;

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

/// Whether workers of this build can run on the allocator `name`.
///
/// # Errors
/// The ones there are instead.
#[cfg(feature = "kv")]
pub(crate) fn check_allocator(name: &str) -> anyhow::Result<()> {
    let known = fathom_contenders::alloc::CHOICES;
    anyhow::ensure!(
        known.contains(&name),
        "no allocator {name:?} in this build; there is: {}",
        known.join(", ")
    );
    Ok(())
}

/// Makes `name` this process's allocator. It is chosen before `main`, from the environment, so the
/// program starts itself again in its own place; the second time there is nothing left to do.
#[cfg(feature = "kv")]
fn run_on(name: &str) -> anyhow::Result<()> {
    use std::os::unix::process::CommandExt;
    use std::{env, process::Command};

    use fathom_contenders::alloc::{VARIABLE, chosen};

    check_allocator(name)?;
    if chosen() == Some(name) {
        return Ok(());
    }
    let mut again = Command::new(env::current_exe()?);
    Err(again.args(env::args_os().skip(1)).env(VARIABLE, name).exec().into())
}

/// Whether workers of this build can run on the allocator `name`: none can.
///
/// # Errors
/// Always.
#[cfg(not(feature = "kv"))]
pub(crate) fn check_allocator(name: &str) -> anyhow::Result<()> {
    anyhow::bail!("no allocator {name:?} in this build: it was made without the feature kv")
}

#[cfg(not(feature = "kv"))]
fn run_on(name: &str) -> anyhow::Result<()> {
    check_allocator(name)
}
