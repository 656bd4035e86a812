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

/// What is piped keeps a line for each, which other programs look for.
#[test]
fn lists_and_descriptions_fit_the_terminal() {
    let fathom = |words: &str, columns: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        command.args(words.split(' ')).env_remove("COLUMNS");
        command.envs(columns.map(|columns| ("COLUMNS", columns)));
        stdout(&mut command)
    };
    let is_fitting = |line: &str, columns: usize| {
        // A word may be longer.
        line.chars().count() <= columns || line.split_whitespace().count() == 1
    };
    for words in ["list", "list checksum", "list alloc", "list map std", "list store"] {
        let piped = fathom(words, None);
        for columns in [80, 120] {
            let text = fathom(words, Some(&columns.to_string()));
            let long: Vec<&str> = text.lines().filter(|line| !is_fitting(line, columns)).collect();
            assert_eq!(long, [""; 0], "{words}");
            assert!(text.split_whitespace().eq(piped.split_whitespace()), "{words}");
        }
    }
    for words in ["machine", "machine --counters"] {
        let text = fathom(words, Some("80"));
        let long: Vec<&str> = text.lines().filter(|line| !is_fitting(line, 80)).collect();
        assert_eq!(long, [""; 0], "{words}");
    }
    let families = fathom("list", None).lines().count();
    assert_eq!(families, fathom("list --format names", None).lines().count());
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
fn a_forced_level_holds_for_structures_and_ciphers() {
    for (family, faster) in [("trie", "avx2+bmi2"), ("cipher", "vaes-avx512")] {
        let mut list = Command::new(env!("CARGO_BIN_EXE_fathom"));
        list.args(["list", family]).env("FATHOM_LEVEL", "scalar");
        assert!(!stdout(&mut list).contains(faster), "{family}");
    }
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
