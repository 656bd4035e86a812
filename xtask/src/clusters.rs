//! `cargo xtask clusters`: the drivers of the Python package on real clusters of this machine, under faults.
//!
//! Installs each engine with the package's wheel into a fresh environment, and runs
//! `python/faults/engines.py` there: workers killed, stopped and hung, files that change.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::packages::{cache, host_fathom, root, run};
use crate::python;

/// The engines, and what is installed for each.
const ENGINES: &[(&str, &[&str])] =
    &[("dask", DASK), ("apart", DASK), ("ray", &["ray"]), ("spark", SPARK), ("connect", SPARK)];

const DASK: &[&str] = &["dask", "distributed"];
const SPARK: &[&str] = &["pyspark[connect]", "pandas<3", "pyarrow"];

pub(crate) fn run_all(only: &str, runs: u32) -> Result<()> {
    let chosen: Vec<_> = ENGINES.iter().filter(|(engine, _)| engine.contains(only)).collect();
    ensure!(!chosen.is_empty(), "no engine is called {only:?}");
    let wheel = python::wheel()?;
    let program = host_fathom()?;
    for (engine, packages) in chosen {
        let python = python::fresh(&cache().join("clusters").join(engine))?;
        run(python::pip(&python).args(*packages).arg(&wheel))?;
        under_faults(&python, &program, engine, runs)?;
    }
    Ok(())
}

fn under_faults(python: &Path, program: &Path, engine: &str, runs: u32) -> Result<()> {
    let mut tests = Command::new(python);
    tests.current_dir(root().join("python/faults")).arg("engines.py").arg(program);
    tests.args(["--only", engine, "--runs", &runs.to_string()]);
    let status = tests.status().context("engines.py")?;
    ensure!(status.success(), "{engine}: {status}");
    Ok(())
}
