//! A run in kvbench's layout of blocks, as valid JSON: its field names, with what they really are
//! said in `legend`. What is not known is `null`, never a number.
//!
//! kvbench prints bare keys, `=` and `-nan`, which no JSON parser takes; its `perIteration` divides
//! by a count that is one too high in later versions. Here iterations are the keys of the file.

use fathom_contenders::alloc::SYSTEM;
use fathom_measure::result::{Case, Row};
use fathom_measure::simulated::LABEL as SIMULATED;
use serde_json::{Value, json};

use super::alias;
use super::candidate::Candidate;

/// What the file and the command line say.
pub(super) struct Config<'a> {
    pub(super) filename: &'a str,
    pub(super) file_bytes: u64,
    pub(super) format: String,
    /// Rounds of which the last are shown.
    pub(super) record_runs: usize,
}

/// kvbench's counters: its field, and the sums of events that it is, the first that were counted.
/// The simulator counts parts: what misses its first level is a reference to the last one.
const COUNTERS: [(&str, &[&[&str]]); 8] = [
    ("pmuFixedCounter0RetiredInstructions", &[&["instructions"]]),
    ("pmuFixedCounter1CoreCycles", &[&["cycles"]]),
    ("pmuFixedCounter2ReferenceNoHaltCycles", &[&["ref-cycles"]]),
    (
        "pmuProgCounter0LLCHits",
        &[&["cache-references"], &["l1i-misses", "l1d-load-misses", "l1d-store-misses"]],
    ),
    (
        "pmuProgCounter1LLCMisses",
        &[&["cache-misses"], &["llc-instruction-misses", "llc-load-misses", "llc-store-misses"]],
    ),
    (
        "pmuProgCounter2RetiredBranchInstructions",
        &[&["branches"], &["conditional-branches", "indirect-branches"]],
    ),
    ("pmuProgCounter3RetiredBranchInstructionsTaken", &[]),
    (
        "branchMispredictions",
        &[&["branch-misses"], &["conditional-branch-misses", "indirect-branch-misses"]],
    ),
];

/// One document per candidate, which are the entrants of all `cases` in that order; `overhead` is
/// the case of the scan that holds nothing.
pub(super) fn documents(
    candidates: &[Candidate],
    overhead: Option<&Case>,
    cases: &[Case],
    config: &Config<'_>,
) -> Value {
    let document = |(number, candidate): (usize, &Candidate)| {
        let runs = cases.iter().map(|case| case.measured.rounds.len()).max().unwrap_or(0);
        let mut blocks = Vec::new();
        // By runs: what a run did stands together.
        let most = config.record_runs.min(runs);
        for back in (1..=most).rev() {
            blocks.extend(overhead.and_then(|case| block("benchmark-overhead", case, 0, back)));
            blocks.extend(cases.iter().filter_map(|case| block(name(case), case, number, back)));
        }
        let failures: Vec<String> = cases
            .iter()
            .filter_map(|case| case.measured.failures[number].as_ref())
            .map(ToString::to_string)
            .collect();
        json!({
            "config": {
                "filename": config.filename,
                "fileSizeBytes": config.file_bytes,
                "format": config.format,
                "dataStructure": candidate.structure,
                "hashAlgorithm": candidate.hash.as_deref().map(alias::hash_there),
                "allocator": match candidate.allocator.as_str() {
                    SYSTEM => "vanilla malloc or std::allocator",
                    other => other,
                },
                "needsHashAlgo": candidate.hash.is_some(),
                "customAlloc": candidate.allocator != SYSTEM,
                "runs": runs,
                "recordRuns": most,
                "verbosity": 0,
                "keys": candidate.about.keeps.word(),
            },
            "legend": legend(),
            "stats": { "result": blocks },
            "failures": failures,
        })
    };
    match candidates {
        [one] => document((0, one)),
        many => many.iter().enumerate().map(document).collect(),
    }
}

/// kvbench's word where it has one: its find is the one in insertion order from the same bytes.
fn name(case: &Case) -> &str {
    match case.workload.operation.as_str() {
        "find-same" => "find",
        other => other,
    }
}

/// The block of the run that is `back`th from the end.
fn block(what: &str, case: &Case, number: usize, back: usize) -> Option<Value> {
    let run = case.measured.rounds.len().checked_sub(back)?;
    let sample = case.measured.rounds[run].samples.get(number)?.as_ref()?;
    let items = case.work.items.max(1) as f64;
    let pass_ns = case.judged.clock.of(sample) as f64 / case.measured.iterations.max(1) as f64;
    let row = &case.contenders[number];
    let event = |name: &&str| {
        let found = row.counters.iter().find(|counter| counter.event == *name);
        found.map(|counter| counter.per_iteration)
    };
    let count = |sums: &[&[&str]]| {
        sums.iter().find_map(|events| events.iter().map(event).sum::<Option<f64>>())
    };
    let mut total = json!({ "iterations": case.work.items, "elapsedTimeNs": rounded(pass_ns) });
    let mut each = json!({ "elapsedTimeNs": rounded(pass_ns / items) });
    each["IPC"] = match (event(&"instructions"), event(&"ref-cycles")) {
        (Some(instructions), Some(cycles)) => rounded(instructions / cycles),
        _ => Value::Null,
    };
    for (field, sums) in COUNTERS {
        let found = count(sums);
        total[field] = found.map_or(Value::Null, |count| json!(count.round() as u64));
        each[field] = found.map_or(Value::Null, |count| rounded(count / items));
    }
    Some(json!({
        "description": format!("{what} run {run}"),
        "total": total,
        "perIteration": each,
        "counters": sources(row),
    }))
}

/// Who counted, and why what is `null` was not.
fn sources(row: &Row) -> Value {
    let mut sources: Vec<&str> = row.counters.iter().map(|c| c.source.as_str()).collect();
    sources.sort_unstable();
    sources.dedup();
    let mut missing = row.counters_missing.clone();
    if sources.is_empty() && missing.is_empty() {
        missing.push("not asked for: --counters hardware, or --counters simulated".to_owned());
    }
    if sources.contains(&SIMULATED) {
        missing.push("cycles: the simulator knows no time".to_owned());
    }
    let source = if sources.is_empty() { Value::Null } else { json!(sources.join(", ")) };
    json!({ "source": source, "missing": missing })
}

/// Six decimals, as kvbench prints.
fn rounded(value: f64) -> Value {
    json!((value * 1e6).round() / 1e6)
}

fn legend() -> Value {
    json!({
        "iterations": "keys of the file, duplicates counted",
        "elapsedTimeNs": "of the clock the verdicts rest on; kvbench's is UTC wall time",
        "IPC": "instructions per reference cycle, as kvbench has it: turbo inflates it",
        "pmuProgCounter0LLCHits": "references to the last-level cache, not hits",
        "pmuProgCounter3RetiredBranchInstructionsTaken":
            "kvbench counts branches not taken here, an event of one processor model: null",
        "branchMispredictions": "not in kvbench",
        "benchmark-overhead": "every byte of every key is read; kvbench's loop reads nothing",
        "find": "insertion order and the very same bytes, as in kvbench; find-hit is the honest one",
        "counters": "who counted and what is null for which reason; hardware: medians over all runs",
    })
}
