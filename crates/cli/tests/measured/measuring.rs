//! The measuring commands from outside: what they print, save, refuse and answer with their exit
//! code. Figures are looked at only where no machine could get them wrong.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::fathom;

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn complaint(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// What was shown by what ended with this code.
#[track_caller]
fn shown(output: &Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code), "{}", complaint(output));
    text(output)
}

/// Checks that a run ended with this code, and complained of this.
#[track_caller]
fn complains(output: &Output, code: i32, part: &str) {
    assert_eq!(output.status.code(), Some(code), "{part}: {}", complaint(output));
    assert!(complaint(output).contains(part), "{part}: {}", complaint(output));
}

/// A quick measurement of the checksum family.
fn quick_bench(more: &[&str]) -> Output {
    let arguments = ["bench", "checksum", "--budget", "20ms", "-p", "size=1K"];
    fathom(&[&arguments[..], more].concat())
}

#[test]
fn bench_prints_a_table_and_a_sentence_per_verdict() {
    let text = shown(&quick_bench(&["--operation", "crc32c"]), 0);
    assert!(text.contains("checksum crc32c seed=1 size=1K"), "{text}");
    assert!(text.contains("against plain"), "{text}");
    assert!(text.contains("baseline"), "{text}");
    assert!(text.contains("99 % interval") || text.contains("no verdict"), "{text}");
    assert!(text.contains("overhead"), "{text}");
    assert!(!text.contains('\x1b'), "colour without a terminal");
}

#[test]
fn a_saved_run_has_everything_and_can_be_shown_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let path = path.to_str().unwrap();
    let three = ["--only", "plain,crc32c,crc-fast"];
    let output = quick_bench(&[&three[..], &["--operation", "crc32c", "--save", path]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", complaint(&output));
    let saved = std::fs::read_to_string(path).unwrap();
    assert!(!saved.contains(env!("CARGO_BIN_EXE_fathom")), "a path of this machine");
    let json: Value = serde_json::from_str(&saved).unwrap();
    assert_eq!((&json["schema"], &json["version"]), (&"fathom-run".into(), &1.into()));
    assert!(json["machine"]["processor"].is_object());
    let case = &json["cases"][0];
    assert_eq!(case["contenders"][2]["about"]["version"], "1.10.0");
    assert_eq!(case["check"].as_str().unwrap().len(), 16);
    let rounds = case["measured"]["rounds"].as_array().unwrap();
    assert!(rounds.len() >= 12);
    assert!(rounds[0]["samples"][0]["wall_ns"].as_u64().unwrap() > 0);
    assert!(rounds[0]["samples"][0]["cpu_ns"].is_u64());

    assert_eq!(text(&fathom(&["report", path])), text(&output));
    let csv = text(&fathom(&["report", path, "--format", "csv"]));
    assert_eq!(csv.lines().count(), 4, "{csv}");
    let columns = |line: &str| line.split(',').count();
    assert!(csv.lines().skip(1).all(|l| columns(l) >= columns(csv.lines().next().unwrap())));
    let markdown = text(&fathom(&["report", path, "--format", "markdown"]));
    assert!(markdown.contains("| contender | time |"), "{markdown}");
    let html = text(&fathom(&["report", path, "--format", "html"]));
    assert!(html.contains("<svg") && !html.contains("http-equiv") && !html.contains(" src="));
    let turned = text(&fathom(&["report", path, "--baseline", "crc-fast"]));
    assert!(turned.contains("against crc-fast"), "{turned}");
    assert_eq!(fathom(&["report", path, "--baseline", "nobody"]).status.code(), Some(2));
    let again = fathom(&["report", path, "--format", "json"]);
    let again: Value = serde_json::from_str(&text(&again)).unwrap();
    assert_eq!(again["cases"][0]["measured"], json["cases"][0]["measured"]);

    let same = fathom(&["diff", path, path]);
    assert_eq!(same.status.code(), Some(0));
    assert!(text(&same).contains("not interleaved"), "{}", text(&same));
    assert!(!text(&same).contains("slower than before"));
    for copy in ["b.json", "c.json"] {
        std::fs::copy(path, folder.path().join(copy)).unwrap();
    }
    let history = fathom(&["history", folder.path().to_str().unwrap()]);
    assert!(text(&history).contains("3 runs"), "{}", text(&history));
    std::fs::write(folder.path().join("no-run.json"), "{}").unwrap();
    complains(&fathom(&["history", folder.path().to_str().unwrap()]), 1, "no-run.json");
}

#[test]
fn diff_sees_a_run_that_became_slower_and_one_of_a_later_version() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old.json"), folder.path().join("new.json"));
    let diff = |a: &Path, b: &Path| fathom(&["diff", a.to_str().unwrap(), b.to_str().unwrap()]);
    let mut run = Value::Null;
    // While the machine is busy with something else, nothing may be resolved.
    let is_seen = (0..5).any(|_| {
        let bench = ["--only", "plain", "--operation", "crc32c", "--save", old.to_str().unwrap()];
        let output = quick_bench(&bench);
        assert_eq!(output.status.code(), Some(0), "{}", complaint(&output));
        run = serde_json::from_str(&std::fs::read_to_string(&old).unwrap()).unwrap();
        // Three times as long, in every sample and in what was judged from them.
        for round in run["cases"][0]["measured"]["rounds"].as_array_mut().unwrap() {
            for sample in round["samples"].as_array_mut().unwrap() {
                for clock in ["wall_ns", "cpu_ns"] {
                    sample[clock] = (sample[clock].as_u64().unwrap() * 3).into();
                }
            }
        }
        let median = &mut run["cases"][0]["judged"]["summaries"][0]["ns_median"];
        *median = (median.as_f64().unwrap() * 3.0).into();
        std::fs::write(&new, run.to_string()).unwrap();
        text(&diff(&old, &new)).contains("plain: 3.00x slower than before")
    });
    assert!(is_seen && diff(&old, &new).status.code() == Some(1));
    assert!(text(&diff(&new, &old)).contains("plain: 3.00x faster than before"));
    run["version"] = 99.into();
    std::fs::write(&new, run.to_string()).unwrap();
    complains(&diff(&old, &new), 3, "version 99");
    let absent = folder.path().join("absent.json");
    complains(&diff(&old, &absent), 4, "absent.json: No such file");
}

