//! Where a course of numbers stepped: splits that separate the ranks of the two sides better than chance
//! does, by permutation.
//!
//! For each split the ranks before it are summed and standardised (Wilcoxon 1945); the largest of these
//! is what shuffled copies of the course have to reach. If the numbers are exchangeable, as independent
//! noise of any distribution is, each order of them is as likely as any other, so the share of shuffled
//! copies that reach it is an exact p-value, for any number of runs. Drift and noise that correlates from
//! run to run are steps to this test. Where a clear step is, the numbers themselves say: a rank sum is largest nearer the
//! middle in one course of six.
//!
//! What went up and came back again no single split of all runs tells. So the same is asked of spans of the course, of many
//! lengths, where the narrowest that is clear has one step only (seeded intervals: Kovács, Li, Bühlmann and Munk 2023;
//! narrowest over threshold: Baranowski, Chen and Fryzlewicz 2019). Of the two answers the less likely one counts, and how
//! often chance has one as unlikely.

use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};

use fathom_measure::stats::{Random, median, sorted};

/// Fewer runs on a side are an excursion and no level.
const FEWEST: usize = 3;
/// So many shuffled copies may reach a step that is called; more make its p-value less random.
const REACHED: f64 = 20.0;
/// However small the level, so many shuffled copies are enough, but for a level that they could not reach.
const MOST_COPIES: f64 = 400_000.0;
/// In all their spans so many runs, a second or two; for a level that takes more one split of all runs is looked for.
const MOST_LOOKED_AT: f64 = 1e8;

/// The places where `numbers` are split, in order: where two levels fit best if chance gives a split as clear in fewer
/// than `alpha` of the courses without any, and then those of both sides.
pub(crate) fn splits(numbers: &[f64], alpha: f64, chance: &mut Chance) -> Vec<usize> {
    let mut found = Vec::new();
    split(numbers, 0, alpha, chance, &mut found);
    // Each between its neighbours, of which the later ones were not known when it was found.
    for _ in 0..3 {
        for at in 0..found.len() {
            let from = if at == 0 { 0 } else { found[at - 1] };
            let to = found.get(at + 1).copied().unwrap_or(numbers.len());
            found[at] = from + between_levels(&numbers[from..to]);
        }
    }
    found
}

fn split(numbers: &[f64], from: usize, alpha: f64, chance: &mut Chance, found: &mut Vec<usize>) {
    let Some(span) = chance.narrowest(numbers, alpha) else { return };
    let place = span.start + between_levels(&numbers[span]);
    split(&numbers[..place], from, alpha, chance, found);
    found.push(from + place);
    split(&numbers[place..], from + place, alpha, chance, found);
}

/// How clear the clearest split is of orders by chance: of all runs, and of any span of them. With ties told apart at
/// random it is that of any numbers of so many runs; it is found once, as far as it is asked for.
#[derive(Default)]
pub(crate) struct Chance(HashMap<(usize, bool), Orders>);

struct Orders {
    random: Random,
    order: Vec<u32>,
    clear: Vec<[f64; 2]>,
}

