//! `--counters simulated` from the outside: the built program under the simulator, which the tests of
//! the parts do not run. Skipped, visibly, where there is no valgrind.

use std::process::{Command, Stdio};

use serde_json::Value;

#[test]
fn a_contender_of_the_program_itself_is_counted() {
    let valgrind = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    if !valgrind.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no valgrind");
        return;
    }
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
