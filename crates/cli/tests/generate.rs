//! `fathom generate measurements` from the outside: bytes, exit codes, what is left behind.

#[path = "common/ends.rs"]
mod ends;
#[path = "common/signals.rs"]
mod signals;

use std::io::Read;
use std::process::{Command, Output, Stdio};

fn fathom(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.args(["generate", "measurements"]).args(arguments);
    command
}

fn run(arguments: &[&str]) -> Output {
    fathom(arguments).output().unwrap()
}

fn stdout(arguments: &[&str]) -> Vec<u8> {
    let output = run(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty());
    output.stdout
}

fn fails(arguments: &[&str], code: i32, message: &str) {
    let output = run(arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(stderr.contains(message), "{stderr}");
    assert!(output.stdout.is_empty());
}

#[test]
fn the_first_rows_of_the_default_file() {
    let text = String::from_utf8(stdout(&["--rows", "5"])).unwrap();
    let expected = "Tirana;13.8\nBrussels;5.2\nPetropavlovsk-Kamchatsky;7.0\nPago Pago;44.1\n\
                    Bergen;16.4\n";
    assert_eq!(text, expected);
}

#[test]
fn a_file_and_stdout_hold_the_same_bytes_for_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.txt");
    let path = path.to_str().unwrap();
    let rows = ["--rows", "100k", "--seed", "7"];
    let all = stdout(&[&rows[..], &["-t", "1"]].concat());
    assert!(stdout(&[&rows[..], &["-t", "3", "-o", path]].concat()).is_empty());
    assert!(std::fs::read(path).unwrap() == all);
    assert!(stdout(&["--rows", "100", "--seed", "7"]) == all[..stdout_length(&all, 100)]);
}

fn stdout_length(text: &[u8], rows: usize) -> usize {
    text.split_inclusive(|&byte| byte == b'\n').take(rows).map(<[u8]>::len).sum()
}

#[test]
fn presets_have_their_numbers_of_names() {
    for (arguments, expected) in [
        (&["--rows", "40k"][..], 413),
        (&["--rows", "40k", "--stations", "7"], 7),
        (&["--rows", "40k", "--stations", "500"], 500),
        (&["--rows", "400k", "-p", "10k"], 10_000),
        (&["--rows", "1M", "-p", "41k"], 41_343),
        (&["--rows", "1M", "-p", "41k", "--stations", "50"], 50),
    ] {
        let text = stdout(arguments);
        let names: std::collections::HashSet<&[u8]> = text
            .split(|&byte| byte == b'\n')
            .filter_map(|line| line.split(|&byte| byte == b';').next())
            .filter(|name| !name.is_empty())
            .collect();
        // Among 413 names each misses 40,000 rows with probability e⁻⁹⁷; of 41,343 a million rows
        // miss one with probability below 10⁻⁵. The seed is fixed anyway.
        assert_eq!(names.len(), expected, "{arguments:?}");
    }
}

#[test]
fn a_list_is_used_and_its_errors_have_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let list = path("list", "\u{feff}# two\nHamburg;9.8\nBulawayo;19\n");
    let text = String::from_utf8(stdout(&["--rows", "50", "--stations", &list])).unwrap();
    assert!(text.lines().all(|l| l.starts_with("Hamburg;") || l.starts_with("Bulawayo;")));
    let one = stdout(&["--rows", "50", "--stations", &list, "--stations", "1"]);
    let mut names = one.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let first = names.next().unwrap()[0];
    assert!(names.all(|line| line[0] == first));
    let over = ["--rows", "5", "--stations", &list, "-o", &list];
    fails(&over, 2, "--output would replace the input");
    let bad = path("bad", "Hamburg;9.8\n;3\n");
    fails(&["--rows", "5", "--stations", &bad], 3, "bad: line 2, column 1 of the station list: no");
    let warm = path("warm", "Hamburg;9.8\nBulawayo;warm\n");
    fails(
        &["--rows", "5", "--stations", &warm],
        3,
        "warm: line 2, column 10 of the station list: ",
    );
    let empty = path("empty", "# none\n");
    fails(&["--rows", "5", "--stations", &empty], 3, "empty: the station list has no station");
    let many = ["--rows", "5", "--stations", &list, "--stations", "3"];
    fails(&many, 2, "2 distinct names, 3 were asked for");
}

#[test]
fn what_makes_no_sense_is_a_usage_error() {
    fails(&[], 2, "--rows");
    fails(&["--rows", "1.0005k"], 2, "not a whole number");
    fails(&["--rows", "5", "--stations", "0"], 2, "at least one station");
    fails(&["--rows", "5", "--stations", "12x"], 2, "no file of that name");
    fails(&["--rows", "5", "-p", "pascal"], 2, "needs its station list");
    fails(&["--rows", "5", "-p", "pascal", "--seed", "3"], 2, "takes no --seed");
    fails(&["--rows", "5", "--stations", "a-missing-list"], 4, "cannot read a-missing-list");
    fails(&["--rows", "5", "-o", "/nowhere/file"], 4, "cannot create /nowhere/file");
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let mut command = fathom(&["--rows", "1G", "-v"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut start = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut start).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn an_interrupt_leaves_nothing_behind_and_what_was_there_as_it_was() {
    for (signal, old) in [("INT", 0), ("TERM", 1), ("HUP", 1)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.txt");
        if old > 0 {
            std::fs::write(&path, "old").unwrap();
        }
        let files = || std::fs::read_dir(folder.path()).unwrap().count();
        let mut child = fathom(&["--rows", "10T", "-o", path.to_str().unwrap()]).spawn().unwrap();
        while files() == old {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        signals::send(signal, child.id());
        assert_eq!(ends::soon(&mut child), Some(130), "{signal}");
        assert_eq!(files(), old, "{signal}");
        assert!(old == 0 || std::fs::read(&path).unwrap() == b"old", "{signal}");
    }
}
