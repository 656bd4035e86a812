//! Parts of keys as the oracle shapes them: blanks, case, and buckets by regular expressions and by
//! counting days.

use std::sync::LazyLock;

use num_bigint::BigInt;
use regex::Regex;

use super::Task;
use super::number::{self, Number, all_digits, ten_to};

/// Widths that are asked for.
pub const WIDTHS: [&str; 6] = ["1h", "15m", "1d", "1mo", "100", "0.5"];

/// A field without the blanks around it.
pub fn bare(field: &[u8]) -> Vec<u8> {
    let is_text = |byte: &u8| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c);
    let from = field.iter().position(is_text).unwrap_or(field.len());
    let until = field.iter().rposition(is_text).map_or(from, |last| last + 1);
    field[from..until].to_vec()
}

/// A part of a key, or why there is none.
pub fn shaped(field: &[u8], which: usize, task: &Task) -> Result<Vec<u8>, String> {
    let is_bucket = task.shapes.get(which).copied().flatten().is_some();
    let mut part = if task.trim || is_bucket { bare(field) } else { field.to_vec() };
    for byte in part.iter_mut().filter(|_| task.ignore_case && !is_bucket) {
        *byte = byte.to_ascii_lowercase();
    }
    let Some(width) = task.shapes.get(which).copied().flatten() else { return Ok(part) };
    if part.is_empty() || task.nulls.contains(&part) {
        return Ok(Vec::new());
    }
    match width {
        "100" | "0.5" => lower(&task.number(&part), width),
        _ if BARE_DATE.is_match(&part) && (part.len() > 4 || !width.ends_with(['s', 'm', 'h'])) => {
            Err("BareDate".to_owned())
        }
        _ => start(&part, width).ok_or_else(|| "NoTime".to_owned()),
    }
    .map(String::into_bytes)
}

/// A date, perhaps with its minute or second, or a year, of nothing but digits.
static BARE_DATE: LazyLock<regex::bytes::Regex> = LazyLock::new(|| {
    let clock = r"([01]\d|2[0-3])[0-5]\d([0-5]\d|60)?";
    let date = format!(r"(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])({clock})?");
    regex::bytes::Regex::new(&format!(r"(?-u)^(19|20)\d\d({date})?$")).unwrap()
});

/// The lower end of a bucket of numbers, with the decimals of the width.
fn lower(text: &[u8], width: &str) -> Result<String, String> {
    let number = number::read(text).map_err(|why| format!("Number({why})"))?;
    let width = number::read(width.as_bytes()).expect("a width");
    let finest = number.decimals.max(width.decimals);
    let units = &number.units * ten_to(finest - number.decimals);
    let step = &width.units * ten_to(finest - width.decimals);
    let mut times: BigInt = &units / &step;
    if &times * &step > units {
        times -= 1;
    }
    if i128::try_from(&times * &width.units).is_err() {
        return Err("NoBucket".to_owned());
    }
    let Number { units, decimals } =
        Number { units: times * &width.units, decimals: width.decimals };
    let name = all_digits(&Number { units: units.clone(), decimals });
    // With the decimals of the width, also where they are zeros.
    Ok(if decimals == 0 || name.contains('.') { name } else { format!("{name}.0") })
}

fn days_of(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && year % 100 != 0 || year % 400 == 0;
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn days_of_year(year: i64) -> i64 {
    (1..=12).map(|month| days_of(year, month)).sum()
}

/// Days from the first of 1970 to a date, year by year.
fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let years: i64 = if year >= 1970 {
        (1970..year).map(days_of_year).sum()
    } else {
        -(year..1970).map(days_of_year).sum::<i64>()
    };
    years + (1..month).map(|month| days_of(year, month)).sum::<i64>() + day - 1
}

/// The first moment of the span a time lies in.
fn start(text: &[u8], width: &str) -> Option<String> {
    let seconds = seconds(std::str::from_utf8(text).ok()?)?;
    let (mut day, mut year, mut month) = (seconds.div_euclid(86_400), 1970, 1);
    while day < 0 {
        year -= 1;
        day += days_of_year(year);
    }
    while day >= days_of_year(year) {
        day -= days_of_year(year);
        year += 1;
    }
    while day >= days_of(year, month) {
        day -= days_of(year, month);
        month += 1;
    }
    let (hour, minute) = (seconds.rem_euclid(86_400) / 3600, seconds.rem_euclid(3600) / 60);
    let date = format!("{year:04}-{month:02}-{:02}", day + 1);
    Some(match width {
        "1h" => format!("{date}T{hour:02}:00:00Z"),
        "15m" => format!("{date}T{hour:02}:{:02}:00Z", minute / 15 * 15),
        "1d" => date,
        "1mo" => date[..7].to_owned(),
        _ => unreachable!("not among the widths"),
    })
}

/// ISO 8601, common log format, and numbers.
static TIMES: LazyLock<[Regex; 3]> = LazyLock::new(|| {
    let zone = r"(?: ?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?))?";
    let clock = r"(\d\d):(\d\d)(?::(\d\d))?";
    let iso = format!(r"(?-u)^(\d{{4}})-(\d\d)-(\d\d)(?:[Tt ]{clock}(?:[.,]\d+)?{zone})?$");
    let log = format!(r"(?-u)^\[?(\d\d)/([A-Z][a-z]{{2}})/(\d{{4}}):{clock}{zone}\]?$");
    let epoch = r"(?-u)^(-?)(\d{1,15})(?:\.(\d+))?$";
    [&iso, &log, epoch].map(|pattern| Regex::new(pattern).unwrap())
});

fn seconds(text: &str) -> Option<i64> {
    let [iso, log, epoch] = &*TIMES;
    let number = |found: &regex::Captures<'_>, at: usize| -> i64 {
        found.get(at).map_or(0, |digits| digits.as_str().parse().unwrap())
    };
    let (found, date) = if let Some(found) = iso.captures(text) {
        let date = [1, 2, 3].map(|at| number(&found, at));
        (found, date)
    } else if let Some(found) = log.captures(text) {
        if text.starts_with('[') != text.ends_with(']') {
            return None;
        }
        let months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec";
        let month = months.split(' ').position(|month| month == &found[2])? as i64 + 1;
        let date = [number(&found, 3), month, number(&found, 1)];
        (found, date)
    } else {
        let found = epoch.captures(text)?;
        let (value, digits) = (number(&found, 2), found[2].len());
        let per_second = if digits > 11 { 1000 } else { 1 };
        let rest = found.get(3).is_some_and(|rest| rest.as_str().contains(|c| c != '0'));
        let value = if found[1].is_empty() { value } else { -value - i64::from(rest) };
        let second = value.div_euclid(per_second);
        let in_range =
            (day_number(0, 1, 1)..day_number(10_000, 1, 1)).contains(&second.div_euclid(86_400));
        return in_range.then_some(second);
    };
    let [year, month, day] = date;
    let fits = (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
    let [hour, minute, second] = [4, 5, 6].map(|at| number(&found, at));
    let [east, north] = [8, 9].map(|at| number(&found, at));
    let fits = fits && hour < 24 && minute < 60 && second <= 60 && east < 24 && north < 60;
    let offset = (east * 60 + north) * 60;
    let offset =
        if found.get(7).is_some_and(|sign| sign.as_str() == "-") { -offset } else { offset };
    let day = fits.then(|| day_number(year, month, day))?;
    Some(day * 86_400 + hour * 3600 + minute * 60 + second - offset)
}
