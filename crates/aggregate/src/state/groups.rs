//! Groups as columns of Arrow, and back.
//!
//! ```text
//! key parts │ for each value column: count, missing, min, max, sum, squares, values, first, last
//!  binary   │                         int64  int64   ───── decimal128 ─────  list   with places
//! ```

use num_bigint::BigInt;

use super::head::{ColumnHead, Head, Partition, Question};
use super::message::{Data, Field, Kind, MOST_DIGITS};
use crate::approx::Sketch;
use crate::composite;
use crate::engine::Column;
use crate::kept::{Datum, Ends, Multiset, Order};
use crate::key::Key;
use crate::merge::{Partial, Stats};
use crate::number::{Decimal, power_of_ten};
use crate::sums::Sums;

/// The columns of the schema.
pub(super) fn fields(head: &Head) -> Vec<Field> {
    let mut fields = Vec::new();
    for key in &head.keys {
        fields.push(Field::new(key, Kind::Binary, false));
    }
    for column in &head.columns {
        let prefix = match head.columns.len() {
            1 => String::new(),
            _ => format!("{}_", column.name),
        };
        let mut push = |name: &str, kind, nullable| {
            fields.push(Field::new(&format!("{prefix}{name}"), kind, nullable));
        };
        let number = |scale| if column.fits { Kind::Decimal(scale) } else { Kind::Text };
        let value = if column.is_text { Kind::Binary } else { number(column.scale) };
        push("count", Kind::Integer, false);
        push("missing", Kind::Integer, false);
        if !column.is_text {
            for name in ["min", "max", "sum"] {
                push(name, value.clone(), true);
            }
            if head.question.squares {
                push("squares", number(column.scale.saturating_mul(2)), true);
            }
        }
        let keep = head.question.keep(column.is_text);
        if keep.values {
            push("values", Kind::Counted(Box::new(value.clone())), false);
        }
        if keep.sketch {
            push("sketch", Kind::Binary, true);
        }
        if keep.ends {
            for name in ["first", "last"] {
                push(name, value.clone(), true);
                push(&format!("{name}_object"), Kind::Integer, false);
                push(&format!("{name}_byte"), Kind::Integer, false);
            }
        }
    }
    apart(&mut fields);
    fields
}

/// Numbers the names that are there more than once.
fn apart(fields: &mut [Field]) {
    for at in 1..fields.len() {
        let (before, rest) = fields.split_at_mut(at);
        let plain = rest[0].name.clone();
        let mut number = 2;
        while before.iter().any(|field| field.name == rest[0].name) {
            rest[0].name = format!("{plain}_{number}");
            number += 1;
        }
    }
}

/// Whether all numbers of a column fit decimals of 128 bits at the scale of the finest.
pub(super) fn fits(column: &Column, question: &Question) -> bool {
    let (squares, rounding) = (question.squares, question.keep(column.is_text).rounding);
    let most = power_of_ten(MOST_DIGITS).expect("128 bits hold it").unsigned_abs();
    let fits = |number: &Decimal, scale: u16| {
        number.scale() <= scale
            && number.rescaled(scale).small().is_some_and(|units| units.unsigned_abs() < most)
    };
    let squares_scale = column.scale.saturating_mul(2);
    let group_fits = |stats: &Stats| {
        let (Some(min), Some(max)) = (stats.min(), stats.max()) else { return true };
        // What is rounded may have a digit more than the values.
        let rounded = rounding.map(|approx| [&min, &max].map(|end| approx.rounded(end)));
        let mut all = [min, max, stats.sum()].into_iter().chain(rounded.into_iter().flatten());
        let in_all = all.all(|number| fits(&number, column.scale));
        let squared = || fits(&squared(stats), squares_scale);
        in_all && (!squares || squared())
    };
    column.scale <= MOST_DIGITS
        && (!squares || squares_scale <= MOST_DIGITS)
        && column.groups.iter().all(|group| group_fits(&group.stats))
}

fn squared(stats: &Stats) -> Decimal {
    let squares = stats.squares().unwrap_or_default();
    Decimal::of_big(squares, 2 * stats.scale())
}

