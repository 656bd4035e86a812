//! Conditions on records: `status >= 500 && host != "x"`.
//!
//! ```text
//! text ─ grammar ─▶ tree ─ program ─▶ condition with known kinds ─▶ true, false or unknown per record
//! ```
//!
//! Everything that can be wrong with a condition but a column that is not there is said before any
//! record is read. Numbers are exact, quotients as fractions. A field that says that there is no
//! value is *null*: what is computed from it is null, what is compared with it is neither true nor
//! false, and `&&`, `||` and `!` go on with that as SQL does. Records for which a condition is true
//! are taken. A field that is compared as a number and is none, is an error of its record; conditions
//! are looked at from the left to the right, and not any further than they decide.

use std::borrow::Cow;
use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

use crate::number::{Decimal, big_power_of_ten};
use crate::selector::Selector;

mod error;
mod formula;
mod grammar;
mod program;

pub use error::FilterError;
pub use formula::Formula;
use grammar::{Arithmetic, Comparison};
use program::{Number, Test, Text};

/// A condition on records.
///
/// ```
/// use fathom_aggregate::Filter;
///
/// assert!(Filter::parse("status >= 500 && host =~ \"^web\"").is_ok());
/// let error = Filter::parse("status + \"x\" > 3").unwrap_err();
/// assert_eq!(error.to_string(), "a text is no number\n  status + \"x\" > 3\n           ^^^");
/// ```
#[derive(Clone, Debug)]
pub struct Filter {
    text: String,
    test: Test,
    columns: Vec<Selector>,
    numbers: Vec<Selector>,
}

impl Filter {
    /// Reads a condition; the grammar stands in `docs/aggregate.md`.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(text: &str) -> Result<Filter, FilterError> {
        let failed = |wrong| FilterError { text: text.to_owned(), wrong };
        let tree = grammar::parse(text).map_err(failed)?;
        let (test, columns, numbers) = program::compile(&tree).map_err(failed)?;
        Ok(Filter { text: text.trim().to_owned(), test, columns, numbers })
    }

    /// What it was read from.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The columns it asks for, each once.
    pub fn columns(&self) -> &[Selector] {
        &self.columns
    }

    /// Those that are numbers to it.
    pub(crate) fn number_columns(&self) -> &[Selector] {
        &self.numbers
    }

    /// Whether it holds for a record; `fields` gives the field of a column by its place among
    /// [`columns`](Filter::columns), None for null.
    ///
    /// # Errors
    /// What `fields` says, and what `read` does of columns that are compared as numbers.
    #[inline]
    pub(crate) fn holds<'r, E>(
        &self,
        fields: impl Fn(usize) -> Result<Option<Cow<'r, [u8]>>, E>,
        read: impl Fn(usize, &[u8]) -> Result<Decimal, E>,
    ) -> Result<bool, E> {
        let record = Record { fields, read };
        let found = match &self.test {
            // What is most often asked is compiled into the loop over records.
            Test::Numbers(comparison, Number::Column(column), Number::Literal(literal)) => {
                record.compare(*comparison, *column, literal)
            }
            test => record.test(test),
        };
        Ok(found? == Some(true))
    }
}

/// What a condition sees of a record.
struct Record<F, G> {
    fields: F,
    /// The number of a field.
    read: G,
}

/// A number, as a fraction where it was divided.
struct Fraction {
    above: Decimal,
    /// Not zero.
    below: Option<Decimal>,
}

