//! Many saved runs over time: per case and contender one line with its course.
//!
//! Says where the last run lies among the earlier ones and where a course stepped up or down; finds
//! no cause (for a pair of runs, see [`diff`](crate::diff)).

use std::collections::BTreeMap;
use std::fmt::Write;

use fathom_measure::result::Run;
use fathom_measure::stats::median;

use crate::number::{duration, factor_digits, times};

/// A step is shown if chance alone gives as clear a one in fewer than this share of the courses.
const STEP_ALPHA: f64 = 0.01;
/// Smaller steps are not shown, however clear: layout alone makes them.
const STEP_LEAST: f64 = 0.01;

/// One contender's course.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// The case.
    pub title: String,
    /// The contender.
    pub id: String,
    /// Start of the run and median time per iteration in nanoseconds, oldest first.
    pub points: Vec<(String, f64)>,
}

/// The courses in the runs, whatever their order.
#[must_use]
pub fn courses(runs: &[Run]) -> Vec<Course> {
    let mut sorted: Vec<&Run> = runs.iter().collect();
    sorted.sort_by(|a, b| a.started.cmp(&b.started));
    let mut courses: BTreeMap<(String, String), Vec<(String, f64)>> = BTreeMap::new();
    for run in sorted {
        for case in &run.cases {
            for (number, row) in case.entrants() {
                if let Some(summary) = case.judged.summaries[number] {
                    let points = courses.entry((case.title(), row.id.clone())).or_default();
                    points.push((run.started.clone(), summary.ns_median));
                }
            }
        }
    }
    let course = |((title, id), points)| Course { title, id, points };
    courses.into_iter().map(course).collect()
}

/// A lasting change in a course.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The first run after it, as a place in [`Course::points`].
    pub at: usize,
    /// Median time of the runs from here to the next step, over that of those back to the one
    /// before.
    pub ratio: f64,
}

impl Course {
    /// The steps of the course, oldest first. Each is the split that separates the ranks of the two
    /// sides best, kept if the test of Pettitt (Applied Statistics 28, 1979) finds it clearer than
    /// chance would at 1 %, and both sides are searched again. Fewer than 15 runs cannot show one.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        let times: Vec<f64> = self.points.iter().map(|point| point.1).collect();
        let mut splits = vec![];
        split(&times, 0, &mut splits);
        let ends = |i: usize| splits.get(i).copied().unwrap_or(times.len());
        let middle = |from: usize, to: usize| median(&times[from..to]).unwrap_or(f64::NAN);
        let step = |i: usize| {
            let from = if i == 0 { 0 } else { splits[i - 1] };
            let ratio = middle(splits[i], ends(i + 1)) / middle(from, splits[i]);
            Step { at: splits[i], ratio }
        };
        let steps = (0..splits.len()).map(step);
        steps.filter(|step| step.ratio.ln().abs() > STEP_LEAST).collect()
    }

    /// Where the last run lies: `None` with fewer than two runs before it, otherwise how many times
    /// the earlier runs' median it took, and whether it lies outside of all of them by over 1 %.
    #[must_use]
    pub fn last_among_earlier(&self) -> Option<(f64, bool)> {
        let (last, earlier) = self.points.split_last()?;
        if earlier.len() < 2 {
            return None;
        }
        let times: Vec<f64> = earlier.iter().map(|point| point.1).collect();
        let least = times.iter().copied().fold(f64::INFINITY, f64::min);
        let most = times.iter().copied().fold(0.0, f64::max);
        let outside = last.1 > most * 1.01 || last.1 < least / 1.01;
        Some((last.1 / median(&times)?, outside))
    }

    fn sparkline(&self) -> String {
        let steps = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let times = || self.points.iter().map(|point| point.1);
        let (least, most) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
        let step = |ns: f64| {
            let share = if most > least { (ns - least) / (most - least) } else { 0.0 };
            steps[(share * 7.0).round() as usize]
        };
        times().map(step).collect()
    }
}

