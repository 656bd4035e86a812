//! A row's answer: who wins, by how much, through which instructions, in both forms.

use std::fmt::Write;

use fathom_contenders::family;
use fathom_measure::compare::{Comparison, Verdict};
use fathom_measure::facts::{Form, Task};
use fathom_measure::result::Case;
use fathom_measure::stats::Interval;
use fathom_measure::workload::parse_number;
use fathom_report::number::{factor_digits, percent, times};
use fathom_report::view::{Line, lines, throughput};
use fathom_report::{escape, sentence};

use super::common::short;
use super::form;

/// Makes the fastest implementation the one all others are compared with.
pub(super) fn compare_with_winner(case: &mut Case) {
    if let Some(winner) = lines(case).first().filter(|line| line.summary.is_some()) {
        case.roles.baseline = winner.number;
        case.roles.chosen = true;
        case.judge();
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
    let verdict_width = width(&|line| verdict(line).chars().count());
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
        let line_of_all =
            format!("  {id:<id_width$} {rate:>12}  {verdict:<verdict_width$}  {shown}");
        if !is_wide {
            let _ = writeln!(text, "{}", line_of_all.trim_end());
            continue;
        }
        let width = id_width + verdict_width + path_width + 19;
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
        "1" => ", 1 byte".to_owned(),
        size if parse_number(size).is_some() => format!(", {size} bytes"),
        "l3" => ", half of the L3 cache, at most 16 MiB".to_owned(),
        level if level.starts_with('l') => format!(", half of the {} cache", level.to_uppercase()),
        _ => ", a buffer of 64 to 128 MiB".to_owned(),
    };
    let threads = match case.workload.text("threads") {
        "" | "1" => String::new(),
        threads => format!(", {threads} threads"),
    };
    format!("{} {}{size}{threads}", case.family, case.workload.operation)
}

/// `fastest, spread 0.4 %`, `1.32x slower [1.30, 1.35]`, `not resolved`.
pub(super) fn verdict(line: &Line<'_>) -> String {
    let Some(comparison) = line.comparison else {
        let summary = line.summary.filter(|summary| summary.samples > 1);
        let spread = summary.map(|s| format!(", spread {}", percent(s.ns_mad / s.ns_median)));
        return format!("fastest{}", spread.unwrap_or_default());
    };
    // As everywhere, who is faster has a factor above 1.
    let is_faster = comparison.verdict == Verdict::Faster;
    let turned = |factor: f64| if is_faster { 1.0 / factor } else { factor };
    let interval = match comparison.interval {
        Some(Interval { low, high }) => {
            let (low, high) = if is_faster { (high, low) } else { (low, high) };
            format!(" [{}, {}]", factor_digits(turned(low)), factor_digits(turned(high)))
        }
        None => String::new(),
    };
    let ratio = comparison.ratio.map_or_else(|| "?".to_owned(), |ratio| times(turned(ratio)));
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
    let metric =
        |name: &str| line.row.metrics.iter().find(|m| m.name == name).map_or(1.0, |m| m.value);
    let compressed = |name: &str| {
        let ratio = metric(name);
        let rate = work.bytes as f64 * 1e9 / ns_median / (1 << 20) as f64;
        (rate as u64, (rate * ratio) as u64, ratio)
    };
    match task.form {
        Form::Calls { iterations } if case.workload.text("size") == "mix" => {
            let (calls, bytes) = (work.items * iterations, work.bytes * iterations);
            form::calls(&name, calls, bytes, ns_median * iterations as f64)
        }
        Form::Parts { share } => {
            let share = metric(share);
            form::pass(&name, (work.bytes as f64 / share) as u64, ns_median / share)
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
    use fathom_measure::compare::judge;
    use fathom_measure::contender::Metric;
    use fathom_measure::result::Row;
    use fathom_measure::rounds::{End, Measured, Plan, Roles};
    use fathom_measure::sample::Failure;
    use fathom_measure::workload::{Spec, Work};

    use super::*;

    /// A case of one contender that nobody timed.
    fn case(family: &str, workload: Spec, work: Work, row: Row, failure: Option<Failure>) -> Case {
        let measured = Measured {
            iterations: 1,
            failures: vec![failure],
            end: End::Alone,
            alpha_share: 1.0,
            ..Measured::default()
        };
        let plan = Plan::default();
        Case {
            family: family.to_owned(),
            workload,
            work,
            contenders: vec![row],
            judged: judge(&measured, Roles::default(), &plan),
            plan,
            measured,
            ..Case::default()
        }
    }

    /// A part of a pass was taken for a twentieth of it, which of big moves it never was.
    #[test]
    fn the_forebear_s_form_is_of_the_whole_pass() {
        let share = Metric { name: "share_of_pass".into(), value: 0.08, less_is_better: None };
        let row = Row { id: "std".to_owned(), metrics: vec![share], ..Row::default() };
        let (spec, work) = (Spec::new("big-move", &[]), Work { bytes: 8_000_000, items: 4 });
        let case = case("memory", spec, work, row, None);
        let form = forebear(&case, &lines(&case)[0], 1e6);
        assert_eq!(form, "big Move in 12.50ms, 7.4 GiB/s");
    }

    #[test]
    fn sizes_are_those_that_are_used() {
        let title = |size| {
            let (spec, work) = (Spec::new("copy", &[("size", size)]), Work { bytes: 1, items: 1 });
            title(&case("memory", spec, work, Row::default(), None))
        };
        assert_eq!(title("l2"), "memory copy, half of the L2 cache");
        assert!(title("l3").ends_with("at most 16 MiB"));
        assert_eq!(title("memory"), "memory copy, a buffer of 64 to 128 MiB");
    }

    #[test]
    fn a_wrong_answer_shows_as_such_and_has_no_time() {
        let (expected, found) = ("00".to_owned(), "01".to_owned());
        let failure = Some(Failure::WrongAnswer { expected, found });
        let row = Row { id: "broken".to_owned(), ..Row::default() };
        let (spec, work) =
            (Spec::new("crc32c", &[("size", "mix")]), Work { bytes: 223_160, items: 100 });
        let mut case = case("checksum", spec, work, row, failure);
        compare_with_winner(&mut case);
        let text = text(&case, true);
        assert!(text.contains("broken  wrong answer: its digest is 01"), "{text}");
        assert!(!text.contains("/s") && !text.contains(" in "), "{text}");
    }
}
