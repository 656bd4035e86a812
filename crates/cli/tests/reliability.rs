//! `docs/reliability.md`: what happens to files and data that do not behave, as a user sees it; and that
//! every test which the page names is there.

#[path = "common/ends.rs"]
mod ends;
#[path = "common/signals.rs"]
mod signals;

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn fathom(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn ran(folder: &Path, arguments: &[&str]) -> Output {
    fathom(folder, arguments).output().unwrap()
}

fn said(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// Waits until `child` has `path` open.
fn wait_until_open(child: &Child, path: &Path) {
    let folder = format!("/proc/{}/fd", child.id());
    let start = Instant::now();
    loop {
        let links = fs::read_dir(&folder).into_iter().flatten().flatten();
        if links.filter_map(|link| fs::read_link(link.path()).ok()).any(|open| open == path) {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{} is not opened", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Aggregates `rows`, by an `--input`, and standard input, which stalls while `change` is done to the file.
fn aggregated_while(rows: &str, input: &str, change: impl Fn(&Path)) -> (i32, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("rows");
    fs::write(&file, rows).unwrap();
    let chunks = ["--input", input, "--chunk", "0.001"];
    let arguments = [&["aggregate", "-t", "1"], &chunks[..], &["rows", "-"]].concat();
    let mut command = fathom(folder.path(), &arguments);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"pipe;1.0\n").unwrap();
    wait_until_open(&child, &file);
    change(&file);
    stdin.write_all(b"pipe;3.0\n").unwrap();
    drop(stdin);
    said(&child.wait_with_output().unwrap())
}

#[test]
fn a_file_that_is_replaced_or_grows_counts_as_it_was_opened() {
    let expected = "{a=1.5/1.5/1.5, pipe=1.0/2.0/3.0}\n";
    for (rows, input) in [("a;1.5\n".to_owned(), "auto"), ("a;1.5\n".repeat(10_000), "map")] {
        let replaced = aggregated_while(&rows, input, |file| {
            let other = file.with_extension("new");
            fs::write(&other, "b;9.0\n").unwrap();
            fs::rename(&other, file).unwrap();
        });
        assert_eq!((replaced.0, replaced.1.as_str()), (0, expected), "{}", replaced.2);
        let grown = aggregated_while(&rows, input, |file| {
            let mut file = OpenOptions::new().append(true).open(file).unwrap();
            file.write_all(b"b;9.0\n").unwrap();
        });
        assert_eq!((grown.0, grown.1.as_str()), (0, expected), "{}", grown.2);
    }
}

#[test]
fn a_pipe_that_stalls_is_waited_for() {
    let stall = |_: &Path| std::thread::sleep(Duration::from_millis(400));
    let stalled = aggregated_while("a;1.5\n", "auto", stall);
    assert_eq!(stalled.1, "{a=1.5/1.5/1.5, pipe=1.0/2.0/3.0}\n", "{}", stalled.2);
}

/// Rows of as many keys, after which standard input stays open, spilled to the folder `disk`.
fn spilling(folder: &Path, keys: u32) -> Child {
    fs::create_dir(folder.join("disk")).unwrap();
    let arguments = ["aggregate", "--memory-limit", "2M", "--spill", "disk", "-o", "result", "-"];
    let mut child = fathom(folder, &arguments).stdin(Stdio::piped()).spawn().unwrap();
    let rows: String = (0..keys).map(|key| format!("{key};1.5\n")).collect();
    child.stdin.as_mut().unwrap().write_all(rows.as_bytes()).unwrap();
    child
}

/// Bytes that a process has written to files of the folder that have no name.
fn unnamed_bytes(child: &Child, folder: &Path) -> u64 {
    let links = fs::read_dir(format!("/proc/{}/fd", child.id())).into_iter().flatten().flatten();
    let paths = links.map(|link| link.path());
    let is_there =
        |path: &PathBuf| fs::read_link(path).is_ok_and(|to| to.starts_with(folder) && !to.exists());
    paths.filter(is_there).filter_map(|path| fs::metadata(path).ok()).map(|data| data.len()).sum()
}

#[test]
fn who_is_interrupted_or_killed_while_tables_are_spilled_leaves_nothing() {
    for signal in ["INT", "TERM", "KILL"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let mut child = spilling(&path, 400_000);
        let start = Instant::now();
        while unnamed_bytes(&child, &path.join("disk")) < 100_000 {
            assert!(start.elapsed() < Duration::from_secs(60), "nothing is spilled");
            std::thread::sleep(Duration::from_millis(5));
        }
        let start = Instant::now();
        signals::send(signal, child.id());
        child.wait().unwrap();
        assert!(start.elapsed() < Duration::from_secs(1), "{signal}");
        let names: Vec<_> = fs::read_dir(&path).unwrap().flatten().map(|e| e.file_name()).collect();
        assert_eq!(names, ["disk"], "{signal}");
        assert_eq!(fs::read_dir(path.join("disk")).unwrap().count(), 0, "{signal}");
    }
}

#[test]
fn a_disk_without_room_for_what_is_spilled_is_an_error_with_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let rows: String = (0..200_000).map(|key| format!("{key};1.5\n")).collect();
    fs::write(path.join("rows"), rows).unwrap();
    // A limit on files is what a test can set: so many units of 512 or 1024 bytes.
    let script = "trap '' XFSZ; ulimit -f 100; exec \"$0\" aggregate --memory-limit 2M --spill . -o result rows";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_fathom")]);
    let output = shell.current_dir(path).output().unwrap();
    let (code, stdout, stderr) = said(&output);
    assert_eq!((code, stdout.as_str()), (4, ""), "{stderr}");
    assert!(stderr.starts_with("fathom: cannot spill to .: File too large"), "{stderr}");
    assert_eq!(fs::read_dir(path).unwrap().count(), 1, "only the rows are there");
}

#[test]
fn a_hole_in_a_file_is_a_bad_record_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = fs::File::create(folder.path().join("rows")).unwrap();
    file.write_all(b"a;1.5\n").unwrap();
    file.set_len(3 << 20).unwrap();
    let (code, stdout, stderr) = said(&ran(folder.path(), &["aggregate", "rows"]));
    assert_eq!((code, stdout.as_str()), (3, ""), "{stderr}");
    assert!(stderr.contains("rows:2:1: there is no delimiter"), "{stderr}");
    assert!(!stderr.contains("UTF-16"), "{stderr}");
}

#[test]
fn a_file_that_may_not_grow_is_an_error_with_its_name_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let commands = [
        "generate measurements --rows 10k -o out", "generate pairs --count 1000 -o out",
        "generate keys -n 1000 -o out",
    ];
    for arguments in commands {
        let script = format!("ulimit -f 1; exec {} {arguments}", env!("CARGO_BIN_EXE_fathom"));
        let output = Command::new("sh").current_dir(path).args(["-c", &script]).output().unwrap();
        let (code, _, stderr) = said(&output);
        assert_eq!(code, 4, "{arguments}: {stderr}");
        assert!(stderr.contains("cannot write out: File too large"), "{arguments}: {stderr}");
        assert_eq!(fs::read_dir(path).unwrap().count(), 0, "{arguments}");
    }
}

#[test]
fn what_is_open_already_is_written_to_where_it_is_and_nothing_in_it_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("rows"), "a;1.5\nbad\n").unwrap();
    let run = |script: &str| {
        let program = env!("CARGO_BIN_EXE_fathom");
        let script = script.replace("fathom", &format!("{program} aggregate --on-error skip rows"));
        let mut command = Command::new("sh");
        let (code, ..) = said(&command.current_dir(path).args(["-c", &script]).output().unwrap());
        (code, fs::read_to_string(path.join("log")).unwrap())
    };
    let (result, around) = ("{a=1.5/1.5/1.5}\n", "before\n{a=1.5/1.5/1.5}\nafter\n");
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let script = format!("(echo before; fathom -o {name}; echo after) > log");
        assert_eq!(run(&script), (0, around.to_owned()), "{name}");
        let script = format!("echo before > log; fathom -o {name} >> log; echo after >> log");
        assert_eq!(run(&script), (0, around.to_owned()), "{name}");
        let script = format!("fathom --rejects {name} > log");
        assert_eq!(run(&script), (2, String::new()), "one would be written over the other");
    }
    assert_eq!(run("fathom -o /dev/fd/3 3> log"), (1, result.to_owned()));
    assert_eq!(run("fathom --rejects log > log"), (2, String::new()));
    assert_eq!(run("fathom --rejects log -o /dev/stderr 2> log").0, 2);
    let (code, text) = run("echo before > log; fathom --rejects /dev/stderr 2>> log");
    assert!(code == 1 && text.starts_with("before\nbad\n"), "{code} {text}");
}

