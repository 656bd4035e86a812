//! Tables for a terminal: bars, units, colour only when asked for.

use std::fmt::Write;

use fathom_measure::compare::Verdict;
use fathom_measure::result::{Case, Run};

use crate::escape;
use crate::number::{duration, percent};
use crate::sentence::sentences;
use crate::table::{self, Column, Look, Table};
use crate::view::{Line, conditions, heading};

/// A whole run: its cases, each with table and verdicts, and its notes.
#[must_use]
pub fn run(run: &Run, look: &Look) -> String {
    let mut text = String::new();
    for case in &run.cases {
        let _ = writeln!(text, "{}", self::case(case, look));
    }
    for note in &run.notes {
        let _ = writeln!(text, "note: {}", escape::line(note));
    }
    text
}

/// One case.
#[must_use]
pub fn case(case: &Case, look: &Look) -> String {
    let bold = |text: &str| paint(look, "1", text);
    let faint = |text: &str| paint(look, "2", text);
    let heading = heading(case).map(|title| bold(&escape::line(&title)) + "\n");
    let mut text = heading.unwrap_or_default() + &faint(&escape::line(&conditions(case))) + "\n";
    text += &table(case, look);
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

const USUAL: [Column; 6] =
    [Column::Time, Column::Bar, Column::Spread, Column::Throughput, Column::Peak, Column::Counters];

fn table(case: &Case, look: &Look) -> String {
    let Table { mut rows, left, lines } = table::table(case, look, &USUAL);
    for cell in rows.iter_mut().flatten() {
        *cell = escape::line(cell);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let mut out = String::from(" ");
        for (column, cell) in row.iter().enumerate() {
            let pad = " ".repeat(width(column).unwrap_or(0) - cell.chars().count());
            let _ = match left[column] {
                true => write!(out, " {cell}{pad}"),
                false => write!(out, " {pad}{cell}"),
            };
        }
        let line = number.checked_sub(1).map(|number| &lines[number]);
        let _ = writeln!(text, "{}", painted(look, line, out.trim_end()));
    }
    text
}

fn painted(look: &Look, line: Option<&Line<'_>>, text: &str) -> String {
    let Some(line) = line else { return paint(look, "2", text) };
    match (line.failure, line.comparison.map(|c| &c.verdict)) {
        (Some(_), _) => paint(look, "31", text),
        (_, Some(Verdict::Faster)) => paint(look, "32", text),
        (_, Some(Verdict::Slower)) => paint(look, "33", text),
        _ => text.to_owned(),
    }
}

fn paint(look: &Look, code: &str, text: &str) -> String {
    if look.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}
