//! Saved runs over time and from elsewhere: `import`, `history --gate`, and contenders of one name.

#[path = "common/told.rs"]
mod told;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use told::{says, told, words};

fn fathom(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.args(arguments).current_dir(folder).output().unwrap()
}

fn imported(folder: &Path, file: &str) -> Value {
    imported_with(folder, file, 0)
}

fn imported_with(folder: &Path, file: &str, code: i32) -> Value {
    let output = fathom(folder, &["import", file]);
    told(code, &output);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Family, name, median in nanoseconds and samples of each case.
fn rows(run: &Value) -> Vec<(String, String, f64, u64)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let row = |case: &Value| {
        let summary = &case["judged"]["summaries"][0];
        let (ns, samples) = (summary["ns_median"].as_f64(), summary["samples"].as_u64());
        (text(&case["family"]), text(&case["contenders"][0]["id"]), ns.unwrap(), samples.unwrap())
    };
    run["cases"].as_array().unwrap().iter().map(row).collect()
}

fn row(family: &str, id: &str, ns: f64, samples: u64) -> (String, String, f64, u64) {
    (family.to_owned(), id.to_owned(), ns, samples)
}

/// A folder with a file of each harness, as it writes it.
fn files() -> tempfile::TempDir {
    let whole = tempfile::tempdir().unwrap();
    let folder = whole.path();
    let write = |name: &str, value: Value| fs::write(folder.join(name), value.to_string()).unwrap();
    write(
        "h.json",
        json!({"results": [{"command": "a", "mean": 0.25, "stddev": 0.1, "median": 0.25,
        "user": 0.1, "system": 0.0, "min": 0.125, "max": 0.375, "times": [0.125, 0.25, 0.375],
        "exit_codes": [0, 0, 0], "memory_usage_byte": [4096, 8192, 4096]}]}),
    );
    write(
        "g.json",
        json!({
        "context": {"date": "2026-11-20T12:00:00+02:00", "num_cpus": 2, "mhz_per_cpu": 3000},
        "benchmarks": [
            {"name": "BM_x/8", "run_name": "BM_x/8", "run_type": "iteration", "repetitions": 2,
             "repetition_index": 0, "iterations": 100, "real_time": 2.0, "cpu_time": 1.5,
             "time_unit": "us", "bytes_per_second": 4e9},
            {"name": "BM_x/8", "run_name": "BM_x/8", "run_type": "iteration", "repetitions": 2,
             "repetition_index": 1, "iterations": 100, "real_time": 4.0, "cpu_time": 1.5, "time_unit": "us"},
            {"name": "BM_x/8_mean", "run_name": "BM_x/8", "run_type": "aggregate",
             "aggregate_name": "mean", "iterations": 2, "real_time": 3.0, "cpu_time": 1.5, "time_unit": "us"},
        ]}),
    );
    write(
        "p.json",
        json!({
        "machine_info": {"node": "n"}, "commit_info": {}, "datetime": "2026-11-21T05:05:00.982264+00:00",
        "version": "5.2.3",
        "benchmarks": [
            {"group": null, "name": "test_sum", "fullname": "test_x.py::test_sum", "params": null,
             "stats": {"median": 3e-6, "rounds": 3, "iterations": 1, "data": [2e-6, 3e-6, 7e-6]}},
            {"group": null, "name": "test_b", "fullname": "test_x.py::test_b", "params": null,
             "stats": {"median": 5e-6, "rounds": 3, "iterations": 1}},
        ]}),
    );
    let lines = [
        json!({"reason": "benchmark-complete", "id": "sort/std", "iteration_count": [10, 20],
               "measured_values": [30.0, 80.0], "unit": "ns", "throughput": []}),
        json!({"reason": "group-complete", "group_name": "sort", "benchmarks": ["sort/std"]}),
    ];
    fs::write(folder.join("c.jsonl"), format!("{}\n{}\n", lines[0], lines[1])).unwrap();
    let bench = folder.join("criterion/sort/std/new");
    fs::create_dir_all(&bench).unwrap();
    fs::create_dir_all(folder.join("criterion/sort/std/base")).unwrap();
    let sample =
        json!({"sampling_mode": "Linear", "iters": [1.0, 2.0, 4.0], "times": [10.5, 24.0, 44.0]});
    fs::write(bench.join("sample.json"), sample.to_string()).unwrap();
    let about = json!({"group_id": "sort", "function_id": "std", "value_str": null,
        "throughput": {"Elements": 7}, "full_id": "sort/std", "directory_name": "sort/std", "title": "sort/std"});
    fs::write(bench.join("benchmark.json"), about.to_string()).unwrap();
    whole
}

#[test]
fn results_of_other_harnesses_become_runs_without_verdicts() {
    let folder = files();
    let folder = folder.path();
    let run = imported(folder, "h.json");
    assert_eq!(rows(&run), [row("hyperfine", "a", 2.5e8, 3)]);
    assert_eq!(run["cases"][0]["contenders"][0]["peak_bytes"], 8192);
    // It was the one that imports.
    assert_eq!(run["machine"], Value::Null);
    let run = imported(folder, "g.json");
    assert_eq!(rows(&run), [row("google-benchmark", "BM_x/8", 3000.0, 2)]);
    assert_eq!(run["started"], "2026-11-20T10:00:00Z");
    assert_eq!(run["cases"][0]["work"]["bytes"], 6000);
    let run = imported(folder, "p.json");
    let [first, second] = ["sum", "b"].map(|name| format!("test_x.py::test_{name}"));
    assert_eq!(
        rows(&run),
        [row("pytest-benchmark", &first, 3000.0, 3), row("pytest-benchmark", &second, 5000.0, 1)]
    );
    let note = run["notes"][1].as_str().unwrap();
    assert!(note.starts_with("1 of 2 benchmarks came without samples"));
    assert_eq!(rows(&imported(folder, "c.jsonl")), [row("criterion", "sort/std", 3.5, 2)]);
    let run = imported(folder, "criterion");
    assert_eq!(rows(&run), [row("criterion", "sort/std", 11.0, 3)]);
    assert_eq!(run["cases"][0]["work"]["items"], 7);

    assert_eq!(run["machine"], Value::Null);

    let google = fs::read_to_string(folder.join("g.json")).unwrap();
    let mut other: Value = serde_json::from_str(&google).unwrap();
    other["context"]["host_name"] = "another".into();
    fs::write(folder.join("other.json"), other.to_string()).unwrap();
    for files in [["h.json", "p.json"], ["g.json", "other.json"]] {
        let mixed = fathom(folder, &["import", files[0], files[1]]);
        let run: Value = serde_json::from_slice(&mixed.stdout).unwrap();
        assert_eq!(run["machine"], Value::Null);
        assert!(run["notes"].to_string().contains("files are of several machines"), "{run}");
    }
    fs::remove_file(folder.join("other.json")).unwrap();
    told(0, &fathom(folder, &["import", "g.json", "p.json", "--save", "both.json"]));
    let shown = words(&fathom(folder, &["report", "both.json"]));
    assert!(shown.contains("2 samples of google-benchmark, not interleaved"), "{shown}");
    assert!(!shown.contains("faster") && !shown.contains("slower"));
    fs::write(folder.join("g2.json"), google.replace("4.0", "9.0")).unwrap();
    told(0, &fathom(folder, &["import", "g2.json", "--save", "new.json"]));
    let diff = fathom(folder, &["diff", "both.json", "new.json"]);
    assert!(words(&diff).contains("BM_x/8: not resolved"), "{}", words(&diff));
}

