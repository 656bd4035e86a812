//! What sums do not say of a key's values: which there are and how often, which came first, and last.
//!
//! Values are kept as a multiset: each different one with its count, so that memory grows with the
//! different values and not with the records; numbers of which most came once as often as they came, which
//! takes less. Newly met ones wait in a list, which is sorted into
//! the others when it has become as long as they are; a value is moved a few times, not once per
//! record. Numbers are 64 bits at the finest scale of them, where they fit.
//!
//! Nothing here depends on the order in which threads met the values: what came first is said by
//! places in the input.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use fathom_machine::prefetch;
use hashbrown::HashMap;

use crate::number::{Decimal, scaled, scaled_short};

/// Where in the input a record stands: the source, and the bytes of it before the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Order {
    pub(crate) source: usize,
    pub(crate) byte: u64,
}

impl Order {
    /// Behind all records.
    pub(crate) const LAST: Order = Order { source: usize::MAX, byte: u64::MAX };
}

/// A value, somewhere.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Given<'a> {
    Number(&'a Decimal),
    Text(&'a [u8]),
}

/// One of the values there were.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Datum {
    /// A number.
    Number(Decimal),
    /// The bytes of a field.
    Text(Box<[u8]>),
}

impl Given<'_> {
    /// Bytes of it that lie elsewhere.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Given::Number(number) => number.bytes(),
            Given::Text(text) => text.len(),
        }
    }
}

impl Datum {
    fn given(&self) -> Given<'_> {
        match self {
            Datum::Number(number) => Given::Number(number),
            Datum::Text(text) => Given::Text(text),
        }
    }
}

impl From<Given<'_>> for Datum {
    fn from(given: Given<'_>) -> Datum {
        match given {
            Given::Number(number) => Datum::Number(number.clone()),
            Given::Text(text) => Datum::Text(text.into()),
        }
    }
}

/// The first and the last value.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    pub(crate) first: (Order, Datum),
    pub(crate) last: (Order, Datum),
}

impl Ends {
    pub(crate) fn of(value: Given<'_>, at: Order) -> Ends {
        let end = (at, Datum::from(value));
        Ends { first: end.clone(), last: end }
    }

    pub(crate) fn add(&mut self, value: Given<'_>, at: Order) {
        if at < self.first.0 {
            self.first = (at, value.into());
        }
        if at >= self.last.0 {
            self.last = (at, value.into());
        }
    }

    pub(crate) fn merge(&mut self, other: &Ends) {
        if other.first.0 < self.first.0 {
            self.first.clone_from(&other.first);
        }
        if other.last.0 >= self.last.0 {
            self.last.clone_from(&other.last);
        }
    }

    /// Bytes they take.
    pub(crate) fn bytes(&self) -> usize {
        let Ends { first: (_, first), last: (_, last) } = self;
        size_of::<Ends>() + first.given().bytes() + last.given().bytes()
    }

    /// Gives the sources other numbers.
    pub(crate) fn renumber(&mut self, sources: &[usize]) {
        for (order, _) in [&mut self.first, &mut self.last] {
            order.source = sources[order.source];
        }
    }
}

/// All values, each with how often it came.
#[derive(Clone, Debug)]
pub(crate) enum Multiset {
    Small(Small),
    /// Numbers of which one does not fit 64 bits at the scale of the others.
    Big(Big),
    Texts(Texts),
}

/// Numbers of any size with their counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Big {
    counts: BTreeMap<Decimal, u64>,
    /// Of the numbers, elsewhere.
    bytes: usize,
}

impl Big {
    /// Of a number, nodes and what is free in them.
    const ENTRY_BYTES: usize = 2 * size_of::<(Decimal, u64)>();

    fn add(&mut self, number: &Decimal, count: u64) {
        match self.counts.get_mut(number) {
            Some(known) => *known += count,
            None => {
                self.bytes += number.bytes();
                self.counts.insert(number.clone(), count);
            }
        }
    }
}

/// Texts with their counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    counts: HashMap<Box<[u8]>, u64>,
    /// Of all texts.
    bytes: usize,
}

