//! From exact states to text: statistics, rounding, order, and six formats.
//!
//! This is the only place where anything is rounded, and it is done on integers. A number is never
//! printed as `-0.0`. Each format is a pure function from groups to bytes; of many groups each thread
//! writes a part.

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;

use num_bigint::{BigInt, BigUint, Sign};

use crate::engine::Column;
use crate::merge::{Partial, Stats};
use crate::number::{Rounding, power_of_ten};

/// What can be said about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The smallest value.
    Min,
    /// The exact sum divided by the count.
    Mean,
    /// The largest value.
    Max,
    /// How many values.
    Count,
    /// The exact sum.
    Sum,
    /// The sample variance, `Σ(x - mean)² / (n - 1)`; nothing for a single value.
    Variance,
    /// The square root of the sample variance.
    Stddev,
}

impl Statistic {
    /// All of them, in the order users list them.
    pub const ALL: [Statistic; 7] = [
        Statistic::Min,
        Statistic::Mean,
        Statistic::Max,
        Statistic::Count,
        Statistic::Sum,
        Statistic::Variance,
        Statistic::Stddev,
    ];

    /// The word users write.
    pub fn name(self) -> &'static str {
        match self {
            Statistic::Min => "min",
            Statistic::Mean => "mean",
            Statistic::Max => "max",
            Statistic::Count => "count",
            Statistic::Sum => "sum",
            Statistic::Variance => "variance",
            Statistic::Stddev => "stddev",
        }
    }

    /// Whether [`Options::with_squares`](crate::Options::with_squares) must have been set.
    pub fn needs_squares(self) -> bool {
        matches!(self, Statistic::Variance | Statistic::Stddev)
    }
}

/// How numbers are shown.
#[derive(Clone, Debug)]
pub struct Layout {
    /// What is shown of each key.
    pub statistics: Vec<Statistic>,
    /// Digits after the decimal point, at most 18; by default the finest scale of the input and at
    /// least one, and [`SPREAD_DECIMALS`] more for variance and standard deviation.
    pub decimals: Option<u8>,
    /// What becomes of the digits after those.
    pub rounding: Rounding,
    /// Threads that write many groups, at least one; the text does not depend on it.
    pub threads: usize,
}

/// Groups for which another thread is worth its start.
const GROUPS_PER_THREAD: usize = 4096;

/// Decimals a variance or standard deviation has beyond those of the input.
pub const SPREAD_DECIMALS: u8 = 2;