/// The present was taken in silence.
#[test]
fn an_import_tells_whose_time_is_not_known() {
    let folder = files();
    let folder = folder.path();
    let edit = |file: &str, edit: &dyn Fn(&mut Value)| {
        let mut value: Value =
            serde_json::from_slice(&fs::read(folder.join(file)).unwrap()).unwrap();
        edit(&mut value);
        fs::write(folder.join(file), value.to_string()).unwrap();
    };
    let said = |file: &str| {
        let output = fathom(folder, &["import", file]);
        told(0, &output);
        let run: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(run["started"].as_str().is_some_and(|time| time.ends_with('Z')), "{run}");
        String::from_utf8(output.stderr).unwrap()
    };
    let silent = ["g.json", "p.json", "h.json", "c.jsonl", "criterion"];
    silent.into_iter().for_each(|file| assert_eq!(said(file), "", "{file}"));
    for date in ["yesterday", "11/10/26 10:00:00"] {
        edit("g.json", &|google| google["context"]["date"] = date.into());
        let expected =
            format!("fathom: g.json: no time as date: {date:?}; the file's last change is taken\n");
        assert_eq!(said("g.json"), expected);
    }
    edit("p.json", &|pytest| drop(pytest.as_object_mut().unwrap().remove("datetime")));
    assert_eq!(said("p.json"), "fathom: p.json: no date; the file's last change is taken\n");
}

/// Of two files whose names look the same one had no page; what is no file was left out in silence.
#[test]
fn every_file_of_a_folder_is_shown_or_told() {
    use std::os::unix::ffi::OsStrExt;

    let folder = files();
    let folder = folder.path();
    let run = imported(folder, "h.json").to_string();
    fs::create_dir(folder.join("runs")).unwrap();
    for name in [&b"n\xff.json"[..], b"n\xfe.json"] {
        fs::write(folder.join("runs").join(std::ffi::OsStr::from_bytes(name)), &run).unwrap();
    }
    told(0, &fathom(folder, &["report", "runs", "--format", "html", "-o", "site"]));
    assert_eq!(fs::read_dir(folder.join("site")).unwrap().count(), 3);
    let index = fs::read_to_string(folder.join("site/index.html")).unwrap();
    assert!(index.contains("_2.run.html"), "no link to the second");

    std::os::unix::fs::symlink("nowhere", folder.join("runs/link.json")).unwrap();
    let made = Command::new("mkfifo").arg(folder.join("runs/pipe.json")).status().unwrap();
    assert!(made.success());
    let said = told(1, &fathom(folder, &["history", "runs"]));
    for why in ["left out: cannot read runs/link.json", "left out: runs/pipe.json: no file"] {
        assert!(said.contains(why), "{said}");
    }
    // A gate let a nightly run pass whose command was broken.
    told(1, &fathom(folder, &["run", "-N", "-r", "2", "false", "--save", "broken/"]));
    says(1, &fathom(folder, &["history", "broken", "--gate"]), "broken: no run has a time");
    // A folder of damaged files alone was called a mistake of the command's line.
    fs::create_dir(folder.join("damaged")).unwrap();
    fs::write(folder.join("damaged/run.json"), "{}").unwrap();
    let said = "damaged: no saved runs: damaged/run.json:1:2: not a saved run";
    says(3, &fathom(folder, &["history", "damaged"]), said);
}

#[test]
fn runs_of_one_second_are_all_kept() {
    let folder = files();
    // A slash makes the folder.
    for runs in ["runs/", "runs", "runs/"] {
        told(0, &fathom(folder.path(), &["import", "g.json", "--save", runs]));
    }
    let history = words(&fathom(folder.path(), &["history", "runs"]));
    assert!(history.contains("(3 runs"), "{history}");
}

#[test]
fn what_is_no_result_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    for (text, code, complaint) in [
        ("{\"results\": [\n  {\"command\": }\n]}", 3, "x.json:2:15: no JSON"),
        ("[]", 3, "x.json: of no harness"),
        ("{\"results\": []}", 3, "x.json: no benchmarks in it"),
        (
            "{\"results\": [{\"command\": \"a\", \"times\": [-1]}]}", 3,
            "x.json: a: a time that is none",
        ),
        ("", 3, "x.json"),
        // It was broken in its second line.
        ("\n{\"results\": [\n{\"command\": \"x\",\n", 3, "x.json:4:1: no JSON: EOF"),
    ] {
        fs::write(folder.path().join("x.json"), text).unwrap();
        let output = fathom(folder.path(), &["import", "x.json"]);
        let said = told(code, &output);
        assert!(said.contains(complaint) && output.stdout.is_empty(), "{said}");
    }
    // As a PowerShell writes it; it was input that failed.
    fs::write(folder.path().join("x.json"), b"\xff\xfe{\0").unwrap();
    says(3, &fathom(folder.path(), &["import", "x.json"]), "x.json:1:1: no JSON");
    assert_eq!(fathom(folder.path(), &["import", "absent.json"]).status.code(), Some(4));
}