impl Chance {
    /// The narrowest span of the runs that is split more clearly than chance splits them in a share `alpha` of their
    /// orders; all of them where no other is.
    fn narrowest(&mut self, numbers: &[f64], alpha: f64) -> Option<Range<usize>> {
        let runs = numbers.len();
        if runs < 2 * FEWEST {
            return None;
        }
        let least = (1.0 / alpha).ceil() + 1.0;
        let mut spans = spans(runs);
        let looked_at = (spans.len() * runs) as f64;
        let with_spans = least * looked_at < MOST_LOOKED_AT;
        let most = if with_spans { MOST_LOOKED_AT / looked_at } else { MOST_COPIES };
        spans.truncate(if with_spans { usize::MAX } else { 1 });
        let copies = (REACHED / alpha).min(most).max(least) as usize;
        let mut ranks = vec![0.0; runs];
        let mut clear = |places: &[u32]| -> (f64, Vec<f64>) {
            let of_spans = spans.iter().rev().map(|span| clearness(places, span, &mut ranks));
            let of_spans = of_spans.collect();
            // Last came the span that is all of them.
            (clearest(&ranks).unwrap_or_default(), of_spans)
        };
        let most = |of_spans: &[f64]| of_spans.iter().copied().fold(0.0, f64::max);
        let (whole, of_spans) = clear(&by_rank(numbers));
        let own = [whole, most(&of_spans)];
        let (may_reach, mut reached) = (alpha * copies as f64, [1.0; 2]);
        let known = self.0.entry((runs, with_spans)).or_insert_with(|| Orders {
            random: Random::new(runs as u64),
            order: (0..runs as u32).collect(),
            clear: Vec::new(),
        });
        for at in 0..copies - 1 {
            if at == known.clear.len() {
                known.random.shuffle(&mut known.order);
                let (whole, of_spans) = clear(&known.order);
                known.clear.push([whole, most(&of_spans)]);
            }
            for (reached, (own, other)) in reached.iter_mut().zip(own.iter().zip(known.clear[at])) {
                *reached += f64::from(u8::from(other >= *own));
            }
            // As soon as neither can be clear any more none is.
            if reached.iter().all(|reached| *reached > may_reach) {
                return None;
            }
        }
        let all: Vec<[f64; 2]> = known.clear[..copies - 1].iter().copied().chain([own]).collect();
        let sorted =
            [0, 1].map(|which| sorted(&all.iter().map(|one| one[which]).collect::<Vec<_>>()));
        // Of how many orders the one or the other is as clear: what fewer are counts, and among equals the other one.
        let place = |which: usize, clear: f64| {
            copies - sorted[which].partition_point(|other| *other < clear)
        };
        let both = |one: &[f64; 2]| {
            let [whole, span] = [0, 1].map(|which| place(which, one[which]));
            (whole.min(span), whole.max(span))
        };
        let mut places: Vec<_> = all.iter().map(both).collect();
        places.sort_unstable();
        let (first, own_place) = (places[may_reach as usize], both(&own));
        if own_place >= first {
            return None;
        }
        let is_clear = |place: usize| place < first.0 || place == own_place.0;
        let clear =
            spans.iter().rev().zip(&of_spans).filter(|(_, clear)| is_clear(place(1, **clear)));
        let narrowest = clear.min_by(|a, b| a.0.len().cmp(&b.0.len()).then(b.1.total_cmp(a.1)));
        Some(narrowest.map_or(0..runs, |(span, _)| span.clone()))
    }
}

/// All runs, and spans of them, each length shorter by the root of two, at each quarter of its length.
fn spans(runs: usize) -> Vec<Range<usize>> {
    let whole = 0..runs;
    let mut spans = vec![whole];
    let mut length = runs as f64;
    loop {
        length /= std::f64::consts::SQRT_2;
        let size = length.round() as usize;
        if size < 2 * FEWEST {
            return spans;
        }
        spans.extend((0..runs - size).step_by((size / 4).max(1)).map(|start| start..start + size));
        spans.push(runs - size..runs);
    }
}

/// The places of numbers by their ranks, of equal ones at random.
fn by_rank(numbers: &[f64]) -> Vec<u32> {
    let mut places: Vec<u32> = (0..numbers.len() as u32).collect();
    Random::new(1).shuffle(&mut places);
    let number = |place: &u32| numbers[*place as usize];
    places.sort_by(|one, other| number(one).total_cmp(&number(other)));
    places
}

