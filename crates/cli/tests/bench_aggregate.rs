//! `fathom bench aggregate` from the outside: checks, combinations, outside programs.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.args(["bench", "aggregate"]).args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn every_station_agrees_with_the_plain_program() {
    let text = stdout(&run(&["--test"]));
    for name in ["old", "sharedht", "fullcheck", "perthreadht", "final", "final-full", "fathom"] {
        let line = |line: &&str| line.trim_start().starts_with(&format!("{name} "));
        let lines: Vec<&str> = text.lines().filter(line).collect();
        assert!(lines.len() >= 3 && lines.iter().all(|line| line.ends_with("ok")), "{text}");
    }
}

#[test]
fn a_strategy_is_a_preset_with_other_choices_and_says_what_it_cannot_hold() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.txt");
    std::fs::write(
        &path,
        b"a;1.0\nb;2.5\nlonger than an inline entry holds: 52 bytes and more;1.0\n",
    )
    .unwrap();
    let path = path.to_str().unwrap();
    let texts = ["final,check=full,input=whole", "fathom,affinity=on", "old"];
    let strategies = texts.iter().flat_map(|text| ["--strategy", text]);
    let arguments: Vec<&str> = ["--test", path].into_iter().chain(strategies).collect();
    let text = stdout(&run(&arguments));
    let line = |name: &str| text.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
    assert!(line(texts[0]).ends_with("ok") && line(texts[1]).ends_with("ok"), "{text}");
    assert!(line("old").contains("longer than 51 bytes"), "{text}");
    assert_eq!(text.lines().count(), 4, "nobody else takes part: {text}");
    for (strategy, message) in [
        ("fastest", "no strategy"),
        ("old,check=hash", "no room for a hash"),
        ("final,speed=9", "no axis"),
    ] {
        let output = run(&["--strategy", strategy, path]);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(message), "{strategy}");
    }
}

/// Other data were compared as if they were other threads, and tables came twice.
#[test]
fn each_workload_scales_for_itself() {
    let words = ["--only", "final", "--rounds", "2"];
    let sets = ["--set", "threads=1,2", "--set", "rows=1000,2000", "--set", "keys=7"];
    let text = stdout(&run(&[&words[..], &sets].concat()));
    for rows in [1000, 2000] {
        let head = format!("7 keys rows={rows}");
        let scaling = text.lines().filter(|line| line.starts_with(&format!("{head}, threads ")));
        let columns: Vec<_> =
            scaling.map(|line| line.split_whitespace().skip(4).collect::<Vec<_>>()).collect();
        assert_eq!(columns, [vec!["1", "2"]], "{text}");
        assert!(text.contains(&format!("{head} -t 1 ")), "{text}");
    }
    assert_eq!(text.matches(", threads ").count(), 2, "{text}");
}

#[test]
fn combinations_give_the_forebear_s_table_and_the_scaling() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.txt");
    std::fs::write(&path, b"a;1.0\nb;-2.5\n".repeat(500)).unwrap();
    let path = path.to_str().unwrap();
    let text = stdout(&run(&[
        path,
        "--axis",
        "table=shared,perthread",
        "--axis",
        "check=full,hash",
        "--threads",
        "1,2",
        "--rounds",
        "2",
        "--with",
        "copy=printf '{a=1.0/1.0/1.0, b=-2.5/-2.5/-2.5}\\n' < {file}",
    ]));
    let row = text.lines().find(|line| line.starts_with("project ")).expect("a matrix");
    assert!(row.contains("rows.txt -t 1") && row.contains("rows.txt -t 2"), "{row}");
    for start in ["final,table=shared,check=hash  ", "final,table=perthread,check=full  "] {
        let row = text.lines().filter(|line| line.starts_with(start)).count();
        assert!(row >= 2, "a row in the matrix and one in the scaling:\n{text}");
    }
    assert!(text.contains("ideal") && text.contains("2.00x"), "{text}");
}

#[test]
fn a_program_with_another_answer_gets_no_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.txt");
    std::fs::write(&path, b"a;1.0\n").unwrap();
    let output = run(&[
        path.to_str().unwrap(),
        "--only",
        "fathom,old",
        "--rounds",
        "2",
        "--with",
        "liar=cat {file}",
    ]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let row = text.lines().rfind(|line| line.starts_with("liar")).expect("a row in the matrix");
    assert!(row.ends_with('-'), "{row}");
}

/// Others were measured, or compared with, than those that were named.
#[test]
fn choices_go_with_a_baseline_that_takes_part_and_with_no_other_names() {
    for (arguments, why) in [
        (&["--strategy", "final,check=full", "--baseline", "nonsense"][..], "\"nonsense\""),
        (&["--strategy", "final,check=full", "--baseline", "final"], "does not take part"),
        (&["--axis", "check=full", "--baseline", "final,check=hash"], "does not take part"),
        (&["--strategy", "final,check=full", "--only", "old"], "cannot be used with"),
        (&["--only", "old", "--axis", "check=hash"], "no combination takes part"),
    ] {
        let output = run(&[&["--rounds", "2"], arguments].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{said}");
        assert!(said.contains(why), "{arguments:?}: {said}");
    }
}

#[test]
fn its_options_are_its_own() {
    let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(["bench", "checksum", "--axis", "check=full"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(run(&["--axis", "colour=red"]).status.code(), Some(2));
}

/// Each worker read the whole file by the engine before its own work, to tell this.
#[test]
fn a_folder_and_a_file_without_values_end_with_codes_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.txt");
    std::fs::write(&path, "a;x\n").unwrap();
    let wrong = [(folder.path(), 4, "directory"), (path.as_path(), 3, "rows.txt: line 1: ")];
    for (path, code, why) in wrong {
        for more in [&["--rounds", "2", "--only", "old"][..], &["--test"]] {
            let output = run(&[&[path.to_str().unwrap()], more].concat());
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{said}");
            assert!(said.contains(why), "{said}");
        }
    }
}
