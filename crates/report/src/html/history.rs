//! Many runs over time on a page: a plot per case with a line per contender, its steps marked.

use std::fmt::Write;

use super::page::{self, Cell};
use super::plot::{self, Axis, Frame};
use crate::history::{Course, Step, lost};
use crate::number::{count, digits, duration, plural, round, times};

/// The page of the courses in a folder.
#[must_use]
pub fn page(courses: &[Course], folder: &str) -> String {
    let runs = courses.iter().map(|course| course.points.len()).max().unwrap_or(0);
    let last = |course: &&Course, slower: bool| {
        course.steps.last().is_some_and(|step| (step.ratio > 1.0) == slower)
    };
    let [slower, faster] =
        [true, false].map(|which| courses.iter().filter(|course| last(course, which)).count());
    let all = plural(courses.len(), "course");
    let lost = lost(courses, "").count();
    let headline = match (slower, faster) {
        (0, 0) => format!("No lasting change in {all} of up to {}", plural(runs, "run")),
        _ => format!("{slower} slower and {faster} faster since their last step, of {all}"),
    };
    let headline = match lost {
        0 => headline,
        _ => format!("{headline}; {lost} without a time in the last run"),
    };
    let mut body = String::new();
    let mut titles: Vec<&str> = courses.iter().map(|course| course.title.as_str()).collect();
    titles.dedup();
    for title in titles {
        let own: Vec<&Course> = courses.iter().filter(|course| course.title == title).collect();
        body += &section(title, &own);
    }
    let (title, kicker) = (format!("history of {folder}"), format!("fathom history · {folder}"));
    page::plain(title, kicker, headline, body)
}

fn section(title: &str, courses: &[&Course]) -> String {
    let most = courses.iter().map(|course| course.runs).max().unwrap_or(1);
    let frame = Frame {
        x: Axis::counted(most),
        y: Axis::around(courses.iter().flat_map(|course| course.points.iter().map(|p| p.1))),
        height: 220.0,
        x_tick: &|run| round(&count(run)),
        y_tick: &|ns| round(&duration(ns)),
        x_name: "run, oldest first",
    };
    let mut marks = String::new();
    for (number, course) in courses.iter().enumerate() {
        let points = course.places.iter().zip(&course.points);
        let points: Vec<(f64, f64)> = points.map(|(at, p)| ((at + 1) as f64, p.1)).collect();
        marks += &(frame.path(number, "l", &points) + &frame.dots(number, &points));
        for step in &course.steps {
            marks += &mark(&frame, number, step, points[step.at]);
        }
    }
    let names = courses.iter().map(|course| course.id.as_str()).enumerate();
    let up_to = plural(most, "run");
    let said = format!("{title}: medians of up to {up_to}; the table below has the steps");
    let plot = plot::keys(names) + &frame.drawn(&said, &marks);
    let figure = plot::figure("Median time of each run; a dashed line marks a step", &plot);
    let title = crate::escape::prose(title);
    let said = |course: &&Course| Some(format!("{}: {}", course.id, course.note.as_ref()?));
    let notes = page::list(&courses.iter().filter_map(said).collect::<Vec<_>>());
    format!("<section>\n<h2>{title}</h2>\n{figure}{}{notes}</section>\n", table(courses))
}

fn mark(frame: &Frame<'_>, number: usize, step: &Step, at: (f64, f64)) -> String {
    let (x, y) = frame.place(at.0, at.1);
    let factor = times(step.ratio.max(1.0 / step.ratio));
    let arrow = if step.ratio > 1.0 { "▲" } else { "▼" };
    // Beside the line, on the side that has room.
    let (side, anchor) = if x > 80.0 { (-6, "end") } else { (6, "start") };
    let mut html = format!("<g {}\">", plot::series(number));
    html += &plot::line((x, 0.0), (x, frame.height), "l d");
    let _ = write!(
        html,
        "<text x=\"{x:.2}%\" dx=\"{side}\" y=\"{:.0}\" text-anchor=\"{anchor}\">{arrow} {factor}</text></g>",
        (y - 10.0).max(12.0)
    );
    html
}

fn table(courses: &[&Course]) -> String {
    let head = ["contender", "runs", "first", "last", "the last run", "steps"];
    let row = |course: &&Course| {
        let ends = course.points.first().zip(course.points.last());
        let (first, last) = ends.map_or((0.0, 0.0), |(first, last)| (first.1, last.1));
        let said = |step: &Step| {
            let word = if step.ratio > 1.0 { "slower" } else { "faster" };
            let factor = times(step.ratio.max(1.0 / step.ratio));
            format!("{factor} {word} since {}", course.points[step.at].0)
        };
        let steps: Vec<String> = course.steps.iter().map(said).collect();
        vec![
            Cell::name(&course.id),
            Cell::number(&round(&digits(course.points.len() as f64))),
            Cell::number(&duration(first)),
            Cell::number(&duration(last)),
            Cell::text(&course.standing()),
            Cell::text(&if steps.is_empty() { "none".to_owned() } else { steps.join("; ") }),
        ]
    };
    page::table("Courses", &head.map(str::to_owned), &courses.iter().map(row).collect::<Vec<_>>())
}
