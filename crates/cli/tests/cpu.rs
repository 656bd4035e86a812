//! `fathom cpu` from outside: rows in both forms, the answer, two machines side by side, refusals.
//! Figures are looked at only where no machine could get them wrong.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn fathom(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fathom")).args(arguments).output().unwrap()
}

/// Standard output of a run that ended with 0.
fn done(arguments: &[&str]) -> String {
    let output = fathom(arguments);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {complaint}");
    String::from_utf8(output.stdout).unwrap()
}

const QUICK: [&str; 6] = ["cpu", "checksum", "--only", "crc32c,crc32", "--budget", "100ms"];

#[test]
fn rows_are_printed_in_the_forebear_s_form_and_ours() {
    let text = done(&QUICK);
    let banner: Vec<&str> = text.lines().take(2).collect();
    assert!(banner[0].contains(" - "), "{text}");
    assert!(banner[1].contains(" x ") && banner[1].ends_with(')'), "{text}");
    assert!(text.contains("checksum crc32c, calls of 8 to 10,000 bytes"), "{text}");
    assert!(text.contains("2500 crc32c in ") && text.contains(" i.e. "), "{text}");
    assert!(text.contains("iB/s  fastest, spread "), "{text}");
    assert!(text.contains("absent: checksum isa-l: "), "{text}");
    let (_, answer) = text.split_once("\nfastest here\n").unwrap();
    let rows: Vec<&str> = answer.lines().take_while(|line| !line.is_empty()).collect();
    assert!(matches!(rows[..], [a, b] if a.contains("crc32c ") && b.contains("crc32 ")), "{text}");
    assert!(!text.contains("adler32"), "{text}");
}

#[test]
fn sizes_and_threads_give_rows_of_their_own() {
    let sizes = ["cpu", "digest", "--only", "sha256", "--size", "64,1K", "--threads", "2"];
    let text = done(&[&sizes[..], &["--budget", "100ms"]].concat());
    assert!(text.contains("digest sha256, 64 bytes, 2 threads"), "{text}");
    assert!(text.contains("digest sha256, 1K bytes, 2 threads"), "{text}");
    assert!(text.contains("\n  digest sha256, 64 "), "{text}");
    let text = done(&["cpu", "hash", "--only", "crc32,sha1", "--budget", "100ms"]);
    assert!(text.contains("checksum crc32,") && text.contains("digest sha1,"), "{text}");
}

#[test]
fn a_recommendation_is_a_line_per_task() {
    let text = done(&[&QUICK[..], &["--recommend"]].concat());
    for task in ["crc32c: ", "crc32: "] {
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with(task)).collect();
        assert_eq!(lines.len(), 1, "{text}");
    }
}

#[test]
fn every_implementation_is_checked_without_times() {
    let text = done(&["cpu", "checksum", "digest", "--test"]);
    let count = |family: &str| {
        let line = text.lines().find(|line| line.starts_with(family)).unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        words[words.len() - 3].parse::<u32>().unwrap()
    };
    assert!(count("checksum: ") > 50 && count("digest: ") > 50, "{text}");
}

#[test]
fn two_machines_stand_side_by_side_row_by_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let name = |path: &Path| path.to_str().unwrap().to_owned();
    let (a, b) = (path("a.json"), path("b.json"));
    done(&[&QUICK[..], &["--save", &name(&a)]].concat());
    // The other machine is an ARM board where one implementation is wrong and all are twice as slow.
    let mut run: Value = serde_json::from_str(&std::fs::read_to_string(&a).unwrap()).unwrap();
    run["machine"]["processor"]["model"] = "ARM Neoverse-N1".into();
    run["machine"]["system"]["architecture"] = "aarch64".into();
    let case = &mut run["cases"][0];
    for round in case["measured"]["rounds"].as_array_mut().unwrap() {
        for sample in round["samples"].as_array_mut().unwrap() {
            for clock in ["wall_ns", "cpu_ns"] {
                if let Some(ns) = sample[clock].as_u64() {
                    sample[clock] = (2 * ns).into();
                }
            }
        }
    }
    let at = case["contenders"].as_array().unwrap().iter().position(|c| c["id"] == "crc-fast");
    let at = at.unwrap();
    case["measured"]["failures"][at] =
        serde_json::json!({"kind": "wrong_answer", "expected": "00", "found": "01"});
    std::fs::write(&b, run.to_string()).unwrap();
    let text = done(&["cpu", "--join", &name(&a), &name(&b)]);
    assert!(text.contains("ARM Neoverse-N1 (aarch64)"), "{text}");
    let row = |id: &str| {
        let start = format!("  {id} ");
        text.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("{id}: {text}"))
    };
    assert!(row("crc32c").ends_with("0.50x"), "{text}");
    assert!(row("crc-fast").contains("B: wrong answer"), "{text}");
}

#[test]
fn what_cannot_be_measured_is_refused_with_what_can() {
    for (arguments, words) in [
        (&["cpu", "checksums"][..], "there is: memory, checksum"),
        (&["cpu", "checksum", "--only", "md5"], "no row and no implementation \"md5\""),
        (&["cpu", "checksum", "--only", "md5"], "in checksum; family digest has it"),
        (&["cpu", "--only", "sha265"], "did you mean \"sha256\"?"),
        (&["cpu", "digest", "--format", "svg"], "a plot shows one row at several sizes"),
        (&["cpu", "checksum", "--only", "isa-l"], "isa-l is not in this build"),
        (&["cpu", "digest", "--size", "many"], "\"many\" is no size"),
        (&["cpu", "digest", "--threads", "0"], "--threads"),
        (&["cpu", "digest", "--budget", "never"], "is no time"),
        (&["cpu", "--join", "a.json"], "2 values"),
        (&["cpu", "--join", "no.json", "no.json"], "no.json"),
        (&["cpu", "--test", "--join", "a.json", "b.json"], "cannot be used with"),
        (&["cpu", "checksum", "--test", "--only", "nobody"], "\"nobody\""),
    ] {
        let output = fathom(arguments);
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(2 | 4)), "{arguments:?}: {complaint}");
        assert!(complaint.contains(words), "{arguments:?}: {complaint}");
    }
}
