//! Axes and marks, as SVG whose horizontal places are shares of the width, so that a drawing is as wide
//! as the screen while its text keeps its size.
//!
//! Drawn here and not by a charting library: the pages hold some lines, dots and bars, and are complete
//! without scripts; a library would be several times as large as they are.

use std::fmt::Write;

use crate::escape::{html as escaped, prose};

/// Colours there are; `style.css` has them for both schemes.
const COLOURS: usize = 8;
/// Marks of one contender on a plot of all samples.
const MOST_POINTS: usize = 400;

/// From values to places, in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    is_log: bool,
    is_whole: bool,
}

/// Percent of the width left free at both ends.
const MARGIN: f64 = 2.0;

impl Axis {
    /// Over these values, all above zero if it is logarithmic.
    pub(super) fn log(values: impl Iterator<Item = f64>) -> Axis {
        let (low, high) = ends(values.filter(|value| *value > 0.0));
        let wide = |end: f64| (end * 1.5).min(f64::MAX);
        let (low, high) = if high > low { (low, high) } else { (low / 1.5, wide(high)) };
        Axis { low, high, is_log: true, is_whole: false }
    }

    /// The same distance everywhere.
    pub(super) fn linear(values: impl Iterator<Item = f64>) -> Axis {
        let (low, high) = ends(values);
        let room = match high > low {
            true => (high / 2.0 - low / 2.0) * 0.04,
            false => high.abs().max(1e-9) * 0.1,
        };
        let (low, high) = ((low - room).max(f64::MIN), (high + room).min(f64::MAX));
        Axis { low, high, is_log: false, is_whole: false }
    }

    /// From the first of so many to the last: nothing lies between two of them.
    pub(super) fn counted(most: usize) -> Axis {
        Axis { is_whole: true, ..Axis::linear([1.0, most as f64].into_iter()) }
    }

    /// Logarithmic where the values span more than a factor of eight, otherwise around them.
    pub(super) fn around(values: impl Iterator<Item = f64> + Clone) -> Axis {
        let (low, high) = ends(values.clone());
        if low > 0.0 && high / low > 8.0 { Axis::log(values) } else { Axis::linear(values) }
    }

    /// Where a value lies, in percent from the low end.
    pub(super) fn at(&self, value: f64) -> f64 {
        // Of halves, since the distance of the greatest doubles is infinite.
        let of = |value: f64| match self.is_log {
            true => value.max(f64::from_bits(1)).ln(),
            false => value / 2.0,
        };
        let share = (of(value) - of(self.low)) / (of(self.high) - of(self.low));
        let share = if share.is_nan() { 0.5 } else { share.clamp(0.0, 1.0) };
        MARGIN + share * (100.0 - 2.0 * MARGIN)
    }

    /// Whether a value is on it.
    pub(super) fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Round values to write at the axis, at most six.
    pub(super) fn ticks(&self) -> Vec<f64> {
        if self.is_log && self.high / self.low > 3.0 {
            let ticks = decades(self.low, self.high);
            if ticks.len() > 1 {
                return ticks;
            }
        }
        let rough = (self.high - self.low) / 4.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= rough * 0.999);
        let step = step.unwrap_or(10.0) * power;
        let step = if self.is_whole { step.max(1.0) } else { step };
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step * (1.0 + 1e-12)).floor() as i64;
        (first..=last).map(|at| at as f64 * step).collect()
    }
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|value| value.is_finite());
    let (low, high) =
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if low <= high { (low, high) } else { (0.5, 2.0) }
}

/// Powers of ten between two values; with two and five times them where those are few, without most of
/// them where they are many.
fn decades(low: f64, high: f64) -> Vec<f64> {
    let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let all = |steps: &[f64], every: i32| -> Vec<f64> {
        let powers = powers.clone().filter(|power| power.rem_euclid(every) == 0);
        let values = powers.flat_map(|p| steps.iter().map(move |step| step * 10_f64.powi(p)));
        values.filter(|v| (low * 0.999..=high * 1.001).contains(v)).collect()
    };
    let choices =
        [(&[1.0, 2.0, 5.0][..], 1), (&[1.0, 3.0], 1), (&[1.0], 1), (&[1.0], 2), (&[1.0], 4)];
    let fitting = choices.iter().map(|(steps, every)| all(steps, *every));
    fitting.into_iter().find(|ticks| ticks.len() <= 6).unwrap_or_default()
}

