//! A column's statistics, group by group: integers at one scale while all fit, exact states beside them.
//!
//! The scale grows when a value needs it; what was added up before is then put aside as exact
//! states, which merge at the finest scale. Numbers become integers by blocks, where all of a block
//! do at the column's scale; otherwise one by one.

use std::ops::Range;
use std::sync::Arc;

use super::PIECE_ROWS;
use super::batch::{Numbers, Valid, each_width};
use super::fault::Fault;
use super::keys::{Groups, NONE};
use super::units::{Fixed, MOST_SCALE, Number, exactly};
use crate::account::Account;
use crate::delimited::Null;
use crate::error::Reason;
use crate::kept::{self, Order};
use crate::merge::{Keep, Partial, Stats};
use crate::number::{Decimal, NumberError};
use crate::sums::square;
use crate::waiting::{self, Waiting};

/// Rows whose sum of squares fits 128 bits.
const MOST_ROWS: u64 = 1 << 21;
/// Rows of a block: small beside the first cache.
const BLOCK_ROWS: usize = 512;

/// The statistics of a thread's groups.
#[derive(Debug)]
pub(super) struct Values {
    keep: Keep,
    scale: u16,
    hot: Vec<Hot>,
    squares: Vec<u128>,
    /// What does not fit those.
    exact: Vec<Option<Box<Stats>>>,
    /// Numbers that are not in them yet, where all are kept, and memory has no limit.
    waiting: Option<Waiting>,
    rows: u64,
    account: Arc<Account>,
}