impl Default for Layout {
    fn default() -> Layout {
        Layout {
            statistics: vec![Statistic::Min, Statistic::Mean, Statistic::Max],
            decimals: None,
            rounding: Rounding::HalfUp,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// What is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// The bytes of the key, ascending.
    Key,
    /// A statistic, largest first; equal ones by key.
    By(Statistic),
}

/// Sorts all columns the same way, by the key or by a statistic of the first column, and keeps the
/// first `top` groups of each.
pub fn arrange(columns: &mut [Column], sort: Sort, reverse: bool, top: Option<usize>) {
    let Some(first) = columns.first() else { return };
    if sort == Sort::Key && !reverse {
        // They come so.
        let top = top.unwrap_or(usize::MAX);
        columns.iter_mut().for_each(|column| column.groups.truncate(top));
        return;
    }
    let mut order: Vec<u32> = (0..first.groups.len() as u32).collect();
    if let Sort::By(statistic) = sort {
        // Groups come sorted by key and the sort is stable, so that equal ones stay in key order.
        order.sort_by(|&a, &b| {
            let (a, b) = (&first.groups[a as usize].stats, &first.groups[b as usize].stats);
            let largest_first = compare(b, a, statistic);
            if reverse { largest_first.reverse() } else { largest_first }
        });
    } else if reverse {
        order.reverse();
    }
    order.truncate(top.unwrap_or(usize::MAX));
    for column in columns {
        let mut groups: Vec<Option<Partial>> =
            std::mem::take(&mut column.groups).into_iter().map(Some).collect();
        column.groups = order.iter().filter_map(|&at| groups[at as usize].take()).collect();
    }
}

fn compare(a: &Stats, b: &Stats, statistic: Statistic) -> Ordering {
    match statistic {
        Statistic::Count => a.count().cmp(&b.count()),
        Statistic::Min => scaled(a.min(), a, 1, b).cmp(&scaled(b.min(), b, 1, a)),
        Statistic::Max => scaled(a.max(), a, 1, b).cmp(&scaled(b.max(), b, 1, a)),
        Statistic::Sum => scaled(a.sum(), a, 1, b).cmp(&scaled(b.sum(), b, 1, a)),
        Statistic::Mean => scaled(a.sum(), a, b.count(), b).cmp(&scaled(b.sum(), b, a.count(), a)),
        Statistic::Variance | Statistic::Stddev => match (a.variance(), b.variance()) {
            (Some((an, ad)), Some((bn, bd))) => {
                let finer = |own: &Stats, other: &Stats| {
                    BigUint::from(10_u32)
                        .pow(2 * u32::from(other.scale().saturating_sub(own.scale())))
                };
                (an * bd * finer(a, b)).cmp(&(bn * ad * finer(b, a)))
            }
            (a, b) => a.is_some().cmp(&b.is_some()),
        },
    }
}

/// `units * factor` of `own` at the finer scale of both; an integer of any size, ordered.
fn scaled(units: i128, own: &Stats, factor: u64, other: &Stats) -> Scaled {
    let finer = power_of_ten(other.scale().saturating_sub(own.scale()));
    match finer.checked_mul(factor.into()).and_then(|f| f.checked_mul(units)) {
        Some(small) => Scaled::Small(small),
        None => Scaled::Big(BigInt::from(units) * finer * factor),
    }
}

enum Scaled {
    Small(i128),
    Big(BigInt),
}

impl Scaled {
    fn cmp(&self, other: &Scaled) -> Ordering {
        match (self, other) {
            (Scaled::Small(a), Scaled::Small(b)) => a.cmp(b),
            (Scaled::Small(a), Scaled::Big(b)) => BigInt::from(*a).cmp(b),
            (Scaled::Big(a), Scaled::Small(b)) => a.cmp(&BigInt::from(*b)),
            (Scaled::Big(a), Scaled::Big(b)) => a.cmp(b),
        }
    }
}

/// One statistic of one key as text; None where it does not exist (the variance of one value).
///
/// `input_scale` is the finest scale of the input.
pub fn cell(
    stats: &Stats,
    statistic: Statistic,
    input_scale: u8,
    layout: &Layout,
) -> Option<String> {
    let mut text = Vec::new();
    let exists = write_cell(&mut text, stats, statistic, input_scale, layout);
    exists.then(|| String::from_utf8(text).expect("numbers are ASCII"))
}

/// Appends one statistic of one key; false, and nothing, where it does not exist.
fn write_cell(
    text: &mut Vec<u8>,
    stats: &Stats,
    statistic: Statistic,
    input_scale: u8,
    layout: &Layout,
) -> bool {
    let scale = input_scale.max(1);
    let decimals = layout.decimals.unwrap_or(scale);
    let spread_decimals = layout.decimals.unwrap_or(scale.saturating_add(SPREAD_DECIMALS));
    let mut units =
        |units, divisor| quotient(text, units, divisor, stats.scale(), decimals, layout.rounding);
    match statistic {
        Statistic::Count => digits(text, stats.count().into()),
        Statistic::Min => units(stats.min(), 1),
        Statistic::Max => units(stats.max(), 1),
        Statistic::Sum => units(stats.sum(), 1),
        Statistic::Mean => units(stats.sum(), stats.count()),
        Statistic::Variance | Statistic::Stddev => {
            let spread = if statistic == Statistic::Variance { variance } else { stddev };
            let Some(shown) = spread(stats, spread_decimals, layout.rounding) else { return false };
            text.extend_from_slice(shown.as_bytes());
        }
    }
    true
}

/// Appends `units / divisor / 10^scale`, rounded to `decimals`.
fn quotient(
    text: &mut Vec<u8>,
    units: i128,
    divisor: u64,
    scale: u8,
    decimals: u8,
    rounding: Rounding,
) {
    let up = power_of_ten(decimals.saturating_sub(scale));
    let down = power_of_ten(scale.saturating_sub(decimals));
    let Some((numerator, divisor)) = units.checked_mul(up).zip(down.checked_mul(divisor.into()))
    else {
        let divisor = BigInt::from(down) * divisor;
        let shown = big_quotient(BigInt::from(units) * up, &divisor, decimals, rounding);
        text.extend_from_slice(shown.as_bytes());
        return;
    };
    // Dividing 64 bits is an instruction, dividing 128 a function.
    let small = i64::try_from(numerator).ok().zip(i64::try_from(divisor).ok());
    let (floor, rest) = match small {
        Some((n, d)) => (n.div_euclid(d).into(), n.rem_euclid(d).into()),
        None => (numerator.div_euclid(divisor), numerator.rem_euclid(divisor)),
    };
    // Twice the rest against the divisor, without doubling what may be large.
    let half = rest.cmp(&(divisor - rest));
    let carry = rounding.carry(half, rest != 0, floor & 1 == 1);
    let rounded: i128 = floor + i128::from(carry);
    if rounded < 0 {
        text.push(b'-');
    }
    let magnitude = rounded.unsigned_abs();
    if decimals == 0 {
        return digits(text, magnitude);
    }
    let one = power_of_ten(decimals).unsigned_abs();
    let (whole, part) = match (u64::try_from(magnitude), u64::try_from(one)) {
        (Ok(magnitude), Ok(one)) => ((magnitude / one).into(), (magnitude % one).into()),
        _ => (magnitude / one, magnitude % one),
    };
    digits(text, whole);
    text.push(b'.');
    // A leading one keeps the zeros behind the point.
    let start = text.len();
    digits(text, one + part);
    text.remove(start);
}

/// Appends an integer.
fn digits(text: &mut Vec<u8>, number: u128) {
    let Ok(mut number) = u64::try_from(number) else {
        let _ = write!(text, "{number}");
        return;
    };
    let mut shown = [0; 20];
    let mut at = shown.len();
    loop {
        at -= 1;
        shown[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.extend_from_slice(&shown[at..]);
}

fn big_quotient(numerator: BigInt, divisor: &BigInt, decimals: u8, rounding: Rounding) -> String {
    let mut floor = &numerator / divisor;
    let mut rest = numerator - &floor * divisor;
    if rest.sign() == Sign::Minus {
        floor -= 1;
        rest += divisor;
    }
    let half = (&rest * 2_i32).cmp(divisor);
    let carry = rounding.carry(half, rest.sign() != Sign::NoSign, floor.bit(0));
    floor += carry;
    pointed(&floor.magnitude().to_string(), floor.sign() == Sign::Minus, decimals)
}

fn variance(stats: &Stats, decimals: u8, rounding: Rounding) -> Option<String> {
    let (numerator, divisor) = stats.variance()?;
    let numerator = BigInt::from(numerator) * BigInt::from(10_u32).pow(decimals.into());
    let divisor = BigInt::from(divisor) * BigInt::from(10_u32).pow(2 * u32::from(stats.scale()));
    Some(big_quotient(numerator, &divisor, decimals, rounding))
}

fn stddev(stats: &Stats, decimals: u8, rounding: Rounding) -> Option<String> {
    let (numerator, divisor) = stats.variance()?;
    let numerator = numerator * BigUint::from(10_u32).pow(2 * u32::from(decimals));
    let divisor = divisor * BigUint::from(10_u32).pow(2 * u32::from(stats.scale()));
    // The floor of the root of a fraction is the root of its floor. Whether a root lies below,
    // on or above the middle of two integers is decided on squares.
    let floor = (&numerator / &divisor).sqrt();
    let rest = &floor * &floor * &divisor != numerator;
    let odd = &floor * 2_u32 + 1_u32;
    let half = (&numerator * 4_u32).cmp(&(&odd * &odd * &divisor));
    let carry = rounding.carry(half, rest, floor.bit(0));
    Some(pointed(&(floor + carry).to_string(), false, decimals))
}

/// Digits with a sign and a decimal point before the last `decimals` of them.
fn pointed(digits: &str, negative: bool, decimals: u8) -> String {
    let decimals = usize::from(decimals);
    let mut text = String::with_capacity(digits.len() + 4);
    if negative {
        text.push('-');
    }
    let whole = digits.len().saturating_sub(decimals);
    text.push_str(if whole == 0 { "0" } else { &digits[..whole] });
    if decimals > 0 {
        text.push('.');
        text.extend(std::iter::repeat_n('0', decimals.saturating_sub(digits.len())));
        text.push_str(&digits[whole..]);
    }
    text
}

/// The finest scale of a column.
fn scale_of(column: &Column) -> u8 {
    column.groups.iter().map(|group| group.stats.scale()).max().unwrap_or(1)
}

/// What `write` appends for all of `groups` groups; of many, each thread has its range.
fn in_parts(
    groups: usize,
    layout: &Layout,
    write: impl Fn(Range<usize>, &mut Vec<u8>) + Sync,
) -> Vec<u8> {
    const BYTES_PER_GROUP: usize = 40;
    let parts = layout.threads.min(groups / GROUPS_PER_THREAD).max(1);
    let range = |part: usize| groups * part / parts..groups * (part + 1) / parts;
    let write = &write;
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..parts)
            .map(|part| {
                scope.spawn(move || {
                    let mut text = Vec::with_capacity(range(part).len() * BYTES_PER_GROUP);
                    write(range(part), &mut text);
                    text
                })
            })
            .collect();
        // Room for all, so that the others' text is copied once; what is not used is not touched.
        let mut text = Vec::with_capacity(groups * BYTES_PER_GROUP);
        write(range(0), &mut text);
        for other in others {
            let part = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            text.extend_from_slice(&part);
        }
        text
    })
}

/// The challenge's form, `{key=min/mean/max, …}` and a newline, with the layout's statistics
/// between the slashes; a statistic that does not exist is left empty.
pub fn brc(column: &Column, layout: &Layout) -> Vec<u8> {
    let scale = scale_of(column);
    let last = column.groups.len();
    let mut text = in_parts(last, layout, |range, text| {
        for at in range {
            let group = &column.groups[at];
            text.extend_from_slice(if at == 0 { b"{" } else { b", " });
            text.extend_from_slice(&group.key);
            for (j, &statistic) in layout.statistics.iter().enumerate() {
                text.push(if j == 0 { b'=' } else { b'/' });
                write_cell(text, &group.stats, statistic, scale, layout);
            }
        }
    });
    text.extend_from_slice(if last == 0 { b"{}\n" } else { b"}\n" });
    text
}

/// The names over the numbers: the statistic, with the column in front if there are several.
fn headings(columns: &[Column], layout: &Layout) -> Vec<String> {
    let named = columns.len() > 1;
    columns
        .iter()
        .flat_map(|column| {
            layout.statistics.iter().map(move |statistic| match named {
                true => format!("{}_{}", column.name, statistic.name()),
                false => statistic.name().to_owned(),
            })
        })
        .collect()
}

/// Calls `write` for every key with its place and its columns' cells: columns have the same keys in
/// the same order.
fn by_rows(
    columns: &[Column],
    layout: &Layout,
    write: impl Fn(&mut Vec<u8>, usize, &[u8], &Cells<'_>) + Sync,
) -> Vec<u8> {
    let scales: Vec<u8> = columns.iter().map(scale_of).collect();
    let keys = columns.first().map_or(&[][..], |column| &column.groups);
    in_parts(keys.len(), layout, |range, text| {
        for at in range {
            write(text, at, &keys[at].key, &Cells { columns, scales: &scales, layout, at });
        }
    })
}

/// The numbers of one key.
struct Cells<'a> {
    columns: &'a [Column],
    scales: &'a [u8],
    layout: &'a Layout,
    at: usize,
}

impl Cells<'_> {
    /// Appends each with something before it, and `none` for what does not exist.
    fn write(&self, text: &mut Vec<u8>, mut before: impl FnMut(&mut Vec<u8>, usize), none: &[u8]) {
        let mut i = 0;
        for (column, &scale) in self.columns.iter().zip(self.scales) {
            for &statistic in &self.layout.statistics {
                before(text, i);
                let stats = &column.groups[self.at].stats;
                if !write_cell(text, stats, statistic, scale, self.layout) {
                    text.extend_from_slice(none);
                }
                i += 1;
            }
        }
    }
}