#[test]
fn bench_refuses_what_it_does_not_know_by_name() {
    for (arguments, words) in [
        (&["bench", "checksun"][..], "a similar value exists: 'checksum'"),
        (&["bench", "checksum", "--only", "md5"], "no contender \"md5\""),
        (&["bench", "checksum", "--only", "plain@hoard"], "allocator \"hoard\""),
        (&["bench", "checksum", "-p", "speed=9"], "no parameter \"speed\""),
        (&["bench", "checksum", "-p", "size=many"], "expected a whole number"),
        (&["bench", "checksum", "--operation", "md5"], "no operation \"md5\""),
        (&["bench", "checksum", "--baseline", "nobody"], "--baseline: no contender \"nobody\""),
        (&["bench", "checksum", "Cargo.toml"], "Cargo.toml: this family takes no file"),
    ] {
        complains(&fathom(arguments), 2, words);
    }
}

/// The reference was said to be broken, or a file to have no such operation.
#[test]
fn bench_says_what_is_wrong_with_a_file_or_a_value() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("l.txt"), "a;1\n").unwrap();
    std::fs::write(at("p.gz"), b"\x1f\x8b\x08\0").unwrap();
    for (words, code, said) in [
        ("haversine nope", 4, "nope: No such file or directory"),
        ("json nope", 4, "nope: No such file or directory"),
        ("read nope", 4, "nope: No such file or directory"),
        ("read nope --test", 4, "nope: No such file or directory"),
        ("haversine l.txt", 3, "l.txt: expected a value at byte 0"),
        ("json l.txt", 3, "l.txt: not one JSON document"),
        ("haversine p.gz", 3, "p.gz: compressed"),
        ("json p.gz", 3, "p.gz: compressed"),
        ("json l.txt --operation records", 2, "l.txt: records has data of its own only"),
        ("checksum -p size=-1", 2, "size=-1: expected a whole number"),
        ("checksum -p threads=0", 2, "threads=0: expected 1 to 1024 threads"),
        ("haversine -p count=0", 2, "count=0: 1 to 100M"),
    ] {
        let words: Vec<String> = words
            .split(' ')
            .map(|word| if word.starts_with(['n', 'l', 'p']) { at(word) } else { word.into() })
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = fathom(&[&["bench"], &words[..]].concat());
        let complaint = complaint(&output);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {complaint}");
        assert!(complaint.contains(said), "{words:?}: {complaint}");
        assert!(!complaint.contains("broken"), "{words:?}: {complaint}");
    }
}

