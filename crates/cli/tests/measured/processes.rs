//! Who is left when somebody is killed: signals, hostile and dying processes, scarce resources. Every
//! program here runs with a temporary folder of its own, by which its processes and files are found.

use std::cell::RefCell;
use std::fs;
use std::io::Write;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::signals;
use crate::told::{says, told, words};

/// Far above what anything here takes, far below what the sleepers sleep.
const PATIENCE: Duration = Duration::from_secs(60);

fn fathom(arguments: &[&str], temporary: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.args(arguments).env("TMPDIR", temporary);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// `fathom` under a limit of the shell's.
fn limited(limit: &str, arguments: &[&str], temporary: &Path) -> Output {
    let mut command = Command::new("sh");
    let line = format!("ulimit {limit} && exec \"$@\"");
    command.args(["-c", &line, "sh", env!("CARGO_BIN_EXE_fathom")]).args(arguments);
    command.env("TMPDIR", temporary).output().unwrap()
}

/// The processes with this temporary folder that run `program` (all for an empty one): how the
/// command line begins or, for our workers, what it is.
fn running(temporary: &Path, program: &str) -> Vec<u32> {
    let variable = format!("TMPDIR={}", temporary.display());
    let worker = concat!(env!("CARGO_BIN_EXE_fathom"), " worker");
    let program = if program == "worker" { worker } else { program };
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(id) = entry.file_name().to_string_lossy().parse() else { continue };
        let read = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
        let is_ours = read("environ").split(|byte| *byte == 0).any(|v| v == variable.as_bytes());
        let line = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
        if is_ours && line.starts_with(program) {
            found.push(id);
        }
    }
    found
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Starts `fathom`, waits for a process of it that runs `program`, and returns that.
fn started(arguments: &[&str], program: &str) -> (TempDir, Child, u32) {
    let folder = tempfile::tempdir().unwrap();
    let child = fathom(arguments, folder.path()).spawn().unwrap();
    let first = || running(folder.path(), program).first().copied();
    let begin = Instant::now();
    let id = loop {
        if let Some(id) = first() {
            break id;
        }
        assert!(begin.elapsed() < PATIENCE, "{arguments:?} starts");
    };
    (folder, child, id)
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

/// Long measurements, and a program of each whose process says that it has begun.
const LONG: &[(&[&str], &str)] = &[
    (&["run", "-N", "sleep 7001", "sleep 7002"], "sleep 7001"),
    (&["run", "true; sleep 7001 & setsid sleep 7002 & sleep 7003", "true"], "sleep 7003"),
    (&["run", "--prepare", "setsid sleep 7001 &", "sleep 7002", "true"], "sleep 7002"),
    (&["run", "--prepare", "sleep 7001", "true", "true"], "sleep 7001"),
    (&["run", "--same-output", "setsid sleep 7001 & sleep 7002", "true"], "sleep 7002"),
    (&["bench", "read", "--budget", "600s"], "worker"),
    (&["bench", "aggregate", "--budget", "600s"], "worker"),
    (&["cpu", "--only", "crc32c", "--budget", "600s"], "worker"),
    (&["selftest"], "worker"),
    (&["machine", "--noise", "600"], "worker"),
];

/// Each command gets the first, and the others by turns.
const SIGNALS: [&[&str]; 4] = [&["INT"], &["TERM"], &["HUP"], &["INT", "INT"]];

/// Signals that are less apart are one: see `interrupt`.
const APART: Duration = Duration::from_millis(70);

#[test]
fn an_interrupt_ends_everything_soon_and_leaves_no_process_and_no_file() {
    for (number, (arguments, program)) in LONG.iter().enumerate() {
        for names in [SIGNALS[0], SIGNALS[1 + number % 3]] {
            let (folder, child, _) = started(arguments, program);
            let begin = Instant::now();
            signals::send(names[0], child.id());
            for name in &names[1..] {
                std::thread::sleep(APART);
                signals::send(name, child.id());
            }
            let output = child.wait_with_output().unwrap();
            // A second, on a machine that is not overloaded.
            assert!(begin.elapsed() < Duration::from_secs(15), "{arguments:?} {names:?}");
            let code = output.status.code();
            assert_eq!(code, Some(130), "{arguments:?} {names:?} {}", words(&output));
            if names.len() > 1 {
                // Nobody waited for them.
                until("all end", || running(folder.path(), "").is_empty());
            }
            assert_eq!(running(folder.path(), ""), [0; 0], "{arguments:?} {names:?}");
            assert!(is_empty(folder.path()), "{arguments:?} {names:?}");
        }
    }
}

/// The signal ended the wait for the warden, which was killed before it had ended all below it.
#[test]
fn a_second_interrupt_while_sessions_in_sessions_are_ended_leaves_none_of_them() {
    let chain = tempfile::tempdir().unwrap();
    let script = chain.path().join("chain.sh");
    // Each session can be ended when the one above it has been.
    let line =
        "if [ $2 = 0 ]; then exec sleep 7004; fi; setsid sh \"$1\" \"$1\" $(($2 - 1)) & wait";
    fs::write(&script, line).unwrap();
    let path = script.to_str().unwrap();
    let command = format!("sh {path} {path} 400");
    let (folder, child, _) = started(&["run", "-N", &command, "true"], "sleep 7004");
    let below = || running(folder.path(), "").len();
    let all = below();
    signals::send("INT", child.id());
    until("the first is being heard", || below() < all);
    // Each ends a wait early; those that are far enough behind the first count as the second.
    for _ in 0..30 {
        std::thread::sleep(APART / 20);
        signals::send("INT", child.id());
    }
    let said = told(130, &child.wait_with_output().unwrap());
    until(&said, || running(folder.path(), "").is_empty());
}

/// Its time counted from its start, so that one that had run for longer was ended at once.
#[test]
fn a_clean_up_that_runs_when_all_is_ended_has_its_time_from_then_on() {
    let done = tempfile::tempdir().unwrap();
    let path = done.path().display();
    let line = format!("sleep 0.6; touch {path}/long; sleep 0.1; touch {path}/end");
    let (folder, child, _) = started(&["run", "--conclude", &line, "true"], "sleep 0.6");
    until("it has run for long", || done.path().join("long").exists());
    signals::send("INT", child.id());
    let said = told(130, &child.wait_with_output().unwrap());
    assert!(done.path().join("end").exists() && is_empty(folder.path()), "{said}");
}

#[test]
fn a_killed_conductor_leaves_no_process_and_no_file() {
    for (arguments, program) in LONG {
        let (folder, mut child, _) = started(arguments, program);
        signals::send("KILL", child.id());
        child.wait().unwrap();
        until("all end", || running(folder.path(), "").is_empty());
        assert!(is_empty(folder.path()), "{arguments:?}");
    }
}

#[test]
fn a_killed_worker_costs_its_row_and_leaves_no_file() {
    let line = "bench read --only read,pread --budget 100ms -p size=1M -p buffer=256K";
    let arguments: Vec<&str> = line.split(' ').collect();
    // One that has done its work, and was about to end, costs nothing: then once more.
    let is_noticed = (0..5).any(|_| {
        let (folder, child, _) = started(&arguments, "worker");
        // The reference's is alone and ends soon by itself; those that are measured stay together.
        until("a worker of several is killed", || match running(folder.path(), "worker")[..] {
            [.., _, last] => signals::has_sent("KILL", last),
            _ => false,
        });
        let output = child.wait_with_output().unwrap();
        assert!(matches!(output.status.code(), Some(0..=4)), "{}", words(&output));
        assert_eq!(running(folder.path(), ""), [0; 0]);
        assert!(is_empty(folder.path()));
        output.status.code() != Some(0) && words(&output).contains("signal 9")
    });
    assert!(is_noticed, "no row says that its worker was killed");
}

#[test]
fn a_killed_warden_costs_its_row_and_takes_its_command_along() {
    let arguments = ["run", "-N", "sleep 7001", "true", "true", "--budget", "100ms"];
    let (folder, child, _) = started(&arguments, "sleep 7001");
    let wardens = running(folder.path(), "/proc/self/fd/");
    assert_eq!(wardens.len(), 1, "the warden's command line");
    signals::send("KILL", wardens[0]);
    says(1, &child.wait_with_output().unwrap(), "warden was lost");
    until("the command ends", || running(folder.path(), "").is_empty());
}

#[test]
#[cfg_attr(not(feature = "kv"), ignore = "this build has no kv")]
fn the_folder_of_a_killed_instance_is_removed_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys.txt");
    let text: String = (0..20_000).map(|n| format!("key{n}\n")).collect();
    fs::write(&keys, text).unwrap();
    let temporary = folder.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let arguments = ["kv", keys.to_str().unwrap(), "--budget", "60s"];
    let mut child = fathom(&arguments, &temporary).spawn().unwrap();
    until("it makes its samples", || !is_empty(&temporary));
    until("it starts workers", || !running(&temporary, "worker").is_empty());
    signals::send("KILL", child.id());
    child.wait().unwrap();
    until("all end", || running(&temporary, "").is_empty());
    let arguments = ["bench", "checksum", "--only", "plain,crc32c", "--test"];
    let output = fathom(&arguments, &temporary).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    assert!(is_empty(&temporary));
}

#[test]
fn two_instances_at_once_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["bench", "read", "--test"];
    let children = [0; 2].map(|_| fathom(&arguments, folder.path()).spawn().unwrap());
    for child in children {
        told(0, &child.wait_with_output().unwrap());
    }
    assert!(is_empty(folder.path()));
}

