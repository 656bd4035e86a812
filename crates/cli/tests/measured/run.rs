//! `fathom run` in the place of hyperfine, and against another revision: what is run when, what is
//! written, who is left.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::signals;
use crate::told::{says, told, words};

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.arg("run").args(arguments).current_dir(folder).output().unwrap()
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn what_surrounds_the_runs_is_run_when_it_should_be() {
    let folder = tempfile::tempdir().unwrap();
    let log = |letter: &str| format!("printf {letter} >> log");
    let lines = ["S", "p", "c", "E", "r"].map(log);
    let [setup, prepare, conclude, cleanup, line] = lines.each_ref().map(String::as_str);
    let around = ["-s", setup, "-p", prepare, "-C", conclude, "-c", cleanup];
    told(0, &run(folder.path(), &[&around[..], &["-w", "0", "-r", "3", line, line]].concat()));
    let text = fs::read_to_string(folder.path().join("log")).unwrap();
    let runs = text.strip_prefix("SS").and_then(|text| text.strip_suffix("EE")).unwrap();
    // Two commands, each checked once, a warm-up that the plan cannot do without, and three rounds: the
    // latter two with the hidden copy.
    assert_eq!(runs, "prc".repeat(2 + 3 + 9), "{text}");
}

#[test]
fn a_file_that_is_not_there_is_named_and_not_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let said = told(4, &run(folder.path(), &["--input", "no such", "-r", "3", "cat"]));
    assert!(said.contains("--input no such: No such file or directory"), "{said}");
    // One that is to be made first is missed when it is wanted.
    let line = ["--setup", "true", "--input", "no such", "-r", "3", "cat"];
    let said = told(1, &run(folder.path(), &line));
    let missing = "cat: broken: input \"no such\": No such file or directory";
    assert!(said.contains(missing), "{said}");
}

#[test]
fn a_reference_has_a_name_and_a_shell_is_no_blank() {
    let folder = tempfile::tempdir().unwrap();
    let named = ["-r", "3", "true", "--reference", ":", "--reference-name", "base"];
    let output = run(folder.path(), &named);
    assert!(words(&output).contains("base"), "{}", words(&output));
    says(2, &run(folder.path(), &["-S", "", "true"]), "--shell: ");
}

/// The second one replaced the first.
#[test]
fn two_outputs_of_one_file_are_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    for words_of_outputs in [
        ["--save", "x", "--output", "x"],
        ["--export-csv", "x", "--export-json", "./x"],
        ["--export-markdown", "x", "--save", "x"],
    ] {
        let words_of_run = [&words_of_outputs[..], &["-r", "3", "touch ran"]].concat();
        let output = run(folder.path(), &words_of_run);
        let said = words(&output);
        assert!(said.contains(" are the same file") && output.status.code() != Some(0), "{said}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{words_of_outputs:?}");
    }
    told(0, &run(folder.path(), &["--save", "run.json", "-r", "3", "true"]));
    let before = fs::read(folder.path().join("run.json")).unwrap();
    for line in [
        "report run.json -o run.json", "report run.json --save ./run.json",
        "diff run.json run.json -o run.json", "cpu --join run.json run.json -o run.json",
    ] {
        let mut fathom = Command::new(env!("CARGO_BIN_EXE_fathom"));
        let output = fathom.args(line.split(' ')).current_dir(folder.path()).output().unwrap();
        let said = words(&output);
        assert!(said.contains("would replace the input run.json"), "{line}: {said}");
    }
    assert_eq!(fs::read(folder.path().join("run.json")).unwrap(), before);
    told(0, &run(folder.path(), &["--export-csv", "-", "--export-json", "-", "-r", "3", "true"]));
}

