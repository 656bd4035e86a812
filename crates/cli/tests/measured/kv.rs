//! `fathom kv` and `fathom kv bench` from the outside, on few keys: shape of the answer, names,
//! and structures that fail on purpose. Times are not looked at.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use fathom_contenders::allocator::{CHOICES, PRELOADS, Preload};
use serde_json::Value;

fn fathom(folder: &Path, line: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_fathom");
    Command::new(program).args(line.split_whitespace()).current_dir(folder).output().unwrap()
}

fn json(folder: &Path, line: &str, code: i32) -> Value {
    let output = fathom(folder, line);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{line}: {stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Checks that a command ends with this code, and says this.
#[track_caller]
fn says(folder: &Path, line: &str, code: i32, words: &str) -> Output {
    let output = fathom(folder, line);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{line}: {stderr}");
    assert!(stderr.contains(words), "{line}: {stderr}");
    output
}

/// What was said by a command that was interrupted after three seconds.
fn interrupted(folder: &Path, line: &str) -> Output {
    let mut fathom = Command::new(env!("CARGO_BIN_EXE_fathom"));
    fathom.args(line.split_whitespace()).current_dir(folder);
    let child = fathom.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(3));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    child.wait_with_output().unwrap()
}

/// A folder with a file `words` of 3000 keys.
fn words() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let made = fathom(folder.path(), "generate keys -n 3k -k words --duplicates 0.1 -o words");
    assert!(made.status.success());
    folder
}