#[test]
fn what_is_no_saved_run_is_bad_data_and_one_without_cases_says_so() {
    let folder = files();
    let shown = |bytes: &[u8]| {
        fs::write(folder.path().join("run.json"), bytes).unwrap();
        fathom(folder.path(), &["report", "run.json"])
    };
    for junk in [&b"\xff\xfe\x00"[..], b"{\"schema\": \"\xff\"}", b"", b"{}", b"[]"] {
        let said = told(3, &shown(junk));
        assert!(said.contains(": not a saved run: "), "{said}");
        assert!(said.contains("run.json:1:"), "{said}");
        assert!(!said.contains("struct"), "{said}");
    }
    let mut run = imported(folder.path(), "h.json");
    told(0, &shown(format!("\u{feff}{run}").as_bytes()));
    run["cases"] = json!([]);
    let output = shown(run.to_string().as_bytes());
    assert!(words(&output).contains("\nnothing was measured\n"), "{}", words(&output));
}

/// Whatever stood there was a time, and times of several zones were shuffled.
#[test]
fn what_starts_at_no_time_is_no_saved_run_and_the_others_are_in_order() {
    let folder = files();
    let folder = folder.path();
    let mut run = imported(folder, "h.json");
    fs::create_dir(folder.join("runs")).unwrap();
    let mut write = |name: &str, started: &str| {
        run["started"] = started.into();
        fs::write(folder.join(name), run.to_string()).unwrap();
    };
    for started in ["garbage", "", "2026-02-30T00:00:00Z", "2026-02-03", "2026-02-03T00:00:00"] {
        write("x.json", started);
        let said = format!("x.json: not a saved run: started: {started:?} is no time");
        for line in ["report x.json", "diff x.json x.json", "cpu --join x.json x.json"] {
            says(3, &fathom(folder, &line.split(' ').collect::<Vec<_>>()), &said);
        }
        write("runs/x.json", started);
        says(3, &fathom(folder, &["history", "runs"]), &said);
    }
    write("runs/a.json", "2026-01-02T01:00:00+05:00");
    write("runs/b.json", "2026-01-01T21:00:00.5Z");
    write("runs/x.json", "2026-01-01T18:30:00-03:00");
    let index = words(&fathom(folder, &["report", "runs"]));
    let places = ["x  2026-01-01T21:30:00Z", "b  2026-01-01T21:00:00Z", "a  2026-01-01T20:00:00Z"];
    let places = places.map(|line| index.find(line).unwrap_or_else(|| panic!("{line}: {index}")));
    assert!(places.is_sorted(), "{index}");
}

/// Saves a run of one command of hyperfine's that took so many seconds, on this day.
fn save(folder: &Path, day: usize, results: &Value) {
    let name = format!("{day:02}.json");
    fs::write(folder.join("h"), json!({"results": results}).to_string()).unwrap();
    told(0, &fathom(folder, &["import", "h", "--save", &name]));
    let mut run: Value =
        serde_json::from_str(&fs::read_to_string(folder.join(&name)).unwrap()).unwrap();
    run["started"] = format!("2026-01-{:02}T00:00:00Z", day + 1).into();
    fs::write(folder.join(&name), run.to_string()).unwrap();
}

#[test]
fn a_gate_ends_with_1_after_a_step_until_it_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let noise = |day: usize| 1.0 + 0.002 * ((day * 7919) % 13) as f64 / 13.0;
    for day in 0..20 {
        let level = if day < 12 { 0.1 } else { 0.13 };
        let result =
            |command: &str, level: f64| json!({"command": command, "times": [level * noise(day)]});
        save(folder, day, &json!([result("a", level), result("b", 0.1)]));
    }
    told(0, &fathom(folder, &["history", "."]));
    let said = told(1, &fathom(folder, &["history", ".", "--gate"]));
    let line = "REGRESSION: hyperfine a a: 1.30x slower since 2026-01-13T00:00:00Z";
    assert!(said.contains(line) && said.matches("REGRESSION").count() == 1, "{said}");
    for (since, code) in [
        ("2026-01-14", 0),
        ("2026-01-13", 1),
        // The step's own run is not before it.
        ("2026-01-13T00:00:00Z", 1),
        ("2026-01-13T02:00:00+02:00", 1),
        ("2026-01-13T02:00:00+01:00", 0),
        ("soon", 2),
        // They were taken for midnight.
        ("2026-01-13T18:00:00", 2),
        ("2026-01-13 18:00", 2),
        ("2026-1-13", 2),
        ("2026-13-01", 2),
    ] {
        let output = fathom(folder, &["history", ".", "--gate", "--since", since]);
        assert_eq!(output.status.code(), Some(code), "{since} {}", words(&output));
    }
}

/// Whoever failed was "not in the last run", and a last run without cases was none.
#[test]
fn a_gate_does_not_pass_who_has_no_time_in_the_last_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let gate = |more: &[&str]| fathom(folder, &[&["history", ".", "--gate"], more].concat());
    let of = |command: &str| json!({"command": command, "times": [0.1]});
    (0..3).for_each(|day| save(folder, day, &json!([of("a"), of("b")])));
    let edit = |edit: &dyn Fn(&mut Value)| {
        let file = folder.join("02.json");
        let mut run: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        edit(&mut run);
        fs::write(&file, run.to_string()).unwrap();
    };
    told(0, &gate(&[]));
    edit(&|run| {
        run["cases"][0]["measured"]["failures"][0] =
            json!({"kind": "crashed", "how": "signal 11\u{7}"});
        run["cases"][0]["measured"]["rounds"][0]["samples"][0] = Value::Null;
    });
    let why = "failed in the last run: crashed: signal 11\\u{7}";
    for end in [told(0, &fathom(folder, &["history", "."])), told(1, &gate(&[]))] {
        assert!(end.contains(&format!("(2 runs; {why})")), "{end}");
    }
    says(1, &gate(&[]), "NO TIME: hyperfine a a: ");
    told(0, &gate(&["--since", "2026-01-04"]));
    let page = fathom(folder, &["history", ".", "--format", "html"]);
    assert!(words(&page).contains("1 without a time in the last run"));
    edit(&|run| run["cases"][0]["measured"]["failures"][0] = Value::Null);
    says(1, &gate(&[]), "(2 runs; no readings in the last run)");
    // Who is no longer measured.
    edit(&|run| drop(run["cases"].as_array_mut().unwrap().remove(0)));
    told(0, &gate(&[]));
    edit(&|run| run["cases"] = json!([]));
    let said = ".: the last run, of 2026-01-03T00:00:00Z, has no time";
    says(1, &gate(&[]), said);
    says(0, &fathom(folder, &["history", "."]), said);
    told(0, &gate(&["--since", "2026-01-04"]));
}