/// It was told when everything had been measured.
#[test]
fn what_can_be_neither_written_nor_drawn_is_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    for (outputs, code, why) in [
        (["--report", "."], 4, "cannot write ."),
        (["--save", "new/x"], 4, "cannot create new/x"),
        (["--export-csv", "new/x"], 4, "cannot create new/x"),
        (["--format", "svg"], 2, "only a run over several values of one number can be drawn"),
    ] {
        let words_of_run = [&outputs[..], &["-r", "3", "touch ran"]].concat();
        says(code, &run(folder.path(), &words_of_run), why);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{outputs:?}");
    }
    // With --against its values would be in cases of their own.
    let line = ["--against", "HEAD", "-P", "n", "1", "3", "--format", "svg", "true {n}"];
    let said = told(2, &run(folder.path(), &line));
    assert!(said.contains("only a run over several values of one number can be drawn"), "{said}");
    // A folder that is to be made.
    told(0, &run(folder.path(), &["--save", "new/sub/", "-r", "3", "true"]));
    assert_eq!(fs::read_dir(folder.path().join("new/sub")).unwrap().count(), 1);
    // What is looked at later than outputs does not exist.
    for line in ["bench checksum --only nobody", "cpu nothing", "own nowhere"] {
        let mut fathom = Command::new(env!("CARGO_BIN_EXE_fathom"));
        let fathom = fathom.args(line.split(' ')).args(["-o", "."]).current_dir(folder.path());
        let output = fathom.output().unwrap();
        assert!(words(&output).contains("cannot write ."), "{line}: {}", words(&output));
    }
}

/// Both were called no run over several values of one number, when everything had been measured.
#[test]
fn scans_with_failures_or_a_value_twice_are_scans() {
    let over = |kind: &str, values: &str, command: &str| {
        let line = ["-r", "3", "--format", "svg", kind, "n", values, command];
        run(tempfile::tempdir().unwrap().path(), &line)
    };
    for kind in ["-L", "--parameter"] {
        let said = told(1, &over(kind, "1,2", "test {n} = 1"));
        assert!(said.contains("fewer than two values have times"), "{said}");
        assert!(said.contains("exit code 1") && said.contains("3 rounds"), "{said}");
    }
    let said = told(0, &over("-L", "1,1,2", "true {n}"));
    assert_eq!((said.matches("<polyline").count(), said.matches("<circle").count()), (1, 3));
}

#[test]
fn the_help_leaves_out_what_every_run_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let help = words(&run(folder.path(), &["--help"]));
    assert!(help.contains("--rounds") && !help.contains("--processes"), "{help}");
    says(2, &run(folder.path(), &["--processes", "4", "true"]), "a fresh process already");
}

#[test]
fn failing_set_up_costs_the_row_and_failing_clean_up_the_code() {
    let folder = tempfile::tempdir().unwrap();
    let line = ["-s", "echo no >&2; exit 7", "-s", "true", "true", "true", "-r", "2"];
    says(1, &run(folder.path(), &line), "set-up");
    let said = told(1, &run(folder.path(), &["-c", "exit 7", "true", "true", "-r", "2"]));
    assert!(said.contains("note: true: broken: clean-up"), "{said}");
}

#[test]
fn numbers_of_runs_are_what_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, least, most) in [
        (&["-r", "30"][..], 30, 30),
        (&["-m", "40", "--budget", "1ms"], 40, 40),
        (&["-M", "3", "--budget", "10s"], 3, 3),
        (&["-m", "5", "-M", "50", "--budget", "1ms"], 5, 50),
    ] {
        let more = ["-N", "true", "true", "--export-json", "x"];
        told(0, &run(folder.path(), &[arguments, &more].concat()));
        let runs = json(&folder.path().join("x"))["results"][1]["times"].as_array().unwrap().len();
        assert!((least..=most).contains(&runs), "{arguments:?}: {runs}");
    }
}

