//! The verdict as text for a terminal. Chooses nothing, rounds for the eye only.

use std::fmt::Write;

use fathom_report::escape;

use super::Verdict;
use super::screen::Rung;
use super::verdict::{Compound, Row, Standing};

/// The whole verdict.
pub(super) fn text(verdict: &Verdict) -> String {
    let mut text = String::new();
    let Verdict { file, portrait, .. } = verdict;
    let _ = writeln!(text, "{} ({}, {} bytes)\n", file.name, file.format, file.bytes);
    let _ = writeln!(text, "{portrait}");
    let _ = writeln!(text, "memory     {}", verdict.data);
    let _ = writeln!(text, "mix        {}", verdict.mix);
    let _ = writeln!(text, "screening  {}", screening(&verdict.screening, verdict.rows.len()));
    if let Some(scan) = &verdict.scan {
        let _ = writeln!(
            text,
            "scan       {:.2} ns to touch a key (interval {:.2} to {:.2}): part of every figure \
             below, never subtracted",
            scan.ns_median, scan.ns_low, scan.ns_high
        );
    }
    let _ = writeln!(text, "method     {}\n", verdict.method);
    text += &table(verdict);
    text.push('\n');
    for sentence in &verdict.advice {
        let _ = writeln!(text, "{sentence}");
    }
    if !verdict.notes.is_empty() {
        text.push('\n');
    }
    for note in &verdict.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

fn screening(rungs: &[Rung], finalists: usize) -> String {
    let mut parts = Vec::new();
    for rung in rungs {
        parts.push(format!("{} on {} keys", rung.candidates, rung.keys));
    }
    parts.push(format!("{finalists} at full size"));
    let seconds: f64 = rungs.iter().map(|rung| rung.seconds).sum();
    let failed: usize = rungs.iter().map(|rung| rung.failures.len()).sum();
    let unsupported: usize = rungs.iter().map(|rung| rung.unsupported).sum();
    let unreached: usize = rungs.iter().map(|rung| rung.unreached).sum();
    let mut line = format!("combinations: {} ({seconds:.1} s)", parts.join(", "));
    for (count, what) in [
        (unsupported, "lack an operation"),
        (failed, "failed"),
        (unreached, "were not reached in time"),
    ] {
        if count > 0 {
            let _ = write!(line, "; {count} {what}");
        }
    }
    line
}

fn table(verdict: &Verdict) -> String {
    let mut header: Vec<String> =
        ["", "structure", "hash", "allocator", "ns/op"].map(Into::into).to_vec();
    let operations: Vec<&str> = match verdict.rows.iter().find(|row| row.failure.is_none()) {
        Some(row) => row.operations.iter().map(|figure| figure.operation.as_str()).collect(),
        None => Vec::new(),
    };
    header.push(format!("against {}", verdict.baseline));
    header.extend(operations.iter().map(|operation| format!("{operation} ns")));
    header.extend(["B/entry", "live", "peak", "keys", "insert p99.9", "max"].map(Into::into));
    let mut lines = vec![header];
    let mut sorted: Vec<&Row> = verdict.rows.iter().collect();
    let cost = |row: &Row| row.cost_ns.unwrap_or(f64::INFINITY);
    sorted.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    for row in &sorted {
        lines.push(cells(row, operations.len(), &verdict.baseline));
    }
    let mut text = aligned(&lines, 4);
    text += "★ nobody measured is both faster and smaller. B/entry: of the table that was timed, live \
             bytes and, where keys are borrowed, their bytes in the file\n";
    for row in sorted.iter().filter(|row| row.failure.is_some()) {
        let failure = escape::line(row.failure.as_deref().unwrap_or_default());
        let _ = writeln!(text, "{}: {failure}", escape::line(&row.id));
    }
    text
}

fn cells(row: &Row, operations: usize, baseline: &str) -> Vec<String> {
    let number = |value: Option<f64>, decimals: usize| {
        value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
    };
    let mut cells = vec![
        if row.on_the_front { "★".to_owned() } else { String::new() },
        row.structure.clone(),
        row.hash.clone().unwrap_or_else(|| "-".to_owned()),
        row.allocator.clone(),
        number(row.cost_ns, 1),
    ];
    cells.push(match row.against_baseline {
        _ if row.id == baseline => "baseline".to_owned(),
        Some(ratio) => ratio_words(ratio),
        None => "-".to_owned(),
    });
    let figures = row.operations.iter().map(|figure| Some(figure.ns_median));
    cells.extend(figures.chain(std::iter::repeat(None)).take(operations).map(|ns| number(ns, 1)));
    cells.push(number(row.bytes_per_entry, 1));
    cells.push(number(row.live_bytes_per_entry, 1));
    cells.push(number(row.peak_bytes_per_entry, 1));
    cells.push(row.keeps.word().to_owned());
    cells.push(row.insert_ns_p999.map_or_else(|| "-".to_owned(), fathom_report::number::duration));
    cells.push(row.insert_ns_max.map_or_else(|| "-".to_owned(), fathom_report::number::duration));
    cells
}

fn ratio_words(ratio: Compound) -> String {
    let Compound { ratio: middle, low, high, .. } = ratio;
    let interval = format!("{middle:.2} ({low:.2}–{high:.2})");
    match ratio.standing() {
        Standing::Resolved => interval,
        // An interval beyond 1 that is not believed: copies of the same code differ as much.
        Standing::Unproved => format!("{interval} not proved"),
        Standing::Open => format!("{interval} not resolved"),
        Standing::Unknown => format!("{middle:.2} too few rounds"),
    }
}

/// Columns; the first `left` ones and the ratio's flush left.
fn aligned(lines: &[Vec<String>], left: usize) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for line in lines {
        let mut out = String::new();
        for (column, cell) in line.iter().enumerate() {
            let pad = " ".repeat(widths[column] - cell.chars().count());
            let flush_left = column < left || column == left + 1;
            let cell = if flush_left { format!("{cell}{pad}") } else { format!("{pad}{cell}") };
            let _ = write!(out, "{cell}  ");
        }
        let _ = writeln!(text, "{}", out.trim_end());
    }
    text
}
