//! Values computed from the fields of a record: `price * quantity`, exact.
//!
//! The grammar is that of conditions, from sums on. A value has digits that end, so a quotient is one only where
//! the divisor is a number whose reciprocal ends, such as 2, 1000 or 1024; any other stands in `round(…, 4)`.

use std::borrow::Cow;

use super::error::FilterError;
use super::program::Number;
use super::{Record, grammar, program};
use crate::number::Decimal;
use crate::selector::Selector;

/// A computation on the fields of a record.
///
/// ```
/// use fathom_aggregate::Formula;
///
/// assert!(Formula::parse("(total - tax) / 2").is_ok());
/// assert!(Formula::parse("round(bytes / ms, 3)").is_ok());
/// let error = Formula::parse("bytes / ms").unwrap_err().to_string();
/// assert!(error.starts_with("a quotient may have digits without end"));
/// ```
#[derive(Clone, Debug)]
pub struct Formula {
    number: Number,
    columns: Vec<Selector>,
}

impl Formula {
    /// Reads a formula; the grammar stands in `docs/aggregate.md`.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(text: &str) -> Result<Formula, FilterError> {
        let failed = |wrong| FilterError { text: text.to_owned(), wrong };
        let tree = grammar::parse_sum(text).map_err(failed)?;
        let (number, columns) = program::compile_value(&tree).map_err(failed)?;
        Ok(Formula { number, columns })
    }

    /// The columns it asks for, each once.
    pub fn columns(&self) -> &[Selector] {
        &self.columns
    }

    /// What it is for a record; None if it is computed from null. `fields` and `read` are as in
    /// [`Filter::holds`](super::Filter::holds).
    ///
    /// # Errors
    /// What they say.
    pub(crate) fn value<'r, E>(
        &self,
        fields: impl Fn(usize) -> Result<Option<Cow<'r, [u8]>>, E>,
        read: impl Fn(usize, &[u8]) -> Result<Decimal, E>,
    ) -> Result<Option<Decimal>, E> {
        let record = Record { fields, read };
        Ok(record.number(&self.number)?.map(|fraction| fraction.above))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::NumberError;

    /// What a formula is for the fields of `a` and `b`, of which an empty one is null.
    fn value(text: &str, fields: [&str; 2]) -> Result<Option<String>, String> {
        let formula = Formula::parse(text).map_err(|error| error.to_string())?;
        let field = |at: usize| {
            let field = match &formula.columns()[at] {
                Selector::Place(place) => fields[place - 1],
                Selector::Name(name) => fields[(name.as_bytes()[0] - b'a') as usize],
            };
            Ok((!field.is_empty()).then_some(Cow::Borrowed(field.as_bytes())))
        };
        let read = |_, text: &[u8]| Decimal::parse(text).map_err(|why| why.to_string());
        let value = formula.value(field, read)?;
        Ok(value.map(|value| value.to_string()))
    }

    #[test]
    fn formulas_are_what_they_say() {
        for (text, expected) in [
            ("a * b", "30.0000"),
            ("a + b", "14.50"),
            ("$2 - a", "-9.50"),
            ("-(a - b) / 2", "-4.750"),
            ("a / 0.25", "48.00"),
            ("a / -1000", "-0.01200"),
            ("b / 1024", "0.002441406250"),
            ("round(a / 7, 3)", "1.714"),
            ("round(b / -a, 3)", "-0.208"),
            ("round(b / 4, 2)", "0.63"),
            ("round(-b / 4, 2)", "-0.63"),
            ("round(b, 3)", "2.500"),
            ("2 * round(a / b / 7, 0)", "2"),
            ("round(round(1 / 3, 2) / a, 5)", "0.02750"),
        ] {
            assert_eq!(value(text, ["12.00", "2.50"]), Ok(Some(expected.to_owned())), "{text}");
        }
        assert_eq!(value("round(a / b, 2)", ["1", "0"]), Ok(None), "a quotient by zero is null");
        assert_eq!(value("a * b", ["1", ""]), Ok(None));
        assert_eq!(value("a * b", ["1", "x"]), Err(NumberError::Malformed.to_string()));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, message, span) in [
            ("", "expected a column, a number or a text", 0..0),
            ("a b", "expected an operator or the end", 2..3),
            ("a > 1", "expected an operator or the end", 2..3),
            ("a * \"x\"", "a text is no number", 4..7),
            ("(a > 1)", "a condition is no number", 0..7),
            ("a / b", program::ENDLESS, 4..5),
            ("a / 3", program::ENDLESS, 4..5),
            ("a / (1 + 1)", program::ENDLESS, 4..11),
            ("a / 0", program::ENDLESS, 4..5),
            ("round(a / b)", "expected a comma and a number of decimals, at most 18", 11..12),
            ("round(a / b, 19)", "expected a comma and a number of decimals, at most 18", 13..14),
            ("a*a*a*a*a*a*a", program::TOO_MANY, 0..13),
            ("round(a*a*a*a*a*a*a, 2)", program::TOO_MANY, 0..23),
        ] {
            let FilterError { wrong, .. } = Formula::parse(text).unwrap_err();
            assert_eq!((wrong.message.as_str(), &wrong.span), (message, &span), "{text}");
        }
    }
}