/// Its title lacks the size, which nobody told.
#[test]
fn who_failed_on_a_file_of_several_sizes_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    save_codec(folder, "a.json", &[b'a'; 1000]);
    save_codec(folder, "b.json", &[b'a'; 2000]);
    let text = fs::read_to_string(folder.join("b.json")).unwrap();
    let write = |failed: std::ops::Range<usize>| {
        let mut run: Value = serde_json::from_str(&text).unwrap();
        run["started"] = "2099-01-01T00:00:00Z".into();
        for case in run["cases"].as_array_mut().unwrap() {
            case["work"] = json!({"bytes": 0, "items": 0});
            for round in case["measured"]["rounds"].as_array_mut().unwrap() {
                round["samples"].as_array_mut().unwrap()[failed.clone()].fill(Value::Null);
            }
        }
        fs::write(folder.join("c.json"), run.to_string()).unwrap();
        told(1, &fathom(folder, &["history", ".", "--gate"]))
    };
    let first: Value = serde_json::from_str(&text).unwrap();
    let rows = first["cases"][0]["contenders"].as_array().unwrap();
    // All of them, or the baseline alone.
    for count in [rows.len(), 1] {
        let said = write(0..count);
        let ids = rows[..count].iter().map(|row| row["id"].as_str().unwrap());
        let ids: Vec<&str> = ids.filter(|id| !id.starts_with('(')).collect();
        assert!(!ids.is_empty(), "{rows:?}");
        for id in ids {
            let missed = format!("NO TIME: codec compress data of 2000 bytes {id}: no readings");
            assert!(said.contains(&missed), "{count}: {missed}: {said}");
        }
        assert!(!said.contains("NO TIME: codec compress data of 1000"), "{said}");
    }
}

/// It was no reading, for which the gate ended with 1.
#[test]
fn a_time_of_0_in_the_last_run_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (day, time) in [0.1, 0.1, 0.0].into_iter().enumerate() {
        save(folder, day, &json!([{"command": "a", "times": [time, time]}]));
    }
    let said = told(0, &fathom(folder, &["history", ".", "--gate"]));
    assert!(said.contains("(2 runs; 0 in the last run)"), "{said}");
}

/// What was sampled before it failed has no time either.
#[test]
fn a_gate_does_not_pass_a_last_run_in_which_all_of_another_name_failed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (day, name) in ["a", "a", "b"].into_iter().enumerate() {
        save(folder, day, &json!([{"command": name, "times": [0.1, 0.1]}]));
    }
    told(0, &fathom(folder, &["history", ".", "--gate"]));
    let file = folder.join("02.json");
    let mut run: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    run["cases"][0]["measured"]["failures"][0] = json!({"kind": "crashed", "how": "signal 11"});
    fs::write(&file, run.to_string()).unwrap();
    says(
        1,
        &fathom(folder, &["history", ".", "--gate"]),
        "the last run, of 2026-01-03T00:00:00Z, has no time",
    );
}

/// hyperfine says 0 where the shell took as long as the command, and so does our own export.
#[test]
fn a_time_of_0_is_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    save(folder, 0, &json!([{"command": "a", "times": [0.0, 0.0, 0.25]}]));
    let shown = words(&fathom(folder, &["report", "00.json"]));
    let said = "note: a: 2 of 3 times are 0: too short to be measured";
    assert!(shown.contains(said) && !shown.contains("250"), "{shown}");
    save(folder, 1, &json!([{"command": "a", "times": [0.0, 0.0, 0.0]}]));
    for line in
        ["report 00.json", "report 01.json --format markdown", "history .", "diff 00.json 01.json"]
    {
        let output = fathom(folder, &line.split(' ').collect::<Vec<_>>());
        let said = words(&output);
        assert!(output.status.code().is_some_and(|code| code < 2), "{line}: {said}");
        let wrong = ["NaN", "inf", "0.001 ns"].iter().find(|word| said.contains(**word));
        assert!(wrong.is_none(), "{line}: {said}");
    }
}

/// Saves a run of a codec on a file of this content, of the same name each time.
fn save_codec(folder: &Path, name: &str, content: &[u8]) {
    fs::write(folder.join("data"), content).unwrap();
    let words_of_run = ["bench", "codec", "data", "data", "--only", "snap", "--rounds", "2"];
    told(0, &fathom(folder, &[&words_of_run[..], &["--save", name]].concat()));
}

/// Its times were compared as if the data were the same.
#[test]
fn a_file_that_changed_is_other_data() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    save_codec(folder, "a.json", &[b'a'; 1000]);
    save_codec(folder, "b.json", &[b'b'; 1000]);
    save_codec(folder, "c.json", &[b'a'; 50_000]);
    // The same file twice is one case of each operation.
    let run: Value = serde_json::from_slice(&fs::read(folder.join("a.json")).unwrap()).unwrap();
    assert_eq!(run["cases"].as_array().unwrap().len(), 2);
    let diff = words(&fathom(folder, &["diff", "a.json", "b.json"]));
    let caution = "caution: codec compress data: other answers than before";
    assert!(diff.contains(caution) && diff.contains(" → "), "{diff}");
    let diff = fathom(folder, &["diff", "a.json", "c.json"]);
    let said = words(&diff);
    let caution = "caution: codec compress data: not compared: 1000 bytes and 50000 bytes of data";
    assert!(said.contains(caution) && !said.contains(" → "), "{said}");
    assert_eq!(diff.status.code(), Some(1), "{said}");
    let joined = words(&fathom(folder, &["cpu", "--join", "a.json", "c.json"]));
    assert!(joined.contains("data (caution: 1000 bytes and 50000 bytes of data)"), "{joined}");
    // Both columns are rates, and so is their ratio.
    let ratio = joined.lines().find(|line| line.starts_with("  snap")).unwrap();
    let ratio = ratio.split_whitespace().last().unwrap().trim_end_matches('x');
    assert!(ratio.parse::<f64>().unwrap() > 0.2, "{joined}");
    let history = words(&fathom(folder, &["history", "."]));
    assert!(history.contains("codec compress data of 1000 bytes\n"), "{history}");
    assert!(history.contains("codec compress data of 50000 bytes\n"), "{history}");
}

