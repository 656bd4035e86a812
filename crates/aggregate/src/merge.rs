//! Partial states: what one thread, one file or one machine knows about a key.
//!
//! [`Stats`] is exact (integers of any size at a decimal scale) and its merge is associative and
//! commutative, so any split of the input, merged in any order, gives the same bytes in the end. The
//! scale of a merge is the finer of the two: nothing is rounded before it is printed.

use fathom_machine::prefetch;
use num_bigint::{BigInt, BigUint};

use crate::approx::{Approx, STANDARD_ERROR, Sketch};
use crate::histogram::Histogram;
use crate::kept::{Datum, Ends, Given, Multiset, Order};
use crate::key::Key;
use crate::number::{Decimal, scaled_short};
use crate::quantile::Quantile;
use crate::sums::{Sums, square};
use crate::waiting::Few;

/// Exact statistics of a key's records: of the values in them, and how many had none.
#[derive(Clone, Debug)]
pub struct Stats {
    count: u64,
    missing: u64,
    known: Known,
}

/// What is known of the values.
#[derive(Clone, Debug)]
enum Known {
    /// Means nothing while there is no number.
    Sums(Sums),
    More(Box<More>),
}

/// What sums do not say, beside them.
#[derive(Clone, Debug)]
struct More {
    keep: Keep,
    /// Means nothing while there is no number; nothing ever of texts.
    sums: Sums,
    values: Option<Multiset>,
    sketch: Option<Box<Sketch>>,
    ends: Option<Box<Ends>>,
}

// A million keys have a million of them.
const _: () = assert!(size_of::<More>() <= 176);

/// What is kept of values beside their sum and extremes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Keep {
    /// For variances.
    pub(crate) squares: bool,
    /// All of them, for quantiles, modes and how many differ.
    pub(crate) values: bool,
    /// Those rounded, and for quantiles only.
    pub(crate) rounding: Option<Approx>,
    /// How many differ, nearly.
    pub(crate) sketch: bool,
    /// The first and the last.
    pub(crate) ends: bool,
    /// They are texts, of which there is neither sum nor extreme.
    pub(crate) texts: bool,
}

impl Keep {
    /// Whether the hot tables cannot keep it.
    pub(crate) fn is_more(self) -> bool {
        self.values || self.sketch || self.ends || self.texts
    }

    /// Whether numbers may wait for the others of their key ([`Waiting`]): of each all is kept, and nothing else.
    ///
    /// [`Waiting`]: crate::waiting::Waiting
    pub(crate) fn may_wait(self) -> bool {
        self.values && self.rounding.is_none() && !(self.sketch || self.ends || self.texts)
    }

    /// The same of a column of texts, or of numbers: texts are not rounded.
    pub(crate) fn of(self, texts: bool) -> Keep {
        let values = self.values && !(texts && self.rounding.is_some());
        Keep { texts, values, ..self }
    }
}

// A result has one for each key.
const _: () = assert!(size_of::<Stats>() == 64);

impl PartialEq for Stats {
    /// Whether they say the same: 1 and 1.0 are the same extreme, in however many bits.
    fn eq(&self, other: &Stats) -> bool {
        let said = |stats: &Stats| {
            let (sum, squares) = (stats.sum(), stats.sums().squares());
            (stats.count, stats.missing, stats.scale(), stats.min(), stats.max(), sum, squares)
        };
        let of_values = |stats: &Stats| {
            let counted = stats.values().map(Multiset::counted);
            (counted, stats.sketch().cloned(), stats.first(), stats.last())
        };
        said(self) == said(other) && of_values(self) == of_values(other)
    }
}

impl Eq for Stats {}

/// A key and its [`Stats`]: the unit that distributed runs exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partial {
    /// The key's bytes, exactly as they stand in the input.
    pub key: Key,
    /// What is known about it.
    pub stats: Stats,
}

impl More {
    fn take(&mut self, value: Given<'_>, at: Order) {
        if self.keep.sketch {
            match &mut self.sketch {
                Some(sketch) => sketch.add(value),
                None => self.sketch = Some(Box::new(Sketch::of(value))),
            }
        }
        if self.keep.values {
            let rounded = match (self.keep.rounding, value) {
                (Some(approx), Given::Number(number)) => Some(approx.rounded(number)),
                _ => None,
            };
            let value = rounded.as_ref().map_or(value, Given::Number);
            match &mut self.values {
                Some(values) => values.add(value),
                None => self.values = Some(Multiset::of(value)),
            }
        }
        if self.keep.ends {
            match &mut self.ends {
                Some(ends) => ends.add(value, at),
                None => self.ends = Some(Box::new(Ends::of(value, at))),
            }
        }
    }