#[test]
fn a_verdict_has_portrait_rows_advice_and_every_sample() {
    let line = "kv words --budget 2s --structure std,hashbrown,f14,btreemap \
                --hash foldhash,xxhash:XX3_64bits,siphash13 --format json";
    let verdict = json(words().path(), line, 0);
    assert_eq!(verdict["schema"], "fathom-kv");
    assert_eq!(verdict["portrait"]["keys"], 3000);
    assert_eq!(verdict["portrait"]["distinct"], 2700);
    assert_eq!(verdict["baseline"], "std+siphash13");
    let rows = verdict["rows"].as_array().unwrap();
    assert!(rows.len() >= 3, "{rows:?}");
    for row in rows {
        assert!(row["cost_ns"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["live_bytes_per_entry"].as_f64().unwrap() >= 8.0, "{row}");
        assert_eq!(row["operations"].as_array().unwrap().len(), 2);
    }
    assert!(rows.iter().any(|row| row["on_the_front"] == true));
    let advice = verdict["advice"].to_string();
    assert!(advice.contains("For these keys and 80 % finds of present keys"), "{advice}");
    assert!(advice.contains("10 % of the keys repeat"), "{advice}");
    assert_eq!(verdict["run"]["cases"].as_array().unwrap().len(), 2);
    assert!(verdict["scan"]["ns_median"].as_f64().unwrap() > 0.0);
    let page = include_str!("../../../../docs/results.md");
    let section = page.split("## What `kv` concludes").nth(1).unwrap();
    for name in verdict.as_object().unwrap().keys().chain(rows[0].as_object().unwrap().keys()) {
        assert!(section.contains(&format!("`{name}`")), "{name} is not explained");
    }
}

#[test]
fn a_table_made_for_the_keys_is_measured_against_the_others_and_written() {
    let folder = words();
    let line = "kv words --budget 2s -a system -d std,hashbrown -h foldhash --specialise=made --format json";
    let verdict = json(folder.path(), line, 0);
    assert_eq!(verdict["mix"], "90 % finds of present keys, 10 % finds of absent keys");
    let rows = verdict["rows"].as_array().unwrap();
    let own = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap();
    for row in ["specialised", "specialised-batch"].map(own) {
        assert!(row["cost_ns"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["bytes_per_entry"].as_f64().unwrap() < 45.0, "{row}");
    }
    let advice = verdict["advice"].to_string();
    assert!(advice.contains("specialised: keys of "), "{advice}");
    assert!(advice.contains(" times the time of "), "{advice}");
    assert!(advice.contains("bytes per entry against"), "{advice}");
    let files = ["keys.bin", "table.hpp", "table.rs", "tests.cpp"];
    let mut written: Vec<String> = std::fs::read_dir(folder.path().join("made"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    written.sort_unstable();
    assert_eq!(written, files);
    let code = std::fs::read_to_string(folder.path().join("made/table.rs")).unwrap();
    assert!(code.contains("A table made for its 2700 keys"), "{}", &code[..300]);
}

#[test]
fn a_table_that_cannot_be_made_or_written_is_refused_before_anything_is_measured() {
    let folder = words();
    let refused = |line: &str, code: i32, why: &str| {
        assert!(says(folder.path(), line, code, why).stdout.is_empty(), "{line}");
    };
    refused("kv words --specialise --mix hit=1,insert=1", 2, "never changes: a --mix of hit");
    refused("kv words --specialise --ordered", 2, "cannot be used with");
    std::fs::create_dir(folder.path().join("full")).unwrap();
    std::fs::write(folder.path().join("full/file"), "mine").unwrap();
    refused("kv words --specialise=full", 2, "full holds something");
    refused("kv words --specialise=words", 2, "would replace the input words");
    refused("kv words --specialise=full/file", 4, "cannot write full/file");
    // The name of a temporary folder was said.
    let no_folder = "cannot write full/file/x: Not a directory (os error 20)\n";
    refused("kv words --specialise=full/file/x", 4, no_folder);
    refused("kv words --specialise=no/such", 4, "cannot write no/such");
    // Nor where another output is the folder, or lies in it.
    refused("kv words --specialise=made -o made", 2, "are the same file");
    refused("kv words --specialise=made --save made", 2, "are the same file");
    refused("kv words --specialise=. -o table.rs", 2, "are the same file");
    std::os::unix::fs::symlink("nowhere", folder.path().join("broken")).unwrap();
    refused("kv words --specialise=broken", 4, "cannot write broken");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

/// The folder we are in, and a link to an empty one: neither can be replaced by another folder.
#[test]
fn a_folder_that_is_there_gets_the_files() {
    let folder = words();
    for name in ["here", "empty"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    std::os::unix::fs::symlink("empty", folder.path().join("link")).unwrap();
    let asked = "--budget 1s --exactly btreemap --brief";
    for (at, words, to) in [("here", "../words", "."), (".", "words", "link")] {
        let line = format!("kv {words} --specialise={to} {asked}");
        let output = fathom(&folder.path().join(at), &line);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !output.stdout.is_empty(), "{line}: {said}");
        let written = std::fs::read_dir(folder.path().join(at).join(to)).unwrap();
        assert_eq!(written.count(), 4, "{line}");
    }
}

/// What was measured by then is of a part of the mix only.
#[test]
fn an_interrupted_mix_has_no_verdict_and_leaves_nothing() {
    let folder = words();
    let line = "kv words --exactly btreemap --mix hit=0.5,miss=0.2,iterate=0.3 --budget 60s --save run.json \
                --specialise=made";
    let output = interrupted(folder.path(), line);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(130), 0), "{said}");
    assert!(
        said.contains("interrupted before ") && said.contains("iterate was")
            || said.contains("iterate were"),
        "{said}"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "the words alone");
}

#[test]
fn what_the_file_was_taken_for_is_said_and_a_table_is_no_list_of_words() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("names"), "Jo Doe\nAl Poe\n").unwrap();
    let bench = "--rounds 2 --operation find-hit -d std";
    let taken = "names: taken for words: 4 keys, the first \"Jo\"; if that is";
    says(folder.path(), &format!("kv bench names {bench}"), 0, taken);
    let taken = "names: taken for lines: 2 keys, the first \"Jo Doe\"\n";
    says(folder.path(), &format!("kv bench names {bench} -F lines"), 0, taken);
    std::fs::write(folder.path().join("table"), "id,name\n1,Jo Doe\n2,Al\n").unwrap();
    says(folder.path(), "kv table", 3, "\"id,name\"; name the column, csv:id");
}

#[test]
fn one_table_serves_the_whole_mix_and_its_memory_is_the_one_shown() {
    let line = "kv words --budget 2s -a system -h siphash13 -d std,cuckoo,griddle --format json";
    let verdict = json(words().path(), line, 0);
    let cases = verdict["run"]["cases"].as_array().unwrap();
    let of = |name: &str| cases.iter().find(|case| case["workload"]["operation"] == name).unwrap();
    let finds = of("find-mixed");
    assert_eq!(finds["workload"]["parameters"]["table"], "grown");
    let live = |case: &Value, id: &str| {
        let rows = case["contenders"].as_array().unwrap();
        let row = rows.iter().find(|row| row["id"] == id).unwrap();
        let metrics = row["metrics"].as_array().unwrap();
        let found = metrics.iter().find(|metric| metric["name"] == "live_bytes_per_entry");
        found.unwrap()["value"].as_f64().unwrap()
    };
    for row in verdict["rows"].as_array().unwrap() {
        let id = row["id"].as_str().unwrap();
        let shown = row["live_bytes_per_entry"].as_f64().unwrap();
        assert_eq!(shown, live(finds, id), "{id}: of the table that was timed");
        assert_eq!(shown, live(of("insert"), id), "{id}: the same table");
    }
}

#[test]
fn whoever_is_wrong_crashes_or_hangs_costs_its_row_only() {
    let line = "kv bench words --hang 2s --rounds 2 --operation find-hit --format json \
                --structure std,planted-wrong,planted-crash,planted-hang,planted-slow";
    let run = json(words().path(), line, 1);
    let case = &run["cases"][1];
    let failure = |name: &str| {
        let rows = case["contenders"].as_array().unwrap();
        let at = rows.iter().position(|row| row["id"] == name).unwrap();
        case["measured"]["failures"][at]["kind"].as_str().unwrap_or("none").to_owned()
    };
    let names = ["std+foldhash", "planted-wrong", "planted-crash", "planted-hang", "planted-slow"];
    let kinds = names.map(failure);
    assert_eq!(kinds, ["none", "wrong_answer", "crashed", "hung", "none"]);
}

#[test]
fn a_verdict_survives_them_too() {
    let line = "kv words --budget 2s --hang 1s --planted --hash siphash13 \
                --mix hit=1 --format json -a system -d std,planted-wrong,planted-crash,planted-hang";
    let verdict = json(words().path(), line, 1);
    let notes = verdict["losses"].to_string();
    assert!(notes.contains("planted-wrong is out: wrong answer"), "{notes}");
    assert!(notes.contains("planted-crash is out: crashed"), "{notes}");
    assert!(notes.contains("planted-hang is out: hung"), "{notes}");
    assert_eq!(verdict["rows"][0]["id"], "std+siphash13");
}

/// Two have a place each; of six hash functions of four structures more than four are near the fastest, if the
/// machine is not disturbed just while most of them are looked at.
#[test]
fn places_are_given_in_rounds_where_there_are_too_few() {
    let folder = words();
    let rungs = |structures: &str| {
        let line = format!(
            "kv words --budget 6s --planted --hash foldhash,ahash,rustc-hash,wyhash,rapidhash,xxh3-64 \
             --mix hit=1 --format json -a system -d {structures}"
        );
        let verdict = json(folder.path(), &line, 0);
        let rungs = verdict["screening"].as_array().unwrap().clone();
        (verdict["rows"].as_array().unwrap().len(), rungs)
    };
    let (_, few) = rungs("btreemap,art");
    assert!(few.iter().all(|rung| rung["in_rounds"] == false), "{few:?}");
    assert!((0..5).any(|_| {
        let (rows, many) = rungs("std,indexmap,griddle,f14-value");
        let [.., before, last] = &many[..] else { panic!("{many:?}") };
        assert_eq!((&last["in_rounds"], &last["kept"]), (&true.into(), &4.into()), "{many:?}");
        assert_eq!(before["kept"], last["candidates"], "{many:?}");
        assert!(rows <= 5, "{many:?}");
        last["candidates"].as_u64() > Some(4)
    }));
}

/// Everybody was told to be interrupted, in a verdict that was shown and saved.
#[test]
fn who_is_interrupted_while_all_get_ready_has_no_verdict() {
    let folder = words();
    let line = "kv words --exactly planted-hang --mix hit=1 --hang 60s --save run.json -o out.txt";
    let output = interrupted(folder.path(), line);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("interrupted before find-hit was measured"), "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "the words alone");
}

#[test]
fn kvbench_s_line_gives_its_blocks_as_valid_json() {
    let folder = words();
    let converted = fathom(folder.path(), "convert -m convert-text -i words -o words.bin");
    assert!(converted.status.success());
    let line = "kv bench -f words.bin -F bin-text -d f14 -h city::cityhash64 --blocks --rounds 3 \
                --operation insert,find-same --record-runs 2";
    let document = json(folder.path(), line, 0);
    let config = &document["config"];
    assert_eq!(config["dataStructure"], "f14-value");
    assert_eq!(config["hashAlgorithm"], "city::cityhash64");
    assert_eq!(config["allocator"], "vanilla malloc or std::allocator");
    assert_eq!((&config["runs"], &config["recordRuns"]), (&3.into(), &2.into()));
    let blocks = document["stats"]["result"].as_array().unwrap();
    let names: Vec<&str> = blocks.iter().map(|b| b["description"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 6);
    assert!(names.contains(&"insert run 1") && names.contains(&"find run 2"), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("benchmark-overhead run ")), "{names:?}");
    for block in blocks {
        assert_eq!(block["total"]["iterations"], 3000);
        assert!(block["perIteration"]["elapsedTimeNs"].as_f64().unwrap() > 0.0);
        assert!(block["total"].get("pmuProgCounter0LLCHits").is_some());
    }
}

#[test]
fn sizes_and_several_values_are_cases_of_their_own() {
    let folder = words();
    let line = "kv bench words -d dashmap,cuckoo --rounds 2 --operation shared,insert \
                --sizes 500..1000:2 -p threads=1,2 --format json";
    let run = json(folder.path(), line, 0);
    let cases = run["cases"].as_array().unwrap();
    // The scan; three sizes, of the operation that threads share with two numbers of them.
    assert_eq!(cases.len(), 1 + 3 * 2 + 3);
    let keys: Vec<u64> = cases.iter().map(|case| case["work"]["items"].as_u64().unwrap()).collect();
    assert_eq!(keys[7..], [500, 1000, 3000]);
    // Threads take a step for each key that is there once, or twice.
    assert_eq!(keys[5..7], [2700, 2700]);
    let threads = |at: usize| cases[at]["workload"]["parameters"]["threads"].as_str().unwrap();
    assert_eq!((threads(1), threads(2)), ("1", "2"));
    // Few probes are touched in nearer caches than many: as many as the others have.
    let few =
        "kv bench words -d std --rounds 2 --operation find-hit -p probes=100,200 --format json";
    let few = json(folder.path(), few, 0);
    let probes = few["cases"].as_array().unwrap().iter();
    let probes = probes.map(|case| case["workload"]["parameters"]["probes"].as_str().unwrap());
    assert_eq!(probes.collect::<Vec<_>>(), ["100", "100", "200"]);
    // Samples lie elsewhere each time, and a later run is to be known as one of the same.
    let again = json(folder.path(), line, 0);
    let workloads = |run: &Value| -> Vec<Value> {
        run["cases"].as_array().unwrap().iter().map(|case| case["workload"].clone()).collect()
    };
    assert_eq!(workloads(&run), workloads(&again));
}

/// It is measured anyway, and no structure has a part in it.
#[test]
fn touching_alone_can_be_asked_for() {
    let folder = words();
    let line = "kv bench words -d std --rounds 2 --operation touch --format json";
    let run = json(folder.path(), line, 0);
    let cases = run["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 1, "{cases:?}");
    assert_eq!(cases[0]["workload"]["operation"], "touch");
}

/// It was none, because keys are touched once, and all of them had no number.
#[test]
fn a_run_over_parts_of_the_keys_can_be_drawn() {
    let folder = words();
    let line = "kv bench words -d std --rounds 2 --operation find-hit --sizes 500..1000:2";
    // Of operations that take all keys, too, which have other parameters.
    for line in
        [line, &line.replace("find-hit", "insert"), &line.replace("find-hit", "insert,find-hit")]
    {
        let svg = fathom(folder.path(), &format!("{line} --format svg --save s.json"));
        let svg = String::from_utf8(svg.stdout).unwrap();
        assert_eq!(
            svg.matches("<polyline").count(),
            line.matches(',').count() + 1,
            "{line}: {svg}"
        );
        let again = fathom(folder.path(), "report s.json --format svg");
        assert_eq!(String::from_utf8(again.stdout).unwrap(), svg);
    }
    says(folder.path(), "kv bench words -d std --operation find-hit --format svg", 2, "only a run");
}

#[test]
fn threads_do_the_whole_mix_and_the_mix_decides_what() {
    let line = "kv words --concurrent 3 --budget 3s -a system -d dashmap,papaya,scc-hash,scc-tree,btreemap \
                -h siphash13,foldhash --mix hit=0.4,miss=0.1,zipf=0.1,insert=0.2,erase=0.1,churn=0.1 \
                --format json";
    let verdict = json(words().path(), line, 0);
    assert_eq!(verdict["baseline"], "dashmap+siphash13");
    assert_eq!(verdict["screening"][0]["failures"].as_array().unwrap().len(), 0, "{verdict}");
    let mix = verdict["mix"].as_str().unwrap();
    assert!(mix.contains("10 % erases") && mix.ends_with("by 3 threads at once"), "{mix}");
    let parameters = &verdict["run"]["cases"][0]["workload"]["parameters"];
    let given = ["threads", "reads", "hit", "hot", "inserts", "erases"].map(|n| &parameters[n]);
    assert_eq!(given, ["3", "0.6000", "0.8000", "0.1667", "0.6250", "0.3750"]);
    let rows = verdict["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["structure"] != "btreemap"), "it is one thread's");
    assert!(rows.iter().all(|row| row["cost_ns"].as_f64().unwrap() > 0.0));
}

#[test]
fn order_is_kept_whatever_the_mix() {
    let folder = words();
    let line = "kv words --ordered --budget 2s -a system -h siphash13 -d std,btreemap,art-blart \
                --mix hit=1 --format json";
    let verdict = json(folder.path(), line, 0);
    let rows = verdict["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["structure"] != "std"), "a hash map has no order");
    assert_eq!(verdict["screening"][0]["unsupported"], 1);
    assert_eq!(verdict["run"]["cases"].as_array().unwrap().len(), 1);

    // A hash map has no ranges to be compared with.
    let line = "kv words --exactly art-blart --budget 1s --mix range=1 --format json";
    let verdict = json(folder.path(), line, 0);
    assert_eq!(verdict["baseline"], "btreemap");
    assert!(verdict["rows"].as_array().unwrap().iter().all(|row| row["cost_ns"].is_number()));
}

#[test]
fn any_structure_runs_on_any_allocator_of_the_build() {
    let folder = words();
    let line = "kv bench words -d btreemap,dashmap --rounds 2 --operation insert,erase \
                -a all --format json";
    let run = json(folder.path(), line, 0);
    let rows = run["cases"][1]["contenders"].as_array().unwrap();
    let ids: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&"btreemap") && ids.contains(&"dashmap+foldhash"), "{ids:?}");
    for name in ["counting", "arena"] {
        let line = format!("kv bench words -d btreemap --rounds 2 --operation insert -a {name}");
        assert_eq!(fathom(folder.path(), &line).status.code(), Some(0), "{name}");
    }
}

#[test]
fn the_list_tells_every_allocator_that_a_process_can_run_on() {
    let folder = tempfile::tempdir().unwrap();
    let listed = |line: &str| String::from_utf8(fathom(folder.path(), line).stdout).unwrap();
    let text = listed("list alloc");
    let (_, processes) = text.split_once("allocators of a whole process").unwrap();
    let line = |name: &str| {
        let found = processes.lines().find(|line| line.split_whitespace().next() == Some(name));
        found.unwrap_or_else(|| panic!("{name}: {processes}"))
    };
    for name in CHOICES {
        assert!(line(name).ends_with("in this program"), "{}", line(name));
    }
    for preload in PRELOADS.iter().filter(|preload| !CHOICES.contains(&preload.name)) {
        let says = match preload.file() {
            Some(file) => format!("preloaded: {}", file.display()),
            None => format!("absent: {}", preload.absence()),
        };
        assert!(line(preload.name).ends_with(&says), "{}", line(preload.name));
    }
    assert_eq!(listed("list alloc arena --format names"), "arena\n");
    let names = listed("list map hashbrown --format names");
    assert!(names.lines().count() > 1, "{names}");
    assert!(names.lines().all(|id| id.starts_with("hashbrown+")), "{names}");
}

#[test]
#[ignore = "needs an allocator that can be preloaded, such as libmimalloc or libjemalloc"]
fn allocators_of_the_machine_are_preloaded_into_workers_and_proven_to_be_in_effect() {
    let folder = words();
    let is_here = |p: &&Preload| p.file().is_some() && !CHOICES.contains(&p.name);
    let here: Vec<&Preload> = PRELOADS.iter().filter(is_here).collect();
    assert!(!here.is_empty(), "none of {PRELOADS:?} is here");
    for preload in here {
        let name = preload.name;
        let line = format!(
            "kv bench words -d btreemap --rounds 2 --operation insert -a system,{name} --format json"
        );
        let run = json(folder.path(), &line, 0);
        let rows = run["cases"][1]["contenders"].as_array().unwrap();
        let ids: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
        assert!(ids.contains(&&*format!("btreemap@{name}")), "{ids:?}");
        // A worker that believes to have been started again for it looks before it serves.
        let mut worker = Command::new(env!("CARGO_BIN_EXE_fathom"));
        worker.args(["worker", "--allocator", name]).env("FATHOM_ALLOCATOR", name);
        let output = worker.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("did not take effect") && !output.status.success(), "{stderr}");
    }
}

/// Puts `keys` keys; after each looks for it, for an older one and for one that is nowhere, and after
/// every third erases an older one.
fn trace(folder: &Path, keys: usize, key: impl Fn(usize) -> String) -> usize {
    let mut lines = Vec::new();
    for at in 0..keys {
        lines.push(format!("put {}", key(at)));
        lines.push(format!("get {}", key(at / 2)));
        lines.push(format!("get {}", key(at)));
        lines.push(format!("get {}", key(at + keys)));
        if at % 3 == 0 {
            lines.push(format!("del {}", key(at / 2)));
        }
    }
    std::fs::write(folder.join("trace"), lines.join("\n")).unwrap();
    lines.len()
}

#[test]
fn a_trace_is_replayed_in_place_of_a_mix() {
    let folder = tempfile::tempdir().unwrap();
    let operations = trace(folder.path(), 3000, |at| format!("key {at}"));
    let line = "kv --trace trace --budget 2s -a system -h siphash13,foldhash \
                -d std,hashbrown,btreemap,fst,planted-wrong --format json --save saved";
    let output = fathom(folder.path(), line);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "planted-wrong is lost: {stderr}");
    let said = "trace: 13000 operations on 6000 keys, at most 2000 there at once and 2000 at the end, \
                taken for byte strings, the first \"key 0\"\n";
    assert!(stderr.contains(said), "{stderr}");
    let verdict: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(verdict["trace"]["operations"], operations);
    assert_eq!(verdict["trace"]["hits"], 5500);
    assert_eq!(verdict["portrait"]["keys"], 6000);
    assert_eq!(verdict["baseline"], "std+siphash13");
    let cases = verdict["run"]["cases"].as_array().unwrap();
    let [case] = &cases[..] else { panic!("{cases:?}") };
    assert_eq!(case["workload"]["operation"], "replay");
    assert_eq!(case["work"]["items"], operations);
    assert_eq!(verdict["screening"][0]["unsupported"], 1, "fst inserts nothing");
    let lost = verdict["losses"].to_string();
    assert!(lost.contains("planted-wrong is out: wrong answer"), "{lost}");
    let rows = verdict["rows"].as_array().unwrap();
    assert!(rows.len() >= 3, "{rows:?}");
    for row in rows {
        assert!(row["cost_ns"].as_f64().unwrap() > 0.0, "{row}");
        // A key has six to eight bytes in the file.
        let bytes = ["bytes_per_entry", "live_bytes_per_entry"].map(|name| row[name].as_f64());
        let borrowed = bytes[0].unwrap() - bytes[1].unwrap();
        assert!((6.0..9.0).contains(&borrowed), "{row}");
    }
    let advice = verdict["advice"].to_string();
    let said = "and this trace (69.2 % gets, 61.1 % of them hits; 23.1 % puts";
    assert!(advice.contains(said), "{advice}");
    assert_eq!(verdict["paste"]["code"].as_array().unwrap().len(), 1);
    let again = fathom(folder.path(), "report saved");
    let again = String::from_utf8_lossy(&again.stdout).into_owned();
    assert!(again.contains("13000 operations on 6000 keys"), "{again}");
}

