//! From exact states to text: statistics, rounding, order, and the formats; to columns of types for others.
//!
//! This is the only place where anything is rounded, and it is done on integers. A number is never
//! printed as `-0.0`. Each format is a pure function from groups to bytes; of many groups each thread
//! writes a part.

use crate::number::Rounding;
pub use crate::statistic::Statistic;

mod cell;
mod markdown;
mod order;
#[cfg(test)]
mod samples;
mod telling;
mod text;
mod typed;
mod wish;

pub use markdown::markdown;
pub use order::{Criterion, Sort, arrange, prepare};
pub(crate) use order::{Worths, is_by_key};
pub use telling::{Telling, append_total, compared, side_by_side, tellings, total_key};
pub(crate) use text::groups;
pub use text::{Streamed, brc, csv, headings, json, ndjson, rows, table, tsv};
pub use typed::{Type, Typed, key_part, scale_of, units};
pub use wish::{Wanted, Wish, WishError};

/// How numbers are shown.
#[derive(Clone, Debug)]
pub struct Layout {
    /// What is shown of each key; of columns of texts what [can be](Statistic::is_of_texts).
    pub statistics: Vec<Statistic>,
    /// Digits after the decimal point. By default [`brc`] shows those of the finest value and at least
    /// one, with [`SPREAD_DECIMALS`] more for variances and deviations, [`table`] and [`markdown`] those of the finest
    /// value, with as many more for means and linear quantiles, too; the other forms show every digit there is, and of means, variances, deviations,
    /// shares and changes in percent the first 17 significant ones.
    pub decimals: Option<u8>,
    /// What becomes of the digits after those.
    pub rounding: Rounding,
    /// What the columns of the key's parts are called, at least one.
    pub keys: Vec<String>,
    /// Whether columns come in pairs of the same keys, made by [`side_by_side`]: then both are shown,
    /// with how the second differs from the first.
    pub pairs: bool,
    /// Whether quantiles and numbers of different values are [nearly](crate::Options::approx) so: then each
    /// is followed by how far it may be off.
    pub errors: bool,
    /// Threads that write many groups, at least one; the text does not depend on it.
    pub threads: usize,
}

/// Decimals a variance or standard deviation, and in tables a mean or linear quantile, has beyond those of the input.
pub const SPREAD_DECIMALS: u16 = 2;

impl Default for Layout {
    fn default() -> Layout {
        Layout {
            statistics: vec![Statistic::Min, Statistic::Mean, Statistic::Max],
            decimals: None,
            rounding: Rounding::HalfUp,
            keys: vec!["key".to_owned()],
            pairs: false,
            errors: false,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}
