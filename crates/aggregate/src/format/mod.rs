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

pub use order::{Sort, arrange};
pub use text::{brc, csv, json, ndjson, table, tsv};

/// Defines the statistics: each with its word, and what it is in a sentence.
macro_rules! statistics {
    ($($value:ident = $word:literal, $doc:literal;)*) => {
        /// What can be said about a key.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Statistic {
            $(#[doc = $doc] $value,)*
        }

        impl Statistic {
            /// All of them, in the order users list them.
            pub const ALL: &[Statistic] = &[$(Statistic::$value),*];

            /// The word users write.
            pub fn name(self) -> &'static str {
                match self {
                    $(Statistic::$value => $word,)*
                }
            }

            /// What it is.
            pub fn doc(self) -> &'static str {
                match self {
                    $(Statistic::$value => $doc,)*
                }
            }
        }
    };
}

statistics! {
    Min = "min", "The smallest value";
    Mean = "mean", "The exact sum divided by the number of values";
    Max = "max", "The largest value";
    Count = "count", "How many values";
    Rows = "rows", "How many records, those without a value included";
    Sum = "sum", "The exact sum";
    Variance = "variance", "Sample variance; nothing for fewer than two values";
    Stddev = "stddev", "Sample standard deviation, its root";
}

impl Statistic {
    /// The statistic users call so.
    pub fn named(name: &str) -> Option<Statistic> {
        Statistic::ALL.iter().copied().find(|statistic| statistic.name() == name)
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
    /// Digits after the decimal point. By default [`brc`] shows those of the finest value and at least
    /// one, [`table`] those of the finest value, both with [`SPREAD_DECIMALS`] more for what is not
    /// exact at them; the other forms show every digit there is, and of what has no last one at
    /// least 17 significant ones.
    pub decimals: Option<u8>,
    /// What becomes of the digits after those.
    pub rounding: Rounding,
    /// What the columns of the key's parts are called, at least one.
    pub keys: Vec<String>,
    /// Threads that write many groups, at least one; the text does not depend on it.
    pub threads: usize,
}

/// Decimals a variance or standard deviation, and in tables a mean, has beyond those of the input.
pub const SPREAD_DECIMALS: u16 = 2;

impl Default for Layout {
    fn default() -> Layout {
        Layout {
            statistics: vec![Statistic::Min, Statistic::Mean, Statistic::Max],
            decimals: None,
            rounding: Rounding::HalfUp,
            keys: vec!["key".to_owned()],
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}
