//! `cargo xtask cpp`: builds the C++ runner with Debian's packages and checks every answer of it
//! against the reference. Times nothing.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::packages::{cache, host_fathom, install, root, run};

/// The libraries the runner offers, and what builds it.
const PACKAGES: &[&str] = &[
    "cmake",
    "g++",
    "make",
    "nlohmann-json3-dev",
    "libxxhash-dev",
    "libabsl-dev",
    "libboost1.81-dev",
    "libcuckoo-dev",
    "robin-map-dev",
    "libtsl-hopscotch-map-dev",
    "libsparsehash-dev",
    "libjudy-dev",
    "libhat-trie-dev",
    "libsimdjson-dev",
];

/// How many contenders a whole build offers.
const CONTENDERS: usize = 21;

pub(crate) fn run_all() -> Result<()> {
    install(PACKAGES)?;
    let build = cache().join("cpp");
    let source = root().join("runners/cpp");
    run(Command::new("cmake").arg("-S").arg(source).arg("-B").arg(&build))?;
    run(Command::new("cmake").arg("--build").arg(&build).args(["--parallel", "2"]))?;
    let worker = build.join("fathom-runner-cpp");
    let fathom = host_fathom()?;
    let mut answers = 0;
    let mut names = std::collections::BTreeSet::new();
    for family in ["map", "tree", "trie", "haversine"] {
        let text = test(&fathom, family, &worker)?;
        for line in text.lines() {
            let Some((name, word)) = line.trim().split_once(' ') else { continue };
            if name.starts_with("cpp-") {
                names.insert(name.to_owned());
                answers += usize::from(word.trim() == "ok");
            }
        }
    }
    ensure!(names.len() >= CONTENDERS, "only {} contenders: {names:?}", names.len());
    println!("ok: {answers} answers of {} C++ contenders agree with the reference", names.len());
    Ok(())
}

fn test(fathom: &Path, family: &str, worker: &Path) -> Result<String> {
    let mut command = Command::new(fathom);
    command.args(["bench", family, "--test", "--only", "cpp-*", "--worker"]).arg(worker);
    let output = run(&mut command).with_context(|| format!("fathom bench {family}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