#[test]
fn nothing_in_a_saved_run_is_a_command_to_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for day in 0..20 {
        let seconds = if day < 12 { 0.1 } else { 0.13 } + 1e-5 * day as f64;
        save(folder, day, &json!([{"command": "a\u{1b}[2J", "times": [seconds]}]));
    }
    fs::write(folder.join("\u{1b}[2J.json"), "{}").unwrap();
    for line in [
        "history . --gate", "history . --gate --format html", "diff 00.json 19.json",
        "cpu --join 00.json 19.json",
    ] {
        let output = fathom(folder, &line.split(' ').collect::<Vec<_>>());
        let said = words(&output);
        assert!(!said.contains('\u{1b}') && said.contains("a\\u{1b}[2J"), "{line}: {said}");
        let page = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!page.contains("</html>") || page.ends_with("</html>\n"), "{line}: {page}");
        assert_eq!(said.contains("REGRESSION: "), line.contains("gate"), "{line}: {said}");
    }
}

#[test]
fn failures_of_other_harnesses_were_lost() {
    let folder = files();
    let folder = folder.path();
    let notes = |run: &Value| run["notes"].to_string();
    // hyperfine's were samples like others, and its empty command had no name.
    let result = |command: &str, codes: Value| {
        json!({"command": command, "times": [0.125, 0.25, 0.375], "exit_codes": codes,
            "memory_usage_byte": [7, 2, 4]})
    };
    let of = [("a", json!([1, 0, 0])), ("b", json!([2, null, 1])), ("", json!([0, 0, 0]))];
    let mut results = of.map(|(command, codes)| result(command, codes)).to_vec();
    results.push(json!({"command": "m", "mean": 0.25, "exit_codes": [1, 0]}));
    fs::write(folder.join("h.json"), json!({"results": results}).to_string()).unwrap();
    let run = imported_with(folder, "h.json", 1);
    for said in [
        "a: left out 1 of 3 runs, which failed", "b: left out 3 of 3 runs, which failed",
        "m: 1 of 2 runs failed, and the mean is of all: left out",
    ] {
        assert!(notes(&run).contains(said), "{run}");
    }
    let left = [row("hyperfine", "a", 3.125e8, 2), row("hyperfine", "''", 2.5e8, 3)];
    assert_eq!(rows(&run), left);
    assert_eq!(run["cases"][0]["contenders"][0]["peak_bytes"], 4);
    let mut google: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("g.json")).unwrap()).unwrap();
    let mut write = |place: usize, benchmark: Value| {
        google["benchmarks"][place] = benchmark;
        fs::write(folder.join("g.json"), google.to_string()).unwrap();
    };
    write(
        0,
        json!({"name": "BM_y", "run_type": "iteration", "error_occurred": true, "error_message": "boom"}),
    );
    // Left out, so not all is there.
    let run = imported_with(folder, "g.json", 1);
    assert!(notes(&run).contains("BM_y failed: boom") && rows(&run).len() == 1, "{run}");
    // Its time is 0.
    write(
        0,
        json!({"name": "BM_s", "run_type": "iteration", "skipped": true, "skip_message": "no GPU",
            "real_time": 0.0, "cpu_time": 0.0, "time_unit": "ns"}),
    );
    let run = imported_with(folder, "g.json", 1);
    assert!(notes(&run).contains("BM_s was skipped: no GPU") && rows(&run).len() == 1, "{run}");
    // Aggregates alone: of --benchmark_report_aggregates_only.
    let median = json!({"name": "BM_x/8_median", "run_name": "BM_x/8", "run_type": "aggregate",
        "aggregate_name": "median", "real_time": 5.0, "time_unit": "us"});
    write(0, median);
    write(
        1,
        json!({"name": "BM_x/8_stddev", "run_name": "BM_x/8", "run_type": "aggregate",
        "aggregate_name": "stddev", "real_time": 1.0, "time_unit": "us"}),
    );
    let run = imported(folder, "g.json");
    assert_eq!(rows(&run), [row("google-benchmark", "BM_x/8", 5000.0, 1)]);
}

/// Rates were taken for rates over wall time and cut off, so one item was none.
#[test]
fn what_google_benchmarks_did_is_over_the_time_it_was_divided_by() {
    let folder = tempfile::tempdir().unwrap();
    for (name, items_per_second, items) in [
        ("BM_x", 8e7, 1),
        ("BM_x/8/threads:2", 1.6e8, 2),
        ("BM_x/real_time/threads:2", 5e7, 1),
        ("BM_x/iterations:9/manual_time", 1e8, 2),
    ] {
        let benchmark = json!({"name": name, "run_type": "iteration", "time_unit": "ns",
            "real_time": 20.0, "cpu_time": 12.5, "items_per_second": items_per_second,
            "bytes_per_second": items_per_second});
        let file = json!({"context": {}, "benchmarks": [benchmark]});
        fs::write(folder.path().join("g.json"), file.to_string()).unwrap();
        let work = &imported(folder.path(), "g.json")["cases"][0]["work"];
        assert_eq!(*work, json!({"bytes": items, "items": items}), "{name}");
    }
}