#[test]
fn a_trace_that_scans_is_for_structures_that_keep_order() {
    let folder = tempfile::tempdir().unwrap();
    let text = (0..2000).map(|at| format!("put {at}\nscan {} 5\n", at / 2)).collect::<String>();
    std::fs::write(folder.path().join("trace"), text).unwrap();
    let line =
        "kv --trace trace --budget 2s -a system -h foldhash -d std,btreemap,scc-tree --format json";
    let verdict = json(folder.path(), line, 0);
    assert_eq!(verdict["baseline"], "btreemap");
    assert_eq!(verdict["screening"][0]["unsupported"], 1, "std has no order");
    assert_eq!(verdict["trace"]["scans"], 2000);
    assert!(!verdict["portrait"]["range"].is_null(), "keys that are numbers are numbers");
    assert!(verdict["paste"]["code"][0].as_str().unwrap().contains("u64, u64"), "{verdict}");
}

/// What the tables of a trace take that were made for each replay was beside every budget.
#[test]
fn a_short_trace_on_many_keys_keeps_its_budget() {
    let folder = words();
    std::fs::write(folder.path().join("trace"), "put zzz\nget zzz\n").unwrap();
    let begun = std::time::Instant::now();
    let line = "kv --trace trace words --budget 1s -d std,btreemap -h siphash13 -a system --wide";
    let output = fathom(folder.path(), line);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

/// `a name` of bytes that are no text was told after everything had been read.
#[test]
#[cfg(target_os = "linux")]
fn a_file_whose_name_is_no_text_is_measured() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = words();
    let odd = OsStr::from_bytes(b"bad\xff\nname");
    std::fs::rename(folder.path().join("words"), folder.path().join(odd)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    let words = ["-d", "std", "-h", "foldhash", "-a", "system", "--budget", "1s"];
    let output = command.current_dir(&folder).arg("kv").arg(odd).args(words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("bad\u{fffd}\\nname: "), "{text}");
}

/// It said to give more of the budget, or to name structures, which had been done.
#[test]
fn whatever_the_budget_somebody_is_measured() {
    let line = "kv words -d btreemap,std -h foldhash --budget 1ms --format json";
    let verdict = json(words().path(), line, 0);
    assert!(verdict["rows"].as_array().unwrap().len() > 1, "{verdict}");
}

/// It was opened once more, and nobody wrote again.
#[test]
fn keys_come_by_a_named_pipe() {
    let folder = words();
    let line = "bench pipe -d std --rounds 2 --operation insert --format json";
    let script = format!(
        "mkfifo pipe; cat words > pipe & timeout 60 {} kv {line}",
        env!("CARGO_BIN_EXE_fathom")
    );
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", &script]).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(run["cases"][1]["work"]["items"], 3000);
}

/// The sample and the whole had one file, of two formats.
#[test]
fn a_trace_on_one_pair_from_a_pipe_is_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "{0} generate pairs-kv -n 1 -o pairs && {0} convert pairs -T lines > key && \
         awk '{{for (i = 0; i < 20000; i++) print \"get \" $0}}' key > trace && \
         cat pairs | timeout 60 {0} kv - --trace trace --budget 1s -a system -h siphash13 -d std --format json",
        env!("CARGO_BIN_EXE_fathom")
    );
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", &script]).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let verdict: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(verdict["trace"]["hits"], 20_000);
}

