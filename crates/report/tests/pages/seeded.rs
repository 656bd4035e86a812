//! Results of every kind from a seed: what a page is made of when nothing is measured.

use fathom_measure::plan::{End, Measured, Plan, Roles, Round};
use fathom_measure::profile::{Report, Stack, ZoneReport};
use fathom_measure::result::{Case, Row, Run, SCHEMA, VERSION};
use fathom_measure::sample::Sample;
use fathom_measure::stats::Random;
use fathom_measure::workload::{Spec, Work};
use fathom_report::html::grid::Grid;
use serde_json::{Value, json};

/// Contenders by name with their times in nanoseconds, some percent to and fro; then the twin of the first.
pub(crate) fn case(family: &str, workload: Spec, contenders: &[(&str, f64)], seed: u64) -> Case {
    let fresh = family == "commands";
    let mut random = Random::new(seed);
    let mut sample = |ns: f64| {
        let wall_ns = (ns * (1.0 + 0.06 * random.fraction().powi(3))) as u64;
        Some(Sample {
            wall_ns,
            cpu_ns: Some(wall_ns),
            user_ns: fresh.then_some(wall_ns * 7 / 10),
            ..Sample::default()
        })
    };
    let times: Vec<f64> = contenders.iter().chain(&contenders[..1]).map(|c| c.1).collect();
    let rounds = (0..48).map(|round| Round {
        process: if fresh { 0 } else { round / 6 },
        samples: times.iter().map(|ns| sample(*ns)).collect(),
        ..Round::default()
    });
    let measured = Measured {
        iterations: 1,
        rounds: rounds.collect(),
        failures: vec![None; times.len()],
        end: End::Rounds,
        alpha_share: 1.0,
        planned: 48,
    };
    let row = |id: &str| Row { id: id.to_owned(), peak_bytes: 9 << 20, ..Row::default() };
    let names = contenders.iter().map(|c| c.0).chain(["(twin)"]);
    Case {
        family: family.to_owned(),
        workload,
        work: if fresh { Work::default() } else { Work { bytes: 4_000_000, items: 0 } },
        contenders: names.map(row).collect(),
        roles: Roles { twin: Some(contenders.len()), ..Roles::default() },
        plan: Plan { fresh, ..Plan::default() },
        measured,
        ..Case::default()
    }
}

