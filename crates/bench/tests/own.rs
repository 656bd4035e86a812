//! A bench from outside: this program is one, and starts itself as one to look at what it does.

use std::process::{Command, ExitCode, Output, Stdio};

use fathom_bench::Bench;
use serde_json::Value;

/// In whose presence this program is a bench.
const VARIABLE: &str = "FATHOM_BENCH_TEST";

fn sums(bench: &mut Bench<'_>) {
    bench.inputs("sum", "n", [1000_u64, 2000], |group, &n| {
        let numbers: Vec<u64> = (0..n).collect();
        group.items(numbers.len());
        group.function("once", || numbers.iter().fold(0, |sum, n| sum ^ n.wrapping_mul(sum | 1)));
        group.function("five times", || {
            let once = |_| {
                let numbers = std::hint::black_box(&numbers);
                let sum = numbers.iter().fold(0, |sum, n| sum ^ n.wrapping_mul(sum | 1));
                std::hint::black_box(sum)
            };
            (0..5).fold(0, |_, n| once(n))
        });
    });
}

fn consumers(bench: &mut Bench<'_>) {
    bench.group("consume", |group| {
        let setup = || vec![3_u8, 1, 2];
        group.batched("sort", 64, setup, |mut bytes| {
            bytes.sort_unstable();
            bytes
        });
        group.batched("reverse", 64, setup, |mut bytes| {
            bytes.reverse();
            bytes.swap(0, 1);
            bytes.reverse();
            bytes.sort_unstable();
            bytes
        });
    });
}

fn faulty(bench: &mut Bench<'_>) {
    bench.group("faulty", |group| {
        group.function("right", || 1);
        group.function("wrong", || 2);
        group.function("crash", || -> i32 { std::process::abort() });
    });
    bench.group("free", |group| {
        group.unchecked();
        group.function("one", || 1);
        group.function("two", || 2);
    });
}

fn headless(bench: &mut Bench<'_>) {
    bench.group("headless", |group| {
        group.function("crash", || -> i32 { std::process::abort() });
    });
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "--fathom-worker")
        || std::env::var_os(VARIABLE).is_some()
    {
        let last = match std::env::var(VARIABLE).as_deref() {
            Ok("again") => sums,
            Ok("headless") => headless,
            _ => faulty,
        };
        return fathom_bench::run("own", &[sums, consumers, last]);
    }
    if words.iter().any(|word| word == "--ignored" || word == "--list") {
        return ExitCode::SUCCESS;
    }
    std::thread::scope(|scope| {
        scope.spawn(a_slower_function_is_called_slower_and_compared_with_a_saved_run);
        functions_are_listed_and_checked();
        a_run_whose_reader_went_away_was_not_saved();
        a_wrong_answer_and_a_crash_cost_their_rows();
        a_group_whose_first_function_fails_cost_those_before_it();
        a_baseline_of_other_functions_was_no_reason_to_fail();
        mistakes_are_refused();
        groups_of_one_name_are_refused();
        what_programs_that_run_tests_ask_for_is_taken();
        a_bench_replaces_no_run_of_another_and_has_a_file_of_its_own_in_a_folder();
    });
    // As the harness of the others says it: `cargo xtask mutants` looks for that.
    println!("test result: ok. 10 passed; 0 failed");
    ExitCode::SUCCESS
}

fn own(arguments: &[&str]) -> Output {
    as_bench("1", arguments)
}

fn as_bench(value: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments).env(VARIABLE, value).output().unwrap()
}

fn words(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    format!("{}\n{out}\n{err}", output.status)
}

