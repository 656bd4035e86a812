//! A result by columns, each of one type, for whoever keeps types: Arrow, Parquet, Python.

use std::borrow::Cow;
use std::ops::Range;

use super::cell::{Cell, Purpose, write_told};
use super::telling::{Telling, tellings};
use super::text::groups;
use super::{Layout, Statistic};
use crate::composite;
use crate::engine::Column;

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Integers of 64 bits, as text.
    Integer,
    /// Integers of which some do not fit 64 bits, as text.
    Whole,
    /// Decimal numbers, as text.
    Number,
    /// Texts.
    Text,
}

/// A column behind the key.
#[derive(Clone, Copy, Debug)]
pub struct Typed<'r> {
    columns: &'r [Column],
    layout: &'r Layout,
    telling: Telling,
}

impl<'r> Typed<'r> {
    /// The columns behind the key, in the order of [`headings`](super::headings).
    pub fn all(columns: &'r [Column], layout: &'r Layout) -> Vec<Typed<'r>> {
        let typed = |(_, telling)| Typed { columns, layout, telling };
        tellings(columns, layout).into_iter().map(typed).collect()
    }

    /// Its cells in these rows, as [`json`](super::json) has them; None is what does not exist. What is not UTF-8
    /// has replacement characters.
    pub fn cells(self, rows: Range<usize>) -> impl Iterator<Item = Option<String>> + 'r {
        rows.map(move |place| {
            let (mut text, told) = (Vec::new(), (self.telling, place));
            match write_told(&mut text, self.columns, told, Purpose::Programs, self.layout) {
                Cell::Nothing => return None,
                Cell::Number => {}
                Cell::Text(found) | Cell::Json(found) => text = found.into_vec(),
            }
            Some(String::from_utf8_lossy(&text).into_owned())
        })
    }

    /// Digits behind the point that all its numbers have, if that was said: errors are told whole.
    pub fn decimals(self) -> Option<u8> {
        let is_error = matches!(self.telling, Telling::Error(..));
        self.layout.decimals.filter(|_| !is_error)
    }

    /// What its cells are: counts are integers, means are not, and what is said in the unit of the values is
    /// if no value has a digit behind the point.
    pub fn cell_type(self) -> Type {
        let (at, statistic) = match self.telling {
            Telling::Of(at, statistic) | Telling::Change([_, at], statistic) => (at, statistic),
            Telling::Error(..) | Telling::ChangeError(..) | Telling::Percent(..) => {
                return Type::Number;
            }
        };
        let column = &self.columns[at];
        let may_be_integer = match statistic {
            _ if statistic.is_count() => return Type::Integer,
            Statistic::Histogram => return Type::Text,
            _ if statistic.is_share() || statistic.is_between() => false,
            _ if column.is_text => return Type::Text,
            _ => column.scale == 0,
        };
        let fits = |text: String| text.parse::<i64>().is_ok();
        match may_be_integer {
            true if self.cells(0..groups(self.columns)).flatten().all(fits) => Type::Integer,
            true => Type::Whole,
            false => Type::Number,
        }
    }
}

/// A part of the keys in these rows.
pub fn key_part<'r>(
    columns: &'r [Column],
    layout: &'r Layout,
    part: usize,
    rows: Range<usize>,
) -> impl Iterator<Item = Cow<'r, [u8]>> {
    let parts = layout.keys.len();
    let of_key = move |key| composite::parts(key, parts).nth(part).unwrap_or_default();
    columns[0].groups[rows].iter().map(move |group| of_key(&group.key))
}

/// Digits of a decimal number behind the point.
pub fn scale_of(number: &str) -> usize {
    number.split_once('.').map_or(0, |(_, part)| part.len())
}

/// A decimal number in units of `10^-scale`, if that has no more than 38 digits.
pub fn units(number: &str, scale: usize) -> Option<i128> {
    let zeros = "0".repeat(scale.checked_sub(scale_of(number))?);
    let units: i128 = format!("{}{zeros}", number.replace('.', "")).parse().ok()?;
    (units.unsigned_abs() < 10_u128.pow(38)).then_some(units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_the_digits_of_the_number() {
        for (number, scale, expected) in [
            ("0", 0, Some(0)),
            ("-1.5", 1, Some(-15)),
            ("-1.5", 3, Some(-1500)),
            ("-0.05", 2, Some(-5)),
            ("7", 37, Some(7 * 10_i128.pow(37))),
            ("7", 38, None),
            ("1.25", 1, None),
            ("100000000000000000000000000000000000000", 0, None),
            ("-99999999999999999999999999999999999999", 0, Some(1 - 10_i128.pow(38))),
        ] {
            assert_eq!(units(number, scale), expected, "{number} {scale}");
        }
    }
}