/// Work was rounded to whole items and bytes, and the rate was of that.
#[test]
fn a_rate_of_google_benchmark_is_shown_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (ns, cpu_ns, unit, rate, shown, whole) in [
        (100.0, 100.0, "items", 1.5e7, "15.00 M/s", 0),
        (100.0, 100.0, "items", 4e6, "4.000 M/s", 0),
        (12.5, 12.5, "bytes", 1e9, "953.7 MiB/s", 0),
        // By its own clock.
        (20.0, 12.5, "items", 8e7, "80.00 M/s", 1),
    ] {
        let mut benchmark =
            json!({"name": "a", "real_time": ns, "cpu_time": cpu_ns, "time_unit": "ns"});
        benchmark[format!("{unit}_per_second")] = rate.into();
        let file = json!({"context": {}, "benchmarks": [benchmark]});
        fs::write(folder.join("g.json"), file.to_string()).unwrap();
        told(0, &fathom(folder, &["import", "g.json", "--save", "run.json"]));
        let table = words(&fathom(folder, &["report", "run.json"]));
        assert!(table.contains(shown) && !table.contains("per_second"), "{table}");
        let run: Value =
            serde_json::from_slice(&fs::read(folder.join("run.json")).unwrap()).unwrap();
        assert_eq!(run["cases"][0]["work"][unit], whole, "{run}");
    }
    let rates = [
        json!({"items_per_second": 1e7, "bytes_per_second": 2e7}),
        json!({"items_per_second": 3e7}),
    ];
    let repeated = rates.map(|mut rates| {
        (rates["name"], rates["real_time"]) = ("a".into(), 130.0.into());
        rates
    });
    fs::write(folder.join("g.json"), json!({"context": {}, "benchmarks": repeated}).to_string())
        .unwrap();
    told(0, &fathom(folder, &["import", "g.json", "--save", "run.json"]));
    let table = words(&fathom(folder, &["report", "run.json"]));
    for shown in ["19.07 MiB/s", "items_per_second", "20000000"] {
        assert!(table.contains(shown), "{table}");
    }
}

/// Whatever the others have: `ReportAggregatesOnly` is of one benchmark.
#[test]
fn a_benchmark_with_aggregates_alone_was_lost_beside_others() {
    let folder = tempfile::tempdir().unwrap();
    let benchmark = |name: &str, kind: &str, aggregate: &str, time: f64| {
        json!({"name": format!("{name}_{aggregate}"), "run_name": name, "run_type": kind,
            "aggregate_name": aggregate, "real_time": time, "cpu_time": time, "time_unit": "ns"})
    };
    let file = json!({"context": {}, "benchmarks": [
        benchmark("a", "iteration", "", 1.0), benchmark("a", "iteration", "", 3.0),
        benchmark("a", "aggregate", "median", 2.0), benchmark("b", "aggregate", "mean", 8.0),
        benchmark("b", "aggregate", "median", 9.0)]});
    fs::write(folder.path().join("g.json"), file.to_string()).unwrap();
    let found = rows(&imported(folder.path(), "g.json"));
    assert_eq!(found, [row("google-benchmark", "a", 2.0, 2), row("google-benchmark", "b", 9.0, 1)]);
}

#[test]
fn throughput_of_criterion_was_lost() {
    let folder = files();
    let folder = folder.path();
    let about = folder.join("criterion/sort/std/new/benchmark.json");
    for (throughput, bytes, items) in [
        (json!({"ElementsAndBytes": {"elements": 7, "bytes": 56}}), 56, 7),
        (json!({"BytesDecimal": 56}), 56, 0),
        (json!({"Bits": 80}), 10, 0),
        // It was one byte.
        (json!({"Bits": 12}), 0, 0),
        (json!({"Bytes": 56}), 56, 0),
        (json!(null), 0, 0),
    ] {
        let file = json!({"throughput": throughput, "full_id": "sort/std"});
        fs::write(&about, file.to_string()).unwrap();
        let work = &imported(folder, "criterion")["cases"][0]["work"];
        assert_eq!(*work, json!({"bytes": bytes, "items": items}), "{throughput}");
        let rate =
            &imported(folder, "criterion")["cases"][0]["contenders"][0]["metrics"][0]["value"];
        // In 11 ns.
        let of_bits = rate.as_f64().map(|rate| (rate * 11e-9 * 8.0).round());
        assert_eq!(of_bits, (throughput["Bits"] == 12).then_some(12.0), "{throughput}");
    }
    let line = |done: Value, unit: &str| {
        let message = json!({"reason": "benchmark-complete", "id": "sort/std", "unit": unit,
            "iteration_count": [10], "measured_values": [30.0], "throughput": done});
        fs::write(folder.join("c.jsonl"), message.to_string()).unwrap();
    };
    line(json!([{"per_iteration": 7, "unit": "elements"}]), "ns");
    assert_eq!(imported(folder, "c.jsonl")["cases"][0]["work"]["items"], 7);
    // What is no time was left out in silence.
    line(json!([]), "cycles");
    let output = fathom(folder, &["import", "c.jsonl"]);
    assert!(words(&output).contains("sort/std: a time that is none"), "{}", words(&output));
}

#[test]
fn counts_and_times_of_criterion_were_cut_to_the_shorter() {
    let folder = files();
    let folder = folder.path();
    let sample = json!({"sampling_mode": "Linear", "iters": [1.0, 2.0], "times": [1.0, 2.0, 3.0]});
    fs::write(folder.join("criterion/sort/std/new/sample.json"), sample.to_string()).unwrap();
    let message = json!({"reason": "benchmark-complete", "id": "sort/std", "unit": "ns",
        "iteration_count": [10], "measured_values": [30.0, 80.0]});
    fs::write(folder.join("one.jsonl"), message.to_string()).unwrap();
    fs::write(folder.join("two.jsonl"), format!("{}\n{message}\n", json!({"reason": "x"})))
        .unwrap();
    for (file, complaint) in [
        ("criterion", "new: not as criterion writes it"),
        ("one.jsonl", "one.jsonl: of no harness"),
        ("two.jsonl", "two.jsonl:2: not as criterion writes it"),
    ] {
        says(3, &fathom(folder, &["import", file]), complaint);
    }
}