#[test]
fn a_trace_on_a_file_of_keys_finds_them() {
    let folder = words();
    let keys = std::fs::read_to_string(folder.path().join("words")).unwrap();
    let text = keys.split_whitespace().map(|key| format!("get {key}\n")).collect::<String>();
    std::fs::write(folder.path().join("trace"), text).unwrap();
    let line =
        "kv words --trace trace --budget 2s -a system -h siphash13 -d std,ptr-hash --format json";
    let verdict = json(folder.path(), line, 0);
    assert_eq!(verdict["file"]["name"], "trace on words");
    let counts = (&verdict["trace"]["hits"], &verdict["trace"]["last"]);
    assert_eq!(counts, (&3000.into(), &2700.into()));
    // Who cannot insert takes part where nothing is inserted.
    let rows = verdict["rows"].as_array().unwrap();
    let ids: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&"ptr-hash") && ids.contains(&"std+siphash13"), "{ids:?}");
    let parameters = &verdict["run"]["cases"][0]["workload"]["parameters"];
    assert_eq!(parameters["table"], "built");
}

#[test]
fn a_trace_comes_by_stdin_and_compressed() {
    let folder = tempfile::tempdir().unwrap();
    trace(folder.path(), 100, |at| at.to_string());
    let program = env!("CARGO_BIN_EXE_fathom");
    let line = "kv --trace - --budget 2s -a system -h siphash13 -d std --format json";
    let run = |command: &str| {
        let mut shell = Command::new("sh");
        let output = shell.args(["-c", command]).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["trace"]["operations"].clone()
    };
    assert_eq!(run(&format!("{program} {line} < trace")), 434);
    assert_eq!(run(&format!("gzip -c trace | {program} {line}")), 434);
}

