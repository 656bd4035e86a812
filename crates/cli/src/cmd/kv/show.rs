//! The verdict as text for a terminal. Chooses nothing, rounds for the eye only.

use std::fmt::Write;

use fathom_contenders::alloc::SYSTEM;
use fathom_report::escape;
use fathom_report::number::plural;
use fathom_report::wrap::{Column, fitted, wrapped};

use super::Verdict;
use super::advice::Advice;
use super::data::unit;
use super::explain;
use super::paste::Paste;
use super::screen::Rung;
use super::verdict::{Compound, Figure, Row, Standing};

/// How much is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// What to take, its code and the table.
    Brief,
    Usual,
    /// Every column and everything about keys and method.
    Wide,
}

impl Extent {
    pub(super) fn of(wide: bool, brief: bool) -> Extent {
        match (wide, brief) {
            (true, _) => Extent::Wide,
            (false, true) => Extent::Brief,
            (false, false) => Extent::Usual,
        }
    }
}

/// The verdict first, then what it rests on, in lines of `width` characters.
pub(super) fn text(verdict: &Verdict, width: usize, extent: Extent) -> String {
    let mut text = String::new();
    let Verdict { file, portrait, advice, .. } = verdict;
    let is_wide = extent == Extent::Wide;
    let size = match &verdict.trace {
        Some(trace) => trace.size(),
        None => plural(portrait.keys as usize, "key"),
    };
    let name = escape::line(&file.name);
    let opening = format!("{name}: {size} ({}, {} bytes)", file.format, file.bytes);
    let _ = writeln!(text, "{}\n", wrapped(&opening, width, 2));
    for sentence in sentences(advice, extent) {
        let _ = writeln!(text, "{}", wrapped(sentence, width, 2));
    }
    if let Some(Paste { manifest, code, .. }) = &advice.paste {
        text.push('\n');
        let separator = if manifest.is_empty() { None } else { Some(String::new()) };
        for line in manifest.iter().chain(&separator).chain(code) {
            let _ = writeln!(text, "{}", format!("    {line}").trim_end());
        }
    }
    let _ = write!(text, "\n{}", table(verdict, if is_wide { usize::MAX } else { width }));
    match extent {
        Extent::Brief => {}
        Extent::Usual => {
            let _ = writeln!(text, "\n{}", wrapped(&in_short(verdict), width, 2));
        }
        Extent::Wide => text = text + "\n" + &details(verdict, width),
    }
    for note in verdict.losses.iter().chain(verdict.notes.iter().filter(|_| is_wide)) {
        let _ = writeln!(text, "{}", wrapped(&format!("note: {note}"), width, 6));
    }
    if !verdict.fates.is_empty() {
        let unit = unit(verdict.trace.is_some());
        let _ = write!(text, "\n{}", explain::text(&verdict.fates, unit));
    }
    // A saved verdict may be somebody else's.
    escape::lines(&text)
}

/// What to take, and in brief only what it and its code would mislead without.
fn sentences(advice: &Advice, extent: Extent) -> impl Iterator<Item = &String> {
    let (all, beside) = match extent {
        Extent::Brief => (1, &advice.beside[..]),
        Extent::Usual | Extent::Wide => (usize::MAX, &[][..]),
    };
    advice.sentences.iter().take(all).chain(beside)
}

/// What the verdict rests on, for those who do not want to know more.
fn in_short(verdict: &Verdict) -> String {
    let tried = verdict.screening.first().map_or(0, |rung| rung.candidates);
    let considered = verdict.considered.max(tried);
    let measured = measured(&verdict.rows);
    let others = match measured > considered {
        true => " (those they are compared with included)",
        false => "",
    };
    let measured = match measured {
        1 => "1 measured".to_owned(),
        _ => format!("{measured} against each other"),
    };
    let unreached = match unreached(&verdict.screening) {
        0 => String::new(),
        many => format!(", {many} of them not reached in time"),
    };
    format!(
        "{} considered{unreached}, {measured}{others} with every answer checked; the 99 % hold for all together. More: --wide, \
         --explain, docs/kv.md.",
        plural(considered, "combination"),
    )
}

