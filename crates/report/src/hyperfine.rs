//! The exports of hyperfine, for whatever reads them: its JSON, its CSV and its tables. Times are wall
//! time, means and standard deviations, as there; only *relative* is ours: the ratio with its interval,
//! or that none is resolved.

use std::collections::BTreeSet;

use fathom_measure::command::filled;
use fathom_measure::compare::{Clock, Comparison, Judged, judge};
use fathom_measure::plan::Plan;
use fathom_measure::result::{Case, Run};
use fathom_measure::sample::Sample;
use fathom_measure::stats::median;
use serde_json::{Map, Value, json};

use crate::escape::line as escaped;
use crate::number::{TimeUnit, factor_digits};
use crate::sentence::word;

/// A table's markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Markup {
    /// With pipes.
    Markdown,
    /// `|===`.
    Asciidoc,
    /// Of Emacs.
    Orgmode,
}

/// A command's runs, in seconds.
struct Figures {
    command: String,
    parameters: Map<String, Value>,
    mean: f64,
    /// `None` of a single run.
    stddev: Option<f64>,
    median: f64,
    user: f64,
    system: f64,
    times: Vec<f64>,
    codes: Vec<i32>,
    peaks: Vec<u64>,
    comparison: Option<Comparison>,
}

impl Figures {
    fn min(&self) -> f64 {
        self.times.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn max(&self) -> f64 {
        self.times.iter().copied().fold(0.0, f64::max)
    }
}

/// All commands that have times, in the order they were given.
fn figures<'a>(run: &'a Run) -> Vec<Figures> {
    let of = |case: &'a Case| {
        // What is subtracted of wall time is what is known on that clock, whichever the verdicts have.
        let plan = Plan { clock: Some(Clock::Wall), ..case.plan.clone() };
        let wall = judge(&case.measured, case.roles, &plan);
        case.entrants().filter_map(move |(number, _)| figure(case, &wall, number))
    };
    run.cases.iter().flat_map(of).collect()
}

fn figure(case: &Case, judged: &Judged, number: usize) -> Option<Figures> {
    let samples = || case.measured.rounds.iter().filter_map(|round| round.samples[number].as_ref());
    judged.summaries[number]?;
    let spare = judged.overhead.filter(|o| o.subtracted).map_or(0.0, |o| o.ns_median);
    let time = |sample: &Sample| (sample.wall_ns as f64 - spare).max(0.0) / 1e9;
    let times: Vec<f64> = samples().map(time).collect();
    let count = times.len() as f64;
    let mean = times.iter().sum::<f64>() / count;
    let square: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
    let usage = judged.usage[number];
    let row = &case.contenders[number];
    let parameters = case.workload.parameters.iter().chain(&row.parameters);
    let named = parameters.map(|(name, value)| (name.clone(), json!(value)));
    // In two trees, which the contenders are named for, the command is what is done.
    let id = match case.workload.operation.as_str() {
        "" => row.id.clone(),
        command => format!("{command}, {}", row.id),
    };
    Some(Figures {
        // Its own are in its name already.
        command: filled(&id, &case.workload.parameters),
        parameters: named.collect(),
        mean,
        stddev: (times.len() > 1).then(|| (square / (count - 1.0)).sqrt()),
        median: median(&times)?,
        user: usage.and_then(|usage| usage.ns_user).unwrap_or(0.0) / 1e9,
        system: usage.and_then(|usage| usage.ns_system).unwrap_or(0.0) / 1e9,
        codes: samples().map(|sample| sample.exit_code).collect(),
        peaks: samples().map(|sample| sample.peak_bytes).collect(),
        times,
        comparison: judged.comparisons.iter().find(|c| c.contender == number).cloned(),
    })
}

/// As `--export-json`.
#[must_use]
pub fn json(run: &Run) -> String {
    let result = |f: &Figures| {
        let mut result = json!({
            "command": f.command, "mean": f.mean, "stddev": f.stddev, "median": f.median,
            "user": f.user, "system": f.system, "min": f.min(), "max": f.max(), "times": f.times,
            "exit_codes": f.codes,
        });
        if f.peaks.iter().all(|&peak| peak > 0) {
            result["memory_usage_byte"] = json!(f.peaks);
        }
        if !f.parameters.is_empty() {
            result["parameters"] = Value::Object(f.parameters.clone());
        }
        result
    };
    let results: Vec<Value> = figures(run).iter().map(result).collect();
    format!("{:#}\n", json!({ "results": results }))
}