/// Which rows are taken, and what they mean.
struct Given<'a> {
    /// The group of each, or none.
    numbers: &'a [u32],
    /// Their places in the batch.
    rows: Range<usize>,
    valid: Valid<'a>,
    /// Whether a missing value is one of zero.
    zero: bool,
    /// Where the batch's first row stands: in which source, and behind how many rows.
    place: (usize, u64),
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
    pub(super) fn new(keep: Keep, account: &Arc<Account>) -> Values {
        let (hot, squares, exact) = (Vec::new(), Vec::new(), Vec::new());
        let waiting = (keep.may_wait() && !account.is_limited()).then(Waiting::default);
        let account = Arc::clone(account);
        Values { keep, scale: 0, hot, squares, exact, waiting, rows: 0, account }
    }

    /// Bytes of the lists, without what is kept of values.
    pub(super) fn bytes(&self) -> usize {
        self.hot.capacity() * size_of::<Hot>()
            + self.squares.capacity() * size_of::<u128>()
            + self.exact.capacity() * size_of::<Option<Box<Stats>>>()
    }

    /// Adds the numbers of these rows to their groups, `zero` for those that are missing if so asked;
    /// `place` is where the batch stands.
    pub(super) fn take(
        &mut self,
        all: &Numbers<'_>,
        (place, rows): ((usize, u64), Range<usize>),
        numbers: &[u32],
        zero: bool,
        groups: usize,
    ) {
        assert!(rows.len() <= PIECE_ROWS);
        self.hot.resize(groups, EMPTY);
        if self.keep.squares {
            self.squares.resize(groups, 0);
        }
        if self.rows + rows.len() as u64 > MOST_ROWS {
            self.put_aside();
        }
        self.rows += rows.len() as u64;
        let valid = all.valid();
        let given = Given { numbers, rows: rows.clone(), valid, zero, place };
        match *all {
            Numbers::Integers(_, all) => each_width!(all, all => self.add(&given, all, |v| v)),
            Numbers::Decimals(_, all, scale) => {
                self.add(&given, all, |units| Fixed(i128::from_le_bytes(units), scale));
            }
            Numbers::F64(_, all) => self.add(&given, all, |v| v),
            Numbers::F32(_, all) => self.add(&given, all, |v| v),
        }
    }

    #[inline]
    fn add<T: Copy, N: Number>(&mut self, given: &Given<'_>, all: &[T], number: impl Fn(T) -> N) {
        let all = &all[given.rows.clone()];
        if self.keep.is_more() {
            return self.keep_all(given, all, number);
        }
        let mut units = [0; BLOCK_ROWS];
        for (block, (all, groups)) in
            all.chunks(BLOCK_ROWS).zip(given.numbers.chunks(BLOCK_ROWS)).enumerate()
        {
            let first = given.rows.start + block * BLOCK_ROWS;
            let units = &mut units[..all.len()];
            let known = self.scale >= N::LEAST_SCALE
                && N::all_units(all.iter().map(|&v| number(v)), self.scale, units);
            let is_whole = given.valid.bits.is_none() && known;
            for (at, &group) in groups.iter().enumerate().filter(|(_, group)| **group != NONE) {
                let group = group as usize;
                if is_whole {
                    self.add_units(group, units[at]);
                } else if !given.valid.has(first + at) {
                    self.add_missing(group, given.zero);
                } else if known {
                    self.add_units(group, units[at]);
                } else {
                    self.add_one(group, number(all[at]), given.zero);
                }
            }
        }
    }

    /// A number that may need another scale than the column's.
    fn add_one<N: Number>(&mut self, group: usize, value: N, zero: bool) {
        if value.is_missing() {
            return self.add_missing(group, zero);
        }
        match value.units(self.scale).filter(|_| self.scale >= N::LEAST_SCALE) {
            Some(units) => self.add_units(group, units),
            None => self.add_rare(group, value),
        }
    }

    fn add_missing(&mut self, group: usize, zero: bool) {
        if zero { self.add_units(group, 0) } else { self.hot[group].missing += 1 }
    }

    /// The same where more is kept than sums.
    fn keep_all<T: Copy, N: Number>(
        &mut self,
        given: &Given<'_>,
        all: &[T],
        number: impl Fn(T) -> N,
    ) {
        for (row, (&value, &group)) in given.rows.clone().zip(all.iter().zip(given.numbers)) {
            if group != NONE {
                let value = Some(number(value));
                let value = value.filter(|v| given.valid.has(row) && !v.is_missing());
                let zero = || given.zero.then(|| Decimal::new(0, 0));
                let (source, before) = given.place;
                let order = Order { source, byte: before + row as u64 };
                let value = value.map(|value| exactly(value, N::LEAST_SCALE));
                self.keep_value(group as usize, order, value.or_else(zero));
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
            self.squares[group] += square(units);
        }
    }

    /// A number of which more is kept than sums, or none.
    fn keep_value(&mut self, group: usize, order: Order, number: Option<Decimal>) {
        if let Some(waiting) = &mut self.waiting
            && let Some(few) = number.as_ref().and_then(waiting::few)
        {
            waiting.push(group, few);
            if waiting.is_full(self.hot.len()) {
                self.settle_waiting();
            }
            return;
        }
        let (stats, account) = self.exact(group);
        let Some(number) = number else { return stats.add_missing() };
        let value = kept::Given::Number(&number);
        // What does not fit ends the run.
        match account.is_limited() {
            true => account.keep(stats, stats.growth(value), value, order),
            false => stats.take(value, order),
        }
    }

    /// The state of a group of whose numbers more is kept than sums, and the account for what it keeps.
    fn exact(&mut self, group: usize) -> (&mut Stats, &Account) {
        self.exact.resize(self.exact.len().max(group + 1), None);
        let stats = self.exact[group].get_or_insert_with(|| {
            let stats = Stats::none(self.keep);
            self.account.take(size_of::<Stats>() + 2 * stats.kept_bytes());
            Box::new(stats)
        });
        (stats, &self.account)
    }

    /// Gives each group the numbers that wait for it.
    fn settle_waiting(&mut self) {
        let Some(waiting) = &mut self.waiting else { return };
        let (numbers, mut units) = (waiting.grouped(self.hot.len()), Vec::new());
        for group in 0..self.hot.len() {
            if let numbers @ [_, ..] = numbers.of(group) {
                self.exact(group).0.take_all(numbers, &mut units);
            }
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
        let value = value.decimal(N::LEAST_SCALE);
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
        self.settle_waiting();
        let stats = self.exact.into_iter().zip(groups.keys());
        stats
            .filter_map(|(stats, key)| Some(Partial { key: key.clone(), stats: *stats? }))
            .collect()
    }
}