#[test]
fn files_of_criterion_are_read_as_others_are() {
    let folder = files();
    let folder = folder.path();
    let about = folder.join("criterion/sort/std/new/benchmark.json");
    let text = fs::read_to_string(&about).unwrap();
    fs::write(&about, format!("\u{feff}{text}")).unwrap();
    assert_eq!(rows(&imported(folder, "criterion")).len(), 1);
    fs::write(&about, "{]").unwrap();
    let output = fathom(folder, &["import", "criterion"]);
    let said = "benchmark.json:1:2: no JSON: key must be a string\n";
    assert!(words(&output).ends_with(said), "{}", words(&output));
    // A benchmark that ended early was passed over.
    let early = folder.join("criterion/sort/early/new");
    fs::create_dir_all(&early).unwrap();
    fs::write(&about, text).unwrap();
    fs::copy(&about, early.join("benchmark.json")).unwrap();
    let output = fathom(folder, &["import", "criterion"]);
    assert!(words(&output).contains("sort/early/new/sample.json: "), "{}", words(&output));
}

#[test]
fn another_processor_was_a_step() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // As we say it, and as pytest-benchmark does, whose processors were all one.
    let ours = |name: &str| json!({"processor": {"model": name}});
    let pytest = |name: &str| json!({"processor": "x86_64", "cpu": {"brand_raw": name}});
    for day in 0..20 {
        let seconds = if day < 12 { 0.1 } else { 0.13 } + 1e-5 * day as f64;
        save(folder, day, &json!([{"command": "a", "times": [seconds]}]));
    }
    for machine in [&ours as &dyn Fn(&str) -> Value, &pytest] {
        for day in 0..20 {
            let file = folder.join(format!("{day:02}.json"));
            let mut run: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
            run["machine"] = machine(if day < 12 { "old" } else { "new" });
            fs::write(&file, run.to_string()).unwrap();
        }
        let said = told(0, &fathom(folder, &["history", ".", "--gate"]));
        for title in ["hyperfine a on new", "hyperfine a on old"] {
            assert!(said.contains(title), "{said}");
        }
        let said = words(&fathom(folder, &["diff", "00.json", "19.json"]));
        assert!(said.contains("caution: another processor: old before, new now\n"), "{said}");
    }
}

#[test]
fn saving_a_run_again_changed_what_was_shown() {
    let folder = tempfile::tempdir().unwrap();
    let record = concat!(env!("CARGO_MANIFEST_DIR"), "/../../record");
    let run = format!("{record}/2026-11-22-1f9daf00-epyc-zen4-2core/cpu.json");
    let shown = told(0, &fathom(folder.path(), &["report", &run]));
    let also = told(0, &fathom(folder.path(), &["report", &run, "--save", "again.json"]));
    assert_eq!(also, shown);
    assert_eq!(told(0, &fathom(folder.path(), &["report", "again.json"])), shown);
}

/// It was told by the name alone.
#[test]
fn an_index_goes_to_the_file_or_the_folder_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    save(folder, 0, &json!([{"command": "a", "times": [0.1]}]));
    fs::create_dir(folder.join("site.html")).unwrap();
    fs::write(folder.join("index.htm"), "").unwrap();
    let index =
        |output: &str| told(0, &fathom(folder, &["report", ".", "--format", "html", "-o", output]));
    assert_eq!(index("/dev/stdout"), index("-"));
    for (output, page) in [
        ("index.htm", "index.htm"),
        ("site.html", "site.html/index.html"),
        ("new.html/", "new.html/00.run.html"),
    ] {
        index(output);
        let made = fs::read_to_string(folder.join(page));
        assert!(made.is_ok_and(|text| text.ends_with("</html>\n")), "{output}");
    }
}

#[test]
fn contenders_of_one_name_are_kept_apart() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for run in ["a.json", "b.json"] {
        let commands = ["sleep 0.001", "sleep 0.03", "true"];
        let names = ["-n", "same", "-n", "same", "-n", "other", "-r", "2", "--save", run];
        told(0, &fathom(folder, &[&["run", "-N"][..], &commands, &names].concat()));
    }
    let table = words(&fathom(folder, &["report", "a.json", "--sort", "command"]));
    let rows = ["  same ", "  same (2) "].map(|name| table.matches(name).count());
    assert!(rows.iter().all(|&rows| rows > 0), "{table}");
    let course = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(name));
        line.unwrap_or_else(|| panic!("{name}: {text}")).to_owned()
    };
    let history = words(&fathom(folder, &["history", "."]));
    assert!(course(&history, "same (2)").contains("(2 runs"), "{history}");
    let milliseconds = |line: &str| {
        line.split(" ms").next().unwrap().split_whitespace().last().unwrap().parse::<f64>().unwrap()
    };
    let first = course(&history.replace("same (2)", "second"), "same ");
    assert!(milliseconds(&course(&history, "same (2)")) > 20.0, "{history}");
    assert!(milliseconds(&first) < 20.0, "{history}");
    let diff = words(&fathom(folder, &["diff", "a.json", "b.json"]));
    for name in ["same: ", "same (2): ", "other: "] {
        let line = course(&diff, name);
        let is_slow = |words: &str| {
            let time = words.rsplit(' ').next().and_then(|word| word.parse::<f64>().ok());
            time.is_some_and(|milliseconds| milliseconds > 20.0)
        };
        assert_eq!(line.split(" ms").any(is_slow), name == "same (2): ", "{diff}");
    }
    // It was no contender, and in the index there were two of one name.
    says(0, &fathom(folder, &["report", "a.json", "--baseline", "same (2)"]), "against same (2)");
    let index = told(0, &fathom(folder, &["report", "."]));
    assert_eq!(index.matches("same (2)").count(), 2, "{index}");
}

