//! Many tasks on one page: who wins each, a heat table of tasks and implementations (best = 1), and the
//! cases folded below.

use std::fmt::Write;

use fathom_measure::result::Case;
use fathom_measure::sample::Failure;

use super::measured::{self, Extent};
use super::page::{self, Cell};
use crate::escape::prose as escaped;
use crate::headline::{Standing, standing};
use crate::number::{factor_digits, times};
use crate::table::Look;
use crate::view;

/// The names of a case as few words: without the family, and with those parameters that are not the same
/// everywhere in it.
fn words(case: &Case, family: &[&Case]) -> String {
    let varied = |name: &String, value: &String| {
        let is_here = |other: &&Case| other.workload.operation == case.workload.operation;
        family.iter().filter(|c| is_here(c)).any(|c| c.workload.parameters.get(name) != Some(value))
    };
    let mut words = vec![case.workload.operation.clone()];
    for (name, value) in &case.workload.parameters {
        if varied(name, value) {
            words.push(format!("{name}={value}"));
        }
    }
    words.join(" ").trim().to_owned()
}

/// The body.
pub(super) fn overview(cases: &[Case], look: &Look) -> String {
    let mut families: Vec<(&str, Vec<(&Case, Standing)>)> = Vec::new();
    for case in cases {
        let at = families.iter().position(|(name, _)| *name == case.family);
        let at = at.unwrap_or_else(|| {
            families.push((&case.family, Vec::new()));
            families.len() - 1
        });
        families[at].1.push((case, standing(case)));
    }
    let mut html = String::from("<section>\n<h2>Fastest here</h2>\n");
    html += &winners(&families);
    html += "</section>\n<section>\n<h2>All implementations</h2>\n<p class=\"soft\">Time over that of whoever \
             has the least median, <span class=\"h0\">&nbsp;1&nbsp;</span>; a question mark says that the \
             difference is not proved.</p>\n";
    html += "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Heat table\">\n\
             <table class=\"heat\">\n";
    for (family, of) in &families {
        html += &heat(family, of);
    }
    html += "</table>\n</div>\n</section>\n<section>\n<h2>In detail</h2>\n";
    for (_, of) in &families {
        for (case, _) in of {
            html += &page::folded(&case.title(), &measured::case(case, look, Extent::Detail));
        }
    }
    html + "</section>\n"
}

fn winners(families: &[(&str, Vec<(&Case, Standing)>)]) -> String {
    let head = ["task", "fastest", "at", "through", "then"].map(str::to_owned);
    let mut rows = Vec::new();
    for (family, of) in families {
        let cases: Vec<&Case> = of.iter().map(|(case, _)| *case).collect();
        for (case, standing) in of {
            let row = |number: &usize| &case.contenders[*number];
            let names: Vec<&str> = standing.ties.iter().map(|n| row(n).id.as_str()).collect();
            let leader = standing.leaders.first();
            let timed = leader.and_then(|n| Some((row(n), case.judged.summaries[*n]?)));
            let rate = timed.map_or_else(String::new, |(of, s)| view::rate(case, of, s.ns_median));
            let then = match standing.behind {
                Some((number, ratio)) => {
                    let word = match standing.proved[number] {
                        true => "slower",
                        false if standing.unjudged.contains(&number) => "no verdict",
                        false => "not resolved",
                    };
                    format!("{} {} {word}", row(&number).id, times(ratio))
                }
                None if case.entrants().count() == 1 => "alone".to_owned(),
                None => String::new(),
            };
            let path = leader.map_or("", |n| row(n).about.hardware.as_str());
            let mut fastest = Cell::text(&names.join(" or "));
            fastest.class = "best";
            rows.push(vec![
                Cell::text(&format!("{family} {}", words(case, &cases))),
                fastest,
                Cell::number(&rate),
                Cell::text(path),
                Cell::text(&then),
            ]);
        }
    }
    page::table("Fastest implementation of each task", &head, &rows)
}

/// Columns beside each other, for which paper has room; what is more stands below.
const COLUMNS: usize = 12;

/// The part of a family: rows are tasks, columns implementations, those that win or nearly win most in front.
/// A family has columns of its own, since hardly anybody takes part in two; a head of a column ends where
/// the next one begins, for programs that read tables aloud too.
fn heat(family: &str, of: &[(&Case, Standing)]) -> String {
    let mut columns: Vec<(&str, Vec<f64>)> = Vec::new();
    for (case, standing) in of {
        for (number, row) in case.entrants() {
            let at = columns.iter().position(|(id, _)| *id == row.id);
            let at = at.unwrap_or_else(|| {
                columns.push((&row.id, Vec::new()));
                columns.len() - 1
            });
            columns[at].1.extend(standing.ratios[number].map(f64::ln));
        }
    }
    let mean = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len().max(1) as f64;
    let rank = |logs: &[f64]| if logs.is_empty() { f64::INFINITY } else { mean(logs) };
    columns.sort_by(|a, b| rank(&a.1).total_cmp(&rank(&b.1)));
    let cases: Vec<&Case> = of.iter().map(|(case, _)| *case).collect();
    let mut html = String::new();
    for (part, columns) in columns.chunks(COLUMNS).enumerate() {
        let name = escaped(family) + if part > 0 { ", continued" } else { "" };
        let _ = write!(html, "<tbody>\n<tr class=\"heads\"><th scope=\"rowgroup\">{name}</th>");
        for (id, _) in columns {
            let _ = write!(html, "<th scope=\"col\">{}</th>", escaped(id));
        }
        html += "</tr>\n";
        for (case, standing) in of {
            let own = |id: &str| case.entrants().find(|(_, row)| row.id == id);
            if part > 0 && columns.iter().all(|(id, _)| own(id).is_none()) {
                continue;
            }
            let _ = write!(html, "<tr><th scope=\"row\">{}</th>", escaped(&words(case, &cases)));
            for (id, _) in columns {
                let none = || "<td></td>".to_owned();
                html += &own(id).map_or_else(none, |(number, _)| cell(case, standing, number));
            }
            html += "</tr>\n";
        }
        html += "</tbody>\n";
    }
    html
}

fn cell(case: &Case, standing: &Standing, number: usize) -> String {
    let Some(ratio) = standing.ratios[number] else {
        let failure = case.measured.failures[number].as_ref();
        return format!("<td class=\"soft\">{}</td>", failure.map_or("", Failure::kind));
    };
    let heat = match ratio {
        ..=1.02 => 0,
        ..=1.1 => 1,
        ..=1.5 => 2,
        ..=2.0 => 3,
        ..=4.0 => 4,
        _ => 5,
    };
    let is_best = standing.leaders.first() == Some(&number);
    let mark = if is_best || standing.proved[number] { "" } else { "?" };
    let shown = if is_best { "1".to_owned() } else { factor_digits(ratio) };
    format!("<td class=\"n h{}\">{shown}{mark}</td>", if is_best { 0 } else { heat.max(1) })
}
