//! What is told of a key, cell by cell: statistics, and of two inputs side by side how they differ.

use std::cmp::Ordering;

use num_bigint::BigInt;

use super::{Layout, Statistic};
use crate::engine::{Column, Summary};
use crate::kept::Datum;
use crate::key::Key;
use crate::merge::{Partial, Stats};
use crate::number::{Decimal, big_power_of_ten};
use crate::rejects::SHOWN;

/// What stands in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// A statistic of a column.
    Of(usize, Statistic),
    /// How far it may be off, in percent of it: of quantiles a bound, of `distinct` the standard error.
    Error(usize, Statistic),
    /// That of the second column less that of the first.
    Change([usize; 2], Statistic),
    /// How far that may be off: the errors of both together, in the unit of the values.
    ChangeError([usize; 2], Statistic),
    /// The change in percent of the first.
    Percent([usize; 2], Statistic),
}

/// What is told of each key, with the names over it: the statistic, with the column in front if
/// there are several; behind each estimate of a sketch how far it [may be off](Layout::errors). Of columns
/// [side by side](side_by_side) both are told, and how they differ.
pub fn tellings(columns: &[Column], layout: &Layout) -> Vec<(String, Telling)> {
    let step = if layout.pairs { 2 } else { 1 };
    let mut all = Vec::new();
    let tell = |all: &mut Vec<_>, name: String, at, statistic: Statistic| {
        let error = (layout.errors && statistic.is_estimate())
            .then(|| (format!("{name}_error%"), Telling::Error(at, statistic)));
        all.push((name, Telling::Of(at, statistic)));
        all.extend(error);
    };
    for at in (0..columns.len()).step_by(step) {
        let column = &columns[at];
        for statistic in told(column, layout) {
            let name = match columns.len() == step {
                true => statistic.to_string(),
                false => format!("{}_{statistic}", column.name),
            };
            if !layout.pairs {
                tell(&mut all, name, at, statistic);
                continue;
            }
            tell(&mut all, format!("{name}_before"), at, statistic);
            tell(&mut all, format!("{name}_after"), at + 1, statistic);
            let has_change = match column.is_text {
                true => statistic.is_count() || statistic.is_share(),
                false => statistic.has_difference(),
            };
            if has_change {
                let pair = [at, at + 1];
                all.push((format!("{name}_change"), Telling::Change(pair, statistic)));
                if layout.errors && statistic.is_estimate() {
                    let telling = Telling::ChangeError(pair, statistic);
                    all.push((format!("{name}_change_error"), telling));
                }
                all.push((format!("{name}_change%"), Telling::Percent(pair, statistic)));
            }
        }
    }
    all
}

/// What is shown of a column: not all can be told of texts.
fn told<'l>(column: &Column, layout: &'l Layout) -> impl Iterator<Item = Statistic> + 'l {
    let is_text = column.is_text;
    layout.statistics.iter().copied().filter(move |told| !is_text || told.is_of_texts())
}

/// The columns of two results in pairs, each with the keys of both; a key that one does not have has
/// no record there. For a [`Layout`] of [pairs](Layout::pairs).
pub fn side_by_side(before: Vec<Column>, after: Vec<Column>) -> Vec<Column> {
    let pair = |(mut before, mut after): (Column, Column)| {
        let keys = [&before, &after].map(|column| column.groups.iter().map(|g| g.key.clone()));
        let [own, other] = keys.map(Iterator::collect::<Vec<_>>);
        complete(&mut before.groups, other);
        complete(&mut after.groups, own);
        let scale = before.scale.max(after.scale);
        (before.scale, after.scale) = (scale, scale);
        [before, after]
    };
    before.into_iter().zip(after).flat_map(pair).collect()
}