impl<'r, E, F, G> Record<F, G>
where
    F: Fn(usize) -> Result<Option<Cow<'r, [u8]>>, E>,
    G: Fn(usize, &[u8]) -> Result<Decimal, E>,
{
    fn test(&self, test: &Test) -> Result<Option<bool>, E> {
        Ok(match test {
            Test::Numbers(comparison, Number::Column(column), Number::Literal(literal)) => {
                self.compare(*comparison, *column, literal)?
            }
            Test::Numbers(comparison, left, right) => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                left.zip(right).map(|(left, right)| comparison.is(left.cmp(&right)))
            }
            Test::Texts(comparison, left, right) => {
                let (left, right) = (self.text(left)?, self.text(right)?);
                left.zip(right).map(|(left, right)| comparison.is(left.cmp(&right)))
            }
            Test::AmongNumbers(number, numbers) => self.number(number)?.map(|number| {
                let is = |known: &Decimal| Fraction::from(known.clone()).cmp(&number);
                numbers.binary_search_by(is).is_ok()
            }),
            Test::AmongTexts(text, texts) => self
                .text(text)?
                .map(|text| texts.binary_search_by(|known| (**known).cmp(&text)).is_ok()),
            Test::Match(text, pattern) => self.text(text)?.map(|text| pattern.is_match(&text)),
            Test::IsNull(column) => Some((self.fields)(*column)?.is_none()),
            Test::Not(inner) => self.test(inner)?.map(|holds| !holds),
            Test::All(parts) => self.until(parts, false)?,
            Test::Any(parts) => self.until(parts, true)?,
        })
    }

    #[inline(always)]
    fn compare(
        &self,
        comparison: Comparison,
        column: usize,
        literal: &Decimal,
    ) -> Result<Option<bool>, E> {
        let Some(field) = (self.fields)(column)? else { return Ok(None) };
        let order = match whole(&field, literal) {
            Some(order) => order,
            None => (self.read)(column, &field)?.cmp(literal),
        };
        Ok(Some(comparison.is(order)))
    }

    /// `decided` as soon as a part is it; otherwise unknown if any part is.
    fn until(&self, parts: &[Test], decided: bool) -> Result<Option<bool>, E> {
        let mut all = Some(!decided);
        for part in parts {
            match self.test(part)? {
                Some(holds) if holds == decided => return Ok(Some(decided)),
                Some(_) => {}
                None => all = None,
            }
        }
        Ok(all)
    }

    fn text<'t>(&self, text: &'t Text) -> Result<Option<Cow<'t, [u8]>>, E>
    where
        'r: 't,
    {
        match text {
            Text::Literal(literal) => Ok(Some(Cow::Borrowed(literal))),
            Text::Column(column) => (self.fields)(*column),
        }
    }

    fn number(&self, number: &Number) -> Result<Option<Fraction>, E> {
        Ok(match number {
            Number::Literal(literal) => Some(literal.clone().into()),
            Number::Column(column) => match (self.fields)(*column)? {
                Some(field) => Some((self.read)(*column, &field)?.into()),
                None => None,
            },
            Number::Arithmetic(sign, left, right) => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                left.zip(right).and_then(|(left, right)| left.with(*sign, &right))
            }
            Number::Round(inner, decimals) => {
                self.number(inner)?.map(|number| number.rounded(*decimals).into())
            }
        })
    }
}

/// How a field of few digits alone, which are the same number however decimals are written, compares with a whole
/// number; None of any other.
#[inline]
fn whole(field: &[u8], literal: &Decimal) -> Option<Ordering> {
    const MOST: usize = 18;
    let (negative, digits) = match field {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > MOST || literal.scale() != 0 {
        return None;
    }
    let mut units = 0;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        units = 10 * units + i64::from(digit);
    }
    let units = if negative { -units } else { units };
    Some(i128::from(units).cmp(&literal.small()?))
}

impl From<Decimal> for Fraction {
    fn from(above: Decimal) -> Fraction {
        Fraction { above, below: None }
    }
}

impl Fraction {
    /// None for what was divided by zero.
    fn with(&self, sign: Arithmetic, other: &Fraction) -> Option<Fraction> {
        let below = product(self.below.as_ref(), other.below.as_ref());
        Some(match sign {
            Arithmetic::Plus | Arithmetic::Minus => {
                let left = times(&self.above, other.below.as_ref());
                let right = times(&other.above, self.below.as_ref());
                let is_sum = sign == Arithmetic::Plus;
                let above = if is_sum { left.plus(&right) } else { left.minus(&right) };
                Fraction { above, below }
            }
            Arithmetic::Times => Fraction { above: self.above.times_decimal(&other.above), below },
            Arithmetic::Over => {
                let zero = Decimal::new(0, 0);
                if other.above == zero {
                    return None;
                }
                let above = times(&self.above, other.below.as_ref());
                Fraction { above, below: product(self.below.as_ref(), Some(&other.above)) }
            }
        })
    }