#[test]
fn values_of_lists_and_scans_are_contenders_and_those_of_parameter_are_cases() {
    let folder = tempfile::tempdir().unwrap();
    let more = [
        "-r", "2", "-w", "0", "--format", "json", "--export-csv", "x.csv", "--export-json",
        "x.json",
    ];
    let lists =
        ["-L", "a", "1,2", "-P", "b", "0.5", "1", "-D", "0.5", "echo {a}{b}", "echo y{a}{b}"];
    let output = run(folder.path(), &[&lists[..], &more].concat());
    told(0, &output);
    let results = json(&folder.path().join("x.json"));
    let commands: Vec<&str> =
        (0..8).map(|n| results["results"][n]["command"].as_str().unwrap()).collect();
    let order = [
        "echo 10.5", "echo y10.5", "echo 20.5", "echo y20.5", "echo 11.0", "echo y11.0",
        "echo 21.0", "echo y21.0",
    ];
    assert_eq!(commands, order, "as hyperfine has them");
    assert_eq!(results["results"][7]["parameters"], serde_json::json!({"a": "2", "b": "1.0"}));
    let csv = fs::read_to_string(folder.path().join("x.csv")).unwrap();
    let head = csv.lines().next().unwrap();
    assert_eq!(head, "command,mean,stddev,median,user,system,min,max,parameter_a,parameter_b");
    assert!(csv.lines().nth(3).unwrap().ends_with(",2,0.5"), "{csv}");
    let saved: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(saved["cases"].as_array().unwrap().len(), 1);

    let output =
        run(folder.path(), &[&["--parameter", "a", "1,2", "echo {a}"][..], &more].concat());
    let saved: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(saved["cases"].as_array().unwrap().len(), 2, "{}", words(&output));
    for (arguments, complaint) in [
        (&["-P", "n", "1,2", "sleep {n}", "true"][..], "-L NAME A,B"),
        (&["-L", "n", "1,2", "true"], "no command contains {n}"),
        (&["-L", "n", "1,2", "--parameter", "n", "3", "echo {n}"], "n is given twice"),
        (&["-P", "n", "1", "2", "-L", "n", "3", "echo {n}"], "n is given twice"),
        (&["--names", " ,b", "true", "false"], "a name is blank"),
        (&["-n", "", "true"], "fathom: a name is blank"),
        (&["-D", "2", "true"], "--parameter-scan"),
        (&["-n", "a", "-n", "b", "true"], "more names than commands"),
        (&["-L", "n", "1,2", "--reference", "true {n}", "true {n}"], "the reference has no values"),
        (&["-L", "n", "1,2", "--reference", ":", "-p", "echo {n}", ":"], "has no values"),
        (&["-p", "a", "-p", "b", "true"], "--prepare: give one for all"),
        (&["-m", "5", "-M", "4", "true"], "more than --max-runs"),
        (&["--columns", "memory", "true"], "possible values: time, bar"),
    ] {
        let said = told(2, &run(folder.path(), arguments));
        assert!(said.contains(complaint), "{arguments:?} {said}");
    }
}

/// The reference had each value, a name was the first command's alone, and one for each contender was too many.
#[test]
fn a_reference_is_one_command_and_names_are_for_all_or_one_for_each_contender() {
    let folder = tempfile::tempdir().unwrap();
    let commands = |more: &[&str]| -> Vec<String> {
        let line = [
            "-L", "n", "1,2", "-r", "2", "-w", "0", "--export-json", "x.json", "--export-csv",
            "x.csv", "true {n}",
        ];
        told(0, &run(folder.path(), &[&line[..], more].concat()));
        let results = json(&folder.path().join("x.json"));
        let results = results["results"].as_array().unwrap().iter();
        results.map(|result| result["command"].as_str().unwrap().to_owned()).collect()
    };
    let prepared = ["--reference", ":", "-p", "echo r >> log", "-p", "echo {n} >> log", "-p", ":"];
    assert_eq!(commands(&prepared), [":", "true 1", "true 2"]);
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(log.contains('r') && log.contains('1') && !log.contains('2'), "{log}");
    let csv = fs::read_to_string(folder.path().join("x.csv")).unwrap();
    let ends: Vec<&str> = csv.lines().map(|line| line.rsplit(',').next().unwrap()).collect();
    assert_eq!(ends, ["parameter_n", "", "1", "2"]);
    assert_eq!(commands(&["-n", "one", "-n", "two"]), ["one", "two"]);
    let both = ["both 1", "both 1", "both 2", "both 2"];
    assert_eq!(commands(&["false {n} || :", "-n", "both {n}"]), both);
}