fn functions_are_listed_and_checked() {
    let output = own(&["--list"]);
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    let first = "sum n=1000/once\nsum n=1000/five times\nsum n=2000/once\n";
    assert!(names.starts_with(first), "{names}");
    assert_eq!(names.lines().count(), 11, "{names}");
    let output = own(&["sum", "consume", "free"]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_eq!(words(&output).matches(": ok\n").count(), 8, "{}", words(&output));
    // The one whose answer is right need not be wanted; it was whoever came first of those who are.
    for wanted in [&["faulty/right", "faulty/wrong"][..], &["faulty/wrong"]] {
        let output = own(wanted);
        assert_eq!(output.status.code(), Some(1), "{}", words(&output));
        assert!(words(&output).contains("faulty/wrong: WRONG ANSWER"), "{}", words(&output));
    }
    let output = own(&["--bench", "faulty/wrong", "--budget", "0.02"]);
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    assert!(words(&output).contains("wrong answer"), "{}", words(&output));
    // With its input or without.
    let output = own(&["sum/once", "sum n=1000/five"]);
    assert_eq!(words(&output).matches(": ok\n").count(), 3, "{}", words(&output));
}

fn a_slower_function_is_called_slower_and_compared_with_a_saved_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let path = path.to_str().unwrap();
    let quick = ["--bench", "n=1000", "consume", "--budget", "0.2"];
    let output = own(&[&quick[..], &["--save", path]].concat());
    let said = words(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("five times is ") && said.contains("x slower than once"));
    let mut run: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let case = &run["cases"][0];
    let ratio = case["judged"]["comparisons"][0]["ratio"].as_f64().unwrap();
    assert!((3.0..8.0).contains(&ratio), "five times the work took {ratio}");
    assert_eq!((&case["family"], &case["work"]["items"]), (&"own".into(), &1000.into()));
    assert!(case["measured"]["rounds"].as_array().unwrap().len() >= 8);
    let failures = &run["cases"][1]["measured"]["failures"];
    assert_eq!(*failures, serde_json::json!([null, null, null, null]));
    // The baseline is compared by its time alone, the other by its ratio to it. First as if the
    // other had taken a fifth of the time; then as if the baseline had taken four times its
    // time, so that the machine's state now is no reason to call it slower, and the other
    // twenty times.
    for (times, code, word) in
        [([1.0, 0.2], 1, "slower than before"), ([4.0, 100.0], 0, "faster than before")]
    {
        // Its copy with it: where the two differ, so may everybody.
        let twin = run["cases"][0]["roles"]["twin"].as_u64().unwrap() as usize;
        for round in run["cases"][0]["measured"]["rounds"].as_array_mut().unwrap() {
            for (of, times) in [(0, times[0]), (1, times[1]), (twin, times[0])] {
                for clock in ["wall_ns", "cpu_ns"] {
                    let time = &mut round["samples"][of][clock];
                    *time = ((time.as_f64().unwrap() * times) as u64).into();
                }
            }
        }
        std::fs::write(path, run.to_string()).unwrap();
        // While the machine is busy with something else, nothing may be resolved.
        let mut turns =
            (0..12).map(|_| own(&["--bench", "n=1000", "--budget", "0.2", "--baseline", path]));
        let output = turns.find(|output| words(output).contains(word)).expect(word);
        assert_eq!(output.status.code(), Some(code), "{}", words(&output));
    }
    let json = ["--bench", "n=1000", "--budget", "0.02", "--baseline", path, "--format", "json"];
    let output = own(&json);
    serde_json::from_slice::<Value>(&output.stdout).expect("what is different is said elsewhere");
    assert!(words(&output).contains("before"), "{}", words(&output));
}

fn a_run_whose_reader_went_away_was_not_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--bench", "free", "--budget", "0.02", "--save"]).arg(&path);
    command.env(VARIABLE, "1").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    serde_json::from_slice::<Value>(&std::fs::read(&path).unwrap()).unwrap();
}

fn a_wrong_answer_and_a_crash_cost_their_rows() {
    let output = own(&["--bench", "faulty", "free", "--budget", "0.02", "--format", "json"]);
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    let failures = &run["cases"][0]["measured"]["failures"];
    assert!(failures[0].is_null() && failures[3].is_null(), "{failures}");
    assert_eq!(failures[1]["kind"], "wrong_answer");
    assert_eq!(failures[2]["kind"], "crashed");
    assert!(run["cases"][1]["measured"]["failures"].as_array().unwrap().iter().all(Value::is_null));
}

fn a_group_whose_first_function_fails_cost_those_before_it() {
    let arguments = ["--bench", "consume", "headless", "--budget", "0.02", "--format", "json"];
    let output = as_bench("headless", &arguments);
    assert_eq!(output.status.code(), Some(4), "{}", words(&output));
    let run: Value = serde_json::from_slice(&output.stdout).expect("what was measured is shown");
    assert_eq!(run["cases"].as_array().unwrap().len(), 1);
    assert!(run["notes"][0].as_str().unwrap().starts_with("not measured: headless: "), "{run}");
    // What repeats it; its page was called after the first filter or file.
    let command: Vec<&str> =
        run["command"].as_array().unwrap().iter().flat_map(Value::as_str).collect();
    let expected = "cargo bench --bench own -- consume headless --budget 0.02 --format json";
    assert_eq!(command.join(" "), expected);
}