/// Two results as one, with the columns of both [side by side](side_by_side), called as the first calls them, or as the
/// second where the first knows their places alone: what has no record may have no header.
#[must_use]
pub fn compared(mut before: Summary, after: Summary) -> Summary {
    let is_empty = before.records + before.left_out + before.rejected == 0;
    // As a selector shows a place.
    let is_place = |name: &str| {
        name.strip_prefix("column ").is_some_and(|place| place.parse::<usize>().is_ok())
    };
    let own = before.columns.iter_mut().map(|column| &mut column.name);
    let other = after.columns.iter().map(|column| &column.name);
    let names = before.keys.iter_mut().zip(&after.keys).chain(own.zip(other));
    for (own, other) in names.filter(|(own, _)| is_empty && is_place(own)) {
        own.clone_from(other);
    }
    before.columns = side_by_side(before.columns, after.columns);
    before.records += after.records;
    before.blank_lines += after.blank_lines;
    before.left_out += after.left_out;
    before.rejected += after.rejected;
    before.bytes += after.bytes;
    before.shown_rejects.extend(after.shown_rejects);
    before.shown_rejects.truncate(SHOWN);
    before.ways.extend(after.ways);
    before.absent.retain(|name| after.absent.contains(name));
    before
}

/// Adds the keys that are missing, both lists being in the order of their bytes.
fn complete(groups: &mut Vec<Partial>, keys: Vec<Key>) {
    let mut all = Vec::with_capacity(groups.len().max(keys.len()));
    let mut own = std::mem::take(groups).into_iter().peekable();
    for key in keys {
        while let Some(group) = own.next_if(|group| group.key < key) {
            all.push(group);
        }
        if own.peek().is_none_or(|group| group.key != key) {
            all.push(Partial { key, stats: Stats::of_none() });
        } else {
            all.extend(own.next());
        }
    }
    all.extend(own);
    *groups = all;
}

/// A number as a fraction.
#[derive(Clone, Debug)]
pub(super) struct Ratio {
    pub(super) above: BigInt,
    /// More than zero.
    pub(super) below: BigInt,
    /// Decimals with which it ends, if that is known.
    pub(super) ends: Option<u16>,
}

impl Ratio {
    fn of(number: &Decimal) -> Ratio {
        let (above, below) = (number.to_big(), big_power_of_ten(number.scale()));
        Ratio { above, below, ends: Some(number.scale()) }
    }

    fn whole(number: u64) -> Ratio {
        Ratio { above: number.into(), below: 1.into(), ends: Some(0) }
    }

    fn minus(&self, other: &Ratio) -> Ratio {
        Ratio {
            above: &self.above * &other.below - &other.above * &self.below,
            below: &self.below * &other.below,
            ends: self.ends.zip(other.ends).map(|(own, other)| own.max(other)),
        }
    }

    /// In percent of another; None of nothing.
    fn percent_of(&self, other: &Ratio) -> Option<Ratio> {
        let zero = BigInt::from(0);
        let above: BigInt = &self.above * &other.below * 100;
        let below: BigInt = &self.below * &other.above;
        match below.cmp(&zero) {
            Ordering::Less => Some(Ratio { above: -above, below: -below, ends: None }),
            Ordering::Equal => None,
            Ordering::Greater => Some(Ratio { above, below, ends: None }),
        }
    }
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Ratio) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ratio {}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Ratio) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Ratio) -> Ordering {
        (&self.above * &other.below).cmp(&(&other.above * &self.below))
    }
}

