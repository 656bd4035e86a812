//! `fathom machine` from the outside: both formats, and the level it says is chosen.

use std::process::Command;

fn machine(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.arg("machine").args(arguments);
    command
}

fn stdout(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success());
    assert!(output.stderr.is_empty());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_text_has_a_line_for_every_subject() {
    let text = stdout(&mut machine(&[]));
    for label in ["system", "processor", "host", "topology", "caches", "memory", "levels", "timers"]
    {
        assert!(text.lines().any(|line| line.starts_with(label)), "{label}: {text}");
    }
}

#[test]
fn the_json_says_which_level_was_forced() {
    let text = stdout(machine(&["--format", "json"]).env("FATHOM_LEVEL", "scalar"));
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["levels"]["chosen"], "scalar");
    assert_eq!(json["levels"]["is_forced"], true);
    assert!(json["topology"]["cpus"].as_u64().unwrap() > 0);
}

#[test]
fn events_and_noise_are_not_told_together() {
    let output = machine(&["--counters", "--noise", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("cannot be used with"), "{said}");
}

#[test]
fn a_level_that_does_not_exist_is_a_usage_error() {
    let other = if cfg!(target_arch = "x86_64") { "neon" } else { "avx512" };
    for word in ["avx9", other] {
        let output = machine(&[]).env("FATHOM_LEVEL", word).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(word) && said.contains("scalar"), "{said}");
    }
}