/// The classes and the number of a series: what the script hides and points out.
pub(super) fn series(number: usize) -> String {
    coloured(number, number)
}

/// The same in the colour of another.
pub(super) fn coloured(number: usize, colour: usize) -> String {
    format!("data-s=\"{number}\" class=\"s c{}", colour % COLOURS)
}

/// A drawing as wide as there is room; `said` is what it shows, in words.
pub(super) fn drawing(height: f64, said: &str, marks: &str) -> String {
    format!(
        "<svg role=\"img\" width=\"100%\" height=\"{height}\"><title>{}</title>{marks}</svg>",
        escaped(said)
    )
}

/// A drawing that only repeats what stands beside it.
pub(super) fn ornament(height: f64, marks: &str) -> String {
    format!("<svg aria-hidden=\"true\" width=\"100%\" height=\"{height}\">{marks}</svg>")
}

/// A bar from zero to a share of the width, with the interval of its end, in shares too; what of it is beyond the
/// width has no end there.
pub(super) fn bar(number: usize, share: f64, interval: Option<(f64, f64)>) -> String {
    let mut marks = format!(
        "<rect {} f\" y=\"4\" height=\"10\" rx=\"2\" width=\"{:.1}%\"/>",
        series(number),
        share * 100.0
    );
    if let Some((low, high)) = interval {
        marks += &line((low.min(1.0) * 100.0, 9.0), (high.min(1.0) * 100.0, 9.0), "i");
        for end in [low, high].into_iter().filter(|end| *end <= 1.0) {
            marks += &line((end * 100.0, 6.0), (end * 100.0, 12.0), "i");
        }
    }
    ornament(18.0, &marks)
}

/// A line between two places: percent across, pixels down.
pub(super) fn line(from: (f64, f64), to: (f64, f64), class: &str) -> String {
    format!(
        "<line x1=\"{:.2}%\" y1=\"{:.0}\" x2=\"{:.2}%\" y2=\"{:.0}\" class=\"{class}\"/>",
        from.0, from.1, to.0, to.1
    )
}

/// One row of a plot: its name beside it, above it on narrow screens.
pub(super) fn row(name: &str, svg: &str) -> String {
    format!("<div class=\"row\"><span class=\"id\">{}</span>{svg}</div>\n", prose(name))
}

/// What stands below the rows: the axis with its ticks.
pub(super) fn foot(axis: &Axis, tick: impl Fn(f64) -> String) -> String {
    let marks: String =
        axis.ticks().iter().map(|&value| below(axis.at(value), 16.0, &tick(value))).collect();
    format!("<div class=\"row\"><span></span>{}</div>\n", ornament(22.0, &marks))
}

fn below(at: f64, y: f64, text: &str) -> String {
    let text = escaped(text);
    format!("<text class=\"soft\" x=\"{at:.2}%\" y=\"{y}\" text-anchor=\"middle\">{text}</text>")
}

/// A plot with both axes.
pub(super) struct Frame<'a> {
    pub(super) x: Axis,
    pub(super) y: Axis,
    /// Pixels from the lowest to the highest value.
    pub(super) height: f64,
    /// How a value across is written.
    pub(super) x_tick: &'a dyn Fn(f64) -> String,
    /// How a value up is written.
    pub(super) y_tick: &'a dyn Fn(f64) -> String,
    /// What is across, in words.
    pub(super) x_name: &'a str,
}

