//! What a comparison says, as types: the word, the reason why there is none, and what was merely
//! seen. Words are the report's; nobody reads a reason back out of a sentence.

use serde::Serialize;

/// The word of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "word")]
pub enum Verdict {
    /// The contender takes less time than the baseline.
    Faster,
    /// It takes more.
    Slower,
    /// This measurement cannot tell.
    NotResolved {
        /// Why not.
        why: Unresolved,
        /// About how many times longer measuring would have to take; `None` where longer measuring
        /// would not help.
        longer: Option<f64>,
    },
    /// The measurement is broken.
    Withheld {
        /// What broke it.
        why: Broken,
    },
}

impl Verdict {
    /// Whether a difference is called.
    #[must_use]
    pub fn is_called(&self) -> bool {
        matches!(self, Verdict::Faster | Verdict::Slower)
    }

    /// The word alone, as CSV and tables have it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::NotResolved { .. } => "not resolved",
            Verdict::Withheld { .. } => "withheld",
        }
    }
}

/// Why a difference is neither called nor denied.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[non_exhaustive]
pub enum Unresolved {
    /// There is no interval of so few rounds.
    TooFew {
        /// Rounds with a reading of both.
        rounds: usize,
        /// Rounds it takes.
        needed: usize,
    },
    /// The interval contains 1.
    ContainsOne,
    /// The interval contains 1 and is as narrow as was asked for.
    Close {
        /// They differ by less than this share.
        most: f64,
    },
    /// Identical code is called different here, and the difference is smaller than that may be.
    Floor {
        /// What identical code may differ by, as a share.
        least: f64,
    },
    /// All sets of processes read the same: the clock's resolution was reached.
    Resolution,
    /// So few sets of processes, at this level, that the ends of the interval are beyond all numbers.
    Unbounded,
    /// All rounds are of one set of processes: how much of a difference is layout is not known.
    OneProcess,
    /// Of several sets of processes one has no reading of one of the two.
    SetWithout,
}

/// What breaks a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[non_exhaustive]
pub enum Broken {
    /// The baseline failed.
    Baseline,
    /// The hidden copy of the baseline failed.
    Copy,
}

/// In how many rounds the contender took more and less time than the baseline: what was seen, whether
/// or not it proves anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// Rounds in which it took more time.
    pub slower: usize,
    /// Rounds in which it took less.
    pub faster: usize,
    /// Rounds in all, ties included.
    pub rounds: usize,
}

impl Seen {
    /// Counts the signs of log ratios.
    #[must_use]
    pub fn of(logs: &[f64]) -> Seen {
        let count = |is: fn(&&f64) -> bool| logs.iter().filter(is).count();
        Seen {
            slower: count(|log| **log > 0.0),
            faster: count(|log| **log < 0.0),
            rounds: logs.len(),
        }
    }

    /// The rounds in which the more frequent of the two happened.
    #[must_use]
    pub fn more(&self) -> usize {
        self.slower.max(self.faster)
    }

    /// The level at which the sign test of these rounds alone, taken as independent, would call it:
    /// 0.9375 of five in five.
    #[must_use]
    pub fn level(&self) -> f64 {
        1.0 - crate::stats::sign_test_of(self.more(), self.rounds)
    }
}