/// Comma-separated values with a header, quoted as RFC 4180 says, lines ended by LF.
pub fn csv(columns: &[Column], layout: &Layout) -> Vec<u8> {
    let mut text = Vec::new();
    field(&mut text, b"key");
    for heading in headings(columns, layout) {
        text.push(b',');
        field(&mut text, heading.as_bytes());
    }
    text.push(b'\n');
    text.extend(by_rows(columns, layout, |text, _, key, cells| {
        field(text, key);
        cells.write(text, |text, _| text.push(b','), b"");
        text.push(b'\n');
    }));
    text
}

fn field(text: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.iter().any(|byte| matches!(byte, b',' | b'"' | b'\r' | b'\n')) {
        text.push(b'"');
        for &byte in bytes {
            text.extend(std::iter::repeat_n(byte, if byte == b'"' { 2 } else { 1 }));
        }
        text.push(b'"');
    } else {
        text.extend_from_slice(bytes);
    }
}

/// Tab-separated values with a header; tab, line feed, carriage return and backslash in a key are
/// written `\t`, `\n`, `\r` and `\\`.
pub fn tsv(columns: &[Column], layout: &Layout) -> Vec<u8> {
    let mut text = b"key".to_vec();
    for heading in headings(columns, layout) {
        text.push(b'\t');
        escaped(&mut text, heading.as_bytes());
    }
    text.push(b'\n');
    text.extend(by_rows(columns, layout, |text, _, key, cells| {
        escaped(text, key);
        cells.write(text, |text, _| text.push(b'\t'), b"");
        text.push(b'\n');
    }));
    text
}