/// Of a span it is how much better two levels fit its ranks than one: the doubled logarithm of the ratio of likelihoods.
/// A split without a fault of few runs has less of it than one of many, but more than many have by chance. `places` has
/// the runs by their ranks.
fn clearness(places: &[u32], span: &Range<usize>, ranks: &mut [f64]) -> f64 {
    let mut rank = 0.0;
    for place in places {
        let at = (*place as usize).wrapping_sub(span.start);
        if at < span.len() {
            rank += 1.0;
            ranks[at] = rank;
        }
    }
    let far = clearest(&ranks[..span.len()]).unwrap_or_default();
    // This share of the variance of ranks is between the levels.
    -rank * (-far * far / (rank - 1.0)).ln_1p()
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
        let (mut random, mut chance) = (Random::new(5), Chance::default());
        for (runs, alpha) in [(8, 0.05), (12, 0.05), (30, 0.05), (12, 0.01), (40, 0.01)] {
            let trials = 3000;
            let course = |random: &mut Random| -> Vec<f64> {
                (0..runs).map(|_| 1.0 + noise(random)).collect()
            };
            let found = (0..trials)
                .filter(|_| !splits(&course(&mut random), alpha, &mut chance).is_empty());
            let share = found.count() as f64 / f64::from(trials);
            let deviation = (alpha * (1.0 - alpha) / f64::from(trials)).sqrt();
            assert!(share < alpha + 3.0 * deviation, "{runs} runs: {share} for {alpha}");
            // Not for never saying anything: of few runs there are few orders to tell apart.
            let least = if runs < 30 { alpha / 2.0 } else { alpha };
            assert!(runs < 12 || share > least - 4.0 * deviation, "{runs} runs: {share}");
        }
    }

    #[test]
    fn steps_of_a_few_percent_are_found_where_they_are() {
        let (mut random, mut chance) = (Random::new(6), Chance::default());
        for (before, after, least) in [(20, 20, 90), (30, 4, 10), (8, 8, 40)] {
            let found = (0..100).filter(|_| {
                let level = |i: usize| if i < before { 1.0 } else { 1.08 };
                let course: Vec<f64> =
                    (0..before + after).map(|i| level(i) + noise(&mut random)).collect();
                splits(&course, 0.01, &mut chance).iter().any(|place| place.abs_diff(before) <= 2)
            });
            let found = found.count();
            assert!(found >= least, "{before} and {after} runs: {found} of 100");
        }
    }

    /// With more courses than a hundredth of the copies no step was ever found.
    #[test]
    fn a_clear_step_of_one_in_thousands_of_courses_is_found() {
        let course = [[1.0; 15], [2.0; 15]].concat();
        assert_eq!(splits(&course, 0.01 / 4100.0, &mut Chance::default()), [15]);
    }

    /// One in six was told to have begun a run or more before or after it did.
    #[test]
    fn a_step_that_nobody_can_miss_is_placed_where_it_is() {
        let (mut random, mut chance) = (Random::new(7), Chance::default());
        for (before, after) in [(14, 8), (8, 20), (30, 5), (50, 5), (10, 10)] {
            for _ in 0..100 {
                let level = |i: usize| if i < before { 1.0 } else { 1.06 };
                let course: Vec<f64> =
                    (0..before + after).map(|i| level(i) + 0.006 * random.fraction()).collect();
                assert!(splits(&course, 0.01, &mut chance).contains(&before), "{course:?}");
            }
        }
    }

    #[test]
    fn two_excursions_are_no_level() {
        let mut course = vec![1.0; 30];
        course[28..].fill(9.0);
        let mut chance = Chance::default();
        assert_eq!(splits(&course, 0.01, &mut chance), [0; 0]);
        // Nor does one begin with them behind a step that is clear.
        let mut course: Vec<f64> = (0..26).map(|i| 1.0 + 1e-4 * f64::from(i * 7 % 13)).collect();
        course[20..24].iter_mut().for_each(|time| *time += 0.02);
        course[24..].fill(1.5);
        let found = splits(&course, 0.01, &mut chance);
        assert!(!found.is_empty() && found.iter().all(|at| *at <= 23), "{found:?}");
    }

    /// What went up and came back was no step at all, and of two in one direction one was found, between them.
    #[test]
    fn levels_that_return_or_rise_twice_are_found_where_they_are() {
        let (mut random, mut chance) = (Random::new(8), Chance::default());
        for (levels, runs, least) in [
            (&[1.0, 1.1, 1.0, 1.1][..], &[10, 10, 10, 10][..], 36),
            (&[1.0, 1.1, 1.0, 1.1], &[8, 8, 8, 8], 15),
            (&[1.0, 1.1, 1.0], &[10, 10, 10], 36),
            (&[1.0, 1.1, 1.0], &[8, 8, 8], 15),
            (&[1.0, 1.1, 1.2], &[8, 8, 8], 36),
            (&[1.0, 1.1, 1.2], &[10, 10, 10], 36),
            (&[1.0, 1.1, 1.2], &[10, 5, 10], 32),
            (&[1.0, 1.1, 1.2], &[20, 6, 12], 36),
        ] {
            let ends = runs.iter().scan(0, |end, runs| {
                *end += runs;
                Some(*end)
            });
            let steps: Vec<usize> = ends.take(runs.len() - 1).collect();
            let found = (0..40).filter(|_| {
                let of = |(level, runs): (&f64, &usize)| vec![*level; *runs];
                let mut course: Vec<f64> = levels.iter().zip(runs).flat_map(of).collect();
                course.iter_mut().for_each(|time| *time *= 1.0 + 0.006 * (random.fraction() - 0.5));
                splits(&course, 0.01, &mut chance) == steps
            });
            let found = found.count();
            assert!(found >= least, "{levels:?} {runs:?}: {found} of 40");
        }
    }
}