/// What the check had seen was forgotten, and whoever ran first was right.
#[test]
fn an_output_that_changes_is_its_own_command_s_failure() {
    let changing = "test -e ran && echo b || { touch ran; echo a; }";
    let line = ["--same-output", "-r", "3", "--names", "changing,same", changing, "echo a"];
    let said = told(1, &run(tempfile::tempdir().unwrap().path(), &line));
    assert!(said.contains("\nchanging: wrong answer: "), "{said}");
    assert!(said.contains("\nthe hidden copy of changing: wrong answer: "), "{said}");
    assert!(!said.contains("\nsame: "), "{said}");
}

/// The second scan took the values of the first, too.
#[test]
fn several_scans_give_every_combination_and_lists_escape_commas() {
    let folder = tempfile::tempdir().unwrap();
    let scans = ["-P", "n", "1", "2", "-P", "m", "0", "1", "-L", "x", r"a\,b,c"];
    let more = ["-r", "2", "-w", "0", "--export-json", "x.json", "echo {n}{m}{x}"];
    told(0, &run(folder.path(), &[&scans[..], &more].concat()));
    let results = json(&folder.path().join("x.json"))["results"].as_array().unwrap().clone();
    let commands: BTreeSet<&str> = results.iter().filter_map(|r| r["command"].as_str()).collect();
    let all = ["10a,b", "10c", "11a,b", "11c", "20a,b", "20c", "21a,b", "21c"];
    assert_eq!(commands, all.map(|line| format!("echo {line}")).iter().map(|s| &**s).collect());
}

/// Two contenders had one name, and `diff` compared the one's time with the other's.
#[test]
fn a_value_that_the_command_does_not_show_is_in_the_name() {
    let folder = tempfile::tempdir().unwrap();
    let line = [
        "-N", "-r", "2", "-w", "0", "-L", "a", "1,2", "-L", "b", "3,4", "-p", "true {b}",
        "--export-json", "x.json", "true {a}",
    ];
    told(0, &run(folder.path(), &line));
    let results = json(&folder.path().join("x.json"))["results"].as_array().unwrap().clone();
    let names: Vec<&str> = results.iter().filter_map(|r| r["command"].as_str()).collect();
    assert_eq!(names, ["true 1 b=3", "true 2 b=3", "true 1 b=4", "true 2 b=4"]);
}

/// What an empty command prints, nothing, was as good as anything.
#[test]
fn an_empty_command_is_one_like_others() {
    let folder = tempfile::tempdir().unwrap();
    says(1, &run(folder.path(), &["--same-output", "-r", "3", "echo a", ""]), "\n'': wrong answer");
    let output = run(folder.path(), &["-N", "-r", "3", "true", ""]);
    let said = "'': broken: without a shell there is no empty command";
    assert!(words(&output).contains(said), "{}", words(&output));
}

/// They ended the program, whatever they were for.
#[test]
fn names_of_files_need_not_be_unicode() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let name = std::ffi::OsStr::from_bytes(b"b\xff.txt");
    fs::write(folder.path().join(name), "data\n").unwrap();
    let fathom = |line: &str, last: &str| {
        let mut fathom = Command::new(env!("CARGO_BIN_EXE_fathom"));
        let fathom = fathom.args(line.split(' ')).arg(name).arg(last).current_dir(folder.path());
        fathom.output().unwrap()
    };
    told(0, &fathom("run -r 2 --save run.json --input", "cat"));
    let saved = json(&folder.path().join("run.json"));
    assert_eq!(saved["cases"][0]["workload"]["file"], "b\u{fffd}.txt");
    told(0, &fathom("run -r 2 --save", "true"));
    says(2, &fathom("bench codec", "--test"), ": no Unicode, so no worker");
}