/// Some groups, of all columns, as values of the fields.
pub(super) fn written(
    head: &Head,
    fields: &[Field],
    columns: &[Column],
    range: std::ops::Range<usize>,
) -> Vec<Data> {
    let mut data: Vec<Data> = fields.iter().map(|field| Data::new(&field.kind)).collect();
    for at in range {
        let mut places = data.iter_mut();
        let mut next = || places.next().expect("a place for each field");
        for part in composite::parts(&columns[0].groups[at].key, head.keys.len()) {
            next().push_bytes(Some(&part));
        }
        for (column, about) in columns.iter().zip(&head.columns) {
            let stats = &column.groups[at].stats;
            next().push_integer(stats.count());
            next().push_integer(stats.rows() - stats.count());
            if !about.is_text {
                next().push_number(stats.min().as_ref(), about.scale);
                next().push_number(stats.max().as_ref(), about.scale);
                let sum = (stats.count() > 0).then(|| stats.sum());
                next().push_number(sum.as_ref(), about.scale);
                if head.question.squares {
                    let squares = (stats.count() > 0).then(|| squared(stats));
                    next().push_number(squares.as_ref(), about.scale.saturating_mul(2));
                }
            }
            let keep = head.question.keep(about.is_text);
            if keep.values {
                next().push_counted(stats.values(), about.scale);
            }
            if keep.sketch {
                next().push_bytes(stats.sketch().map(Sketch::to_bytes).as_deref());
            }
            if keep.ends {
                let ends = stats.ends();
                for end in [ends.map(|ends| &ends.first), ends.map(|ends| &ends.last)] {
                    next().push_datum(end.map(|(_, datum)| datum), about.scale);
                    next().push_integer(end.map_or(0, |(order, _)| order.source as u64));
                    next().push_integer(end.map_or(0, |(order, _)| order.byte));
                }
            }
        }
    }
    data
}

impl Data {
    fn push_integer(&mut self, value: u64) {
        let Data::Integers(values) = self else { unreachable!("a field of integers") };
        values.push(value as i64);
    }

    fn push_bytes(&mut self, value: Option<&[u8]>) {
        let Data::Bytes { valid, ends, bytes } = self else { unreachable!("a field of bytes") };
        valid.push(value.is_some());
        bytes.extend_from_slice(value.unwrap_or_default());
        ends.push(bytes.len() as i64);
    }

