//! `fathom bench read` from the outside: checks, the table by buffer, the sentence on the fastest.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(["bench", "read"])
        .args(arguments)
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

const WAYS: [&str; 8] = [
    "read",
    "pread",
    "read-fresh",
    "read-huge",
    "mmap+faulted",
    "mmap+populated",
    "mmap+whole",
    "overlap",
];

#[test]
fn every_way_sees_every_byte() {
    let text = stdout(&run(&["--test"]));
    for way in WAYS {
        let line = |line: &&str| line.starts_with(&format!("  {way} "));
        let lines: Vec<&str> = text.lines().filter(line).collect();
        assert!(lines.len() >= 6 && lines.iter().all(|line| line.ends_with("ok")), "{way}: {text}");
    }
}

#[test]
fn the_table_has_a_row_for_each_way_and_a_column_for_each_buffer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bytes");
    std::fs::write(&path, vec![0xa5; 123_457]).unwrap();
    let text = stdout(&run(&[path.to_str().unwrap(), "--set", "buffer=4K,64K", "--rounds", "2"]));
    let (_, table) = text.split_once("GB/s by buffer").expect("a table");
    assert_eq!(table.lines().next().unwrap().split_whitespace().collect::<Vec<_>>(), ["4K", "64K"]);
    for way in WAYS {
        let row = table.lines().find(|line| line.split(' ').next() == Some(way));
        let speeds = row.unwrap_or_else(|| panic!("{way}: {table}")).split_whitespace().skip(1);
        assert!(speeds.map(|speed| speed.parse::<f64>().unwrap()).all(|speed| speed > 0.0));
    }
    assert!(table.contains("Fastest: "), "{table}");
}

#[test]
fn what_is_no_file_is_refused() {
    assert_ne!(run(&["/no/such/file"]).status.code(), Some(0));
    assert_eq!(run(&["--test", "--set", "buffer=5000"]).status.code(), Some(2));
}