fn a_baseline_of_other_functions_was_no_reason_to_fail() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let path = path.to_str().unwrap();
    own(&["--bench", "consume", "--budget", "0.02", "--save", path]);
    let output = own(&["--bench", "free", "--budget", "0.02", "--baseline", path]);
    assert!(words(&output).contains("nothing was compared"), "{}", words(&output));
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
}

fn mistakes_are_refused() {
    for (arguments, code, complaint) in [
        (&["--bench", "--speed"][..], 2, "no option \"--speed\""),
        (&["--budget"], 2, "--budget needs a value"),
        (&["--format", "pdf"], 2, "no format \"pdf\""),
        // Another bench has it; it ended with 2, and cargo did not come to that one.
        (&["--bench", "nothing-like-it"], 0, "no function of that name"),
        (&["--exact", "free"], 0, "no function of that name"),
        // As cargo passes the filter on; it served the protocol and measured or checked nothing.
        (&["worker", "--bench"], 0, "no function of that name"),
        (&["worker"], 0, "no function of that name"),
        (&["--list=all"], 2, "no option \"--list=all\""),
        (&["--format", "terse"], 2, "no format \"terse\""),
        (&["--bench", "free", "--budget", "0.02", "--save", "/no/file"], 4, "cannot save /no/file"),
        (&["--bench", "free", "--budget", "0.02", "--baseline", "/no/file"], 4, "/no/file"),
    ] {
        let output = own(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?} {}", words(&output));
        assert!(words(&output).contains(complaint), "{arguments:?} {}", words(&output));
        assert!(output.stdout.is_empty(), "{arguments:?}: told before anything is measured");
    }
}

/// They were no options, so that `cargo test --benches -- --nocapture` failed.
fn what_programs_that_run_tests_ask_for_is_taken() {
    let ran =
        own(&["--nocapture", "--test-threads=1", "--color", "never", "-q", "--exact", "free/one"]);
    assert_eq!(
        (ran.status.code(), &*ran.stdout),
        (Some(0), &b"free/one: ok\n"[..]),
        "{}",
        words(&ran)
    );
    let listed = own(&["--list", "--format", "terse", "free"]);
    assert_eq!(listed.stdout, b"free/one: benchmark\nfree/two: benchmark\n");
    let ignored = own(&["--list", "--format", "terse", "--ignored"]);
    assert_eq!((ignored.status.code(), ignored.stdout.len()), (Some(0), 0));
    assert!(words(&own(&["-h"])).contains("--budget TIME"));
}

/// Cargo gives all benches the same arguments: the run of one was replaced by that of the next.
fn a_bench_replaces_no_run_of_another_and_has_a_file_of_its_own_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let runs = format!("{}/runs/", folder.path().display());
    let asked = ["--bench", "free", "--budget=0.02"];
    assert_eq!(own(&[&asked[..], &["--save", &runs]].concat()).status.code(), Some(0));
    let compared = own(&[&asked[..], &["--save", &runs, "--baseline", &runs]].concat());
    assert!(words(&compared).contains("free"), "{}", words(&compared));
    let path = format!("{runs}own.json");
    let text = std::fs::read_to_string(&path)
        .unwrap()
        .replace("\"family\":\"own\"", "\"family\":\"else\"");
    std::fs::write(&path, &text).unwrap();
    let refused = own(&[&asked[..], &["--save", &path]].concat());
    assert_eq!(refused.status.code(), Some(4), "{}", words(&refused));
    assert!(words(&refused).contains("it has a run of else: a folder"), "{}", words(&refused));
    assert!(refused.stdout.is_empty() && std::fs::read_to_string(&path).unwrap() == text);
}

/// The functions of the first were measured under the name of the second.
fn groups_of_one_name_are_refused() {
    let output = as_bench("again", &["--list"]);
    assert_eq!(output.status.code(), Some(101), "{}", words(&output));
    assert!(words(&output).contains("two groups sum n=1000"), "{}", words(&output));
}
