//! Tables for documents and pull requests.

use std::fmt::Write;

use fathom_measure::result::{Case, Run};

use crate::escape::markdown as escaped;
use crate::sentence::sentences;
use crate::view::{conditions, lines};

/// A whole run.
#[must_use]
pub fn run(run: &Run) -> String {
    let mut text = format!("<code>{}</code>\n", escaped(&run.command.join(" ")));
    let build = run.build.to_string();
    if !build.is_empty() {
        let _ = write!(
            text,
            "\n{}.\n",
            escaped(&format!("{}, level {}, {build}", run.program, run.level))
        );
    }
    for case in &run.cases {
        let _ = write!(text, "\n{}", self::case(case));
    }
    for note in &run.notes {
        let _ = write!(text, "\nNote: {}\n", escaped(note));
    }
    text
}

/// One case.
#[must_use]
pub fn case(case: &Case) -> String {
    let baseline = escaped(&case.contenders[case.roles.baseline].id);
    let mut text = format!("### {}\n\n{}\n\n", escaped(&case.title()), escaped(&conditions(case)));
    let _ = writeln!(text, "| contender | time | spread | throughput | against {baseline} |");
    let _ = writeln!(text, "|---|--:|--:|--:|---|");
    for line in lines(case) {
        let (last, [time, spread, rate]) = (line.last_word(), line.figures(case));
        let id = escaped(&line.row.id);
        let _ = writeln!(text, "| {id} | {time} | {spread} | {rate} | {} |", escaped(&last));
    }
    text.push('\n');
    for sentence in sentences(case) {
        let _ = writeln!(text, "- {}", escaped(&sentence));
    }
    text
}
