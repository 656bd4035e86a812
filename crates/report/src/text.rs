//! Tables for a terminal: bars, units, colour only when asked for.

use std::fmt::Write;

use fathom_measure::compare::Verdict;
use fathom_measure::result::{Case, Run};

use crate::escape;
use crate::sentence::{missing, overhead, sentences};
use crate::table::{self, Column, Look, Table};
use crate::view::{Line, conditions, heading};
use crate::wrap::{kept, places, wrapped};

/// A whole run: its cases, each with table and verdicts, and its notes.
#[must_use]
pub fn run(run: &Run, look: &Look) -> String {
    let mut text = String::new();
    if run.cases.is_empty() {
        text += "nothing was measured\n";
    }
    let mut before = Vec::new();
    for case in &run.cases {
        let key = key(case);
        // Once for all cases of the same commands.
        let shown = if key == before { &[] } else { &key[..] };
        let _ = writeln!(text, "{}", with_key(case, look, &key, shown));
        before = key;
    }
    for note in &run.notes {
        let _ = writeln!(text, "{}", line(look, &format!("note: {note}")));
    }
    text
}

/// The longest name that is repeated wherever its contender is spoken of.
const LONGEST: usize = 30;

/// Letters for contenders, if a name is long; as many as there are.
fn key(case: &Case) -> Vec<(char, String)> {
    let names: Vec<String> = case.entrants().map(|(_, row)| row.id.clone()).collect();
    match names.iter().any(|name| places(name) > LONGEST) && names.len() <= 2 * 26 {
        true => ('A'..='Z').chain('a'..='z').zip(names).collect(),
        false => Vec::new(),
    }
}

/// A sentence of whoever wrote it, on lines of the terminal.
fn line(look: &Look, text: &str) -> String {
    let text = escape::line(text);
    match look.width {
        Some(width) => wrapped(&text, width, 2),
        None => text,
    }
}

/// One case.
#[must_use]
pub fn case(case: &Case, look: &Look) -> String {
    let key = key(case);
    with_key(case, look, &key, &key)
}

/// A case whose contenders are called by the letters of a key, as far as it goes; `shown` of it stands above.
fn with_key(case: &Case, look: &Look, key: &[(char, String)], shown: &[(char, String)]) -> String {
    if key.is_empty() {
        return plain(case, look, "");
    }
    let mut short = case.clone();
    let numbers: Vec<usize> = case.entrants().map(|(number, _)| number).collect();
    for (number, (letter, _)) in numbers.into_iter().zip(key) {
        short.contenders[number].id = letter.to_string();
    }
    let mut lines = String::new();
    for (letter, name) in shown {
        let _ = writeln!(lines, "  {}", line(look, &format!("{letter}: {name}")));
    }
    plain(&short, look, &lines)
}

/// A case, with lines between its head and its table.
fn plain(case: &Case, look: &Look, lines: &str) -> String {
    let bold = |text: &str| paint(look, "1", text);
    let faint = |text: &str| paint(look, "2", text);
    let heading = heading(case).map(|title| bold(&line(look, &title)) + "\n");
    let mut text = heading.unwrap_or_default() + &faint(&line(look, &conditions(case))) + "\n";
    text += lines;
    text += &table(case, look);
    for sentence in sentences(case) {
        let _ = writeln!(text, "{}", line(look, &sentence));
    }
    for words in overhead(case).into_iter().chain(missing(case)) {
        let _ = writeln!(text, "{}", faint(&line(look, &words)));
    }
    for note in &case.notes {
        let _ = writeln!(text, "{}", line(look, &format!("note: {note}")));
    }
    text
}

const USUAL: [Column; 6] =
    [Column::Time, Column::Bar, Column::Spread, Column::Throughput, Column::Peak, Column::Counters];

fn table(case: &Case, look: &Look) -> String {
    let Table { mut rows, left, ranks, lines } = table::table(case, look, &USUAL);
    for cell in rows.iter_mut().flatten() {
        *cell = escape::line(cell);
    }
    let widths: Vec<usize> = (0..left.len())
        .map(|column| rows.iter().map(|row| places(&row[column])).max().unwrap_or(0))
        .collect();
    // As many blanks stand before all as between two.
    let kept =
        kept(&widths, &ranks, 1, look.width.map_or(usize::MAX, |width| width.saturating_sub(2)));
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let mut out = String::from(" ");
        for &column in &kept {
            let cell = &row[column];
            let pad = " ".repeat(widths[column] - places(cell));
            let _ = match left[column] {
                true => write!(out, " {cell}{pad}"),
                false => write!(out, " {pad}{cell}"),
            };
        }
        let line = number.checked_sub(1).map(|number| &lines[number]);
        let _ = writeln!(text, "{}", painted(look, line, out.trim_end()));
    }
    let gone = (0..widths.len()).filter(|column| !kept.contains(column));
    let gone: Vec<&str> =
        gone.map(|column| rows[0][column].as_str()).filter(|head| !head.is_empty()).collect();
    if !gone.is_empty() {
        let words = format!("no room for: {}", gone.join(", "));
        let _ = writeln!(text, "{}", paint(look, "2", &line(look, &words)));
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
