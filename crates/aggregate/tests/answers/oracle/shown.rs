//! The formats of the oracle.

use std::cmp::Ordering;

use num_bigint::BigInt;

use super::number::{Fraction, Number, Round, all_digits, ten_to};
use super::{Answer, Column, Group};

/// Forms of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Brc,
    Table,
    Csv,
    Tsv,
    Json,
    Ndjson,
    Markdown,
}

pub const FORMS: [Form; 7] =
    [Form::Brc, Form::Table, Form::Csv, Form::Tsv, Form::Json, Form::Ndjson, Form::Markdown];

/// What is sorted by.
#[derive(Clone, Copy, Debug)]
pub enum By {
    Key,
    /// A part of the key, and whether as a number.
    Part(usize, bool),
    /// A statistic of a column.
    Of(usize, &'static str),
    /// How much the second of a pair of columns is above the first, and in percent.
    Change(&'static str),
    Percent(&'static str),
}

/// What is shown, and how.
#[derive(Clone, Debug)]
pub struct Look {
    pub form: Form,
    /// By their names.
    pub statistics: Vec<&'static str>,
    /// Quantiles are values that are there.
    pub nearest: bool,
    pub decimals: Option<u32>,
    pub round: Round,
    /// Names of the key's parts.
    pub keys: Vec<String>,
    /// Each with whether the largest come first; what nothing tells apart is in the order of keys.
    pub sort: Vec<(By, bool)>,
    pub top: Option<usize>,
    /// Whether a last line has all keys together.
    pub total: bool,
    /// To a hundredth, a thousandth or a ten-thousandth of a value, as digits that all values keep.
    pub approx: Option<u32>,
}

/// Names of all statistics, and of some quantiles.
pub const STATISTICS: [&str; 22] = [
    "min", "mean", "max", "count", "rows", "sum", "variance", "stddev", "range", "distinct",
    "mode", "first", "last", "median", "p0", "p12.5", "p99.9", "p100", "count%", "rows%", "sum%",
    "histogram",
];

/// What can be told of texts.
pub const OF_TEXTS: [&str; 8] =
    ["count", "rows", "distinct", "mode", "first", "last", "count%", "rows%"];

/// What needs neither all values nor their order.
pub const OF_SUMS: [&str; 9] =
    ["min", "mean", "max", "count", "rows", "sum", "variance", "stddev", "range"];

impl Look {
    /// Every statistic of sums in one form, by a key of one part.
    pub fn all(form: Form) -> Look {
        Look {
            form,
            statistics: OF_SUMS.to_vec(),
            nearest: false,
            decimals: None,
            round: Round::HalfUp,
            keys: vec!["key".to_owned()],
            sort: Vec::new(),
            top: None,
            total: false,
            approx: None,
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
    let wins = |a: &Number, b: &Number| Fraction::of(a).cmp(&Fraction::of(b)) == wanted;
    group.values.iter().reduce(|best, value| if wins(value, best) { value } else { best }).cloned()
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

/// Its values as near as they are kept.
fn nearly(group: &Group, look: &Look) -> Group {
    let near = |number: &Number| match look.approx {
        None => number.clone(),
        Some(digits) => number.nearly(digits),
    };
    Group { values: group.values.iter().map(near).collect(), ..Group::default() }
}

/// Definitions 7 and 1 of Hyndman and Fan, with places from 0.
fn quantile(group: &Group, percent: &str, look: &Look) -> Option<Fraction> {
    let share = super::number::read(percent.as_bytes()).expect("a percentage");
    let (above, below) = (share.units, ten_to(share.decimals + 2));
    let near = nearly(group, look);
    let sorted = sorted(&near);
    let between_extremes = |found: Fraction| {
        let [low, high] = [Ordering::Less, Ordering::Greater].map(|o| extreme(group, o));
        let [low, high] = [Fraction::of(&low?), Fraction::of(&high?)];
        let low_or_found = if found.cmp(&low).is_lt() { low } else { found };
        Some(if low_or_found.cmp(&high).is_gt() { high } else { low_or_found })
    };
    let count = BigInt::from(sorted.len());
    let at = |place: &BigInt| usize::try_from(place).ok().and_then(|at| sorted.get(at));
    if look.nearest {
        // The first value of which at least the share is not above it.
        let is_enough = |place: &usize| BigInt::from(place + 1) * &below >= &count * &above;
        let place = (0..sorted.len()).find(is_enough)?;
        return between_extremes(sorted[place].0.clone());
    }
    let whole: BigInt = (&count - 1) * &above / &below;
    let rest = (&count - 1) * &above - &whole * &below;
    let low = &at(&whole)?.0;
    let high = at(&(&whole + 1)).map_or(low, |high| &high.0);
    between_extremes(low.between(high, &Fraction::new(rest, below)))
}

/// Whether the quantile is on the line from a number below zero to one above.
fn crosses_zero(group: &Group, percent: &str, look: &Look) -> bool {
    let share = super::number::read(percent.as_bytes()).expect("a percentage");
    let place = BigInt::from(group.values.len() - 1) * share.units;
    let whole = ten_to(share.decimals + 2);
    let is_between = !look.nearest && &place % &whole != BigInt::from(0);
    let low = usize::try_from(place / whole).expect("a place among them");
    let (sorted, zero) = (sorted(group), Fraction::new(0.into(), 1.into()));
    is_between && sorted[low].0.cmp(&zero).is_lt() && sorted[low + 1].0.cmp(&zero).is_gt()
}

/// The bounds, and how many numbers are in each tenth between them: not below its lower end, and below its upper
/// end unless it is the last.
fn bins(group: &Group, look: &Look) -> Option<(Number, Number, Vec<usize>)> {
    let near = nearly(group, look);
    let [low, high] = [Ordering::Less, Ordering::Greater].map(|o| extreme(&near, o));
    let (low, high) = (low?, high?);
    let [from, to] = [&low, &high].map(Fraction::of);
    if from.cmp(&to).is_eq() {
        return Some((low, high, vec![near.values.len()]));
    }
    let bound = |tenths: i32| from.between(&to, &Fraction::new(tenths.into(), 10.into()));
    let is_in = |bin: i32, number: &&Number| {
        let number = Fraction::of(number);
        number.cmp(&bound(bin)).is_ge() && (bin == 9 || number.cmp(&bound(bin + 1)).is_lt())
    };
    let count = |bin| near.values.iter().filter(|number| is_in(bin, number)).count();
    Some((low, high, (0..10).map(count).collect()))
}

fn histogram(group: &Group, look: &Look) -> Cell {
    let Some((low, high, counts)) = bins(group, look) else { return Cell::Nothing };
    if matches!(look.form, Form::Brc | Form::Table | Form::Markdown) {
        let most = counts.iter().max().copied().unwrap_or(0);
        let bar = |&count: &usize| {
            let eighths = (0..=8).find(|eighths| eighths * most >= count * 8);
            "·▁▂▃▄▅▆▇█".chars().nth(eighths.expect("the fullest has eight"))
        };
        let bars: String = counts.iter().filter_map(bar).collect();
        return Cell::Text(bars.into_bytes());
    }
    let [from, to] = [low, high].map(|number| all_digits(&number));
    Cell::Json(format!("{{\"from\": {from}, \"to\": {to}, \"counts\": {counts:?}}}"))
}

/// A statistic as a fraction; the standard deviation as its square.
fn fraction(group: &Group, statistic: &str, look: &Look) -> Option<Fraction> {
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
        "mode" if look.approx.is_some() => None,
        "mode" => most(runs(group)).map(Fraction::of),
        "first" => group.values.first().map(Fraction::of),
        "last" => group.values.last().map(Fraction::of),
        "median" => quantile(group, "50", look),
        "variance" | "stddev" => variance(group),
        "histogram" => None,
        _ => quantile(group, statistic.strip_prefix('p').expect("a quantile"), look),
    }
}

/// The text a statistic says, of texts.
fn word(group: &Group, statistic: &str, look: &Look) -> Option<Vec<u8>> {
    match statistic {
        "mode" if look.approx.is_some() => None,
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
    /// As it is, or as a text where there is no JSON.
    Json(String),
    /// There is nothing to say.
    Nothing,
}

/// What a cell says, of one column or of a pair.
#[derive(Clone, Copy)]
enum Said {
    Of(usize, &'static str),
    Error(usize, &'static str),
    Change(&'static str, usize),
    ChangeError(&'static str, usize),
    Percent(&'static str, usize),
}

/// A key in all columns; none for all keys together.
type Row<'a> = (&'a [Column], Option<&'a Parts>);

/// What a column knows of a key.
fn group<'a>((columns, key): Row<'a>, at: usize) -> &'a Group {
    static NONE: Group = Group { rows: 0, values: Vec::new(), texts: Vec::new() };
    match key {
        Some(key) => columns[at].groups.get(key).unwrap_or(&NONE),
        None => &columns[at].all,
    }
}

/// A statistic, or its share of that of all keys.
fn share_or_value(row: Row<'_>, at: usize, statistic: &str, look: &Look) -> Option<Fraction> {
    let Some(whole) = statistic.strip_suffix('%') else {
        return fraction(group(row, at), statistic, look);
    };
    let [part, all] = [row, (row.0, None)].map(|row| fraction(group(row, at), whole, look));
    percent(&part?, &all?)
}

fn percent(part: &Fraction, whole: &Fraction) -> Option<Fraction> {
    part.with("*", &Fraction::new(100.into(), 1.into()))?.with("/", whole)
}

fn said(row: Row<'_>, said: Said, look: &Look) -> Option<Fraction> {
    let zero = Fraction::new(0.into(), 1.into());
    let both = |statistic, at| {
        let [before, after] = [at, at + 1].map(|at| share_or_value(row, at, statistic, look));
        Some((before?, after?))
    };
    match said {
        Said::Of(at, statistic) => share_or_value(row, at, statistic, look),
        // So few values are counted.
        Said::Error(_, "distinct") => Some(zero),
        Said::Error(at, statistic) => {
            share_or_value(row, at, statistic, look)?;
            let percent = statistic.strip_prefix('p').unwrap_or("50");
            if crosses_zero(group(row, at), percent, look) {
                return None;
            }
            Some(Fraction::new(1.into(), ten_to(look.approx? - 2)))
        }
        Said::Change(statistic, at) => {
            both(statistic, at).map(|(before, after)| after.minus(&before))
        }
        Said::ChangeError("distinct", _) => Some(zero),
        Said::ChangeError(statistic, at) => {
            // What is p percent off is as far from the nearest that is exact: p / (100 - p) of itself.
            let bound = |at| {
                let value = share_or_value(row, at, statistic, look)?;
                let size = if value.cmp(&zero).is_lt() { zero.minus(&value) } else { value };
                let error = self::said(row, Said::Error(at, statistic), look)?;
                let whole = Fraction::new(100.into(), 1.into()).minus(&error);
                size.with("*", &error)?.with("/", &whole)
            };
            bound(at)?.with("+", &bound(at + 1)?)
        }
        Said::Percent(statistic, at) => {
            let (before, after) = both(statistic, at)?;
            let size = if before.cmp(&zero).is_lt() { zero.minus(&before) } else { before.clone() };
            percent(&after.minus(&before), &size)
        }
    }
}

fn cell(row: Row<'_>, what: Said, finest: &[u32], look: &Look) -> Cell {
    let text = match what {
        Said::Of(at, "histogram") => return histogram(group(row, at), look),
        Said::Of(at, statistic) => word(group(row, at), statistic, look),
        _ => None,
    };
    match (text, number(row, what, finest, look)) {
        (Some(word), _) => Cell::Text(word),
        (None, Some(number)) => Cell::Number(number),
        (None, None) => Cell::Nothing,
    }
}

fn number(row: Row<'_>, what: Said, finest: &[u32], look: &Look) -> Option<String> {
    let value = said(row, what, look)?;
    if matches!(what, Said::Error(..)) {
        return Some(all_digits(&value.ending(2)));
    }
    let (Said::Of(at, statistic)
    | Said::Error(at, statistic)
    | Said::Change(statistic, at)
    | Said::ChangeError(statistic, at)
    | Said::Percent(statistic, at)) = what;
    let is_bound = matches!(what, Said::ChangeError(..));
    let round = if is_bound { Round::Ceiling } else { look.round };
    let is_percent = matches!(what, Said::Percent(..)) || statistic.ends_with('%');
    if matches!(statistic, "count" | "rows" | "distinct") && !is_percent {
        return Some(value.fixed(0, round));
    }
    let spread = matches!(statistic, "variance" | "stddev");
    let is_quantile = statistic == "median" || statistic.starts_with('p');
    let between = spread || statistic == "mean" || is_quantile && !look.nearest;
    let decimals = look.decimals.or(match look.form {
        Form::Brc | Form::Table | Form::Markdown if is_percent => Some(2),
        Form::Brc => Some(finest[at].max(1) + if spread { 2 } else { 0 }),
        Form::Table | Form::Markdown => Some(finest[at] + if between { 2 } else { 0 }),
        _ => None,
    });
    Some(match (decimals, statistic) {
        (Some(decimals), "stddev") if !is_percent => value.root_fixed(decimals, look.round),
        (Some(decimals), _) => value.fixed(decimals, round),
        (None, "stddev") if !is_percent => value.root_seventeen(look.round),
        (None, "mean" | "variance") => value.seventeen(look.round),
        (None, _) if is_percent || is_bound => value.seventeen(round),
        // What ends does so within the digits of the values and of the percentage.
        (None, _) => all_digits(&value.ending(finest[at] + 8)),
    })
}

/// The keys in the order that was asked for, as many as were asked for.
fn order(columns: &[Column], look: &Look) -> Vec<Parts> {
    let keys: std::collections::BTreeSet<&Parts> =
        columns.iter().flat_map(|column| column.groups.keys()).collect();
    let mut keys: Vec<&Parts> = keys.into_iter().collect();
    let pick = |a: &Parts, b: &Parts, by: By| {
        let ordered = |both: [Option<Fraction>; 2]| match both {
            [Some(one), Some(other)] => one.cmp(&other),
            // What does not exist is less than anything.
            [one, other] => one.is_some().cmp(&other.is_some()),
        };
        let of = |what| ordered([a, b].map(|key| said((columns, Some(key)), what, look)));
        match by {
            By::Key => a.cmp(b),
            By::Part(at, false) => a[at].cmp(&b[at]),
            By::Part(at, true) => {
                let number = |key: &Parts| super::number::read(&key[at]).ok();
                ordered([a, b].map(|key| number(key).map(|number| Fraction::of(&number))))
            }
            By::Of(at, statistic) => {
                let texts =
                    [a, b].map(|key| word(group((columns, Some(key)), at), statistic, look));
                if columns[at].is_text && texts != [None, None] {
                    return texts[0].cmp(&texts[1]);
                }
                of(Said::Of(at, statistic))
            }
            By::Change(statistic) => of(Said::Change(statistic, 0)),
            By::Percent(statistic) => of(Said::Percent(statistic, 0)),
        }
    };
    // From the last to the first, so that the first decides.
    for (by, falling) in look.sort.iter().rev() {
        keys.sort_by(|a, b| {
            let rising = pick(a, b, *by);
            if *falling { rising.reverse() } else { rising }
        });
    }
    keys.into_iter().take(look.top.unwrap_or(usize::MAX)).cloned().collect()
}

/// What is said of a column.
fn told(column: &Column, look: &Look) -> Vec<&'static str> {
    let is_told = |name: &&str| !column.is_text || OF_TEXTS.contains(name);
    look.statistics.iter().copied().filter(is_told).collect()
}

/// What is said of each key, with names, none of them twice.
fn headings(columns: &[Column], pairs: bool, look: &Look) -> (Vec<String>, Vec<Said>) {
    let (mut wanted, mut all) = (look.keys.clone(), Vec::new());
    let step = if pairs { 2 } else { 1 };
    for at in (0..columns.len()).step_by(step) {
        for statistic in told(&columns[at], look) {
            let name = match columns.len() / step {
                1 => statistic.to_owned(),
                _ => format!("{}_{statistic}", columns[at].name),
            };
            let is_near = look.approx.is_some()
                && (statistic == "distinct" || statistic == "median" || statistic.starts_with('p'));
            if !pairs {
                wanted.push(name.clone());
                all.push(Said::Of(at, statistic));
                if is_near {
                    wanted.push(format!("{name}_error%"));
                    all.push(Said::Error(at, statistic));
                }
                continue;
            }
            let has_change = !matches!(statistic, "stddev" | "histogram")
                && (!columns[at].is_text || !["mode", "first", "last"].contains(&statistic));
            for (word, said) in [
                ("before", Said::Of(at, statistic)),
                ("before_error%", Said::Error(at, statistic)),
                ("after", Said::Of(at + 1, statistic)),
                ("after_error%", Said::Error(at + 1, statistic)),
                ("change", Said::Change(statistic, at)),
                ("change_error", Said::ChangeError(statistic, at)),
                ("change%", Said::Percent(statistic, at)),
            ] {
                let is_shown = match said {
                    Said::Of(..) => true,
                    Said::Error(..) => is_near,
                    Said::ChangeError(..) => is_near && has_change,
                    Said::Change(..) | Said::Percent(..) => has_change,
                };
                if is_shown {
                    wanted.push(format!("{name}_{word}"));
                    all.push(said);
                }
            }
        }
    }
    let mut names: Vec<String> = Vec::new();
    for plain in wanted {
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        let free = std::iter::once(plain.clone()).chain(numbered).find(|n| !names.contains(n));
        names.push(free.expect("numbers do not end"));
    }
    (names, all)
}

/// The whole result.
pub fn text(answer: &Answer, look: &Look) -> Vec<u8> {
    written_out(&answer.columns, false, look)
}

/// Two results side by side.
pub fn compared(before: &Answer, after: &Answer, look: &Look) -> Vec<u8> {
    let pairs = before.columns.iter().zip(&after.columns);
    let columns: Vec<Column> = pairs.flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
    written_out(&columns, true, look)
}

fn written_out(columns: &[Column], pairs: bool, look: &Look) -> Vec<u8> {
    let scale = |column: &Column| column.all.values.iter().map(|n| n.decimals).max().unwrap_or(0);
    let mut finest: Vec<u32> = columns.iter().map(scale).collect();
    if pairs {
        finest.chunks_mut(2).for_each(|pair| pair.fill(pair[0].max(pair[1])));
    }
    let (names, all) = headings(columns, pairs, look);
    let cells = |key: Option<&Parts>| -> Vec<Cell> {
        all.iter().map(|&what| cell((columns, key), what, &finest, look)).collect()
    };
    let keys = order(columns, look).into_iter();
    let mut rows: Vec<Shown> = keys.map(|key| (key.clone(), cells(Some(&key)))).collect();
    if look.total {
        let mut key = vec![Vec::new(); look.keys.len()];
        key[0] = b"all".to_vec();
        rows.push((key, cells(None)));
    }
    match look.form {
        Form::Brc => brc(&rows),
        Form::Table => table(&names, &rows, look.keys.len()),
        Form::Markdown => markdown(&names, &rows, look.keys.len()),
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
type Shown = (Parts, Vec<Cell>);

fn brc(rows: &[Shown]) -> Vec<u8> {
    let row = |(key, cells): &Shown| {
        let cells = cells.iter().map(|cell| written(cell, <[u8]>::to_vec)).collect::<Vec<_>>();
        [&key.join(&b","[..])[..], &b"="[..], &cells.join(&b"/"[..])].concat()
    };
    let rows: Vec<Vec<u8>> = rows.iter().map(row).collect();
    [b"{", &rows.join(&b", "[..])[..], b"}\n"].concat()
}

/// A cell of a format that writes texts so, and nothing for nothing.
fn written(cell: &Cell, field: fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    match cell {
        Cell::Number(number) => number.clone().into_bytes(),
        Cell::Text(text) => field(text),
        Cell::Json(text) => field(text.as_bytes()),
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
    let escaped = |&byte: &u8| match byte {
        b'\t' => b"\\t".to_vec(),
        b'\n' => b"\\n".to_vec(),
        b'\r' => b"\\r".to_vec(),
        b'\\' => b"\\\\".to_vec(),
        _ => vec![byte],
    };
    text.iter().flat_map(escaped).collect()
}

fn separated(names: &[String], rows: &[Shown], by: &[u8], field: fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut lines = vec![names.iter().map(|name| field(name.as_bytes())).collect::<Vec<_>>()];
    for (key, cells) in rows {
        let cells = cells.iter().map(|cell| written(cell, field));
        lines.push(key.iter().map(|part| field(part)).chain(cells).collect());
    }
    lines.into_iter().flat_map(|line| [line.join(by), b"\n".to_vec()].concat()).collect()
}

fn json_string(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        c if (c as u32) < 32 => format!("\\u{:04x}", c as u32),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

fn object(names: &[String], (key, cells): &Shown) -> Vec<u8> {
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
            Cell::Json(text) => text.clone(),
            Cell::Nothing => "null".to_owned(),
        };
        members.push(format!("{}: {cell}", json_string(name)));
    }
    format!("{{{}}}", members.join(", ")).into_bytes()
}

/// Text without control characters, and bytes that are no characters as escapes.
fn visible(key: &[u8]) -> String {
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
}

/// Headings, then rows, texts by `shown`.
fn cells_of(names: &[String], rows: &[Shown], shown: impl Fn(&[u8]) -> String) -> Vec<Vec<String>> {
    let mut lines = vec![names.iter().map(|name| shown(name.as_bytes())).collect::<Vec<_>>()];
    for (key, cells) in rows {
        let cells = cells.iter().map(|cell| match cell {
            Cell::Number(number) => number.clone(),
            Cell::Text(text) => shown(text),
            Cell::Json(text) => shown(text.as_bytes()),
            Cell::Nothing => "-".to_owned(),
        });
        lines.push(key.iter().map(|part| shown(part)).chain(cells).collect());
    }
    lines
}

/// Places on a terminal, which are data of Unicode's.
fn length(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

fn markdown(names: &[String], rows: &[Shown], keys: usize) -> Vec<u8> {
    let special = |c: char| "\\|`*_[]<>&~".contains(c);
    let escaped = |text: &[u8]| -> String {
        let one = |c: char| if special(c) { format!("\\{c}") } else { c.to_string() };
        visible(text).chars().map(one).collect()
    };
    let mut lines = cells_of(names, rows, escaped);
    let longest = |at: usize| lines.iter().map(|line| length(&line[at])).max().unwrap_or(0).max(3);
    let widths: Vec<usize> = (0..names.len()).map(longest).collect();
    let dashes = widths.iter().enumerate().map(|(at, width)| {
        let end = if at < keys { '-' } else { ':' };
        format!("{}{end}", "-".repeat(width - 1))
    });
    lines.insert(1, dashes.collect());
    let line = |line: Vec<String>| {
        let cells = line.iter().enumerate().map(|(at, cell)| {
            // `format!` knows no width above 65,535.
            let blanks = " ".repeat(widths[at] - length(cell));
            if at < keys { format!(" {cell}{blanks} ") } else { format!(" {blanks}{cell} ") }
        });
        format!("|{}|\n", cells.collect::<Vec<_>>().join("|"))
    };
    lines.into_iter().map(line).collect::<String>().into_bytes()
}

fn table(names: &[String], rows: &[Shown], keys: usize) -> Vec<u8> {
    let lines = cells_of(names, rows, visible);
    let longest = |at: usize| lines.iter().map(|line| length(&line[at])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..names.len()).map(longest).collect();
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