impl Texts {
    /// Of a text, its slot and what is free in the table.
    const ENTRY_BYTES: usize = 2 * size_of::<(Box<[u8]>, u64)>();

    fn add(&mut self, text: &[u8], count: u64) {
        match self.counts.get_mut(text) {
            Some(known) => *known += count,
            None => {
                self.bytes += text.len();
                self.counts.insert(text.into(), count);
            }
        }
    }
}

/// Numbers in some units, ascending, with their counts.
pub(crate) type Counted = [(i64, u64)];

/// Numbers in units of `10^-scale`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Small {
    scale: u16,
    /// Sorted, each as often as it came, while that takes less than to count them.
    listed: Vec<i64>,
    /// Sorted, each once. One of both has none.
    counted: Vec<(i64, u64)>,
    /// Not yet sorted into the others.
    waiting: Vec<i64>,
}

/// Fewest values that are sorted into the others.
const FEWEST: usize = 32;

impl Small {
    /// Takes in one number; None, and nothing changed, if it does not fit.
    fn add(&mut self, value: &Decimal) -> Option<()> {
        if value.scale() > self.scale {
            self.rescale(value.scale())?;
        }
        let units = scaled(value.small()?, self.scale - value.scale())?;
        let units = i64::try_from(units).ok()?;
        if self.waiting.len() == self.waiting.capacity() && self.is_time() {
            self.settle();
        }
        self.waiting.push(units);
        Some(())
    }

    /// Takes in numbers in units of `10^-scale`, in any order; None, and nothing changed, if one does not fit.
    fn add_all(&mut self, units: &mut [i64], scale: u16) -> Option<()> {
        if scale < self.scale {
            let finer = self.scale - scale;
            let all: Option<Vec<i64>> = units.iter().map(|&own| scaled_short(own, finer)).collect();
            units.copy_from_slice(&all?);
        } else if scale > self.scale {
            self.rescale(scale)?;
        }
        if self.waiting.is_empty() && units.len() > self.sorted().max(FEWEST) {
            units.sort_unstable();
            self.sort_in(units);
            return Some(());
        }
        self.waiting.extend_from_slice(units);
        if self.is_time() {
            self.settle();
        }
        Some(())
    }

    /// How many lie in order.
    fn sorted(&self) -> usize {
        self.listed.len() + self.counted.len()
    }

    fn is_time(&self) -> bool {
        self.waiting.len() >= self.sorted().max(FEWEST)
    }

    fn rescale(&mut self, scale: u16) -> Option<()> {
        let finer = |units: &i64| i64::try_from(scaled((*units).into(), scale - self.scale)?).ok();
        let counted = self.counted.iter().map(|(units, count)| Some((finer(units)?, *count)));
        let counted = counted.collect::<Option<Vec<_>>>()?;
        let listed = self.listed.iter().map(finer).collect::<Option<Vec<_>>>()?;
        self.waiting = self.waiting.iter().map(finer).collect::<Option<Vec<_>>>()?;
        (self.counted, self.listed) = (counted, listed);
        self.scale = scale;
        Some(())
    }

    /// Takes in numbers in order.
    fn sort_in(&mut self, units: &[i64]) {
        if !self.counted.is_empty() {
            self.counted = merged(&self.counted, &counted(units));
            return;
        }
        list_in(&mut self.listed, units);
        // A number and its count are as large as two numbers.
        if 2 * different(&self.listed) <= self.listed.len() {
            self.count();
        }
    }

    fn count(&mut self) {
        self.counted = counted(&std::mem::take(&mut self.listed));
    }

    /// Takes in another one at the same scale; nothing waits in either.
    fn merge(&mut self, more: &Small) {
        match (self.counted.is_empty(), more.counted.is_empty()) {
            (_, true) => self.sort_in(&more.listed),
            (is_listed, false) => {
                if is_listed {
                    self.count();
                }
                self.counted = merged(&self.counted, &more.counted);
            }
        }
    }

