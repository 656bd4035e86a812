//! `cargo xtask kv-study`: is the advice of `fathom kv` right? For each key set of `xtask/kv-study.txt` it is asked
//! several times within its budget, and compared with an exhaustive run: every combination on all keys.
//!
//! ```text
//! manifest ─▶ keys ─┬─▶ fathom kv, three seeds ──────────────┬─▶ a file per set ─▶ tally: record, table
//!                   └─▶ fathom kv --exhaustive --also advised ┘
//! ```
//!
//! Judges nothing by itself: times come from `fathom`, which checks every answer. A set that has its file is not
//! measured again; a file appears when its set is complete.

mod tally;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use self::tally::{Advice, Entry, Measured, Truth, table, totals};
use crate::packages::{cache, root, run};
use crate::record::built;

/// What is asked of it.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only these sets, by number: 1..10
    #[arg(long, value_name = "A..B", value_parser = range)]
    sets: Option<(usize, usize)>,
    /// Only sets of kinds whose name contains this
    #[arg(long, value_name = "KIND", default_value = "")]
    only: String,
    /// Budget of each run that advises [default: that of fathom kv]
    #[arg(long, value_name = "TIME")]
    budget: Option<String>,
    /// Budget of the rounds of the exhaustive run, and of the last one; trying all combinations comes before and
    /// takes as long as it takes
    #[arg(long, value_name = "TIME", default_value = "90s")]
    truth_budget: String,
    /// Runs that advise, each with a seed of its own
    #[arg(long, default_value_t = 3)]
    repeats: usize,
    /// Where the results of sets are kept [default: target/xtask/kv-study]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Also write the results into record/kv-study.ndjson
    #[arg(long)]
    record: bool,
    /// Options of both fathom kv, as who takes part [default: -a system,jemalloc,mimalloc,tcmalloc-minimal]
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    choice: Vec<String>,
}

/// Allocators that Debian has, so that more than a thousand combinations are legal.
const ALLOCATORS: [&str; 2] = ["-a", "system,jemalloc,mimalloc,tcmalloc-minimal"];
/// The option that names who takes part, and those by which they are chosen, each with its values: one or the other.
const EXACTLY: &str = "--exactly";
const CHOOSING: [&str; 6] = ["-d", "--structure", "-h", "--hash", "-a", "--allocator"];
const MANIFEST: &str = include_str!("../../kv-study.txt");
const RECORD: &str = "record/kv-study.ndjson";
/// What makes the tables of it.
const TABLES: &str = "cargo test -p fathom-xtask study";

/// Times the least time within which the exhaustive run measures the best of a structure.
const APART: f64 = 2.0;

/// Who is provably slower by more is not measured once more: 2 %.
const TOLD: f64 = 1.02;
/// So many at most are, besides those who were advised.
const FEW: usize = 12;

/// A key set of the manifest.
#[derive(Clone, Debug, PartialEq)]
struct Set {
    kind: String,
    /// How `fathom kv` reads it.
    format: String,
    /// As it is written: 50k.
    count: String,
    seed: u64,
    /// How `fathom generate keys` makes it.
    recipe: Vec<String>,
}

impl Set {
    fn file(&self) -> String {
        format!("{}-{}.json", self.kind, self.count)
    }
}

pub(crate) fn run_all(options: &Options) -> Result<()> {
    let program = match std::env::var_os("FATHOM_PROGRAM") {
        Some(program) => program.into(),
        None => built()?.join("fathom"),
    };
    let sets = manifest(MANIFEST)?;
    let (first, last) = options.sets.unwrap_or((1, sets.len()));
    let chosen = sets.iter().take(last).skip(first - 1);
    let chosen: Vec<&Set> = chosen.filter(|set| set.kind.contains(&options.only)).collect();
    ensure!(!chosen.is_empty(), "no set is asked for");
    let out = options.out.clone().unwrap_or_else(|| cache().join("kv-study"));
    study(&program, &chosen, &out, options)?;
    let entries = finished(&sets, &out)?;
    print!("{}\n{}", table(&entries), totals(&entries));
    if options.record {
        let lines = entries.iter().map(|entry| Ok(serde_json::to_string(entry)? + "\n"));
        fs::write(root().join(RECORD), lines.collect::<Result<String>>()?)?;
        println!("now: FATHOM_BLESS=1 {TABLES}");
    }
    Ok(())
}