    /// The nearest number with so many decimals; of two the one farther from zero.
    fn rounded(&self, decimals: u16) -> Decimal {
        let one = Decimal::new(1, 0);
        let below = self.below.as_ref().unwrap_or(&one);
        let above =
            self.above.to_big() * big_power_of_ten(decimals) * big_power_of_ten(below.scale());
        let below = below.to_big() * big_power_of_ten(self.above.scale());
        let is_negative = (above.sign() == Sign::Minus) != (below.sign() == Sign::Minus);
        let [above, below] = [above, below].map(|number| BigInt::from(number.magnitude().clone()));
        let nearest: BigInt = (above * 2_u32 + &below) / (below * 2_u32);
        Decimal::of_big(if is_negative { -nearest } else { nearest }, decimals)
    }

    fn cmp(&self, other: &Fraction) -> Ordering {
        let left = times(&self.above, other.below.as_ref());
        let right = times(&other.above, self.below.as_ref());
        let zero = Decimal::new(0, 0);
        let is_negative = |below: &Option<Decimal>| below.as_ref().is_some_and(|b| *b < zero);
        let order = left.cmp(&right);
        if is_negative(&self.below) == is_negative(&other.below) { order } else { order.reverse() }
    }
}

fn times(above: &Decimal, factor: Option<&Decimal>) -> Decimal {
    factor.map_or_else(|| above.clone(), |factor| above.times_decimal(factor))
}

fn product(left: Option<&Decimal>, right: Option<&Decimal>) -> Option<Decimal> {
    match (left, right) {
        (Some(left), right) => Some(times(left, right)),
        (None, right) => right.cloned(),
    }
}