#[test]
fn what_is_no_trace_is_refused_with_its_place() {
    let folder = words();
    let path = folder.path().join("trace");
    let fails = |text: &str, line: &str, code: i32, words: &str| {
        std::fs::write(&path, text).unwrap();
        assert!(says(folder.path(), line, code, words).stdout.is_empty(), "{line}");
    };
    let line = "kv --trace trace";
    fails("", line, 3, "trace: the trace is empty");
    fails("put a\nset b\n", line, 3, "trace:2:1: \"set\" is no operation: get KEY");
    fails("put a\nput b\\t\n", line, 3, "trace:2:6: a backslash stands before");
    fails("put a\nscan b many\n", line, 3, "trace:2:8: \"many\" is no number of values");
    fails("get a\ndel a\n", line, 2, "trace puts no key: without a FILE of keys");
    fails("put 7\nput a\n", "kv --trace trace -F integers", 3, "trace:2:5: \"a\" is no whole");
    fails("put 7\n", "kv --trace trace -F words", 2, "integers or lines");
    fails("put 7\n", "kv --trace missing", 4, "cannot read missing");
    fails("put 7\n", "kv --trace trace --mix hit=1", 2, "cannot be used with");
    fails("put 7\n", "kv --trace trace --concurrent 2", 2, "cannot be used with");
    fails("put 7\n", "kv - --trace -", 2, "stdin is the trace or the keys");
    fails("put 7\n", "kv --trace trace -d fst", 2, "fst has no insert");
    fails("put 7\n", "kv words -F bin-text --trace trace", 3, "words: byte 4: a key of");
    // It was replaced by the result.
    for end in ["-o trace", "--save trace"] {
        let why = "would replace the input trace";
        fails("put 7\n", &format!("kv --trace trace {end}"), 2, why);
        fails("put 7\n", &format!("kv bench words -d std -p trace=no,trace {end}"), 2, why);
        fails("put 7\n", &format!("bench map --operation replay -p trace=trace {end}"), 2, why);
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "put 7\n");
}

