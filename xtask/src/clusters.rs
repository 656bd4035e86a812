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
const ENGINES: &[(&str, &[&str], &[&str])] = &[
    (
        "dask",
        &["dask", "distributed"],
        &["nothing", "apart", "killed", "holding", "stopped", "changed"],
    ),
    ("apart", &["dask", "distributed"], &["scheduler"]),
    ("ray", &["ray"], &["nothing", "apart", "killed", "holding", "hung", "changed"]),
    (
        "spark",
        SPARK,
        &[
            "nothing", "apart", "killed", "holding", "python", "stopped", "hung", "changed",
            "master",
        ],
    ),
    ("connect", SPARK, &["nothing", "apart", "killed"]),
];

const SPARK: &[&str] = &["pyspark[connect]", "pandas<3", "pyarrow"];

pub(crate) fn run_all(only: &str, runs: u32) -> Result<()> {
    let wheel = python::wheel()?;
    let program = host_fathom()?;
    for (engine, packages, faults) in ENGINES.iter().filter(|(engine, ..)| engine.contains(only)) {
        let python = python::fresh(&cache().join("clusters").join(engine))?;
        run(python::pip(&python).args(*packages).arg(&wheel))?;
        let cases: Vec<String> = faults.iter().map(|fault| format!("{engine}-{fault}")).collect();
        under_faults(&python, &program, &cases.join(","), runs)?;
    }
    Ok(())
}

fn under_faults(python: &Path, program: &Path, cases: &str, runs: u32) -> Result<()> {
    let mut tests = Command::new(python);
    tests.current_dir(root().join("python/faults")).arg("engines.py").arg(program);
    tests.args(["--only", cases, "--runs", &runs.to_string()]);
    let status = tests.status().context("engines.py")?;
    ensure!(status.success(), "{cases}: {status}");
    Ok(())
}
