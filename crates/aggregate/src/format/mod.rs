//! From exact states to text: statistics, rounding, order, and six formats.
//!
//! This is the only place where anything is rounded, and it is done on integers. A number is never
//! printed as `-0.0`. Each format is a pure function from groups to bytes; of many groups each thread
//! writes a part.

use crate::number::Rounding;

mod cell;
mod order;
#[cfg(test)]
mod samples;
mod text;

pub use cell::cell;
pub use order::{Sort, arrange};
pub use text::{brc, csv, json, ndjson, table, tsv};

/// What can be said about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The smallest value.
    Min,
    /// The exact sum divided by the count.
    Mean,
    /// The largest value.
    Max,
    /// How many values.
    Count,
    /// The exact sum.
    Sum,
    /// The sample variance, `Σ(x - mean)² / (n - 1)`; nothing for a single value.
    Variance,
    /// The square root of the sample variance.
    Stddev,
}

impl Statistic {
    /// All of them, in the order users list them.
    pub const ALL: [Statistic; 7] = [
        Statistic::Min,
        Statistic::Mean,
        Statistic::Max,
        Statistic::Count,
        Statistic::Sum,
        Statistic::Variance,
        Statistic::Stddev,
    ];

    /// The word users write.
    pub fn name(self) -> &'static str {
        match self {
            Statistic::Min => "min",
            Statistic::Mean => "mean",
            Statistic::Max => "max",
            Statistic::Count => "count",
            Statistic::Sum => "sum",
            Statistic::Variance => "variance",
            Statistic::Stddev => "stddev",
        }
    }

    /// Whether [`Options::with_squares`](crate::Options::with_squares) must have been set.
    pub fn needs_squares(self) -> bool {
        matches!(self, Statistic::Variance | Statistic::Stddev)
    }
}

/// How numbers are shown.
#[derive(Clone, Debug)]
pub struct Layout {
    /// What is shown of each key.
    pub statistics: Vec<Statistic>,
    /// Digits after the decimal point, at most 18; by default the finest scale of the input and at
    /// least one, and [`SPREAD_DECIMALS`] more for variance and standard deviation.
    pub decimals: Option<u8>,
    /// What becomes of the digits after those.
    pub rounding: Rounding,
    /// Threads that write many groups, at least one; the text does not depend on it.
    pub threads: usize,
}

/// Decimals a variance or standard deviation has beyond those of the input.
pub const SPREAD_DECIMALS: u16 = 2;

impl Default for Layout {
    fn default() -> Layout {
        Layout {
            statistics: vec![Statistic::Min, Statistic::Mean, Statistic::Max],
            decimals: None,
            rounding: Rounding::HalfUp,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}
