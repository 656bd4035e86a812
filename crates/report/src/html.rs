//! One self-contained page: tables, verdicts and two plots per case, drawn here as SVG. No script,
//! nothing fetched.

use std::fmt::Write;

use fathom_measure::result::{Case, Run};

use crate::escape::html as escaped;
use crate::number::{duration, factor_digits};
use crate::sentence::sentences;
use crate::table::{self, Column, Look, Table};
use crate::view::{Line, conditions, lines};

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;\
    padding:0 1rem;color:#222;background:#fff}h1{font-size:1.1rem}h2{margin:2.5rem 0 .2rem}\
    table{border-collapse:collapse;margin:1rem 0}td,th{padding:.15rem .8rem .15rem 0;text-align:left}td.n{text-align:\
    right;font-variant-numeric:tabular-nums}.f{color:#777}svg{display:block;margin:1rem 0;\
    max-width:100%}svg text{font:12px system-ui,sans-serif;fill:#333}pre{white-space:pre-wrap}\
    @media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}svg text{fill:#ccc}}";

/// Colours that people with any colour vision can tell apart (Okabe and Ito 2008).
const COLOURS: [&str; 8] =
    ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#b8a800"];

/// A whole run.
#[must_use]
pub fn run(run: &Run, look: &Look) -> String {
    let command = escaped(&run.command.join(" "));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{command}</title>\n\
         <style>{STYLE}</style>\n<h1><code>{command}</code></h1>\n<p class=\"f\">{} · {} · {}</p>\n",
        escaped(&run.started),
        escaped(&run.program),
        escaped(&run.build.to_string())
    );
    for case in &run.cases {
        page += &self::case(case, look);
    }
    for note in &run.notes {
        let _ = writeln!(page, "<p>Note: {}</p>", escaped(note));
    }
    if let Ok(machine) = serde_json::to_string_pretty(&run.machine) {
        let _ = writeln!(
            page,
            "<details><summary>Machine</summary><pre>{}</pre></details>",
            escaped(&machine)
        );
    }
    page + "</html>\n"
}

fn case(case: &Case, look: &Look) -> String {
    let lines = lines(case);
    let mut html = format!(
        "<h2>{}</h2>\n<p class=\"f\">{}</p>\n",
        escaped(&case.title()),
        escaped(&conditions(case))
    );
    html += &ratios(case, &lines);
    html += &table(case, look);
    html += "<ul>\n";
    for sentence in sentences(case) {
        let _ = writeln!(html, "<li>{}</li>", escaped(&sentence));
    }
    html += "</ul>\n";
    html += &samples(case, &lines);
    html
}

const USUAL: [Column; 5] =
    [Column::Time, Column::Spread, Column::Throughput, Column::Peak, Column::Counters];

fn table(case: &Case, look: &Look) -> String {
    let Table { rows, left, .. } = table::table(case, look, &USUAL);
    let mut html = "<table>".to_owned();
    for (number, row) in rows.iter().enumerate() {
        html += "<tr>";
        for (cell, left) in row.iter().zip(&left) {
            let tag = match (number, left) {
                (0, _) => "<th>",
                (_, true) => "<td>",
                (_, false) => "<td class=\"n\">",
            };
            html += tag;
            html += &escaped(cell);
        }
        html += "</tr>\n";
    }
    html + "</table>\n"
}