    /// Each once, with its count; nothing waits.
    fn counts(&self) -> Cow<'_, Counted> {
        match self.counted.is_empty() {
            true => Cow::Owned(counted(&self.listed)),
            false => Cow::Borrowed(&self.counted),
        }
    }

    fn settle(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_unstable();
        self.sort_in(&waiting);
        waiting.clear();
        if self.sorted() < waiting.capacity() / 2 {
            waiting.shrink_to(self.sorted().max(FEWEST));
        }
        self.waiting = waiting;
    }

    /// Makes ready what is asked: few values are only put in order where they wait.
    fn prepare(&mut self) {
        match self.sorted() == 0 && self.waiting.len() <= FEWEST {
            true => self.waiting.sort_unstable(),
            false => self.settle(),
        }
    }

    fn decimals(&self) -> impl Iterator<Item = (Decimal, u64)> {
        let once = self.listed.iter().chain(&self.waiting).map(|&units| (units, 1));
        let counted = self.counted.iter().copied();
        counted.chain(once).map(|(units, count)| (Decimal::new(units.into(), self.scale), count))
    }
}

/// Each different value of a sorted list, and how often it is there.
fn counted(sorted: &[i64]) -> Vec<(i64, u64)> {
    sorted.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect()
}

/// How many values of a sorted list differ.
fn different(sorted: &[i64]) -> usize {
    sorted.len().min(1) + sorted.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

/// Puts numbers in order among others in order.
fn list_in(listed: &mut Vec<i64>, units: &[i64]) {
    let (mut left, mut right) = (listed.len(), units.len());
    listed.reserve_exact(right);
    listed.resize(left + right, 0);
    // From the end on, where there is room: nothing is overwritten before it was moved.
    while left > 0 && right > 0 {
        let (low, high) = (listed[left - 1], units[right - 1]);
        // Without a branch, as below.
        listed[left + right - 1] = low.max(high);
        left -= usize::from(low > high);
        right -= usize::from(low <= high);
    }
    listed[..right].copy_from_slice(&units[..right]);
}

/// Two sorted lists as one; counts of the same value are added.
fn merged(left: &Counted, right: &Counted) -> Vec<(i64, u64)> {
    let mut both = Vec::with_capacity(left.len() + right.len());
    let (mut l, mut r) = (0, 0);
    while let (Some(&(low, few)), Some(&(high, more))) = (left.get(l), right.get(r)) {
        // Without a branch: which of them is smaller is anybody's guess.
        let (is_left, is_right) = (low <= high, high <= low);
        both.push((low.min(high), few * u64::from(is_left) + more * u64::from(is_right)));
        l += usize::from(is_left);
        r += usize::from(is_right);
    }
    both.extend_from_slice(&left[l..]);
    both.extend_from_slice(&right[r..]);
    both
}

impl Multiset {
    /// Of numbers, without any.
    pub(crate) fn of_none() -> Multiset {
        Multiset::Small(Small::default())
    }

    /// With this value alone.
    pub(crate) fn of(value: Given<'_>) -> Multiset {
        let mut set = match value {
            Given::Number(_) => Multiset::of_none(),
            Given::Text(_) => Multiset::Texts(Texts::default()),
        };
        set.add(value);
        set
    }

    pub(crate) fn add(&mut self, value: Given<'_>) {
        match (&mut *self, value) {
            (Multiset::Texts(texts), Given::Text(text)) => texts.add(text, 1),
            (Multiset::Small(small), Given::Number(number)) => {
                if small.add(number).is_none() {
                    self.big().add(number, 1);
                }
            }
            (Multiset::Big(big), Given::Number(number)) => big.add(number, 1),
            _ => unreachable!("a column has numbers or texts"),
        }
    }

    /// Takes in numbers in units of `10^-scale`, which are in any order then, too.
    pub(crate) fn add_all(&mut self, units: &mut [i64], scale: u16) {
        let small = match self {
            Multiset::Small(small) => small.add_all(units, scale),
            _ => None,
        };
        if small.is_none() {
            for &mut units in units {
                self.add(Given::Number(&Decimal::new(units.into(), scale)));
            }
        }
    }

    fn big(&mut self) -> &mut Big {
        if let Multiset::Small(small) = self {
            let mut big = Big::default();
            small.decimals().for_each(|(value, count)| big.add(&value, count));
            *self = Multiset::Big(big);
        }
        match self {
            Multiset::Big(big) => big,
            _ => unreachable!("numbers grow"),
        }
    }

    /// Sorts what waits: what is asked of a multiset is best asked afterwards.
    pub(crate) fn settle(&mut self) {
        if let Multiset::Small(small) = self {
            small.prepare();
        }
    }

    /// Begins to fetch the place of the next value.
    pub(crate) fn prefetch(&self) {
        if let Multiset::Small(small) = self
            && let Some(last) = small.waiting.last()
        {
            prefetch(last);
        }
    }

    /// Takes in another of the same kind.
    pub(crate) fn merge(&mut self, other: &Multiset) {
        match (&mut *self, other) {
            (Multiset::Texts(own), Multiset::Texts(more)) => {
                more.counts.iter().for_each(|(text, &count)| own.add(text, count));
                return;
            }
            (Multiset::Small(own), Multiset::Small(more)) => {
                let mut more = Cow::Borrowed(more);
                if more.scale < own.scale && more.to_mut().rescale(own.scale).is_none()
                    || own.scale < more.scale && own.rescale(more.scale).is_none()
                {
                    // They do not fit beside each other.
                } else if own.sorted() + more.sorted() == 0
                    && own.waiting.len() + more.waiting.len() <= FEWEST
                {
                    own.waiting.extend_from_slice(&more.waiting);
                    return;
                } else {
                    own.settle();
                    if !more.waiting.is_empty() {
                        more.to_mut().settle();
                    }
                    own.merge(&more);
                    return;
                }
            }
            _ => {}
        }
        let big = self.big();
        other.numbers().for_each(|(value, count)| big.add(&value, count));
    }

    /// Each number with its count, a number perhaps several times.
    fn numbers(&self) -> Box<dyn Iterator<Item = (Decimal, u64)> + '_> {
        match self {
            Multiset::Small(small) => Box::new(small.decimals()),
            Multiset::Big(big) => {
                Box::new(big.counts.iter().map(|(value, &count)| (value.clone(), count)))
            }
            Multiset::Texts(_) => Box::new(std::iter::empty()),
        }
    }

    /// All different values, ascending, with their counts.
    pub(crate) fn counted(&self) -> Vec<(Datum, u64)> {
        match self {
            Multiset::Small(small) => {
                let small = settled(small);
                let number = |units: i64| Datum::Number(Decimal::new(units.into(), small.scale));
                small.counts().iter().map(|&(units, count)| (number(units), count)).collect()
            }
            Multiset::Big(big) => big
                .counts
                .iter()
                .map(|(value, &count)| (Datum::Number(value.clone()), count))
                .collect(),
            Multiset::Texts(texts) => {
                let mut counted: Vec<(Datum, u64)> = texts
                    .counts
                    .iter()
                    .map(|(t, &count)| (Datum::Text(t.clone()), count))
                    .collect();
                counted.sort_unstable();
                counted
            }
        }
    }

    /// Numbers in units of `10^-scale`, ascending, with their counts, if they are kept so.
    pub(crate) fn units(&self) -> Option<(u16, Cow<'_, Counted>)> {
        let Multiset::Small(small) = self else { return None };
        let counted = match settled(small) {
            Cow::Borrowed(small) => small.counts(),
            Cow::Owned(small) => Cow::Owned(small.counts().into_owned()),
        };
        Some((small.scale, counted))
    }

    /// The same numbers again.
    pub(crate) fn of_units(scale: u16, counted: Vec<(i64, u64)>) -> Multiset {
        Multiset::Small(Small { scale, counted, ..Small::default() })
    }

    /// Of different values of one kind, ascending, with their counts.
    pub(crate) fn restored(counted: Vec<(Datum, u64)>) -> Multiset {
        let scale = |(value, _): &(Datum, u64)| match value {
            Datum::Number(number) => number.scale(),
            Datum::Text(_) => 0,
        };
        let scale = counted.iter().map(scale).max().unwrap_or(0);
        let small = |(value, count): &(Datum, u64)| match value {
            Datum::Number(number) => {
                let units = scaled(number.small()?, scale - number.scale())?;
                Some((i64::try_from(units).ok()?, *count))
            }
            Datum::Text(_) => None,
        };
        if let Some(counted) = counted.iter().map(small).collect() {
            return Multiset::Small(Small { scale, counted, ..Small::default() });
        }
        let (mut big, mut texts) = (Big::default(), Texts::default());
        for (value, count) in &counted {
            match value {
                Datum::Number(number) => big.add(number, *count),
                Datum::Text(text) => texts.add(text, *count),
            }
        }
        if texts.counts.is_empty() { Multiset::Big(big) } else { Multiset::Texts(texts) }
    }

    /// How many different values there are.
    pub(crate) fn distinct(&self) -> u64 {
        (match self {
            Multiset::Small(small) => {
                let small = settled(small);
                different(&small.listed) + small.counted.len()
            }
            Multiset::Big(big) => big.counts.len(),
            Multiset::Texts(texts) => texts.counts.len(),
        }) as u64
    }

    /// The most frequent value; of several the smallest.
    pub(crate) fn mode(&self) -> Option<Datum> {
        match self {
            Multiset::Small(small) => {
                let small = settled(small);
                let counts = small.counts();
                let most = counts.iter().rev().max_by_key(|(_, count)| *count)?;
                Some(Datum::Number(Decimal::new(most.0.into(), small.scale)))
            }
            Multiset::Big(big) => {
                let most = big.counts.iter().rev().max_by_key(|(_, count)| **count)?;
                Some(Datum::Number(most.0.clone()))
            }
            Multiset::Texts(texts) => {
                let most =
                    texts.counts.iter().max_by_key(|(text, count)| (**count, Reverse(*text)))?;
                Some(Datum::Text(most.0.clone()))
            }
        }
    }

    /// The numbers at these places of the sorted list of all, from 0, of which the first is not
    /// behind the second; None if there are not so many.
    pub(crate) fn at(&self, places: [u64; 2]) -> Option<[Decimal; 2]> {
        fn find<T>(list: impl Iterator<Item = (T, u64)>, places: [u64; 2]) -> Option<[T; 2]>
        where
            T: Clone,
        {
            let (mut seen, mut first) = (0, None);
            for (value, count) in list {
                seen += count;
                if first.is_none() && seen > places[0] {
                    first = Some(value.clone());
                }
                if seen > places[1] {
                    return Some([first?, value]);
                }
            }
            None
        }
        match self {
            Multiset::Small(small) => {
                let few = small.sorted() == 0 && small.waiting.is_sorted();
                let small = if few { Cow::Borrowed(small) } else { settled(small) };
                let list = if few { &small.waiting } else { &small.listed };
                let at = |place| list.get(usize::try_from(place).ok()?).copied();
                let found = match small.counted.is_empty() {
                    true => [at(places[0])?, at(places[1])?],
                    false => find(small.counted.iter().copied(), places)?,
                };
                Some(found.map(|units| Decimal::new(units.into(), small.scale)))
            }
            Multiset::Big(big) => {
                let found = find(big.counts.iter().map(|(value, &count)| (value, count)), places)?;
                Some(found.map(Decimal::clone))
            }
            Multiset::Texts(_) => None,
        }
    }

    /// Bytes it takes, about.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Multiset::Small(small) => {
                let counted = small.counted.capacity() * size_of::<(i64, u64)>();
                counted + (small.listed.capacity() + small.waiting.capacity()) * size_of::<i64>()
            }
            Multiset::Big(big) => big.counts.len() * Big::ENTRY_BYTES + big.bytes,
            Multiset::Texts(texts) => texts.counts.len() * Texts::ENTRY_BYTES + texts.bytes,
        }
    }

    /// Bytes that taking in this value may allocate.
    pub(crate) fn growth(&self, value: Given<'_>) -> usize {
        match (self, value) {
            (Multiset::Small(small), _) if small.waiting.len() < small.waiting.capacity() => 0,
            (Multiset::Small(small), _) if small.is_time() => {
                (small.sorted() + small.waiting.len()) * size_of::<(i64, u64)>()
            }
            (Multiset::Small(small), _) => small.waiting.capacity().max(4) * size_of::<i64>(),
            (Multiset::Texts(texts), Given::Text(text)) if !texts.counts.contains_key(text) => {
                Texts::ENTRY_BYTES + text.len()
            }
            (Multiset::Texts(_), _) => 0,
            (Multiset::Big(_), _) => Big::ENTRY_BYTES + value.bytes(),
        }
    }
}

