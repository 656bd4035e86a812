//! `fathom compare`: contenders of programs of one's own, with a verdict or the reason why there is none.

use std::path::PathBuf;
use std::process::{Command, Output};

/// A worker that offers two ways to add, one wrong one, and nothing for other families.
const WORKER: &str = r#"
import json, sys, time
ways = {
    "loop": lambda: [total := 0, [total := total + n for n in range(3000)]][1][-1],
    "sum": lambda: sum(range(3000)),
    "wrong": lambda: sum(range(2999)),
}
way = None
for line in sys.stdin:
    request = json.loads(line)
    ask = request["ask"]
    if ask == "hello":
        offered = [{"family": "own", "name": n, "version": "1", "summary": n} for n in ways]
        reply = dict(answer="hello", protocol=1, program="adder", contenders=offered)
    elif ask == "open":
        way = ways.get(request["contender"], lambda: None)
        reply = dict(answer="opened", work=dict(bytes=0, items=0), leaves_the_thread=False)
    elif ask == "sample":
        for _ in range(request["warm"]):
            way()
        start = time.thread_time_ns(), time.monotonic_ns()
        for _ in range(max(request["iterations"], 1)):
            found = way()
        cpu, wall = time.thread_time_ns() - start[0], time.monotonic_ns() - start[1]
        reply = dict(answer="sample", wall_ns=wall, cpu_ns=cpu, check=f"{found or 0:016x}")
    elif ask == "metrics":
        reply = dict(answer="metrics", metrics=[])
    else:
        reply = dict(answer="closed")
    print(json.dumps(reply), flush=True)
"#;

fn compare(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.arg("compare").args(["--processes", "1", "--rounds", "20"]).args(arguments);
    command.output().unwrap()
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn worker() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("worker.py");
    std::fs::write(&file, WORKER).unwrap();
    (folder, file)
}

#[test]
#[ignore = "needs python3: cargo test -- --ignored python3"]
fn functions_of_a_worker_in_python3_are_compared_and_a_wrong_answer_has_no_time() {
    let (_folder, file) = worker();
    let command = format!("python3 '{}'", file.display());
    let output = compare(&[&command]);
    let text = said(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}{}", said(&output.stderr));
    assert!(text.contains("sum") && text.contains("faster"), "{text}");
    let wrong = text.lines().find(|line| line.starts_with("wrong: ")).unwrap_or_default();
    assert!(wrong.contains("wrong answer"), "{text}");
    let twice = compare(&[&command, &command]);
    assert!(said(&twice.stderr).contains("two contenders are called \"loop\""));
}

#[test]
fn a_worker_without_contenders_of_ones_own_is_named() {
    let program = env!("CARGO_BIN_EXE_fathom");
    let output = compare(&[&format!("'{program}' worker")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said(&output.stderr).contains("no worker offers a contender"),
        "{}",
        said(&output.stderr)
    );
    let output = compare(&["/no/such/program"]);
    assert!(said(&output.stderr).contains("/no/such/program"), "{}", said(&output.stderr));
}