#[test]
fn columns_are_in_every_form_and_output_goes_where_it_should() {
    let folder = tempfile::tempdir().unwrap();
    let columns = ["--columns", "min,user,system,faults,switches", "-u", "second"];
    let busy = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; echo done";
    for (format, head) in [
        ("text", "contender min user system faults switches against"),
        ("markdown", "| contender | min | user | system | faults | switches |"),
        ("html", "class=\"n\">min</th><th scope=\"col\" class=\"n\">user</th>"),
        ("csv", "ns_user,ns_system,minor_faults,major_faults,voluntary_switches"),
    ] {
        let more = ["-r", "3", "--format", format, "--output", "out", busy];
        let said = told(0, &run(folder.path(), &[&columns[..], &more].concat()));
        let shown: Vec<String> = said.split_whitespace().map(str::to_owned).collect();
        assert!(shown.join(" ").contains(head), "{said}");
        assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "done\n");
    }
    let more = ["-r", "3", "--format", "json", busy, "sleep 0.05"];
    let output = run(folder.path(), &more);
    let saved: Value = serde_json::from_slice(&output.stdout).unwrap();
    let usage = &saved["cases"][0]["judged"]["usage"];
    let of = |row: usize, what: &str| usage[row][what].as_f64().unwrap();
    let [busy, idle] = [0, 1].map(|row| of(row, "ns_user"));
    assert!(busy > 2e6 && busy > 5.0 * idle, "{}", words(&output));
    assert!(of(1, "voluntary_switches") >= 1.0, "a sleeper gives the processor up");
    assert!(of(0, "minor_faults") > 10.0);
    let seen = run(folder.path(), &["-r", "2", "--show-output", "--style", "none", "echo seen"]);
    assert!(String::from_utf8_lossy(&seen.stdout).lines().all(|line| line == "seen"));
    assert!(seen.stdout.len() > 10, "{}", words(&seen));
    // A command that failed, and with it everything, was not told at all.
    let failed = run(folder.path(), &["-N", "-r", "2", "--style", "none", "true", "false"]);
    assert!(told(1, &failed).contains("fathom: false: crashed: "), "{}", words(&failed));
    // What was asked for and is not there was left out without a word.
    let none = run(folder.path(), &["-r", "1", "--columns", "counters", "true", "sleep 0.01"]);
    let shown: Vec<String> = words(&none).split_whitespace().map(str::to_owned).collect();
    assert!(shown.join(" ").contains("contender counters against true"), "{}", words(&none));
    assert!(words(&none).contains(" in 1 of 1 round:"), "{}", words(&none));
    // No table is not nothing.
    let machines = run(folder.path(), &["-r", "2", "--style", "none", "--format", "json", "true"]);
    assert!(serde_json::from_slice::<Value>(&machines.stdout).is_ok(), "{}", words(&machines));
}

#[test]
fn exit_codes_are_ignored_as_asked_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    for (option, code) in [("-i", 0), ("-i=3,4", 0), ("--ignore-failure", 0), ("-i=4", 1)] {
        told(code, &run(folder.path(), &[option, "exit 3", "-r", "2", "--export-json", "x"]));
        if code == 0 {
            let codes = &json(&folder.path().join("x"))["results"][0]["exit_codes"];
            assert_eq!(*codes, serde_json::json!([3, 3]));
        }
    }
    for (impossible, why) in [("--accept=256", "0..=255"), ("-i=256", "from 0 to 255")] {
        says(2, &run(folder.path(), &[impossible, "touch ran"]), why);
    }
    assert!(!folder.path().join("ran").exists());
    told(1, &run(folder.path(), &["-i", "kill -9 $$", "-r", "2"]));
}

/// The members of a value and their kinds, of lists those of the first item.
fn shape(value: &Value, at: &str, found: &mut BTreeSet<String>) {
    let kind = match value {
        Value::Array(items) => {
            items.first().iter().for_each(|item| shape(item, &format!("{at}[]"), found));
            "list"
        }
        Value::Object(members) => {
            members.iter().for_each(|(name, item)| shape(item, &format!("{at}.{name}"), found));
            "object"
        }
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Null => "null",
        Value::Bool(_) => "bool",
    };
    found.insert(format!("{at}: {kind}"));
}

