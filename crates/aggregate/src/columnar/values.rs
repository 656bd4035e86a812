//! A column's statistics, group by group: integers at one scale while all fit, exact states beside them.
//!
//! The scale grows when a value needs it; what was added up before is then put aside as exact
//! states, which merge at the finest scale. A floating-point number `v` has the shortest decimal
//! `k / 10^scale` if that division gives `v` and `k` has at most 15 digits: so few digits tell all
//! doubles apart, hence no shorter decimal and no other of this length gives the same `v`.

use std::ops::Range;

use super::batch::{Numbers, Valid};
use super::fault::Fault;
use super::keys::{Groups, NONE};
use crate::delimited::Null;
use crate::error::Reason;
use crate::kept::{Given, Order};
use crate::merge::{Keep, Partial, Stats};
use crate::number::{Decimal, NumberError};

/// The finest scale that is tried for all of a column.
const MOST_SCALE: u16 = 12;
/// Numbers below this have a square whose sum over [`MOST_ROWS`] rows fits 128 bits.
const MOST_UNITS: i64 = 1 << 53;
const MOST_ROWS: u64 = 1 << 21;
/// Doubles, and single-precision numbers, are told apart by this many digits.
const MOST_F64: f64 = 1e15;
const MOST_F32: f64 = 1e6;

/// The statistics of a thread's groups.
#[derive(Debug)]
pub(super) struct Values {
    keep: Keep,
    scale: u16,
    hot: Vec<Hot>,
    squares: Vec<u128>,
    /// What does not fit those.
    exact: Vec<Option<Box<Stats>>>,
    rows: u64,
}

/// A group's numbers at the column's scale.
#[derive(Clone, Copy, Debug)]
struct Hot {
    count: u64,
    missing: u64,
    sum: i128,
    min: i64,
    max: i64,
}

const EMPTY: Hot = Hot { count: 0, missing: 0, sum: 0, min: i64::MAX, max: i64::MIN };

/// A number as it stands in an array.
trait Number: Copy {
    /// In units of `10^-scale`, if few digits suffice.
    fn units(self, scale: u16) -> Option<i64>;
    /// Exactly.
    fn decimal(self) -> Decimal;
}

impl Number for i128 {
    #[inline]
    fn units(self, scale: u16) -> Option<i64> {
        let units = i64::try_from(crate::number::scaled(self, scale)?).ok()?;
        (-MOST_UNITS..MOST_UNITS).contains(&units).then_some(units)
    }

    fn decimal(self) -> Decimal {
        Decimal::new(self, 0)
    }
}

/// Units of a scale of their own.
#[derive(Clone, Copy)]
struct Fixed(i128, u16);

impl Number for Fixed {
    #[inline]
    fn units(self, scale: u16) -> Option<i64> {
        self.0.units(scale.checked_sub(self.1)?)
    }

    fn decimal(self) -> Decimal {
        Decimal::new(self.0, self.1)
    }
}

const POWERS: [f64; MOST_SCALE as usize + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12];

fn shortest(text: &str) -> Decimal {
    Decimal::parse(text.as_bytes()).expect("a finite number is printed as one")
}

impl Number for f64 {
    #[inline]
    fn units(self, scale: u16) -> Option<i64> {
        let power = POWERS[usize::from(scale)];
        let units = (self * power).round_ties_even();
        (units.abs() < MOST_F64 && units / power == self).then_some(units as i64)
    }

    fn decimal(self) -> Decimal {
        shortest(&format!("{self:e}"))
    }
}

impl Number for f32 {
    #[inline]
    fn units(self, scale: u16) -> Option<i64> {
        let power = POWERS[usize::from(scale)];
        let units = (f64::from(self) * power).round_ties_even();
        (units.abs() < MOST_F32 && (units / power) as f32 == self).then_some(units as i64)
    }

    fn decimal(self) -> Decimal {
        shortest(&format!("{self:e}"))
    }
}

/// A number as a decimal, by way of few digits where they suffice.
fn exactly<N: Number>(value: N) -> Decimal {
    let few = (0..=MOST_SCALE).find_map(|scale| Some((value.units(scale)?, scale)));
    few.map_or_else(|| value.decimal(), |(units, scale)| Decimal::new(units.into(), scale))
}

/// The cells of these rows that are refused.
pub(super) fn check(
    numbers: &Numbers<'_>,
    (column, null, nan_is_missing): (usize, Null, bool),
    rows: Range<usize>,
    faults: &mut Vec<Fault>,
) {
    let valid = numbers.valid();
    let fault = |row, reason, text| Fault { row, column, reason, text };
    if null == Null::Fail && valid.bits.is_some() {
        let missing = rows.clone().filter(|&row| !valid.has(row));
        faults.extend(missing.map(|row| fault(row, Reason::Missing, String::new())));
    }
    for (row, value) in numbers.not_finite(rows) {
        if !valid.has(row) {
            continue;
        }
        if !(value.is_nan() && nan_is_missing) {
            let reason = Reason::Number(NumberError::Malformed);
            faults.push(fault(row, reason, format!("{value}")));
        } else if null == Null::Fail {
            faults.push(fault(row, Reason::Missing, format!("{value}")));
        }
    }
}

