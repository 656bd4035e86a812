//! What is shown beside the cases: speed by way of reading and size of the buffer, and the fastest by
//! name.

use fathom_measure::facts::Table;
use fathom_measure::result::Case;

/// GB/s of every contender at every size, file by file.
pub(super) fn of(cases: &[&Case]) -> Vec<Table> {
    let mut files: Vec<_> = cases.iter().map(|case| &case.workload.file).collect();
    files.dedup();
    let tables = files.into_iter().map(|file| {
        let same = cases.iter().copied().filter(|case| case.workload.file == *file);
        one_file(&same.collect::<Vec<_>>())
    });
    tables.collect()
}

fn one_file(cases: &[&Case]) -> Table {
    let Some(first) = cases.first() else { return Table::default() };
    let mut rows = vec![vec!["GB/s by buffer".to_owned()]];
    rows[0].extend(cases.iter().map(|case| case.workload.text("buffer").to_owned()));
    for (_, row) in first.entrants() {
        let mut line = vec![row.id.clone()];
        line.extend(cases.iter().map(|case| match speed(case, &row.id) {
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
    is_measured.then_some((case.work.bytes as f64 / summary.ns_median, number))
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
    let mut text = format!("Fastest: {} with {buffer}, {speed:.2} GB/s", row.id);
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