impl Frame<'_> {
    /// Where a point lies: percent across, pixels down.
    pub(super) fn place(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x.at(x), (100.0 - self.y.at(y)) / 100.0 * self.height)
    }

    /// A line through points, as wide as the plot.
    pub(super) fn path(&self, number: usize, class: &str, points: &[(f64, f64)]) -> String {
        let mut path = String::new();
        for (at, &(x, y)) in points.iter().enumerate() {
            let _ = write!(
                path,
                "{}{:.0} {:.0}",
                if at == 0 { "M" } else { "L" },
                self.x.at(x) * 10.0,
                1000.0 - self.y.at(y) * 10.0
            );
        }
        self.stretched(number, class, &path)
    }

    /// Dots, one for each point.
    pub(super) fn dots(&self, number: usize, points: &[(f64, f64)]) -> String {
        let mut path = String::new();
        for &(x, y) in points {
            let (x, y) = (self.x.at(x) * 10.0, 1000.0 - self.y.at(y) * 10.0);
            let _ = write!(path, "M{x:.0} {y:.0}h0");
        }
        self.stretched(number, "p", &path)
    }

    fn stretched(&self, number: usize, class: &str, path: &str) -> String {
        stretched(self.height, &format!("<path {} {class}\" d=\"{path}\"/>", series(number)))
    }

    /// The plot; `said` is what it shows, in words.
    pub(super) fn drawn(&self, said: &str, marks: &str) -> String {
        let mut grid = String::new();
        let mut left = String::new();
        for value in self.y.ticks() {
            let y = self.place(self.x.low, value).1;
            grid += &line((0.0, y), (100.0, y), "g");
            let _ = write!(
                left,
                "<text class=\"soft\" x=\"64\" y=\"{:.0}\" text-anchor=\"end\">{}</text>",
                y + 4.0,
                escaped(&(self.y_tick)(value))
            );
        }
        for value in self.x.ticks() {
            let at = self.x.at(value);
            grid += &line((at, 0.0), (at, self.height), "g");
            grid += &below(at, self.height + 16.0, &(self.x_tick)(value));
        }
        grid += &below(50.0, self.height + 34.0, self.x_name);
        let height = self.height + 40.0;
        format!(
            "<div class=\"plot\"><svg aria-hidden=\"true\" width=\"100%\" height=\"{height}\">{left}</svg>{}</div>\n",
            drawing(height, said, &(grid + marks))
        )
    }
}

/// Marks in thousandths of the width and of so many pixels.
fn stretched(height: f64, marks: &str) -> String {
    format!(
        "<svg width=\"100%\" height=\"{height}\" viewBox=\"0 0 1000 1000\" preserveAspectRatio=\"none\">{marks}</svg>"
    )
}

/// Values as dots on one line, a little up and down so that they are seen apart; their median marked.
pub(super) fn strip(number: usize, axis: &Axis, values: &[f64], middle: f64, said: &str) -> String {
    let mut path = String::new();
    for (at, value) in thinned(values).into_iter().enumerate() {
        // A sequence without clusters: the fractional part of multiples of the golden ratio.
        let up = (at as f64 * 0.618_033_988_75).fract() * 600.0 + 200.0;
        let _ = write!(path, "M{:.0} {up:.0}h0", axis.at(value) * 10.0);
    }
    let dots = format!("<path {} p\" d=\"{path}\"/>", series(number));
    let middle = axis.at(middle);
    drawing(26.0, said, &(stretched(26.0, &dots) + &line((middle, 1.0), (middle, 25.0), "i")))
}

/// All of them, or so many that lie evenly among them.
pub(super) fn thinned<T: Copy>(all: &[T]) -> Vec<T> {
    let kept = all.len().min(MOST_POINTS);
    (0..kept).map(|at| all[at * all.len() / kept]).collect()
}

/// Which colour is whose.
pub(super) fn keys<'n>(names: impl Iterator<Item = (usize, &'n str)>) -> String {
    let mut html = String::from("<ul class=\"keys\">\n");
    for (number, name) in names {
        let _ = writeln!(
            html,
            "<li data-key=\"{number}\"><svg class=\"c{}\" aria-hidden=\"true\" width=\"10\" height=\"10\"><rect class=\"f\" width=\"10\" height=\"10\" rx=\"2\"/></svg>{}</li>",
            number % COLOURS,
            prose(name)
        );
    }
    html + "</ul>\n"
}

