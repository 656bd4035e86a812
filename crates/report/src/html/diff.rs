//! Two runs on a page: what changed, by how much, and what makes the runs less comparable.

use super::page::{self, Cell};
use super::plot::{self, Axis};
use crate::diff::{Change, Diff, Difference};
use crate::number::{duration, factor_digits, round, times};

/// The page of a difference; `names` are those of the two files.
#[must_use]
pub fn page(diff: &Diff, names: [&str; 2]) -> String {
    let count =
        |is_it: &dyn Fn(&Difference) -> bool| diff.differences.iter().filter(|d| is_it(d)).count();
    let of = |change: Change| count(&|d| d.change == change);
    let is_lone = |d: &Difference| matches!(d.change, Change::OldOnly | Change::NewOnly);
    let judged = [
        (of(Change::Slower), "slower"),
        (of(Change::Faster), "faster"),
        (of(Change::NotResolved), "not resolved"),
    ];
    let further = [
        (count(&|d| matches!(d.change, Change::Gone(_))), "failed now"),
        (count(&|d| matches!(d.change, Change::Broken(_))), "failed before and now"),
        (count(&|d| matches!(d.change, Change::Repaired(_))), "failed or took no part before only"),
        (count(&|d| is_lone(d) && d.why.is_none()), "in one run only"),
        (count(&|d| is_lone(d) && d.why.is_some()), "without readings in one run"),
    ];
    let judged = judged.iter().filter(|_| diff.nothing().is_none());
    let counts = judged.chain(further.iter().filter(|(count, _)| *count > 0));
    let counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
    let headline = format!("{} {}", diff.nothing().unwrap_or_default(), counts.join(", "));
    let headline = headline.trim().to_owned();
    let mut body = String::from(
        "<section>\n<p class=\"warn\">The two runs were not interleaved: whatever changed between them besides \
         the code is part of these differences. To be sure, measure both in one run.</p>\n",
    );
    if let Some(alone) = diff.alone() {
        body += &format!("<p>{alone}</p>\n");
    }
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
        Change::Broken(_) => 1,
        Change::Slower => 2,
        Change::Faster => 3,
        Change::NotResolved => 4,
        Change::Repaired(_) => 5,
        Change::OldOnly => 6,
        Change::NewOnly => 7,
        Change::Absent(_) => 8,
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
        Change::Slower | Change::Gone(_) | Change::Broken(_) => 1,
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
            (
                Change::Gone(why)
                | Change::Broken(why)
                | Change::Repaired(why)
                | Change::Absent(why),
                _,
            ) => why.clone(),
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
