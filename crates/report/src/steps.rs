//! Where a course of numbers stepped: splits that separate the ranks of the two sides better than chance
//! does, by permutation.
//!
//! For each split the ranks before it are summed and standardised (Wilcoxon 1945); the largest of these
//! is what shuffled copies of the course have to reach. If the numbers are exchangeable, as independent
//! noise of any distribution is, each order of them is as likely as any other, so the share of shuffled
//! copies that reach it is an exact p-value, for any number of runs. Drift and noise that correlates from
//! run to run are steps to this test. Where a clear step is, the numbers themselves say: a rank sum is largest nearer the
//! middle in one course of six.

use std::ops::RangeInclusive;

use fathom_measure::stats::{Random, median};

/// Fewer runs on a side are an excursion and no level.
const FEWEST: usize = 3;
/// So many shuffled copies may reach a step that is called; more make its p-value less random.
const REACHED: f64 = 20.0;
/// However small the level, so many shuffled copies are enough, but for a level that they could not reach.
const MOST_COPIES: f64 = 400_000.0;

/// The places where `numbers` are split, in order: where two levels fit best if chance gives a split as clear in fewer
/// than `alpha` of the courses without any, and then those of both sides.
pub(crate) fn splits(numbers: &[f64], alpha: f64) -> Vec<usize> {
    let mut found = Vec::new();
    split(numbers, 0, alpha, &mut Random::new(1), &mut found);
    found
}

fn split(numbers: &[f64], from: usize, alpha: f64, random: &mut Random, found: &mut Vec<usize>) {
    let mut ranks = ranks(numbers);
    let Some(most) = clearest(&ranks) else { return };
    let copies = (REACHED / alpha).min(MOST_COPIES).max((1.0 / alpha).ceil() + 1.0);
    let mut reached = 1.0;
    for _ in 1..copies as usize {
        random.shuffle(&mut ranks);
        reached += f64::from(u8::from(clearest(&ranks).is_some_and(|other| other >= most - 1e-9)));
        // As soon as it cannot be clear any more it is not.
        if reached > alpha * copies {
            return;
        }
    }
    let place = between_levels(numbers);
    split(&numbers[..place], from, alpha, random, found);
    found.push(from + place);
    split(&numbers[place..], from + place, alpha, random, found);
}

/// Ranks from 1, of equal numbers their mean.
fn ranks(numbers: &[f64]) -> Vec<f64> {
    let rank = |number: &f64| {
        let below = numbers.iter().filter(|other| *other < number).count() as f64;
        let same = numbers.iter().filter(|other| *other == number).count() as f64;
        below + (same + 1.0) / 2.0
    };
    numbers.iter().map(rank).collect()
}

/// The places at which both sides are levels.
fn places(runs: usize) -> RangeInclusive<usize> {
    FEWEST..=runs.saturating_sub(FEWEST)
}

/// How far from what is expected a split's rank sum is at most, in standard deviations.
fn clearest(ranks: &[f64]) -> Option<f64> {
    let n = ranks.len() as f64;
    let mut sum: f64 = ranks.iter().take(FEWEST - 1).sum();
    let far = |t: usize| {
        sum += ranks[t - 1];
        let size = t as f64;
        let deviation = (size * (n - size) * (n + 1.0) / 12.0).sqrt();
        (sum - size * (n + 1.0) / 2.0).abs() / deviation
    };
    places(ranks.len()).map(far).reduce(f64::max)
}

/// Where the medians of both sides are nearest to their numbers, in the sum of all distances.
fn between_levels(numbers: &[f64]) -> usize {
    let misfit = |side: &[f64]| {
        let middle = median(side).unwrap_or_default();
        side.iter().map(|number| (number - middle).abs()).sum::<f64>()
    };
    let misfits = places(numbers.len())
        .map(|place| (place, misfit(&numbers[..place]) + misfit(&numbers[place..])));
    misfits.min_by(|one, other| one.1.total_cmp(&other.1)).map_or(0, |best| best.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Skewed, with one excursion in twenty.
    fn noise(random: &mut Random) -> f64 {
        let value = -(1.0 - random.fraction()).ln() * 0.02;
        if random.below(20) == 0 { value * 30.0 } else { value }
    }

    #[test]
    fn chance_shows_a_step_as_often_as_is_said() {
        let mut random = Random::new(5);
        for (runs, alpha) in [(8, 0.05), (12, 0.05), (30, 0.05), (12, 0.01), (40, 0.01)] {
            let trials = 3000;
            let course = |random: &mut Random| -> Vec<f64> {
                (0..runs).map(|_| 1.0 + noise(random)).collect()
            };
            let found = (0..trials).filter(|_| !splits(&course(&mut random), alpha).is_empty());
            let share = found.count() as f64 / f64::from(trials);
            let deviation = (alpha * (1.0 - alpha) / f64::from(trials)).sqrt();
            assert!(share < alpha + 3.0 * deviation, "{runs} runs: {share} for {alpha}");
            // Not for never saying anything.
            assert!(runs < 12 || share > alpha - 4.0 * deviation, "{runs} runs: {share}");
        }
    }

    #[test]
    fn steps_of_a_few_percent_are_found_where_they_are() {
        let mut random = Random::new(6);
        for (before, after, least) in [(20, 20, 90), (30, 4, 15), (8, 8, 40)] {
            let found = (0..100).filter(|_| {
                let level = |i: usize| if i < before { 1.0 } else { 1.08 };
                let course: Vec<f64> =
                    (0..before + after).map(|i| level(i) + noise(&mut random)).collect();
                splits(&course, 0.01).iter().any(|place| place.abs_diff(before) <= 2)
            });
            let found = found.count();
            assert!(found >= least, "{before} and {after} runs: {found} of 100");
        }
    }

    /// With more courses than a hundredth of the copies no step was ever found.
    #[test]
    fn a_clear_step_of_one_in_thousands_of_courses_is_found() {
        let course = [[1.0; 15], [2.0; 15]].concat();
        assert_eq!(splits(&course, 0.01 / 4100.0), [15]);
    }

    /// One in six was told to have begun a run or more before or after it did.
    #[test]
    fn a_step_that_nobody_can_miss_is_placed_where_it_is() {
        let mut random = Random::new(7);
        for (before, after) in [(14, 8), (8, 20), (30, 5), (50, 5), (10, 10)] {
            for _ in 0..100 {
                let level = |i: usize| if i < before { 1.0 } else { 1.06 };
                let course: Vec<f64> =
                    (0..before + after).map(|i| level(i) + 0.006 * random.fraction()).collect();
                assert!(splits(&course, 0.01).contains(&before), "{course:?}");
            }
        }
    }

    #[test]
    fn two_excursions_are_no_level() {
        let mut course = vec![1.0; 30];
        course[28..].fill(9.0);
        assert_eq!(splits(&course, 0.01), [0; 0]);
    }
}
