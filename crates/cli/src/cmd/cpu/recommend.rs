//! One line per task: what to use on this processor, what is as good, what loses how much, and the
//! sizes at which that changes.

use std::fmt::Write;

use fathom_measure::result::Case;
use fathom_report::view::{Line, lines};

use super::answer::is_tie;

/// Losses below this share are not worth a word.
const WORTH_A_WORD: f64 = 0.10;

/// A line per operation, in the order they were measured.
pub(super) fn text(cases: &[Case]) -> String {
    let mut tasks: Vec<(&str, &str)> = Vec::new();
    for case in cases {
        let task = (case.family.as_str(), case.workload.operation.as_str());
        if !tasks.contains(&task) {
            tasks.push(task);
        }
    }
    let mut text = String::new();
    for (family, operation) in tasks {
        let of_task: Vec<&Case> = cases
            .iter()
            .filter(|case| case.family == family && case.workload.operation == operation)
            .collect();
        let _ = writeln!(text, "{operation}: {}", advice(&of_task));
    }
    text
}

fn advice(cases: &[&Case]) -> String {
    let (Some(first), sizes) = (cases.first(), cases.get(1..).unwrap_or_default()) else {
        return "nothing measured".to_owned();
    };
    let mut words = vec![winners(first)];
    for case in sizes {
        let (here, at) = (ids(case), case.workload.text("size"));
        // Another winner only counts where the overall one is really beaten.
        let changes = !ids(first).iter().any(|id| here.contains(id));
        if changes {
            words.push(format!("at {at}: {}", here.join(" = ")));
        }
    }
    words.extend(losses(first, sizes));
    words.join("; ")
}

/// The winner, those that tie with it, and their instructions.
fn winners(case: &Case) -> String {
    let ids = ids(case);
    if ids.is_empty() {
        return "nobody could be measured".to_owned();
    }
    let lines = lines(case);
    let mut paths: Vec<&str> = Vec::new();
    for line in lines.iter().filter(|line| ids.contains(&line.row.id.as_str())) {
        let path = line.row.about.hardware.as_str();
        if !path.is_empty() && !paths.contains(&path) {
            paths.push(path);
        }
    }
    format!("{} ({})", ids.join(" = "), paths.join(", "))
}

fn ids(case: &Case) -> Vec<&str> {
    let measured = lines(case).into_iter().filter(|line| line.summary.is_some());
    let best = measured.filter(|line| line.comparison.is_none_or(is_tie));
    best.map(|line| line.row.id.as_str()).collect()
}

/// Who loses how much: overall, or only at some size.
fn losses(first: &Case, sizes: &[&Case]) -> Vec<String> {
    let mut words = Vec::new();
    for line in lines(first).iter().filter(|line| line.summary.is_some()) {
        let id = line.row.id.as_str();
        match loss(line) {
            Some(share) if share >= WORTH_A_WORD => {
                words.push(format!("{id} loses {:.0} %", 100.0 * share));
            }
            _ => {
                let worst = sizes.iter().filter_map(|case| {
                    let lines = lines(case);
                    let line = lines.iter().find(|line| line.row.id == id)?;
                    Some((loss(line)?, case.workload.text("size")))
                });
                let worst = worst.max_by(|a, b| a.0.total_cmp(&b.0));
                if let Some((share, size)) = worst.filter(|(share, _)| *share >= WORTH_A_WORD) {
                    words.push(format!("{id} loses {:.0} % at {size}", 100.0 * share));
                }
            }
        }
    }
    words
}

/// The share of the winner's speed that is lost, if that is certain.
fn loss(line: &Line<'_>) -> Option<f64> {
    let comparison = line.comparison.filter(|comparison| !is_tie(comparison))?;
    comparison.ratio.map(|ratio| 1.0 - 1.0 / ratio)
}
