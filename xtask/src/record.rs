//! `cargo xtask record MACHINE`: measures a part of what the project's prose speaks of and saves the runs under
//! `record/DATE-COMMIT-MACHINE/`, in about ten minutes on a machine with nothing else to do. The commands of all
//! other saved runs are in the README of their folder.
//!
//! Refuses sources that differ from the commit, because nobody could build that program again. The
//! tables in prose are written from the saved runs afterwards, by the test that checks them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::packages::{root, run, target};

/// Files the measurements read; everything runs in a scratch folder, so that no run names a path.
const DATA: &[&[&str]] = &[
    &["generate", "measurements", "--rows", "50M", "-o", "413.txt"],
    &["generate", "measurements", "--preset", "41k", "--rows", "50M", "-o", "41k.txt"],
    &["generate", "measurements", "--preset", "10k", "--rows", "25M", "-o", "long.txt"],
    &["generate", "pairs", "--count", "1M", "-o", "pairs.json"],
    &["generate", "keys", "-n", "1M", "-k", "words", "-o", "words-1M"],
];

const TWO: &str = "fathom aggregate {file}.txt";
const ONE: &str = "fathom aggregate -t 1 {file}.txt";
const SCALAR: &str = "FATHOM_LEVEL=scalar fathom aggregate {file}.txt";

/// The saved runs and their commands, `--save` or `-o` left out.
const RUNS: &[(&str, &[&str])] = &[
    (
        "aggregate-threads",
        &[
            "run", "-N", "--rounds", "12", "--parameter", "file", "413,41k,long", "--names",
            "all,one", TWO, ONE,
        ],
    ),
    (
        "aggregate-levels",
        &[
            "run", "--rounds", "12", "--parameter", "file", "413,long", "--names", "best,scalar",
            TWO, SCALAR,
        ],
    ),
    ("aggregate-strategies", &["bench", "aggregate", "413.txt", "--rounds", "9", "--limit", "90s"]),
    ("haversine-stages", &["haversine", "--stages", "pairs.json", "--budget", "1s"]),
    ("haversine", &["bench", "haversine", "--budget", "2s", "--limit", "40s"]),
    ("json", &["bench", "json", "--operation", "dom", "--budget", "1s", "--limit", "40s"]),
    ("cpu", &["cpu", "--all"]),
    ("kv", &["kv", "words-1M"]),
    ("selftest", &["selftest", "--comparisons", "60", "--slowdowns", "4", "--format", "json"]),
];

/// Builds the release, makes the data, and saves every run whose name contains `only`.
pub(crate) fn run_all(machine: &str, only: &str) -> Result<()> {
    ensure!(RUNS.iter().any(|(name, _)| name.contains(only)), "no run is called {only:?}");
    let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
    ensure!(changes.is_empty(), "the sources differ from the commit:\n{changes}");
    let programs = built()?;
    let (date, commit) = (date()?, git(&["rev-parse", "--short=8", "HEAD"])?);
    let folder = root().join("record").join(format!("{date}-{commit}-{machine}"));
    let scratch = std::env::temp_dir().join(format!("fathom-record-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    std::fs::create_dir_all(&scratch)?;
    let done = measure_all(&programs, &scratch, &folder, only);
    std::fs::remove_dir_all(&scratch)?;
    done?;
    println!("now: FATHOM_BLESS=1 cargo test -p fathom-report --test record");
    Ok(())
}

fn measure_all(programs: &Path, scratch: &Path, folder: &Path, only: &str) -> Result<()> {
    for arguments in DATA {
        run(&mut fathom(programs, scratch, arguments))?;
    }
    for (name, arguments) in RUNS.iter().filter(|(name, _)| name.contains(only)) {
        let start = Instant::now();
        let file = format!("{name}.json");
        let mut command = fathom(programs, scratch, arguments);
        let flag = if arguments[0] == "selftest" { "-o" } else { "--save" };
        let output = command.args([flag, &file]).output().context("cannot run fathom")?;
        // 1: something was not as fast as the baseline, or differed; the run is saved.
        let is_done = output.status.code().is_some_and(|code| code < 2);
        ensure!(is_done, "{name}: {}", String::from_utf8_lossy(&output.stderr));
        // `kv` tells its files from others of the same name elsewhere.
        let whole = format!("{}/", scratch.canonicalize()?.display());
        let saved = std::fs::read_to_string(scratch.join(&file))?.replace(&whole, "");
        std::fs::write(folder.join(&file), saved)?;
        println!("{file} ({:.0} s)", start.elapsed().as_secs_f64());
    }
    Ok(())
}

/// `fathom ARGUMENTS`, where the commands it measures find it by its name too.
fn fathom(programs: &Path, scratch: &Path, arguments: &[&str]) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(programs.join("fathom"));
    command.current_dir(scratch).args(arguments);
    command.env("PATH", format!("{}:{path}", programs.display()));
    command
}

/// The folder of the release build.
pub(crate) fn built() -> Result<PathBuf> {
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.current_dir(root()).args(["build", "--locked", "--quiet", "--release"]);
    run(build.args(["--package", "fathom-cli"])).context("building fathom")?;
    Ok(target().join("release"))
}

fn git(arguments: &[&str]) -> Result<String> {
    let output = run(Command::new("git").current_dir(root()).args(arguments))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn date() -> Result<String> {
    let output = run(Command::new("date").args(["--utc", "+%Y-%m-%d"]))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
