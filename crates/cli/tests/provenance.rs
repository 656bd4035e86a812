//! A saved run says what measured it: commit, features, profile, compiler and level, as far
//! as that can be known.

use std::fs;
use std::process::Command;

use fathom_measure::result::Run;

fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let output = output.ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

#[test]
fn a_saved_run_says_what_measured_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.args(["run", "-N", "--rounds", "3", "--format", "csv", "--save"]).arg(&file);
    let status = command.args(["true", "true"]).env("FATHOM_LEVEL", "scalar").output().unwrap();
    assert!(status.status.code().is_some_and(|code| code < 2), "{status:?}");
    let run = Run::read(&file).unwrap();
    assert_eq!(run.level, "scalar");
    let build = run.build;
    assert!(build.rustc.starts_with("rustc 1."), "{}", build.rustc);
    // The level of what is measured; the command's own is 0.
    let profile =
        if cfg!(debug_assertions) { "debug (opt-level 1)" } else { "release (opt-level 3)" };
    assert_eq!(build.profile, profile);
    assert!(build.target.contains(std::env::consts::ARCH), "{}", build.target);
    let features = ["cpu", "kv", "more", "native", "profile", "remote", "store", "tables", "zstd"];
    let expected: Vec<&str> = features
        .into_iter()
        .zip([
            cfg!(feature = "cpu"),
            cfg!(feature = "kv"),
            // The contenders of tests have it, whether this program asked or not.
            true,
            cfg!(feature = "native"),
            cfg!(feature = "profile"),
            cfg!(feature = "remote"),
            cfg!(feature = "store"),
            cfg!(feature = "tables"),
            cfg!(feature = "zstd"),
        ])
        .filter_map(|(name, is_on)| is_on.then_some(name))
        .collect();
    assert_eq!(build.features, expected);
    // Outside a repository nobody knows, and nobody pretends to.
    match git(&["rev-parse", "HEAD"]) {
        Some(commit) => assert!(build.commit == commit && build.dirty.is_some(), "{build:?}"),
        None => assert!(build.commit.is_empty() || build.commit.len() == 40, "{build:?}"),
    }
    // Without a repository nothing is changed.
    let root = git(&["rev-parse", "--show-toplevel"]).unwrap_or_default();
    let changed = git(&["diff", "HEAD", "--name-only"]).unwrap_or_default();
    let is_source = |path: &&str| {
        let parts: Vec<&str> = path.split('/').collect();
        matches!(parts[..], ["crates", _, "src", ..] | ["crates", _, "Cargo.toml"])
            || ["Cargo.toml", "Cargo.lock"].contains(path)
    };
    let changed: Vec<&str> = changed.lines().filter(is_source).collect();
    let written = |path: &str| fs::metadata(path).and_then(|file| file.modified()).ok();
    let built = written(env!("CARGO_BIN_EXE_fathom"));
    // What was written since then the program cannot know of.
    let is_known = |path: &&str| written(&format!("{root}/{path}")) < built;
    if !root.is_empty() && changed.iter().all(is_known) {
        assert_eq!(build.dirty, Some(!changed.is_empty()), "{changed:?}");
    }
}
