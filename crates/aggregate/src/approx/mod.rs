//! Sketches: what is kept of values where nearly is enough, in memory that does not grow with them.
//!
//! **Quantiles** are those of values that were rounded. A power of ten is cut into 175 steps, so fine that rounding to the
//! nearest one moves no value by more than a hundredth of itself:
//!
//! ```text
//!   1.00 … 2.50 by 0.02      2.50 … 5.00 by 0.05      5.00 … 10.0 by 0.1        and so on, times ten
//! ```
//!
//! It is the histogram of relative error of Masson, Rim and Lee (DDSketch, VLDB 12, 2019) with the decimal bins of Hartmann
//! and Schlossnagle (Circllhist, 2020): no logarithm is taken, so that every machine has the same bins, and numbers of two
//! digits stay what they are. Rounding keeps the order of values; therefore the quantile of what was rounded lies as near
//! to the quantile as the values to theirs, unless it is on the line from one below zero to one above. Steps ten or a hundred times finer are the bounds of 0.1 % and 0.01 %.
//!
//! **How many values differ** is told by [`Sketch`]. Both merge in any order to the same bytes.

use num_bigint::{BigInt, Sign};
use serde::{Deserialize, Serialize};

use crate::number::{Decimal, big_power_of_ten};

mod sketch;

pub(crate) use sketch::{STANDARD_ERROR, Sketch};

/// How far a rounded value may be from the value, as a share of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Approx {
    /// A hundredth.
    #[serde(rename = "1%")]
    Percent,
    /// A thousandth.
    #[serde(rename = "0.1%")]
    Tenth,
    /// A ten-thousandth.
    #[serde(rename = "0.01%")]
    Hundredth,
}

impl Approx {
    /// All bounds, with the words for them.
    pub const ALL: [(&str, Approx); 3] =
        [("1%", Approx::Percent), ("0.1%", Approx::Tenth), ("0.01%", Approx::Hundredth)];

    /// The bound that users call so.
    pub fn named(name: &str) -> Option<Approx> {
        Approx::ALL.into_iter().find(|(word, _)| *word == name).map(|(_, approx)| approx)
    }

    /// The bound in percent.
    pub(crate) fn percent(self) -> Decimal {
        Decimal::new(1, self.digits() - 2)
    }

    /// Digits that every value keeps.
    fn digits(self) -> u16 {
        match self {
            Approx::Percent => 2,
            Approx::Tenth => 3,
            Approx::Hundredth => 4,
        }
    }

    /// The nearest step, of two the one farther from zero; the same digits behind the point.
    pub(crate) fn rounded(self, value: &Decimal) -> Decimal {
        let small = value.small().and_then(|units| {
            let size =
                u64::try_from(units.unsigned_abs()).ok().filter(|size| *size < u64::MAX / 2)?;
            Some(units.signum() * i128::from(self.step_of(size)))
        });
        match small {
            Some(units) => Decimal::new(units, value.scale()),
            None => self.rounded_big(value),
        }
    }

    /// The same of units without their sign, below 2^63.
    fn step_of(self, units: u64) -> u64 {
        let exponent = units.checked_ilog10().unwrap_or(0);
        let Some(free) = exponent.checked_sub(self.digits().into()) else { return units };
        let unit = 10_u64.pow(free);
        // The first digits, one more than stay.
        let step = unit * step(units / 10_u64.pow(exponent - 1));
        (units + step / 2) / step * step
    }

    fn rounded_big(self, value: &Decimal) -> Decimal {
        let units = value.to_big();
        let digits = units.magnitude().to_string();
        let exponent = digits.len() - 1;
        let Some(free) = exponent.checked_sub(self.digits().into()) else { return value.clone() };
        let first = digits.get(..2).and_then(|first| first.parse().ok()).unwrap_or(10);
        let free = u16::try_from(free).expect("numbers have so few digits");
        let step: BigInt = big_power_of_ten(free) * step(first);
        let above = BigInt::from(units.magnitude().clone()) + &step / 2_u32;
        let rounded = above / &step * step;
        let rounded = if units.sign() == Sign::Minus { -rounded } else { rounded };
        Decimal::of_big(rounded, value.scale())
    }
}

/// The step, in units of the digit behind those that stay, of numbers with these first two digits.
fn step(first_two: u64) -> u64 {
    match first_two {
        10..25 => 2,
        25..50 => 5,
        _ => 10,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn steps_are_two_five_and_ten_hundredths() {
        let shown = |text: &str| {
            let number = Decimal::parse(text.as_bytes()).unwrap();
            Approx::Percent.rounded(&number).to_string()
        };
        for (value, expected) in [
            ("0", "0"),
            ("7", "7"),
            ("-99", "-99"),
            ("137", "138"),
            ("2.49", "2.50"),
            ("2.52", "2.50"),
            ("-2.525", "-2.550"),
            ("996", "1000"),
            ("0.0012345", "0.0012400"),
            ("123456789012345678901234567890", "124000000000000000000000000000"),
        ] {
            assert_eq!(shown(value), expected, "{value}");
        }
    }

    #[test]
    fn a_power_of_ten_has_175_steps() {
        for (approx, steps) in [(Approx::Percent, 175), (Approx::Tenth, 1750)] {
            let rounded = (100_000..1_000_000).map(|n| approx.rounded(&Decimal::new(n, 0)).small());
            let all: std::collections::BTreeSet<_> = rounded.collect();
            assert_eq!(all.len(), steps + 1, "with the next power of ten");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_value_moves_farther_than_the_bound_and_none_overtakes_another(
            units in any::<i128>(), less in 0..126_u32, more in 0..1000_i128, scale in 0..5_u16,
        ) {
            for (word, approx) in Approx::ALL {
                let below: i128 = [10_000, 1000, 100][usize::from(4 - approx.digits())];
                let values = [units >> less, (units >> less).saturating_add(more)];
                let [one, other] = values.map(|units| {
                    let value = Decimal::new(units, scale);
                    let rounded = approx.rounded(&value);
                    let moved = rounded.minus(&value).to_big().magnitude() * below as u128;
                    assert!(moved <= *value.to_big().magnitude(), "{word} {value} {rounded}");
                    assert_eq!(approx.rounded(&rounded), rounded);
                    assert_eq!(rounded.scale(), scale);
                    let big = approx.rounded_big(&value);
                    assert_eq!(big, rounded, "in other arithmetic");
                    rounded
                });
                prop_assert!(one <= other);
            }
        }
    }
}
