//! What can be said about a key: the words for it, and what must be kept to say it.

use std::fmt;

use crate::approx::Approx;
use crate::quantile::{Method, Quantile};

/// Defines the statistics: each with its word, and what it is in a sentence.
macro_rules! statistics {
    ($($value:ident = $word:literal, $doc:literal;)*) => {
        /// What can be said about a key.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Statistic {
            $(#[doc = $doc] $value,)*
            /// The median, or another quantile.
            Quantile(Quantile),
        }

        impl Statistic {
            /// Words and what they say, in the order users list them; `p99.9` stands for all quantiles.
            pub const WORDS: &[(&str, &str)] = &[
                $(($word, $doc),)*
                ("median", "The value in the middle; a quantile"),
                ("p99.9", "The value below which 99.9 % lie, and so p0 to p100 with up to six decimals"),
            ];

            /// The statistic users call so.
            pub fn named(name: &str) -> Option<Statistic> {
                match name {
                    $($word => Some(Statistic::$value),)*
                    _ => Quantile::named(name).map(Statistic::Quantile),
                }
            }
        }

        impl fmt::Display for Statistic {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Statistic::$value => f.write_str($word),)*
                    Statistic::Quantile(quantile) => quantile.fmt(f),
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
    CountShare = "count%", "The values in percent of those of all keys";
    RowsShare = "rows%", "The records in percent of those of all keys";
    SumShare = "sum%", "The sum in percent of that of all keys";
    Variance = "variance", "Sample variance; nothing for fewer than two values";
    Stddev = "stddev", "Sample standard deviation, its root";
    Range = "range", "The largest value less the smallest";
    Distinct = "distinct", "How many different values; 1 and 1.0 are the same number";
    Mode = "mode", "The most frequent value; of several the smallest";
    First = "first", "The first value in the order of the input";
    Last = "last", "The last value in the order of the input";
    Histogram = "histogram", "How many values lie in each tenth of the way from the smallest to the largest";
}

impl Statistic {
    /// Whether [`Options::with_squares`](crate::Options::with_squares) must have been set.
    pub fn needs_squares(self) -> bool {
        matches!(self, Statistic::Variance | Statistic::Stddev)
    }

    /// Whether [`Options::with_values`](crate::Options::with_values) must have been set.
    pub fn needs_values(self, approx: Option<Approx>) -> bool {
        match self {
            Statistic::Distinct => approx.is_none(),
            _ => matches!(self, Statistic::Quantile(_) | Statistic::Mode | Statistic::Histogram),
        }
    }

    /// Whether [`Options::with_sketch`](crate::Options::with_sketch) must have been set.
    pub fn needs_sketch(self, approx: Option<Approx>) -> bool {
        self == Statistic::Distinct && approx.is_some()
    }

    /// Whether it is told only nearly of sketches.
    pub fn is_estimate(self) -> bool {
        matches!(self, Statistic::Quantile(_) | Statistic::Distinct)
    }

    /// Whether sketches cannot tell it.
    pub fn needs_all(self) -> bool {
        self == Statistic::Mode
    }

    /// Whether [`Options::with_ends`](crate::Options::with_ends) must have been set.
    pub fn needs_ends(self) -> bool {
        matches!(self, Statistic::First | Statistic::Last)
    }

    /// Whether it can be told of texts.
    pub fn is_of_texts(self) -> bool {
        use Statistic::{Distinct, First, Last, Mode};
        let is_value = matches!(self, Distinct | Mode | First | Last);
        is_value || self.is_of_records()
    }

    /// Whether it can be told where records are counted and no values read.
    pub fn is_of_records(self) -> bool {
        matches!(self, Statistic::Count | Statistic::Rows) || self.is_share_of_count()
    }

    /// Whether keys can be sorted by it.
    pub fn has_order(self) -> bool {
        self != Statistic::Histogram
    }

    /// Whether two of it have a difference that ends: roots have none, and lists none at all.
    pub(crate) fn has_difference(self) -> bool {
        !matches!(self, Statistic::Stddev | Statistic::Histogram)
    }

    /// Whether it is a number of things.
    pub(crate) fn is_count(self) -> bool {
        matches!(self, Statistic::Count | Statistic::Rows | Statistic::Distinct)
    }

    fn is_share_of_count(self) -> bool {
        matches!(self, Statistic::CountShare | Statistic::RowsShare)
    }

    /// Whether it needs the [total](crate::Column::total) of its column.
    pub fn is_share(self) -> bool {
        self == Statistic::SumShare || self.is_share_of_count()
    }

    /// The share of the same that all keys have, if it adds up.
    pub(crate) fn share(self) -> Option<Statistic> {
        match self {
            Statistic::Count => Some(Statistic::CountShare),
            Statistic::Rows => Some(Statistic::RowsShare),
            Statistic::Sum => Some(Statistic::SumShare),
            _ => None,
        }
    }

    /// These, each of what adds up with its share of all keys behind it.
    pub fn with_shares(told: &[Statistic]) -> Vec<Statistic> {
        let shares = |one: Statistic| one.share().filter(|share| !told.contains(share));
        told.iter().flat_map(|&one| [Some(one), shares(one)]).flatten().collect()
    }

    /// Whether it may have more digits than the values, or digits without end.
    pub fn is_between(self) -> bool {
        match self {
            Statistic::Quantile(quantile) => quantile.method == Method::Linear,
            _ => matches!(self, Statistic::Mean | Statistic::Variance | Statistic::Stddev),
        }
    }

    /// The same, with quantiles by this method.
    #[must_use]
    pub fn by(self, method: Method) -> Statistic {
        match self {
            Statistic::Quantile(quantile) => Statistic::Quantile(quantile.by(method)),
            _ => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_that_of_its_statistic() {
        for (word, _) in Statistic::WORDS {
            assert_eq!(Statistic::named(word).unwrap().to_string(), *word);
        }
        assert_eq!(Statistic::named("avg"), None);
    }
}