#[test]
#[ignore = "needs hyperfine: cargo test -- --ignored hyperfine"]
fn scripts_for_hyperfine_run_unchanged_and_write_the_same_shapes() {
    let scripts: &[&[&str]] = &[
        &["-r", "4", "-w", "1", "sleep 0.03", "sleep 0.02"],
        &["-N", "--runs", "3", "-n", "one", "-n", "two", "true", "sleep 0.02"],
        &[
            "-r", "3", "-L", "n", "1,2", "-p", "true {n}", "-c", "true", "-s", "true",
            "sleep 0.0{n}",
        ],
        &["-r", "2", "-P", "n", "1", "3", "-D", "1", "--shell", "none", "sleep 0.0{n}"],
        &[
            "-m", "2", "-M", "5", "-i", "--shell", "bash --norc", "sleep 0.02; exit 3", "--output",
            "pipe",
        ],
        &["-r", "1", "-u", "millisecond", "--show-output", "sleep 0.02; echo x"],
        &["--warmup", "2", "-r", "2", "-S", "default", "true; sleep 0.02", "sleep 0.02"],
    ];
    let folder = tempfile::tempdir().unwrap();
    let exports = [
        "--export-json=x", "--export-csv=y", "--export-markdown=z", "--export-asciidoc=a",
        "--export-orgmode=o",
    ];
    for script in scripts {
        let script = [script, &exports[..]].concat();
        let files = |output: Output| {
            assert_eq!(output.status.code(), Some(0), "{script:?} {}", words(&output));
            ["x", "y", "z", "a", "o"].map(|name| {
                let text = fs::read_to_string(folder.path().join(name)).unwrap();
                fs::remove_file(folder.path().join(name)).unwrap();
                text
            })
        };
        let theirs = Command::new("hyperfine").args(&script).current_dir(folder.path()).output();
        let [theirs, their_csv, their_tables @ ..] = files(theirs.unwrap());
        let [ours, our_csv, our_tables @ ..] = files(run(folder.path(), &script));
        let shapes = [&theirs, &ours].map(|text| {
            let mut found = BTreeSet::new();
            shape(&serde_json::from_str(text).unwrap(), "", &mut found);
            // Of later versions than the one in Debian.
            found.retain(|line| !line.contains("memory_usage_byte"));
            found
        });
        assert_eq!(shapes[0], shapes[1], "{script:?}");
        let values = |text: &str, name: &str| {
            let value: Value = serde_json::from_str(text).unwrap();
            let results = value["results"].as_array().unwrap().clone();
            results.iter().map(|result| result[name].clone()).collect::<Vec<_>>()
        };
        for name in ["parameters", "exit_codes"] {
            // -m and -M leave their number to either.
            let all = |text| {
                values(text, name)
                    .into_iter()
                    .map(|mut codes| {
                        if let (true, Some(codes)) = (script.contains(&"-m"), codes.as_array_mut())
                        {
                            codes.truncate(2);
                        }
                        codes
                    })
                    .collect::<Vec<_>>()
            };
            assert_eq!(all(&theirs), all(&ours), "{script:?}");
        }
        assert_eq!(their_csv.lines().next(), our_csv.lines().next(), "{script:?}");
        assert_eq!(their_csv.lines().count(), our_csv.lines().count(), "{script:?}");
        for (theirs, ours) in their_tables.iter().zip(&our_tables) {
            // The unit is that of the first mean, which is anybody's.
            let head = |text: &str| text.lines().next().unwrap().replace("[µs]", "[ms]");
            assert_eq!(head(theirs), head(ours), "{script:?}");
            assert_eq!(theirs.lines().count(), ours.lines().count(), "{script:?}");
        }
    }
}

/// It was refused.
#[test]
fn a_parameter_may_decide_where_output_goes_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let line = ["-r", "1", "-L", "f", "a,b", "--output", "{f}.txt", "echo hi"];
    told(0, &run(folder.path(), &line));
    for name in ["a.txt", "b.txt"] {
        assert!(fs::read_to_string(folder.path().join(name)).unwrap().starts_with("hi\n"));
    }
}

