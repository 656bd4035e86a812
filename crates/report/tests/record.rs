//! Every table of measured figures comes from a saved run: the page of each folder of `record/`, and
//! the tables of README and docs between `<!-- record: FILE -->` and `<!-- end -->`. Written anew here
//! and compared; `FATHOM_BLESS=1 cargo test -p fathom-report --test record` writes them. The table between
//! `<!-- fuzz -->` and `<!-- end -->` adds up `record/fuzz.ndjson`, which `.ci/fuzz record` writes.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use fathom_measure::result::Run;
use fathom_report::number::duration;
use fathom_report::table::Look;
use fathom_report::{markdown, scan, sentence};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// What lies in `folder`, sorted by name.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

/// The folders of saved runs.
fn folders() -> Vec<PathBuf> {
    let found = entries(&root().join("record"));
    found.into_iter().filter(|path| path.is_dir()).collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// The page of a folder.
fn page(folder: &Path) -> String {
    let mut runs = String::new();
    for file in entries(folder).iter().filter(|file| file.extension().is_some_and(|e| e == "json"))
    {
        let text = fs::read_to_string(file).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let shown = match value["schema"].as_str() {
            Some("fathom-selftest") => audit(&value),
            Some("fathom-selftest-full") => promises(&value),
            _ => markdown::run(&Run::read(file).unwrap(), &Look::default()),
        };
        let _ = writeln!(runs, "\n## {}\n\n{}", name(file), shown.trim_end());
    }
    // Commands stand as they were typed.
    let since = match runs.contains(" -P ") {
        true => {
            "\nIn these commands `run -P NAME A,B` is what `run --parameter NAME A,B` is now.\n"
        }
        false => "",
    };
    format!(
        "# {}\n\nThe saved runs of one build on one machine, as `fathom report` shows them. Written by a test of \
         `fathom-report`, which fails\nwhen this page and the runs differ.\n{since}{runs}",
        name(folder)
    )
}

/// The tallies of an audit.
fn audit(value: &Value) -> String {
    let words: Vec<&str> =
        value["command"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let mut text = format!("`{}`\n\n", words.join(" "));
    let columns = ["comparisons", "faster", "slower", "not_resolved", "withheld"];
    let _ = writeln!(text, "| code | {} |\n|---{}|", columns.join(" | "), "|--:".repeat(5));
    let mut row = |what: &str, tally: &Value| {
        let cells = columns.map(|column| tally[column].to_string());
        let _ = writeln!(text, "| {what} | {} |", cells.join(" | "));
    };
    row("identical", &value["same"]);
    for tally in value["planted"].as_array().unwrap() {
        if tally["comparisons"] != 0 {
            let what = format!("{} % slower, {} processes", tally["percent"], tally["processes"]);
            row(&what, tally);
        }
    }
    text
}

/// What a full self-test proved.
fn promises(value: &Value) -> String {
    let mut text =
        String::from("| promise | bound | seen | done | holds |\n|---|---|---|--:|---|\n");
    for proof in value["proofs"].as_array().unwrap() {
        let [what, bound, seen] =
            ["what", "bound", "seen"].map(|part| proof[part].as_str().unwrap().to_owned());
        let done = format!("{} of {}", proof["done"], proof["asked"]);
        let _ = writeln!(text, "| {what} | {bound} | {seen} | {done} | {} |", proof["holds"]);
    }
    text
}

/// The table of a run: a row for each case, a column for each contender, medians.
fn table(run: &Run) -> String {
    let first = run.cases.first().expect("a run has a case");
    let ids: Vec<&str> = first.entrants().map(|(_, row)| row.id.as_str()).collect();
    let mut text = format!("| | {} |\n|---{}|\n", ids.join(" | "), "|--:".repeat(ids.len()));
    for case in &run.cases {
        let cells = ids.iter().map(|id| {
            let number = case.entrants().find(|(_, row)| row.id == *id).map(|(number, _)| number);
            let summary = number.and_then(|number| case.judged.summaries[number]);
            summary.map_or_else(|| "-".to_owned(), |summary| duration(summary.ns_median))
        });
        let cells: Vec<String> = cells.collect();
        let _ = writeln!(text, "| {} | {} |", case.workload.to_string().trim(), cells.join(" | "));
    }
    text
}

/// What each fuzz target has done so far, of an hour of processor it is to have.
fn fuzzed() -> String {
    let log = fs::read_to_string(root().join("record/fuzz.ndjson")).unwrap();
    let runs: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut text = String::from(
        "| target | what | runs | seconds of 3,600 | edges | found |\n|---|---|--:|--:|--:|--:|\n",
    );
    for file in entries(&root().join("fuzz/fuzz_targets")) {
        let target = file.file_stem().unwrap().to_str().unwrap();
        let own = || runs.iter().filter(|run| run["target"] == target);
        let sum = |part: &str| grouped(own().map(|run| run[part].as_u64().unwrap()).sum());
        let edges = grouped(own().map(|run| run["coverage"].as_u64().unwrap()).max().unwrap_or(0));
        let [runs, seconds, found] = ["runs", "seconds", "found"].map(sum);
        let what = fs::read_to_string(&file).unwrap();
        let what = what.lines().map_while(|line| line.strip_prefix("//! "));
        let what: Vec<&str> = what.collect();
        let what = what.join(" ");
        let (what, _) = what.split_once(':').expect("a target says what it is given");
        let _ = writeln!(text, "| `{target}` | {what} | {runs} | {seconds} | {edges} | {found} |");
    }
    text
}

/// With a comma every three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    String::from_utf8(groups.join(&b',')).unwrap()
}

/// Compares, or writes if that was asked for.
fn check(path: &Path, expected: &str) {
    if std::env::var_os("FATHOM_BLESS").is_some() {
        fs::write(path, expected).unwrap();
    }
    let written = fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == expected,
        "{} differs from its saved runs; run FATHOM_BLESS=1 cargo test -p fathom-report --test record",
        path.display()
    );
}