/// As `--export-csv`.
#[must_use]
pub fn csv(run: &Run) -> String {
    let all = figures(run);
    // A reference has none of -L.
    let names: BTreeSet<&String> = all.iter().flat_map(|f| f.parameters.keys()).collect();
    let mut text = "command,mean,stddev,median,user,system,min,max".to_owned();
    for name in &names {
        text += &format!(",{}", crate::csv::quoted(&format!("parameter_{name}")));
    }
    text.push('\n');
    for f in &all {
        text += &crate::csv::quoted(&f.command);
        let numbers =
            [f.mean, f.stddev.unwrap_or(0.0), f.median, f.user, f.system, f.min(), f.max()];
        numbers.iter().for_each(|number| text += &format!(",{number}"));
        for name in &names {
            let value = f.parameters.get(*name).and_then(Value::as_str).unwrap_or_default();
            text += &format!(",{}", crate::csv::quoted(value));
        }
        text.push('\n');
    }
    text
}

/// As `--export-markdown` and its siblings: in one unit, that of the first mean if none is given; as the
/// commands were given, or the least mean first.
#[must_use]
pub fn table(run: &Run, markup: Markup, unit: Option<TimeUnit>, by_mean: bool) -> String {
    let mut all = figures(run);
    if by_mean {
        all.sort_by(|a, b| a.mean.total_cmp(&b.mean));
    }
    let best = TimeUnit::of(all.first().map_or(0.0, |f| f.mean * 1e9));
    let (size, sign) = unit.unwrap_or(best).size();
    let [mean, least, most] = ["Mean", "Min", "Max"].map(|what| format!("{what} [{sign}]"));
    let mut rows = vec![vec!["Command".to_owned(), mean, least, most, "Relative".to_owned()]];
    let shown =
        |seconds: f64| format!("{:.*}", if size > 1e8 { 3 } else { 1 }, seconds * 1e9 / size);
    for f in &all {
        let mean = match f.stddev {
            Some(stddev) => format!("{} ± {}", shown(f.mean), shown(stddev)),
            None => shown(f.mean),
        };
        let command = command(markup, &f.command);
        let (least, most) = (shown(f.min()), shown(f.max()));
        rows.push(vec![command, mean, least, most, relative(f.comparison.as_ref())]);
    }
    written(markup, &rows)
}

fn command(markup: Markup, command: &str) -> String {
    let command = escaped(command);
    if markup == Markup::Orgmode {
        // Between equals signs nothing is an entity, and a pipe would end the cell.
        return match command.contains('|') {
            true => command.replace('|', "\\vert{}"),
            false => format!("={command}="),
        };
    }
    let command = command.replace('|', "\\|");
    match markup {
        Markup::Asciidoc if command.contains('`') => format!("`+{command}+`"),
        Markup::Markdown if command.contains('`') => {
            // More of them than stand together in it.
            let runs = command.split(|c| c != '`').map(str::len);
            let fence = "`".repeat(runs.max().unwrap_or(0) + 1);
            format!("{fence} {command} {fence}")
        }
        _ => format!("`{command}`"),
    }
}

fn relative(comparison: Option<&Comparison>) -> String {
    let Some(c) = comparison else { return "1.00".to_owned() };
    let (Some(ratio), Some(i)) = (c.ratio, c.interval) else { return word(c) };
    let ends =
        format!("{} ({}–{})", factor_digits(ratio), factor_digits(i.low), factor_digits(i.high));
    if c.verdict.is_called() { ends } else { format!("{ends} {}", c.verdict.word()) }
}

fn written(markup: Markup, rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    let (head, body) = rows.split_at(1);
    let line = |cells: &[String], between: &str| format!("| {} |\n", cells.join(between));
    match markup {
        Markup::Markdown => {
            text += &line(&head[0], " | ");
            text += "|:---|---:|---:|---:|---:|\n";
            body.iter().for_each(|row| text += &line(row, " | "));
        }
        Markup::Orgmode => {
            let rest = head[0][1..].join(" |  ");
            text += &format!("| {}  |  {rest} |\n|--+--+--+--+--|\n", head[0][0]);
            body.iter().for_each(|row| text += &line(row, "  |  "));
        }
        Markup::Asciidoc => {
            let cells = |row: &Vec<String>| {
                row.iter().map(|cell| format!("| {cell} \n")).collect::<String>()
            };
            let rows: Vec<String> = rows.iter().map(cells).collect();
            text += &format!("[cols=\"<,>,>,>,>\"]\n|===\n{}|===\n", rows.join("\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_of_a_command_are_none_of_the_table() {
        let of = |line| [Markup::Markdown, Markup::Asciidoc].map(|markup| command(markup, line));
        assert_eq!(of("echo a|b"), ["`echo a\\|b`", "`echo a\\|b`"]);
        assert_eq!(of("echo `date`"), ["`` echo `date` ``", "`+echo `date`+`"]);
        assert_eq!(of("a ``b`` c")[0], "``` a ``b`` c ```");
    }

    #[test]
    fn a_pipe_of_a_command_ends_no_cell() {
        let of = |line| command(Markup::Orgmode, line);
        assert_eq!((of("echo a"), of("a | b")), ("=echo a=".into(), "a \\vert{} b".into()));
    }
}
