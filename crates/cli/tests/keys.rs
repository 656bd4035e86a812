//! `fathom convert` and `fathom generate keys` from the outside, kvbench's command line included.

mod common;

use std::path::Path;
use std::process::{Command, Output};

fn fathom(folder: &Path, line: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_fathom");
    Command::new(program).args(line.split_whitespace()).current_dir(folder).output().unwrap()
}

fn done(folder: &Path, line: &str) -> Output {
    let output = fathom(folder, line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn fails(folder: &Path, line: &str, code: i32, words: &str) {
    let output = fathom(folder, line);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{line}: {stderr}");
    assert!(stderr.contains(words), "{line}: {stderr}");
}

#[test]
fn kvbench_s_generator_line_works_as_there() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("w"), "alpha beta gamma \n").unwrap();
    let output = done(folder, "convert -m convert-text -i w -o w.bin -v");
    assert_eq!(output.stdout, b"alpha\nbeta\ngamma\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("wrote 000000003 words"));
    let file = std::fs::read(folder.join("w.bin")).unwrap();
    assert_eq!((file.len(), &file[..9]), (30, &b"\x03\0\0\0\x05\0\0\0a"[..]));
    fails(folder, "convert -m convert-text -i w -o w.bin", 2, "w.bin exists");
    done(folder, "convert -m convert-text -i w -o w.zero -t");
    assert_eq!(std::fs::read(folder.join("w.zero")).unwrap().len(), 33);
    done(folder, "convert -m convert-text1 -i w -o w.1");
    assert_eq!(std::fs::read(folder.join("w.1")).unwrap().len(), 42);
    std::fs::write(folder.join("empty"), " ").unwrap();
    fails(folder, "convert -m convert-text -i empty -o e.bin", 3, "no word");
    assert!(!folder.join("e.bin").exists());
}

#[test]
fn any_format_becomes_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("t.csv"), "id,name\n1,\"x \"\"y\"\"\"\n2,z\n").unwrap();
    let output = done(folder, "convert -F csv:name -T lines t.csv");
    assert_eq!(output.stdout, b"x \"y\"\nz\n");
    done(folder, "convert -F csv:id -T u64 t.csv -o t.u64");
    assert_eq!(done(folder, "convert -F u64 -T words t.u64").stdout, b"1\n2\n");
    done(folder, "convert -F csv:name -T bin-text --wide t.csv -o t.wide");
    assert_eq!(done(folder, "convert -T lines t.wide").stdout, b"x \"y\"\nz\n");
    fails(folder, "convert -F csv:name -T words t.csv", 3, "key 1: holds white space");
    fails(folder, "convert -F csv:9 -T words t.csv", 3, "t.csv:1:1: record 1 has 2 fields");
    fails(folder, "convert -F csv:z -T words t.csv", 3, "t.csv:1:1: no column \"z\"");
    std::fs::write(folder.join("twice.csv"), "a,a\n1,2\n").unwrap();
    fails(folder, "convert -F csv:a -T words twice.csv", 3, "twice.csv:1:3: the header has \"a\"");
    std::fs::write(folder.join("t.jsonl"), "{\"a\":\"1\"}\n{\"b\":1}\n").unwrap();
    fails(folder, "convert -F jsonl:a t.jsonl", 3, "t.jsonl:2:1: no field \"a\"");
    fails(folder, "convert -F bin-text t.csv", 3, "t.csv: byte 4: a key of");
    fails(folder, "convert -T csv:1 t.wide", 2, "not written");
    fails(folder, "convert -F lines -T words t.u64 -o ./t.u64", 2, "would replace the input t.u64");
    fails(
        folder, "generate keys -n 5 --size sample:t.csv -o ./t.csv", 2, "would replace the input",
    );
    std::fs::write(folder.join("holds.csv"), "\u{feff}k\na\n\"b\nc\"\n").unwrap();
    let holds = "holds.csv:3:2: key 2: holds a line end";
    fails(folder, "convert -F csv:k -T lines holds.csv", 3, holds);
    std::fs::write(folder.join("w"), "7\nx 9\n").unwrap();
    fails(folder, "convert -T u32 w", 3, "w:2:1: key 2: is no whole number of 32 bits");
    fails(folder, "convert -F lines -T u64 w", 3, "w:2:1: key 2: is no whole number of 64 bits");
    let piped = common::piped(folder, ["convert", "-T", "lines"], b"1 2\n3\n");
    assert_eq!(piped.stdout, b"1\n2\n3\n");
    fails(folder, "convert missing", 4, "cannot read missing");
    fails(folder, "convert -F nonsense t.csv", 2, "is no format");
}

