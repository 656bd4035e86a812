//! The order of groups: by key or by a statistic, compared exactly.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint};

use super::Statistic;
use crate::engine::Column;
use crate::merge::{Partial, Stats};
use crate::number::power_of_ten;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::samples::column;
    use crate::format::{Layout, csv};

    #[test]
    fn several_columns_share_the_order_and_name_their_numbers() {
        let mut columns = [
            column("t", &[(b"a", &["1"]), (b"b", &["3"]), (b"c", &["2"])]),
            column("h", &[(b"a", &["10"]), (b"b", &["30"]), (b"c", &["20.25"])]),
        ];
        arrange(&mut columns, Sort::By(Statistic::Max), false, Some(2));
        let layout = Layout { statistics: vec![Statistic::Max], ..Layout::default() };
        let expected = "key,t_max,h_max\nb,3.0,30.00\nc,2.0,20.25\n";
        assert_eq!(csv(&columns, &layout), expected.as_bytes());
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
