//! Quantiles: which share of the values lies below, and which value that is.
//!
//! Two of the nine definitions of Hyndman & Fan (Sample quantiles in statistical packages, The American
//! Statistician 50, 1996). Of `n` sorted values `x[0] … x[n - 1]` and a share `p`
//!
//! - *linear*, type 7, that of R, NumPy, spreadsheets and SQL's `percentile_cont`: the value at place
//!   `(n - 1) p`, on the straight line between the two values around it;
//! - *nearest*, type 1, the inverse of the distribution, SQL's `percentile_disc`: the first value that
//!   at least the share `p` of all is not above; always one of the values.
//!
//! Both are decimal numbers when the values are, and no digit of them is rounded.

use std::fmt;

use crate::kept::Multiset;
use crate::number::Decimal;

/// A share of the values, and how the value there is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantile {
    /// The share in [`WHOLE`]ths.
    share: u32,
    is_median: bool,
    pub(crate) method: Method,
}

/// What a quantile is where it falls between two values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// A value on the straight line between them: type 7 of Hyndman & Fan.
    #[default]
    Linear,
    /// The smallest value that is large enough: type 1.
    Nearest,
}

/// All of the values: percents have six decimals.
const WHOLE: u32 = 100_000_000;

/// Decimals of [`WHOLE`].
const WHOLE_DECIMALS: u16 = 8;

impl Quantile {
    /// The quantile users call so: `median`, or `p` and a percentage from 0 to 100 with at most six
    /// decimals, such as `p99.9`.
    pub fn named(name: &str) -> Option<Quantile> {
        let (percent, is_median) = match name {
            "median" => ("50", true),
            _ => (name.strip_prefix('p')?, false),
        };
        let (whole, part) = percent.split_once('.').unwrap_or((percent, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let has_digits =
            !whole.is_empty() && whole.len() <= 3 && is_digits(whole) && is_digits(part);
        if !has_digits || part.len() > 6 || percent.ends_with('.') {
            return None;
        }
        let share: u32 = format!("{whole}{part:0<6}").parse().ok()?;
        (share <= WHOLE).then_some(Quantile { share, is_median, method: Method::default() })
    }

    /// The same by this method; without, it is [`Method::Linear`].
    #[must_use]
    pub fn by(self, method: Method) -> Quantile {
        Quantile { method, ..self }
    }

    /// Of all values, of which there are `count`.
    pub(crate) fn of(self, values: &Multiset, count: u64) -> Option<Decimal> {
        let ([below, above], rest) = self.around(values, count)?;
        if self.method == Method::Nearest {
            return Some(below);
        }
        let between = between_small([&below, &above], rest);
        Some(between.unwrap_or_else(|| {
            let rest = Decimal::new(rest, WHOLE_DECIMALS);
            below.plus(&above.minus(&below).times_decimal(&rest))
        }))
    }

    /// Whether it is on the line from a number below zero to one above.
    pub(crate) fn crosses_zero(self, values: &Multiset, count: u64) -> bool {
        let zero = Decimal::new(0, 0);
        let around = self.around(values, count);
        around.is_some_and(|([below, above], _)| below < zero && zero < above)
    }

    /// The values at both sides of its place, and how many [`WHOLE`]ths of the way from one to the other it is.
    fn around(self, values: &Multiset, count: u64) -> Option<([Decimal; 2], i128)> {
        let (count, share, whole) = (u128::from(count), u128::from(self.share), u128::from(WHOLE));
        if self.method == Method::Nearest {
            let place = (count * share).div_ceil(whole).max(1) - 1;
            return Some((values.at([place as u64; 2])?, 0));
        }
        let place = count.checked_sub(1)? * share;
        let (low, rest) = ((place / whole) as u64, place % whole);
        Some((values.at([low, low + u64::from(rest > 0)])?, rest as i128))
    }
}

/// What lies so many [`WHOLE`]ths of the way from one to the other, where all of it fits 128 bits.
fn between_small([below, above]: [&Decimal; 2], rest: i128) -> Option<Decimal> {
    let (low, high) = (below.small()?, above.small()?);
    let step = high.checked_sub(low)?.checked_mul(rest)?;
    let units = low.checked_mul(WHOLE.into())?.checked_add(step)?;
    (below.scale() == above.scale()).then(|| Decimal::new(units, below.scale() + WHOLE_DECIMALS))
}

impl fmt::Display for Quantile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_median {
            return f.write_str("median");
        }
        let (whole, part) = (self.share / (WHOLE / 100), self.share % (WHOLE / 100));
        let part = format!(".{part:06}");
        write!(f, "p{whole}{}", part.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept::Given;

    fn numbers(texts: &[&str]) -> Multiset {
        let mut numbers = texts.iter().map(|text| Decimal::parse(text.as_bytes()).unwrap());
        let mut set = Multiset::of(Given::Number(&numbers.next().unwrap()));
        numbers.for_each(|number| set.add(Given::Number(&number)));
        set
    }

    #[test]
    fn names_are_percentages() {
        for name in ["median", "p50", "p0", "p100", "p99.9", "p0.000001", "p99.999999"] {
            assert_eq!(Quantile::named(name).unwrap().to_string(), name);
        }
        assert_eq!(Quantile::named("p05.50").unwrap().to_string(), "p5.5");
        for name in ["p", "p.5", "p5.", "p101", "p100.000001", "p1.0000001", "p-1", "q50", "p1e1"] {
            assert_eq!(Quantile::named(name), None, "{name}");
        }
    }

    #[test]
    fn linear_and_nearest_are_types_7_and_1_of_hyndman_and_fan() {
        // By R 4: quantile(c(15, 20, 35, 40, 50), p, type = 7), and type = 1.
        let values = numbers(&["15", "20", "35", "40", "50"]);
        for (name, linear, nearest) in [
            ("p0", "15", "15"),
            ("p5", "16", "15"),
            ("p30", "23", "20"),
            ("p40", "29", "20"),
            ("median", "35", "35"),
            ("p99.9", "49.96", "50"),
            ("p100", "50", "50"),
        ] {
            let linearly = Quantile::named(name).unwrap();
            let of = |quantile: Quantile| quantile.of(&values, 5).unwrap();
            let number = |text: &str| Decimal::parse(text.as_bytes()).unwrap();
            assert_eq!(of(linearly), number(linear), "{name}");
            assert_eq!(of(linearly.by(Method::Nearest)), number(nearest));
        }
    }

    #[test]
    fn between_two_values_that_do_not_fit_128_bits_at_one_scale_it_is_exact_too() {
        for (name, values, expected) in [
            ("p50", &["1e38", "3e38"][..], "2e38"),
            (
                "p50",
                &["-1e37", "1e-38"],
                "-4999999999999999999999999999999999999.999999999999999999999999999999999999995",
            ),
            ("p50", &["17e37", "-17e37"], "0"),
            ("p25", &["1e30", "1.5", "2"], "1.75"),
        ] {
            let found = Quantile::named(name).unwrap().of(&numbers(values), values.len() as u64);
            let expected = Decimal::parse(expected.as_bytes()).unwrap();
            assert_eq!(found, Some(expected), "{name} of {values:?}");
        }
    }
}
