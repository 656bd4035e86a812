//! Tells the program what it was built from: commit, features, profile, target and compiler, as
//! environment variables of the build. The level of optimisation is that of the contenders, who tell it themselves.
//! Outside a repository (a source archive) what cannot be known stays empty, and nothing fails.

use std::env;
use std::fs;
use std::process::Command;

/// What the program is built from, from this folder. A folder's name with a star in it is not all that is
/// in the folder.
const SOURCES: [&str; 4] =
    ["../*/src/*", "../*/Cargo.toml", "../../Cargo.toml", "../../Cargo.lock"];

fn main() {
    for path in ["build.rs", "Cargo.toml", "../../Cargo.toml", "../../Cargo.lock"] {
        existing(path);
    }
    for entry in fs::read_dir("..").into_iter().flatten().flatten() {
        existing(&format!("../{}/src", entry.file_name().to_string_lossy()));
    }
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if is("PROFILE", "debug")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
    {
        // Tests start it thousands of times: at a place of its own it has nothing to relocate, a third of a start.
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    let (commit, dirty) = repository().or_else(package).unwrap_or_default();
    let features: Vec<String> = env::vars()
        .filter_map(|(name, _)| Some(name.strip_prefix("CARGO_FEATURE_")?.to_lowercase()))
        .filter(|name| name != "default")
        .collect();
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let rustc = said(Command::new(rustc).arg("--version")).unwrap_or_default();
    for (name, value) in [
        ("COMMIT", commit),
        ("DIRTY", dirty),
        ("FEATURES", features.join(" ").replace('_', "-")),
        ("PROFILE", env::var("PROFILE").unwrap_or_default()),
        ("TARGET", env::var("TARGET").unwrap_or_default()),
        ("RUSTC", rustc),
    ] {
        println!("cargo::rustc-env=FATHOM_BUILD_{name}={value}");
    }
}

/// Has the build look again when `path` changes; a path that is absent would change every time.
fn existing(path: &str) {
    if fs::exists(path).unwrap_or(false) {
        println!("cargo::rerun-if-changed={path}");
    }
}

/// The commit of the repository around this folder, and whether a source differs from it. A
/// repository that does not hold this file is somebody else's.
fn repository() -> Option<(String, String)> {
    git(&["ls-files", "--error-unmatch", "Cargo.toml"])?;
    // Written whenever another commit is checked out or made.
    existing(&git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    let changes =
        git(&[&["status", "--porcelain", "--untracked-files=no", "--"], &SOURCES[..]].concat())?;
    Some((git(&["rev-parse", "HEAD"])?, (!changes.is_empty()).to_string()))
}

/// What cargo wrote into a published package.
fn package() -> Option<(String, String)> {
    let text = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let commit = text.split("\"sha1\"").nth(1)?.split('"').nth(1)?.to_owned();
    Some((commit, text.contains("\"dirty\": true").to_string()))
}

fn git(arguments: &[&str]) -> Option<String> {
    said(Command::new("git").arg("--no-optional-locks").args(arguments))
}

fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
