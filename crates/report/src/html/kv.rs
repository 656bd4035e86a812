//! The answer of `fathom kv` on a page: advice with code to paste, time against memory with the front,
//! each operation, the tails of single inserts, the portrait of the keys.
//!
//! Reads what the command left in the run ([`Run::answer`]); decides nothing.

use std::fmt::Write;

use fathom_measure::result::Run;
use serde::Deserialize;

use super::measured::{self, Extent};
use super::page::{self, Cell};
use super::plot::{self, Axis, Frame};
use crate::escape::{html as escaped, prose};
use crate::number::{digits, duration, round};
use crate::table::Look;

/// What the page shows of it.
#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    schema: String,
    file: Origin,
    portrait_words: String,
    data: String,
    mix: String,
    method: String,
    baseline: String,
    rows: Vec<Row>,
    advice: Vec<String>,
    #[serde(default)]
    paste: Option<Paste>,
    #[serde(default)]
    losses: Vec<String>,
    notes: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Origin {
    name: String,
    format: String,
    bytes: u64,
}

/// Lines to use the choice with.
#[derive(Debug, Deserialize)]
struct Paste {
    /// Of `Cargo.toml`.
    manifest: Vec<String>,
    /// Of the program.
    code: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Row {
    id: String,
    keeps: String,
    cost_ns: Option<f64>,
    operations: Vec<Figure>,
    against_baseline: Option<Compound>,
    live_bytes_per_entry: Option<f64>,
    peak_bytes_per_entry: Option<f64>,
    bytes_per_entry: Option<f64>,
    insert_ns_p999: Option<f64>,
    insert_ns_max: Option<f64>,
    on_the_front: bool,
    failure: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Figure {
    operation: String,
    ns_median: f64,
}

#[derive(Debug, Deserialize)]
struct Compound {
    ratio: f64,
    low: Option<f64>,
    /// Infinity is no number of JSON: without an interval there is none.
    high: Option<f64>,
    resolved: bool,
}

impl Answer {
    /// What the run holds, if it is of this command and of this form.
    pub(super) fn of(run: &Run) -> Option<Answer> {
        let answer: Answer = serde_json::from_value(run.answer.clone()).ok()?;
        (answer.schema == "fathom-kv").then_some(answer)
    }

    /// Rows by their cost, with the number that is their colour; those without one last.
    fn sorted(&self) -> Vec<(usize, &Row)> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        let cost = |row: &Row| row.cost_ns.unwrap_or(f64::INFINITY);
        rows.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        rows.into_iter().enumerate().collect()
    }

    /// The body.
    pub(super) fn body(&self, run: &Run, look: &Look) -> String {
        let Answer { file, mix, .. } = self;
        let mut html = format!(
            "<section>\n<p class=\"soft\">{} ({}, {} bytes) · {}</p>\n",
            prose(&file.name),
            escaped(&file.format),
            file.bytes,
            escaped(mix)
        );
        let further: Vec<String> = self.advice.iter().skip(1).cloned().collect();
        if !further.is_empty() {
            let _ = write!(html, "<div class=\"say\">\n{}</div>\n", page::list(&further));
        }
        html += &self.pasted();
        html += "</section>\n<section>\n<h2>Time and memory</h2>\n";
        html += &self.scatter();
        html += &self.table();
        html += "</section>\n<section>\n<h2>By operation</h2>\n";
        html += &self.operations();
        html += &self.tails();
        html += "</section>\n<section>\n<h2>The keys, and how they were measured</h2>\n";
        let _ = writeln!(html, "<pre>{}</pre>", escaped(&self.portrait_words));
        let mut said = vec![format!("memory: {}", self.data), format!("method: {}", self.method)];
        said.extend(self.losses.iter().chain(&self.notes).map(|note| format!("Note: {note}")));
        html += &page::list(&said);
        let details: String =
            run.cases.iter().map(|case| measured::case(case, look, Extent::Section)).collect();
        html + &page::folded("Each operation in detail", &details) + "</section>\n"
    }

    fn pasted(&self) -> String {
        let Some(Paste { manifest, code }) = &self.paste else { return String::new() };
        let mut html = String::from("<h2 class=\"sub\">To paste</h2>\n");
        if !manifest.is_empty() {
            let lines = escaped(&manifest.join("\n"));
            let _ = writeln!(html, "<pre><code># Cargo.toml, [dependencies]\n{lines}</code></pre>");
        }
        html + &format!("<pre><code>{}</code></pre>\n", escaped(&code.join("\n")))
    }

    fn scatter(&self) -> String {
        let placed: Vec<(usize, &Row, f64, f64)> = self
            .sorted()
            .into_iter()
            .filter_map(|(n, row)| Some((n, row, row.bytes_per_entry?, row.cost_ns?)))
            .collect();
        if placed.is_empty() {
            return String::new();
        }
        let frame = Frame {
            x: Axis::around(placed.iter().map(|p| p.2)),
            y: Axis::around(placed.iter().map(|p| p.3)),
            height: 280.0,
            x_tick: &|bytes| round(&digits(bytes)),
            y_tick: &|ns| round(&duration(ns)),
            x_name: "bytes per entry",
        };
        let mut front: Vec<(f64, f64)> =
            placed.iter().filter(|p| p.1.on_the_front).map(|p| (p.2, p.3)).collect();
        front.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut marks = format!("<g class=\"c7\">{}</g>", frame.path(7, "l d", &front));
        for (number, row, bytes, ns) in &placed {
            let (x, y) = frame.place(*bytes, *ns);
            let class = if row.on_the_front { "f" } else { "z" };
            let _ = write!(
                marks,
                "<g {}\"><circle class=\"{class}\" cx=\"{x:.2}%\" cy=\"{y:.1}\" r=\"6\"/>\
                 <text x=\"{x:.2}%\" y=\"{:.1}\" text-anchor=\"middle\">{}</text></g>",
                plot::series(*number),
                y - 10.0,
                letter(*number)
            );
        }
        let said = format!(
            "Time per operation against bytes per entry for {} structures; the table below has both",
            placed.len()
        );
        plot::figure(
            "Nanoseconds per operation of the mix against bytes per entry: lower left is better. Filled and joined: \
             the front, on which nobody measured is both faster and smaller",
            &frame.drawn(&said, &marks),
        )
    }

    fn table(&self) -> String {
        let mut head: Vec<String> =
            ["structure", "", "front", "ns/op", ""].map(str::to_owned).to_vec();
        head.push(format!("against {}", self.baseline));
        let operations = self.operation_names();
        head.extend(operations.iter().map(|operation| format!("{operation} ns")));
        head.extend(["B/entry", "live", "peak", "keys"].map(str::to_owned));
        // Without inserts they have no tail.
        let has_tails = self.rows.iter().any(|row| row.insert_ns_max.is_some());
        head.extend(
            ["insert p99.9", "max"].iter().filter(|_| has_tails).map(|&name| name.to_owned()),
        );
        let slowest = self.rows.iter().filter_map(|row| row.cost_ns).fold(0.0, f64::max);
        let number = |value: Option<f64>| {
            Cell::number(&value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}")))
        };
        let time = |ns: Option<f64>| Cell::number(&ns.map_or_else(|| "-".to_owned(), duration));
        let mut rows = Vec::new();
        for (at, row) in self.sorted() {
            let bar = row.cost_ns.map_or_else(String::new, |ns| plot::bar(at, ns / slowest, None));
            let mut cells = vec![
                Cell::name(&row.id),
                Cell::text(&letter(at)),
                Cell::text(if row.on_the_front { "★" } else { "" }),
                number(row.cost_ns),
                Cell::drawing(bar),
                Cell::text(&self.against(row)),
            ];
            let figure = |name: &&str| row.operations.iter().find(|f| f.operation == **name);
            cells.extend(operations.iter().map(|name| number(figure(name).map(|f| f.ns_median))));
            cells.extend(
                [row.bytes_per_entry, row.live_bytes_per_entry, row.peak_bytes_per_entry]
                    .map(number),
            );
            cells.push(Cell::text(&row.keeps));
            cells.extend(
                [row.insert_ns_p999, row.insert_ns_max].map(time).into_iter().filter(|_| has_tails),
            );
            rows.push(cells);
        }
        page::table("Structures by their time", &head, &rows)
            + "<p class=\"soft small\">★ nobody measured is both faster and smaller. B/entry: of the table that \
               was timed, live bytes and, where keys are borrowed, their bytes in the file.</p>\n"
    }

    fn against(&self, row: &Row) -> String {
        if let Some(failure) = &row.failure {
            return failure.clone();
        }
        let Some(Compound { ratio, low, high, resolved }) = &row.against_baseline else {
            return if row.id == self.baseline { "baseline" } else { "-" }.to_owned();
        };
        // As on a terminal: one as wide as this tells as little as none.
        let ends = low.zip(*high).filter(|(low, high)| *resolved || *high <= 1e4 * *low);
        let Some((low, high)) = ends else { return format!("{ratio:.2} no interval") };
        let beyond = low > 1.0 || high < 1.0;
        let word = match (resolved, beyond) {
            (true, _) => "",
            (false, true) => " not proved",
            (false, false) => " not resolved",
        };
        format!("{ratio:.2} ({low:.2}–{high:.2}){word}")
    }

    fn operation_names(&self) -> Vec<&str> {
        let whole = self.rows.iter().find(|row| row.failure.is_none());
        whole.map_or_else(Vec::new, |row| {
            row.operations.iter().map(|f| f.operation.as_str()).collect()
        })
    }

    /// A small plot per operation, all in the order of the whole mix.
    fn operations(&self) -> String {
        let mut html = String::from("<div class=\"grid\">\n");
        for name in self.operation_names() {
            let figure = |row: &Row| {
                row.operations.iter().find(|f| f.operation == name).map(|f| f.ns_median)
            };
            let most = self.rows.iter().filter_map(figure).fold(0.0, f64::max);
            let mut rows = String::new();
            for (number, row) in self.sorted() {
                let Some(ns) = figure(row) else { continue };
                let label = format!("{} {}", row.id, duration(ns));
                rows += &plot::row(&label, &plot::bar(number, ns / most, None));
            }
            html += &plot::figure(&format!("{name}: median time per item"), &rows);
        }
        html + "</div>\n"
    }

    /// From what 99.9 % of the single inserts take to the longest.
    fn tails(&self) -> String {
        let tails: Vec<(usize, &Row, f64, f64)> = self
            .sorted()
            .into_iter()
            .filter_map(|(n, row)| Some((n, row, row.insert_ns_p999?, row.insert_ns_max?)))
            .collect();
        if tails.is_empty() {
            return String::new();
        }
        let axis = Axis::log(tails.iter().flat_map(|t| [t.2, t.3]));
        let mut html = String::new();
        for (number, row, p999, most) in tails {
            let marks = format!(
                "<g {}\">{}<circle class=\"f\" cx=\"{:.2}%\" cy=\"12\" r=\"4\"/><circle class=\"z\" cx=\"{:.2}%\" cy=\"12\" r=\"4\"/></g>",
                plot::series(number),
                plot::line((axis.at(p999), 12.0), (axis.at(most), 12.0), "l"),
                axis.at(p999),
                axis.at(most)
            );
            let said = format!(
                "{}: 99.9 % within {}, the longest {}",
                row.id,
                duration(p999),
                duration(most)
            );
            html += &plot::row(&row.id, &plot::drawing(24.0, &said, &marks));
        }
        html += &plot::foot(&axis, |tick| round(&duration(tick)));
        plot::figure(
            "Tails of single inserts while the structure grows, logarithmic: filled, what 99.9 % do not exceed; open, \
             the longest",
            &html,
        )
    }
}

/// A, B, … Z, A2, …
fn letter(number: usize) -> String {
    let letter = char::from(b'A' + (number % 26) as u8);
    match number / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{}", round + 1),
    }
}
