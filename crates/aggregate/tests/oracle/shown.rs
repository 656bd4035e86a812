//! The six formats of the oracle.

use std::cmp::Ordering;

use num_bigint::BigInt;

use super::number::{Fraction, Number, Round, all_digits, ten_to};
use super::{Answer, Column, Group};

/// Forms of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Brc,
    Table,
    Csv,
    Tsv,
    Json,
    Ndjson,
}

pub(crate) const FORMS: [Form; 6] =
    [Form::Brc, Form::Table, Form::Csv, Form::Tsv, Form::Json, Form::Ndjson];

/// What is shown, and how.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    pub(crate) form: Form,
    /// By their names.
    pub(crate) statistics: Vec<&'static str>,
    /// Quantiles are values that are there.
    pub(crate) nearest: bool,
    pub(crate) decimals: Option<u32>,
    pub(crate) round: Round,
    /// Names of the key's parts.
    pub(crate) keys: Vec<String>,
    /// A statistic, largest first; by key without.
    pub(crate) sort: Option<&'static str>,
    pub(crate) reverse: bool,
    pub(crate) top: Option<usize>,
}

/// Names of all statistics, and of some quantiles.
pub(crate) const STATISTICS: [&str; 18] = [
    "min", "mean", "max", "count", "rows", "sum", "variance", "stddev", "range", "distinct",
    "mode", "first", "last", "median", "p0", "p12.5", "p99.9", "p100",
];

/// What can be told of texts.
pub(crate) const OF_TEXTS: [&str; 6] = ["count", "rows", "distinct", "mode", "first", "last"];

/// What needs neither all values nor their order.
pub(crate) const OF_SUMS: [&str; 9] =
    ["min", "mean", "max", "count", "rows", "sum", "variance", "stddev", "range"];

impl Look {
    /// Every statistic of sums in one form, by a key of one part.
    pub(crate) fn all(form: Form) -> Look {
        Look {
            form,
            statistics: OF_SUMS.to_vec(),
            nearest: false,
            decimals: None,
            round: Round::HalfUp,
            keys: vec!["key".to_owned()],
            sort: None,
            reverse: false,
            top: None,
        }
    }
}

/// All values with the same number of decimals.
fn aligned(group: &Group) -> (Vec<BigInt>, u32) {
    let decimals = group.values.iter().map(|number| number.decimals).max().unwrap_or(0);
    let units = group.values.iter().map(|n| &n.units * ten_to(decimals - n.decimals)).collect();
    (units, decimals)
}

fn sum(group: &Group) -> Number {
    let (units, decimals) = aligned(group);
    Number { units: units.iter().sum(), decimals }
}

fn mean(group: &Group) -> Option<Fraction> {
    let Number { units, decimals } = sum(group);
    let count = BigInt::from(group.values.len());
    (!group.values.is_empty()).then(|| Fraction::new(units, count * ten_to(decimals)))
}

/// The squares of the deviations from the mean, added, over one less than there are values. Each
/// deviation is counted in units of one over the count.
fn variance(group: &Group) -> Option<Fraction> {
    let (units, decimals) = aligned(group);
    let count = BigInt::from(units.len());
    let total: BigInt = units.iter().sum();
    let deviation = |unit: &BigInt| {
        let deviation = unit * &count - &total;
        &deviation * &deviation
    };
    let squares: BigInt = units.iter().map(deviation).sum();
    let below = &count * &count * (&count - 1) * ten_to(2 * decimals);
    (units.len() > 1).then(|| Fraction::new(squares, below))
}

fn extreme(group: &Group, wanted: Ordering) -> Option<Number> {
    let mut values = group.values.iter();
    let mut best = values.next()?;
    for value in values {
        if Fraction::of(value).cmp(&Fraction::of(best)) == wanted {
            best = value;
        }
    }
    Some(best.clone())
}

/// All values as fractions, the smallest first.
fn sorted(group: &Group) -> Vec<(Fraction, &Number)> {
    let mut sorted: Vec<_> = group.values.iter().map(|n| (Fraction::of(n), n)).collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    sorted
}

/// The numbers that are alike, and how many of each there are.
fn runs(group: &Group) -> Vec<(&Number, usize)> {
    let sorted = sorted(group);
    let runs = sorted.chunk_by(|a, b| a.0.cmp(&b.0).is_eq());
    runs.map(|run| (run[0].1, run.len())).collect()
}