/// It was that of the other commands.
#[test]
fn help_tells_the_budget_of_a_run_of_commands() {
    let help = words(&run(Path::new("."), &["--help"]));
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("[default: 10s]") && !help.contains("[default: 2s]"));
}

/// A repository with one commit, whose program sleeps for this long.
fn repository(folder: &Path, seconds: &str) {
    git(folder, &["init", "--quiet"]);
    git(folder, &["config", "user.email", "a@example.org"]);
    git(folder, &["config", "user.name", "a"]);
    fs::create_dir(folder.join("sub")).unwrap();
    fs::write(folder.join("sub/source"), format!("sleep {seconds}\n")).unwrap();
    git(folder, &["add", "."]);
    git(folder, &["commit", "--quiet", "-m", "first"]);
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    String::from_utf8(output.stdout).unwrap()
}

const BUILD: &[&str] = &["--against", "HEAD", "--build", "cp source built && echo b >> $HOME/log"];

fn against(folder: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.arg("run").args(BUILD).args(more).arg("sh built").current_dir(folder.join("sub"));
    command.env("HOME", folder).env("TMPDIR", folder).output().unwrap()
}

fn is_clean(folder: &Path) -> bool {
    let left = fs::read_dir(folder).unwrap().filter(|entry| {
        entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("fathom-")
    });
    git(folder, &["worktree", "list"]).lines().count() == 1 && left.count() == 0
}

#[test]
fn a_regression_against_a_revision_ends_with_1_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    repository(folder, "0.002");
    fs::write(folder.join("sub/source"), "sleep 0.03\n").unwrap();
    let said = told(1, &against(folder, &["-r", "60", "--format", "markdown"]));
    assert!(said.contains("Note: REGRESSION: slower than HEAD ("), "{said}");
    assert!(said.contains("| this tree |"), "{said}");
    assert!(is_clean(folder));
    // Far less than ten times; and faster is no regression.
    told(0, &against(folder, &["-r", "60", "--tolerance", "1000"]));
    fs::write(folder.join("sub/source"), ":\n").unwrap();
    says(0, &against(folder, &["-r", "60"]), "note: no command is slower than HEAD");
    assert!(is_clean(folder));
}

#[test]
fn a_cached_revision_is_built_once_and_a_build_that_fails_is_no_comparison() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    repository(folder, "0.001");
    let builds = || fs::read_to_string(folder.join("log")).unwrap().lines().count();
    let cached = |more: &[&str]| {
        let all = [&["--against", "HEAD", "--cache", "../cache", "-r", "3"][..], more].concat();
        run(&folder.join("sub"), &all)
    };
    for wanted in [2, 3] {
        told(0, &against(folder, &["-r", "3", "--cache", "../cache"]));
        assert_eq!(builds(), wanted);
        // After a run that builds nothing all was built again.
        told(0, &cached(&["sh source"]));
    }
    // What another build left that failed was measured.
    told(1, &cached(&["--build", "echo exit 3 > built; false", "true"]));
    told(0, &against(folder, &["-r", "3", "--cache", "../cache"]));
    assert_eq!(builds(), 5);
    // A check-out that was killed half-way: half a tree was measured.
    let commit = git(folder, &["rev-parse", "HEAD"]).trim().to_owned();
    let tree = folder.join("cache").join(&commit);
    fs::remove_dir_all(tree.join("sub")).unwrap();
    fs::write(tree.with_extension("begun"), "").unwrap();
    fs::write(folder.join(".git/worktrees").join(commit).join("locked"), "initializing").unwrap();
    told(0, &against(folder, &["-r", "3", "--cache", "../cache"]));
    assert_eq!(builds(), 7);
    assert!(tree.join("sub/built").exists() && !tree.with_extension("begun").exists());
    // Two at once took each other's for half a tree.
    let both = std::thread::scope(|scope| {
        let one = || scope.spawn(move || against(folder, &["-r", "3", "--cache", "../both"]));
        [one(), one()].map(|run| run.join().unwrap())
    });
    for output in &both {
        told(0, output);
    }
    fs::remove_file(folder.join("sub/source")).unwrap();
    told(1, &against(folder, &["-r", "3"]));
    let failing = ["--against", "HEAD", "--build", "exit 4", "true"];
    says(1, &run(&folder.join("sub"), &failing), "nothing could be compared");
    says(2, &run(&folder.join("sub"), &["--against", "no-such", "true"]), "no commit \"no-such\"");
}