/// How many took part to the end.
fn measured(rows: &[Row]) -> usize {
    rows.iter().filter(|row| row.cost_ns.is_some()).count()
}

/// The same for those who do.
fn details(verdict: &Verdict, width: usize) -> String {
    let mut lines: Vec<String> = verdict.portrait.to_string().lines().map(str::to_owned).collect();
    lines.push(format!("memory     {}", verdict.data));
    lines.push(format!("mix        {}", verdict.mix));
    let unit = unit(verdict.trace.is_some());
    lines.push(format!(
        "screening  {}",
        screening(&verdict.screening, measured(&verdict.rows), unit)
    ));
    if let Some(scan) = &verdict.scan {
        lines.push(format!(
            "scan       {:.2} ns to touch a key (interval {:.2} to {:.2}): part of every figure above, \
             never subtracted",
            scan.ns_median, scan.ns_low, scan.ns_high
        ));
    }
    lines.push(format!("method     {}", verdict.method));
    lines.iter().fold(String::new(), |text, line| text + &wrapped(line, width, 11) + "\n")
}

/// How many the time was too short for.
fn unreached(rungs: &[Rung]) -> usize {
    let out = rungs.iter().filter(|rung| !rung.reached_nobody());
    out.map(|rung| rung.unreached).sum()
}

pub(super) fn screening(rungs: &[Rung], finalists: usize, unit: &str) -> String {
    let mut parts = Vec::new();
    for rung in rungs {
        let how = if rung.in_rounds { " in rounds" } else { "" };
        let reached = rung.candidates.saturating_sub(rung.unreached);
        parts.push(format!("{reached} on {}{how}", plural(rung.keys, unit)));
    }
    parts.push(format!("{finalists} at full size"));
    let seconds: f64 = rungs.iter().map(|rung| rung.seconds).sum();
    let failed: usize = rungs.iter().map(|rung| rung.failures.len()).sum();
    let unsupported: usize = rungs.iter().map(|rung| rung.unsupported).sum();
    let unreached = unreached(rungs);
    let mut line = format!("combinations: {}", parts.join(", "));
    if !rungs.is_empty() {
        let _ = write!(line, " ({seconds:.1} s)");
    }
    for (count, what) in [
        (unsupported, if unsupported == 1 { "lacks an operation" } else { "lack an operation" }),
        (failed, "failed"),
        (
            unreached,
            if unreached == 1 { "was not reached in time" } else { "were not reached in time" },
        ),
    ] {
        if count > 0 {
            let _ = write!(line, "; {count} {what}");
        }
    }
    line
}

/// A table may be wider than any terminal, sentences may not.
const WIDEST: usize = 120;

fn table(verdict: &Verdict, width: usize) -> String {
    let mut sorted: Vec<&Row> = verdict.rows.iter().collect();
    let cost = |row: &Row| row.cost_ns.unwrap_or(f64::INFINITY);
    sorted.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    let (mut text, mut dropped) = fitted(columns(&verdict.baseline, &sorted, true), width);
    if text.lines().any(|line| line.chars().count() > width) {
        (text, dropped) = fitted(columns(&verdict.baseline, &sorted, false), width);
        dropped.insert(0, "intervals".to_owned());
    }
    let mut legend = Vec::new();
    if sorted.iter().any(|row| row.on_the_front) {
        legend.push("★ nobody measured is both faster and smaller.".to_owned());
    }
    if sorted.iter().any(|row| contradicts(row, &sorted, &verdict.baseline)) {
        legend.push(CONTRADICTION.to_owned());
    }
    if !dropped.is_empty() {
        legend.push(format!("--wide also has {}.", dropped.join(", ")));
    }
    if !legend.is_empty() {
        let _ = writeln!(text, "{}", wrapped(&legend.join(" "), width.min(WIDEST), 2));
    }
    for row in sorted.iter().filter(|row| row.failure.is_some()) {
        let failure = escape::line(row.failure.as_deref().unwrap_or_default());
        let _ = writeln!(text, "{}: {failure}", escape::line(&row.id));
    }
    text
}