/// Intervals of the ratios on a logarithmic axis, the noise floor as a band around 1.
fn ratios(case: &Case, lines: &[Line<'_>]) -> String {
    let shown: Vec<(&Line<'_>, f64, f64, f64)> = lines
        .iter()
        .filter_map(|line| {
            let comparison = line.comparison?;
            let interval = comparison.interval?;
            Some((line, comparison.ratio?, interval.low, interval.high))
        })
        .collect();
    if shown.is_empty() {
        return String::new();
    }
    let floor = case.judged.floor.interval;
    let ends = shown.iter().flat_map(|&(_, _, low, high)| [low, high]);
    let ends: Vec<f64> = ends.chain(floor.iter().flat_map(|f| [f.low, f.high])).collect();
    let least = ends.iter().copied().fold(0.98, f64::min).ln();
    let most = ends.iter().copied().fold(1.02, f64::max).ln();
    let (left, width, step) = (190.0, 560.0, 24.0);
    let x = |ratio: f64| left + (ratio.ln() - least) / (most - least) * width;
    let height = 40.0 + step * shown.len() as f64;
    let mut svg = open(left + width + 20.0, height);
    if let Some(floor) = floor {
        let (from, to) = (x(floor.low), x(floor.high));
        let _ = writeln!(
            svg,
            "<rect x=\"{from:.1}\" y=\"4\" width=\"{:.1}\" height=\"{:.1}\" fill=\"#8884\"/>",
            to - from,
            height - 32.0
        );
    }
    let one = x(1.0);
    let bottom = height - 28.0;
    let _ = writeln!(
        svg,
        "<line x1=\"{one:.1}\" x2=\"{one:.1}\" y1=\"4\" y2=\"{bottom:.1}\" stroke=\"#888\"/>"
    );
    for (index, (line, ratio, low, high)) in shown.iter().enumerate() {
        let y = 18.0 + step * index as f64;
        let colour = COLOURS[line.number % COLOURS.len()];
        let _ = writeln!(
            svg,
            "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{}</text>\
             <line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y}\" y2=\"{y}\" stroke=\"{colour}\" \
             stroke-width=\"3\"/><circle cx=\"{:.1}\" cy=\"{y}\" r=\"4\" fill=\"{colour}\"/>",
            left - 10.0,
            y + 4.0,
            escaped(&line.row.id),
            x(*low),
            x(*high).max(x(*low) + 1.0),
            x(*ratio)
        );
    }
    for tick in ticks(least.exp(), most.exp()) {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            x(tick),
            height - 10.0,
            factor_digits(tick)
        );
    }
    svg + "</svg>\n"
}

/// Every sample, in the order of the rounds, on the clock of the verdicts.
fn samples(case: &Case, lines: &[Line<'_>]) -> String {
    let clock = case.judged.clock;
    let iterations = case.measured.iterations.max(1) as f64;
    let rounds = case.measured.rounds.len();
    let mut points: Vec<(usize, usize, f64)> = Vec::new();
    for (round, taken) in case.measured.rounds.iter().enumerate() {
        for line in lines {
            if let Some(sample) = &taken.samples[line.number] {
                let ns = clock.of(sample) as f64 / iterations;
                if ns > 0.0 {
                    points.push((line.number, round, ns));
                }
            }
        }
    }
    if points.is_empty() {
        return String::new();
    }
    let least = points.iter().map(|p| p.2).fold(f64::INFINITY, f64::min).ln() - 0.02;
    let most = points.iter().map(|p| p.2).fold(0.0, f64::max).ln() + 0.02;
    let (left, top, width, height) = (90.0, 10.0, 660.0, 220.0);
    let mut svg = open(left + width + 20.0, top + height + 30.0);
    let y = |ns: f64| top + (most - ns.ln()) / (most - least) * height;
    let radius = if rounds > 60 { 1.6 } else { 3.0 };
    for (number, round, ns) in points {
        let x = left + (round as f64 + 0.5) / rounds as f64 * width;
        let (y, colour) = (y(ns), COLOURS[number % COLOURS.len()]);
        let _ =
            write!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{colour}\"/>");
    }
    for tick in ticks(least.exp(), most.exp()) {
        let _ = writeln!(
            svg,
            "<text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 8.0,
            y(tick) + 4.0,
            duration(tick)
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">round 1 to {rounds}</text>",
        left + width / 2.0,
        top + height + 20.0
    );
    svg + "</svg>\n" + &legend(lines)
}

/// Which colour is whose, in the order of the table.
fn legend(lines: &[Line<'_>]) -> String {
    let mut html = "<p>".to_owned();
    for line in lines {
        let colour = COLOURS[line.number % COLOURS.len()];
        let id = escaped(&line.row.id);
        let _ = write!(html, "<span style=\"color:{colour}\">\u{25cf}</span>&nbsp;{id} ");
    }
    html + "</p>\n"
}

/// Five places of equal distance on a logarithmic axis.
fn ticks(from: f64, to: f64) -> Vec<f64> {
    (0..5).map(|i| (from.ln() + (to.ln() - from.ln()) * f64::from(i) / 4.0).exp()).collect()
}

fn open(width: f64, height: f64) -> String {
    format!(
        "<svg viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         xmlns=\"http://www.w3.org/2000/svg\" role=\"img\">\n"
    )
}
