//! What is shown beside the cases: speed by way of reading and size of the buffer, warm and cold apart, and the
//! fastest of each by name.

use std::path::Path;

use fathom_measure::facts::Table;
use fathom_measure::result::Case;

/// GB/s of every contender with every buffer: a table for each file, warm and cold.
pub(super) fn of(cases: &[&Case]) -> Vec<Table> {
    let mut kinds = Vec::new();
    for case in cases {
        if !kinds.contains(&kind(case)) {
            kinds.push(kind(case));
        }
    }
    let tables = kinds.into_iter().map(|of| {
        let same = |case: &&Case| kind(case) == of;
        one_kind(&cases.iter().copied().filter(same).collect::<Vec<_>>())
    });
    tables.collect()
}

/// Which file, of which size if it is made, and whether it is in memory.
fn kind(case: &Case) -> (Option<&Path>, &str, &str) {
    (case.workload.file.as_deref(), case.workload.text("size"), cache(case))
}

/// Runs saved before there was a choice are of files in memory.
fn cache(case: &Case) -> &str {
    match case.workload.text("cache") {
        "" => "warm",
        cache => cache,
    }
}

fn one_kind(cases: &[&Case]) -> Table {
    let Some(first) = cases.first() else { return Table::default() };
    let (_, size, cache) = kind(first);
    let mut head = format!("GB/s by buffer, {cache}");
    if !size.is_empty() {
        head += &format!(", {size} made");
    }
    let mut rows = vec![vec![head]];
    rows[0].extend(cases.iter().map(|case| case.workload.text("buffer").to_owned()));
    for (_, row) in first.entrants() {
        let mut line = vec![row.id.clone()];
        line.extend(cases.iter().map(|case| match speed(case, &row.id) {
            // Of a slow disk, in small pieces.
            Some((speed, _)) if speed < 0.1 => format!("{speed:.4}"),
            Some((speed, _)) => format!("{speed:.2}"),
            None => "-".to_owned(),
        }));
        rows.push(line);
    }
    Table { rows, below: fastest(cases) }
}

/// Median speed of a contender in GB/s, and its number.
fn speed(case: &Case, id: &str) -> Option<(f64, usize)> {
    let (number, _) = case.entrants().find(|(_, row)| row.id == id)?;
    let summary = case.judged.summaries.get(number)?.as_ref()?;
    let is_measured = case.measured.failures.get(number).is_some_and(Option::is_none);
    // Of no bytes there is no speed.
    (is_measured && case.work.bytes > 0)
        .then_some((case.work.bytes as f64 / summary.ns_median, number))
}

/// Which way at which size is the fastest, and how it stands to the baseline at that size.
fn fastest(cases: &[&Case]) -> String {
    let speeds = cases.iter().flat_map(|case| {
        case.entrants().filter_map(|(_, row)| Some((*case, row, speed(case, &row.id)?)))
    });
    let Some((case, row, (speed, number))) =
        speeds.max_by(|(.., (a, _)), (.., (b, _))| a.total_cmp(b))
    else {
        return String::new();
    };
    let buffer = case.workload.text("buffer");
    let mut text = format!("Fastest {}: {} with {buffer}, {speed:.2} GB/s", cache(case), row.id);
    let baseline = &case.contenders[case.roles.baseline].id;
    if number == case.roles.baseline {
        return text + ", the baseline itself\n";
    }
    let comparison = case.judged.comparisons.iter().find(|c| c.contender == number);
    if let Some((ratio, interval)) = comparison.and_then(|c| Some((c.ratio?, c.interval?))) {
        let level = (1.0 - case.judged.alpha_each) * 100.0;
        text += &format!(
            ", {:.2} times {baseline} with the same buffer (between {:.2} and {:.2} at {level:.1} %)",
            1.0 / ratio,
            1.0 / interval.high,
            1.0 / interval.low,
        );
    } else {
        text += ", too few rounds for an interval";
    }
    text + "\n"
}
