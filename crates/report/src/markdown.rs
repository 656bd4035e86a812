//! Tables for documents and pull requests.

use std::fmt::Write;

use fathom_measure::result::{Case, Run};

use crate::escape::{heading, markdown as escaped, shell};
use crate::sentence::said;
use crate::table::{self, Column, Look, Table};
use crate::view::conditions;

/// A whole run.
#[must_use]
pub fn run(run: &Run, look: &Look) -> String {
    let mut text = format!("<code>{}</code>\n", escaped(&shell(&run.command)));
    let build = run.build.to_string();
    if !build.is_empty() {
        let _ = write!(
            text,
            "\n{}.\n",
            escaped(&format!("{}, level {}, {build}", run.program, run.level))
        );
    }
    for case in &run.cases {
        let _ = write!(text, "\n{}", self::case(case, look));
    }
    for note in &run.notes {
        let _ = write!(text, "\nNote: {}\n", escaped(note));
    }
    text
}

const USUAL: [Column; 3] = [Column::Time, Column::Spread, Column::Throughput];

/// One case.
#[must_use]
pub fn case(case: &Case, look: &Look) -> String {
    let Table { rows, left, .. } = table::table(case, look, &USUAL);
    let mut text = format!("### {}\n\n{}\n\n", heading(&case.title()), escaped(&conditions(case)));
    let sides: Vec<&str> = left.iter().map(|left| if *left { "---" } else { "--:" }).collect();
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row.iter().map(|cell| escaped(cell)).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
        if number == 0 {
            let _ = writeln!(text, "|{}|", sides.join("|"));
        }
    }
    text.push('\n');
    for sentence in said(case) {
        let _ = writeln!(text, "- {}", escaped(&sentence));
    }
    text
}
