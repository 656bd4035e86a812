//! A scan of one number, drawn: the time of each contender over a parameter, both logarithmic, as SVG.
//!
//! Draws nothing for runs in which anything else varies.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::path::Path;

use fathom_measure::result::{Case, Run};
use fathom_measure::stats::Interval;
use fathom_measure::workload::{Spec, parse_number};

use crate::escape::html as escaped;
use crate::number::{axis, duration, round};
use crate::view::{interval, lines};

/// Colours that people with any colour vision can tell apart (Okabe and Ito 2008).
const COLOURS: [&str; 6] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"];

/// A run over several values of one number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scan {
    /// What the number is called.
    pub(crate) name: String,
    /// A curve per contender and work.
    pub(crate) curves: Vec<Curve>,
    /// On how many kinds of work there are several values of the number.
    works: usize,
}

/// One contender's times over the number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Curve {
    /// The contender.
    pub(crate) id: String,
    /// Its points, by the number.
    pub(crate) points: Vec<Point>,
}

/// A point of a curve.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Point {
    /// The number.
    pub(crate) at: f64,
    /// The same as it was given.
    pub(crate) given: String,
    /// The median time, in nanoseconds.
    pub(crate) ns: f64,
    /// Its interval.
    pub(crate) ends: Option<Interval>,
}

/// How fast a time grows with a number: as its power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slope {
    /// Which power.
    pub(crate) exponent: f64,
    /// Its standard error, from three points on.
    pub(crate) error: Option<f64>,
}

impl Scan {
    /// The scan that a run is, if it is one: its cases differ in one parameter only, or those of its one
    /// case's contenders do. Of several kinds of work it is none: who is fastest at each says more.
    pub(crate) fn of(run: &Run) -> Option<Scan> {
        Scan::drawable(run).filter(|scan| scan.works == 1)
    }

    /// The same of any number of kinds, and of any number of times.
    fn of_any(run: &Run) -> Option<Scan> {
        Scan::of_cases(&run.cases).or_else(|| Scan::of_contenders(&run.cases))
    }

    /// The same with times of several values.
    fn drawable(run: &Run) -> Option<Scan> {
        let scan = Scan::of_any(run)?;
        let points = || scan.curves.iter().flat_map(|curve| &curve.points);
        let is_spread = points().any(|point| Some(point.at) != points().next().map(|p| p.at));
        is_spread.then_some(scan)
    }

    fn of_cases(cases: &[Case]) -> Option<Scan> {
        let mut works: BTreeMap<Work<'_>, usize> = BTreeMap::new();
        for case in cases {
            *works.entry(work(case)).or_default() += 1;
        }
        let scanned = works.values().filter(|&&count| count > 1).count();
        let name_of = |cases: &[&Case]| {
            let all: Vec<_> = cases.iter().map(|case| &case.workload.parameters).collect();
            // One that some do not have is no parameter of them all.
            let name = varied(&all).filter(|&name| all.iter().all(|one| one.contains_key(name)));
            name.map(str::to_owned)
        };
        // What is done once may have other parameters, and is left out then.
        let all: Vec<&Case> = cases.iter().collect();
        let (name, cases) = match name_of(&all) {
            Some(name) => (name, all),
            None => {
                let repeated = all.into_iter().filter(|case| works[&work(case)] > 1);
                let repeated: Vec<&Case> = repeated.collect();
                (name_of(&repeated)?, repeated)
            }
        };
        let mut scan = Scan { name, curves: Vec::new(), works: scanned };
        for case in cases {
            let value = case.workload.parameters.get(&scan.name)?;
            number(value)?;
            let of = match works.len() {
                1 => String::new(),
                _ => {
                    let bare = Spec { parameters: Parameters::new(), ..case.workload.clone() };
                    format!(" of {} {bare}", case.family)
                }
            };
            for line in lines(case) {
                scan.add(format!("{}{of}", line.row.id), point(case, line.number, value));
            }
        }
        Some(scan.sorted())
    }