/// All that was measured before was thrown away.
#[test]
fn a_case_that_cannot_be_opened_ends_a_run_and_costs_no_other_case() {
    let folder = words();
    let line = "kv bench words -d btreemap --operation find-hit,replay -p trace=gone --rounds 2 --format json";
    let run = json(folder.path(), line, 4);
    assert_eq!(run["cases"].as_array().unwrap().len(), 2);
    assert!(run["notes"].to_string().contains("ended early: "), "{}", run["notes"]);
    std::fs::write(folder.path().join("garbage"), "garbage\n").unwrap();
    json(folder.path(), &line.replace("gone", "garbage"), 3);
}

#[test]
fn what_is_not_there_is_said() {
    let folder = words();
    let fails = |line: &str, code: i32, words: &str| says(folder.path(), line, code, words);
    fails("kv", 2, "no file of keys");
    fails("kv words -d nonsense", 2, "no structure \"nonsense\"");
    fails("kv words -h nonsense", 2, "no hash function");
    fails("kv words -a nonsense", 2, "no allocator \"nonsense\"; there is: system");
    fails("kv bench words -d std --sizes 5..3:2", 2, "from few to many");
    fails("kv bench words -d std --blocks --columns time", 2, "cannot be used with");
    fails("kv bench words -d std --sizes 0", 2, "one key at least");
    fails("kv bench words -d std --sizes 1k,1M", 2, "1000000 keys are more than the 3000 of words");
    let mixed = "kv bench words -d std --operation find-mixed -p hit=0.5,2";
    fails(mixed, 2, "fathom: hit=2: expected 0 to 1");
    let idle = "kv bench words -d std --operation find-hit -p skew=1";
    fails(idle, 2, "skew=1: skew decides nothing in what is measured here");
    // It was advised, for the mix has nothing that shows it.
    let unordered = "kv words --ordered --exactly std+foldhash,btreemap --mix hit=1";
    fails(unordered, 2, "--ordered: std+foldhash ");
    fails("kv words --exactly nonsense", 2, "fathom list names them");
    let size = "bench hash --operation keys -p size=1K,2K";
    fails(size, 2, "size=1K,2K: size decides nothing in what is measured here");
    for twice in ["bench digest -p size=64 -p size=65", "kv bench words -d std -p hit=0 -p hit=1"] {
        fails(twice, 2, " is there twice: all its values are one list, ");
    }
    let threads = "bench digest --threads 1,2 -p threads=4";
    fails(threads, 2, "threads is there twice: all its values are one list, threads=A,B");
    fails(
        "kv words --ordered -d std --budget 1s", 2, "do what was asked: std has no ordered range",
    );
    if Preload::named("hoard").unwrap().file().is_none() {
        fails("kv words -a hoard", 2, "libhoard.so is not on this machine");
    }
    fails("kv words --mix dance=1", 2, "none of hit");
    fails("kv words --concurrent 2 --mix hit=0.9,scan=0.1", 2, "not scan");
    fails("kv words --concurrent 2 -d std", 2, "has no sharing between threads");
    let alone = "kv words --concurrent 2 --mix hit=1 --exactly";
    fails(&format!("{alone} btreemap,dashmap+foldhash"), 2, "may not share btreemap");
    fails("kv words -F bin-text", 3, "words: byte 4: a key of");
    fails("kv missing", 4, "cannot read missing");
    // Outputs are looked at first.
    fails("kv missing -o .", 4, "cannot write .");
    fails("kv missing --save new/x", 4, "cannot create new/x");
    fails("kv bench missing -o .", 4, "cannot write .");
    fails("kv bench words", 2, "which structures?");
    for option in ["-d std", "-h ahash", "-a system"] {
        fails(&format!("kv words --exactly btreemap {option}"), 2, "cannot be used with");
    }
    fails("kv words --exactly std", 2, "name its hash, too, as in std+");
    fails("kv bench words -d fst --operation insert --rounds 2", 1, "taken for");
    for line in ["kv --help", "kv -h", "kv bench -h"] {
        let help = fathom(folder.path(), line);
        assert!(help.status.success() && !help.stdout.is_empty(), "{line}");
    }
}

