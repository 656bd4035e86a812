//! `fathom worker`: serves contenders over the protocol of `docs/protocol.md`. Started by the
//! measuring commands, one process per contender.

use std::path::PathBuf;
use std::{env, io};

use anyhow::Context;
use fathom_contenders::served;
use fathom_machine::os::process;
use fathom_measure::worker::{Terms, is_build, serve_by};

use crate::exit::Exit;
use crate::measuring::{Libraries, offered};

/// Serve contenders over stdin and stdout, as the measuring commands ask (docs/protocol.md)
#[derive(Debug, clap::Parser)]
#[command(bin_name = "fathom worker")]
pub(crate) struct Options {
    /// The memory allocator of this process, if not the system's: arena, mimalloc, jemalloc …
    #[arg(long, value_name = "NAME")]
    allocator: Option<String>,

    /// Run so many percent more iterations than each sample asks for: a difference of known size in any
    /// contender, as `selftest --full` plants it
    #[arg(long, value_name = "PERCENT", default_value_t = 0,
          value_parser = clap::value_parser!(u64).range(..=1000))]
    slower: u64,

    /// Be an outside worker for another build's `--worker`, to which all contenders of this one are offered under
    /// their names and this: `crc32fast:v3`
    #[arg(long, value_name = "NAME", value_parser = build)]
    build: Option<String>,

    #[command(flatten)]
    libraries: Libraries,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    options.libraries.take()?;
    run_on(options.allocator.as_deref())?;
    // Where this is refused, the end of the input still ends the worker.
    let _ = process::end_with_parent();
    let families = served();
    let offered = match &options.build {
        Some(_) => families.iter().flat_map(|family| offered(*family)).collect(),
        None => Vec::new(),
    };
    let terms = Terms { slower_percent: options.slower, build: options.build.clone(), offered };
    serve_by(&terms, &families, &mut io::stdin().lock(), &mut io::stdout().lock())?;
    Ok(Exit::Done)
}

fn build(name: &str) -> Result<String, String> {
    match is_build(name) {
        true => Ok(name.to_owned()),
        false => Err("a name is of letters, digits, `-`, `_` and `.`".to_owned()),
    }
}

/// The program whose workers can run on the allocator `name`: this one or, for what cannot be in the
/// same program, `fathom-NAME` beside it.
///
/// # Errors
/// No such allocator, or the command that builds it.
#[cfg(feature = "kv")]
pub(crate) fn program(name: &str) -> anyhow::Result<PathBuf> {
    use fathom_contenders::allocator::{CHOICES, PRELOADS, Preload, absent};

    let own = own()?;
    let preload = Preload::named(name);
    if CHOICES.contains(&name) || preload.is_some_and(|preload| preload.file().is_some()) {
        return Ok(own);
    }
    let beside = own.with_file_name(format!("fathom-{name}"));
    if beside.exists() {
        return Ok(beside);
    }
    let all = absent();
    let absent = all.iter().find(|absent| absent.name == name).map(|absent| absent.reason);
    match (preload, absent) {
        (Some(preload), Some(reason)) => anyhow::bail!(
            "allocator {name:?} is not here: {}, nor is it in this build: {reason}",
            preload.absence()
        ),
        (Some(preload), None) => {
            anyhow::bail!("allocator {name:?} is not here: {}", preload.absence())
        }
        (None, Some(reason)) => anyhow::bail!("allocator {name:?} is not in this build: {reason}"),
        (None, None) => {
            let others = PRELOADS.iter().map(|preload| preload.name);
            let others = others.filter(|name| !CHOICES.contains(name));
            let known: Vec<&str> = CHOICES.iter().copied().chain(others).collect();
            anyhow::bail!("no allocator {name:?}; there is: {}", known.join(", "))
        }
    }
}

/// This program's own file.
pub(crate) fn own() -> anyhow::Result<PathBuf> {
    env::current_exe().context("cannot find this program's own file")
}

/// Makes `name` this process's allocator, or the system's, whatever the environment says that it inherited. It is
/// chosen before `main`, from there, so the program starts itself again in its own place; the second time there is
/// nothing left to do but to make sure that a library that was to be preloaded is in effect.
#[cfg(feature = "kv")]
fn run_on(name: Option<&str>) -> anyhow::Result<()> {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use fathom_contenders::allocator::{
        CHOICES, Preload, SYSTEM, VARIABLE, chosen, others_preloaded,
    };

    let name = name.unwrap_or(SYSTEM);
    let is_built_in = CHOICES.contains(&name);
    let others = others_preloaded().filter(|_| is_built_in);
    if chosen() == Some(name) && others.is_none() {
        return Ok(());
    }
    let mut again = Command::new(program(name)?);
    again.args(env::args_os().skip(1)).env(VARIABLE, name);
    again.envs(others.map(|others| ("LD_PRELOAD", others)));
    let preload = Preload::named(name).filter(|_| !is_built_in);
    if let Some((preload, file)) = preload.and_then(|preload| Some((preload, preload.file()?))) {
        if preload.is_in_effect() {
            return Ok(());
        }
        // Started again for it, and still on another one.
        let is_second = env::var_os(VARIABLE).is_some_and(|value| value == name);
        anyhow::ensure!(
            !is_second,
            "allocator {name:?} did not take effect: {} was preloaded",
            file.display()
        );
        again.env("LD_PRELOAD", file);
    }
    Err(again.exec().into())
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
fn run_on(name: Option<&str>) -> anyhow::Result<()> {
    name.map_or(Ok(()), |name| program(name).map(drop))
}