fn escaped(text: &mut Vec<u8>, bytes: &[u8]) {
    for &byte in bytes {
        match byte {
            b'\t' => text.extend_from_slice(b"\\t"),
            b'\n' => text.extend_from_slice(b"\\n"),
            b'\r' => text.extend_from_slice(b"\\r"),
            b'\\' => text.extend_from_slice(b"\\\\"),
            _ => text.push(byte),
        }
    }
}

/// A JSON array with one object per key. Numbers are JSON numbers with all their digits; what does
/// not exist is null. A key that is not UTF-8 is shown with replacement characters and given
/// exactly in a member `key_hex`.
pub fn json(columns: &[Column], layout: &Layout) -> Vec<u8> {
    let headings = quoted_headings(columns, layout);
    let mut text = b"[".to_vec();
    text.extend(by_rows(columns, layout, |text, at, key, cells| {
        text.extend_from_slice(if at == 0 { b"\n  " } else { b",\n  " });
        object(text, key, cells, &headings);
    }));
    text.extend_from_slice(b"\n]\n");
    text
}

/// The objects of [`json`], one on each line.
pub fn ndjson(columns: &[Column], layout: &Layout) -> Vec<u8> {
    let headings = quoted_headings(columns, layout);
    by_rows(columns, layout, |text, _, key, cells| {
        object(text, key, cells, &headings);
        text.push(b'\n');
    })
}