/// A drawing or several with what they are.
pub(super) fn figure(caption: &str, html: &str) -> String {
    format!("<figure>\n<figcaption>{}</figcaption>\n{html}</figure>\n", prose(caption))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An interval that was cut off seemed to end there.
    #[test]
    fn an_interval_beyond_the_width_has_no_end_there() {
        let lines = |ends| bar(0, 0.5, Some(ends)).matches("<line").count();
        assert_eq!([(0.4, 1.0), (0.4, 1.5), (1.2, 1.5)].map(lines), [3, 2, 1]);
        assert!(bar(0, 0.5, Some((0.4, 1.5))).contains("x2=\"100.00%\""));
    }

    #[test]
    fn ticks_are_round_few_and_on_the_axis() {
        let over = |low: f64, high: f64| Axis::log([low, high].into_iter()).ticks();
        assert_eq!(over(1.0, 10.0), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(over(1.0, 1000.0), [1.0, 10.0, 100.0, 1000.0]);
        for (low, high) in
            [(0.98, 1.02), (0.52, 1.69), (1.0, 3.1), (3.0, 7e9), (1e-3, 1e12), (0.26, 0.27)]
        {
            for axis in [Axis::log([low, high].into_iter()), Axis::around([low, high].into_iter())]
            {
                let ticks = axis.ticks();
                assert!((2..=6).contains(&ticks.len()), "{low} to {high}: {ticks:?}");
                let inside = |tick: &f64| (axis.low * 0.99..=axis.high * 1.01).contains(tick);
                assert!(ticks.iter().all(inside), "{low} to {high}: {ticks:?}");
            }
        }
    }

    /// There was a round 1.5.
    #[test]
    fn what_is_counted_has_whole_ticks() {
        for (most, ticks) in [(1, &[1.0][..]), (2, &[1.0, 2.0]), (4, &[1.0, 2.0, 3.0, 4.0])] {
            assert_eq!(Axis::counted(most).ticks(), ticks);
        }
    }

    #[test]
    fn places_keep_order_and_stay_inside() {
        let axis = Axis::around([5.0, 6.0, 7.0].into_iter());
        let places = [5.0, 6.0, 7.0].map(|value| axis.at(value));
        assert!(places[0] > 0.0 && places[0] < places[1] && places[1] < places[2]);
        assert!(places[2] < 100.0 && (places[1] - 50.0).abs() < 1e-9);
        assert_eq!(Axis::log([1.0, 100.0].into_iter()).at(10.0), 50.0);
        // Nothing, and one value alone.
        assert!(Axis::around([].into_iter()).at(1.0).is_finite());
        assert!(Axis::log([3.0].into_iter()).at(3.0).is_finite());
    }

    /// They were "NaN%".
    #[test]
    fn numbers_at_the_ends_of_doubles_have_places() {
        let least = f64::from_bits(1);
        let places = |values: [f64; 3]| {
            let axis = Axis::around(values.into_iter());
            values.map(|value| axis.at(value).round())
        };
        assert_eq!(places([f64::MIN, 0.0, f64::MAX]), [2.0, 50.0, 98.0]);
        assert_eq!(places([1e-320, 1e-310, 1e-300]), [2.0, 50.0, 98.0]);
        for value in [f64::MIN, f64::MAX, 1e-320, least, 0.0] {
            for axis in [Axis::log([value].into_iter()), Axis::linear([value].into_iter())] {
                assert!(axis.at(value).is_finite(), "{value}: {axis:?}");
            }
        }
        assert!(places([0.0, least, least]).iter().all(|place| place.is_finite()));
    }

    #[test]
    fn many_points_are_thinned_evenly() {
        let all: Vec<usize> = (0..10_000).collect();
        let kept = thinned(&all);
        assert_eq!((kept.len(), kept[1] - kept[0]), (MOST_POINTS, 10_000 / MOST_POINTS));
        assert_eq!(thinned(&all[..3]), [0, 1, 2]);
    }
}
