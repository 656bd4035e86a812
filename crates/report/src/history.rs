//! Many saved runs over time: per case and contender one line with its course.
//!
//! Says where the last run lies among the earlier ones and where a course stepped up or down; finds
//! no cause (for a pair of runs, see [`diff`](crate::diff)).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::iter;

use fathom_measure::result::{Case, Run};
use fathom_measure::stats::median;

use crate::escape::line;
use crate::number::{duration, factor_digits, plural, times};
use crate::steps::{Chance, splits};
use crate::view::{self, Alike, named, titled, work};
use crate::wrap::{padded, places};

/// Chance alone shows a step, anywhere, in fewer than this share of the folders whose runs differ by
/// independent noise only; it is shared among the courses.
pub const STEP_ALPHA: f64 = 0.01;
/// Smaller steps are not shown, however clear: layout alone makes them.
const STEP_LEAST: f64 = 0.01;

/// One contender's course.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// The case.
    pub title: String,
    /// The contender.
    pub id: String,
    /// Start of the run and median time per iteration in nanoseconds, oldest first; all are times of the
    /// same quantity.
    pub points: Vec<(String, f64)>,
    /// Which of the [runs](Course::runs) each point is of, from 0.
    pub places: Vec<usize>,
    /// How many runs have the case, on this processor.
    pub runs: usize,
    /// In which way these are not the times that the runs themselves show.
    pub note: Option<String>,
    /// Its lasting changes, oldest first.
    pub steps: Vec<Step>,
    /// That it takes part in the last run of the case and has no time there.
    pub lost: Option<Lost>,
    /// Whether it took no time at all there, of which no point is drawn.
    pub ends_in_0: bool,
}

/// A contender without a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Lost {
    /// Start of the run.
    pub started: String,
    /// Why, in words.
    pub why: String,
}

/// A run, a case of it, and the number of a contender there.
type Place<'r> = (&'r Run, &'r Case, usize);

