//! Who is fastest, who ties with it, who comes next; and where that changes with the size of a call.
//!
//! Decides nothing: verdicts come with the cases.

use std::fmt::Write;

use fathom_contenders::family;
use fathom_measure::result::Case;
use fathom_measure::workload::parse_number;
use fathom_report::headline::is_tie;
use fathom_report::view::{Line, lines, throughput};

use super::answer::verdict;

/// The fastest implementation and those that tie with it; empty if nobody could be measured.
pub(super) fn ids(case: &Case) -> Vec<&str> {
    let measured = lines(case).into_iter().filter(|line| line.summary.is_some());
    let best = measured.filter(|line| line.comparison.is_none_or(is_tie));
    best.map(|line| line.row.id.as_str()).collect()
}

/// Cases of one operation, all on calls of one size each, in the order of the sizes; with the case on
/// the mix of sizes, if there is one, apart.
pub(super) struct Task<'c> {
    pub(super) family: &'c str,
    pub(super) operation: &'c str,
    pub(super) mix: Option<&'c Case>,
    pub(super) sizes: Vec<&'c Case>,
}

/// The cases by operation, in the order they were measured.
pub(super) fn tasks(cases: &[Case]) -> Vec<Task<'_>> {
    let mut tasks: Vec<Task<'_>> = Vec::new();
    for case in cases {
        let (family, operation) = (case.family.as_str(), case.workload.operation.as_str());
        let same = |task: &Task<'_>| task.family == family && task.operation == operation;
        let at = tasks.iter().position(same).unwrap_or_else(|| {
            tasks.push(Task { family, operation, mix: None, sizes: Vec::new() });
            tasks.len() - 1
        });
        match size(case) {
            "mix" => tasks[at].mix = Some(case),
            _ => tasks[at].sizes.push(case),
        }
    }
    for task in &mut tasks {
        // Cache levels are no numbers and come in order.
        task.sizes.sort_by_key(|case| parse_number(size(case)).unwrap_or(0));
    }
    tasks
}

pub(super) fn size(case: &Case) -> &str {
    case.workload.text("size")
}

/// Neighbouring sizes that have a fastest implementation in common.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stretch<'c> {
    pub(super) ids: Vec<&'c str>,
    pub(super) sizes: Vec<&'c str>,
}

/// The sizes as few stretches, each with those who are fastest on all of it.
pub(super) fn stretches<'c>(sizes: &[&'c Case]) -> Vec<Stretch<'c>> {
    let mut stretches: Vec<Stretch<'c>> = Vec::new();
    for case in sizes {
        let here = ids(case);
        if let Some(stretch) = stretches.last_mut() {
            let both: Vec<&str> =
                stretch.ids.iter().copied().filter(|id| here.contains(id)).collect();
            if !both.is_empty() {
                stretch.ids = both;
                stretch.sizes.push(size(case));
                continue;
            }
        }
        stretches.push(Stretch { ids: here, sizes: vec![size(case)] });
    }
    stretches
}

impl Stretch<'_> {
    /// `64 to 1K ring or sha2`.
    fn words(&self) -> String {
        let sizes = match &self.sizes[..] {
            [first, .., last] => format!("{first} to {last}"),
            sizes => sizes.concat(),
        };
        format!("{sizes} {}", joined(&self.ids))
    }
}

/// `ring or sha2`: not told apart, which is not the same as equal.
pub(super) fn joined(ids: &[&str]) -> String {
    match ids {
        [] => "nobody could be measured".to_owned(),
        ids => ids.join(" or "),
    }
}

/// As many of them as fit a narrow screen beside their row and rate.
fn some(ids: &[&str]) -> String {
    const ROOM: usize = 30;
    let fit = (1..=ids.len()).rev().find(|&count| joined(&ids[..count]).len() <= ROOM);
    match fit.unwrap_or(1) {
        count if count < ids.len() => format!("{} …", joined(&ids[..count])),
        _ => joined(ids),
    }
}

/// A line per case: who is fastest, at what rate, who comes next; and a line where the winner changes
/// with the size.
pub(super) fn text(cases: &[Case], is_wide: bool) -> String {
    let mut text = String::from("fastest here\n");
    let width = cases.iter().map(|case| joined(&ids(case)).len()).max().unwrap_or(0).min(40);
    for task in tasks(cases) {
        for case in task.mix.iter().chain(&task.sizes) {
            let size = match size(case) {
                "" | "mix" => String::new(),
                size => format!(", {size}"),
            };
            let row = format!("{} {}{size}", task.family, task.operation);
            let lines = lines(case);
            let rate = lines.first().and_then(|line| line.summary);
            let rate = rate.map_or_else(String::new, |s| throughput(case, s.ns_median));
            let winners = if is_wide { joined(&ids(case)) } else { some(&ids(case)) };
            let line = format!("  {row:<30} {rate:>12}  {winners:<width$}");
            let next = next(case, &lines);
            // On a line of its own where both would not fit.
            let apart = if line.len() + next.len() > 78 { "\n      " } else { "  " };
            let _ = writeln!(text, "{}{apart}{next}", line.trim_end());
        }
        let stretches = stretches(&task.sizes);
        if stretches.len() > 1 {
            let words: Vec<String> = stretches.iter().map(Stretch::words).collect();
            let _ = writeln!(text, "    changes with the size: {}", words.join(" · "));
        }
    }
    text + "\n"
}

/// The fastest of those that do not tie with the winner.
fn next(case: &Case, lines: &[Line<'_>]) -> String {
    let loser = lines.iter().find_map(|line| {
        line.comparison.filter(|comparison| !is_tie(comparison))?;
        Some(format!("then {}, {}", line.row.id, verdict(line)))
    });
    match (loser, lines.iter().filter(|line| line.summary.is_some()).count()) {
        (Some(words), _) => words,
        (None, 0 | 1) => {
            let task = family(&case.family).map(|f| f.facts().task(&case.workload.operation));
            let why = task.map_or("", |task| task.alone);
            format!("alone{}{why}", if why.is_empty() { "" } else { ": " })
        }
        (None, _) => "none is told apart".to_owned(),
    }
}