/// With all values sorted in.
fn settled(small: &Small) -> Cow<'_, Small> {
    if small.waiting.is_empty() {
        return Cow::Borrowed(small);
    }
    let mut settled = small.clone();
    settled.settle();
    Cow::Owned(settled)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn set(values: &[Decimal]) -> Multiset {
        let mut set = Multiset::of(Given::Number(&values[0]));
        values[1..].iter().for_each(|value| set.add(Given::Number(value)));
        set
    }

    /// Numbers that are alike at different scales, now and then one that fits no 64 bits.
    fn numbers() -> impl Strategy<Value = Vec<Decimal>> {
        let number = prop_oneof![
            20 => (-50..50_i128, 0..3_u16).prop_map(|(units, scale)| Decimal::new(units, scale)),
            1 => (any::<i64>(), 0..20_u16).prop_map(|(u, scale)| Decimal::new(u.into(), scale)),
        ];
        prop::collection::vec(number, 2..300)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_multiset_is_the_sorted_list_however_it_was_put_together(values in numbers(), cut in 0..300_usize) {
            let (left, right) = values.split_at(1 + cut % (values.len() - 1));
            let mut joined = set(left);
            joined.merge(&set(right));
            let mut sorted = values.clone();
            sorted.sort();
            let mut ready = [set(&values), joined.clone()];
            ready.iter_mut().for_each(Multiset::settle);
            let [ready, also] = ready;
            for set in [set(&values), joined, ready, also] {
                let all = (0..sorted.len() as u64).map(|at| set.at([at, at]).unwrap()[0].clone());
                prop_assert_eq!(all.collect::<Vec<_>>(), sorted.clone());
                prop_assert_eq!(set.at([0, sorted.len() as u64]), None);
                let same = |a: &Decimal, b: &Decimal| a == b;
                let runs: Vec<&[Decimal]> = sorted.chunk_by(same).collect();
                prop_assert_eq!(set.distinct(), runs.len() as u64);
                let longest = runs.iter().map(|run| run.len()).max().unwrap();
                let first = runs.iter().find(|run| run.len() == longest).unwrap();
                prop_assert_eq!(set.mode(), Some(Datum::Number(first[0].clone())));
            }
        }
    }

    #[test]
    fn memory_grows_with_different_values_and_not_with_records() {
        let mut set = Multiset::of(Given::Number(&Decimal::new(1, 0)));
        for i in 0..1_000_000 {
            set.add(Given::Number(&Decimal::new(i % 1000, 1)));
        }
        let Multiset::Small(small) = &set else { panic!("{set:?}") };
        assert!(small.waiting.capacity() <= 4096 && small.counted.capacity() <= 4096);
        assert_eq!(set.distinct(), 1000);
        assert!(small.listed.capacity() == 0, "both forms of them");
    }

    #[test]
    fn numbers_of_which_few_came_twice_take_no_room_for_counts() {
        const NUMBERS: i128 = 100_000;
        let mut set = Multiset::of_none();
        for i in 0..NUMBERS {
            set.add(Given::Number(&Decimal::new(i * 7919 % 90_001, 1)));
        }
        set.settle();
        assert_eq!((set.distinct(), set.units().unwrap().1[0]), (90_001, (0, 2)));
        let Multiset::Small(small) = &set else { panic!("{set:?}") };
        assert!(small.counted.is_empty() && small.listed.capacity() == NUMBERS as usize);
        assert!(set.bytes() < 3 * 8 * NUMBERS as usize, "{}", set.bytes());
    }
}
