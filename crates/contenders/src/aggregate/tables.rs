//! What is shown beside the cases: the forebear's matrix of choices and times, and how the times scale
//! where there are several numbers of threads.

use fathom_measure::facts::Table;
use fathom_measure::result::Case;
use fathom_measure::workload::Spec;

use super::journey::{self, Check, Input, Parse, Strategy};

/// The matrix, then a table for each workload that was measured with several numbers of threads.
pub(super) fn of(cases: &[&Case]) -> Vec<Table> {
    let mut tables = vec![matrix(cases)];
    let mut workloads: Vec<Spec> = Vec::new();
    for case in cases {
        let workload = on_any_threads(case);
        if workloads.contains(&workload) {
            continue;
        }
        let is_same = |other: &&Case| on_any_threads(other) == workload;
        let same: Vec<&Case> = cases.iter().copied().filter(is_same).collect();
        if same.len() > 1 {
            tables.push(scaling(&data(case, cases), &same));
        }
        workloads.push(workload);
    }
    tables
}

/// What a case is about, without its threads.
fn on_any_threads(case: &Case) -> Spec {
    let mut workload = case.workload.clone();
    workload.parameters.remove("threads");
    workload
}

/// The same in a word; in more, where the word is that of other cases, too.
fn data(case: &Case, cases: &[&Case]) -> String {
    let word = |case: &Case| match &case.workload.file {
        Some(file) => file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned(),
        None => format!("{} keys", case.workload.text("keys")),
    };
    let mut text = word(case);
    let others: Vec<&Case> = cases.iter().copied().filter(|other| word(other) == text).collect();
    if let Some(file) = &case.workload.file
        && others.iter().any(|other| other.workload.file.as_ref() != Some(file))
    {
        text = file.display().to_string();
    }
    for (name, value) in &on_any_threads(case).parameters {
        if others.iter().any(|other| other.workload.text(name) != value) {
            text += &format!(" {name}={value}");
        }
    }
    text
}

/// Median milliseconds of a contender, if it has any.
fn milliseconds(case: &Case, id: &str) -> Option<f64> {
    let number = case.contenders.iter().position(|row| row.id == id)?;
    Some(case.judged.summaries.get(number)?.as_ref()?.ns_median / 1e6)
}

fn ids(cases: &[&Case]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for row in cases.iter().flat_map(|case| &case.contenders) {
        // The twin and the empty contender are in brackets.
        if !row.id.starts_with('(') && !ids.contains(&row.id) {
            ids.push(row.id.clone());
        }
    }
    ids
}

fn matrix(cases: &[&Case]) -> Table {
    let threads: Vec<&str> = cases.iter().map(|case| case.workload.text("threads")).collect();
    let several = threads.iter().any(|n| *n != threads[0]);
    let head = |case: &&Case| match case.workload.text("threads") {
        threads if several => format!("{} -t {threads}", data(case, cases)),
        _ => data(case, cases),
    };
    let mut rows =
        vec![["project", "shared", "full", "nobranch", "submap"].map(str::to_owned).to_vec()];
    rows[0].extend(cases.iter().map(head));
    for id in ids(cases) {
        let yes = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
        let mut row = vec![id.clone()];
        match id.parse::<Strategy>() {
            Ok(strategy) => row.extend([
                yes(strategy.table == journey::Table::Shared),
                yes(strategy.check == Check::Full),
                yes(strategy.parse == Parse::Branchless),
                match strategy.input {
                    Input::Chunk | Input::ChunkPopulate => "yes",
                    Input::Whole | Input::WholePopulate => "no",
                    Input::Pread => "pread",
                }
                .to_owned(),
            ]),
            Err(_) => row.extend(std::iter::repeat_n("?".to_owned(), 4)),
        }
        row.extend(cases.iter().map(|case| match milliseconds(case, &id) {
            Some(ms) => format!("{ms:.0} ms"),
            None => "-".to_owned(),
        }));
        rows.push(row);
    }
    Table { rows, ..Table::default() }
}

/// Speed over the fewest threads, beside the ideal.
fn scaling(file: &str, cases: &[&Case]) -> Table {
    let count = |case: &Case| -> f64 { case.workload.text("threads").parse().unwrap_or(0.0) };
    let mut cases = cases.to_vec();
    cases.sort_by(|a, b| count(a).total_cmp(&count(b)));
    // Zero threads means all processors, which is no number to scale by.
    cases.retain(|case| count(case) > 0.0);
    let Some(first) = cases.first() else { return Table::default() };
    let mut rows = vec![vec![format!("{file}, threads")]];
    rows[0].extend(cases.iter().map(|case| case.workload.text("threads").to_owned()));
    let mut ideal = vec!["ideal".to_owned()];
    ideal.extend(cases.iter().map(|case| format!("{:.2}x", count(case) / count(first))));
    for id in ids(&cases) {
        let Some(base) = milliseconds(first, &id) else { continue };
        let mut row = vec![id.clone()];
        row.extend(cases.iter().map(|case| match milliseconds(case, &id) {
            Some(ms) => format!("{:.2}x", base / ms),
            None => "-".to_owned(),
        }));
        rows.push(row);
    }
    rows.push(ideal);
    Table { rows, ..Table::default() }
}