/// The first of those that are there most often.
fn most<T>(runs: Vec<(T, usize)>) -> Option<T> {
    let most = runs.iter().map(|run| run.1).max()?;
    runs.into_iter().find(|run| run.1 == most).map(|run| run.0)
}

fn text_runs(group: &Group) -> Vec<(&Vec<u8>, usize)> {
    let mut counts = std::collections::BTreeMap::new();
    group.texts.iter().for_each(|text| *counts.entry(text).or_insert(0) += 1);
    counts.into_iter().collect()
}

/// Definitions 7 and 1 of Hyndman and Fan, with places from 0.
fn quantile(group: &Group, percent: &str, nearest: bool) -> Option<Fraction> {
    let share = super::number::read(percent.as_bytes()).expect("a percentage");
    let (above, below) = (share.units, ten_to(share.decimals + 2));
    let sorted = sorted(group);
    let count = BigInt::from(sorted.len());
    let at = |place: &BigInt| usize::try_from(place).ok().and_then(|at| sorted.get(at));
    if nearest {
        // The first value of which at least the share is not above it.
        let is_enough = |place: &usize| BigInt::from(place + 1) * &below >= &count * &above;
        return (0..sorted.len()).find(is_enough).map(|place| sorted[place].0.clone());
    }
    let whole: BigInt = (&count - 1) * &above / &below;
    let rest = (&count - 1) * &above - &whole * &below;
    let low = &at(&whole)?.0;
    let high = at(&(&whole + 1)).map_or(low, |high| &high.0);
    Some(low.between(high, &Fraction::new(rest, below)))
}

/// A statistic as a fraction; the standard deviation as its square.
fn fraction(group: &Group, statistic: &str, nearest: bool) -> Option<Fraction> {
    let whole = |n: usize| Some(Fraction::new(n.into(), 1.into()));
    match statistic {
        "min" => Some(Fraction::of(&extreme(group, Ordering::Less)?)),
        "max" => Some(Fraction::of(&extreme(group, Ordering::Greater)?)),
        "range" => {
            let [low, high] = [Ordering::Less, Ordering::Greater].map(|o| extreme(group, o));
            Some(Fraction::of(&high?).minus(&Fraction::of(&low?)))
        }
        "count" => whole(group.values.len() + group.texts.len()),
        "rows" => whole(group.rows as usize),
        "distinct" => whole(runs(group).len() + text_runs(group).len()),
        "sum" => Some(Fraction::of(&sum(group))),
        "mean" => mean(group),
        "mode" => most(runs(group)).map(Fraction::of),
        "first" => group.values.first().map(Fraction::of),
        "last" => group.values.last().map(Fraction::of),
        "median" => quantile(group, "50", nearest),
        "variance" | "stddev" => variance(group),
        _ => quantile(group, statistic.strip_prefix('p').expect("a quantile"), nearest),
    }
}

/// The text a statistic says, of texts.
fn word(group: &Group, statistic: &str) -> Option<Vec<u8>> {
    match statistic {
        "mode" => most(text_runs(group)).cloned(),
        "first" => group.texts.first().cloned(),
        "last" => group.texts.last().cloned(),
        _ => None,
    }
}

/// One cell.
enum Cell {
    Number(String),
    Text(Vec<u8>),
    /// There is nothing to say.
    Nothing,
}

fn cell(group: &Group, statistic: &str, finest: u32, look: &Look) -> Cell {
    match (word(group, statistic), number(group, statistic, finest, look)) {
        (Some(word), _) => Cell::Text(word),
        (None, Some(number)) => Cell::Number(number),
        (None, None) => Cell::Nothing,
    }
}

