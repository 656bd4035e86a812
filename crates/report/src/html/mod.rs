//! Self-contained pages: nothing is fetched, and all of it is there without scripts.
//!
//! ```text
//! a run ──▶ kv (its answer), scan (lines), heat (many tasks), measured (a section per case) ─┐
//! a profile ▶ flame    courses ▶ history    two runs ▶ diff                                  ├─▶ page ─▶ HTML
//! a finished table ▶ grid    a folder of runs ▶ index                                        ─┘
//! ```

pub mod diff;
pub mod flame;
pub mod grid;
mod heat;
pub mod history;
pub mod index;
mod kv;
mod measured;
mod page;
mod plot;
mod scan;

use fathom_measure::result::Run;

use self::kv::Answer;
use self::measured::Extent;
use self::page::Page;
use crate::escape::prose;
use crate::headline::{MOST_SECTIONS, is_interrupted, of_run};
use crate::scan::Scan;
use crate::table::Look;

/// A whole run.
#[must_use]
pub fn run(run: &Run, look: &Look) -> String {
    let mut page = Page::of(run);
    page.headline = of_run(run);
    let sections = |extent| -> String {
        run.cases.iter().map(|case| measured::case(case, look, extent)).collect()
    };
    let extent = if run.cases.len() == 1 { Extent::Whole } else { Extent::Section };
    page.body = match (Answer::of(run), Scan::of(run)) {
        (Some(answer), _) => answer.body(run, look),
        (None, Some(scan)) => {
            scan::section(&scan) + &page::folded("Each point in detail", &sections(extent))
        }
        (None, None) if run.cases.len() > MOST_SECTIONS => heat::overview(&run.cases, look),
        (None, None) => sections(extent),
    };
    let (first, others): (Vec<&String>, Vec<&String>) =
        run.notes.iter().partition(|note| is_interrupted(note));
    let notes: Vec<String> = others.iter().map(|note| format!("Note: {note}")).collect();
    let first = first.iter().map(|note| format!("<p class=\"warn\">{}</p>\n", prose(note)));
    page.body = first.collect::<String>() + &page.body + &page::list(&notes) + &page::command(run);
    page.html()
}