#[test]
fn who_is_told_its_parent_ends_with_it_however_that_ends() {
    let folder = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_fathom");
    let script = format!("mkfifo pipe; FATHOM_PARENT=$$ {program} aggregate pipe & echo $!; wait");
    let mut command = Command::new("sh");
    command.current_dir(folder.path()).args(["-c", &script]).stdout(Stdio::piped());
    let mut parent = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(parent.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let process = PathBuf::from(format!("/proc/{}", line.trim()));
    let is = |what: &dyn Fn(Option<char>, PathBuf) -> bool| {
        let state = fs::read_to_string(process.join("stat")).ok();
        let state = state.and_then(|text| text.rsplit_once(") ")?.1.chars().next());
        what(state, fs::read_link(process.join("exe")).unwrap_or_default())
    };
    let wait = |what: &dyn Fn(Option<char>, PathBuf) -> bool| {
        let start = Instant::now();
        while !is(what) {
            assert!(start.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    // It waits for a writer.
    wait(&|state, exe| state == Some('S') && exe.ends_with("fathom"));
    parent.kill().unwrap();
    parent.wait().unwrap();
    wait(&|state, _| matches!(state, None | Some('Z')));
}

/// Keys come from a pipe into which nobody writes.
#[test]
#[cfg_attr(not(feature = "kv"), ignore = "this build has no kv")]
fn who_is_interrupted_while_keys_are_read_ends_soon() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().canonicalize().unwrap().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let _writer = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    for arguments in [&["kv", "pipe", "-F", "lines"][..], &["kv", "bench", "pipe", "-F", "lines"]] {
        let mut child = fathom(folder.path(), arguments).spawn().unwrap();
        wait_until_open(&child, &pipe);
        signals::send("INT", child.id());
        assert_eq!(ends::soon(&mut child), Some(130), "{arguments:?}");
    }
}

#[test]
fn a_full_disk_is_an_error_at_every_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("rows"), "a;1.5\nbad\n").unwrap();
    fs::write(path.join("keys"), "one two three\n").unwrap();
    assert!(ran(path, &["generate", "pairs", "--count", "100", "-o", "pairs"]).status.success());
    let saved = ["run", "-N", "--rounds", "3", "--save", "run.json", "true", "true"];
    assert!(ran(path, &saved).status.code().is_some_and(|code| code < 2));
    let skip = ["aggregate", "--on-error", "skip", "rows"];
    fs::write(path.join("good"), "a;1.5\n").unwrap();
    assert!(ran(path, &["aggregate", "--partial", "-o", "state", "good"]).status.success());
    let commands: [Vec<&str>; 14] = [
        [&skip[..], &["-o", "/dev/full"]].concat(),
        [&skip[..], &["--rejects", "/dev/full"]].concat(),
        vec!["generate", "measurements", "--rows", "10k", "-o", "/dev/full"],
        vec!["generate", "pairs", "--count", "1000", "-o", "/dev/full"],
        vec!["generate", "keys", "-n", "1000", "-o", "/dev/full"],
        vec!["report", "run.json", "-o", "/dev/full"],
        vec!["report", "run.json", "--format", "html", "-o", "/dev/full"],
        vec!["run", "-N", "--rounds", "3", "-o", "/dev/full", "true", "true"],
        vec!["run", "-N", "--rounds", "3", "--save", "/dev/full", "true", "true"],
        vec!["run", "-N", "--rounds", "3", "--report", "/dev/full", "true", "true"],
        vec!["run", "-N", "--rounds", "3", "--export-json", "/dev/full", "true", "true"],
        vec!["aggregate", "--partial", "-o", "/dev/full", "good"],
        vec!["merge", "state", "-o", "/dev/full"],
        vec!["convert", "keys", "-o", "/dev/full"],
    ];
    for arguments in commands {
        let (code, _, stderr) = said(&ran(path, &arguments));
        assert_eq!(code, 4, "{arguments:?}: {stderr}");
        let said = "cannot write /dev/full: No space left on device";
        assert!(stderr.contains(said), "{arguments:?}: {stderr}");
    }
    let printing = [
        &["machine"][..],
        &["machine", "--counters"],
        &["list"],
        &["list", "haversine"],
        &["man"],
        &["completions", "bash"],
        &["haversine", "pairs"],
        &["bench", "haversine", "pairs", "--test"],
        &["report", "run.json"],
        &["plan", "good"],
        &["convert", "--verbose", "keys", "-o", "copy"],
        &skip[..],
    ];
    for arguments in printing {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let (code, _, stderr) = said(&fathom(path, arguments).stdout(full).output().unwrap());
        assert_eq!(code, 4, "{arguments:?}: {stderr}");
        let said = "cannot write stdout: No space left on device";
        assert!(stderr.contains(said), "{arguments:?}: {stderr}");
    }
}

#[test]
fn without_a_temporary_folder_what_needs_none_works_and_the_rest_says_so() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rows"), "a;1.5\n").unwrap();
    let without = |arguments: &[&str]| {
        let mut command = fathom(folder.path(), arguments);
        said(&command.env("TMPDIR", "/no/such/folder").output().unwrap())
    };
    assert_eq!(without(&["aggregate", "rows"]).1, "{a=1.5/1.5/1.5}\n");
    assert_eq!(without(&["aggregate", "rows", "-o", "out"]).0, 0);
    let (code, _, stderr) = without(&["aggregate", "rows", "--open"]);
    let none =
        "fathom: no temporary file in /no/such/folder: No such file or directory (os error 2)\n";
    assert_eq!((code, &*stderr), (4, none));
    assert_eq!(without(&["run", "-N", "true", "true"]), (4, String::new(), none.to_owned()));
    let (code, stdout, stderr) = without(&["bench", "read", "--test"]);
    assert!((1..=4).contains(&code), "{code}");
    assert!((stdout + &stderr).contains("/no/such/folder"), "{stderr}");
    // Their workers panicked.
    let (_, stdout, stderr) = without(&["bench", "sql", "--test"]);
    let said = stdout + &stderr;
    assert!(said.contains("no temporary folder in /no/such/folder: "), "{said}");
    assert!(!said.contains("panic"), "{said}");
}