    /// Each value of the parameter made every command a contender, in the same order.
    fn of_contenders(cases: &[Case]) -> Option<Scan> {
        let [case] = cases else { return None };
        // A reference has no value.
        let valued = || case.entrants().filter(|(_, row)| !row.parameters.is_empty());
        let (_, first) = valued().next()?;
        let name = match first.parameters.keys().collect::<Vec<_>>()[..] {
            [name] => name.clone(),
            _ => return None,
        };
        let mut scan = Scan { name, curves: Vec::new(), works: 1 };
        let mut seen: Vec<(&str, Vec<&str>)> = Vec::new();
        let mut points = Vec::new();
        for (contender, row) in valued() {
            let value = row.parameters.get(&scan.name)?.as_str();
            number(value)?;
            let known = seen.iter().position(|(other, _)| *other == value);
            let known = known.unwrap_or_else(|| {
                seen.push((value, Vec::new()));
                seen.len() - 1
            });
            points.push((seen[known].1.len(), point(case, contender, value)));
            seen[known].1.push(&row.id);
        }
        let [(one, ids), (other, others), ..] = &seen[..] else { return None };
        let parameter = format!("{{{}}}", scan.name);
        // A value that is there twice has every command twice.
        let count = ids.len().min(others.len());
        for (nth, point) in points {
            let both = [ids[nth % count], others[nth % count]];
            scan.add(template(both, [one, other], &parameter), point);
        }
        Some(scan.sorted())
    }

    fn add(&mut self, id: String, point: Option<Point>) {
        let Some(point) = point else { return };
        match self.curves.iter_mut().find(|curve| curve.id == id) {
            Some(curve) => curve.points.push(point),
            None => self.curves.push(Curve { id, points: vec![point] }),
        }
    }

    fn sorted(mut self) -> Scan {
        for curve in &mut self.curves {
            curve.points.sort_by(|a, b| a.at.total_cmp(&b.at));
        }
        self
    }

    /// How each grows, in a sentence.
    pub(crate) fn headline(&self) -> String {
        let name = &self.name;
        let grows = |curve: &Curve| {
            curve.slope().map(|slope| format!("{}: {name}^{:.2}", curve.id, slope.exponent))
        };
        let all: Vec<String> = self.curves.iter().filter_map(grows).collect();
        match all.len() {
            0 => format!("Time over {name}"),
            1..=4 => format!("Time goes with {name} as {}", all.join(", ")),
            more => format!("Time over {name}, of {more} contenders"),
        }
    }

    /// The power of an ideal curve: threads share the work, anything else is work.
    pub(crate) fn ideal(&self) -> f64 {
        let shares = ["threads", "jobs", "workers", "cores"];
        if shares.contains(&self.name.as_str()) { -1.0 } else { 1.0 }
    }
}

/// What is done: family, operation and file.
type Work<'a> = (&'a str, &'a str, Option<&'a Path>);

fn work(case: &Case) -> Work<'_> {
    (&case.family, &case.workload.operation, case.workload.file.as_deref())
}

/// What two commands are with the parameter in place of these values of it; the first as it is if nothing is.
fn template(commands: [&str; 2], values: [&str; 2], parameter: &str) -> String {
    let (mut text, mut seen) = (String::new(), HashSet::new());
    // What is left of both, and the piece that came before it at a place in the text.
    let mut left = vec![(commands, 0, "")];
    while let Some(([one, other], at, piece)) = left.pop() {
        text.truncate(at);
        text.push_str(piece);
        if one.is_empty() && other.is_empty() {
            return text;
        }
        if !seen.insert([one.len(), other.len()]) {
            continue;
        }
        let letter = one.chars().next().filter(|letter| other.starts_with(*letter));
        if let Some(length) = letter.map(char::len_utf8) {
            left.push(([&one[length..], &other[length..]], text.len(), &one[..length]));
        }
        // Taken first.
        if let (Some(one), Some(other)) =
            (one.strip_prefix(values[0]), other.strip_prefix(values[1]))
        {
            left.push(([one, other], text.len(), parameter));
        }
    }
    commands[0].to_owned()
}

fn point(case: &Case, contender: usize, given: &str) -> Option<Point> {
    let (at, given) = (number(given)?, given.to_owned());
    let ns = case.judged.summaries[contender]?.ns_median;
    Some(Point { at, given, ns, ends: interval(case, contender) })
}

impl Curve {
    /// The line through the logarithms, by least squares; `None` with fewer than two different numbers.
    pub(crate) fn slope(&self) -> Option<Slope> {
        let logs: Vec<(f64, f64)> = self.points.iter().map(|p| (p.at.ln(), p.ns.ln())).collect();
        let n = logs.len() as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / n;
        let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
        let spread: f64 = logs.iter().map(|p| (p.0 - x).powi(2)).sum();
        if logs.len() < 2 || spread == 0.0 {
            return None;
        }
        let exponent = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / spread;
        let rest: f64 = logs.iter().map(|p| (p.1 - y - exponent * (p.0 - x)).powi(2)).sum();
        let error = (logs.len() > 2).then(|| (rest / (n - 2.0) / spread).sqrt());
        Some(Slope { exponent, error })
    }
}