/// It was cut off.
#[test]
fn a_folder_may_begin_with_a_blank() {
    let folder = tempfile::tempdir().unwrap();
    repository(folder.path(), "0");
    git(folder.path(), &["mv", "sub", " sub"]);
    git(folder.path(), &["commit", "--quiet", "-m", "second"]);
    told(0, &run(&folder.path().join(" sub"), &["--against", "HEAD", "-r", "2", "sh source"]));
}

#[test]
fn an_interrupt_removes_the_worktree() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    repository(folder, "0.001");
    for stage in [
        &["--build", "touch $HOME/begun; sleep 7001", "true"][..],
        &["touch $HOME/begun; sleep 7001"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        command.args(["run", "--against", "HEAD"]).args(stage).current_dir(folder);
        let mut child = command.env("HOME", folder).env("TMPDIR", folder).spawn().unwrap();
        while !folder.join("begun").exists() {
            assert!(child.try_wait().unwrap().is_none(), "it ended early");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(!is_clean(folder));
        signals::send("INT", child.id());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert!(is_clean(folder), "{stage:?}");
        fs::remove_file(folder.join("begun")).unwrap();
    }
}

#[test]
fn the_action_uses_options_that_exist() {
    let help = words(&run(Path::new("."), &["--help"]));
    let action = concat!(env!("CARGO_MANIFEST_DIR"), "/../../action.yml");
    let action = fs::read_to_string(action).unwrap();
    let line = action.split("bin/fathom\" run").nth(1).unwrap().split("\n\n").next().unwrap();
    let options: Vec<&str> =
        line.split_whitespace().filter(|word| word.starts_with("--")).collect();
    assert!(options.len() >= 5, "{options:?}");
    for option in options.iter().filter(|option| **option != "--") {
        assert!(help.contains(&format!("{option} <")), "{option}");
    }
}

#[test]
fn the_action_shows_no_result_of_the_use_before() {
    let action = concat!(env!("CARGO_MANIFEST_DIR"), "/../../action.yml");
    let action = fs::read_to_string(action).unwrap();
    let script = action.split("- id: measure").nth(1).unwrap().split("run: |").nth(1).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let [comment, summary] = ["fathom-comment.md", "summary"].map(|name| folder.path().join(name));
    fs::write(&comment, "faster").unwrap();
    // There is no program, so that it fails.
    let mut command = Command::new("bash");
    command.args(["-e", "-c", script]).env("RUNNER_TEMP", folder.path());
    command.env("GITHUB_OUTPUT", folder.path().join("output"));
    told(127, &command.env("GITHUB_STEP_SUMMARY", &summary).output().unwrap());
    assert!(!comment.exists() && !summary.exists());
}

#[test]
fn no_other_takes_the_place_of_a_reference_that_fails() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("run.json");
    let name = saved.to_str().unwrap();
    let lines = ["--reference", "exit 3", "true", ":", "-r", "20", "--save", name];
    let text = told(1, &run(folder.path(), &lines));
    for command in ["true", ":"] {
        let sentence = format!("{command} against exit 3: no verdict, because the baseline failed");
        assert!(text.contains(&sentence), "{text}");
    }
    let case = &json(&saved)["cases"][0];
    let baseline = case["roles"]["baseline"].as_u64().unwrap() as usize;
    assert_eq!(case["contenders"][baseline]["id"], "exit 3");
    // Unnamed, the baseline is the first that passes.
    let output = run(folder.path(), &["exit 3", "true", ":", "-r", "20"]);
    assert!(words(&output).contains("against true"), "{}", words(&output));
}
