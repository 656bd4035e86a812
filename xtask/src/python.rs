//! `cargo xtask python`: builds the Python wheel, installs it into a fresh virtual environment as a
//! user would, and runs the tests of the package and the notebooks of the documents there.
//!
//! The wheel brings the command: what the workspace built (or FATHOM_PROGRAM names), stripped. Libraries
//! that have the same features as in the workspace's build are taken from there; `--release` makes the
//! wheel to be given away, whose command is a release build, too, and for which sizes are checked.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::packages::{cache, host_fathom, root, run, target};
use crate::record::built;

/// What a released wheel, and the module in it, may take at most.
const MOST_WHEEL_BYTES: u64 = 25 << 20;
const MOST_MODULE_BYTES: u64 = 4_500_000;

/// A wheel for this machine.
pub(crate) fn wheel() -> Result<PathBuf> {
    wheel_with(&host_fathom()?)
}

/// A wheel that brings this program; made in an environment of its own, as the package's tests may be running in theirs.
pub(crate) fn wheel_with(program: &Path) -> Result<PathBuf> {
    build(&environment("wheel")?, false, program, &cache().join("wheel/wheels"))
}

/// The Python of a fresh environment with what builds wheels and runs tests.
fn environment(name: &str) -> Result<PathBuf> {
    let python = fresh(&cache().join(name))?;
    run(pip(&python).args(["maturin", "pytest"]))?;
    Ok(python)
}

/// The Python of an environment that is made anew.
pub(crate) fn fresh(environment: &Path) -> Result<PathBuf> {
    let _ = fs::remove_dir_all(environment);
    run(Command::new("python3").args(["-m", "venv"]).arg(environment))
        .context("a virtual environment (Debian: python3-venv)")?;
    Ok(environment.join("bin/python"))
}

pub(crate) fn run_all(release: bool, only_wheel: bool) -> Result<()> {
    let python = environment("python")?;
    let program = match std::env::var_os("FATHOM_PROGRAM") {
        None if release => built()?.join("fathom"),
        _ => host_fathom()?,
    };
    let wheel = build(&python, release, &program, &cache().join("wheels"))?;
    println!("{}", wheel.display());
    if only_wheel {
        return Ok(());
    }
    let wanted = format!("{}[test,notebooks]", wheel.display());
    run(pip(&python).args(["--force-reinstall", &wanted]))?;
    // From another folder: the package's own has no native module, and must not be found.
    let mut tests = Command::new(&python);
    tests.current_dir(root().join("python/tests")).env_remove("FATHOM_PROGRAM");
    tests.args(["-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider", "."]);
    let status = tests.status().context("pytest")?;
    ensure!(status.success(), "pytest: {status}");
    Ok(())
}

pub(crate) fn pip(python: &Path) -> Command {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    pip
}

/// The wheel, with the command among its scripts: maturin takes what lies in the folder of this name.
fn build(python: &Path, release: bool, program: &Path, wheels: &Path) -> Result<PathBuf> {
    let scripts = root().join("python/fathom._native.data/scripts");
    fs::create_dir_all(&scripts)?;
    // One at a time: they bring different programs.
    let lock = File::create(cache().join("wheel.lock"))?;
    lock.lock()?;
    let brought = scripts.join("fathom");
    fs::copy(program, &brought).context("the command")?;
    run(Command::new("strip").arg(&brought)).context("the command, stripped")?;
    let _ = fs::remove_dir_all(wheels);
    let target = target();
    let mut maturin = Command::new(python);
    maturin.current_dir(root().join("python")).env("CARGO_TARGET_DIR", &target);
    maturin.args(["-m", "maturin", "build", "--quiet", "--locked", "--out"]).arg(wheels);
    maturin.arg("--interpreter").arg(python);
    // For this machine alone, unless it is to be given away: then for those that have the C library of the command,
    // which maturin does not look at. It refuses a module that needs a newer one.
    if release {
        let said = run(Command::new("readelf").args(["--wide", "--dyn-syms"]).arg(program))?.stdout;
        let platform = platform(&String::from_utf8_lossy(&said));
        maturin.args(["--release", "--strip"]);
        maturin.args(platform.map(|name| format!("--compatibility={name}")));
    } else {
        maturin.args(["--compatibility", "linux"]);
    }
    run(&mut maturin).context("maturin")?;
    let mut found = fs::read_dir(wheels)?.collect::<Result<Vec<_>, _>>()?;
    ensure!(found.len() == 1, "{} wheels in {}", found.len(), wheels.display());
    let wheel = found.remove(0).path();
    if release {
        let module = fs::metadata(target.join("release/lib_native.so"))?.len();
        let whole = fs::metadata(&wheel)?.len();
        eprintln!("module {module} bytes, wheel {whole} bytes");
        ensure!(module <= MOST_MODULE_BYTES, "the module has more than {MOST_MODULE_BYTES} bytes");
        ensure!(whole <= MOST_WHEEL_BYTES, "the wheel has more than {MOST_WHEEL_BYTES} bytes");
    }
    Ok(wheel)
}

/// The platform of wheels on which a program runs, of whose symbols readelf says this; none if it is static.
fn platform(said: &str) -> Option<String> {
    let digits = |rest: &str| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    let minor: u32 = said.split("GLIBC_2.").skip(1).filter_map(digits).max()?;
    // Of the versions before 2.34 not each is a platform.
    let known = [17, 28, 31, 34].into_iter().find(|known| minor <= *known).unwrap_or(minor);
    Some(format!("manylinux_2_{known}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wheel_promised_an_older_c_library_than_its_command_needs() {
        let said = "read@GLIBC_2.2.5 (2)\n hypot@GLIBC_2.35 (3)\n inotify_init1@GLIBC_2.9 (4)\n";
        assert_eq!(platform(said).as_deref(), Some("manylinux_2_35"));
        assert_eq!(platform("pow@GLIBC_2.29 (2)\n").as_deref(), Some("manylinux_2_31"));
        assert_eq!(platform("\n"), None);
    }
}