/// The courses in the runs, whatever their order. Runs of different processors are courses of their own, and so are
/// those of a file that had another size: what changes between those is no step.
#[must_use]
pub fn courses(runs: &[Run]) -> Vec<Course> {
    let mut sorted: Vec<&Run> = runs.iter().collect();
    sorted.sort_by(|a, b| a.started.cmp(&b.started));
    let processors: BTreeSet<&str> = sorted.iter().map(|run| processor(run)).collect();
    let sizes = sizes(&sorted);
    let mut courses: BTreeMap<(String, String), Vec<(usize, Place<'_>)>> = BTreeMap::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    // Where each took part last, with a time or without, and the size that each title had last.
    let mut parts: BTreeMap<(String, String), (usize, Place<'_>)> = BTreeMap::new();
    let mut known: BTreeMap<(String, &str), String> = BTreeMap::new();
    for run in sorted {
        for (place, bare) in titled(run) {
            let case = &run.cases[place];
            let size = work(case).filter(|_| sizes[&bare].len() > 1);
            let title = |size: Option<&String>| {
                let mut title = bare.clone();
                title += &size.map_or_else(String::new, |size| format!(" of {size}"));
                if processors.len() > 1 {
                    let _ = write!(title, " on {}", processor(run));
                }
                title
            };
            let last = known.entry((bare.clone(), processor(run))).or_default();
            if let Some(size) = &size {
                last.clone_from(size);
            }
            // Where the baseline failed the size is not known, and no time is taken for one of the last; who has none
            // is missed there.
            let last = Some(&*last).filter(|last| !last.is_empty());
            let titles = [title(size.as_ref()), title(last)];
            let mut found: BTreeSet<&String> = BTreeSet::new();
            for (number, id) in named(case) {
                let is_timed = case.judged.summaries[number].is_some();
                let title = if is_timed { &titles[0] } else { &titles[1] };
                let count = counts.entry(title.clone()).or_default();
                *count += usize::from(found.insert(title));
                let (key, part) = ((title.clone(), id), (*count - 1, (run, case, number)));
                if is_timed {
                    courses.entry(key.clone()).or_default().push(part);
                }
                parts.insert(key, part);
            }
        }
    }
    let alpha = STEP_ALPHA / courses.len().max(1) as f64;
    let mut chance = Chance::default();
    let course = |(key, of): ((String, String), Vec<(usize, Place<'_>)>)| {
        let alike = Alike::of(&of.iter().map(|(_, of)| of.1).collect::<Vec<_>>());
        let point = |&(at, (run, case, number)): &(usize, Place<'_>)| {
            Some(((run.started.clone(), alike.median(case, number)?), at))
        };
        let (points, places): (Vec<_>, Vec<_>) = of.iter().filter_map(point).unzip();
        let steps = steps(&points, alpha, &mut chance);
        let (at, part) = parts[&key];
        let (title, id) = key;
        let runs = counts[&title];
        let (_, case, number) = part;
        let is_missed = at + 1 == runs && places.last() != Some(&at);
        let is_lost = is_missed && has_no_reading(case, number);
        let lost = is_lost.then(|| Lost::of(part));
        let ends_in_0 = is_missed && !is_lost;
        let note = alike.words();
        Course { title, id, points, places, runs, note, steps, lost, ends_in_0 }
    };
    courses.into_iter().map(course).collect()
}

/// Whether a contender has failed, or was never sampled: a time of 0 is one, of which no course is drawn.
fn has_no_reading(case: &Case, number: usize) -> bool {
    let measured = &case.measured;
    let is_failed = measured.failures[number].is_some();
    is_failed || measured.rounds.iter().all(|round| round.samples[number].is_none())
}

impl Lost {
    fn of((run, case, number): Place<'_>) -> Lost {
        let failed = case.measured.failures[number].as_ref();
        let why = failed.map_or_else(
            || "no readings in the last run".to_owned(),
            |failure| format!("failed in the last run: {failure}"),
        );
        Lost { started: run.started.clone(), why }
    }
}

/// Whether no contender of a case has a time, were it 0.
fn is_untimed(case: &Case) -> bool {
    case.entrants().all(|(number, _)| has_no_reading(case, number))
}

/// The start of the last run, if nothing has a time in it.
#[must_use]
pub fn untimed_last(runs: &[Run]) -> Option<&str> {
    let last = runs.iter().max_by(|a, b| a.started.cmp(&b.started))?;
    last.cases.iter().all(is_untimed).then_some(&last.started)
}

/// What the cases of each title work through.
fn sizes(runs: &[&Run]) -> BTreeMap<String, BTreeSet<String>> {
    let mut sizes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for run in runs {
        for (place, title) in titled(run) {
            sizes.entry(title).or_default().extend(work(&run.cases[place]));
        }
    }
    sizes
}

/// What the processor of a run is called.
fn processor(run: &Run) -> &str {
    view::processor(&run.machine).unwrap_or("another machine")
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

/// The median time of some points.
fn level(points: &[(String, f64)]) -> f64 {
    median(&points.iter().map(|point| point.1).collect::<Vec<_>>()).unwrap_or(f64::NAN)
}

/// The steps of a course: at most a share `alpha` of the courses without any has one.
fn steps(points: &[(String, f64)], alpha: f64, chance: &mut Chance) -> Vec<Step> {
    let times: Vec<f64> = points.iter().map(|point| point.1).collect();
    let splits = splits(&times, alpha, chance);
    let ends = |i: usize| splits.get(i).copied().unwrap_or(times.len());
    let step = |i: usize| {
        let from = if i == 0 { 0 } else { splits[i - 1] };
        let ratio = level(&points[splits[i]..ends(i + 1)]) / level(&points[from..splits[i]]);
        Step { at: splits[i], ratio }
    };
    let steps = (0..splits.len()).map(step);
    steps.filter(|step| step.ratio.ln().abs() > STEP_LEAST).collect()
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

    /// How many runs the case had since the last one with this contender.
    #[must_use]
    pub fn since(&self) -> usize {
        self.places.last().map_or(0, |last| self.runs - 1 - last)
    }

    fn slower(&self, since: &str) -> Option<Step> {
        let accepted =
            self.steps.iter().filter(|step| self.points[step.at].0.as_str() < since).count();
        let starts = || iter::once(0).chain(self.steps.iter().map(|step| step.at));
        let ends = starts().skip(1).chain([self.points.len()]);
        let levels = starts().zip(ends).map(|(from, to)| level(&self.points[from..to]));
        let levels: Vec<f64> = levels.collect();
        let (last, earlier) = levels.split_last()?;
        // Each of these ends with the step of its number.
        let best = (accepted..earlier.len())
            .min_by(|one, other| levels[*one].total_cmp(&levels[*other]))?;
        let ratio = last / levels[best];
        (ratio.ln() > STEP_LEAST).then_some(Step { at: self.steps[best].at, ratio })
    }

    /// Where the last run lies, in words.
    #[must_use]
    pub fn standing(&self) -> String {
        if let Some(lost) = &self.lost {
            return lost.why.clone();
        }
        if self.ends_in_0 {
            return "0 in the last run".to_owned();
        }
        match (self.since(), self.last_among_earlier()) {
            (1, _) => "not in the last run".to_owned(),
            (2.., _) => format!("not in the last {} runs", self.since()),
            (0, None) => "too few runs to say more".to_owned(),
            (0, Some((ratio, outside))) => {
                let range = if outside { "OUTSIDE" } else { "within" };
                let ratio = factor_digits(ratio);
                format!("last is {ratio} of the earlier median, {range} their range")
            }
        }
    }

    /// A mark for each run, none for those without the contender.
    fn sparkline(&self) -> String {
        let steps = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let times = || self.points.iter().map(|point| point.1);
        let (least, most) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
        let step = |ns: f64| {
            let share = if most > least { (ns - least) / (most - least) } else { 0.0 };
            steps[(share * 7.0).round() as usize]
        };
        let mut marks = vec![' '; self.runs];
        self.places.iter().zip(times()).for_each(|(&at, ns)| marks[at] = step(ns));
        marks.into_iter().collect()
    }
}

/// The courses that are slower than they were at any time between two steps, but for those before steps that came before
/// `since` (RFC 3339 or its beginning); each with the step that ended its best time, and how much slower it is now.
#[must_use]
pub fn slower<'a>(courses: &'a [Course], since: &str) -> Vec<(&'a Course, Step)> {
    courses.iter().filter_map(|course| Some((course, course.slower(since)?))).collect()
}

/// The courses without a time in the last run of their case, but for runs before `since`.
pub fn lost<'a>(
    courses: &'a [Course],
    since: &str,
) -> impl Iterator<Item = (&'a Course, &'a Lost)> {
    let all = courses.iter().filter_map(|course| Some((course, course.lost.as_ref()?)));
    all.filter(move |(_, lost)| lost.started.as_str() >= since)
}

/// The courses as text.
#[must_use]
pub fn text(courses: &[Course]) -> String {
    let mut text = String::new();
    let mut title = "";
    let ids: Vec<String> = courses.iter().map(|course| line(&course.id)).collect();
    let width = ids.iter().map(|id| places(id)).max().unwrap_or(0);
    for (course, id) in courses.iter().zip(&ids) {
        if course.title != title {
            title = &course.title;
            let _ = writeln!(text, "{}", line(title));
        }
        let (Some(first), Some(last)) = (course.points.first(), course.points.last()) else {
            continue;
        };
        let _ = writeln!(
            text,
            "  {}  {}  {} → {}  ({}; {})",
            padded(id, width),
            course.sparkline(),
            duration(first.1),
            duration(last.1),
            plural(course.points.len(), "run"),
            line(&course.standing())
        );
        if let Some(note) = &course.note {
            let _ = writeln!(text, "  {:<width$}  {note}", "");
        }
        for step in &course.steps {
            let (when, word) =
                (&course.points[step.at].0, if step.ratio > 1.0 { "slower" } else { "faster" });
            let factor = times(step.ratio.max(1.0 / step.ratio));
            let since = line(when);
            let _ = writeln!(text, "  {:<width$}  {factor} {word} since {since}", "");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use fathom_measure::plan::{Measured, Round};
    use fathom_measure::result::Row;
    use fathom_measure::sample::Sample;
    use fathom_measure::workload::Spec;

    use super::*;

    fn course(times: &[f64]) -> Course {
        let points = times.iter().enumerate().map(|(i, ns)| (format!("2026-01-{i:03}"), *ns));
        let (points, runs): (Vec<_>, _) = (points.collect(), times.len());
        let places = (0..runs).collect();
        let steps = steps(&points, STEP_ALPHA, &mut Chance::default());
        let (title, id, note, lost) = ("t".to_owned(), "c".to_owned(), None, None);
        Course { title, id, points, places, runs, note, steps, lost, ends_in_0: false }
    }

    #[test]
    fn the_last_run_is_placed_among_the_earlier_ones() {
        assert_eq!(course(&[1.0, 1.0]).last_among_earlier(), None);
        assert_eq!(course(&[10.0, 12.0, 11.0]).last_among_earlier(), Some((1.0, false)));
        let (ratio, outside) = course(&[10.0, 10.0, 12.0]).last_among_earlier().unwrap();
        assert!(outside && (ratio - 1.2).abs() < 1e-9);
        assert_eq!(course(&[1.0, 2.0, 3.0]).sparkline(), "▁▅█");
        assert_eq!(course(&[1.0, 1.0]).standing(), "too few runs to say more");
    }

    #[test]
    fn a_course_that_ended_was_told_as_if_it_went_on() {
        let gone = Course { places: vec![0, 1, 3], runs: 6, ..course(&[1.0, 2.0, 3.0]) };
        assert_eq!((gone.sparkline().as_str(), gone.since()), ("▁▅ █  ", 2));
        assert_eq!(gone.standing(), "not in the last 2 runs");
        let shown = text(&[gone]);
        assert!(shown.contains("(3 runs; not in the last 2 runs)"), "{shown}");
        assert!(text(&[course(&[1.0])]).contains("(1 run; too few"));
    }

    #[test]
    fn lasting_changes_are_found_and_noise_is_not() {
        let noise = |i: usize| 1.0 + 0.004 * ((i * 7919) % 13) as f64 / 13.0;
        let flat: Vec<f64> = (0..40).map(|i| 100.0 * noise(i)).collect();
        assert_eq!(course(&flat).steps, []);
        let level = |i: usize| [100.0, 130.0, 90.0][i / 20];
        let steps: Vec<f64> = (0..60).map(|i| level(i) * noise(i)).collect();
        let found = course(&steps).steps;
        assert_eq!(found.iter().map(|step| step.at).collect::<Vec<_>>(), [20, 40]);
        assert!((found[0].ratio - 1.3).abs() < 0.01 && (found[1].ratio - 9.0 / 13.0).abs() < 0.01);
        let shown = text(&[course(&steps)]);
        assert!(shown.contains("1.30x slower since 2026-01-020"), "{shown}");
        assert!(shown.contains("1.44x faster since 2026-01-040"), "{shown}");
        // Clear, but too small to mean anything.
        let small: Vec<f64> =
            (0..40).map(|i| (100.0 + f64::from(i >= 20) * 0.8) + 1e-3 * noise(i)).collect();
        assert_eq!(course(&small).steps, []);
    }

    /// A gate let twice the time pass for a gain of a fortieth after it.
    #[test]
    fn a_gain_hid_the_loss_before_it() {
        let course = |levels: &[f64]| {
            let time = |i: usize| levels[i / 8] * (1.0 + 1e-4 * (i * 7919 % 13) as f64);
            course(&(0..8 * levels.len()).map(time).collect::<Vec<_>>())
        };
        let slower = |levels: &[f64], since| {
            let course = course(levels);
            slower(&[course], since)
                .iter()
                .map(|(_, step)| (step.at, (step.ratio * 10.0).round()))
                .collect::<Vec<_>>()
        };
        assert_eq!(slower(&[1.0, 2.0, 1.95], ""), [(8, 20.0)]);
        assert_eq!(slower(&[1.0, 2.0, 1.95], "2026-01-009"), []);
        // From the best there was, and not from the first; or back to it.
        assert_eq!(slower(&[2.0, 1.0, 1.5], ""), [(16, 15.0)]);
        assert_eq!(slower(&[1.0, 2.0, 3.0], "2026-01-009"), [(16, 15.0)]);
        assert_eq!(slower(&[2.0, 1.0, 1.5], "2026-01-017"), []);
        assert_eq!(slower(&[1.0, 2.0, 1.0], ""), []);
        assert_eq!(slower(&[2.0, 1.0], ""), []);
    }

    #[test]
    fn courses_share_the_chance_of_a_false_step() {
        let run = |at: usize, of: &Range<usize>| {
            let case = |nth: usize| {
                // A place in 200 or so for runs as clear as this by chance: clear for one course, not for forty.
                let clear = [100_000, 110_000][at / 6] + at as u64 * 10;
                let wall_ns = if nth == 7 { clear } else { 100_000 };
                let sample = Some(Sample { wall_ns, ..Sample::default() });
                let measured = Measured {
                    iterations: 1,
                    rounds: vec![Round { samples: vec![sample], ..Round::default() }],
                    failures: vec![None],
                    ..Measured::default()
                };
                let (workload, contenders) =
                    (Spec::new(&nth.to_string(), &[]), vec![Row::default()]);
                let mut case = Case { workload, contenders, measured, ..Case::default() };
                case.judge();
                case
            };
            let cases = of.clone().map(case).collect();
            Run { started: format!("2026-01-{:02}", at + 1), cases, ..Run::default() }
        };
        let of = |cases| courses(&(0..12).map(|at| run(at, &cases)).collect::<Vec<_>>());
        let (one, many) = (of(7..8), of(0..40));
        assert_eq!((one.len(), many.len(), slower(&one, "2026").len()), (1, 40, 1));
        assert!(slower(&many, "2026").is_empty() && !text(&many).contains("slower since"));
    }
}