impl Values {
    pub(super) fn new(keep: Keep) -> Values {
        let (hot, squares, exact) = (Vec::new(), Vec::new(), Vec::new());
        Values { keep, scale: 0, hot, squares, exact, rows: 0 }
    }

    /// Adds the numbers of these rows to their groups, `zero` for those that are missing if so asked;
    /// `before` is how many rows there were before the batch.
    pub(super) fn take(
        &mut self,
        all: &Numbers<'_>,
        (before, rows): (u64, Range<usize>),
        numbers: &[u32],
        zero: bool,
        groups: usize,
    ) {
        self.hot.resize(groups, EMPTY);
        if self.keep.squares {
            self.squares.resize(groups, 0);
        }
        if self.rows + rows.len() as u64 > MOST_ROWS {
            self.put_aside();
        }
        self.rows += rows.len() as u64;
        let given = numbers.iter().zip(rows).filter(|(number, _)| **number != NONE);
        let given = given.map(|(&number, row)| (number as usize, row));
        match *all {
            Numbers::Integers(valid, all) => {
                self.add(given, valid, (zero, before), |row| Some(all.get(row)));
            }
            Numbers::Decimals(valid, all, scale) => self.add(given, valid, (zero, before), |row| {
                Some(Fixed(i128::from_le_bytes(all[row]), scale))
            }),
            Numbers::F64(valid, all) => self.add(given, valid, (zero, before), |row| {
                let value = all[row];
                (!value.is_nan()).then_some(value)
            }),
            Numbers::F32(valid, all) => self.add(given, valid, (zero, before), |row| {
                let value = all[row];
                (!value.is_nan()).then_some(value)
            }),
        }
    }

    #[inline]
    fn add<N: Number>(
        &mut self,
        given: impl Iterator<Item = (usize, usize)>,
        valid: Valid<'_>,
        (zero, before): (bool, u64),
        value: impl Fn(usize) -> Option<N>,
    ) {
        if self.keep.is_more() {
            let value = |row| valid.has(row).then(|| value(row)).flatten();
            return given.for_each(|(group, row)| {
                let number = value(row).map(exactly).or_else(|| zero.then(|| Decimal::new(0, 0)));
                self.keep_value(group, before + row as u64, number);
            });
        }
        for (group, row) in given {
            let Some(value) = valid.has(row).then(|| value(row)).flatten() else {
                if zero {
                    self.add_units(group, 0);
                } else {
                    self.hot[group].missing += 1;
                }
                continue;
            };
            match value.units(self.scale) {
                Some(units) => self.add_units(group, units),
                None => self.add_rare(group, value),
            }
        }
    }

    #[inline]
    fn add_units(&mut self, group: usize, units: i64) {
        let hot = &mut self.hot[group];
        hot.count += 1;
        hot.sum += i128::from(units);
        hot.min = hot.min.min(units);
        hot.max = hot.max.max(units);
        if self.keep.squares {
            self.squares[group] += u128::from(units.unsigned_abs()).pow(2);
        }
    }

    /// A number of which more is kept than sums, or none.
    fn keep_value(&mut self, group: usize, chunk: u64, number: Option<Decimal>) {
        self.exact.resize(self.exact.len().max(group + 1), None);
        let none = || Box::new(Stats::none(self.keep));
        let stats = self.exact[group].get_or_insert_with(none);
        match number {
            Some(number) => {
                stats.take(Given::Number(&number), Order { source: 0, byte: chunk });
            }
            None => stats.add_missing(),
        }
    }

    /// A number that needs another scale, or does not fit.
    #[cold]
    fn add_rare<N: Number>(&mut self, group: usize, value: N) {
        let finer =
            (self.scale + 1..=MOST_SCALE).find_map(|scale| Some((scale, value.units(scale)?)));
        if let Some((scale, units)) = finer {
            self.put_aside();
            self.scale = scale;
            return self.add_units(group, units);
        }
        let value = value.decimal();
        self.exact.resize(self.exact.len().max(group + 1), None);
        match &mut self.exact[group] {
            Some(stats) => stats.add(&value),
            none => *none = Some(Box::new(Stats::of(&value, self.keep.squares))),
        }
    }

    /// Adds what is hot to the exact states.
    fn put_aside(&mut self) {
        self.rows = 0;
        self.exact.resize(self.exact.len().max(self.hot.len()), None);
        for (group, hot) in self.hot.iter_mut().enumerate() {
            let hot = std::mem::replace(hot, EMPTY);
            if hot.count + hot.missing == 0 {
                continue;
            }
            let squares = self.squares.get_mut(group).map(std::mem::take);
            let stats = Stats::of_units(
                (hot.count, hot.missing),
                [hot.min, hot.max],
                hot.sum,
                squares,
                self.scale,
            );
            match &mut self.exact[group] {
                Some(known) => known.merge(&stats),
                none => *none = Some(Box::new(stats)),
            }
        }
    }

    /// The states, by key.
    pub(super) fn into_partials(mut self, groups: &Groups) -> Vec<Partial> {
        self.put_aside();
        let stats = self.exact.into_iter().zip(groups.keys());
        stats
            .filter_map(|(stats, key)| Some(Partial { key: key.clone(), stats: *stats? }))
            .collect()
    }
}
