//! Two runs on a page: what changed, by how much, and what makes the runs less comparable.

use super::page::{self, Cell};
use super::plot::{self, Axis};
use crate::diff::{Change, Diff, Difference, NOTHING_IN_COMMON};
use crate::number::{duration, factor_digits, round, times};

/// The page of a difference; `names` are those of the two files.
#[must_use]
pub fn page(diff: &Diff, names: [&str; 2]) -> String {
    let of = |change: Change| diff.differences.iter().filter(|d| d.change == change).count();
    let gone = diff.differences.iter().filter(|d| matches!(d.change, Change::Gone(_))).count();
    let mut headline = format!(
        "{} slower, {} faster, {} not resolved",
        of(Change::Slower),
        of(Change::Faster),
        of(Change::NotResolved)
    );
    if gone > 0 {
        headline += &format!(", {gone} failed");
    }
    let is_repaired = |d: &&Difference| matches!(d.change, Change::Repaired(_));
    let repaired = diff.differences.iter().filter(is_repaired).count();
    if repaired > 0 {
        headline += &format!(", {repaired} failed or took no part before only");
    }
    let lone = |is_in_both: bool| {
        let is_it = |d: &&Difference| {
            matches!(d.change, Change::OldOnly | Change::NewOnly) && d.why.is_some() == is_in_both
        };
        diff.differences.iter().filter(is_it).count()
    };
    for (count, what) in
        [(lone(false), "in one run only"), (lone(true), "without readings in one run")]
    {
        if count > 0 {
            headline += &format!(", {count} {what}");
        }
    }
    if diff.nothing_in_common() && gone + repaired == 0 {
        NOTHING_IN_COMMON.clone_into(&mut headline);
    }
    let mut body = String::from(
        "<section>\n<p class=\"warn\">The two runs were not interleaved: whatever changed between them besides \
         the code is part of these differences. To be sure, measure both in one run.</p>\n",
    );
    body += &page::list(&diff.cautions);
    body += &plot(diff);
    body += &table(diff);
    body += "</section>\n";
    let [old, new] = names;
    let (title, kicker) = (format!("{old} and {new}"), format!("fathom diff · {old} · {new}"));
    page::plain(title, kicker, headline, body)
}

/// Slower ones first, then faster ones.
fn sorted(diff: &Diff) -> Vec<(usize, &Difference)> {
    let mut sorted: Vec<&Difference> = diff.differences.iter().collect();
    let rank = |d: &Difference| match d.change {
        Change::Gone(_) => 0,
        Change::Slower => 1,
        Change::Faster => 2,
        Change::NotResolved => 3,
        Change::Repaired(_) => 4,
        Change::OldOnly => 5,
        Change::NewOnly => 6,
        Change::Absent(_) => 7,
    };
    sorted.sort_by_key(|d| rank(d));
    sorted.into_iter().enumerate().collect()
}

fn name(d: &Difference) -> String {
    format!("{} {}", d.title, d.id).trim().to_owned()
}

/// Colours of the three words, by number.
fn colour(change: &Change) -> usize {
    match change {
        Change::Slower | Change::Gone(_) => 1,
        Change::Faster => 2,
        _ => 7,
    }
}

fn plot(diff: &Diff) -> String {
    let ends = || diff.differences.iter().filter_map(|d| d.interval);
    if ends().next().is_none() {
        return String::new();
    }
    let axis = Axis::log(ends().flat_map(|i| [i.low, i.high]).chain([0.98, 1.02]));
    let mut html = String::new();
    for (number, d) in sorted(diff) {
        let (Some(ratio), Some(interval)) = (d.ratio, d.interval) else { continue };
        let marks = format!(
            "{}<g {}\">{}<circle class=\"f\" cx=\"{:.2}%\" cy=\"12\" r=\"5\"/></g>",
            plot::line((axis.at(1.0), 0.0), (axis.at(1.0), 24.0), "one"),
            plot::coloured(number, colour(&d.change)),
            plot::line((axis.at(interval.low), 12.0), (axis.at(interval.high), 12.0), "l"),
            axis.at(ratio)
        );
        html += &plot::row(&name(d), &plot::drawing(24.0, &d.sentence(), &marks));
    }
    html += &plot::foot(&axis, |tick| round(&factor_digits(tick)));
    plot::figure(
        "Time now over the time before, with intervals: left of the dashed 1 is faster",
        &html,
    )
}

fn table(diff: &Diff) -> String {
    let head =
        ["contender", "before", "now", "ratio", "interval", "of", "change"].map(str::to_owned);
    let row = |(_, d): (usize, &Difference)| {
        let [was, is] = d.ns.map_or_else(Default::default, |(was, is)| [was, is].map(duration));
        let word = match (&d.change, d.ratio) {
            (Change::Slower, Some(ratio)) => format!("{} slower", times(ratio)),
            (Change::Faster, Some(ratio)) => format!("{} faster", times(1.0 / ratio)),
            (Change::Gone(why) | Change::Repaired(why) | Change::Absent(why), _) => why.clone(),
            (Change::OldOnly, _) => d.lone("first"),
            (Change::NewOnly, _) => d.lone("second"),
            _ => d.not_resolved(),
        };
        let interval = d.interval.map_or_else(String::new, |i| {
            format!("{}–{}", factor_digits(i.low), factor_digits(i.high))
        });
        vec![
            Cell::name(&name(d)),
            Cell::number(&was),
            Cell::number(&is),
            Cell::number(&d.ratio.map_or_else(String::new, factor_digits)),
            Cell::number(&interval),
            Cell::text(match (d.ns.is_some(), d.against_baseline) {
                (false, _) => "",
                (true, true) => "ratios to the baseline",
                (true, false) => "times",
            }),
            Cell::text(&word),
        ]
    };
    page::table("Differences", &head, &sorted(diff).into_iter().map(row).collect::<Vec<_>>())
}