#[test]
fn the_peak_memory_of_a_command_is_its_own() {
    let big = "dd if=/dev/zero of=/dev/null bs=64M count=1";
    let arguments = ["run", "-N", "true", big, "--budget", "50ms", "--format", "json"];
    let output = fathom(&arguments, tempfile::tempdir().unwrap().path()).output().unwrap();
    let run: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let peak = |row: usize| run["cases"][0]["contenders"][row]["peak_bytes"].as_u64().unwrap();
    fathom_machine::needs!("right to run a file in memory", peak(0) > 0);
    assert!((200 << 10..3 << 20).contains(&peak(0)), "{} of true", peak(0));
    assert!((64 << 20..68 << 20).contains(&peak(1)), "{} of 64 MiB", peak(1));
}

#[test]
#[ignore = "needs valgrind: cargo test -- --ignored valgrind"]
fn valgrind_runs_what_is_measured_without_a_shell_too() {
    let folder = tempfile::tempdir().unwrap();
    // A shell would make two words of it and fail.
    let marked = folder.path().join("a b;c");
    fs::write(&marked, "").unwrap();
    let line = format!("cat '{}'", marked.display());
    let arguments = ["run", "-N", &line, "true", "--budget", "10ms", "--counters", "simulated"];
    let with = |more: &[&str]| {
        let arguments = [&arguments[..], more].concat();
        fathom(&arguments, folder.path()).output().unwrap()
    };
    let output = with(&["--format", "json"]);
    let run: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", words(&output)));
    let counters = |row: usize| run["cases"][0]["contenders"][row]["counters"].clone();
    let count = |row: usize| {
        counters(row)[0]["per_iteration"].as_f64().unwrap_or_else(|| panic!("{}", words(&output)))
    };
    // Starting a shell takes more instructions than `true` does.
    let mut shell = Command::new("valgrind");
    shell.args(["--tool=none", "sh", "-c", "true"]);
    assert!(count(0) > 0.0 && count(1) > 0.0);
    assert!(shell.output().unwrap().status.success());
}