fn quoted_headings(columns: &[Column], layout: &Layout) -> Vec<String> {
    let quoted = |heading: String| {
        let mut text = String::new();
        quote(&mut text, &heading);
        text
    };
    headings(columns, layout).into_iter().map(quoted).collect()
}

fn object(text: &mut Vec<u8>, key: &[u8], cells: &Cells<'_>, headings: &[String]) {
    text.extend_from_slice(b"{\"key\": ");
    let shown = String::from_utf8_lossy(key);
    let mut quoted = String::with_capacity(key.len() + 2);
    quote(&mut quoted, &shown);
    text.extend_from_slice(quoted.as_bytes());
    if shown.as_bytes() != key {
        text.extend_from_slice(b", \"key_hex\": \"");
        for byte in key {
            let _ = write!(text, "{byte:02x}");
        }
        text.push(b'"');
    }
    let before = |text: &mut Vec<u8>, i: usize| {
        text.extend_from_slice(b", ");
        text.extend_from_slice(headings[i].as_bytes());
        text.extend_from_slice(b": ");
    };
    cells.write(text, before, b"null");
    text.push(b'}');
}

/// A JSON string.
fn quote(text: &mut String, content: &str) {
    text.push('"');
    for c in content.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\u{0}'..='\u{1f}' => {
                let _ = write!(text, "\\u{:04x}", c as u32);
            }
            _ => text.push(c),
        }
    }
    text.push('"');
}