/// `fathom diff … | head -1` let through what `fathom diff …` refuses.
#[test]
fn a_reader_that_goes_away_changes_no_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rows"), "a;1.5\nno record\n").unwrap();
    fs::write(folder.path().join("pairs"), r#"{"pairs":[7,{"x0":0,"y0":0,"x1":90,"y1":0}]}"#)
        .unwrap();
    let skip = ["aggregate", "--on-error", "skip", "rows", "--format"];
    for (arguments, expected) in [
        (&[&skip[..], &["csv"]].concat()[..], 1),
        (&[&skip[..], &["table"]].concat(), 1),
        (&["aggregate", "rows"], 3),
        (&[&skip[..4], &["--partial", "--rejects", "kept"]].concat(), 1),
        (&["haversine", "--on-error", "skip", "pairs"], 1),
        (&["run", "-N", "--runs", "2", "true", "false"], 1),
        (&["run", "-N", "--runs", "2", "true"], 0),
        (&["list"], 0),
    ] {
        let mut command = fathom(folder.path(), arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(expected), "{arguments:?}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("kept")).unwrap(), "no record\n");
}

#[test]
fn no_locale_changes_a_byte_of_a_result() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rows"), "ı;1.5\nI;2.5\nä;-0.5\nz;1000000.5\n").unwrap();
    let arguments = ["aggregate", "--format", "csv", "--stats", "mean,sum,count", "rows"];
    let expected = said(&ran(folder.path(), &arguments));
    assert_eq!(expected.0, 0, "{}", expected.2);
    for locale in ["C", "POSIX", "de_DE.UTF-8", "tr_TR.UTF-8", "ja_JP.eucJP", "no such locale"] {
        let mut command = fathom(folder.path(), &arguments);
        command.env("LC_ALL", locale).env("LANG", locale).env("LC_NUMERIC", locale);
        assert_eq!(said(&command.output().unwrap()), expected, "{locale}");
    }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { sources(&path, found) } else { found.push(path) }
    }
}

