//! A scan on a page: a line per contender with the intervals of its points, the slope fitted to it, and
//! the ideal.

use std::fmt::Write;

use super::page::{self, Cell};
use super::plot::{self, Axis, Frame};
use crate::number::{axis, duration, plural, round};
use crate::scan::{Curve, Point, Scan, Slope};

/// The body.
pub(super) fn section(scan: &Scan) -> String {
    let points = || scan.curves.iter().flat_map(|curve| &curve.points);
    let ends = points()
        .flat_map(|p| [p.ns, p.ends.map_or(p.ns, |e| e.low), p.ends.map_or(p.ns, |e| e.high)]);
    let frame = Frame {
        x: Axis::log(points().map(|point| point.at)),
        y: Axis::log(ends),
        height: 320.0,
        x_tick: &axis,
        y_tick: &|ns| round(&duration(ns)),
        x_name: &scan.name,
    };
    let drawn = |(number, curve)| drawn(&frame, number, curve, scan.ideal());
    let marks: String = scan.curves.iter().enumerate().map(drawn).collect();
    let names = scan.curves.iter().map(|curve| curve.id.as_str()).enumerate();
    let said = format!(
        "Time over {}, both logarithmic, for {}; the table below has every point",
        scan.name,
        plural(scan.curves.len(), "contender")
    );
    let ideal = match scan.ideal() {
        slope if slope < 0.0 => "all of them at work",
        _ => "in proportion",
    };
    let caption = format!(
        "Medians with their intervals, both axes logarithmic; dashed from each first point: the ideal, {ideal} \
         (slope {:.0})",
        scan.ideal()
    );
    let plot = plot::figure(&caption, &(plot::keys(names) + &frame.drawn(&said, &marks)));
    format!("<section>\n{plot}{}{}</section>\n", slopes(scan), table(scan))
}

fn drawn(frame: &Frame<'_>, number: usize, curve: &Curve, ideal: f64) -> String {
    let points: Vec<(f64, f64)> = curve.points.iter().map(|point| (point.at, point.ns)).collect();
    let (Some(&first), Some(&last)) = (points.first(), points.last()) else { return String::new() };
    let mut html = frame.path(number, "l", &points);
    // The ideal, as far as it stays on the plot.
    let there: Vec<(f64, f64)> = (0..=20)
        .map(|step| first.0 * (last.0 / first.0).powf(f64::from(step) / 20.0))
        .map(|x| (x, first.1 * (x / first.0).powf(ideal)))
        .filter(|point| frame.y.holds(point.1))
        .collect();
    html += &frame.path(number, "l d", &there);
    let _ = write!(html, "<g {}\">", plot::series(number));
    for Point { at, ns, ends, .. } in &curve.points {
        let (x, y) = frame.place(*at, *ns);
        if let Some(ends) = ends {
            let [low, high] = [ends.low, ends.high].map(|end| frame.place(*at, end).1);
            html += &plot::line((x, low), (x, high), "l");
        }
        let _ = write!(html, "<circle class=\"f\" cx=\"{x:.2}%\" cy=\"{y:.1}\" r=\"4\"/>");
    }
    html + "</g>"
}

fn slopes(scan: &Scan) -> String {
    let said = |curve: &Curve| {
        let Slope { exponent, error } = curve.slope()?;
        let error =
            error.map_or_else(String::new, |error| format!(" ± {error:.2} (standard error)"));
        Some(format!(
            "{}: time grows as {}^{exponent:.2}{error}; ideal {:.0}",
            curve.id,
            scan.name,
            scan.ideal()
        ))
    };
    let said: Vec<String> = scan.curves.iter().filter_map(said).collect();
    let head = "<h2 class=\"sub\">Slopes, by least squares of the logarithms</h2>\n";
    head.to_owned() + &page::list(&said)
}

fn table(scan: &Scan) -> String {
    let mut places: Vec<&Point> = scan.curves.iter().flat_map(|curve| &curve.points).collect();
    places.sort_by(|a, b| a.at.total_cmp(&b.at));
    places.dedup_by_key(|point| point.at);
    let mut head = vec![scan.name.clone()];
    head.extend(scan.curves.iter().map(|curve| curve.id.clone()));
    let row = |place: &&Point| {
        let time = |curve: &Curve| {
            let found = curve.points.iter().find(|point| point.at == place.at);
            Cell::number(&found.map_or_else(String::new, |point| duration(point.ns)))
        };
        let mut row = vec![Cell::number(&place.given)];
        row.extend(scan.curves.iter().map(time));
        row
    };
    page::table("Medians of the scan", &head, &places.iter().map(row).collect::<Vec<_>>())
}
