//! `fathom aggregate --strategy` from the outside: same result, limits as errors, usage.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fathom")).arg("aggregate").args(arguments).output().unwrap()
}

fn fails(arguments: &[&str], code: i32, message: &str) {
    let output = run(arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(stderr.contains(message), "{stderr}");
    assert!(output.stdout.is_empty());
}

fn file(folder: &tempfile::TempDir, text: &str) -> String {
    let path = folder.path().join("m.txt");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

const PRESETS: [&str; 7] =
    ["old", "sharedht", "fullcheck", "perthreadht", "final", "final-full", "fathom"];

#[test]
fn every_preset_prints_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "Oslo;-1.5\nQuito;14.0\nOslo;3.0\nÅrhus;0.0");
    for preset in PRESETS {
        let output = run(&["--strategy", preset, "-t", "2", &path]);
        let stdout = String::from_utf8(output.stdout).unwrap();
        let expected = "{Oslo=-1.5/0.8/3.0, Quito=14.0/14.0/14.0, Århus=0.0/0.0/0.0}\n";
        assert_eq!(stdout, expected, "{preset}");
        assert!(output.status.success() && output.stderr.is_empty());
    }
    // The forebear's own way to say final-full, and a point without a name.
    for arguments in [["--strategy", "final", "-f"], ["--strategy", "final,input=pread", "-a"]] {
        let output = run(&[&arguments[..], &["-v", &path]].concat());
        assert!(output.status.success());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("65,535 names"), "limits are said: {stderr}");
    }
}

#[test]
fn what_a_strategy_cannot_hold_is_bad_data_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "a;1.0\nb;2.5\nc;123.4\n");
    fails(&["--strategy", "final", &path], 3, "m.txt:3:1: the strategy takes only key;value");
    assert!(run(&[&path]).status.success());
    let path = file(&folder, &format!("{};1.0\n", "n".repeat(60)));
    fails(&["--strategy", "old", &path], 3, "strategy old cannot hold this: key \"nnn");
}

#[test]
fn what_only_the_engine_does_is_a_mistake_of_usage() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "a;1.0\n");
    for arguments in [
        &["--on-error", "skip"][..],
        &["--memory-limit", "1M"],
        &["--stats", "stddev"],
        &["--delimiter", ";"],
    ] {
        fails(&[&["--strategy", "final"], arguments, &[&path]].concat(), 2, "only fathom has");
        assert!(
            run(&[&["--strategy", "fathom"], arguments, &["--format", "csv", &path]].concat())
                .status
                .success()
        );
    }
    fails(&["--strategy", "fastest", &path], 2, "no strategy");
    fails(&["--strategy", "old,check=hash", &path], 2, "no room for a hash");
    fails(&["--strategy", "old", "--trust-hash", &path], 2, "no room for a hash");
    fails(&["--strategy", "final", "-"], 2, "uncompressed files only");
}