/// Measures the sets that have no file in `out` yet.
fn study(program: &Path, sets: &[&Set], out: &Path, options: &Options) -> Result<()> {
    fs::create_dir_all(out)?;
    for set in sets.iter().filter(|set| !out.join(set.file()).exists()) {
        let start = Instant::now();
        let keys = out.join("keys.scratch");
        let entry = studied(program, set, &keys, options);
        let _ = fs::remove_file(&keys);
        let entry = entry.with_context(|| set.file())?;
        let whole = out.join("result.scratch");
        fs::write(&whole, serde_json::to_string(&entry)? + "\n")?;
        fs::rename(&whole, out.join(set.file()))?;
        println!("{} {:.0} s", entry.line(), start.elapsed().as_secs_f64());
    }
    Ok(())
}

/// The results in `out`, in the order of the manifest.
fn finished(sets: &[Set], out: &Path) -> Result<Vec<Entry>> {
    let files = sets.iter().map(|set| out.join(set.file())).filter(|file| file.exists());
    files.map(|file| entries(&fs::read_to_string(file)?).map(|mut one| one.remove(0))).collect()
}

/// A line each.
fn entries(text: &str) -> Result<Vec<Entry>> {
    text.lines().map(|line| serde_json::from_str(line).context("a result")).collect()
}

