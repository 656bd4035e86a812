//! The process as a random effect: what sets of fresh processes say about ratios.
//!
//! A process has one address layout, and a set of processes one state of the machine; either can
//! shift a contender's times by percents for as long as it lasts, and more rounds make that no
//! smaller. So the unit of evidence is a contender's median in one set. In the logarithm,
//!
//! ```text
//!   y(contender, set) = level(contender) + state(set) + error(contender, set)
//! ```
//!
//! and the spread of the errors is estimated from all contenders together, because four sets of one
//! contender alone say little about it. Of one whose own errors spread more it is that, with as many degrees of
//! freedom as its own sets have. The hidden twin is one more contender of that kind, and one
//! more sample of the level of whom it copies, which is no better known than by how far the two are apart.

use crate::stats::{
    Correlations, Interval, inefficiency, median, student_quantile, student_two_sided,
};

/// The copy of a contender is called different where chance alone would make it so this seldom.
const APART: f64 = 0.01;

/// Medians of log times by contender and set.
pub(crate) struct Sets {
    /// By contender: a value for each set, or nothing where it has not all of them.
    levels: Vec<Option<Vec<f64>>>,
    /// The twin and whom it copies.
    twin: Option<(usize, usize)>,
    /// Variance of the errors, of all and by contender.
    pooled: f64,
    own: Vec<f64>,
    /// Degrees of freedom of the pooled variance, and of a contender's own.
    freedom: f64,
    own_freedom: f64,
}

/// A contender's mean of log times.
#[derive(Clone, Copy)]
struct Level {
    log: f64,
    /// Of the mean.
    variance: f64,
    /// Its variance is its own, not that of all.
    is_own: bool,
}

/// One contender's ratio to another as an estimate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    /// Log of the ratio: the mean over the sets.
    pub(crate) log: f64,
    /// Its standard error.
    pub(crate) error: f64,
    freedom: f64,
    /// Sets it rests on.
    pub(crate) sets: usize,
}

impl Estimate {
    /// The interval of the ratio at level 1 - alpha; none where nothing varies, or so much that it has no ends.
    pub(crate) fn interval(&self, alpha: f64) -> Option<Interval> {
        let reach = student_quantile(alpha, self.freedom) * self.error;
        Interval::of_logs(self.log - reach, self.log + reach).filter(|_| self.varies())
    }

    /// Whether more varies than what was rounded off means: with a clock too coarse to tell sets apart nothing
    /// is known of how far it is off.
    pub(crate) fn varies(&self) -> bool {
        self.error > 1e-12 * (1.0 + self.log.abs())
    }

    /// The p-value against a ratio of 1.
    pub(crate) fn p_value(&self) -> f64 {
        student_two_sided(self.log.abs() / self.error, self.freedom)
    }
}

impl Sets {
    /// From log times by round and contender (`None` without a reading) and each round's set.
    /// `None` with fewer than two sets or contenders.
    pub(crate) fn new(
        rounds: &[(u32, Vec<Option<f64>>)],
        twin: Option<(usize, usize)>,
    ) -> Option<Sets> {
        Sets::of_levels(levels(rounds, &common(rounds)), twin)
    }

    /// From a value of each set by contender; `None` for one that lacks one.
    pub(crate) fn of_levels(
        levels: Vec<Option<Vec<f64>>>,
        twin: Option<(usize, usize)>,
    ) -> Option<Sets> {
        let present: Vec<&Vec<f64>> = levels.iter().flatten().collect();
        let (count, sets) = (present.len() as f64, present.first()?.len());
        if present.len() < 2 || sets < 2 {
            return None;
        }
        let centred = |levels: &[f64]| -> Vec<f64> {
            levels.iter().map(|level| level - mean(levels)).collect()
        };
        let states: Vec<f64> = (0..sets)
            .map(|set| present.iter().map(|levels| centred(levels)[set]).sum::<f64>() / count)
            .collect();
        let square = |levels: &Option<Vec<f64>>| {
            let levels = levels.as_deref().map(centred).unwrap_or_default();
            levels.iter().zip(&states).map(|(level, state)| (level - state).powi(2)).sum::<f64>()
        };
        let squares: Vec<f64> = levels.iter().map(square).collect();
        let residual = |levels: &&Vec<f64>| -> Vec<f64> {
            centred(levels).iter().zip(&states).map(|(level, state)| level - state).collect()
        };
        let residuals: Vec<Vec<f64>> = present.iter().map(residual).collect();
        let Inherited { inflation, worth } = inherited(&residuals, sets);
        let each = sets as f64 - 1.0;
        let all = squares.iter().sum::<f64>();
        let pooled = inflation * all / (count - 1.0) / each;
        // The state takes in a share of everybody's errors: of Grubbs' estimators, which two cannot have.
        let grubbs = |square: &f64| {
            (square - all / (count * (count - 1.0))) / (1.0 - 2.0 / count) * inflation / each
        };
        let own = match present.len() {
            2 => vec![pooled; squares.len()],
            _ => squares.iter().map(grubbs).collect(),
        };
        let (freedom, own_freedom) = ((count - 1.0) * (worth - 1.0), worth - 1.0);
        Some(Sets { levels, twin, pooled, own, freedom, own_freedom })
    }