impl Comparison {
    fn is(self, order: Ordering) -> bool {
        match self {
            Comparison::Equal => order.is_eq(),
            Comparison::Unequal => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::AtMost => order.is_le(),
            Comparison::More => order.is_gt(),
            Comparison::AtLeast => order.is_ge(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::NumberError;

    /// What a condition says of `a`, `b` and `c`, of which an empty one is null.
    fn holds(text: &str, fields: [&str; 3]) -> Result<bool, String> {
        let filter = Filter::parse(text).map_err(|error| error.to_string())?;
        let field = |at: usize| {
            let field = match &filter.columns()[at] {
                Selector::Place(place) => fields[place - 1],
                Selector::Name(name) => fields[(name.as_bytes()[0] - b'a') as usize],
            };
            Ok((!field.is_empty()).then_some(Cow::Borrowed(field.as_bytes())))
        };
        filter.holds(field, |_, text| Decimal::parse(text).map_err(|why| why.to_string()))
    }

    #[test]
    fn conditions_hold_as_they_read() {
        for (text, expected) in [
            ("a >= 1.50", true),
            ("a > 1.50", false),
            ("b == \"x\"", true),
            ("b != \"x\"", false),
            ("a == 1.5 && b == \"y\" || $1 == 15e-1", true),
            ("a == 1.5 && (b == \"y\" || a == 2)", false),
            ("!(a == 2)", true),
            ("!a == 2", true),
            ("a * 2 + 1 == 4", true),
            ("1 + a * 2 == 4", true),
            ("(1 + a) * 2 == 5", true),
            ("10 - 3 - 2 == 5 && 12 / 2 / 3 == 2", true),
            ("1 / 3 * 3 == 1", true),
            ("1 / -3 < 1 / -4 && -1 / 3 > 1 / -2", true),
            ("-a < -1", true),
            ("round(a / 7, 2) == 0.21 && round(-a, 0) == -2", true),
            ("a in (1, 1.500, -2)", true),
            ("a not in (1, 2)", true),
            ("b in (\"y\", \"x\")", true),
            ("b =~ \"^[x-z]$\"", true),
            ("\"7\" =~ \"\\d\"", true),
            ("c is null", true),
            ("b is not null && c is null", true),
            ("c == 1 || c != 1", false),
            ("!(c == 1)", false),
            ("c == 1 || a == 1.5", true),
            ("c == 1 && a == 1.5", false),
            ("!(c == 1 && a == 2)", true),
            ("!(c == 1 || a == 2)", false),
            ("a / 0 == 1 || !(a / 0 == 1)", false),
            ("text(a) == \"1.5\" && text(a) != \"1.50\"", true),
            ("`a`<2&&`b`>=\"\"", true),
            ("b == \"x\" || b > 1", true),
        ] {
            assert_eq!(holds(text, ["1.5", "x", ""]), Ok(expected), "{text}");
        }
        assert_eq!(holds("b > 1", ["1.5", "x", ""]), Err(NumberError::Malformed.to_string()));
        assert_eq!(holds("b == \"q\\\"\\\\\"", ["", "q\"\\", ""]), Ok(true));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let mut others = Vec::new();
        for (text, message, span) in [
            ("", "expected a column, a number or a text", 0..0),
            ("a", "expected a comparison, such as status >= 500", 0..1),
            ("a = 1", "a comparison is written ==", 2..3),
            ("a == 1 and b == 2", "expected an operator, && or || or the end", 7..8),
            ("a == 1 == 1", "expected an operator, && or || or the end", 7..8),
            ("a == 1 & b == 2", "\"and\" is written &&, and \"or\" ||", 7..8),
            ("a == \"x", "the quote is never closed", 5..6),
            ("a == \"x\\\"", "the quote is never closed", 5..6),
            ("a == `b", "the quote is never closed", 5..6),
            ("`` == 1", "a column has a name", 0..1),
            ("text(\"x\") == a", "expected a column", 5..6),
            ("a == ", "expected a column, a number or a text", 5..5),
            ("a ==  )", "expected a column, a number or a text", 6..7),
            ("(a == 1", "expected a closing parenthesis", 7..7),
            ("a + \"x\" > 1", "a text is no number", 4..7),
            ("a == \"x\" + 1", "a text is no number", 5..8),
            ("a + 1 == \"x\"", "a number is no text: \"…\" makes it one", 0..5),
            ("5 =~ \"x\"", "a number is no text: \"…\" makes it one", 0..1),
            ("a =~ b", "a pattern is a text in quotes", 5..6),
            ("a =~ \"(\"", "not a regular expression: error: unclosed group", 5..8),
            ("a && b > 1", "expected a comparison, such as status >= 500", 0..1),
            ("(a > 1) + 2 > 3", "a condition is no number", 0..7),
            ("a in (1, \"x\")", "expected a text in quotes, as the others are", 6..7),
            ("a in ()", "expected a column, a number or a text", 6..7),
            ("1 is null", "only a column can be null", 0..1),
            ("a is nul", "expected null", 5..6),
            (
                "95th > 1",
                "expected a column, a number or a text: `95th` in backticks is a column",
                0..1,
            ),
            (
                "a == null",
                "expected a column, a number or a text: `null` in backticks is a column",
                5..6,
            ),
            ("$0 > 1", "expected a column, a number or a text", 0..1),
            ("a*a*a*a*a*a*a > 1", program::TOO_MANY, 0..17),
            ("a/a + b/b + c/c > a/a + b/b + c/c + a/b", program::TOO_MANY, 0..39),
            ("1/(a+1/(b+1/(c+1/(a+1/(b+1/c))))) > a", program::TOO_MANY, 0..37),
            ("1 < a < 3", "expected an operator, && or || or the end", 6..7),
        ] {
            let FilterError { wrong, .. } = Filter::parse(text).unwrap_err();
            if (wrong.message.as_str(), &wrong.span) != (message, &span) {
                others.push((text, wrong));
            }
        }
        assert_eq!(others, []);
        let error = Filter::parse("größe == 1 && a =").unwrap_err().to_string();
        assert!(error.ends_with("\n                  ^"), "{error}");
    }

    #[test]
    fn deep_conditions_are_errors_and_long_ones_are_none() {
        for deep in ["(", "!", "-", "a+", "a*"] {
            let text = deep.repeat(100_000);
            assert!(Filter::parse(&text).is_err());
        }
        let sum = |terms: usize| Filter::parse(&format!("{} > 1", vec!["a"; terms].join(" + ")));
        assert!(sum(101).is_ok());
        assert!(sum(102).unwrap_err().to_string().contains("at most 100 signs in a row"));
        let long = vec!["a == 1"; 10_000].join(" || ");
        assert_eq!(holds(&long, ["1.5", "", ""]), Ok(false));
    }
}
