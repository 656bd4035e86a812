//! From exact states to text: statistics, rounding, order, and six formats.
//!
//! This is the only place where anything is rounded, and it is done on integers. A number is never
//! printed as `-0.0`. Each format is a pure function from groups to bytes.

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::io::Write as _;

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
}

/// Decimals a variance or standard deviation has beyond those of the input.
pub const SPREAD_DECIMALS: u8 = 2;

impl Default for Layout {
    fn default() -> Layout {
        Layout {
            statistics: vec![Statistic::Min, Statistic::Mean, Statistic::Max],
            decimals: None,
            rounding: Rounding::HalfUp,
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
    let scale = input_scale.max(1);
    let decimals = layout.decimals.unwrap_or(scale);
    let spread_decimals = layout.decimals.unwrap_or(scale.saturating_add(SPREAD_DECIMALS));
    let units = |units: i128| quotient(units, 1, stats.scale(), decimals, layout.rounding);
    Some(match statistic {
        Statistic::Count => stats.count().to_string(),
        Statistic::Min => units(stats.min()),
        Statistic::Max => units(stats.max()),
        Statistic::Sum => units(stats.sum()),
        Statistic::Mean => {
            quotient(stats.sum(), stats.count(), stats.scale(), decimals, layout.rounding)
        }
        Statistic::Variance => variance(stats, spread_decimals, layout.rounding)?,
        Statistic::Stddev => stddev(stats, spread_decimals, layout.rounding)?,
    })
}

/// `units / divisor / 10^scale`, rounded to `decimals`.
fn quotient(units: i128, divisor: u64, scale: u8, decimals: u8, rounding: Rounding) -> String {
    let up = power_of_ten(decimals.saturating_sub(scale));
    let down = power_of_ten(scale.saturating_sub(decimals));
    let small = units.checked_mul(up).zip(down.checked_mul(divisor.into()));
    if let Some((numerator, divisor)) = small {
        let floor = numerator.div_euclid(divisor);
        let rest = numerator.rem_euclid(divisor);
        // Twice the rest against the divisor, without doubling what may be large.
        let half = rest.cmp(&(divisor - rest));
        let carry = rounding.carry(half, rest != 0, floor & 1 == 1);
        let rounded = floor + i128::from(carry);
        return pointed(&rounded.unsigned_abs().to_string(), rounded < 0, decimals);
    }
    let divisor = BigInt::from(down) * divisor;
    big_quotient(BigInt::from(units) * up, &divisor, decimals, rounding)
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

/// The challenge's form, `{key=min/mean/max, …}` and a newline, with the layout's statistics
/// between the slashes; a statistic that does not exist is left empty.
pub fn brc(column: &Column, layout: &Layout) -> Vec<u8> {
    let scale = scale_of(column);
    let mut text = Vec::with_capacity(column.groups.len() * 32);
    text.push(b'{');
    for (i, group) in column.groups.iter().enumerate() {
        if i > 0 {
            text.extend_from_slice(b", ");
        }
        text.extend_from_slice(&group.key);
        for (j, &statistic) in layout.statistics.iter().enumerate() {
            text.push(if j == 0 { b'=' } else { b'/' });
            let shown = cell(&group.stats, statistic, scale, layout).unwrap_or_default();
            text.extend_from_slice(shown.as_bytes());
        }
    }
    text.extend_from_slice(b"}\n");
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

/// The rows of all columns side by side: columns have the same keys in the same order.
fn rows<'a>(
    columns: &'a [Column],
    layout: &'a Layout,
) -> impl Iterator<Item = (&'a [u8], Vec<Option<String>>)> + 'a {
    let scales: Vec<u8> = columns.iter().map(scale_of).collect();
    let keys = columns.first().map_or(&[][..], |column| &column.groups);
    keys.iter().enumerate().map(move |(at, group)| {
        let cells = columns.iter().zip(&scales).flat_map(|(column, &scale)| {
            let stats = &column.groups[at].stats;
            layout.statistics.iter().map(move |&s| cell(stats, s, scale, layout))
        });
        (&*group.key, cells.collect())
    })
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
    for (key, cells) in rows(columns, layout) {
        field(&mut text, key);
        for cell in cells {
            text.push(b',');
            text.extend_from_slice(cell.unwrap_or_default().as_bytes());
        }
        text.push(b'\n');
    }
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
    for (key, cells) in rows(columns, layout) {
        escaped(&mut text, key);
        for cell in cells {
            text.push(b'\t');
            text.extend_from_slice(cell.unwrap_or_default().as_bytes());
        }
        text.push(b'\n');
    }
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
    let mut text = b"[".to_vec();
    for (i, object) in objects(columns, layout).enumerate() {
        text.extend_from_slice(if i == 0 { b"\n  " } else { b",\n  " });
        text.extend_from_slice(&object);
    }
    text.extend_from_slice(b"\n]\n");
    text
}

/// The objects of [`json`], one on each line.
pub fn ndjson(columns: &[Column], layout: &Layout) -> Vec<u8> {
    let mut text = Vec::new();
    for object in objects(columns, layout) {
        text.extend_from_slice(&object);
        text.push(b'\n');
    }
    text
}

fn objects<'a>(columns: &'a [Column], layout: &'a Layout) -> impl Iterator<Item = Vec<u8>> + 'a {
    let headings = headings(columns, layout);
    rows(columns, layout).map(move |(key, cells)| {
        let mut object = String::from("{\"key\": ");
        let shown = String::from_utf8_lossy(key);
        quote(&mut object, &shown);
        if shown.as_bytes() != key {
            object.push_str(", \"key_hex\": \"");
            for byte in key {
                let _ = write!(object, "{byte:02x}");
            }
            object.push('"');
        }
        for (heading, cell) in headings.iter().zip(cells) {
            object.push_str(", ");
            quote(&mut object, heading);
            object.push_str(": ");
            object.push_str(cell.as_deref().unwrap_or("null"));
        }
        object.push('}');
        object.into_bytes()
    })
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
    let body: Vec<(String, Vec<String>)> = rows(columns, layout)
        .map(|(key, cells)| {
            let mut shown = String::new();
            for chunk in key.utf8_chunks() {
                let plain = |c: char| !c.is_control();
                for c in chunk.valid().chars() {
                    if plain(c) { shown.push(c) } else { shown.extend(c.escape_default()) }
                }
                for byte in chunk.invalid() {
                    let _ = write!(shown, "\\x{byte:02x}");
                }
            }
            let cells = cells.into_iter().map(|c| c.unwrap_or_else(|| "-".to_owned())).collect();
            (shown, cells)
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