#[test]
fn generated_keys_are_what_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = |line: &str| String::from_utf8(done(folder, line).stdout).unwrap();
    let words = text("generate keys -n 1k -k words --duplicates 0.25");
    let mut distinct: Vec<&str> = words.lines().collect();
    assert_eq!(distinct.len(), 1000);
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 750);
    assert_eq!(words, text("generate keys -n 1k -k words --duplicates 0.25 --seed 1"));
    assert_ne!(words, text("generate keys -n 1k -k words --duplicates 0.25 --seed 2"));
    assert_eq!(text("generate keys -n 3 -k sequential --order reversed"), "3\n2\n1\n");
    let urls = text("generate keys -n 10 -k urls --size 50 --order sorted");
    assert!(urls.lines().all(|url| url.starts_with("https://www.") && url.len() == 50));
    assert!(urls.lines().is_sorted());
    std::fs::write(folder.join("sample"), "ab abcd").unwrap();
    let sampled = text("generate keys -n 50 --size sample:sample");
    assert!(sampled.lines().all(|key| key.len() == 2 || key.len() == 4));
    assert_eq!(done(folder, "generate keys -n 5 -F u32").stdout.len(), 20);
    done(folder, "generate pairs-kv -n 9 --value-size 0..3 -o p");
    assert_eq!(text("convert p -T words").lines().count(), 9);
    done(folder, "generate pairs-kv -n 9 -F bin-text-kv -o p.text");
    // They were cut to what there was to cut them from.
    let long = text("generate keys -n 3 -k dna --size 2000");
    assert!(long.lines().count() == 3 && long.lines().all(|key| key.len() == 2000));
    // These ended the program, and numbers overflowed.
    for recipe in ["-k dna", "-k sequential -F u64"] {
        let line = format!("generate keys -n 4611686018427387904 {recipe}");
        fails(folder, &line, 2, "no memory for 4611686018427387904 keys");
    }
    std::fs::write(folder.join("t.csv"), "id,name\n1,Jo\n").unwrap();
    fails(folder, "generate keys -n 5 --size sample:t.csv", 3, "`fathom convert` makes a file");
    fails(folder, "generate keys -n 100 --size 1", 2, "only 62 different keys");
    fails(folder, "generate keys -n 5 --size 9..1", 2, "is no distribution");
    fails(folder, "generate keys -n 5 -k emails --size 0", 2, "at least one byte");
    fails(folder, "generate keys -n 5 -k ipv4 --size 40", 2, "take no sizes");
    fails(folder, "generate keys -n 5 -F u64 -k urls", 2, "random, sequential or clustered");
    fails(folder, "generate pairs-kv -n 5 -F words", 2, "has no values");
    fails(folder, "generate keys -n 5 -F bin-text-kv", 2, "generate pairs-kv makes them");
}

/// They were words, or said to be integers.
#[test]
fn what_is_no_file_of_keys_is_said_to_be_that() {
    let folder = tempfile::tempdir().unwrap();
    for (bytes, said) in [
        (&b"\xfd7zXZ\0abc"[..], "this is compressed by xz, not keys: xz -dc FILE"),
        (b"BZh91AY&SYabc\n", "this is compressed by bzip2, not keys"),
        (b"%PDF-1.4\nabc\n", "this is a PDF document, not keys"),
    ] {
        std::fs::write(folder.path().join("odd"), bytes).unwrap();
        fails(folder.path(), "convert odd -T words", 3, said);
    }
    // Whoever names a format has it.
    done(folder.path(), "convert odd -F words -T lines");
}
