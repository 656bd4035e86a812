//! The order of groups: by parts of their keys or by what is told of them, compared exactly.

use std::cmp::Ordering;

use super::telling::{Ratio, Telling, append_total, number, told_number};
use super::text::groups;
use super::{Layout, Statistic};
use crate::composite;
use crate::engine::Column;
use crate::kept::Datum;
use crate::merge::{Partial, Stats};
use crate::number::Decimal;

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
            | Telling::ChangeError(_, statistic)
            | Telling::Percent(_, statistic),
        ) = self.sort
        else {
            return false;
        };
        statistic.is_share()
    }

    /// What the group at a place is compared by, where that takes time to work out.
    fn worth(self, columns: &[Column], place: usize) -> Option<Worth> {
        let Sort::By(telling) = self.sort else { return None };
        let Telling::Of(at, statistic) = telling else {
            return Some(Worth::Ratio(told_number(columns, telling, place)));
        };
        let (column, stats) = (&columns[at], &columns[at].groups[place].stats);
        let whole = |number: u64| Datum::Number(Decimal::new(number.into(), 0));
        let ratio = |statistic| Some(Worth::Ratio(number(column, stats, statistic)));
        Some(Worth::Datum(match statistic {
            Statistic::Quantile(quantile) => stats.quantile(quantile).map(Datum::Number),
            Statistic::Distinct => stats.distinct().map(whole),
            Statistic::Mode => stats.mode(),
            Statistic::First => stats.first(),
            Statistic::Last => stats.last(),
            Statistic::SumShare => return ratio(statistic),
            // Roots are in the order of what they are of.
            Statistic::Variance | Statistic::Stddev => return ratio(Statistic::Variance),
            _ => return None,
        }))
    }

    /// `worths` are those of the groups, if they have any.
    fn compare(self, columns: &[Column], worths: &[Worth], places: [usize; 2]) -> Ordering {
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
            Sort::By(Telling::Of(column, statistic)) if worths.is_empty() => {
                let stats = places.map(|place| &columns[column].groups[place].stats);
                compare(stats, statistic)
            }
            Sort::By(_) => {
                let [a, b] = places.map(|place| &worths[place]);
                a.cmp(b)
            }
        };
        if self.falling { order.reverse() } else { order }
    }
}

/// What takes time to work out of a group, which is done once.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    Ratio(Option<Ratio>),
    Datum(Option<Datum>),
}

/// The worths of all groups for each criterion; none for one that needs none.
#[derive(Debug)]
pub(crate) struct Worths(Vec<Vec<Worth>>);

impl Worths {
    pub(crate) fn new(order: &[Criterion], columns: &[Column]) -> Worths {
        let of = |by: &Criterion| {
            (0..groups(columns)).map_while(|place| by.worth(columns, place)).collect()
        };
        Worths(order.iter().map(of).collect())
    }

    /// Another group has taken a place.
    pub(crate) fn renew(&mut self, order: &[Criterion], columns: &[Column], place: usize) {
        for (by, worths) in order.iter().zip(&mut self.0).filter(|(_, worths)| !worths.is_empty()) {
            worths[place] = by.worth(columns, place).expect("the others have one");
        }
    }

    /// The order of the groups at two places.
    pub(crate) fn ordering(
        &self,
        order: &[Criterion],
        columns: &[Column],
        places: [usize; 2],
    ) -> Ordering {
        let next = |done: Ordering, (by, worths): (&Criterion, &Vec<Worth>)| {
            done.then_with(|| by.compare(columns, worths, places))
        };
        order.iter().zip(&self.0).fold(Ordering::Equal, next)
    }
}

/// Sorts all columns the same way, by the first criterion that tells two groups apart, and keeps the
/// first `top` groups of each. What no criterion tells apart stays in the order it has; groups come in that of the
/// bytes of their keys.
pub fn arrange(columns: &mut [Column], order: &[Criterion], top: Option<usize>) {
    let top = top.unwrap_or(usize::MAX);
    if is_by_key(order) {
        // They come so.
        columns.iter_mut().for_each(|column| column.groups.truncate(top));
        return;
    }
    let groups = u32::try_from(groups(columns)).expect("as many groups take 400 GiB");
    let mut places: Vec<u32> = (0..groups).collect();
    let worths = Worths::new(order, columns);
    places.sort_by(|&a, &b| worths.ordering(order, columns, [a as usize, b as usize]));
    drop(worths);
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

fn compare([a, b]: [&Stats; 2], statistic: Statistic) -> Ordering {
    match statistic {
        Statistic::Histogram => Ordering::Equal,
        // Shares are of the same.
        Statistic::Count | Statistic::CountShare => a.count().cmp(&b.count()),
        Statistic::Rows | Statistic::RowsShare => a.rows().cmp(&b.rows()),
        Statistic::Range => a.range().cmp(&b.range()),
        Statistic::Min => a.min().cmp(&b.min()),
        Statistic::Max => a.max().cmp(&b.max()),
        Statistic::Sum => a.sum().cmp(&b.sum()),
        // Means as fractions: each sum times the other's count. Without a number there is none.
        Statistic::Mean if a.numbers() == 0 || b.numbers() == 0 => a.numbers().cmp(&b.numbers()),
        Statistic::Mean => a.sum().times(b.count()).cmp(&b.sum().times(a.count())),
        Statistic::Quantile(_)
        | Statistic::Distinct
        | Statistic::Mode
        | Statistic::First
        | Statistic::Last
        | Statistic::SumShare
        | Statistic::Variance
        | Statistic::Stddev => unreachable!("it has a worth"),
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