/// The plot of a run whose cases, or whose contenders, differ in one parameter only, a number above zero;
/// None for others. Each contender has a curve for each kind of work.
#[must_use]
pub fn svg(run: &Run) -> Option<String> {
    let scan = Scan::drawable(run)?;
    drawn(&scan.name, &scan.curves)
}

/// Whether a run is over several values of one number and what failed left times of fewer than two of them.
#[must_use]
pub fn has_too_few(run: &Run) -> bool {
    let has_failed = |case: &Case| case.judged.summaries.iter().any(Option::is_none);
    Scan::of_any(run).is_some() && Scan::drawable(run).is_none() && run.cases.iter().any(has_failed)
}

/// The parameters of a workload or of a contender, by name.
pub type Parameters = BTreeMap<String, String>;

/// Whether what has these parameters is a scan: it differs in one of them alone, a number.
#[must_use]
pub fn is_scan(all: &[&Parameters]) -> bool {
    let numbers =
        |name: &str| -> Option<Vec<f64>> { all.iter().map(|own| number(own.get(name)?)).collect() };
    // Texts that differ may be one number.
    varied(all).and_then(numbers).is_some_and(|found| found.iter().any(|n| *n != found[0]))
}

/// The one parameter that differs between cases, if there is just one.
fn varied<'a>(all: &[&'a Parameters]) -> Option<&'a str> {
    let first = *all.first()?;
    let differs = |name: &&String| all.iter().any(|own| own.get(*name) != first.get(*name));
    let mut names = first.keys().filter(differs);
    let name = names.next()?;
    names.next().is_none().then_some(name)
}

/// A count with or without a suffix, as the families read it (1K is 1024); fractions, which they do not read, alike.
fn number(text: &str) -> Option<f64> {
    if let Some(whole) = parse_number(text) {
        return (whole > 0).then_some(whole as f64);
    }
    let (digits, shift) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 10),
        b'm' | b'M' => (&text[..text.len() - 1], 20),
        b'g' | b'G' => (&text[..text.len() - 1], 30),
        b't' | b'T' => (&text[..text.len() - 1], 40),
        _ => (text, 0),
    };
    let value: f64 = digits.parse().ok()?;
    let value = value * 2_f64.powi(shift);
    (value > 0.0 && value.is_finite()).then_some(value)
}