    fn push_number(&mut self, value: Option<&Decimal>, scale: u16) {
        let Data::Decimals { valid, units } = self else {
            // Without zeros at the end: how many there are depends on what was merged with what.
            let text = value.map(Decimal::to_string);
            let short = text.as_deref().map(|text| match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.'),
                false => text,
            });
            return self.push_bytes(short.map(str::as_bytes));
        };
        valid.push(value.is_some());
        let number = value.map_or(0, |value| value.rescaled(scale).small().expect("it fits"));
        units.push(number);
    }

    fn push_datum(&mut self, value: Option<&Datum>, scale: u16) {
        match (value, &self) {
            (Some(Datum::Text(text)), _) => self.push_bytes(Some(text)),
            (Some(Datum::Number(number)), _) => self.push_number(Some(number), scale),
            (None, Data::Decimals { .. }) => self.push_number(None, scale),
            (None, _) => self.push_bytes(None),
        }
    }

    fn push_counted(&mut self, set: Option<&Multiset>, scale: u16) {
        let Data::Counted { ends, values, counts } = self else { unreachable!("a field of lists") };
        for (value, count) in set.map(Multiset::counted).unwrap_or_default() {
            values.push_datum(Some(&value), scale);
            counts.push(count as i64);
        }
        ends.push(counts.len() as i64);
    }

    fn integer(&self, at: usize) -> Option<u64> {
        let Data::Integers(values) = self else { return None };
        u64::try_from(*values.get(at)?).ok()
    }

    fn bytes(&self, at: usize) -> Option<&[u8]> {
        let Data::Bytes { ends, bytes, .. } = self else { return None };
        bytes.get(part(ends, at)?)
    }

    fn is_there(&self, at: usize) -> Option<bool> {
        match self {
            Data::Decimals { valid, .. } | Data::Bytes { valid, .. } => valid.get(at).copied(),
            Data::Integers(_) | Data::Counted { .. } => None,
        }
    }

    /// A number of no more than so many decimals.
    fn number(&self, at: usize, scale: u16) -> Option<Decimal> {
        match self {
            Data::Decimals { units, .. } => Some(Decimal::new(*units.get(at)?, scale)),
            _ => number(self.bytes(at)?).filter(|number| number.scale() <= scale),
        }
    }

    fn datum(&self, at: usize, about: &ColumnHead) -> Option<Datum> {
        match about.is_text {
            true => Some(Datum::Text(self.bytes(at)?.into())),
            false => self.number(at, about.scale).map(Datum::Number),
        }
    }

    /// Values in order, each once, with counts that add up to `count`.
    fn counted(&self, at: usize, about: &ColumnHead, count: u64) -> Option<Option<Multiset>> {
        let Data::Counted { ends, values, counts } = self else { return None };
        let (mut found, mut sum) = (Vec::<(Datum, u64)>::new(), 0_u64);
        for at in part(ends, at)? {
            let value = values.datum(at, about)?;
            let more = u64::try_from(*counts.get(at)?).ok().filter(|&more| more > 0)?;
            if found.last().is_some_and(|(last, _)| *last >= value) {
                return None;
            }
            sum = sum.checked_add(more)?;
            found.push((value, more));
        }
        (sum == count).then(|| (count > 0).then(|| Multiset::restored(found)))
    }

    /// A sketch of some of `count` values.
    fn sketch(&self, at: usize, count: u64) -> Option<Option<Sketch>> {
        (self.is_there(at)? == (count > 0)).then_some(())?;
        if count == 0 {
            return Some(None);
        }
        let sketch = Sketch::restored(self.bytes(at)?)?;
        (!sketch.is_exact() || sketch.count() <= count).then_some(Some(sketch))
    }
}

/// What ends at the place `at`.
fn part(ends: &[i64], at: usize) -> Option<std::ops::Range<usize>> {
    let start = at.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied())?;
    Some(usize::try_from(start).ok()?..usize::try_from(*ends.get(at)?).ok()?)
}

/// Reads what a decimal number is printed as, of any length.
fn number(text: &[u8]) -> Option<Decimal> {
    /// More than the squares of the longest numbers have.
    const MOST_BYTES: usize = 100_000;
    let (whole, fraction) = match memchr::memchr(b'.', text) {
        Some(point) => (&text[..point], &text[point + 1..]),
        None => (text, &text[..0]),
    };
    let digits = [whole, fraction].concat();
    let is_plain = |digits: &[u8]| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    if text.len() > MOST_BYTES || !is_plain(digits.strip_prefix(b"-").unwrap_or(&digits)) {
        return None;
    }
    Some(Decimal::of_big(BigInt::parse_bytes(&digits, 10)?, u16::try_from(fraction.len()).ok()?))
}

/// The groups of a batch of `len` rows behind those of `columns`, of the keys that are wanted. `last` is the key of the row
/// before. None if they are none.
pub(super) fn read(
    (head, wanted): (&Head, Option<Partition>),
    (len, data): (usize, &[Data]),
    last: &mut Option<Vec<u8>>,
    columns: &mut [Column],
) -> Option<()> {
    let most = head.records()?;
    let mut bytes = Vec::new();
    for at in 0..len {
        let mut places = data.iter();
        bytes.clear();
        for part in 0..head.keys.len() {
            let is_last = part + 1 == head.keys.len();
            composite::push(&mut bytes, places.next()?.bytes(at)?, is_last);
        }
        if head.partition.is_some_and(|partition| !partition.has(&bytes)) {
            return None;
        }
        if last.as_ref().is_some_and(|last| *last >= bytes) {
            return None;
        }
        bytes.clone_into(last.get_or_insert_default());
        if wanted.is_some_and(|wanted| !wanted.has(&bytes)) {
            continue;
        }
        let key = Key::from(&bytes[..]);
        for (column, about) in columns.iter_mut().zip(&head.columns) {
            let stats = stats(head, about, at, &mut places)?;
            if stats.rows() > most {
                return None;
            }
            column.groups.push(Partial { key: key.clone(), stats });
        }
    }
    Some(())
}