    /// Takes in what has values, too.
    fn merge(&mut self, other: &More) {
        self.sums.merge(&other.sums);
        self.keep.values &= other.keep.values;
        self.keep.sketch &= other.keep.sketch;
        self.keep.ends &= other.keep.ends;
        both(&mut self.values, &other.values, Multiset::merge);
        both(&mut self.sketch, &other.sketch, |own, other| own.merge(other));
        both(&mut self.ends, &other.ends, |own, other| own.merge(other));
    }
}

/// All of these as one, joined in halves, so that values that are kept are moved a few times only.
pub(crate) fn total(groups: &[Partial]) -> Stats {
    match groups {
        [] => Stats::of_none(),
        [one] => one.stats.clone(),
        _ => {
            let (left, right) = groups.split_at(groups.len() / 2);
            let mut all = total(left);
            all.merge(&total(right));
            all
        }
    }
}

/// What two know of which neither kept nothing.
fn both<T>(own: &mut Option<T>, other: &Option<T>, merge: impl FnOnce(&mut T, &T)) {
    match (own.as_mut(), other) {
        (Some(own), Some(other)) => merge(own, other),
        _ => *own = None,
    }
}

impl Stats {
    /// The statistics of one number; `with_squares` if a variance will be asked of them.
    pub fn of(value: &Decimal, with_squares: bool) -> Stats {
        Stats { count: 1, missing: 0, known: Known::Sums(Sums::of(value, with_squares)) }
    }

    /// The statistics of one record without a number.
    pub fn missing(with_squares: bool) -> Stats {
        let mut stats = Stats::none(Keep { squares: with_squares, ..Keep::default() });
        stats.add_missing();
        stats
    }

    /// Of no record, of which everything can be told.
    pub(crate) fn of_none() -> Stats {
        let (squares, values, ends) = (true, true, true);
        Stats::none(Keep { squares, values, ends, sketch: true, ..Keep::default() })
    }

    /// Of no record.
    pub(crate) fn none(keep: Keep) -> Stats {
        let sums = Sums::of(&Decimal::new(0, 0), keep.squares);
        let known = match keep.is_more() {
            false => Known::Sums(sums),
            true => {
                Known::More(Box::new(More { keep, sums, values: None, sketch: None, ends: None }))
            }
        };
        Stats { count: 0, missing: 0, known }
    }

    /// Of no record, with room for sums alone.
    pub(crate) fn without_room() -> Stats {
        Stats::none(Keep::default())
    }

    /// Makes room for what is kept beside sums, where there is none; before the first value.
    #[inline]
    pub(crate) fn make_room(&mut self, keep: Keep) {
        if keep.is_more() && self.more().is_none() {
            self.grow(keep);
        }
    }

    #[cold]
    fn grow(&mut self, keep: Keep) {
        assert_eq!(self.count, 0, "what is kept, is kept of all values");
        *self = Stats { missing: self.missing, ..Stats::none(keep) };
    }

    /// What the hot tables know, in tenths: `count >= 1` numbers from `min` to `max`.
    pub fn of_tenths(count: u64, min: i32, max: i32, sum: i64, squares: Option<u128>) -> Stats {
        Stats { count, missing: 0, known: Known::Sums(Sums::of_tenths(min, max, sum, squares)) }
    }

    /// What columns in memory know: how many numbers in units of `10^-scale` and how many records
    /// without one, the extremes, the sum and, if they were asked for, the sum of squares.
    pub(crate) fn of_units(
        (count, missing): (u64, u64),
        extremes: [i64; 2],
        sum: i128,
        squares: Option<u128>,
        scale: u16,
    ) -> Stats {
        if count == 0 {
            return Stats { count, missing, ..Stats::missing(squares.is_some()) };
        }
        Stats { count, missing, known: Known::Sums(Sums::of_units(extremes, sum, squares, scale)) }
    }

    /// Adds one number, behind all others.
    pub fn add(&mut self, value: &Decimal) {
        self.take(Given::Number(value), Order::LAST);
    }

    /// Adds a value that stands at a place.
    pub(crate) fn take(&mut self, value: Given<'_>, at: Order) {
        if let Known::More(more) = &mut self.known {
            more.take(value, at);
        }
        if let Given::Number(value) = value {
            let is_first = self.count == 0;
            let sums = match &mut self.known {
                Known::Sums(sums) => sums,
                Known::More(more) => &mut more.sums,
            };
            match is_first {
                true => *sums = Sums::of(value, sums.has_squares()),
                false => sums.add(value),
            }
        }
        self.count += 1;
    }