#[test]
fn what_cannot_be_said_costs_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let [input, out] = ["in.txt", "out.txt"].map(|name| folder.path().join(name));
    fs::write(&input, "a;1.0\n").unwrap();
    let [input, out] = [&input, &out].map(|path| path.to_str().unwrap());
    let full = || Stdio::from(fs::File::options().write(true).open("/dev/full").unwrap());
    // A pipe that nobody reads.
    let closed = || Stdio::from(std::io::pipe().unwrap().1);
    for stderr in [&full as &dyn Fn() -> Stdio, &closed] {
        let code = |arguments: &[&str]| {
            fathom(arguments, folder.path()).stderr(stderr()).status().unwrap().code()
        };
        assert_eq!(code(&["aggregate", "nofile"]), Some(4));
        assert_eq!(code(&["aggregate", "--no-such-option"]), Some(2));
        assert_eq!(code(&["aggregate", "-v", "-o", out, input]), Some(0));
        assert_eq!(fs::read_to_string(out).unwrap(), "{a=1.0/1.0/1.0}\n");
        fs::remove_file(out).unwrap();
    }
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["--help"][..], &["--version"], &["help", "run"], &["run", "--help"]] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let said = told(4, &fathom(arguments, folder.path()).stdout(full).output().unwrap());
        assert!(said.contains("fathom: cannot write stdout: "), "{said}");
        // A reader that has seen enough is none.
        let unread = std::io::pipe().unwrap().1;
        let status = fathom(arguments, folder.path()).stdout(unread).status().unwrap();
        assert_eq!(status.code(), Some(0));
    }
}

