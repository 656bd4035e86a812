//! `cargo xtask remote`: objects of stores as input, from a server of our own that does wrong and from two
//! that others wrote: moto, Amazon's interface in Python, which believes every signature, and s3s-fs, the
//! same in Rust over files, which does not. Each is installed into a folder of its own, once.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::packages::{cache, root, run, target};
use crate::python;

/// The command with everything it needs for this, unless other packages and features are chosen.
const CHOICE: [&str; 4] = ["--package", "fathom-cli", "--features", "remote"];

/// Newer ones need a newer compiler than ours.
const S3S: [&str; 5] = ["s3s-fs", "--version", "0.14.1", "--features", "binary"];

/// With `brief`, without the server that has to be built.
pub(crate) fn run_all(brief: bool, choice: &[String]) -> Result<()> {
    let cargo = || Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let environment = cache().join("moto");
    let moto = environment.join("bin/moto_server");
    // It takes longer than the tests, and is never changed by them.
    if !moto.exists() {
        let python = python::fresh(&environment)?;
        run(python::pip(&python).args(["moto[s3]", "flask", "flask-cors"]))?;
    }
    let (folder, mut tests) = (cache().join("s3s"), cargo());
    let s3s = folder.join("bin/s3s-fs");
    if !brief && !s3s.exists() {
        run(cargo().args(["install", "--locked", "--quiet"]).args(S3S).arg("--root").arg(&folder))?;
    }
    tests.current_dir(root()).env("FATHOM_MOTO", &moto).env("FATHOM_S3S", &s3s);
    tests.args(["test", "--locked"]);
    match choice {
        [] => tests.args(CHOICE),
        choice => tests.args(choice),
    };
    tests.args(["--test", "remote", "--", "--include-ignored"]);
    if brief {
        tests.args(["--skip", "s3s"]);
    }
    let status = tests.status().context("cargo test")?;
    ensure!(status.success(), "cargo test: {status}");
    drivers(&moto)
}

/// The drivers of the Python package with objects: their plans, read by the command that was just built.
fn drivers(moto: &Path) -> Result<()> {
    let wheel = python::wheel_with(&target().join("debug/fathom"))?;
    let python = python::fresh(&cache().join("objects"))?;
    run(python::pip(&python).arg("pytest").arg(&wheel))?;
    let mut tests = Command::new(&python);
    tests.current_dir(root().join("python/tests"));
    tests.env("FATHOM_MOTO", moto).env_remove("FATHOM_PROGRAM");
    tests.args(["-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider", "test_objects.py"]);
    let status = tests.status().context("pytest")?;
    ensure!(status.success(), "pytest: {status}");
    Ok(())
}