/// The run of these cases, written and read again.
pub(crate) fn run(command: &[&str], started: &str, cases: Vec<Case>, answer: Value) -> Run {
    let run = Run {
        schema: SCHEMA.to_owned(),
        version: VERSION,
        command: command.iter().map(|&word| word.to_owned()).collect(),
        started: started.to_owned(),
        program: "fathom 0.0.0".to_owned(),
        level: "avx2".to_owned(),
        machine: json!({"processor": {"model": "a seeded one"}}),
        cases,
        answer,
        ..Run::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    std::fs::write(&path, run.to_json().unwrap()).unwrap();
    Run::read(&path).unwrap()
}

const STARTED: &str = "2026-01-01T00:00:00Z";

/// Two versions of a command and another one, with quotes.
pub(crate) fn commands(factor: f64, started: &str) -> Run {
    let contenders =
        [("./old", 20e6), ("./new", 20e6 * factor), ("awk '{print \"it's\"}' | sort", 55e6)];
    let cases = vec![case("commands", Spec::default(), &contenders, 1)];
    let command = ["fathom", "run", "./old", "./new", "awk '{print \"it's\"}' | sort"];
    run(&command, started, cases, Value::Null)
}

/// A family on one workload.
pub(crate) fn family() -> Run {
    let contenders = [("plain", 1e6), ("wide", 2.1e5), ("wider", 2.102e5), ("odd", 8e5)];
    let cases = vec![case("checksum", Spec::new("crc32c", &[("size", "64K")]), &contenders, 2)];
    run(&["fathom", "bench", "checksum"], STARTED, cases, Value::Null)
}

/// Three contenders over six sizes: one in proportion, one worse, one that hardly cares.
pub(crate) fn scan() -> Run {
    let at = |power: i32| {
        let n = 10_f64.powi(power);
        let workload = Spec::new("sort", &[("count", &format!("{n:.0}"))]);
        let times = [("linear", 50.0 * n), ("square", n * n * 0.9), ("flat", 4e4 * n.powf(0.05))];
        case("orders", workload, &times, power as u64)
    };
    run(&["fathom", "bench", "orders"], STARTED, (1..=6).map(at).collect(), Value::Null)
}

/// As many tasks as the processor's primitives, in ten families.
pub(crate) fn tasks() -> Run {
    let task = |number: u64| {
        let family = format!("family-{}", number % 10);
        let operation = format!("task-{}", number / 10);
        let ns = 1e5 * (1 + number % 7) as f64;
        let contenders =
            [("fathom", ns), ("library", ns * 1.3), ("other-library", ns * 3.0), ("old", ns * 9.0)];
        let count = 1 + number as usize % 4;
        case(&family, Spec::new(&operation, &[("size", "mix")]), &contenders[..count], number)
    };
    run(&["fathom", "cpu"], STARTED, (0..90).map(task).collect(), Value::Null)
}

/// The answer to a file of keys.
pub(crate) fn keys() -> Run {
    let names = ["std+siphash13", "hashbrown+ahash", "tree", "trie"];
    let of = |operation: &str, ns: [f64; 3], seed: u64| {
        let contenders = [(names[0], ns[0]), (names[1], ns[1]), (names[2], ns[2])];
        case("kv", Spec::new(operation, &[]), &contenders, seed)
    };
    let (find, insert) = (of("find-mixed", [9e5, 4e5, 2e6], 3), of("insert", [2e6, 1.1e6, 4e6], 4));
    let row = |at: usize, find: f64, insert: f64, bytes: f64, ratio: Value| {
        json!({
            "id": names[at], "keeps": "borrowed", "cost_ns": 0.8 * find + 0.2 * insert,
            "operations": [{"operation": "find-mixed", "ns_median": find}, {"operation": "insert", "ns_median": insert}],
            "against_baseline": ratio, "live_bytes_per_entry": bytes, "peak_bytes_per_entry": 2.0 * bytes,
            "bytes_per_entry": bytes, "insert_ns_p999": 300.0, "insert_ns_max": 6e5,
            "on_the_front": at > 0, "failure": null,
        })
    };
    let ratio = |ratio: f64| json!({"ratio": ratio, "low": ratio * 0.9, "high": ratio * 1.1, "resolved": true});
    let answer = json!({
        "schema": "fathom-kv", "version": 1,
        "file": {"name": "words.txt", "format": "words", "bytes": 197_779},
        "portrait_words": "keys       20,000, 20,000 distinct, in no order\nlengths    5 to 9 bytes, mean 8.9",
        "data": "shared", "mix": "80 % finds, 20 % inserts", "method": "one process each, 48 rounds",
        "baseline": names[0],
        "rows": [
            row(0, 45.0, 100.0, 50.0, Value::Null),
            row(1, 20.0, 55.0, 48.0, ratio(0.45)),
            row(2, 100.0, 200.0, 24.0, json!({"ratio": 2.1, "low": 0.0, "high": null, "resolved": false})),
            row(3, 150.0, 300.0, 96.0, json!({"ratio": 3.1, "low": 1e-9, "high": 1e9, "resolved": false})),
        ],
        "advice": ["For these keys, use hashbrown with hash ahash: 27.0 ns per operation.", "tree saves half of the memory."],
        "paste": {"manifest": ["hashbrown = \"0.17\""], "code": ["use hashbrown::HashMap;"]},
        "notes": ["nothing was left out"],
    });
    run(&["fathom", "kv", "words.txt"], STARTED, vec![find, insert], answer)
}

/// A profile of two threads.
pub(crate) fn profile() -> Report {
    let zone = |name: &str, exclusive: f64, inclusive: f64, bytes: u64| ZoneReport {
        name: name.to_owned(),
        hits: 64,
        timed: 64,
        exclusive_ticks: exclusive,
        inclusive_ticks: inclusive,
        bytes,
        page_faults: Some(12),
        ..ZoneReport::default()
    };
    let stack = |thread: usize, names: &[&str], exclusive: f64, inclusive: f64| Stack {
        thread,
        names: names.iter().map(|&name| name.to_owned()).collect(),
        hits: 64,
        exclusive_ticks: exclusive,
        inclusive_ticks: inclusive,
    };
    let of_thread = |thread: usize| {
        [
            stack(thread, &[], 1e8, 1e9),
            stack(thread, &["read"], 1e8, 3e8),
            stack(thread, &["read", "decode"], 2e8, 2e8),
            stack(thread, &["parse"], 6e8, 6e8),
        ]
    };
    Report {
        timer_hz: 1e9,
        elapsed_ticks: 1_000_000_000,
        total_ticks: 1e9,
        cost_ticks: 1e6,
        threads: 2,
        zones: vec![
            zone("read", 2e8, 6e8, 1 << 30),
            zone("decode", 4e8, 4e8, 1 << 28),
            zone("parse", 1.2e9, 1.2e9, 0),
        ],
        stacks: (0..2).flat_map(of_thread).collect(),
        ..Report::default()
    }
}

/// Thirty runs of a command that became a quarter slower in the twentieth.
pub(crate) fn history() -> Vec<Run> {
    let on = |day: u64| {
        let contenders = [("./old", 20e6), ("./new", if day >= 20 { 25e6 } else { 20e6 })];
        let cases = vec![case("commands", Spec::default(), &contenders, day)];
        let started = format!("2026-01-{day:02}T00:00:00Z");
        run(&["fathom", "run", "./old", "./new"], &started, cases, Value::Null)
    };
    (1..=30).map(on).collect()
}

/// A finished table of two keys and two values.
pub(crate) fn table() -> Grid {
    let mut random = Random::new(9);
    let mut row = |number: usize| {
        let (low, spread) = (random.fraction() * 20.0 - 10.0, random.fraction() * 30.0);
        vec![
            format!("host-{number}"),
            format!("/a<b>/{number}"),
            format!("{low:.1}"),
            format!("{:.2}", low + spread * 0.4),
            format!("{:.1}", low + spread),
            format!("{}", 1000 + number),
        ]
    };
    Grid {
        title: "fathom aggregate".to_owned(),
        head: ["host", "path", "min", "mean", "max", "count"].map(str::to_owned).to_vec(),
        keys: 2,
        texts: Vec::new(),
        of: 40,
        rows: (0..40).map(&mut row).collect(),
        ranges: vec![[2, 3, 4]],
        pairs: false,
        total: false,
    }
}
