//! The sheet all pages are written on: head, headline, provenance at the end; and the tables on it.
//!
//! Fetches nothing. The style follows the reader's colour scheme, and colours are legible on both (WCAG
//! AA). The script sorts, hides and points out; without it everything is there.

use std::fmt::Write;

use fathom_measure::result::Run;

use crate::escape::{html as escaped, prose, shell};
use crate::view::kind;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// A page but for what all have.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// What a browser shows in its tab, as text.
    pub(super) title: String,
    /// Above the headline, as text: what this is and of when.
    pub(super) kicker: String,
    /// The answer in a sentence, as text.
    pub(super) headline: String,
    /// The rest, as HTML.
    pub(super) body: String,
    /// Machine and provenance, as HTML; folded.
    pub(super) provenance: String,
}

impl Page {
    /// The page of a run, without headline and body.
    pub(super) fn of(run: &Run) -> Page {
        let title = shell(&run.command);
        let kicker = format!("fathom {} · {}", kind(run), run.started.replace('T', " "));
        Page { title, kicker, provenance: provenance(run), ..Page::default() }
    }

    /// The document.
    pub(super) fn html(&self) -> String {
        let Page { title, kicker, headline, body, provenance } = self;
        let (title, [kicker, headline]) =
            (escaped(title), [kicker, headline].map(|text| prose(text)));
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
             <header>\n<p class=\"soft small\">{kicker}</p>\n<h1>{headline}</h1>\n</header>\n\
             <main>\n{body}</main>\n"
        );
        if !provenance.is_empty() {
            let _ = write!(page, "<footer>\n{provenance}</footer>\n");
        }
        let _ = write!(page, "<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
        page
    }
}

/// The page of something that is no run, and says itself where it comes from.
pub(super) fn plain(title: String, kicker: String, headline: String, body: String) -> String {
    Page { title, kicker, headline, body, provenance: String::new() }.html()
}

/// The command to measure it again.
pub(super) fn command(run: &Run) -> String {
    let command = escaped(&shell(&run.command));
    format!("<h2 class=\"sub\">To repeat it</h2>\n<pre><code>{command}</code></pre>\n")
}

fn provenance(run: &Run) -> String {
    let mut html = String::from("<details>\n<summary>Machine and provenance</summary>\n");
    let lines = [
        ("started", run.started.clone()),
        ("program", run.program.clone()),
        ("build", run.build.to_string()),
        ("level", run.level.clone()),
    ];
    for (name, value) in lines.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = writeln!(html, "<p>{name}: {}</p>", escaped(value));
    }
    if let (false, Ok(machine)) =
        (run.machine.is_null(), serde_json::to_string_pretty(&run.machine))
    {
        let _ = writeln!(html, "<pre>{}</pre>", escaped(&machine));
    }
    html + "</details>\n"
}

/// A cell of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    /// Its content, as HTML.
    pub(super) html: String,
    /// The classes it has.
    pub(super) class: &'static str,
}

impl Cell {
    /// Text of others.
    pub(super) fn text(text: &str) -> Cell {
        // Many words in a narrow column are a tall one.
        Cell { html: prose(text), class: if text.len() > 30 { "t" } else { "" } }
    }

    /// A number with its unit.
    pub(super) fn number(text: &str) -> Cell {
        // Only what is wider than most names may be broken, and only on paper.
        Cell { html: escaped(text), class: if text.len() > 20 { "n long" } else { "n" } }
    }

    /// A name: the head of its row.
    pub(super) fn name(text: &str) -> Cell {
        Cell { html: prose(text), class: "id" }
    }

    /// A drawing, which only repeats what other cells say.
    pub(super) fn drawing(svg: String) -> Cell {
        Cell { html: svg, class: "w" }
    }
}

/// A table that can be sorted, and scrolls where the screen is narrow; `label` says to screen readers
/// what it is. The first cell of a row is its head.
pub(super) fn table(label: &str, head: &[String], rows: &[Vec<Cell>]) -> String {
    totalled(label, head, rows, None)
}

/// The same, above a row that stays the last however it is sorted.
pub(super) fn totalled(
    label: &str,
    head: &[String],
    rows: &[Vec<Cell>],
    total: Option<Vec<Cell>>,
) -> String {
    let mut html = format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n<table class=\"sort\">\n<thead><tr>",
        escaped(label)
    );
    for (column, name) in head.iter().enumerate() {
        let first = rows.first().or(total.as_ref());
        let class = first.and_then(|row| row.get(column)).map_or("", |cell| cell.class);
        let class = if class.starts_with('n') { " class=\"n\"" } else { "" };
        let _ = match name.as_str() {
            // A head without words is none.
            "" => write!(html, "<td></td>"),
            name => write!(html, "<th scope=\"col\"{class}>{}</th>", prose(name)),
        };
    }
    html += "</tr></thead>\n<tbody>\n";
    for row in rows {
        html += &self::row(row);
    }
    html += "</tbody>\n";
    if let Some(total) = total {
        let _ = writeln!(html, "<tfoot>\n{}</tfoot>", row(&total));
    }
    html + "</table>\n</div>\n"
}

fn row(cells: &[Cell]) -> String {
    let mut html = String::from("<tr>");
    for (column, Cell { html: content, class }) in cells.iter().enumerate() {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let _ = match column {
            0 => write!(html, "<th scope=\"row\"{class}>{content}</th>"),
            _ => write!(html, "<td{class}>{content}</td>"),
        };
    }
    html + "</tr>\n"
}

/// Sentences, one below the other.
pub(super) fn list(sentences: &[String]) -> String {
    if sentences.is_empty() {
        return String::new();
    }
    let items: Vec<String> =
        sentences.iter().map(|text| format!("<li>{}</li>\n", prose(text))).collect();
    format!("<ul>\n{}</ul>\n", items.concat())
}

/// Something folded; it unfolds on paper if it is worth it.
pub(super) fn folded(summary: &str, html: &str) -> String {
    let summary = prose(summary);
    format!("<details class=\"print\">\n<summary>{summary}</summary>\n{html}</details>\n")
}