    /// Adds a number to sums alone; false, and nothing changed, where more is kept, or 64 bits do not suffice.
    #[inline]
    pub(crate) fn take_short(&mut self, number: Few) -> bool {
        let Known::Sums(sums) = &mut self.known else { return false };
        let is_taken = self.count > 0 && sums.add_short(number).is_some();
        self.count += u64::from(is_taken);
        is_taken
    }

    /// Adds numbers of which nothing is kept but all of them; there is room for it. `units` is scratch space.
    pub(crate) fn take_all(&mut self, numbers: &[Few], units: &mut Vec<i64>) {
        if self.take_few(numbers, units).is_none() {
            for &(units, scale) in numbers {
                self.add(&Decimal::new(units.into(), scale));
            }
        }
    }

    /// The same at their common scale; None, and nothing changed, if there are none or they do not fit.
    fn take_few(&mut self, numbers: &[Few], units: &mut Vec<i64>) -> Option<()> {
        let Known::More(more) = &mut self.known else { return None };
        let scale = numbers.iter().map(|(_, scale)| *scale).max()?;
        units.clear();
        for &(own, own_scale) in numbers {
            units.push(scaled_short(own, scale - own_scale)?);
        }
        let extremes = [*units.iter().min()?, *units.iter().max()?];
        let squares = match more.sums.has_squares() {
            true => Some(units.iter().map(|&units| square(units)).try_fold(0, u128::checked_add)?),
            false => None,
        };
        let sum = units.iter().copied().map(i128::from).sum();
        let sums = Sums::of_units(extremes, sum, squares, scale);
        match self.count {
            0 => more.sums = sums,
            _ => more.sums.merge(&sums),
        }
        more.values.get_or_insert_with(Multiset::of_none).add_all(units, scale);
        self.count += units.len() as u64;
        Some(())
    }

    /// Bytes that adding this value may allocate, as far as that is told without adding it.
    pub(crate) fn growth(&self, value: Given<'_>) -> usize {
        let Known::More(more) = &self.known else { return 0 };
        let sketch = more.sketch.as_ref().map_or(0, |sketch| sketch.growth());
        let ends = if more.keep.ends { 2 * value.bytes() } else { 0 };
        sketch + ends + more.values.as_ref().map_or(0, |values| values.growth(value))
    }

    /// Whether nothing of it lies elsewhere, so that it is copied as cheaply as moved.
    pub(crate) fn is_flat(&self) -> bool {
        matches!(&self.known, Known::Sums(sums) if sums.is_flat())
    }

    /// Bytes that what is kept takes, about, beside its own place.
    pub(crate) fn kept_bytes(&self) -> usize {
        let Known::More(more) = &self.known else { return self.sums().bytes() };
        let values = more.values.as_ref().map_or(0, Multiset::bytes);
        let sketch = more.sketch.as_ref().map_or(0, |sketch| size_of::<Sketch>() + sketch.bytes());
        let ends = more.ends.as_ref().map_or(0, |ends| ends.bytes());
        size_of::<More>() + more.sums.bytes() + values + sketch + ends
    }

    /// Begins to fetch what is kept of values.
    #[inline]
    pub(crate) fn prefetch_kept(&self) {
        match &self.known {
            Known::Sums(sums) => sums.prefetch_squares(),
            Known::More(more) => {
                prefetch(&**more);
                prefetch(&more.values);
            }
        }
    }

    /// And the place of the next value; what is kept should have come.
    #[inline]
    pub(crate) fn prefetch_values(&self) {
        if let Known::More(more) = &self.known
            && let Some(values) = &more.values
        {
            values.prefetch();
        }
    }

    /// Makes ready what is asked of values.
    pub(crate) fn settle(&mut self) {
        if let Known::More(more) = &mut self.known {
            more.values.iter_mut().for_each(Multiset::settle);
            more.sketch.iter_mut().for_each(|sketch| sketch.settle());
        }
    }

    /// Adds one record without a value.
    pub fn add_missing(&mut self) {
        self.missing += 1;
    }

    /// Merges what another part of the input said about the same key. A variance needs the squares
    /// of every part: one part without them ends them; and so it is with all values, and the first
    /// and last of them.
    pub fn merge(&mut self, other: &Stats) {
        let missing = self.missing + other.missing;
        if self.count == 0 {
            *self = other.clone();
        } else if other.count > 0 {
            match (&mut self.known, &other.known) {
                (Known::More(own), Known::More(more)) => own.merge(more),
                (Known::More(own), Known::Sums(sums)) => {
                    own.sums.merge(sums);
                    self.known = Known::Sums(own.sums.clone());
                }
                (Known::Sums(own), _) => own.merge(other.sums()),
            }
            self.count += other.count;
        }
        self.missing = missing;
    }

