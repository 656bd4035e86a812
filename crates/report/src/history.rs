//! Many saved runs over time: per case and contender one line with its course.
//!
//! Says where the last run lies among the earlier ones; finds no cause and no exact point of change
//! (for a pair of runs, see [`diff`](crate::diff)).

use std::collections::BTreeMap;
use std::fmt::Write;

use fathom_measure::result::Run;
use fathom_measure::stats::median;

use crate::number::{duration, factor_digits};

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

impl Course {
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
}