#[test]
fn a_file_is_given_to_the_operations_that_take_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    std::fs::write(&path, "[1,2.5]").unwrap();
    for (family, operations) in
        [("json", "dom dom-no-guess dom-interned"), ("text", "utf8 json-valid")]
    {
        let shown = shown(&fathom(&["bench", family, "--test", path.to_str().unwrap()]), 0);
        for operation in operations.split(' ') {
            assert!(shown.contains(&format!("{family} {operation} ")), "{operation}: {shown}");
        }
        let cases = shown.lines().filter(|line| line.starts_with(family)).count();
        assert_eq!(cases, operations.split(' ').count(), "{shown}");
    }
}

#[test]
fn what_was_measured_before_a_value_that_is_none_is_shown() {
    let some = ["bench", "checksum", "--only", "plain", "--operation", "crc32c", "--rounds", "2"];
    let output = fathom(&[&some[..], &["-p", "size=64,x"]].concat());
    let (shown, said) = (text(&output), complaint(&output));
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(shown.contains(" size=64\n") && shown.contains("note: ended early: "), "{shown}");
    assert!(said.contains("size=x: expected a whole number"), "{said}");
}

#[test]
fn test_mode_checks_everybody_and_times_nobody() {
    let text = shown(&fathom(&["bench", "checksum", "--test"]), 0);
    assert!(text.contains("crc32c                   ok"), "{text}");
    assert!(text.contains("has no crc32"), "{text}");
    assert!(!text.contains("faster"), "{text}");
}

#[test]
fn test_mode_and_folders_refuse_what_they_have_no_use_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    for more in [["--save", "x"], ["--rounds", "3"], ["--format", "json"], ["--columns", "time"]] {
        for command in ["bench", "cpu"] {
            let output = fathom(&[&[command, "checksum", "--test"], &more[..]].concat());
            assert_eq!(output.status.code(), Some(2), "{command} {more:?}");
        }
        let output = fathom(&[&["report", path], &more[..]].concat());
        assert_eq!(output.status.code(), Some(2), "report {more:?}");
    }
}

/// It was waited for ten minutes.
#[test]
fn a_program_that_never_says_what_it_is_counts_as_hung() {
    for arguments in [&["own", "sleep 300"][..], &["bench", "checksum", "--worker", "sleep 300"]] {
        complains(&fathom(&[arguments, &["--hang", "200ms"]].concat()), 4, "hung");
    }
}

/// `sh worker.sh GROUP NAME NANOSECONDS BYTES ANSWER END`: a function that says so of each sample; with no bytes
/// it cannot be opened, and with an end it does that when it is asked for numbers beside time.
const WORKER: &str = r#"
while read -r line; do
    case $line in
    *hello*) echo '{"answer":"hello","protocol":1,"program":"sh","contenders":[{"family":"'$1'","name":"'$2'"}]}' ;;
    *open*:null*) echo '{"answer":"opened"}' ;;
    *open*) case $4 in
        none) echo '{"answer":"error","message":"alas"}' ;;
        *) echo '{"answer":"opened","work":{"bytes":'$4',"items":1},"leaves_the_thread":true}' ;;
        esac ;;
    *sample*)
        n=${line#*iterations\":}
        ns=$(($3 * ${n%%,*}))
        sleep $((ns / 1000000000)).$(printf %09d $((ns % 1000000000)))
        echo '{"answer":"sample","wall_ns":'$ns',"check":"'$5'"}' ;;
    *metrics*) ${6:-echo '{"answer":"metrics","metrics":[]}'} ;;
    *) echo '{"answer":"closed"}' ;;
    esac
done"#;

/// Functions like that in a folder, and how `fathom own` starts them.
fn workers(functions: &[&str]) -> (tempfile::TempDir, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("worker.sh");
    std::fs::write(&program, WORKER).unwrap();
    let line = |function: &&str| format!("sh '{}' {function}", program.display());
    (folder, functions.iter().map(line).collect())
}

fn own(programs: &[String], more: &[&str]) -> Output {
    let programs = programs.iter().map(String::as_str);
    let arguments: Vec<&str> =
        ["own"].into_iter().chain(programs).chain(more.iter().copied()).collect();
    fathom(&[&arguments[..], &["--budget", "20ms"]].concat())
}

const ANSWER: &str = "00000000000000aa";