#[test]
fn pages_say_what_their_saved_runs_say() {
    for folder in folders() {
        check(&folder.join("README.md"), &page(&folder));
        for file in entries(&folder) {
            match file.extension().and_then(|e| e.to_str()) {
                Some("json") => {}
                Some("svg") => {
                    let run = Run::read(&file.with_extension("json")).unwrap();
                    check(&file, &scan::svg(&run).unwrap());
                }
                _ => {
                    assert!(name(&file) == "README.md", "{}: not from a saved run", file.display());
                }
            }
        }
    }
}

#[test]
fn new_runs_know_their_build() {
    for folder in folders() {
        let of_old = name(&folder) == "2026-11-21-xeon-avx512-2core";
        for file in
            entries(&folder).iter().filter(|file| file.extension().is_some_and(|e| e == "json"))
        {
            let value: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
            let build = &value["build"];
            let is_known = build["commit"].as_str().is_some_and(|commit| commit.len() == 40)
                && build["dirty"] == false
                && build["rustc"].as_str().is_some_and(|rustc| rustc.starts_with("rustc "));
            assert!(is_known || of_old, "{}: by what it was measured nobody knows", file.display());
        }
    }
}

#[test]
fn tables_in_prose_say_what_their_saved_runs_say() {
    let mut found = 0;
    let mut pages = vec![root().join("README.md")];
    pages.extend(["docs", "docs/questions"].iter().flat_map(|name| entries(&root().join(name))));
    for page in pages.iter().filter(|page| page.extension().is_some_and(|e| e == "md")) {
        let text = fs::read_to_string(page).unwrap();
        let mut expected = String::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once("<!-- record: ") {
            let (file, block) = after.split_once(" -->\n").expect("a marker ends");
            let (_, behind) = block.split_once("<!-- end -->").expect("a table ends");
            let run = Run::read(&root().join("record").join(file)).unwrap();
            let _ =
                write!(expected, "{before}<!-- record: {file} -->\n{}<!-- end -->", table(&run));
            rest = behind;
            found += 1;
        }
        expected.push_str(rest);
        check(page, &expected);
    }
    assert!(found > 0, "no table comes from a saved run");
}

/// Its interval was one that an older version had told.
#[test]
fn the_verdict_that_the_method_is_explained_by_is_that_of_its_record() {
    let text = fs::read_to_string(root().join("docs/method.md")).unwrap();
    let quoted = text.lines().find_map(|line| line.strip_prefix("> ")).expect("a verdict");
    let file = text.split('`').find(|part| part.starts_with("record/")).expect("a record");
    let run = Run::read(&root().join(file)).unwrap();
    let said: Vec<String> = run.cases.iter().flat_map(sentence::sentences).collect();
    assert!(said.iter().any(|sentence| sentence == quoted), "{quoted}");
    // What it is taken apart into.
    let (_, behind) = quoted.split_once("interval ").unwrap();
    let interval = behind.split(',').next().unwrap();
    assert!(text.contains(&format!("- **99 % interval {interval}**")), "{interval}");
}

#[test]
fn what_was_fuzzed_is_what_was_recorded() {
    let page = root().join("docs/reliability.md");
    let text = fs::read_to_string(&page).unwrap();
    let (before, after) = text.split_once("<!-- fuzz -->\n").unwrap();
    let (_, behind) = after.split_once("<!-- end -->").unwrap();
    check(&page, &format!("{before}<!-- fuzz -->\n{}<!-- end -->{behind}", fuzzed()));
}

/// `.ci/run` takes its targets from the folders of seeds.
#[test]
fn every_fuzz_target_has_seeds_and_is_built() {
    let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
    let targets = entries(&root().join("fuzz/fuzz_targets"));
    let targets: Vec<String> = targets.iter().map(|file| name(&file.with_extension(""))).collect();
    let seeds: Vec<String> =
        entries(&root().join("fuzz/seeds")).iter().map(|folder| name(folder)).collect();
    assert_eq!(targets, seeds);
    for target in targets {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{target}.rs\"")), "{target}");
    }
}