/// It was said to be measured, and the end was a success.
#[test]
fn who_is_named_and_cannot_do_the_mix_is_told_so() {
    let folder = words();
    let line = "kv words --exactly hashbrown+foldhash --mix scan=1 --explain --budget 200ms";
    let output = fathom(folder.path(), line);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("1 combination considered, 0 measured\n"), "{text}");
    assert!(!text.contains("measured at full size"), "{text}");
}

#[test]
fn a_table_with_allocators_fits_the_terminal() {
    let folder = words();
    let line = "kv words --budget 1s --exactly f14-vector+foldhash-quality@arena";
    let mut fathom = Command::new(env!("CARGO_BIN_EXE_fathom"));
    fathom.args(line.split(' ')).current_dir(folder.path()).env("COLUMNS", "80");
    let output = fathom.output().unwrap();
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(text[0].contains("allocator  ns/op  against baseline"), "{}", text[0]);
    for line in text.iter().flat_map(|text| text.lines()).filter(|line| !line.contains(" type ")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn everybody_who_was_considered_has_a_fate_and_whoever_is_asked_for_is_measured() {
    let folder = words();
    let line = "kv words --budget 2s -a system -d std,hashbrown,btreemap,yada -h siphash13,foldhash,siphash24 \
                --explain";
    let verdict = json(folder.path(), &format!("{line} --also std+siphash24 --format json"), 0);
    // Two maps by three functions, a tree, and a trie that has no insert.
    assert_eq!(verdict["considered"], 8);
    let fates = verdict["fates"].as_array().unwrap();
    let of = |why: &str| {
        let found = fates.iter().filter(|fate| fate["why"] == why);
        found.map(|fate| fate["id"].as_str().unwrap().to_owned()).collect::<BTreeSet<String>>()
    };
    assert_eq!(fates.iter().map(|fate| fate["id"].as_str()).collect::<BTreeSet<_>>().len(), 8);
    let rows = verdict["rows"].as_array().unwrap();
    let rows: BTreeSet<String> =
        rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(of("measured"), rows);
    assert!(rows.contains("std+siphash24"), "{rows:?}");
    assert_eq!(of("lacks"), BTreeSet::from(["yada".to_owned()]));
    let text = fathom(folder.path(), line);
    let text = String::from_utf8(text.stdout).unwrap();
    let (_, lines) = text.rsplit_once("\n8 combinations considered, ").unwrap();
    assert_eq!(lines.lines().count(), 9, "{text}");
    assert!(lines.contains("yada has no insert"), "{text}");

    let all = json(folder.path(), &format!("{line} --exhaustive --format json"), 0);
    assert!(all["screening"].as_array().unwrap().iter().all(|rung| rung["keys"] == 3000));
    assert!(all["fates"].as_array().unwrap().iter().all(|fate| fate["keys"] == 3000));
    // A page had none of it, without a word.
    for wrong in ["--also hashmap+foldhash", "--explain --format html", "--explain --open"] {
        let refused = fathom(folder.path(), &format!("kv words {wrong}"));
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    }
}

#[test]
fn keys_of_the_maps_own_are_measured_beside_references_to_keys() {
    let folder = words();
    let line = "kv words --budget 2s -a system -d std -h foldhash --format json --key-as";
    let types = ["string", "box-str", "arc-str", "compact-str", "smol-str"];
    let verdict = json(folder.path(), &format!("{line} all"), 0);
    let rows = verdict["rows"].as_array().unwrap();
    let row = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("{id}"));
    let live = |id: &str| row(id)["live_bytes_per_entry"].as_f64().unwrap();
    let borrowed = live("std+foldhash");
    let sentences = verdict["advice"].to_string();
    for name in types {
        let id = format!("std-{name}+foldhash");
        assert_eq!((&row(&id)["keeps"], &row(&id)["failure"]), (&"copied".into(), &Value::Null));
        // None refers to keys that lie elsewhere: characters are counted where they do not lie in the key.
        assert!(live(&id) > borrowed, "{id}: {} and {borrowed}", live(&id));
        let said = format!("std-{name} with hash foldhash: ");
        assert!(sentences.contains(&said), "{sentences}");
    }
    assert_eq!(sentences.matches("times the time of std that refers to its keys").count(), 5);
    let one = json(folder.path(), &format!("{line} arc-str"), 0)["rows"].to_string();
    assert!(one.contains("std-arc-str+foldhash") && !one.contains("std-string"), "{one}");

    let fails = |line: &str, needle: &str| says(folder.path(), line, 2, needle);
    fails("kv words --key-as cow", "possible values: string, box-str");
    fails("kv words --key-as all --ordered", "cannot be used with");
    std::fs::write(folder.path().join("numbers"), "1\n2\n3\n").unwrap();
    fails("kv numbers --key-as string", "these keys are integers");
    std::fs::write(folder.path().join("bytes"), b"a\xff\nb\nc\n").unwrap();
    let line = "kv bytes -F lines --budget 1s -a system -d std -h foldhash --format json";
    let verdict = json(folder.path(), &format!("{line} --key-as string"), 0);
    assert!(verdict["rows"].to_string().contains("takes UTF-8 alone"), "{verdict}");
}
