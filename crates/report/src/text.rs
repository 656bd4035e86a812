//! Tables for a terminal: bars, units, colour only when asked for.

use std::fmt::Write;

use fathom_measure::compare::Verdict;
use fathom_measure::result::{Case, Row, Run};

use crate::escape;
use crate::number::{bytes, digits, duration, percent};
use crate::sentence::sentences;
use crate::view::{Line, conditions, lines};

/// How text looks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// Escape sequences for colour.
    pub colour: bool,
}

/// Width of a bar, in characters.
const BAR: usize = 20;

/// A whole run: its cases, each with table and verdicts, and its notes.
#[must_use]
pub fn run(run: &Run, style: Style) -> String {
    let mut text = String::new();
    for case in &run.cases {
        let _ = writeln!(text, "{}", self::case(case, style));
    }
    for note in &run.notes {
        let _ = writeln!(text, "note: {}", escape::line(note));
    }
    text
}

/// One case.
#[must_use]
pub fn case(case: &Case, style: Style) -> String {
    let bold = |text: &str| paint(style, "1", text);
    let faint = |text: &str| paint(style, "2", text);
    let mut text = format!(
        "{}\n{}\n",
        bold(&escape::line(&case.title())),
        faint(&escape::line(&conditions(case)))
    );
    text += &table(case, style);
    for sentence in sentences(case) {
        let _ = writeln!(text, "{}", escape::line(&sentence));
    }
    if let Some(overhead) = case.judged.overhead {
        let _ = writeln!(
            text,
            "{}",
            faint(&format!(
                "overhead {} to {} per iteration{}, at most {} of the fastest time",
                duration(overhead.ns_low),
                duration(overhead.ns_high),
                if overhead.subtracted { ", subtracted" } else { ", not subtracted" },
                percent(overhead.share_most),
            ))
        );
    }
    let missing: Vec<&String> =
        case.entrants().take(1).flat_map(|(_, row)| &row.counters_missing).collect();
    for line in missing {
        let _ = writeln!(text, "{}", faint(&escape::line(&format!("counters: {line}"))));
    }
    for note in &case.notes {
        let _ = writeln!(text, "note: {}", escape::line(note));
    }
    text
}

fn table(case: &Case, style: Style) -> String {
    let lines = lines(case);
    let slowest = lines.iter().filter_map(|l| l.summary).map(|s| s.ns_median).fold(0.0, f64::max);
    let mut rows: Vec<Vec<String>> = vec![header(case)];
    rows.extend(lines.iter().map(|line| cells(case, line, slowest)));
    for cell in rows.iter_mut().flatten() {
        *cell = escape::line(cell);
    }
    // A column in which nobody has anything is left out.
    let columns: Vec<usize> = (0..rows[0].len())
        .filter(|&column| rows.iter().skip(1).any(|row| !row[column].is_empty()))
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let mut out = String::from(" ");
        for &column in &columns {
            let cell = &row[column];
            let pad = " ".repeat(width(column).unwrap_or(0) - cell.chars().count());
            let left = column == 0 || column == 2 || column + 1 == row.len();
            let _ = if left { write!(out, " {cell}{pad}") } else { write!(out, " {pad}{cell}") };
        }
        let line = number.checked_sub(1).map(|number| &lines[number]);
        let _ = writeln!(text, "{}", painted(style, line, out.trim_end()));
    }
    text
}

fn header(case: &Case) -> Vec<String> {
    let mut cells =
        ["contender", "time", "", "spread", "throughput", "peak"].map(String::from).to_vec();
    cells.extend(extras(case));
    cells.push(format!("against {}", case.contenders[case.roles.baseline].id));
    cells
}

fn cells(case: &Case, line: &Line<'_>, slowest: f64) -> Vec<String> {
    let row = line.row;
    let [time, spread, rate] = line.figures(case);
    let bar = line.summary.map_or_else(String::new, |s| bar(s.ns_median / slowest));
    let peak = match line.summary {
        Some(_) if row.peak_bytes > 0 => bytes(row.peak_bytes as f64),
        _ => String::new(),
    };
    let mut cells = vec![row.id.clone(), time, bar, spread, rate, peak];
    cells.extend(extras(case).iter().map(|name| {
        let value = extras_of(case, row).find(|extra| extra.0 == *name);
        value.map_or_else(String::new, |(_, value)| digits(value))
    }));
    cells.push(line.last_word());
    cells
}

/// The counters and metrics of a row, by the name of their column; counters per item, where an
/// iteration works through several.
fn extras_of<'a>(case: &Case, row: &'a Row) -> impl Iterator<Item = (String, f64)> + use<'a> {
    let items = case.work.items.max(1);
    let unit = if items > 1 { "/item" } else { "" };
    let counters = row.counters.iter().map(move |counter| {
        let source = if counter.source == "simulated" { " (simulated)" } else { "" };
        (format!("{}{unit}{source}", counter.event), counter.per_iteration / items as f64)
    });
    counters.chain(row.metrics.iter().map(|metric| (metric.name.clone(), metric.value)))
}

/// The columns of counters and metrics that anybody has, in the order in which they first come up.
fn extras(case: &Case) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in case.entrants().flat_map(|(_, row)| extras_of(case, row)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// A bar of eighths of a character.
fn bar(share: f64) -> String {
    let eighths = (share.clamp(0.0, 1.0) * (BAR * 8) as f64).round() as usize;
    let parts = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(parts[eighths % 8 - 1]);
    }
    bar
}

fn painted(style: Style, line: Option<&Line<'_>>, text: &str) -> String {
    let Some(line) = line else { return paint(style, "2", text) };
    match (line.failure, line.comparison.map(|c| &c.verdict)) {
        (Some(_), _) => paint(style, "31", text),
        (_, Some(Verdict::Faster)) => paint(style, "32", text),
        (_, Some(Verdict::Slower)) => paint(style, "33", text),
        _ => text.to_owned(),
    }
}

fn paint(style: Style, code: &str, text: &str) -> String {
    if style.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_proportional() {
        assert_eq!(bar(1.0).chars().count(), BAR);
        assert_eq!(bar(0.5), "█".repeat(10));
        assert_eq!(bar(0.0), "");
        assert_eq!(bar(1.0 / 160.0), "▏");
    }
}