    /// Put together again from what was told of it: sums of the numbers, if there are any, and what
    /// else was kept.
    pub(crate) fn restored(
        (count, missing): (u64, u64),
        keep: Keep,
        sums: Option<Sums>,
        (values, sketch): (Option<Multiset>, Option<Sketch>),
        ends: Option<Ends>,
    ) -> Stats {
        let mut stats = Stats { count, missing, ..Stats::none(keep) };
        let own = match &mut stats.known {
            Known::Sums(own) => own,
            Known::More(more) => {
                more.values = values;
                (more.sketch, more.ends) = (sketch.map(Box::new), ends.map(Box::new));
                &mut more.sums
            }
        };
        if let Some(sums) = sums {
            *own = sums;
        }
        stats
    }

    /// The sum of the squares, in units of `10^(-2 scale)`; None without any number, or if it was not kept.
    pub(crate) fn squares(&self) -> Option<BigInt> {
        self.sums().squares().filter(|_| self.numbers() > 0)
    }

    /// The first and the last value with their places.
    pub(crate) fn ends(&self) -> Option<&Ends> {
        self.more()?.ends.as_deref()
    }

    /// Gives the sources of places in the input other numbers.
    pub(crate) fn renumber(&mut self, sources: &[usize]) {
        if let Known::More(more) = &mut self.known
            && let Some(ends) = &mut more.ends
        {
            ends.renumber(sources);
        }
    }

    pub(crate) fn sums(&self) -> &Sums {
        match &self.known {
            Known::Sums(sums) => sums,
            Known::More(more) => &more.sums,
        }
    }

    fn more(&self) -> Option<&More> {
        match &self.known {
            Known::Sums(_) => None,
            Known::More(more) => Some(more),
        }
    }

    pub(crate) fn values(&self) -> Option<&Multiset> {
        self.more()?.values.as_ref()
    }

    pub(crate) fn sketch(&self) -> Option<&Sketch> {
        self.more()?.sketch.as_deref()
    }

    /// What values were rounded by.
    fn rounding(&self) -> Option<Approx> {
        self.more()?.keep.rounding
    }

    /// How many different values there are, or nearly so many; 1 and 1.0 are the same number. None if
    /// neither values were kept nor a sketch of them.
    pub fn distinct(&self) -> Option<u64> {
        let more = self.more().filter(|more| more.keep.values || more.keep.sketch)?;
        if let Some(sketch) = &more.sketch {
            return Some(sketch.count());
        }
        match (&more.values, more.keep.rounding) {
            (None, _) => Some(0),
            (Some(values), None) => Some(values.distinct()),
            (Some(_), Some(_)) => None,
        }
    }

    /// The most frequent value; of several the smallest. None without any, or if they were not kept.
    pub fn mode(&self) -> Option<Datum> {
        self.values().filter(|_| self.rounding().is_none())?.mode()
    }

    /// The first value in the order of the input. None without any, or if it was not kept.
    pub fn first(&self) -> Option<Datum> {
        Some(self.more()?.ends.as_deref()?.first.1.clone())
    }

    /// The last value in the order of the input. None without any, or if it was not kept.
    pub fn last(&self) -> Option<Datum> {
        Some(self.more()?.ends.as_deref()?.last.1.clone())
    }

    /// The largest number less the smallest; None without any.
    pub fn range(&self) -> Option<Decimal> {
        Some(self.max()?.minus(&self.min()?))
    }

    /// How the numbers are spread, or what they were rounded to. None without any, or if they were not kept.
    pub(crate) fn histogram(&self) -> Option<Histogram> {
        Histogram::of(self.values()?)
    }

    /// A quantile of the numbers, or of what they were rounded to. None without any, or if they were not
    /// kept.
    pub fn quantile(&self, quantile: Quantile) -> Option<Decimal> {
        let found = quantile.of(self.values()?, self.count)?;
        match self.rounding() {
            None => Some(found),
            // The extremes are known better.
            Some(_) => Some(found.clamp(self.min()?, self.max()?)),
        }
    }