/// A table for people: keys to the left, numbers to the right, columns as wide as they must be.
pub fn table(columns: &[Column], layout: &Layout) -> Vec<u8> {
    let headings = headings(columns, layout);
    let scales: Vec<u8> = columns.iter().map(scale_of).collect();
    let keys = columns.first().map_or(&[][..], |column| &column.groups);
    let body: Vec<(String, Vec<String>)> = keys
        .iter()
        .enumerate()
        .map(|(at, group)| {
            let mut shown = String::new();
            for chunk in group.key.utf8_chunks() {
                let plain = |c: char| !c.is_control();
                for c in chunk.valid().chars() {
                    if plain(c) { shown.push(c) } else { shown.extend(c.escape_default()) }
                }
                for byte in chunk.invalid() {
                    let _ = write!(shown, "\\x{byte:02x}");
                }
            }
            let cells = columns.iter().zip(&scales).flat_map(|(column, &scale)| {
                let stats = &column.groups[at].stats;
                layout.statistics.iter().map(move |&s| cell(stats, s, scale, layout))
            });
            (shown, cells.map(|cell| cell.unwrap_or_else(|| "-".to_owned())).collect())
        })
        .collect();
    let width = |text: &str| text.chars().count();
    let key_width = body.iter().map(|(key, _)| width(key)).max().unwrap_or(0).max(3);
    let widths: Vec<usize> = headings
        .iter()
        .enumerate()
        .map(|(i, heading)| {
            body.iter().map(|(_, cells)| cells[i].len()).max().unwrap_or(0).max(width(heading))
        })
        .collect();
    let mut text = Vec::new();
    let mut line = |key: &str, cells: &[String]| {
        let _ = write!(text, "{key:<key_width$}");
        for (cell, &width) in cells.iter().zip(&widths) {
            let _ = write!(text, "  {cell:>width$}");
        }
        text.push(b'\n');
    };
    line("key", &headings);
    for (key, cells) in &body {
        line(key, cells);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Decimal;

    fn stats(texts: &[&str]) -> Stats {
        let number = |text: &str| Decimal::parse(text.as_bytes()).unwrap();
        let mut all = Stats::of(number(texts[0]), true);
        for text in &texts[1..] {
            all.add(number(text)).unwrap();
        }
        all
    }

    fn shown(
        texts: &[&str],
        statistic: Statistic,
        decimals: Option<u8>,
        rounding: Rounding,
    ) -> String {
        let stats = stats(texts);
        let layout = Layout { decimals, rounding, ..Layout::default() };
        cell(&stats, statistic, stats.scale(), &layout).unwrap()
    }

    #[test]
    fn the_three_roundings_differ_where_they_should() {
        use Rounding::{Ceiling, HalfEven, HalfUp};
        for (values, half_up, ceiling, half_even) in [
            (&["0.1", "0.2"][..], "0.2", "0.2", "0.2"),
            (&["0.2", "0.3"], "0.3", "0.3", "0.2"),
            (&["-0.1", "-0.2"], "-0.1", "-0.1", "-0.2"),
            (&["-0.2", "-0.3"], "-0.2", "-0.2", "-0.2"),
            (&["0.1", "0.0", "0.0"], "0.0", "0.1", "0.0"),
            (&["-0.1", "0.0", "0.0"], "0.0", "0.0", "0.0"),
            (&["-0.1", "0.0"], "0.0", "0.0", "0.0"),
            (&["-9.9", "-9.8", "-9.8"], "-9.8", "-9.8", "-9.8"),
        ] {
            for (rounding, expected) in
                [(HalfUp, half_up), (Ceiling, ceiling), (HalfEven, half_even)]
            {
                let mean = shown(values, Statistic::Mean, None, rounding);
                assert_eq!(mean, expected, "{values:?} {rounding}");
            }
        }
    }

    #[test]
    fn decimals_pad_and_round() {
        let values = &["12.345", "-0.004"];
        for (decimals, min, max, sum) in [
            (0, "0", "12", "12"),
            (1, "0.0", "12.3", "12.3"),
            (5, "-0.00400", "12.34500", "12.34100"),
        ] {
            let show = |s| shown(values, s, Some(decimals), Rounding::HalfUp);
            assert_eq!(show(Statistic::Min), min);
            assert_eq!(show(Statistic::Max), max);
            assert_eq!(show(Statistic::Sum), sum);
        }
        assert_eq!(shown(&["7"], Statistic::Mean, None, Rounding::HalfUp), "7.0");
    }

    #[test]
    fn numbers_beyond_128_bits_take_the_long_way_to_the_same_digits() {
        let values = vec!["999999999999999999"; 3];
        let mean = shown(&values, Statistic::Mean, Some(18), Rounding::HalfUp);
        assert_eq!(mean, "999999999999999999.000000000000000000");
        let mean = shown(
            &["0.000000000000000001", "999999999999999999"],
            Statistic::Mean,
            Some(18),
            Rounding::HalfEven,
        );
        assert_eq!(mean, "499999999999999999.500000000000000000");
    }

    #[test]
    fn spread_is_rounded_from_exact_fractions() {
        let values = &["2", "4", "4", "4", "5", "5", "7", "9"];
        assert_eq!(shown(values, Statistic::Variance, Some(6), Rounding::HalfUp), "4.571429");
        assert_eq!(shown(values, Statistic::Stddev, Some(6), Rounding::HalfUp), "2.138090");
        assert_eq!(shown(values, Statistic::Stddev, Some(6), Rounding::Ceiling), "2.138090");
        assert_eq!(shown(&["1", "3"], Statistic::Stddev, Some(3), Rounding::HalfUp), "1.414");
        assert_eq!(shown(&["1", "3"], Statistic::Stddev, Some(3), Rounding::Ceiling), "1.415");
        assert_eq!(shown(&["0", "1.0"], Statistic::Variance, None, Rounding::HalfUp), "0.500");
        let layout = Layout::default();
        assert_eq!(cell(&stats(&["1"]), Statistic::Stddev, 1, &layout), None);
    }

    fn column(name: &str, groups: &[(&[u8], &[&str])]) -> Column {
        let groups = groups
            .iter()
            .map(|(key, values)| Partial { key: (*key).into(), stats: stats(values) })
            .collect();
        Column { name: name.to_owned(), groups }
    }

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn each_format_escapes_what_it_must() {
        let columns = [column(
            "value",
            &[(b"a,\"b\"", &["1"]), (b"c\td\\", &["-2.5"]), (b"e\xff\x01", &["3"])],
        )];
        let layout =
            Layout { statistics: vec![Statistic::Max, Statistic::Stddev], ..Layout::default() };
        assert_eq!(
            String::from_utf8_lossy(&csv(&columns, &layout)),
            "key,max,stddev\n\"a,\"\"b\"\"\",1.0,\nc\td\\,-2.5,\ne\u{fffd}\u{1},3.0,\n"
        );
        assert_eq!(
            String::from_utf8_lossy(&tsv(&columns, &layout)),
            "key\tmax\tstddev\na,\"b\"\t1.0\t\nc\\td\\\\\t-2.5\t\ne\u{fffd}\u{1}\t3.0\t\n"
        );
        assert_eq!(
            text(ndjson(&columns, &layout)),
            "{\"key\": \"a,\\\"b\\\"\", \"max\": 1.0, \"stddev\": null}\n\
             {\"key\": \"c\\u0009d\\\\\", \"max\": -2.5, \"stddev\": null}\n\
             {\"key\": \"e\u{fffd}\\u0001\", \"key_hex\": \"65ff01\", \"max\": 3.0, \"stddev\": null}\n"
        );
        assert_eq!(
            text(table(&columns, &layout)),
            "key          max  stddev\na,\"b\"        1.0       -\nc\\td\\       -2.5       -\n\
             e\\xff\\u{1}   3.0       -\n"
        );
        assert!(text(json(&columns, &layout)).starts_with("[\n  {\"key\": "));
    }

    #[test]
    fn several_columns_share_the_order_and_name_their_numbers() {
        let mut columns = [
            column("t", &[(b"a", &["1"]), (b"b", &["3"]), (b"c", &["2"])]),
            column("h", &[(b"a", &["10"]), (b"b", &["30"]), (b"c", &["20.25"])]),
        ];
        arrange(&mut columns, Sort::By(Statistic::Max), false, Some(2));
        let layout = Layout { statistics: vec![Statistic::Max], ..Layout::default() };
        assert_eq!(text(csv(&columns, &layout)), "key,t_max,h_max\nb,3.0,30.00\nc,2.0,20.25\n");
    }

    #[test]
    fn sorting_by_mean_compares_fractions_of_different_scales() {
        let mut columns = [column(
            "value",
            &[(b"a", &["1", "2"]), (b"b", &["1.50001"]), (b"c", &["1.5"]), (b"d", &["-7"])],
        )];
        arrange(&mut columns, Sort::By(Statistic::Mean), false, None);
        let keys: Vec<&[u8]> = columns[0].groups.iter().map(|g| &*g.key).collect();
        assert_eq!(keys, [b"b", b"a", b"c", b"d"]);
        arrange(&mut columns, Sort::By(Statistic::Mean), true, Some(1));
        assert_eq!(&*columns[0].groups[0].key, b"d");
    }
}