/// A terminal was enough.
#[test]
fn tables_have_colours_where_they_are_wanted() {
    let folder = tempfile::tempdir().unwrap();
    save(folder.path(), 0, &json!([{"command": "a", "times": [0.1, 0.2]}]));
    let line = format!("exec {} report 00.json", env!("CARGO_BIN_EXE_fathom"));
    for (name, value, is_wanted) in [
        ("TERM", "xterm", true),
        ("TERM", "dumb", false),
        ("TERM", "", false),
        ("CLICOLOR", "0", false),
        ("CLICOLOR_FORCE", "", true),
        ("NO_COLOR", "1", false),
        ("NO_COLOR", "", true),
    ] {
        let mut script = Command::new("script");
        script.args(["-qefc", &line, "/dev/null"]).env("TERM", "xterm").current_dir(folder.path());
        for other in ["CLICOLOR", "CLICOLOR_FORCE", "NO_COLOR"] {
            script.env_remove(other);
        }
        let output = script.env(name, value).output().expect("the program `script` of util-linux");
        let said = told(0, &output);
        assert_eq!(said.contains("\x1b["), is_wanted, "{name}={value} {said:?}");
    }
    for (force, no, is_wanted) in
        [("1", "", true), ("0", "", false), ("", "", false), ("1", "1", false)]
    {
        let mut report = Command::new(env!("CARGO_BIN_EXE_fathom"));
        report.args(["report", "00.json"]).current_dir(folder.path());
        let output = report.env("CLICOLOR_FORCE", force).env("NO_COLOR", no).output().unwrap();
        let said = told(0, &output);
        assert_eq!(said.contains("\x1b["), is_wanted, "{force:?} {no:?} {said:?}");
    }
}

/// `fathom own` over these programs of `runners/`: all give the answer of the first, and none fails.
fn own(folder: &Path, programs: &[&str]) -> Value {
    let arguments = [&["own"][..], programs, &["--budget", "0.02", "--format", "json"]].concat();
    let output = fathom(folder, &arguments);
    told(0, &output);
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    let case = &run["cases"][0];
    assert_eq!((&case["family"], run["cases"].as_array().unwrap().len()), (&"xorshift".into(), 1));
    assert!(case["measured"]["failures"].as_array().unwrap().iter().all(Value::is_null), "{run}");
    run
}

fn runners(path: &str) -> String {
    format!("{}/../../runners/{path}", env!("CARGO_MANIFEST_DIR"))
}

fn built(folder: &Path, program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{program} {}", words(&output));
}

#[test]
#[ignore = "needs python3: cargo test -- --ignored python3"]
fn functions_in_c_cpp_and_python3_compare() {
    let folder = tempfile::tempdir().unwrap();
    let source = runners("c/example.c");
    built(folder.path(), "cc", &["-O2", "-Wall", "-Wextra", "-Werror", "-o", "c", &source]);
    built(folder.path(), "c++", &["-O2", "-Wall", "-Werror", "-x", "c++", "-o", "cpp", &source]);
    let python = format!("python3 '{}'", runners("python/worker.py"));
    let run = own(folder.path(), &["./c", "./cpp", &python]);
    let names: Vec<&Value> = (0..5).map(|n| &run["cases"][0]["contenders"][n]["id"]).collect();
    assert_eq!(names, ["c", "c_halves", "c", "c_halves", "python"]);
    let summaries = &run["cases"][0]["judged"]["summaries"];
    let of = |row: usize| summaries[row]["ns_median"].as_f64().unwrap();
    assert!(of(4) > 5.0 * of(0), "Python is slower: {summaries}");
    told(2, &fathom(folder.path(), &["own", "./c", "--only", "nobody"]));
    // A wrong answer costs the row.
    let text = fs::read_to_string(&source).unwrap().replacen("x << 5", "x << 6", 1);
    fs::write(folder.path().join("wrong.c"), text).unwrap();
    built(folder.path(), "cc", &["-I", &runners("c"), "-o", "wrong", "wrong.c"]);
    let said = told(1, &fathom(folder.path(), &["own", "./cpp", "./wrong", "--budget", "0.02"]));
    assert_eq!(said.matches("c (2): wrong answer").count(), 1, "{said}");
    // So does one that never comes back, which had ten minutes for its first call.
    let text =
        fs::read_to_string(&source).unwrap().replacen("x << 5", "x << 5; for (;;) getchar()", 1);
    fs::write(folder.path().join("hang.c"), format!("#include <stdio.h>\n{text}")).unwrap();
    built(folder.path(), "cc", &["-I", &runners("c"), "-o", "hang", "hang.c"]);
    let begin = std::time::Instant::now();
    let line = ["own", "./cpp", "./hang", "--budget", "0.02", "--hang", "1s"];
    let said = told(1, &fathom(folder.path(), &line));
    assert!(said.contains("c (2): hung") && begin.elapsed().as_secs() < 60, "{said}");
}

/// Compares functions in C with those of workers, the last of which warms up and says how long.
fn compare_with_c(folder: &Path, workers: &[&str]) {
    built(folder, "cc", &["-O2", "-o", "c", &runners("c/example.c")]);
    let run = own(folder, &[&["./c"][..], workers].concat());
    let metrics = &run["cases"][0]["contenders"][1 + workers.len()]["metrics"];
    assert_eq!(metrics[1]["name"], "warm-up runs", "{metrics}");
    assert!(metrics[1]["value"].as_f64().unwrap() >= 100.0);
}

#[test]
#[ignore = "needs node: cargo test -- --ignored node"]
fn functions_in_javascript_compare_by_node() {
    let node = format!("node '{}'", runners("javascript/worker.js"));
    compare_with_c(tempfile::tempdir().unwrap().path(), &[&node]);
}

#[test]
#[ignore = "go and java are not installed by .ci/run: cargo test -- --ignored toolchains"]
fn functions_in_go_and_java_compare_where_there_are_toolchains() {
    let folder = tempfile::tempdir().unwrap();
    let mut build = Command::new("go");
    build.args(["build", "-o"]).arg(folder.path().join("go")).arg("main.go");
    build.env("GOCACHE", folder.path().join("cache")).current_dir(runners("go"));
    let built = build.output().unwrap();
    assert!(built.status.success(), "{}", words(&built));
    let java = format!("java '{}'", runners("java/Worker.java"));
    compare_with_c(folder.path(), &["./go", &java]);
}

#[test]
fn examples_are_short() {
    for file in ["go/main.go", "java/Worker.java", "javascript/worker.js", "python/worker.py"] {
        let text = fs::read_to_string(runners(file)).unwrap();
        assert!(text.lines().count() < 100, "{file}: {}", text.lines().count());
    }
}
