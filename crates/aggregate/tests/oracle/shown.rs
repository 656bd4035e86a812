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
    pub(crate) decimals: Option<u32>,
    pub(crate) round: Round,
    /// Names of the key's parts.
    pub(crate) keys: Vec<String>,
    /// A statistic, largest first; by key without.
    pub(crate) sort: Option<&'static str>,
    pub(crate) reverse: bool,
    pub(crate) top: Option<usize>,
}

/// Names of all statistics.
pub(crate) const STATISTICS: [&str; 8] =
    ["min", "mean", "max", "count", "rows", "sum", "variance", "stddev"];

impl Look {
    /// Every statistic in one form, by a key of one part.
    pub(crate) fn all(form: Form) -> Look {
        Look {
            form,
            statistics: STATISTICS.to_vec(),
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

/// A statistic as a fraction, to sort by; the standard deviation sorts as its square.
fn fraction(group: &Group, statistic: &str) -> Option<Fraction> {
    let whole = |n: u64| Some(Fraction::new(n.into(), 1.into()));
    match statistic {
        "min" => Some(Fraction::of(&extreme(group, Ordering::Less)?)),
        "max" => Some(Fraction::of(&extreme(group, Ordering::Greater)?)),
        "count" => whole(group.values.len() as u64),
        "rows" => whole(group.rows),
        "sum" => Some(Fraction::of(&sum(group))),
        "mean" => mean(group),
        _ => variance(group),
    }
}

/// One cell; None where there is nothing to say.
fn cell(group: &Group, statistic: &str, finest: u32, look: &Look) -> Option<String> {
    let value = fraction(group, statistic)?;
    if matches!(statistic, "count" | "rows") {
        return Some(value.fixed(0, look.round));
    }
    let spread = matches!(statistic, "variance" | "stddev");
    let decimals = look.decimals.or(match look.form {
        Form::Brc => Some(finest.max(1) + if spread { 2 } else { 0 }),
        Form::Table => Some(finest + if spread || statistic == "mean" { 2 } else { 0 }),
        _ => None,
    });
    Some(match (decimals, statistic) {
        (Some(decimals), "stddev") => value.root_fixed(decimals, look.round),
        (Some(decimals), _) => value.fixed(decimals, look.round),
        (None, "stddev") => value.root_seventeen(look.round),
        (None, "mean" | "variance") => value.seventeen(look.round),
        (None, "min") => all_digits(&extreme(group, Ordering::Less)?),
        (None, "max") => all_digits(&extreme(group, Ordering::Greater)?),
        (None, _) => all_digits(&sum(group)),
    })
}

/// The keys in the order that was asked for, as many as were asked for.
fn order(column: &Column, look: &Look) -> Vec<Parts> {
    let mut keys: Vec<&Parts> = column.groups.keys().collect();
    if let Some(statistic) = look.sort {
        let value = |key: &Parts| fraction(&column.groups[key], statistic);
        keys.sort_by(|a, b| {
            let ascending = match (value(a), value(b)) {
                (Some(a), Some(b)) => a.cmp(&b),
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

/// The names over everything, none of them twice.
fn headings(answer: &Answer, look: &Look) -> Vec<String> {
    let mut wanted: Vec<String> = look.keys.clone();
    for column in &answer.columns {
        for statistic in &look.statistics {
            wanted.push(match answer.columns.len() {
                1 => (*statistic).to_owned(),
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
                cells.extend(look.statistics.iter().map(|s| cell(group, s, finest, look)));
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
type Row = (Parts, Vec<Option<String>>);

fn brc(rows: &[Row]) -> Vec<u8> {
    let rows: Vec<Vec<u8>> = rows
        .iter()
        .map(|(key, cells)| {
            let cells: Vec<&str> = cells.iter().map(|c| c.as_deref().unwrap_or("")).collect();
            [&key.join(&b","[..])[..], &b"="[..], cells.join("/").as_bytes()].concat()
        })
        .collect();
    [b"{", &rows.join(&b", "[..])[..], b"}\n"].concat()
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
        let cells = cells.iter().map(|cell| cell.clone().unwrap_or_default().into_bytes());
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
        let cell = cell.as_deref().unwrap_or("null");
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
        let cells = cells.iter().map(|cell| cell.clone().unwrap_or_else(|| "-".to_owned()));
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
