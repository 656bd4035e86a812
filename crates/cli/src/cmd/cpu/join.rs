//! Two machines' saved runs side by side, row by row: rates and their ratio.
//!
//! The two were not measured together, so nothing here is a verdict; who wins on each machine is.

use std::collections::BTreeMap;
use std::fmt::Write;

use fathom_machine::describe::Machine;
use fathom_measure::result::{Case, Run};
use fathom_measure::workload::{Spec, parse_number};
use fathom_report::escape;
use fathom_report::number::times;
use fathom_report::view::{answers_differ, lines, other_work, throughput};

use super::banner;

/// Both banners, then a table per row that either has.
pub(super) fn text<'r>(a: &'r Run, b: &'r Run) -> String {
    let mut text = String::new();
    for (name, run) in [("A", a), ("B", b)] {
        let machine: Machine = serde_json::from_value(run.machine.clone()).unwrap_or_default();
        let _ = write!(text, "{name}: {}\n{}", escape::line(&run.started), banner::text(&machine));
    }
    let _ = writeln!(text, "{:<28} {:>14} {:>14}  B/A", "", "A", "B");
    let mut seen: Vec<(String, String)> = Vec::new();
    for case in a.cases.iter().chain(&b.cases) {
        let key = key(case);
        if seen.contains(&key) {
            continue;
        }
        let find = |run: &'r Run| run.cases.iter().find(|case| self::key(case) == key);
        let pair = [find(a), find(b)];
        text += &row(&heading(case, pair), pair);
        seen.push(key);
    }
    text
}

/// Whether a row is in both.
pub(super) fn have_common_rows(a: &Run, b: &Run) -> bool {
    a.cases.iter().any(|case| b.cases.iter().any(|other| key(other) == key(case)))
}

/// What makes cases of two runs a row: a size as a number, and no path, since a file may lie elsewhere on the
/// other machine; whether it holds the same is told by the answers.
fn key(case: &Case) -> (String, String) {
    let mut workload = Spec { file: None, ..case.workload.clone() };
    if let Some(bytes) = parse_number(workload.text("size")) {
        workload.parameters.insert("size".to_owned(), bytes.to_string());
    }
    (case.family.clone(), workload.to_string())
}

/// The title of a row, with what makes it less comparable.
fn heading(first: &Case, cases: [Option<&Case>; 2]) -> String {
    let mut title = format!("{} {}", first.family, first.workload);
    let [Some(a), Some(b)] = cases else { return title };
    if let Some(other) = b.workload.file.as_ref().filter(|_| a.workload.file != b.workload.file) {
        let _ = write!(title, " / {}", other.display());
    }
    match other_work(a, b) {
        Some(words) => format!("{title} (caution: {words} of data)"),
        None if answers_differ(a, b) => {
            format!("{title} (caution: other answers, maybe of other data)")
        }
        None => title,
    }
}

/// What time per iteration is divided by to be time per byte, or per item.
fn work(case: &Case) -> f64 {
    let units = if case.work.bytes > 0 { case.work.bytes } else { case.work.items };
    units.max(1) as f64
}

fn row(title: &str, cases: [Option<&Case>; 2]) -> String {
    let mut text = format!("{}\n", escape::line(title));
    // Contender → time per iteration on each machine, in the order of the first that has it.
    let mut order: Vec<&str> = Vec::new();
    let mut times_ns: BTreeMap<&str, [Option<f64>; 2]> = BTreeMap::new();
    let mut failures: BTreeMap<&str, String> = BTreeMap::new();
    for (place, case) in cases.iter().enumerate() {
        for line in case.iter().flat_map(|case| lines(case)) {
            let id = line.row.id.as_str();
            if !order.contains(&id) {
                order.push(id);
            }
            times_ns.entry(id).or_default()[place] = line.summary.map(|s| s.ns_median);
            if let Some(failure) = line.failure {
                let note = failures.entry(id).or_default();
                let _ = write!(note, "  {}: {failure}", ["A", "B"][place]);
            }
        }
    }
    for id in order {
        let both = times_ns[id];
        let shown: Vec<String> = both
            .iter()
            .zip(cases)
            .map(|(ns, case)| match (ns, case) {
                (Some(ns), Some(case)) => throughput(case, *ns),
                _ => "-".to_owned(),
            })
            .collect();
        let ratio = match (both, cases) {
            ([Some(a), Some(b)], [Some(in_a), Some(in_b)]) => {
                times(a / b * work(in_b) / work(in_a))
            }
            _ => String::new(),
        };
        let failure = failures.get(id).map_or_else(String::new, |words| escape::line(words));
        let id = escape::line(id);
        let _ = writeln!(text, "  {id:<26} {:>14} {:>14}  {ratio}{failure}", shown[0], shown[1]);
    }
    text
}
