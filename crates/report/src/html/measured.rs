//! A case on a page: its table with bars, the ratios beside the noise floor, every sample by contender
//! and by round, and the verdicts in full.

use std::fmt::Write;

use fathom_measure::plan::Round;
use fathom_measure::result::Case;
use fathom_measure::stats::{Interval, quantile, sorted};

use super::page::{self, Cell};
use super::plot::{self, Axis, Frame};
use crate::escape::prose as escaped;
use crate::headline::headline;
use crate::number::{count, duration, factor_digits, plural, round};
use crate::sentence::{level_words, said};
use crate::table::{self, Column, Look, Table};
use crate::view::{Line, conditions, heading, interval, lines};

/// How a case is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// Alone on its page, which has its headline already.
    Whole,
    /// One of several.
    Section,
    /// Folded below an overview: no plots of single samples.
    Detail,
}

const USUAL: [Column; 8] = [
    Column::Time,
    Column::Bar,
    Column::Spread,
    Column::Throughput,
    Column::User,
    Column::System,
    Column::Peak,
    Column::Counters,
];

/// The section of a case.
pub(super) fn case(case: &Case, look: &Look, extent: Extent) -> String {
    let lines = lines(case);
    let mut html = String::from("<section>\n");
    if extent == Extent::Section {
        let _ = writeln!(html, "<h2>{}</h2>", escaped(&case.title()));
        let _ = writeln!(html, "<p>{}</p>", escaped(&headline(case)));
    }
    if extent == Extent::Whole
        && let Some(title) = heading(case)
    {
        let _ = writeln!(html, "<p class=\"soft\">{}</p>", escaped(&title));
    }
    let _ = writeln!(html, "<p class=\"soft small\">{}</p>", escaped(&conditions(case)));
    html += &times(case, look);
    html += &ratios(case, &lines);
    if extent != Extent::Detail {
        html += &samples(case, &lines);
    }
    html += &page::list(&said(case));
    html + "</section>\n"
}

/// The table, its bars drawn.
fn times(case: &Case, look: &Look) -> String {
    let Table { rows, left, lines, .. } = table::table(case, look, &USUAL);
    let Some((head, rows)) = rows.split_first() else { return String::new() };
    let medians = lines.iter().filter_map(|line| line.summary).map(|s| s.ns_median);
    let ends = lines.iter().filter_map(|line| Some(interval(case, line.number)?.high));
    // A wide interval must not make all bars short.
    let slowest = medians.fold(0.0, f64::max);
    let longest = ends.fold(slowest, f64::max).min(slowest * 2.0);
    let cell = |line: &Line<'_>, column: usize, text: &str| match (column, head[column].as_str()) {
        (0, _) => Cell::name(text),
        (_, "") => Cell::drawing(bar(case, line, longest)),
        _ if left[column] => Cell::text(text),
        _ => Cell::number(text),
    };
    let cells: Vec<Vec<Cell>> = rows
        .iter()
        .zip(&lines)
        .map(|(row, line)| row.iter().enumerate().map(|(at, text)| cell(line, at, text)).collect())
        .collect();
    page::table(&format!("Times of {}", case.title()), head, &cells)
}

fn bar(case: &Case, line: &Line<'_>, longest: f64) -> String {
    let Some(summary) = line.summary else { return String::new() };
    let ends = interval(case, line.number).map(|i| (i.low / longest, i.high / longest));
    plot::bar(line.number, summary.ns_median / longest, ends)
}

