//! A scan of one number, drawn: the time of each contender over a parameter, both logarithmic, as SVG.
//!
//! Draws nothing for runs in which anything else varies.

use std::fmt::Write;

use fathom_measure::result::{Case, Run};

use crate::escape::html as escaped;
use crate::number::{count, digits, duration};
use crate::view::lines;

/// Colours that people with any colour vision can tell apart (Okabe and Ito 2008).
const COLOURS: [&str; 6] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"];

/// One contender: its name and `(parameter, median in ns)` in order.
type Curve = (String, Vec<(f64, f64)>);

/// The plot of a run whose cases differ in one parameter only, a number above zero; None for others.
#[must_use]
pub fn svg(run: &Run) -> Option<String> {
    let name = varied(&run.cases)?;
    let mut curves: Vec<Curve> = Vec::new();
    for case in &run.cases {
        let at = number(case.workload.parameters.get(name)?)?;
        for line in lines(case) {
            let Some(summary) = line.summary else { continue };
            let place = curves.iter().position(|(id, _)| *id == line.row.id);
            let place = place.unwrap_or_else(|| {
                curves.push((line.row.id.clone(), Vec::new()));
                curves.len() - 1
            });
            curves[place].1.push((at, summary.ns_median));
        }
    }
    for (_, points) in &mut curves {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    drawn(name, &curves)
}

/// The one parameter that differs between cases, if there is just one.
fn varied(cases: &[Case]) -> Option<&str> {
    let first = &cases.first()?.workload.parameters;
    let mut names = first.keys().filter(|name| {
        cases.iter().any(|case| case.workload.parameters.get(*name) != first.get(*name))
    });
    let name = names.next()?;
    names.next().is_none().then_some(name)
}

/// A count with or without a decimal suffix: 1000, 1M.
fn number(text: &str) -> Option<f64> {
    let (digits, factor) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 1e3),
        b'M' => (&text[..text.len() - 1], 1e6),
        b'G' => (&text[..text.len() - 1], 1e9),
        _ => (text, 1.0),
    };
    let value: f64 = digits.parse().ok()?;
    let value = value * factor;
    (value > 0.0 && value.is_finite()).then_some(value)
}

fn drawn(name: &str, curves: &[Curve]) -> Option<String> {
    let points = || curves.iter().flat_map(|(_, points)| points);
    let span = |values: Vec<f64>| {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min).log10().floor();
        let most = values.iter().copied().fold(0.0, f64::max).log10().ceil();
        (least.is_finite() && most > least).then_some((least, most))
    };
    let (left, right) = span(points().map(|p| p.0).collect())?;
    let (low, high) = span(points().map(|p| p.1).collect())?;
    let (margin, width, height) = (80.0, 560.0, 320.0);
    let x = |value: f64| margin + (value.log10() - left) / (right - left) * width;
    let y = |value: f64| 20.0 + (high - value.log10()) / (high - low) * height;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {:.0} {:.0}\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" \
         font-family=\"system-ui,sans-serif\" font-size=\"12\" fill=\"#777\">\n",
        margin + width + 30.0,
        height + 60.0 + 18.0 * curves.len() as f64
    );
    let bottom = 20.0 + height;
    for value in ticks(left, right) {
        let at = x(value);
        let _ = writeln!(
            svg,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"20\" y2=\"{bottom}\" stroke=\"#8884\"/>\
             <text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 16.0,
            round(&count(value))
        );
    }
    for value in ticks(low, high) {
        let at = y(value);
        let _ = writeln!(
            svg,
            "<line x1=\"{margin}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#8884\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            margin + width,
            margin - 8.0,
            at + 4.0,
            round(&duration(value))
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
        margin + width / 2.0,
        bottom + 34.0,
        escaped(name)
    );
    for (index, (id, points)) in curves.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        let path: Vec<String> =
            points.iter().map(|p| format!("{:.1},{:.1}", x(p.0), y(p.1))).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join(" ")
        );
        for (p, place) in points.iter().zip(&path) {
            let (cx, cy) = place.split_once(',').unwrap_or_default();
            let _ = writeln!(
                svg,
                "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"4\" fill=\"{colour}\">\
                 <title>{}: {}</title></circle>",
                digits(p.0),
                duration(p.1)
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{margin}\" y=\"{}\" fill=\"{colour}\">{}</text>",
            bottom + 54.0 + 18.0 * index as f64,
            escaped(id)
        );
    }
    Some(svg + "</svg>\n")
}

/// Where the grid of an axis from 10^`low` to 10^`high` is labelled: at powers of ten, and where those
/// are few, at two and five times them.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let steps: &[f64] = if high - low < 3.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let most = 10_f64.powf(high) * 1.000_001;
    (low as i32..=high as i32)
        .flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)))
        .filter(|value| *value <= most)
        .collect()
}

/// A round number as people write it: `20 ms`, not `20.00 ms`.
fn round(text: &str) -> String {
    let (value, unit) = text.split_once(' ').unwrap_or((text, ""));
    let value = match value.contains('.') {
        true => value.trim_end_matches('0').trim_end_matches('.'),
        false => value,
    };
    format!("{value} {unit}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_with_their_suffix() {
        let read = ["10", "1k", "2.5M", "1G"].map(number);
        assert_eq!(read, [Some(10.0), Some(1e3), Some(2.5e6), Some(1e9)]);
        for text in ["", "k", "0", "-1", "a.txt"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn a_short_axis_is_labelled_between_powers_of_ten() {
        assert_eq!(ticks(0.0, 1.0), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(ticks(0.0, 3.0), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(
            ["20.00 ms", "1000 s", "2.500 M", "5.000"].map(round),
            ["20 ms", "1000 s", "2.5 M", "5"]
        );
    }

    #[test]
    fn each_contender_has_a_line_inside_the_frame() {
        let curves = [
            ("a<b".to_owned(), vec![(10.0, 1e6), (1e7, 2e9)]),
            ("c".to_owned(), vec![(10.0, 5e5), (1e7, 5e8)]),
        ];
        let svg = drawn("names", &curves).unwrap();
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(svg.contains("a&lt;b") && svg.contains(">names<"), "{svg}");
        assert!(svg.contains("points=\"80.0,"), "{svg}");
        assert!(svg.contains(">10<") && svg.contains(">10 M<"), "{svg}");
        assert!(svg.contains(">100 µs<") && svg.contains(">10 s<"), "{svg}");
        assert!(drawn("names", &[("one".to_owned(), vec![(10.0, 10.0)])]).is_none());
    }
}
