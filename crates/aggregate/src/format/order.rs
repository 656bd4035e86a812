//! The order of groups: by parts of their keys or by what is told of them, compared exactly.

use std::cmp::Ordering;

use super::telling::{Telling, append_total, told_number};
use super::{Layout, Statistic};
use crate::composite;
use crate::engine::Column;
use crate::merge::{Partial, Stats};
use crate::number::{Decimal, big_power_of_ten};

/// What is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// The bytes of the key, part after part.
    Key,
    /// One part of the key.
    Part {
        /// Which, from 0.
        at: usize,
        /// How many parts keys have.
        of: usize,
        /// Whether its texts are numbers, and in the order of those; texts that are none come first.
        is_number: bool,
    },
    /// What is told of the values; what does not exist is less than anything.
    By(Telling),
}

/// What is sorted by, and which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Criterion {
    /// What is compared.
    pub sort: Sort,
    /// The largest first, or the last of the alphabet.
    pub falling: bool,
}

impl Criterion {
    /// A statistic of the first column, the largest first.
    pub fn largest(statistic: Statistic) -> Criterion {
        Criterion { sort: Sort::By(Telling::Of(0, statistic)), falling: true }
    }

    /// Whether columns must be [summed up](Column::sum_up) before.
    pub fn needs_total(self) -> bool {
        let Sort::By(
            Telling::Of(_, statistic)
            | Telling::Error(_, statistic)
            | Telling::Change(_, statistic)
            | Telling::Percent(_, statistic),
        ) = self.sort
        else {
            return false;
        };
        statistic.is_share()
    }

    fn compare(self, columns: &[Column], places: [usize; 2]) -> Ordering {
        let [a, b] = places.map(|place| &columns[0].groups[place].key);
        let order = match self.sort {
            Sort::Key => a.cmp(b),
            Sort::Part { at, of, is_number } => {
                let part = |key| composite::parts(key, of).nth(at).unwrap_or_default();
                let (a, b) = (part(a), part(b));
                if is_number {
                    Decimal::parse(&a).ok().cmp(&Decimal::parse(&b).ok())
                } else {
                    a.cmp(&b)
                }
            }
            Sort::By(Telling::Of(column, statistic)) if !statistic.is_share() => {
                let stats = places.map(|place| &columns[column].groups[place].stats);
                compare(stats, statistic)
            }
            Sort::By(telling) => {
                let [a, b] = places.map(|place| told_number(columns, telling, place));
                a.cmp(&b)
            }
        };
        if self.falling { order.reverse() } else { order }
    }
}

/// Sorts all columns the same way, by the first criterion that tells two groups apart, and keeps the
/// first `top` groups of each. What no criterion tells apart stays in the order it has; groups come in that of the
/// bytes of their keys.
pub fn arrange(columns: &mut [Column], order: &[Criterion], top: Option<usize>) {
    let Some(first) = columns.first() else { return };
    let top = top.unwrap_or(usize::MAX);
    if is_by_key(order) {
        // They come so.
        columns.iter_mut().for_each(|column| column.groups.truncate(top));
        return;
    }
    let groups = u32::try_from(first.groups.len()).expect("as many groups take 400 GiB");
    let mut places: Vec<u32> = (0..groups).collect();
    places.sort_by(|&a, &b| ordering(order, columns, [a as usize, b as usize]));
    places.truncate(top);
    for column in columns {
        let mut groups: Vec<Option<Partial>> =
            std::mem::take(&mut column.groups).into_iter().map(Some).collect();
        column.groups = places.iter().filter_map(|&at| groups[at as usize].take()).collect();
    }
}

/// Makes columns what is shown: [sums them up](Column::sum_up) if a share or the total is told, keeps the first `top`
/// groups of an order, and [appends the total](append_total) under its label.
pub fn prepare(
    columns: &mut [Column],
    layout: &Layout,
    (order, top): (&[Criterion], Option<usize>),
    total: Option<&str>,
) {
    let has_shares = layout.statistics.iter().any(|told| told.is_share());
    if total.is_some() || has_shares || order.iter().any(|by| by.needs_total()) {
        columns.iter_mut().for_each(Column::sum_up);
    }
    arrange(columns, order, top);
    if let Some(label) = total {
        append_total(columns, label, layout.keys.len());
    }
}

/// Whether it is the order of the bytes of the keys, in which groups come.
pub(crate) fn is_by_key(order: &[Criterion]) -> bool {
    let Some(first) = order.first() else { return true };
    let is_whole = matches!(first.sort, Sort::Key | Sort::Part { of: 1, is_number: false, .. });
    is_whole && !first.falling
}

/// The order of the groups at two places.
pub(crate) fn ordering(order: &[Criterion], columns: &[Column], places: [usize; 2]) -> Ordering {
    let by = |order: Ordering, next: &Criterion| order.then_with(|| next.compare(columns, places));
    order.iter().fold(Ordering::Equal, by)
}

fn compare([a, b]: [&Stats; 2], statistic: Statistic) -> Ordering {
    match statistic {
        Statistic::CountShare | Statistic::RowsShare | Statistic::SumShare => {
            unreachable!("shares are told numbers")
        }
        Statistic::Histogram => Ordering::Equal,
        Statistic::Count => a.count().cmp(&b.count()),
        Statistic::Distinct => a.distinct().cmp(&b.distinct()),
        Statistic::Range => a.range().cmp(&b.range()),
        Statistic::Quantile(quantile) => a.quantile(quantile).cmp(&b.quantile(quantile)),
        Statistic::Mode => a.mode().cmp(&b.mode()),
        Statistic::First => a.first().cmp(&b.first()),
        Statistic::Last => a.last().cmp(&b.last()),
        Statistic::Rows => a.rows().cmp(&b.rows()),
        Statistic::Min => a.min().cmp(&b.min()),
        Statistic::Max => a.max().cmp(&b.max()),
        Statistic::Sum => a.sum().cmp(&b.sum()),
        // Means as fractions: each sum times the other's count. Without a number there is none.
        Statistic::Mean if a.numbers() == 0 || b.numbers() == 0 => a.numbers().cmp(&b.numbers()),
        Statistic::Mean => a.sum().times(b.count()).cmp(&b.sum().times(a.count())),
        Statistic::Variance | Statistic::Stddev => match (a.variance(), b.variance()) {
            (Some((an, ad)), Some((bn, bd))) => {
                let finer = |own: &Stats, other: &Stats| {
                    let unit = big_power_of_ten(other.scale().saturating_sub(own.scale()));
                    unit.magnitude() * unit.magnitude()
                };
                (an * bd * finer(a, b)).cmp(&(bn * ad * finer(b, a)))
            }
            (a, b) => a.is_some().cmp(&b.is_some()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::samples::column;

    /// Moving millions of groups to where they are took as long as writing them.
    #[test]
    fn groups_that_come_in_order_are_not_moved() {
        let part = |of, is_number| Sort::Part { at: 0, of, is_number };
        for (sort, stay) in [
            (Sort::Key, true),
            (part(1, false), true),
            (part(1, true), false),
            (part(2, false), false),
        ] {
            let mut columns = [column("t", &[(b"a", &["1"]), (b"b", &["3"])])];
            let before = columns[0].groups.as_ptr();
            arrange(&mut columns, &[Criterion { sort, falling: false }], None);
            assert_eq!(columns[0].groups.as_ptr() == before, stay, "{sort:?}");
        }
    }
}
