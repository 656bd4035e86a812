//! Where a course of numbers stepped: splits that separate the ranks of the two sides better than chance
//! does, by permutation.
//!
//! For each split the ranks before it are summed and standardised (Wilcoxon 1945); the largest of these
//! is what shuffled copies of the course have to reach. If the numbers are exchangeable, as independent
//! noise of any distribution is, each order of them is as likely as any other, so the share of shuffled
//! copies that reach it is an exact p-value, for any number of runs. Drift and noise that correlates from
//! run to run are steps to this test.

use fathom_measure::stats::Random;

/// Fewer runs on a side are an excursion and no level.
const FEWEST: usize = 3;
/// So many shuffled copies may reach a step that is called; more make its p-value less random.
const REACHED: f64 = 20.0;
/// However small the level, so many shuffled copies are enough, but for a level that they could not reach.
const MOST_COPIES: f64 = 400_000.0;

/// The places where `numbers` are split, in order: the best split if chance gives one as clear in fewer
/// than `alpha` of the courses without any, and then those of both sides.
pub(crate) fn splits(numbers: &[f64], alpha: f64) -> Vec<usize> {
    let mut found = Vec::new();
    split(numbers, 0, alpha, &mut Random::new(1), &mut found);
    found
}

fn split(numbers: &[f64], from: usize, alpha: f64, random: &mut Random, found: &mut Vec<usize>) {
    let mut ranks = ranks(numbers);
    let Some((place, most)) = clearest(&ranks) else { return };
    let copies = (REACHED / alpha).min(MOST_COPIES).max((1.0 / alpha).ceil() + 1.0);
    let mut reached = 1.0;
    for _ in 1..copies as usize {
        // As soon as it cannot be clear any more it is not.
        if reached > alpha * copies {
            return;
        }
        random.shuffle(&mut ranks);
        let other = clearest(&ranks).map_or(0.0, |other| other.1);
        reached += f64::from(u8::from(other >= most - 1e-9));
    }
    if reached > alpha * copies {
        return;
    }
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

/// The split whose rank sum is furthest from what is expected, in standard deviations.
fn clearest(ranks: &[f64]) -> Option<(usize, f64)> {
    let n = ranks.len() as f64;
    let mut sum = 0.0;
    let mut best: Option<(usize, f64)> = None;
    for (index, rank) in ranks.iter().enumerate() {
        sum += rank;
        let t = index + 1;
        if t < FEWEST || t + FEWEST > ranks.len() {
            continue;
        }
        let size = t as f64;
        let deviation = (size * (n - size) * (n + 1.0) / 12.0).sqrt();
        let far = (sum - size * (n + 1.0) / 2.0).abs() / deviation;
        if best.is_none_or(|best| far > best.1) {
            best = Some((t, far));
        }
    }
    best
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

    #[test]
    fn two_excursions_are_no_level() {
        let mut course = vec![1.0; 30];
        course[28..].fill(9.0);
        assert_eq!(splits(&course, 0.01), [0; 0]);
    }
}