/// Intervals of the ratios on a logarithmic axis, the noise floor as a band around 1.
fn ratios(case: &Case, lines: &[Line<'_>]) -> String {
    let shown: Vec<(&Line<'_>, f64, Interval)> = lines
        .iter()
        .filter_map(|line| Some((line, line.comparison?.ratio?, line.comparison?.interval?)))
        .collect();
    if shown.is_empty() {
        return String::new();
    }
    let floor = case.judged.floor.interval;
    let ends = shown.iter().flat_map(|(_, _, interval)| [interval.low, interval.high]);
    let axis =
        Axis::log(ends.chain(floor.iter().flat_map(|f| [f.low, f.high])).chain([0.98, 1.02]));
    let mut html = String::new();
    for (line, ratio, Interval { low, high }) in shown {
        let mut marks =
            band(&axis, floor) + &plot::line((axis.at(1.0), 0.0), (axis.at(1.0), 24.0), "one");
        let (from, to) = (axis.at(low), axis.at(high).max(axis.at(low) + 0.3));
        let _ = write!(
            marks,
            "<g {}\">{}<circle class=\"f\" cx=\"{:.2}%\" cy=\"12\" r=\"5\"/></g>",
            plot::series(line.number),
            plot::line((from, 12.0), (to, 12.0), "l"),
            axis.at(ratio)
        );
        let [ratio, low, high] = [ratio, low, high].map(factor_digits);
        let said =
            format!("{}: {ratio} times the baseline's time, interval {low} to {high}", line.row.id);
        html += &plot::row(&line.row.id, &plot::drawing(24.0, &said, &marks));
    }
    html += &plot::foot(&axis, |tick| round(&factor_digits(tick)));
    let baseline = &case.contenders[case.roles.baseline].id;
    let level = level_words(case);
    let noise = match floor {
        Some(floor) => format!(
            "; the band is the noise floor: identical code differed by {} to {} here",
            factor_digits(floor.low),
            factor_digits(floor.high)
        ),
        None => "; no noise floor".to_owned(),
    };
    let caption = format!(
        "Time over the time of {baseline}, with {level} intervals: left of the dashed 1 is faster{noise}"
    );
    plot::figure(&caption, &html)
}

fn band(axis: &Axis, floor: Option<Interval>) -> String {
    let Some(floor) = floor else { return String::new() };
    let (from, to) = (axis.at(floor.low), axis.at(floor.high));
    format!("<rect class=\"b\" x=\"{from:.2}%\" width=\"{:.2}%\" height=\"24\"/>", to - from)
}

/// Every sample on the clock of the verdicts: by contender, and by round.
fn samples(case: &Case, lines: &[Line<'_>]) -> String {
    let clock = case.judged.clock;
    let iterations = case.measured.iterations.max(1) as f64;
    let taken = |line: &Line<'_>| -> Vec<(f64, f64)> {
        let rounds = case.measured.rounds.iter().enumerate();
        let time = |(round, taken): (usize, &Round)| {
            let ns = clock.of(taken.samples[line.number].as_ref()?) as f64 / iterations;
            (ns > 0.0).then_some(((round + 1) as f64, ns))
        };
        rounds.filter_map(time).collect()
    };
    let all: Vec<(&Line<'_>, Vec<(f64, f64)>)> = lines
        .iter()
        .filter(|line| line.summary.is_some())
        .map(|line| (line, taken(line)))
        .filter(|(_, taken)| !taken.is_empty())
        .collect();
    let rounds = case.measured.rounds.len();
    if all.is_empty() || rounds < 2 {
        return String::new();
    }
    distribution(&all) + &drift(&all, rounds)
}

/// A contender and its samples: round and nanoseconds.
type Taken<'a> = (&'a Line<'a>, Vec<(f64, f64)>);

fn distribution(all: &[Taken<'_>]) -> String {
    let axis = Axis::around(all.iter().flat_map(|(_, taken)| taken.iter().map(|point| point.1)));
    let mut html = String::new();
    for (line, taken) in all {
        let values = sorted(&taken.iter().map(|point| point.1).collect::<Vec<f64>>());
        let at = |share: f64| quantile(&values, share).unwrap_or_default();
        let [least, quarter, three, most] = [0.0, 0.25, 0.75, 1.0].map(|share| duration(at(share)));
        let mut said = format!("{}: {} samples from {least} to {most}", line.row.id, values.len());
        // A half of fewer is none of them, or most.
        if values.len() > 3 {
            said += &format!(", half of them between {quarter} and {three}");
        }
        html += &plot::row(&line.row.id, &plot::strip(line.number, &axis, &values, at(0.5), &said));
    }
    html += &plot::foot(&axis, |tick| round(&duration(tick)));
    let most = all.iter().map(|(_, taken)| taken.len()).max().unwrap_or(0);
    let shown = match plot::thinned(&vec![(); most]).len() {
        kept if kept < most => format!("{kept} of {most} samples, evenly chosen"),
        _ => "every sample".to_owned(),
    };
    let caption = format!("Distribution: {shown}, as measured; the upright line is the median");
    plot::figure(&caption, &html)
}

fn drift(all: &[Taken<'_>], rounds: usize) -> String {
    let times = all.iter().flat_map(|(_, taken)| taken.iter().map(|point| point.1));
    let frame = Frame {
        x: Axis::counted(rounds),
        y: Axis::around(times),
        height: 220.0,
        x_tick: &|at| round(&count(at)),
        y_tick: &|ns| round(&duration(ns)),
        x_name: "round",
    };
    let dots: String =
        all.iter().map(|(line, taken)| frame.dots(line.number, &plot::thinned(taken))).collect();
    let names = all.iter().map(|(line, _)| (line.number, line.row.id.as_str()));
    let said = format!(
        "Time of each sample over {}, for {}",
        plural(rounds, "round"),
        plural(all.len(), "contender")
    );
    plot::figure(
        "Drift: the same samples in the order of the rounds; what the machine does shows in all of them at once",
        &(plot::keys(names) + &frame.drawn(&said, &dots)),
    )
}