fn drawn(name: &str, curves: &[Curve]) -> Option<String> {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let span = |values: Vec<f64>| {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min).log10().floor();
        let most = values.iter().copied().fold(0.0, f64::max).log10().ceil();
        (least.is_finite() && most > least).then_some((least, most))
    };
    let (left, right) = span(points().map(|p| p.at).collect())?;
    let (low, high) = span(points().map(|p| p.ns).collect())?;
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
            axis(value)
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
    for (index, Curve { id, points }) in curves.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        // Whoever shares a colour has a line of its own.
        let dashes = match index / COLOURS.len() {
            0 => String::new(),
            nth => format!(" stroke-dasharray=\"{} 4\"", 2 + nth),
        };
        let path: Vec<String> =
            points.iter().map(|p| format!("{:.1},{:.1}", x(p.at), y(p.ns))).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>",
            path.join(" ")
        );
        let key = bottom + 54.0 + 18.0 * index as f64;
        for (p, place) in points.iter().zip(&path) {
            let (cx, cy) = place.split_once(',').unwrap_or_default();
            let _ = writeln!(
                svg,
                "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"4\" fill=\"{colour}\">\
                 <title>{}: {}</title></circle>",
                escaped(&p.given),
                duration(p.ns)
            );
        }
        let _ = writeln!(
            svg,
            "<line x1=\"{margin}\" x2=\"{}\" y1=\"{}\" y2=\"{}\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>\
             <text x=\"{}\" y=\"{}\" fill=\"{colour}\">{}</text>",
            margin + 24.0,
            key - 4.0,
            key - 4.0,
            margin + 30.0,
            key,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(id: &str, points: &[(f64, f64)]) -> Curve {
        let point = |&(at, ns): &(f64, f64)| Point { at, given: at.to_string(), ns, ends: None };
        Curve { id: id.to_owned(), points: points.iter().map(point).collect() }
    }

    #[test]
    fn slopes_are_the_powers_of_the_curves() {
        let square = [1.0, 10.0, 100.0].map(|n: f64| (n, 3.0 * n * n));
        let slope = curve("a", &square).slope().unwrap();
        assert!((slope.exponent - 2.0).abs() < 1e-12 && slope.error.unwrap() < 1e-7);
        // By hand: logarithms to the base of e at 0, 1, 2 and 0, 2, 1; slope 1/2, rest 3/2, error √(3/4).
        let e = std::f64::consts::E;
        let bent = curve("b", &[(1.0, 1.0), (e, e * e), (e * e, e)]).slope().unwrap();
        assert!((bent.exponent - 0.5).abs() < 1e-12, "{bent:?}");
        assert!((bent.error.unwrap() - 0.75_f64.sqrt()).abs() < 1e-12, "{bent:?}");
        assert_eq!(curve("c", &[(1.0, 5.0), (10.0, 5.0)]).slope().unwrap().error, None);
        assert_eq!(curve("d", &[(1.0, 5.0)]).slope(), None);
    }

    #[test]
    fn digits_that_are_no_parameter_were_taken_for_it() {
        for (commands, values, expected) in [
            (["sleep 0.011", "sleep 0.013"], ["1", "3"], "sleep 0.01{n}"),
            (["a 1; true 1", "a 3; true 1"], ["1", "3"], "a {n}; true 1"),
            (["a 1 10", "a 10 10"], ["1", "10"], "a {n} 10"),
            (["x11", "x1010"], ["1", "10"], "x{n}{n}"),
            (["own name", "own name"], ["1", "3"], "own name"),
            (["é=1", "é=3"], ["1", "3"], "é={n}"),
            (["a", "b"], ["1", "3"], "a"),
        ] {
            assert_eq!(template(commands, values, "{n}"), expected);
        }
        // As long as the system takes: not a call for each letter.
        let long = "x".repeat(1 << 17);
        let with = |value: &str| format!("{long} {value}");
        assert_eq!(template([&with("1"), &with("3")], ["1", "3"], "{n}"), with("{n}"));
        // Every way is tried once.
        let (one, other) = ("1".repeat(200), "1".repeat(399) + "2");
        assert_eq!(template([&one, &other], ["1", "11"], "{n}"), one);
    }

    #[test]
    fn counts_are_read_with_their_suffix() {
        let read = ["10", "1k", "2m", "2.5M", "2.5t"].map(number);
        assert_eq!(read, [10.0, 1024.0, 2_097_152.0, 2_621_440.0, 2_748_779_069_440.0].map(Some));
        // What the families take was refused.
        let all = ["1m", "2g", "1T"].map(|size| Parameters::from([("size".into(), size.into())]));
        assert!(is_scan(&all.each_ref()));
        let all = ["1k", "1024"].map(|size| Parameters::from([("size".into(), size.into())]));
        assert!(!is_scan(&all.each_ref()));
        for text in ["", "k", "0", "-1", "a.txt"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn a_short_axis_is_labelled_between_powers_of_ten() {
        assert_eq!(ticks(0.0, 1.0), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(ticks(0.0, 3.0), [1.0, 10.0, 100.0, 1000.0]);
    }

    #[test]
    fn each_contender_has_a_line_inside_the_frame() {
        let curves =
            [curve("a<b", &[(10.0, 1e6), (1e7, 2e9)]), curve("c", &[(10.0, 5e5), (1e7, 5e8)])];
        let svg = drawn("names", &curves).unwrap();
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(svg.contains("a&lt;b") && svg.contains(">names<"), "{svg}");
        assert!(svg.contains("points=\"80.0,"), "{svg}");
        assert!(svg.contains(">10<") && svg.contains(">10 M<"), "{svg}");
        assert!(svg.contains(">100 µs<") && svg.contains(">10 s<"), "{svg}");
        assert!(drawn("names", &[curve("one", &[(10.0, 10.0)])]).is_none());
    }

    /// From the nineteenth on dashes came again, and from the seventy-ninth there were none.
    #[test]
    fn no_two_lines_look_alike() {
        let ids: Vec<String> = (0..90).map(|n| n.to_string()).collect();
        let curves: Vec<Curve> =
            ids.iter().map(|id| curve(id, &[(1.0, 1.0), (10.0, 50.0)])).collect();
        let svg = drawn("n", &curves).unwrap();
        let looks =
            svg.lines().filter_map(|line| line.strip_prefix("<polyline")?.split_once(" fill"));
        let looks: HashSet<&str> = looks.map(|(_, look)| look).collect();
        assert_eq!(looks.len(), curves.len(), "{svg}");
        assert!(!svg.contains("dasharray=\"0"), "{svg}");
    }
}