const CONTRADICTION: &str = "ns/op is a median of all rounds, a ratio is of samples of the same round: where they \
                             contradict each other, this run has not told who is faster.";

/// Whether the times of a row and of the baseline have another order than the ratio says.
fn contradicts(row: &Row, rows: &[&Row], baseline: &str) -> bool {
    let base = rows.iter().find(|row| row.id == baseline).and_then(|row| row.cost_ns);
    let (Some(cost), Some(base), Some(against)) = (row.cost_ns, base, row.against_baseline) else {
        return false;
    };
    against.ratio != 1.0 && cost != base && (cost < base) != (against.ratio < 1.0)
}

/// What is known of each row; what tells least has the greatest rank. Who is compared with the baseline takes less
/// room without intervals.
fn columns(baseline: &str, rows: &[&Row], with_intervals: bool) -> Vec<Column> {
    let column = |title: &str, left: bool, rank: u8, cell: &dyn Fn(&Row) -> String| Column {
        cells: std::iter::once(title.to_owned()).chain(rows.iter().map(|row| cell(row))).collect(),
        left,
        rank,
    };
    let number =
        |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"));
    let time = |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), fathom_report::number::duration);
    let star = |row: &Row| if row.on_the_front { "★".to_owned() } else { String::new() };
    let against = |row: &Row| match row.against_baseline {
        _ if row.id == baseline => "baseline".to_owned(),
        Some(ratio) => ratio_words(ratio, with_intervals),
        None => "-".to_owned(),
    };
    let mut all = vec![
        column("", true, 0, &star),
        column("structure", true, 0, &|row| row.structure.clone()),
        column("hash", true, 0, &|row| row.hash.clone().unwrap_or_else(|| "-".to_owned())),
    ];
    if rows.iter().any(|row| row.allocator != SYSTEM) {
        all.push(column("allocator", true, 0, &|row| row.allocator.clone()));
    }
    all.push(column("ns/op", false, 0, &|row| number(row.cost_ns)));
    let title = match with_intervals {
        true => format!("against {baseline}"),
        false => "against baseline".to_owned(),
    };
    all.push(column(&title, true, 0, &against));
    // Who was not measured on one has no figure of it.
    let mut operations: Vec<&str> = Vec::new();
    for Figure { operation, .. } in rows.iter().flat_map(|row| &row.operations) {
        if !operations.contains(&operation.as_str()) {
            operations.push(operation);
        }
    }
    for operation in operations {
        let cell = |row: &Row| {
            let figure = row.operations.iter().find(|figure| figure.operation == operation);
            number(figure.map(|figure| figure.ns_median))
        };
        all.push(column(&format!("{operation} ns"), false, 1, &cell));
    }
    all.push(column("B/entry", false, 0, &|row| number(row.bytes_per_entry)));
    all.push(column("live", false, 4, &|row| number(row.live_bytes_per_entry)));
    all.push(column("peak", false, 3, &|row| number(row.peak_bytes_per_entry)));
    all.push(column("keys", true, 4, &|row| row.keeps.word().to_owned()));
    if rows.iter().any(|row| row.insert_ns_p999.is_some()) {
        all.push(column("insert p99.9", false, 3, &|row| time(row.insert_ns_p999)));
    }
    if rows.iter().any(|row| row.insert_ns_max.is_some()) {
        all.push(column("max", false, 2, &|row| time(row.insert_ns_max)));
    }
    all
}