/// A statistic of a key in a column as a fraction; None for texts, roots and what does not exist.
pub(super) fn number(column: &Column, stats: &Stats, statistic: Statistic) -> Option<Ratio> {
    let share =
        |part: Ratio, whole: fn(&Stats) -> Ratio| part.percent_of(&whole(column.total.as_deref()?));
    let of_datum = |datum: Option<Datum>| match datum? {
        Datum::Number(number) => Some(Ratio::of(&number)),
        Datum::Text(_) => None,
    };
    match statistic {
        Statistic::Count => Some(Ratio::whole(stats.count())),
        Statistic::Rows => Some(Ratio::whole(stats.rows())),
        Statistic::Distinct => stats.distinct().map(Ratio::whole),
        Statistic::Sum => Some(Ratio::of(&stats.sum())),
        Statistic::CountShare => share(Ratio::whole(stats.count()), |t| Ratio::whole(t.count())),
        Statistic::RowsShare => share(Ratio::whole(stats.rows()), |t| Ratio::whole(t.rows())),
        Statistic::SumShare => share(Ratio::of(&stats.sum()), |total| Ratio::of(&total.sum())),
        Statistic::Min => stats.min().map(|number| Ratio::of(&number)),
        Statistic::Max => stats.max().map(|number| Ratio::of(&number)),
        Statistic::Range => stats.range().map(|number| Ratio::of(&number)),
        Statistic::Quantile(quantile) => stats.quantile(quantile).map(|q| Ratio::of(&q)),
        Statistic::Mode => of_datum(stats.mode()),
        Statistic::First => of_datum(stats.first()),
        Statistic::Last => of_datum(stats.last()),
        Statistic::Mean if stats.numbers() == 0 => None,
        Statistic::Mean => {
            let sum = Ratio::of(&stats.sum());
            Some(Ratio { below: sum.below * stats.count(), ends: None, ..sum })
        }
        Statistic::Variance => {
            let (above, below) = stats.variance()?;
            let unit = big_power_of_ten(stats.scale());
            let below = BigInt::from(below) * &unit * unit;
            Some(Ratio { above: above.into(), below, ends: None })
        }
        Statistic::Stddev | Statistic::Histogram => None,
    }
}

/// What is told of the group at a place, as a fraction, where it is one.
pub(super) fn told_number(columns: &[Column], telling: Telling, place: usize) -> Option<Ratio> {
    let of =
        |at: usize, statistic| number(&columns[at], &columns[at].groups[place].stats, statistic);
    let error = |at: usize, statistic| {
        let stats = &columns[at].groups[place].stats;
        let error = match statistic {
            Statistic::Quantile(quantile) => stats.quantile_error(quantile),
            _ => stats.distinct_error(),
        };
        error.map(|error| Ratio::of(&error))
    };
    match telling {
        Telling::Of(at, statistic) => of(at, statistic),
        Telling::Error(at, statistic) => error(at, statistic),
        Telling::ChangeError(pair, statistic) => {
            // It is in percent of what is exact, which may be as much farther from zero than what is told.
            let [before, after] = pair.map(|at| {
                let (value, error) = (of(at, statistic)?, error(at, statistic)?);
                let above = BigInt::from(value.above.magnitude().clone()) * &error.above;
                let below = value.below * (error.below * 100 - error.above);
                Some(Ratio { above, below, ends: None })
            });
            Some(before?.minus(&negative(after?)))
        }
        Telling::Change([before, after], statistic) => {
            Some(of(after, statistic)?.minus(&of(before, statistic)?))
        }
        Telling::Percent([before, after], statistic) => {
            let start = of(before, statistic)?;
            let change = of(after, statistic)?.minus(&start);
            let start = if start.above < BigInt::from(0) { negative(start) } else { start };
            change.percent_of(&start)
        }
    }
}

fn negative(ratio: Ratio) -> Ratio {
    Ratio { above: -ratio.above, ..ratio }
}

/// Adds a last group to each column: its [total](Column::total), under its [key](total_key).
pub fn append_total(columns: &mut [Column], label: &str, parts: usize) {
    for column in columns {
        if let Some(stats) = column.total.as_deref().cloned() {
            column.groups.push(Partial { key: total_key(label, parts), stats });
        }
    }
}

/// The key of all keys together: its first part is `label`, the others are empty.
pub fn total_key(label: &str, parts: usize) -> Key {
    let mut key = Vec::new();
    for part in 0..parts {
        let text = if part == 0 { label.as_bytes() } else { b"" };
        crate::composite::push(&mut key, text, part + 1 == parts);
    }
    key[..].into()
}