fn studied(program: &Path, set: &Set, keys: &Path, options: &Options) -> Result<Entry> {
    let mut generate = Command::new(program);
    generate.args(["generate", "keys", "-n", &set.count, "-s", &set.seed.to_string()]);
    run(generate.args(&set.recipe).arg("-o").arg(keys)).context("generating keys")?;
    let ask = |arguments: &[&str]| {
        let start = Instant::now();
        let mut kv = Command::new(program);
        kv.arg("kv").arg(keys).args(["-F", &set.format, "--format", "json"]).args(arguments);
        let mut choice: Vec<&str> = options.choice.iter().map(String::as_str).collect();
        if choice.is_empty() {
            choice.extend(ALLOCATORS);
        }
        let mut words = choice.into_iter();
        while let Some(word) = words.next() {
            if arguments[0] == EXACTLY && CHOOSING.contains(&word) {
                words.next();
            } else {
                kv.arg(word);
            }
        }
        let output = kv.output().context("cannot run fathom")?;
        // 1: a combination failed, and is out.
        let is_done = output.status.code().is_some_and(|code| code < 2);
        ensure!(is_done, "{kv:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok((serde_json::from_slice(&output.stdout)?, start.elapsed().as_secs_f64()))
    };
    let mut answers = Vec::new();
    for seed in 1..=options.repeats {
        let seed = seed.to_string();
        let budget = options.budget.iter().flat_map(|budget| ["--budget", budget]);
        let arguments: Vec<&str> = ["--seed", &seed].into_iter().chain(budget).collect();
        answers.push(ask(&arguments)?);
    }
    let advice: Vec<Advice> =
        answers.iter().map(|(json, seconds)| advised(json, *seconds)).collect::<Result<_>>()?;
    // Whoever was advised is measured in the same rounds.
    let also: Vec<&str> = advice.iter().map(|advice| advice.ranked[0].as_str()).collect();
    let (joined, budget) = (also.join(","), &options.truth_budget);
    let how = ["--exhaustive", "--explain", "--also", &joined];
    let (all, before) = ask(&[&how[..], &["--budget", budget, "--seed", "77"]].concat())?;
    // Once more in a long run: those that may be the fastest, among few who share the time.
    let is_near = |against: &Value| against["low"].as_f64().is_none_or(|low| low <= TOLD);
    let near = rows(&all).into_iter().filter(|row| is_near(row.2)).take(FEW).map(|row| row.0);
    let few: BTreeSet<String> = near.chain(also.iter().map(|&id| id.to_owned())).collect();
    let few = few.into_iter().collect::<Vec<_>>().join(",");
    let (json, after) = ask(&[EXACTLY, &few, "--budget", budget, "--seed", "78"])?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let machine = &json["run"];
    let considered = answers.iter().filter_map(|(json, _)| json["considered"].as_u64()).min();
    Ok(Entry {
        kind: set.kind.clone(),
        keys: json["portrait"]["keys"].as_u64().context("keys")?,
        seed: set.seed,
        commit: text(&machine["build"]["commit"]),
        dirty: machine["build"]["dirty"].as_bool().unwrap_or(true),
        started: text(&machine["started"]),
        processor: text(&machine["machine"]["processor"]["model"]),
        considered: considered.unwrap_or(0),
        truth: truth(&all, &json, &also, before + after)?,
        advice,
    })
}

/// The rows of a verdict that have a time, the fastest first: id, time, and how they stand to the fastest.
fn rows(json: &Value) -> Vec<(String, f64, &Value)> {
    let rows = json["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let row = |row: &'_ Value| Some((row["id"].as_str()?.to_owned(), row["cost_ns"].as_f64()?));
    let timed =
        rows.iter().filter_map(|json| row(json).map(|(id, ns)| (id, ns, &json["against_fastest"])));
    let mut timed: Vec<(String, f64, &Value)> = timed.collect();
    timed.sort_by(|a, b| a.1.total_cmp(&b.1));
    timed
}

/// What a verdict says.
fn advised(json: &Value, seconds: f64) -> Result<Advice> {
    let choice = json["choice"].as_str().context("nothing was advised")?.to_owned();
    let rows = rows(json);
    let others = rows.iter().map(|row| row.0.clone()).filter(|id| *id != choice);
    let ranked = std::iter::once(choice.clone()).chain(others).collect();
    let open = |against: &Value| {
        // The fastest stands to nobody.
        against.is_null() || (against["resolved"] == false && against["high"].is_f64())
    };
    let ties = rows.iter().filter(|row| open(row.2)).map(|row| row.0.clone()).collect();
    Ok(Advice { ranked, ties, seconds })
}

/// What the exhaustive run and the `last` one measured.
fn truth(all: &Value, last: &Value, advised: &[&str], seconds: f64) -> Result<Truth> {
    let rows = rows(last);
    let (best, least, _) = rows.first().context("nothing was measured")?;
    let fates = all["fates"].as_array().context("no fates")?;
    let late = fates.iter().filter(|fate| fate["why"] == "unreached").count();
    ensure!(late == 0, "{late} combinations were not reached: the run was no exhaustive one");
    // As `fathom kv` takes them: the standard library's table is hashbrown's.
    let structure = |id: &str| match id.split(['+', '@']).next().unwrap_or_default() {
        "std" => "hashbrown".to_owned(),
        other => other.to_owned(),
    };
    let mut readings: Vec<(&str, bool, f64)> = Vec::new();
    let mut own: BTreeMap<String, f64> = BTreeMap::new();
    for fate in fates {
        let (Some(id), Some(times)) = (fate["id"].as_str(), fate["times"].as_f64()) else {
            continue;
        };
        readings.push((id, fate["why"] == "measured", times));
        let least = own.entry(structure(id)).or_insert(times);
        *least = least.min(times);
    }
    let of = |id: &str| own.get(&structure(id)).copied().unwrap_or(f64::INFINITY);
    // Who was out on the one allocator of the first rung has its reading there.
    let contender = |id: &str| id.split('@').next().unwrap_or_default().to_owned();
    let on_one = || readings.iter().find(|(id, ..)| contender(id) == contender(best));
    let fastest = readings.iter().find(|(id, ..)| id == best).or_else(on_one);
    let reading = fastest.context("the fastest has no reading")?.2 / of(best);
    // Structures that are farther off go without a look at who is their best.
    let others = readings.iter().filter(|(id, is_measured, _)| !is_measured && of(id) <= APART);
    let left_out = others.map(|(id, _, times)| times / of(id)).min_by(f64::total_cmp);
    for id in advised {
        ensure!(rows.iter().any(|row| row.0 == *id), "{id} was advised and could not be measured");
    }
    let round = |value: f64| (value * 1e4).round() / 1e4;
    let row = |(id, ns, against): &(String, f64, &Value)| {
        // By the medians of all rounds, as the interval's middle.
        let ratio = against["ratio"].as_f64().unwrap_or(ns / least);
        let low = against["low"].as_f64().unwrap_or(1.0);
        let high = if against.is_null() { Some(1.0) } else { against["high"].as_f64() };
        Measured { id: id.clone(), ratio: round(ratio), low: round(low), high: high.map(round) }
    };
    let is_kept = |row: &&(String, f64, &Value)| row.1 < least * 1.2 || advised.contains(&&*row.0);
    let rows = rows.iter().filter(is_kept).map(row).collect();
    let (reading, apart, left_out) = (round(reading), round(of(best)), left_out.map(round));
    Ok(Truth { rows, reading, apart, left_out, seconds })
}

/// The sets of a manifest: its lines after the first blank one.
fn manifest(text: &str) -> Result<Vec<Set>> {
    let (_, lines) = text.split_once("\n\n").context("a manifest begins with what it is")?;
    let mut sets: Vec<Set> = Vec::new();
    for line in lines.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [kind, format, counts, seed, recipe @ ..] = &words[..] else {
            anyhow::bail!("{line:?}: KIND, format, counts, seed, options");
        };
        let first: u64 = seed.parse().with_context(|| format!("{line:?}: no seed"))?;
        for (count, seed) in counts.split(',').zip(first..) {
            sets.push(Set {
                kind: (*kind).to_owned(),
                format: (*format).to_owned(),
                count: count.to_owned(),
                seed,
                recipe: recipe.iter().map(|&word| word.to_owned()).collect(),
            });
        }
    }
    Ok(sets)
}

/// `3..7`: from the third to the seventh.
fn range(text: &str) -> Result<(usize, usize), String> {
    let (first, last) = text.split_once("..").ok_or("two numbers: 1..10")?;
    let number = |text: &str| text.parse::<usize>().map_err(|error| format!("{text:?}: {error}"));
    let (first, last) = (number(first)?, number(last)?);
    if first == 0 || last < first { Err("from 1, upwards".to_owned()) } else { Ok((first, last)) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_manifest_has_a_hundred_sets_of_twenty_kinds_with_seeds_of_their_own() {
        let sets = manifest(MANIFEST).unwrap();
        assert_eq!(sets.len(), 100);
        let of = |part: fn(&Set) -> String| sets.iter().map(part).collect::<BTreeSet<_>>().len();
        assert_eq!(of(|set| set.kind.clone()), 20);
        assert_eq!(of(Set::file), 100);
        assert_eq!(of(|set| set.seed.to_string()), 100);
        assert_eq!(range("3..7"), Ok((3, 7)));
        assert!(range("0..7").is_err() && range("3..2").is_err() && range("3").is_err());
        assert!(manifest("what\n\nwords words 1k").is_err());
    }

    /// The study of a set ended there, after ten minutes.
    #[test]
    fn the_fastest_may_have_been_out_on_the_one_allocator_it_was_read_on() {
        let fate = |id, why, times| json!({"id": id, "why": why, "times": times});
        let all = json!({"fates": [
            fate("std+a", "measured", json!(1.0)),
            fate("std+b", "hopeless", json!(3.5)),
            fate("std+b@jemalloc", "measured", Value::Null),
        ]});
        let row = |id, ns, against| json!({"id": id, "cost_ns": ns, "against_fastest": against});
        let near = json!({"ratio": 1.1, "low": 0.9, "high": 1.3, "resolved": false});
        let last =
            json!({"rows": [row("std+b@jemalloc", 10.0, Value::Null), row("std+a", 11.0, near)]});
        let found = truth(&all, &last, &["std+b@jemalloc"], 1.0).unwrap();
        assert_eq!((found.reading, found.rows.len()), (3.5, 2));
    }

    /// Compares, or writes if that was asked for.
    fn check(path: &str, expected: &str) {
        let path = root().join(path);
        if std::env::var_os("FATHOM_BLESS").is_some() {
            fs::write(&path, expected).unwrap();
        }
        let (found, path) = (fs::read_to_string(&path).unwrap_or_default(), path.display());
        assert!(found == expected, "{path} differs from {RECORD}; run FATHOM_BLESS=1 {TABLES}");
    }

    #[test]
    fn the_tables_say_what_was_recorded() {
        let entries = entries(&fs::read_to_string(root().join(RECORD)).unwrap()).unwrap();
        let page = format!(
            "# Is the advice of `fathom kv` right?\n\nEach set of `cargo xtask kv-study`; how to read it is in \
             [docs/kv.md](../docs/kv.md#is-the-advice-right). Written by a test of\n`fathom-xtask` from \
             `kv-study.ndjson`.\n\n{}",
            table(&entries)
        );
        check("record/kv-study.md", &page);
        let text = fs::read_to_string(root().join("docs/kv.md")).unwrap();
        let (before, after) = text.split_once("<!-- kv-study -->\n").unwrap();
        let (_, behind) = after.split_once("<!-- end -->").unwrap();
        let expected =
            format!("{before}<!-- kv-study -->\n{}<!-- end -->{behind}", totals(&entries));
        check("docs/kv.md", &expected);
    }

    /// The program that was built beside this test.
    fn program() -> PathBuf {
        let beside = std::env::current_exe().unwrap().with_file_name("../fathom");
        if beside.exists() { beside } else { crate::packages::host_fathom().unwrap() }
    }

    #[test]
    fn two_tiny_sets_are_studied_and_finished_ones_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let sets = manifest("x\n\nwords words 300,400 1 -k words\n").unwrap();
        let choice = "-d std,btreemap -h siphash13,foldhash -a system --mix hit=1".split(' ');
        let options = Options {
            sets: None,
            only: String::new(),
            budget: Some("500ms".to_owned()),
            truth_budget: "500ms".to_owned(),
            repeats: 2,
            out: None,
            record: false,
            choice: choice.map(str::to_owned).collect(),
        };
        let both: Vec<&Set> = sets.iter().collect();
        let program = program();
        study(&program, &both, folder.path(), &options).unwrap();
        let names = || {
            let names = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
            names.map(|name| name.into_string().unwrap()).collect::<BTreeSet<String>>()
        };
        let expected = ["words-300.json", "words-400.json"].map(str::to_owned);
        assert_eq!(names(), BTreeSet::from(expected));
        let found = finished(&sets, folder.path()).unwrap();
        assert_eq!(found.iter().map(|entry| entry.keys).collect::<Vec<_>>(), [300, 400]);
        for entry in &found {
            assert_eq!((entry.considered, entry.advice.len(), entry.choices().len()), (3, 2, 2));
            assert_eq!(entry.truth.rows[0].ratio, 1.0);
            assert!(entry.truth.reading >= 1.0);
        }
        // Nobody measures again what is there: there is no such program.
        study(Path::new("/nowhere/fathom"), &both, folder.path(), &options).unwrap();
        fs::remove_file(folder.path().join("words-300.json")).unwrap();
        study(Path::new("/nowhere/fathom"), &both, folder.path(), &options).unwrap_err();
        assert_eq!(names(), BTreeSet::from(["words-400.json".to_owned()]), "nothing half");
    }
}