/// The groups after it were not measured, and those before it not shown.
#[test]
fn a_group_that_cannot_be_measured_costs_no_other_group() {
    let good = format!("good f 1000000 8 {ANSWER}");
    let (_folder, programs) = workers(&["bad f 1 none 0", &good]);
    let output = own(&programs, &[]);
    complains(&output, 4, "alas");
    assert!(text(&output).starts_with("good\n"), "{}", text(&output));
    assert!(text(&output).contains("not measured: bad: "), "{}", text(&output));
    let output = own(&programs, &["--only", "bad"]);
    assert_eq!((output.status.code(), &*text(&output)), (Some(4), ""));
}

/// It had a time, and was the baseline.
#[test]
fn the_answer_of_the_first_is_the_right_one_where_it_is_left_out() {
    let right = format!("group right 1000000 8 {ANSWER}");
    let (_folder, programs) = workers(&[&right, "group wrong 1000 8 00000000000000bb"]);
    for more in [&[][..], &["--only", "wrong"]] {
        let text = shown(&own(&programs, more), 1);
        assert!(text.contains("wrong: wrong answer"), "{more:?} {text}");
    }
    let output = own(&programs, &["--only", "nobody"]);
    assert_eq!(output.status.code(), Some(2), "{}", complaint(&output));
    // Not a mistake of the command line, as if somebody had said why.
    let crashing = own(&["sh -c 'exit 7'".to_owned()], &[]);
    assert_eq!(crashing.status.code(), Some(4), "{}", complaint(&crashing));
    assert!(complaint(&crashing).contains(": crashed: exit code 7"), "{}", complaint(&crashing));
}

/// It had its row, as if nothing had happened.
#[test]
fn who_says_no_metrics_when_asked_for_them_has_no_row() {
    for (end, why) in [
        ("'exit 3'", "last: crashed: exit code 3"),
        ("'echo {}'", "last: broken: "),
        ("'sleep 100'", "last: hung"),
    ] {
        let functions = ["first 1000000 8", "last 1000000 8"].map(|words| {
            format!("g {words} {ANSWER} {}", if words.starts_with('l') { end } else { "" })
        });
        let (_folder, programs) = workers(&[&functions[0], &functions[1]]);
        let text = shown(&own(&programs, &["--rounds", "4", "--hang", "1s"]), 1);
        assert!(text.contains(why), "{end}: {text}");
        assert!(text.contains("first     1.000 ms "), "the first is measured: {text}");
    }
}