/// The rows of the tables that name tests: the text of the last column.
fn test_cells(page: &str) -> Vec<String> {
    let mut cells = Vec::new();
    let mut is_table = false;
    for line in page.lines() {
        let is_head = line.ends_with("| test |");
        is_table = is_head || is_table && line.starts_with('|');
        if is_table && !is_head && !line.starts_with("|--") {
            cells.push(line.trim_end_matches(" |").rsplit(" | ").next().unwrap().to_owned());
        }
    }
    cells
}

/// `crate: file: `name`, `name`; …`, where a name may end with … .
#[test]
fn every_test_that_the_page_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/reliability.md")).unwrap();
    let mut checked = 0;
    for cell in test_cells(&page) {
        for tests in cell.split("; ") {
            let parts: Vec<&str> = tests.split(": ").collect();
            let [folder, file, names] = parts[..] else { panic!("not crate: file: test: {cell}") };
            let mut files = Vec::new();
            sources(&root.join("crates").join(folder), &mut files);
            files.retain(|path| {
                let path = path.to_string_lossy();
                path.ends_with(&format!("/{file}.rs")) || path.contains(&format!("/{file}/"))
            });
            for name in names.split(", ").map(|name| name.trim_matches('`')) {
                let wanted = match name.strip_suffix('…') {
                    Some(start) => format!("fn {start}"),
                    None => format!("fn {name}()"),
                };
                let has = |path: &PathBuf| fs::read_to_string(path).unwrap().contains(&wanted);
                assert!(files.iter().any(has), "no test {name} in {file} of {folder}");
                checked += 1;
            }
        }
    }
    assert!(checked >= 90, "{checked} tests are named");
}
