//! The order of groups: by key or by a statistic, compared exactly.

use std::cmp::Ordering;

use super::Statistic;
use crate::engine::Column;
use crate::merge::{Partial, Stats};
use crate::number::big_power_of_ten;

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
    use crate::format::{Layout, brc, csv};

    #[test]
    fn several_columns_share_the_order_and_name_their_numbers() {
        let mut columns = [
            column("t", &[(b"a", &["1"]), (b"b", &["3"]), (b"c", &["2"])]),
            column("h", &[(b"a", &["10"]), (b"b", &["30"]), (b"c", &["20.25"])]),
        ];
        arrange(&mut columns, Sort::By(Statistic::Max), false, Some(2));
        let layout = Layout { statistics: vec![Statistic::Max], ..Layout::default() };
        let expected = "key,t_max,h_max\nb,3,30\nc,2,20.25\n";
        assert_eq!(csv(&columns, &layout), expected.as_bytes());
    }

    #[test]
    fn showing_fewer_keys_does_not_change_how_many_decimals_they_have() {
        let mut columns = [column("t", &[(b"a", &["1"]), (b"b", &["3.125"])])];
        arrange(&mut columns, Sort::Key, false, Some(1));
        assert_eq!(brc(&columns[0], &Layout::default()), b"{a=1.000/1.000/1.000}\n");
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
