//! `fathom machine --counters`: every event is counted or explained, and group files are checked.

use std::fs;
use std::process::{Command, Output};

fn machine(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.args(["machine", "--counters"]).args(arguments).output().unwrap()
}

#[test]
fn every_event_is_counted_or_has_a_reason() {
    let output = machine(&["--format", "json"]);
    assert!(output.status.success());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let events = json["events"].as_array().unwrap();
    assert!(events.len() >= 20);
    for event in events {
        let counted = event["counted"].as_bool().unwrap();
        assert_eq!(counted, event["reason"].is_null(), "{event}");
    }
    assert_eq!(json["groups"][0]["name"], "core");
}

#[test]
fn a_group_file_is_shown_or_its_mistake_named_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("groups.txt");
    let file = path.to_str().unwrap();
    fs::write(
        &path,
        "event uops raw 0x1c2\ngroup width\ncount uops cycles\nmetric upc = uops / cycles",
    )
    .unwrap();
    let output = machine(&["--groups", file]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("group width      upc"), "{text}");
    assert!(text.contains("raw event 0x1c2"), "{text}");

    fs::write(&path, "group width\ncount wheels\n").unwrap();
    let output = machine(&["--groups", file]);
    assert_eq!(output.status.code(), Some(3));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("line 2") && errors.contains("wheels"), "{errors}");

    // Two groups of one name were shown.
    fs::write(&path, "group core\n").unwrap();
    assert_eq!(machine(&["--groups", file]).status.code(), Some(3));
}