fn stats<'d>(
    head: &Head,
    about: &ColumnHead,
    at: usize,
    places: &mut impl Iterator<Item = &'d Data>,
) -> Option<Stats> {
    let question = &head.question;
    let keep = question.keep(about.is_text);
    let (count, missing) = (places.next()?.integer(at)?, places.next()?.integer(at)?);
    count.checked_add(missing)?;
    let mut number = |scale| {
        let data = places.next()?;
        (data.is_there(at)? == (count > 0)).then_some(())?;
        if count == 0 { Some(None) } else { data.number(at, scale).map(Some) }
    };
    let (mut sums, mut extremes) = (None, None);
    if !about.is_text {
        let (min, max, sum) = (number(about.scale)?, number(about.scale)?, number(about.scale)?);
        let squares = if question.squares { number(about.scale.saturating_mul(2))? } else { None };
        if let (Some(min), Some(max), Some(sum)) = (min, max, sum) {
            let finest = min.scale().max(max.scale()).max(sum.scale());
            let finest = finest.max(squares.as_ref().map_or(0, |s| s.scale().div_ceil(2)));
            let numbers = [min, max, sum].map(|number| number.rescaled(finest));
            let squares = squares.map(|s| s.rescaled(finest.saturating_mul(2)).to_big());
            let [min, max, _] = &numbers;
            (min <= max).then_some(())?;
            extremes = Some([min.clone(), max.clone()]);
            sums = Some(Sums::restored(numbers.each_ref(), squares));
        }
    }
    let values = if keep.values { places.next()?.counted(at, about, count)? } else { None };
    let sketch = if keep.sketch { places.next()?.sketch(at, count)? } else { None };
    let ends = if keep.ends { ends(head, about, at, count, places)? } else { None };
    if let Some([min, max]) = extremes {
        // What is written again stands between the extremes, whose size alone is looked at.
        let rounded = |number: &Decimal| keep.rounding.map(|approx| approx.rounded(number));
        let [least, most] = [&min, &max].map(|end| rounded(end).unwrap_or_else(|| end.clone()));
        let is_among = |number: &Decimal| (&min..=&max).contains(&number);
        let is_value = |number: &Decimal| (&least..=&most).contains(&number);
        let fits = |datum: &Datum, is: &dyn Fn(&Decimal) -> bool| matches!(datum, Datum::Number(n) if is(n));
        let of_ends = ends.iter().flat_map(|ends| [&ends.first.1, &ends.last.1]);
        let of_values = values.iter().filter_map(|values| values.at([0, count - 1])).flatten();
        if !of_ends.clone().all(|end| fits(end, &is_among))
            || !of_values.into_iter().all(|v| is_value(&v))
        {
            return None;
        }
    }
    Some(Stats::restored((count, missing), keep, sums, (values, sketch), ends))
}

/// The first and the last value with their places.
fn ends<'d>(
    head: &Head,
    about: &ColumnHead,
    at: usize,
    count: u64,
    places: &mut impl Iterator<Item = &'d Data>,
) -> Option<Option<Ends>> {
    let mut end = || {
        let (value, source, byte) = (places.next()?, places.next()?, places.next()?);
        let source = usize::try_from(source.integer(at)?).ok()?;
        let order = Order { source, byte: byte.integer(at)? };
        if value.is_there(at)? != (count > 0) || source >= head.objects.len().max(1) {
            return None;
        }
        Some((count > 0).then(|| Some((order, value.datum(at, about)?))))
    };
    let (first, last) = (end()?, end()?);
    Some(match first.zip(last) {
        Some((first, last)) => Some(Ends { first: first?, last: last? }),
        None => None,
    })
}