fn number(group: &Group, statistic: &str, finest: u32, look: &Look) -> Option<String> {
    let value = fraction(group, statistic, look.nearest)?;
    if matches!(statistic, "count" | "rows" | "distinct") {
        return Some(value.fixed(0, look.round));
    }
    let spread = matches!(statistic, "variance" | "stddev");
    let is_quantile = statistic == "median" || statistic.starts_with('p');
    let between = spread || statistic == "mean" || is_quantile && !look.nearest;
    let decimals = look.decimals.or(match look.form {
        Form::Brc => Some(finest.max(1) + if spread { 2 } else { 0 }),
        Form::Table => Some(finest + if between { 2 } else { 0 }),
        _ => None,
    });
    Some(match (decimals, statistic) {
        (Some(decimals), "stddev") => value.root_fixed(decimals, look.round),
        (Some(decimals), _) => value.fixed(decimals, look.round),
        (None, "stddev") => value.root_seventeen(look.round),
        (None, "mean" | "variance") => value.seventeen(look.round),
        // What ends does so within the digits of the values and of the percentage.
        (None, _) => all_digits(&value.ending(finest + 8)),
    })
}

/// The keys in the order that was asked for, as many as were asked for.
fn order(column: &Column, look: &Look) -> Vec<Parts> {
    let mut keys: Vec<&Parts> = column.groups.keys().collect();
    if let Some(statistic) = look.sort {
        let value = |key: &Parts| fraction(&column.groups[key], statistic, look.nearest);
        let said = |key: &Parts| word(&column.groups[key], statistic);
        keys.sort_by(|a, b| {
            let ascending = match (value(a), value(b)) {
                (Some(a), Some(b)) => a.cmp(&b),
                (None, None) => said(a).cmp(&said(b)),
                // What does not exist is less than anything.
                (a, b) => a.is_some().cmp(&b.is_some()),
            };
            if look.reverse { ascending } else { ascending.reverse() }
        });
    } else if look.reverse {
        keys.reverse();
    }
    keys.into_iter().take(look.top.unwrap_or(usize::MAX)).cloned().collect()
}

/// What is said of a column.
fn told(column: &Column, look: &Look) -> Vec<&'static str> {
    let is_told = |name: &&str| !column.is_text || OF_TEXTS.contains(name);
    look.statistics.iter().copied().filter(is_told).collect()
}

/// The names over everything, none of them twice.
fn headings(answer: &Answer, look: &Look) -> Vec<String> {
    let mut wanted: Vec<String> = look.keys.clone();
    for column in &answer.columns {
        for statistic in told(column, look) {
            wanted.push(match answer.columns.len() {
                1 => statistic.to_owned(),
                _ => format!("{}_{statistic}", column.name),
            });
        }
    }
    let mut names: Vec<String> = Vec::new();
    for plain in wanted {
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        let free = std::iter::once(plain.clone()).chain(numbered).find(|n| !names.contains(n));
        names.push(free.expect("numbers do not end"));
    }
    names
}

/// The whole result.
pub(crate) fn text(answer: &Answer, look: &Look) -> Vec<u8> {
    let finest: Vec<u32> = answer
        .columns
        .iter()
        .map(|column| {
            let values = column.groups.values().flat_map(|group| &group.values);
            values.map(|number| number.decimals).max().unwrap_or(0)
        })
        .collect();
    let keys = order(&answer.columns[0], look);
    let rows: Vec<Row> = keys
        .into_iter()
        .map(|key| {
            let mut cells = Vec::new();
            for (column, &finest) in answer.columns.iter().zip(&finest) {
                let group = &column.groups[&key];
                cells.extend(told(column, look).iter().map(|s| cell(group, s, finest, look)));
            }
            (key, cells)
        })
        .collect();
    let names = headings(answer, look);
    match look.form {
        Form::Brc => brc(&rows),
        Form::Table => table(&names, &rows, look.keys.len()),
        Form::Csv => separated(&names, &rows, b",", csv_field),
        Form::Tsv => separated(&names, &rows, b"\t", tsv_field),
        Form::Json => {
            let objects: Vec<_> =
                rows.iter().map(|row| [b"\n  ", &object(&names, row)[..]].concat()).collect();
            [b"[", &objects.join(&b","[..])[..], b"\n]\n"].concat()
        }
        Form::Ndjson => {
            rows.iter().flat_map(|row| [object(&names, row), b"\n".to_vec()].concat()).collect()
        }
    }
}

/// The parts of a key.
type Parts = Vec<Vec<u8>>;

/// A key, and what is said of it.
type Row = (Parts, Vec<Cell>);