/// It was lost with the minutes that it took.
#[test]
fn what_cannot_be_saved_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("keys"), "a\nb\nc\n").unwrap();
    fs::write(folder.path().join("pairs"), r#"{"pairs":[{"x0":1,"y0":2,"x1":3,"y1":4}]}"#).unwrap();
    let commands = [
        ("cpu --only crc32c --save", "fastest here"),
        ("kv keys --brief --save", "find-mixed"),
        ("kv bench keys --structure hashbrown --blocks --operation find-hit --save", "hashbrown"),
        ("haversine pairs --stages --save", "ns/pair"),
        ("bench hash --only fnv1a --operation keys -p count=10 -p keys=words --save", "spread"),
        ("run true --save", "true"),
        ("run true --export-json", "true"),
    ];
    for (command, shown) in commands {
        let arguments: Vec<&str> = command.split(' ').collect();
        let arguments = [&arguments[..], &["/dev/full", "--budget", "10ms"]].concat();
        let mut command_line = fathom(&arguments, folder.path());
        let output = command_line.current_dir(&folder).output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{command}: {}", words(&output));
        assert!(words(&output).contains("cannot write /dev/full"), "{}", words(&output));
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(shown), "{command}: {text}");
    }
}

#[test]
#[cfg_attr(not(feature = "kv"), ignore = "this build has no kv")]
fn files_larger_than_memory_are_refused_and_do_not_abort() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sparse");
    fs::File::create(&path).unwrap().set_len(1 << 43).unwrap();
    let file = path.to_str().unwrap();
    let commands =
        [&["convert", file, "-F", "u64"][..], &["kv", file, "-F", "u64"], &["kv", "--trace", file]];
    for arguments in commands {
        // Where the kernel promises any amount, the limit still refuses it.
        says(4, &limited("-v 8000000", arguments, folder.path()), "do not fit in memory");
    }
    // The bytes fit, the places of the keys do not.
    let path = folder.path().join("short");
    fs::write(&path, "a\n".repeat(40_000_000)).unwrap();
    let arguments = ["convert", path.to_str().unwrap(), "-F", "lines", "-o", "/dev/null"];
    says(3, &limited("-v 600000", &arguments, folder.path()), "no memory for the places of");
    // Nor do those of operations.
    fs::write(&path, "put a\n".repeat(40_000_000)).unwrap();
    let arguments = ["kv", "--trace", path.to_str().unwrap()];
    says(3, &limited("-v 600000", &arguments, folder.path()), "operations do not fit in memory");
    // Nor do tables of keys, which was a panic; its words wanted memory, too, and were waited for.
    let records: String = (0..800_000).map(|key| format!("key{key};1.5\n")).collect();
    fs::write(&path, records).unwrap();
    let arguments = ["aggregate", "--threads", "1", path.to_str().unwrap()];
    says(4, &limited("-v 100000", &arguments, folder.path()), "fathom: no memory for a table of");
}

/// Each took mappings before it had anything to do, of which a process may have 65,530.
#[test]
fn threads_and_columns_without_work_take_no_mappings() {
    let folder = tempfile::tempdir().unwrap();
    let run = |options: &str, text: &str| {
        let arguments: Vec<&str> = options.split(' ').collect();
        let mut command = fathom(&arguments, folder.path());
        let mut child = command.current_dir(&folder).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    fs::write(folder.path().join("small"), "a;1.5\nb;2.5\n").unwrap();
    let [many, one] = ["65535", "1"].map(|n| run(&format!("aggregate --threads {n} small"), ""));
    assert_eq!(many, one);
    let names: String = (2..=1030).map(|at| format!(",c{at}")).collect();
    let text = format!("k{names}\na{}\n", ",1".repeat(1029));
    let options = "--header --delimiter , --by 1 --value 2-1030 --stats count";
    let shown = run(&format!("aggregate --threads 64 {options}"), &text);
    assert_eq!(shown.lines().last().unwrap(), format!("a{}", ",1".repeat(1029)));
}

#[test]
fn few_descriptors_cost_rows_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let bench = ["bench", "checksum", "--only", "plain,crc32c"];
    let commands = [
        [&bench[..], &["--test"]].concat(),
        [&bench[..], &["--operation", "crc32c", "-p", "size=1K", "--budget", "10ms"]].concat(),
        vec!["run", "-N", "true", "true", "--budget", "10ms"],
    ];
    for limit in [4, 6, 8, 12, 20] {
        for arguments in &commands {
            let output = limited(&format!("-n {limit}"), arguments, folder.path());
            // Nothing was asked for wrongly; but with native contenders the loader itself may have none for a library.
            let is_loaded = !words(&output).contains("error while loading shared libraries");
            let has_ended_well = matches!(output.status.code(), Some(0 | 1 | 4)) || !is_loaded;
            assert!(has_ended_well, "{limit}: {}", words(&output));
            assert!(!words(&output).contains("panicked"), "{limit}: {}", words(&output));
        }
    }
}

