//! A folder of saved runs on a page: what each found, newest first.

use fathom_measure::result::Run;

use super::page::{self, Cell};
use crate::escape::{html as escaped, link, shell};
use crate::headline::in_list;
use crate::number::plural;
use crate::view::kind;

/// A run of a folder.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its file.
    pub name: &'a str,
    /// The file of its page, beside the index; none, and it is only told.
    pub link: Option<&'a str>,
    /// The run.
    pub run: &'a Run,
}

/// The page of a folder.
#[must_use]
pub fn page(folder: &str, entries: &[Entry<'_>]) -> String {
    let mut sorted: Vec<&Entry<'_>> = entries.iter().collect();
    sorted.sort_by(|a, b| (&b.run.started, a.name).cmp(&(&a.run.started, b.name)));
    let head = ["run", "of", "started", "measurements", "found", "command"].map(str::to_owned);
    let row = |entry: &&Entry<'_>| {
        let name = escaped(entry.name);
        let name = match entry.link {
            Some(file) => format!("<a href=\"{}\">{name}</a>", link(file)),
            None => name,
        };
        vec![
            Cell { html: name, class: "id" },
            Cell::text(kind(entry.run)),
            Cell::text(&entry.run.started),
            Cell::number(&entry.run.cases.len().to_string()),
            Cell::text(&in_list(entry.run)),
            Cell { html: escaped(&shell(&entry.run.command)), class: "id" },
        ]
    };
    let rows: Vec<Vec<Cell>> = sorted.iter().map(row).collect();
    let body = format!("<section>\n{}</section>\n", page::table("Saved runs", &head, &rows));
    let (title, kicker) = (format!("runs of {folder}"), format!("fathom report · {folder}"));
    page::plain(title, kicker, plural(entries.len(), "saved run"), body)
}