    /// The ratio of two contenders.
    pub(crate) fn ratio(&self, of: usize, to: usize) -> Option<Estimate> {
        let sets = self.levels[of].as_ref()?.len();
        let (of, to) = (self.level(of)?, self.level(to)?);
        Some(Estimate {
            log: of.log - to.log,
            error: (of.variance + to.variance).sqrt(),
            freedom: self.freedom([of, to]),
            sets,
        })
    }

    /// Those of a sum of variances, by Welch and Satterthwaite; what is pooled is one and the same.
    fn freedom(&self, levels: [Level; 2]) -> f64 {
        let (own, pooled): (Vec<Level>, Vec<Level>) =
            levels.into_iter().partition(|level| level.is_own);
        if own.is_empty() {
            return self.freedom;
        }
        let sum = |levels: &[Level]| levels.iter().map(|level| level.variance).sum::<f64>();
        let own_squares: f64 = own.iter().map(|level| level.variance.powi(2)).sum();
        let squares = sum(&pooled).powi(2) / self.freedom + own_squares / self.own_freedom;
        (sum(&own) + sum(&pooled)).powi(2) / squares
    }

    /// The twin against whom it copies.
    pub(crate) fn twin(&self) -> Option<Estimate> {
        let (twin, of) = self.twin?;
        let (a, b) = (self.levels[twin].as_ref()?, self.levels[of].as_ref()?);
        let error = (2.0 * self.pooled / a.len() as f64).sqrt();
        Some(Estimate { log: mean(a) - mean(b), error, freedom: self.freedom, sets: a.len() })
    }

    /// A contender's level. One whose own sets differ by more than those of
    /// the others is believed to be as unsteady as it looks; none is believed to be steadier.
    fn level(&self, contender: usize) -> Option<Level> {
        let own = self.levels[contender].as_ref()?;
        let copy = self.twin.filter(|twin| twin.1 == contender);
        let copy = copy.and_then(|(twin, _)| self.levels[twin].as_ref());
        let all: Vec<f64> = own.iter().chain(copy.into_iter().flatten()).copied().collect();
        let is_own = self.own[contender] > self.pooled;
        let variance = if is_own { self.own[contender] } else { self.pooled };
        let variance = variance / all.len() as f64;
        // Identical code that differs by more than chance: its level is one of a sample of two.
        let apart = self.twin().filter(|twin| copy.is_some() && twin.p_value() < APART);
        let apart = apart.map_or(0.0, |twin| twin.log.powi(2) / 4.0);
        Some(Level { log: mean(&all), variance: variance.max(apart), is_own })
    }
}

/// Medians of log times by contender and set, cleaned of what each round has in common, with what each
/// set has: its state of the machine.
pub(crate) fn states(rounds: &[(u32, Vec<Option<f64>>)]) -> Vec<Option<Vec<f64>>> {
    let common = common(rounds);
    let mut levels = levels(rounds, &common);
    let state = |set: u32| {
        let own = rounds.iter().zip(&common).filter(|(round, _)| round.0 == set);
        median(&own.map(|(_, common)| *common).collect::<Vec<f64>>()).unwrap_or(0.0)
    };
    let states: Vec<f64> = numbers(rounds).into_iter().map(state).collect();
    for own in levels.iter_mut().flatten() {
        own.iter_mut().zip(&states).for_each(|(level, state)| *level += state);
    }
    levels
}

/// Medians by contender and set of log times less what each round has in common; nothing of a contender
/// that lacks a set.
fn levels(rounds: &[(u32, Vec<Option<f64>>)], common: &[f64]) -> Vec<Option<Vec<f64>>> {
    let numbers = numbers(rounds);
    let level = |contender: usize, set: u32| {
        let own = rounds.iter().zip(common).filter(|(round, _)| round.0 == set);
        let own = own.filter_map(|(round, common)| Some(round.1[contender]? - common));
        median(&own.collect::<Vec<f64>>())
    };
    let of = |contender| numbers.iter().map(|&set| level(contender, set)).collect();
    (0..contenders(rounds)).map(of).collect()
}