/// Collects the places where `times`, which begin at place `from`, are to be split, in order.
fn split(times: &[f64], from: usize, splits: &mut Vec<usize>) {
    let above = |a: f64, b: f64| f64::from(i8::from(a > b) - i8::from(a < b));
    // How many more pairs (earlier, later) rise than fall across a split before place t.
    let rise = |t: usize| -> f64 {
        let (early, late) = times.split_at(t);
        early.iter().flat_map(|a| late.iter().map(move |b| above(*b, *a))).sum()
    };
    let places = (1..times.len()).map(|t| (t, rise(t).abs()));
    let Some((place, most)) = places.max_by(|a, b| a.1.total_cmp(&b.1)) else { return };
    let n = times.len() as f64;
    if 2.0 * (-6.0 * most * most / (n * n * n + n * n)).exp() > STEP_ALPHA {
        return;
    }
    split(&times[..place], from, splits);
    splits.push(from + place);
    split(&times[place..], from + place, splits);
}

/// The courses as text.
#[must_use]
pub fn text(courses: &[Course]) -> String {
    let mut text = String::new();
    let mut title = "";
    let width = courses.iter().map(|course| course.id.chars().count()).max().unwrap_or(0);
    for course in courses {
        if course.title != title {
            title = &course.title;
            let _ = writeln!(text, "{title}");
        }
        let (Some(first), Some(last)) = (course.points.first(), course.points.last()) else {
            continue;
        };
        let place = match course.last_among_earlier() {
            None => "too few runs to say more".to_owned(),
            Some((ratio, false)) => {
                format!(
                    "last is {} of the earlier median, within their range",
                    factor_digits(ratio)
                )
            }
            Some((ratio, true)) => {
                format!(
                    "last is {} of the earlier median, OUTSIDE their range",
                    factor_digits(ratio)
                )
            }
        };
        let _ = writeln!(
            text,
            "  {:<width$}  {}  {} → {}  ({} runs; {place})",
            course.id,
            course.sparkline(),
            duration(first.1),
            duration(last.1),
            course.points.len()
        );
        for step in course.steps() {
            let (when, word) =
                (&course.points[step.at].0, if step.ratio > 1.0 { "slower" } else { "faster" });
            let factor = times(step.ratio.max(1.0 / step.ratio));
            let _ = writeln!(text, "  {:<width$}  {factor} {word} since {when}", "");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(times: &[f64]) -> Course {
        let points = times.iter().enumerate().map(|(i, ns)| (format!("2026-01-0{i}"), *ns));
        Course { title: "t".to_owned(), id: "c".to_owned(), points: points.collect() }
    }

    #[test]
    fn the_last_run_is_placed_among_the_earlier_ones() {
        assert_eq!(course(&[1.0, 1.0]).last_among_earlier(), None);
        assert_eq!(course(&[10.0, 12.0, 11.0]).last_among_earlier(), Some((1.0, false)));
        let (ratio, outside) = course(&[10.0, 10.0, 12.0]).last_among_earlier().unwrap();
        assert!(outside && (ratio - 1.2).abs() < 1e-9);
        assert_eq!(course(&[1.0, 2.0, 3.0]).sparkline(), "▁▅█");
    }

    #[test]
    fn lasting_changes_are_found_and_noise_is_not() {
        let noise = |i: usize| 1.0 + 0.004 * ((i * 7919) % 13) as f64 / 13.0;
        let flat: Vec<f64> = (0..40).map(|i| 100.0 * noise(i)).collect();
        assert_eq!(course(&flat).steps(), []);
        let level = |i: usize| [100.0, 130.0, 90.0][i / 20];
        let steps: Vec<f64> = (0..60).map(|i| level(i) * noise(i)).collect();
        let found = course(&steps).steps();
        assert_eq!(found.iter().map(|step| step.at).collect::<Vec<_>>(), [20, 40]);
        assert!((found[0].ratio - 1.3).abs() < 0.01 && (found[1].ratio - 9.0 / 13.0).abs() < 0.01);
        let shown = text(&[course(&steps)]);
        assert!(shown.contains("1.30x slower since 2026-01-020"), "{shown}");
        assert!(shown.contains("1.44x faster since 2026-01-040"), "{shown}");
        // Clear, but too small to mean anything.
        let small: Vec<f64> =
            (0..40).map(|i| (100.0 + f64::from(i >= 20) * 0.8) + 1e-3 * noise(i)).collect();
        assert_eq!(course(&small).steps(), []);
    }
}
