//! A mix of workloads that were each measured on their own: what it costs one contender as a multiple
//! of what it costs another, with an interval.
//!
//! The cost of a mix is Σ w·t over its parts. Its evidence is that of every other comparison, sets of
//! fresh processes (see `sets`): set number j of every part together is one sample of the cost,
//!
//! ```text
//!   y(contender, j) = ln Σ w(part) · exp(level(contender, part, j) + state(part, j))
//! ```
//!
//! so the interval covers rounds, processes and the machine's state in each part, and with them what
//! share of the cost each part has, which the sum of the parts' own intervals takes for known. What it does
//! not cover: parts are measured one after the other, and a machine that is slower during the whole of
//! one weighs that part too much.

use crate::compare::{Judged, View, comparisons};
use crate::plan::{Measured, Roles};
use crate::sets::{Sets, states};
use crate::stats::Interval;

/// One workload of the mix.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// What happened. All parts have the same contenders by number.
    pub measured: &'a Measured,
    /// Its clock and its overhead count here, too.
    pub judged: &'a Judged,
    /// What a nanosecond of an iteration counts in the mix.
    pub weight: f64,
}

/// A contender's cost of the mix over the baseline's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mixed {
    /// The contender's number.
    pub contender: usize,
    /// The ratio.
    pub ratio: f64,
    /// Its interval, at a level that all contenders share.
    pub interval: Interval,
}

/// Everybody with the baseline, at level 1 - `alpha` for all of them together; whoever failed in a part
/// has no cost of the mix. Nobody if a part has fewer than two sets of processes, or the baseline failed.
#[must_use]
pub fn mixed(parts: &[Part<'_>], roles: Roles, alpha: f64) -> Vec<Mixed> {
    let Some(first) = parts.first() else { return Vec::new() };
    let count = first.measured.failures.len();
    let alive = |i: usize| parts.iter().all(|part| part.measured.failures[i].is_none());
    let compared: Vec<usize> = (0..count)
        .filter(|&i| alive(i) && i != roles.baseline)
        .filter(|&i| Some(i) != roles.twin && Some(i) != roles.empty)
        .collect();
    let twin = roles.twin.filter(|&twin| alive(twin) && alive(roles.twin_of));
    let Some(sets) = costs(parts, roles, count)
        .and_then(|costs| Sets::of_levels(costs, twin.map(|twin| (twin, roles.twin_of))))
    else {
        return Vec::new();
    };
    // Every combination of the looks at which the parts may have ended has its share of the error.
    let spent: f64 = parts.iter().map(|part| part.measured.alpha_share).product();
    let alpha = alpha * spent / comparisons(compared.len(), roles.chosen) as f64;
    let ratio = |contender: usize| {
        let estimate = sets.ratio(contender, roles.baseline)?;
        let (ratio, interval) = (estimate.log.exp(), estimate.interval(alpha)?);
        Some(Mixed { contender, ratio, interval })
    };
    compared.into_iter().filter_map(ratio).collect()
}

/// The logarithm of what the mix costs each contender in each set; a contender that lacks one has none.
fn costs(parts: &[Part<'_>], roles: Roles, contenders: usize) -> Option<Vec<Option<Vec<f64>>>> {
    let of = |part: &Part<'_>| {
        let overhead = part.judged.overhead.filter(|overhead| overhead.subtracted);
        let subtract_ns = overhead.map_or(0.0, |overhead| overhead.ns_median);
        let view = View { measured: part.measured, clock: part.judged.clock, subtract_ns };
        states(&view.logs(roles.empty))
    };
    let parts: Vec<(f64, Vec<Option<Vec<f64>>>)> =
        parts.iter().map(|part| (part.weight, of(part))).collect();
    let fewest = |part: &(f64, Vec<Option<Vec<f64>>>)| part.1.iter().flatten().map(Vec::len).min();
    let sets = parts.iter().map(fewest).min()??;
    let cost = |contender: usize| -> Option<Vec<f64>> {
        let mut sums = vec![0.0; sets];
        for (weight, levels) in &parts {
            let levels = grouped(levels[contender].as_ref()?, sets);
            sums.iter_mut().zip(levels).for_each(|(sum, level)| *sum += weight * level.exp());
        }
        Some(sums.into_iter().map(f64::ln).collect())
    };
    Some((0..contenders).map(cost).collect())
}

/// The means of as many groups of neighbours as the part with the fewest sets has sets.
fn grouped(levels: &[f64], groups: usize) -> impl Iterator<Item = f64> {
    let group = move |number: usize| {
        let own = &levels[number * levels.len() / groups..(number + 1) * levels.len() / groups];
        own.iter().sum::<f64>() / own.len() as f64
    };
    (0..groups).map(group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_sets_are_joined_to_as_many_as_there_are_elsewhere() {
        let of = |levels: &[f64], groups| grouped(levels, groups).collect::<Vec<f64>>();
        assert_eq!(of(&[1.0, 3.0, 5.0, 7.0], 2), [2.0, 6.0]);
        assert_eq!(of(&[1.0, 2.0, 4.0], 2), [1.0, 3.0]);
        assert_eq!(of(&[1.0, 2.0], 2), [1.0, 2.0]);
    }
}