/// How many contenders the rounds have.
fn contenders(rounds: &[(u32, Vec<Option<f64>>)]) -> usize {
    rounds.first().map_or(0, |round| round.1.len())
}

/// One contender's time and its interval, from the medians of its sets alone.
pub(crate) fn alone(
    rounds: &[(u32, Vec<Option<f64>>)],
    contender: usize,
    alpha: f64,
) -> Option<(f64, Interval)> {
    let of = |set: u32| {
        let own = rounds.iter().filter(|round| round.0 == set);
        median(&own.filter_map(|round| round.1[contender]).collect::<Vec<f64>>())
    };
    let levels: Vec<f64> = numbers(rounds).into_iter().filter_map(of).collect();
    let freedom = levels.len().checked_sub(1).filter(|&freedom| freedom > 0)? as f64;
    let log = mean(&levels);
    let square: f64 = levels.iter().map(|level| (level - log).powi(2)).sum();
    let error = (square / freedom / levels.len() as f64).sqrt();
    let interval = Estimate { log, error, freedom, sets: levels.len() }.interval(alpha)?;
    Some((log.exp(), interval))
}

/// The sets, in order.
fn numbers(rounds: &[(u32, Vec<Option<f64>>)]) -> Vec<u32> {
    let mut numbers: Vec<u32> = rounds.iter().map(|round| round.0).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// What sets, one after the other, inherit of those before them.
struct Inherited {
    /// By how much a mean over them varies more than one of independent ones would: at least 1.
    inflation: f64,
    /// Independent sets that they are worth.
    worth: f64,
}

/// From what is left of each contender in each set. Where sets lie apart they inherit little. Of fewer than eight
/// only neighbours are asked, since they show nothing of what lasts longer. The constants are tried in
/// `tests/coverage.rs`.
fn inherited(residuals: &[Vec<f64>], sets: usize) -> Inherited {
    let count = sets as f64;
    let correlations = Correlations::of(residuals.to_vec(), (sets / 4).max(1));
    // Sixteen sets may be short ones: what shows between them is believed to be larger by half a standard error.
    let errors = if sets >= 16 { 0.5 } else { 0.0 };
    let margin = errors / (count * (residuals.len() as f64 - 1.0)).sqrt();
    let seen = inefficiency(&correlations, sets, margin);
    if sets < 8 {
        return Inherited { inflation: seen, worth: count };
    }
    let inflation = (1.0 + 1.5 * (seen - 1.0)).min(0.6 * count);
    let worth = (count / inflation).max(2.0);
    // Slow states hardly move within the sets that are to show how far they do.
    let shown = 1.0 - (inflation - 1.0) / (count - 1.0);
    Inherited { inflation: inflation / shown, worth }
}

/// What all contenders of a round have in common, as the mean of how far each is from its own
/// median: a round in which everybody was slow says nothing about anybody. (The median of three would
/// be one of the three, whose own error would vanish.)
fn common(rounds: &[(u32, Vec<Option<f64>>)]) -> Vec<f64> {
    let of = |contender: usize| rounds.iter().filter_map(move |round| round.1[contender]);
    let middle = |contender| median(&of(contender).collect::<Vec<f64>>()).unwrap_or(0.0);
    let middles: Vec<f64> = (0..contenders(rounds)).map(middle).collect();
    let common = |logs: &[Option<f64>]| {
        let apart = logs.iter().zip(&middles).filter_map(|(log, middle)| Some((*log)? - middle));
        mean(&apart.collect::<Vec<f64>>())
    };
    rounds.iter().map(|round| common(&round.1)).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_that_inherit_from_each_other_are_worth_fewer() {
        let of = |level: fn(i32) -> i32| -> Inherited {
            let residuals: Vec<f64> = (0..16).map(|set| f64::from(level(set))).collect();
            inherited(&[residuals.clone(), residuals], 16)
        };
        let (alone, halves) = (of(|set| set % 2 * 2 - 1), of(|set| set / 8 * 2 - 1));
        assert_eq!((alone.inflation, alone.worth), (1.0, 16.0));
        assert!(halves.inflation > 2.0 && halves.worth < 8.0);
    }
}