fn ratio_words(ratio: Compound, with_interval: bool) -> String {
    let Compound { ratio: middle, low, high, .. } = ratio;
    let interval = match with_interval {
        true => format!("{middle:.2} ({low:.2}–{high:.2})"),
        false => format!("{middle:.2}"),
    };
    match ratio.standing() {
        Standing::Resolved => interval,
        // An interval beyond 1 that is not believed: copies of the same code differ as much.
        Standing::Unproved => format!("{interval} not proved"),
        Standing::Open => format!("{interval} not resolved"),
        Standing::Unknown => format!("{middle:.2} no interval"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::verdict::rows;
    use super::super::verdict::tests::{candidates, weighed};
    use super::*;

    #[test]
    fn who_failed_is_not_counted_among_those_measured() {
        let mut case = weighed("insert", 1.0, &[1000, 500, 700], &[]);
        case.case.judged.summaries[1] = None;
        let rows = rows(&candidates(&["base", "lost", "quick"]), &[case], 0, 0.0);
        assert_eq!((rows.len(), measured(&rows)), (3, 2));
    }

    /// Who had no figure of the first operation showed that of the second in its place.
    #[test]
    fn figures_stand_under_their_own_operation() {
        let mut cases =
            [weighed("insert", 0.5, &[1, 2], &[]), weighed("find-hit", 0.5, &[3, 4], &[])];
        cases[0].case.judged.summaries[0] = None;
        let rows = rows(&candidates(&["lost", "both"]), &cases, 0, 0.0);
        let columns = columns("lost", &rows.iter().collect::<Vec<_>>(), true);
        for (title, cells) in [("insert ns", ["-", "200.2"]), ("find-hit ns", ["300.2", "400.2"])] {
            let column = columns.iter().find(|column| column.cells[0] == title).unwrap();
            assert_eq!(column.cells[1..], cells, "{title}");
        }
    }

    /// They were columns of dashes.
    #[test]
    fn tails_of_inserts_are_columns_where_somebody_has_one() {
        let mut rows = rows(&candidates(&["base"]), &[weighed("insert", 1.0, &[1], &[])], 0, 0.0);
        let last = |rows: &[Row]| {
            let columns = columns("base", &rows.iter().collect::<Vec<_>>(), true);
            columns.last().map(|column| column.cells[0].clone()).unwrap()
        };
        assert_eq!(last(&rows), "keys");
        rows[0].insert_ns_p999 = Some(3.0);
        assert_eq!(last(&rows), "insert p99.9");
        rows[0].insert_ns_max = Some(4.0);
        assert_eq!(last(&rows), "max");
    }

    /// The code in brief was another one's than the choice, without a word.
    #[test]
    fn in_brief_the_choice_stands_with_what_it_would_mislead_without() {
        let words = |all: &[&str]| all.iter().map(|&one| one.to_owned()).collect::<Vec<_>>();
        let advice = Advice {
            choice: None,
            paste: None,
            sentences: words(&["x did best.", "More.", "No library has x."]),
            beside: words(&["No library has x."]),
        };
        let of = |extent| sentences(&advice, extent).cloned().collect::<Vec<_>>();
        assert_eq!(of(Extent::Brief), ["x did best.", "No library has x."]);
        assert_eq!(of(Extent::Usual), advice.sentences);
    }

    #[test]
    fn times_and_ratios_that_contradict_each_other_are_found() {
        let cases = [weighed("insert", 1.0, &[1000, 500], &[])];
        let mut rows = rows(&candidates(&["base", "quick"]), &cases, 0, 0.0);
        let found = |rows: &[Row]| {
            let all: Vec<&Row> = rows.iter().collect();
            contradicts(all[1], &all, "base") || contradicts(all[0], &all, "base")
        };
        assert!(!found(&rows));
        rows[1].against_baseline.as_mut().unwrap().ratio = 1.63;
        assert!(found(&rows));
    }

    #[test]
    fn one_of_what_samples_are_measured_in_is_singular() {
        let rung = Rung { keys: 1, candidates: 4, ..Rung::default() };
        assert!(screening(&[rung], 2, "operation").contains("4 on 1 operation, 2 at"));
    }

    #[test]
    fn where_nobody_was_tried_before_no_time_is_told() {
        assert_eq!(screening(&[], 2, "key"), "combinations: 2 at full size");
    }
}