fn brc(rows: &[Row]) -> Vec<u8> {
    let rows: Vec<Vec<u8>> = rows
        .iter()
        .map(|(key, cells)| {
            let cells: Vec<Vec<u8>> =
                cells.iter().map(|cell| written(cell, <[u8]>::to_vec)).collect();
            [&key.join(&b","[..])[..], &b"="[..], &cells.join(&b"/"[..])].concat()
        })
        .collect();
    [b"{", &rows.join(&b", "[..])[..], b"}\n"].concat()
}

/// A cell of a format that writes texts so, and nothing for nothing.
fn written(cell: &Cell, field: fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    match cell {
        Cell::Number(number) => number.clone().into_bytes(),
        Cell::Text(text) => field(text),
        Cell::Nothing => Vec::new(),
    }
}

fn csv_field(text: &[u8]) -> Vec<u8> {
    if !text.iter().any(|byte| b",\"\r\n".contains(byte)) {
        return text.to_vec();
    }
    let inside: Vec<Vec<u8>> = text.split(|&byte| byte == b'"').map(<[u8]>::to_vec).collect();
    [b"\"", &inside.join(&b"\"\""[..])[..], b"\""].concat()
}

fn tsv_field(text: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::new();
    for &byte in text {
        let letter = match byte {
            b'\t' => b't',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\\' => b'\\',
            _ => {
                escaped.push(byte);
                continue;
            }
        };
        escaped.extend([b'\\', letter]);
    }
    escaped
}

fn separated(names: &[String], rows: &[Row], by: &[u8], field: fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut lines = vec![names.iter().map(|name| field(name.as_bytes())).collect::<Vec<_>>()];
    for (key, cells) in rows {
        let cells = cells.iter().map(|cell| written(cell, field));
        lines.push(key.iter().map(|part| field(part)).chain(cells).collect());
    }
    lines.into_iter().flat_map(|line| [line.join(by), b"\n".to_vec()].concat()).collect()
}

fn json_string(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|c| match c {
            '"' => "\\\"".to_owned(),
            '\\' => "\\\\".to_owned(),
            c if (c as u32) < 32 => format!("\\u{:04x}", c as u32),
            c => c.to_string(),
        })
        .collect();
    format!("\"{escaped}\"")
}

fn object(names: &[String], (key, cells): &Row) -> Vec<u8> {
    let mut members = Vec::new();
    for (name, part) in names.iter().zip(key) {
        let shown = String::from_utf8_lossy(part);
        members.push(format!("{}: {}", json_string(name), json_string(&shown)));
        if std::str::from_utf8(part).is_err() {
            let hex: String = part.iter().map(|byte| format!("{byte:02x}")).collect();
            members.push(format!("{}: \"{hex}\"", json_string(&format!("{name}_hex"))));
        }
    }
    for (name, cell) in names[key.len()..].iter().zip(cells) {
        let cell = match cell {
            Cell::Number(number) => number.clone(),
            Cell::Text(text) => json_string(&String::from_utf8_lossy(text)),
            Cell::Nothing => "null".to_owned(),
        };
        members.push(format!("{}: {cell}", json_string(name)));
    }
    format!("{{{}}}", members.join(", ")).into_bytes()
}

fn table(names: &[String], rows: &[Row], keys: usize) -> Vec<u8> {
    let shown = |key: &[u8]| {
        let mut text = String::new();
        for chunk in key.utf8_chunks() {
            for c in chunk.valid().chars() {
                match c.is_control() {
                    true => text.extend(c.escape_default()),
                    false => text.push(c),
                }
            }
            text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
        }
        text
    };
    let mut lines = vec![names.to_vec()];
    for (key, cells) in rows {
        let cells = cells.iter().map(|cell| match cell {
            Cell::Number(number) => number.clone(),
            Cell::Text(text) => shown(text),
            Cell::Nothing => "-".to_owned(),
        });
        lines.push(key.iter().map(|part| shown(part)).chain(cells).collect());
    }
    let length = |text: &str| text.chars().count();
    let widths: Vec<usize> = (0..names.len())
        .map(|at| lines.iter().map(|line| length(&line[at])).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for line in lines {
        let padded = line.iter().zip(&widths).enumerate().map(|(at, (cell, width))| {
            let blanks = " ".repeat(width - length(cell));
            if at < keys { format!("{cell}{blanks}") } else { format!("{blanks}{cell}") }
        });
        text.push_str(&padded.collect::<Vec<_>>().join("  "));
        text.push('\n');
    }
    text.into_bytes()
}