/// A measurement with a failing command whose last words are hostile.
fn hostile_words(format: &str) -> String {
    let failing = r"printf '\033[2J\033]0;x\007<script>alert(1)</script>|x\n' >&2; exit 3";
    let arguments = ["run", "true", failing, "--budget", "10ms", "--format", format];
    let output = fathom(&arguments, tempfile::tempdir().unwrap().path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_a_command_complains_is_no_command_to_a_terminal_and_no_markup() {
    for format in ["text", "markdown", "html"] {
        let shown = hostile_words(format);
        assert!(!shown.contains(['\x1b', '\x07']), "{format}: {shown}");
        assert!(shown.contains("exit code 3"), "{format}: {shown}");
        assert!(format == "text" || !shown.contains("<script>alert"), "{format}: {shown}");
    }
}

/// Every way to spoil one value of a saved run.
fn spoilt(value: &serde_json::Value) -> Vec<serde_json::Value> {
    use serde_json::{Value, json};
    let mut all = vec![json!(null), json!(-1), json!("\u{1b}[2J</pre><script>")];
    match value {
        Value::Number(_) => {
            all.extend([json!(0), json!(4_294_967_294_u32), json!(u64::MAX), json!(1e300)]);
        }
        Value::Array(items) => {
            all.push(json!([]));
            for at in 0..items.len().min(3) {
                let mut fewer = items.clone();
                fewer.remove(at);
                all.push(Value::Array(fewer));
            }
            all.push(Value::Array([&items[..], &items[..]].concat()));
        }
        Value::Object(members) => {
            for name in members.keys() {
                let mut fewer = members.clone();
                fewer.remove(name);
                all.push(Value::Object(fewer));
            }
        }
        _ => {}
    }
    all
}

/// The places of a value: of each list only the first three.
fn places(value: &serde_json::Value, at: &str, found: &mut Vec<String>) {
    use serde_json::Value;
    found.push(at.to_owned());
    match value {
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate().take(3) {
                places(item, &format!("{at}/{number}"), found);
            }
        }
        Value::Object(members) => {
            for (name, member) in members.iter().filter(|(name, _)| *name != "machine") {
                places(member, &format!("{at}/{name}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn a_spoilt_saved_run_is_refused_or_shown_and_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["bench", "checksum", "--only", "plain,crc32c,crc-fast", "--rounds", "8"];
    let run =
        [&arguments[..], &["--operation", "crc32c", "-p", "size=1K", "--format", "json"]].concat();
    let output = fathom(&run, folder.path()).output().unwrap();
    let run: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", words(&output)));
    let mut all = Vec::new();
    places(&run, "", &mut all);
    assert!(all.len() > 100, "{}", all.len());
    let path = folder.path().join("run.json");
    for place in &all {
        for value in spoilt(run.pointer(place).unwrap()) {
            let mut copy = run.clone();
            *copy.pointer_mut(place).unwrap() = value;
            fs::write(&path, copy.to_string()).unwrap();
            let Ok(run) = fathom_measure::result::Run::read(&path) else { continue };
            let look = fathom_report::table::Look::default();
            let text = fathom_report::text::run(&run, &look);
            assert!(!text.contains('\x1b'), "{place}");
            assert!(!fathom_report::markdown::run(&run, &look).contains("<script>"), "{place}");
            // A page has one script of its own.
            let page = fathom_report::html::run(&run, &look);
            assert_eq!(page.matches("<script>").count(), 1, "{place}");
            let _ = (fathom_report::csv::run(&run), fathom_report::scan::svg(&run));
            let _ =
                fathom_report::history::text(&fathom_report::history::courses(&[run.clone(), run]));
        }
    }
}

/// `fathom` on a terminal of its own, at which `keys` are typed once `program` runs: what it showed
/// and how it ended. (In the place of the shell: a shell that is interrupted may not live to tell.)
fn on_a_terminal(
    arguments: &str,
    program: &str,
    keys: &[u8],
) -> (String, Option<i32>, PathBuf, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let line = format!("exec {} {arguments}", env!("CARGO_BIN_EXE_fathom"));
    let mut script = Command::new("script");
    script.args(["-qefc", &line, "/dev/null"]).env("TMPDIR", folder.path()).env("TERM", "xterm");
    script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = script.spawn().expect("the program `script` of util-linux");
    until("it starts", || !running(folder.path(), program).is_empty());
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(keys).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    let path = folder.path().to_owned();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    (shown, output.status.code(), path, folder)
}

#[test]
fn ctrl_c_shows_what_there_is_and_ends_everything() {
    let arguments = "run -N --prepare 'setsid sleep 7001 &' 'sleep 0.01' 'sleep 7003'";
    // Of two at once, as `timeout` sends them, the second lost all that had been measured.
    for keys in [&b"\x03"[..], b"\x03\x03"] {
        let (shown, code, path, _folder) = on_a_terminal(arguments, "sleep 7003", keys);
        assert_eq!(code, Some(130), "{shown}");
        assert!(shown.contains("interrupted"), "{shown}");
        until("all end", || running(&path, "sleep").is_empty());
        assert!(is_empty(&path));
    }
}

/// What was to be compared with was replaced by nothing.
#[test]
fn an_interrupt_before_anything_was_measured_replaces_no_saved_run() {
    let place = tempfile::tempdir().unwrap();
    let paths = ["saved", "exported"].map(|name| place.path().join(name));
    paths.iter().for_each(|path| fs::write(path, "good").unwrap());
    let [saved, exported] = paths.each_ref().map(|path| path.to_str().unwrap());
    let arguments = ["run", "-N", "-s", "sleep 7003", "true"];
    let outputs = ["--save", saved, "--export-json", exported];
    let (_folder, child, _) = started(&[arguments.as_slice(), &outputs].concat(), "sleep 7003");
    signals::send("INT", child.id());
    let told = told(130, &child.wait_with_output().unwrap());
    for path in &paths {
        assert_eq!(fs::read_to_string(path).unwrap(), "good");
        let said = format!("{}: not written, as nothing was measured", path.display());
        assert!(told.contains(&said), "{told}");
    }
}

#[test]
fn progress_is_drawn_on_a_terminal_and_nowhere_else() {
    let arguments = "run -N 'sleep 0.05' 'sleep 0.05' --rounds 10";
    let (shown, ..) = on_a_terminal(arguments, "sleep", b"");
    assert!(shown.contains("2 commands") && shown.contains("/10"), "{shown}");
    let arguments = ["run", "-N", "true", "true", "--rounds", "6"];
    let output = fathom(&arguments, tempfile::tempdir().unwrap().path()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn workers_stay_on_one_processor_that_nobody_else_has() {
    let allowed = |id: u32| {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        line.map(|list| list.trim().to_owned()).unwrap_or_default()
    };
    let ours = allowed(std::process::id());
    fathom_machine::needs!("second processor", ours.contains([',', '-']));
    let last = ours.rsplit([',', '-']).next().unwrap();
    let name = SocketAddr::from_abstract_name(format!("fathom processor {last}")).unwrap();
    let taken = RefCell::new(None);
    until("the last processor can be taken", || {
        *taken.borrow_mut() = UnixListener::bind_addr(&name).ok();
        taken.borrow().is_some()
    });
    let arguments = ["bench", "checksum", "--only", "plain,crc32c", "--budget", "60s"];
    // Another test may have the processor before it, too: then whoever comes shares the last one.
    until("a worker leaves the last processor alone", || {
        let (folder, mut child, _) = started(&arguments, "worker");
        let on = RefCell::new(String::new());
        until("a worker is on one processor", || {
            let mut all = running(folder.path(), "worker").into_iter().map(allowed);
            *on.borrow_mut() = all.find(|on| on.parse::<usize>().is_ok()).unwrap_or_default();
            !on.borrow().is_empty()
        });
        signals::send("INT", child.id());
        child.wait().unwrap();
        on.into_inner() != last
    });
}

#[test]
fn what_a_file_is_called_is_no_command_to_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let output = fathom(&["aggregate", "no\x1b[2Jfile"], folder.path()).output().unwrap();
    assert!(!output.status.success() && !words(&output).contains('\x1b'), "{}", words(&output));
    assert!(words(&output).contains("no\\u{1b}[2Jfile"), "{}", words(&output));
}