/// They had no effect, and nobody was told.
#[test]
fn what_a_number_of_rounds_replaces_is_refused_beside_it() {
    for other in [["--target", "2"], ["--repeat", "1s"]] {
        let output = own(&["true".to_owned()], &[&["--rounds", "4"], &other[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{}", complaint(&output));
        let said = format!("'--rounds <N>' cannot be used with '{}", other[0]);
        assert!(complaint(&output).contains(&said), "{}", complaint(&output));
    }
}

/// Its throughput was that of the first one's work.
#[test]
fn who_works_through_something_else_is_not_compared() {
    let [first, other, silent] = ["first 1000000 1000", "other 1000000 2000", "silent 1000000 0"]
        .map(|words| format!("group {words} {ANSWER}"));
    let (_folder, programs) = workers(&[&first, &other, &silent]);
    let text = shown(&own(&programs, &[]), 1);
    let why = "other: broken: works through 2000 bytes, where others do through 1000";
    assert!(text.contains(why), "{text}");
    assert!(!text.contains("silent: broken"), "{text}");
}

#[test]
fn who_reads_zero_whatever_is_asked_is_broken() {
    let [first, zero] = ["first 1000000", "zero 0"].map(|words| format!("g {words} 8 {ANSWER}"));
    let (_folder, programs) = workers(&[&first, &zero]);
    // However many sets of processes are asked for.
    let said = text(&own(&programs, &["--rounds", "12", "--processes", "100"]));
    assert!(said.contains("12 rounds of "), "{said}");
    assert!(said.contains("zero: broken: takes 0 ns for ") && said.contains("not grow"), "{said}");
}

/// What it offers was left out without a word, or took the place of a contender of its name.
#[test]
fn a_worker_is_a_contender_beside_others_of_its_name() {
    let sum = format!("checksum plain 1000000 0 {ANSWER}");
    let (_folder, programs) = workers(&[&sum]);
    let bench = |family: &str, only: &str| {
        let more = ["--operation", "crc32", "-p", "size=64", "--only", only, "--rounds", "2"];
        fathom(&[&["bench", family, "--worker", &programs[0]], &more[..]].concat())
    };
    let output = bench("checksum", "plain,zlib");
    assert!(text(&output).contains("plain (2): wrong answer"), "{}", text(&output));
    assert!(text(&output).contains("baseline"), "{}", text(&output));
    complains(&bench("digest", "plain"), 2, "offers nothing of digest; it has checksum");
}

#[test]
#[ignore = "needs python3: cargo test -- --ignored python3"]
fn an_outside_worker_in_python3_joins_the_family() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/worker.py");
    let worker = format!("python3 '{script}'");
    let text = shown(&quick_bench(&["--operation", "crc32", "--worker", &worker]), 0);
    assert!(text.contains("python-zlib"), "{text}");
}

#[test]
fn run_compares_commands_and_says_what_failed() {
    let commands = ["sleep 0.001", "sleep 0.03", "echo alas >&2; exit 3"];
    let text = shown(&fathom(&[&["run"][..], &commands, &["--rounds", "12"]].concat()), 1);
    assert!(text.contains("slower than sleep 0.001"), "{text}");
    assert!(text.contains("exit code 3: alas"), "{text}");
}

#[test]
fn run_scans_parameters_and_compares_outputs() {
    let line = ["run", "printf {n}", "printf '%s' {n}", "printf x{n}", "--rounds", "8"];
    let more = ["--parameter", "n", "1,2", "--same-output", "--names", "plain,quoted,other"];
    let output = fathom(&[&line[..], &more, &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(1), "one prints something else");
    let run: Value = serde_json::from_str(&text(&output)).unwrap();
    assert_eq!(run["cases"].as_array().unwrap().len(), 2);
    for case in run["cases"].as_array().unwrap() {
        let failures = &case["measured"]["failures"];
        assert!(failures[0].is_null() && failures[1].is_null(), "{failures}");
        assert_eq!(failures[2]["kind"], "wrong_answer");
        assert_eq!(case["contenders"][1]["id"], "quoted");
        assert!(case["contenders"][0]["peak_bytes"].as_u64().unwrap() > 0);
    }
    let unnamed = ["run", "printf {n}", "true", "--rounds", "2", "--parameter", "n", "1,2"];
    let output = fathom(&[&unnamed[..], &["--format", "json"]].concat());
    let run: Value = serde_json::from_str(&text(&output)).unwrap();
    for (case, value) in run["cases"].as_array().unwrap().iter().zip(["1", "2"]) {
        assert_eq!(case["contenders"][0]["id"], "printf {n}", "one series for both cases");
        assert_eq!(case["workload"]["parameters"]["n"], value);
    }
    let output = fathom(&["run", "true", "--parameter", "n", "1,2"]);
    assert!(complaint(&output).contains("no command contains {n}"));
}

#[test]
fn run_without_a_shell_starts_programs_themselves() {
    let text = shown(&fathom(&["run", "-N", "true 'a b' $HOME", "true", "--rounds", "8"]), 0);
    assert!(!text.contains("overhead"), "no shell, no overhead of one");
    let text = shown(&fathom(&["run", "-N", "no-such-program-here", "--rounds", "8"]), 1);
    assert!(text.contains("no-such-program-here"), "{text}");
}

#[test]
fn the_audit_reports_every_fault_for_what_it_is() {
    // Too short to say anything about rates: what must hold always is that nothing is called in the
    // wrong direction and that each fault has its name.
    let output = fathom(&[
        "selftest", "--comparisons", "2", "--slowdowns", "1", "--budget", "30ms", "--budget-same",
        "30ms", "--format", "json",
    ]);
    let audit: Value = serde_json::from_str(&text(&output)).unwrap();
    assert_eq!(audit["same"]["comparisons"], 2);
    for name in ["wrong", "crash", "late-crash", "hang", "hungry"] {
        let faults = audit["faults"].as_array().unwrap();
        let fault = faults.iter().find(|fault| fault["name"] == name).unwrap();
        assert_eq!(fault["as_expected"], true, "{fault}");
    }
}

#[test]
fn the_proof_is_kept_and_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("full.json");
    let full = |more: &[&str]| {
        fathom(&[&["selftest", "--full", file.to_str().unwrap()][..], more].concat())
    };
    let findings = || {
        let saved: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let findings = saved["findings"].as_array().unwrap().clone();
        let bare = ["schema", "proofs"].map(|part| saved[part].clone());
        (findings, bare)
    };
    std::fs::write(&file, "foreign").unwrap();
    let said = format!("{}: no file of findings", file.display());
    let foreign = full(&[]);
    assert_eq!(foreign.status.code(), Some(3));
    assert!(complaint(&foreign).contains(&said), "{}", complaint(&foreign));
    // As mktemp makes it.
    std::fs::write(&file, "").unwrap();
    // Three subjects; how they come out is no matter of so few.
    let small = ["--comparisons", "3", "--slowdowns", "0", "--cpu-runs", "0"];
    let begun = shown(&full(&[&small[..], &["--budget", "1us"]].concat()), 1);
    assert!(begun.contains("0 of 3 done"), "{begun}");
    assert!(begun.ends_with("goes on from here\n"), "{begun}");
    let output = full(&small);
    assert!(output.status.code().is_some_and(|code| code < 2), "{}", complaint(&output));
    assert!(text(&output).contains("identical code: called different "), "{}", text(&output));
    assert!(text(&output).contains("3 of 3 done"), "{}", text(&output));
    let (first, [schema, proofs]) = findings();
    assert_eq!((schema, first.len()), ("fathom-selftest-full".into(), 3));
    assert_eq!(proofs.as_array().unwrap().len(), 1);
    for finding in &first {
        let found = &finding["found"][0];
        assert!(found["ratio"].as_f64().is_some_and(|r| (0.2..5.0).contains(&r)), "{finding}");
    }
    let subjects: Vec<&str> =
        first.iter().filter_map(|finding| finding["unit"]["subject"].as_str()).collect();
    assert_eq!(subjects, ["planted registers", "planted memory", "commands"]);
    let nothing = ["--comparisons", "0", "--slowdowns", "0", "--cpu-runs", "0"];
    assert_eq!(full(&nothing).status.code(), Some(2));
    // Nothing is measured twice.
    full(&small);
    assert_eq!(findings().0, first);
    // A planted difference of each family is more than a test's time: all but one are said to be found.
    let more = ["--comparisons", "3", "--slowdowns", "1", "--cpu-runs", "0"];
    full(&[&more[..], &["--budget", "1us"]].concat());
    let mut saved: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    for proof in saved["proofs"].as_array().unwrap().clone() {
        let what = proof["what"].as_str().unwrap().strip_suffix(" % slower");
        let Some((subject, percent)) = what.and_then(|what| what.rsplit_once(", ")) else {
            continue;
        };
        let percent: u64 = percent.parse().unwrap();
        let least = if subject == "planted memory" { 0 } else { 90 };
        let planted = json!({"subject": subject, "percent": percent, "least": least});
        let unit = json!({"proof": "slower", "planted": planted, "number": 0});
        if subject != "checksum" {
            let finding = json!({"unit": unit, "found": first[0]["found"]});
            saved["findings"].as_array_mut().unwrap().push(finding);
        }
    }
    std::fs::write(&file, saved.to_string()).unwrap();
    full(&more);
    let (all, [_, proofs]) = findings();
    assert_eq!(all[..all.len() - 1], *saved["findings"].as_array().unwrap());
    let last = &all[all.len() - 1];
    assert_eq!(last["unit"]["planted"]["subject"], "checksum", "{last}");
    let ratio = last["found"][0]["ratio"].as_f64();
    assert!(ratio.is_some_and(|r| (0.2..5.0).contains(&r)), "{last}");
    let is_done = |proof: &Value| proof["done"] == proof["asked"];
    assert!(proofs.as_array().unwrap().iter().all(is_done), "{proofs}");
    let what: Vec<&Value> = proofs.as_array().unwrap().iter().map(|proof| &proof["what"]).collect();
    for planted in ["aggregate, 3", "sql, 3", "planted registers, 1"] {
        assert!(what.contains(&&format!("{planted} % slower").into()), "{what:?}");
    }
    let others = fathom(&["selftest", "--full", "Cargo.toml", "--comparisons", "0"]);
    complains(&others, 3, "Cargo.toml");
}

#[test]
fn machine_measures_its_noise_on_request() {
    let text = shown(&fathom(&["machine", "--noise", "1"]), 0);
    assert!(text.contains("registers") && text.contains("memory"), "{text}");
    assert!(text.contains("wall time") && text.contains("CPU time"), "{text}");
}
