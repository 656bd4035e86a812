//! `--counters simulated` from the outside: the built program under the simulator, which the tests of
//! the parts do not run. Ignored unless asked for: it needs valgrind.

use std::process::Command;

use serde_json::Value;

/// It ran after clean-up, with nothing prepared, and an accepted exit code was a failure.
#[test]
#[ignore = "needs valgrind: cargo test -- --ignored valgrind"]
fn what_surrounds_a_command_surrounds_its_run_under_valgrind() {
    let folder = tempfile::tempdir().unwrap();
    let words = "run --counters simulated --format json --runs 2 --accept 3".split(' ');
    let around = ["--setup", "mkdir d", "--prepare", "touch d/in", "--conclude", "rm d/in"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.args(words.chain(around).chain(["--cleanup", "rmdir d", "cat d/in && exit 3"]));
    let output = command.current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    let row = &run["cases"][0]["contenders"][0];
    let counters = row["counters"].as_array().unwrap_or_else(|| panic!("{row}"));
    assert!(counters.iter().any(|counter| counter["event"] == "instructions"), "{row}");
    assert!(!folder.path().join("d").exists());
}

#[test]
#[ignore = "needs valgrind: cargo test -- --ignored valgrind"]
fn a_contender_of_the_program_itself_is_counted_by_valgrind() {
    let line = "bench checksum --only adler2 --counters simulated --rounds 2 --format json \
                --operation adler32 -p size=1024";
    let output =
        Command::new(env!("CARGO_BIN_EXE_fathom")).args(line.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    let row = &run["cases"][0]["contenders"][0];
    let counters = row["counters"].as_array().unwrap();
    let found = counters.iter().find(|counter| counter["event"] == "instructions");
    let instructions = found.and_then(|counter| counter["per_iteration"].as_f64());
    assert!(instructions.is_some_and(|count| count >= 1024.0), "{row}");
}
