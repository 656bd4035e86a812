//! A row's answer: who wins, by how much, through which instructions, in both forms.

use std::fmt::Write;

use fathom_contenders::family;
use fathom_measure::compare::{Comparison, Verdict, judge};
use fathom_measure::facts::{Form, Task};
use fathom_measure::result::Case;
use fathom_measure::workload::parse_number;
use fathom_report::number::{percent, times};
use fathom_report::view::{Line, lines, throughput};
use fathom_report::{escape, sentence};

use super::common::short;
use super::form;

/// Makes the fastest implementation the one all others are compared with.
pub(super) fn compare_with_winner(case: &mut Case) {
    if let Some(winner) = lines(case).first().filter(|line| line.summary.is_some()) {
        case.roles.baseline = winner.number;
        case.roles.chosen = true;
        case.judged = judge(&case.measured, case.roles, &case.plan);
    }
}

/// The row as text: a title, a line per implementation, notes. Where it may be wide, the lines also have
/// the forebear's form, and why a difference does not count.
pub(super) fn text(case: &Case, is_wide: bool) -> String {
    let mut text = format!("{}\n", title(case));
    let lines = lines(case);
    let width = |of: &dyn Fn(&Line<'_>) -> usize| lines.iter().map(of).max().unwrap_or(0);
    let (id_width, path_width) =
        (width(&|line| line.row.id.len()), width(&|line| line.row.about.hardware.len()));
    for line in &lines {
        let id = &line.row.id;
        let (Some(summary), None) = (line.summary, line.failure) else {
            let why = line.failure.map_or_else(|| "not measured".to_owned(), ToString::to_string);
            let why = escape::line(&why);
            let _ = writeln!(text, "  {id:<id_width$}  {why}");
            continue;
        };
        let rate = throughput(case, summary.ns_median);
        let (path, verdict) = (&line.row.about.hardware, verdict(line));
        let shown = if is_wide { path } else { short(path) };
        let line_of_all = format!("  {id:<id_width$} {rate:>12}  {verdict:<33} {shown}");
        if !is_wide {
            let _ = writeln!(text, "{}", line_of_all.trim_end());
            continue;
        }
        let width = id_width + path_width + 51;
        let form = forebear(case, line, summary.ns_median);
        let why =
            line.comparison.and_then(because).map_or_else(String::new, |w| format!("  ({w})"));
        let _ = writeln!(text, "{line_of_all:<width$}  {form}{why}");
    }
    for note in &case.notes {
        let _ = writeln!(text, "  note: {note}");
    }
    text + "\n"
}

fn title(case: &Case) -> String {
    let size = match case.workload.text("size") {
        "mix" => ", calls of 8 to 10,000 bytes".to_owned(),
        "" => String::new(),
        size if parse_number(size).is_some() => format!(", {size} bytes"),
        level if level.starts_with('l') => format!(", half of the {} cache", level.to_uppercase()),
        _ => ", more than the caches hold".to_owned(),
    };
    let threads = match case.workload.text("threads") {
        "" | "1" => String::new(),
        threads => format!(", {threads} threads"),
    };
    format!("{} {}{size}{threads}", case.family, case.workload.operation)
}

/// `fastest ±0.4 %`, `1.32x slower [1.30, 1.35]`, `not resolved`.
pub(super) fn verdict(line: &Line<'_>) -> String {
    let Some(comparison) = line.comparison else {
        let summary = line.summary.filter(|summary| summary.samples > 1);
        let spread = summary.map(|s| format!(", spread {}", percent(s.ns_mad / s.ns_median)));
        return format!("fastest{}", spread.unwrap_or_default());
    };
    let interval = match comparison.interval {
        Some(interval) => format!(" [{:.2}, {:.2}]", interval.low, interval.high),
        None => String::new(),
    };
    let ratio = comparison.ratio.map_or_else(|| "?".to_owned(), times);
    match &comparison.verdict {
        Verdict::Slower => format!("{ratio} slower{interval}"),
        Verdict::Faster => format!("{ratio} faster{interval}"),
        Verdict::NotResolved { .. } => format!("{ratio} not resolved{interval}"),
        Verdict::Withheld { .. } => format!("{ratio} withheld{interval}"),
    }
}

/// Why there is no verdict although the interval speaks for one, in a few words.
fn because(comparison: &Comparison) -> Option<String> {
    comparison.interval.filter(|interval| !interval.contains(1.0))?;
    match comparison.verdict {
        Verdict::Faster | Verdict::Slower => None,
        Verdict::NotResolved { why, .. } => Some(sentence::unresolved(why)),
        Verdict::Withheld { why } => Some(sentence::broken(why)),
    }
}

/// The line as mORMot's tests would print it.
fn forebear(case: &Case, line: &Line<'_>, ns_median: f64) -> String {
    let (operation, work) = (case.workload.operation.as_str(), case.work);
    let task = family(&case.family).map_or(Task::NONE, |family| family.facts().task(operation));
    let name = task.shown(operation, &line.row.id);
    let compressed = |metric: &str| {
        let ratio = line.row.metrics.iter().find(|m| m.name == metric).map_or(1.0, |m| m.value);
        let rate = work.bytes as f64 * 1e9 / ns_median / (1 << 20) as f64;
        (rate as u64, (rate * ratio) as u64, ratio)
    };
    match task.form {
        Form::Calls { iterations } if case.workload.text("size") == "mix" => {
            let (calls, bytes) = (work.items * iterations, work.bytes * iterations);
            form::calls(&name, calls, bytes, ns_median * iterations as f64)
        }
        Form::Parts { every } => {
            let every = case.workload.number(every).unwrap_or(1).max(1);
            form::pass(&name, work.bytes * every, ns_median * every as f64)
        }
        Form::Compresses { ratio } => {
            let (plain, compressed, ratio) = compressed(ratio);
            format!("comp {plain}:{compressed}MiB/s, ratio {ratio:.3}")
        }
        Form::Decompresses { ratio } => {
            let (plain, compressed, ratio) = compressed(ratio);
            format!("decomp {compressed}:{plain}MiB/s, ratio {ratio:.3}")
        }
        Form::Reads => format!("{:.1} ns per read", ns_median / work.items.max(1) as f64),
        Form::Items => format!("{} {name} in {}", work.items, form::time(ns_median)),
        Form::Pass | Form::Calls { .. } => form::pass(&name, work.bytes, ns_median),
    }
}

#[cfg(test)]
mod tests {
    use fathom_measure::result::Row;
    use fathom_measure::rounds::{End, Measured, Plan, Roles};
    use fathom_measure::sample::Failure;
    use fathom_measure::workload::{Spec, Work};

    use super::*;

    #[test]
    fn a_wrong_answer_shows_as_such_and_has_no_time() {
        let (expected, found) = ("00".to_owned(), "01".to_owned());
        let failures = vec![Some(Failure::WrongAnswer { expected, found })];
        let roles = Roles::default();
        let measured = Measured {
            iterations: 1,
            rounds: Vec::new(),
            failures,
            end: End::Alone,
            alpha_share: 1.0,
            planned: 12,
        };
        let plan = Plan::default();
        let mut case = Case {
            family: "checksum".to_owned(),
            workload: Spec::new("crc32c", &[("size", "mix")]),
            work: Work { bytes: 223_160, items: 100 },
            check: None,
            contenders: vec![Row { id: "broken".to_owned(), ..Row::default() }],
            roles,
            judged: judge(&measured, roles, &plan),
            plan,
            measured,
            source: String::new(),
            notes: Vec::new(),
        };
        compare_with_winner(&mut case);
        let text = text(&case, true);
        assert!(text.contains("broken  wrong answer: its digest is 01"), "{text}");
        assert!(!text.contains("/s") && !text.contains(" in "), "{text}");
    }
}
