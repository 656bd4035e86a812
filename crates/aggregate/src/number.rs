//! Decimal numbers as fixed point: `units / 10^scale`, exact, never through floating point.
//!
//! The grammar is `[+-] digits [. digits]` and nothing else: no exponent, no blanks, no bare dot.

use std::cmp::Ordering;
use std::fmt;

/// Most significant digits a number may have; 10^18 is the last power of ten below 2^63.
pub const MOST_DIGITS: u32 = 18;

/// A decimal number: `units / 10^scale` with `|units| < 10^18` and `scale <= 18`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// The number without its decimal point.
    pub units: i64,
    /// Digits after the decimal point, trailing zeros included.
    pub scale: u8,
}

/// Why a text is not a number this crate accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// No text at all.
    #[error("the value is empty")]
    Empty,
    /// A byte that cannot stand where it stands.
    #[error("the value is not a decimal number")]
    Malformed,
    /// More than [`MOST_DIGITS`] significant digits, or as many decimals.
    #[error("the value has more than {MOST_DIGITS} significant digits")]
    TooLong,
}

impl Decimal {
    /// Reads a whole text as one number.
    ///
    /// # Errors
    /// [`NumberError`] when the text departs from the grammar of this module or is too long to be
    /// held exactly.
    pub fn parse(text: &[u8]) -> Result<Decimal, NumberError> {
        let (negative, digits) = match text {
            [] => return Err(NumberError::Empty),
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, text),
        };
        let mut units: u64 = 0;
        let mut significant: u32 = 0;
        let mut dot = None;
        for (at, &byte) in digits.iter().enumerate() {
            match byte {
                b'0'..=b'9' => {
                    significant += u32::from(significant > 0 || byte != b'0');
                    if significant > MOST_DIGITS {
                        return tail_error(&digits[at..], dot.is_some());
                    }
                    units = units * 10 + u64::from(byte - b'0');
                }
                b'.' if dot.is_none() && at > 0 => dot = Some(at),
                _ => return Err(NumberError::Malformed),
            }
        }
        let decimals = match dot {
            Some(at) => digits.len() - at - 1,
            None => 0,
        };
        if digits.is_empty() || (dot.is_some() && decimals == 0) {
            return Err(NumberError::Malformed);
        }
        if decimals > MOST_DIGITS as usize {
            return Err(NumberError::TooLong);
        }
        let units = i64::try_from(units).expect("at most 18 digits");
        let scale = u8::try_from(decimals).expect("at most 18 decimals");
        Ok(Decimal { units: if negative { -units } else { units }, scale })
    }
}

/// The number is too long; still prefer to say so only if the rest of it is a number at all.
fn tail_error(rest: &[u8], after_dot: bool) -> Result<Decimal, NumberError> {
    let dots = rest.iter().filter(|&&byte| byte == b'.').count() + usize::from(after_dot);
    let digits = rest.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let ends_well = rest.last().is_some_and(u8::is_ascii_digit);
    Err(if dots <= 1 && digits && ends_well {
        NumberError::TooLong
    } else {
        NumberError::Malformed
    })
}

/// `10^exponent` for the exponents of scales.
///
/// # Panics
/// Beyond 38, which no pair of scales reaches.
#[inline]
pub(crate) fn power_of_ten(exponent: u8) -> i128 {
    const POWERS: [i128; 39] = {
        let mut powers = [1; 39];
        let mut i = 1;
        while i < 39 {
            powers[i] = powers[i - 1] * 10;
            i += 1;
        }
        powers
    };
    POWERS[usize::from(exponent)]
}

/// How a number that lies between two representable ones becomes one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest; at exactly half, toward positive infinity (the original challenge).
    #[default]
    HalfUp,
    /// Toward positive infinity always (the Object Pascal challenge).
    Ceiling,
    /// To the nearest; at exactly half, to the even digit (IEEE 754, accounting).
    HalfEven,
}

impl Rounding {
    /// What to add to the floor of a quotient: `rest` is the remainder, `0 <= rest < divisor`,
    /// and `floor_is_odd` belongs to the quotient.
    pub(crate) fn carry(
        self,
        twice_rest_to_divisor: Ordering,
        rest: bool,
        floor_is_odd: bool,
    ) -> u8 {
        let up = match self {
            Rounding::Ceiling => rest,
            Rounding::HalfUp => twice_rest_to_divisor != Ordering::Less,
            Rounding::HalfEven => match twice_rest_to_divisor {
                Ordering::Less => false,
                Ordering::Equal => floor_is_odd,
                Ordering::Greater => true,
            },
        };
        u8::from(up)
    }
}

impl fmt::Display for Rounding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rounding::HalfUp => "half-up",
            Rounding::Ceiling => "ceiling",
            Rounding::HalfEven => "half-even",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(i64, u8), NumberError> {
        Decimal::parse(text.as_bytes()).map(|d| (d.units, d.scale))
    }

    #[test]
    fn numbers_of_the_grammar_are_exact() {
        for (text, expected) in [
            ("0", (0, 0)),
            ("-0.0", (0, 1)),
            ("12.3", (123, 1)),
            ("+12.30", (1230, 2)),
            ("-99.9", (-999, 1)),
            ("007.5", (75, 1)),
            ("0000000000000000000000001", (1, 0)),
            ("999999999999999999", (999_999_999_999_999_999, 0)),
            ("-0.999999999999999999", (-999_999_999_999_999_999, 18)),
            ("0.000000000000000001", (1, 18)),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused_with_its_reason() {
        use NumberError::{Empty, Malformed, TooLong};
        for (text, expected) in [
            ("", Empty),
            ("-", Malformed),
            ("+", Malformed),
            (".", Malformed),
            (".5", Malformed),
            ("5.", Malformed),
            ("-.5", Malformed),
            ("1.2.3", Malformed),
            ("1e3", Malformed),
            (" 1", Malformed),
            ("1 ", Malformed),
            ("--1", Malformed),
            ("NaN", Malformed),
            ("1,5", Malformed),
            ("1000000000000000000", TooLong),
            ("1.000000000000000000", TooLong),
            ("0.0000000000000000001", TooLong),
            ("12345678901234567890x", Malformed),
            ("1234567890123456789.", Malformed),
            ("0.1234567890123456789.1", Malformed),
        ] {
            assert_eq!(parse(text), Err(expected), "{text}");
        }
    }
}