    /// How far [`quantile`](Stats::quantile) may be from the quantile, in percent of it; None if nothing was
    /// rounded, and between numbers of different signs, which are off by percents of themselves.
    pub(crate) fn quantile_error(&self, quantile: Quantile) -> Option<Decimal> {
        let (values, rounding) = self.values().zip(self.rounding())?;
        (!quantile.crosses_zero(values, self.count)).then(|| rounding.percent())
    }

    /// The standard error of [`distinct`](Stats::distinct) in percent: zero where it is no estimate.
    pub(crate) fn distinct_error(&self) -> Option<Decimal> {
        self.more().filter(|more| more.keep.sketch)?;
        let is_exact = self.sketch().is_none_or(Sketch::is_exact);
        let (units, decimals) = if is_exact { (0, 0) } else { STANDARD_ERROR };
        Some(Decimal::new(units, decimals))
    }

    /// The most digits after the decimal point any of the numbers had.
    pub fn scale(&self) -> u16 {
        if self.numbers() == 0 { 0 } else { self.sums().scale() }
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many of them are numbers: all or none.
    pub(crate) fn numbers(&self) -> u64 {
        if self.more().is_some_and(|more| more.keep.texts) { 0 } else { self.count }
    }

    /// How many records there are, those without a number included.
    pub fn rows(&self) -> u64 {
        self.count + self.missing
    }

    /// The smallest number, at the common [`scale`](Stats::scale); None without any.
    pub fn min(&self) -> Option<Decimal> {
        (self.numbers() > 0).then(|| self.sums().min())
    }

    /// The largest number, at the common scale; None without any.
    pub fn max(&self) -> Option<Decimal> {
        (self.numbers() > 0).then(|| self.sums().max())
    }

    /// The exact sum, at the common scale; zero without any number.
    pub fn sum(&self) -> Decimal {
        if self.numbers() == 0 { Decimal::new(0, 0) } else { self.sums().sum() }
    }

    /// The sample variance as an exact fraction `numerator / denominator` in units of
    /// `10^(-2 scale)`: `(n Σx² - (Σx)²) / (n (n - 1))`. None for fewer than two numbers, or when
    /// the squares were not asked for.
    pub fn variance(&self) -> Option<(BigUint, BigUint)> {
        if self.numbers() < 2 {
            return None;
        }
        let squares = self.sums().squares()?;
        let sum = self.sums().sum().to_big();
        let numerator: BigInt = squares * self.count - &sum * &sum;
        let denominator = BigUint::from(self.count) * (self.count - 1);
        Some((numerator.magnitude().clone(), denominator))
    }
}

/// Merges lists of partials into one, sorted by the bytes of the key, each key once.
pub fn merge(lists: Vec<Vec<Partial>>) -> Vec<Partial> {
    let mut all: Vec<Partial> = lists.into_iter().flatten().collect();
    // Lists that come sorted are runs, which the stable sort finds and merges.
    all.sort_by(|a, b| a.key.cmp(&b.key));
    let mut merged: Vec<Partial> = Vec::with_capacity(all.len());
    for partial in all {
        match merged.last_mut() {
            Some(last) if last.key == partial.key => last.stats.merge(&partial.stats),
            _ => merged.push(partial),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text.as_bytes()).unwrap()
    }

    fn stats(texts: &[&str]) -> Stats {
        let mut all = Stats::of(&number(texts[0]), true);
        texts[1..].iter().for_each(|text| all.add(&number(text)));
        all
    }

    #[test]
    fn merging_in_any_order_and_grouping_gives_the_same_state() {
        let texts = ["1", "2.25", "-7.5", "1e30", "0.001", "1e-30", "-1e30", "9", "5e-324"];
        let expected = stats(&texts);
        for first in 0..texts.len() {
            for cut in 1..texts.len() {
                let mut turned = texts;
                turned.rotate_left(first);
                let (left, right) = turned.split_at(cut);
                let mut merged = stats(left);
                merged.merge(&stats(right));
                assert_eq!(merged, expected, "{left:?} and {right:?}");
            }
        }
    }

    #[test]
    fn records_without_a_number_are_counted_beside_those_with_one() {
        let mut all = Stats::missing(true);
        assert_eq!((all.rows(), all.count(), all.min(), all.scale()), (1, 0, None, 0));
        all.add(&number("-2.50"));
        all.add_missing();
        all.merge(&Stats::missing(true));
        assert_eq!((all.rows(), all.count(), all.max()), (4, 1, Some(number("-2.5"))));
        all.add(&number("2.5"));
        assert!(all.variance().is_some());
        let mut other = Stats::missing(true);
        other.merge(&all);
        assert_eq!((other.rows(), other.sum()), (6, number("0")));
    }
}
