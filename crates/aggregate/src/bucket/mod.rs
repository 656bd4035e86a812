//! Buckets: the texts of a key's column, many of which become one, by the hour or by the hundred.
//!
//! A bucket is called by its lower end. Which of them a record belongs to is computed on integers; nothing is
//! rounded but down.

use std::fmt;
use std::io::Write;

use crate::error::Reason;
use crate::number::{Decimal, NumberError, big_power_of_ten, power_of_ten};

mod time;

use time::Unit;
pub(crate) use time::date;

/// How wide the buckets of a column are.
///
/// ```
/// use fathom_aggregate::Bucket;
///
/// assert!(Bucket::parse("15m").is_some() && Bucket::parse("0.5").is_some());
/// assert!(Bucket::parse("often").is_none() && Bucket::parse("0").is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket(Width);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Width {
    Time(Span),
    /// In units of `10^-scale`, more than zero.
    Number(i128, u16),
}

/// How many units of time a bucket of times is wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span(u32, Unit);

impl Span {
    /// Appends the name of the bucket in which a second since 1970 lies.
    pub(crate) fn push(self, key: &mut Vec<u8>, second: i64) {
        let Span(many, unit) = self;
        unit.push(key, many.into(), second);
    }

    /// Whether it is a day or longer.
    fn is_days(self) -> bool {
        let Span(many, unit) = self;
        unit.seconds().is_none_or(|seconds| i64::from(many) * seconds >= time::DAY)
    }
}

/// Characters of a width of numbers, so that it fits 64 bits.
const MOST_CHARACTERS: usize = 18;

/// Units of a width of times.
const MOST_UNITS: u32 = 1_000_000;

/// What widths there are.
pub(crate) const WIDTHS: &str = "a number of up to 18 characters, such as 0.5, or a whole number \
     up to 1000000 and s, m, h, d, w, mo or y, such as 15m";

impl Bucket {
    /// Reads a width: a number for numbers, a whole number and a unit for times (`s`, `m`, `h`, `d`, `w`,
    /// `mo`, `y`: seconds, minutes, hours, days, weeks from Monday, months, years). None for anything else.
    pub fn parse(text: &str) -> Option<Bucket> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        if let Some(unit) = Unit::named(unit) {
            let many = number.parse().ok().filter(|many| (1..=MOST_UNITS).contains(many))?;
            return Some(Bucket(Width::Time(Span(many, unit))));
        }
        let is_plain = |c: char| c.is_ascii_digit() || c == '.';
        if text.len() > MOST_CHARACTERS || !text.chars().all(is_plain) {
            return None;
        }
        let width = Decimal::parse(text.as_bytes()).ok()?;
        let units = width.small().filter(|&units| units > 0)?;
        Some(Bucket(Width::Number(units, width.scale())))
    }

    /// Whether the names of its buckets are numbers, in whose order they are.
    pub fn is_number(&self) -> bool {
        matches!(self.0, Width::Number(..))
    }

    /// How wide it is, if it is one of times.
    pub(crate) fn span(&self) -> Option<Span> {
        match self.0 {
            Width::Time(span) => Some(span),
            Width::Number(..) => None,
        }
    }

    /// Appends the name of the bucket a text belongs to; `read` makes it a number.
    ///
    /// # Errors
    /// What the text is not.
    pub(crate) fn push(
        &self,
        key: &mut Vec<u8>,
        text: &[u8],
        read: impl Fn(&[u8]) -> Result<Decimal, NumberError>,
    ) -> Result<(), Reason> {
        match self.0 {
            Width::Time(span) if time::is_bare_date(text, span.is_days()) => {
                return Err(Reason::BareDate);
            }
            Width::Time(span) => span.push(key, time::seconds(text).ok_or(Reason::NoTime)?),
            Width::Number(units, scale) => {
                let number = read(text)?;
                let name = lower(&number, units, scale).ok_or(Reason::NoBucket)?;
                write!(key, "{name}").expect("a list grows");
            }
        }
        Ok(())
    }
}

/// The largest multiple of the width that is not above the number.
fn lower(number: &Decimal, width: i128, scale: u16) -> Option<Decimal> {
    // At the finer of the two scales both are integers.
    let finest = scale.max(number.scale());
    let finer = |units: i128, scale| units.checked_mul(power_of_ten(finest - scale)?);
    let small = number.small().and_then(|units| finer(units, number.scale()));
    let many = match small.zip(finer(width, scale)) {
        // Division of 64 bits takes a tenth of the time.
        Some((units, width)) => match (i64::try_from(units), i64::try_from(width)) {
            (Ok(units), Ok(width)) => units.div_euclid(width).into(),
            _ => units.div_euclid(width),
        },
        None => {
            let units = number.to_big() * big_power_of_ten(finest - number.scale());
            let width = width * big_power_of_ten(finest - scale);
            let many = &units / &width;
            let is_above = &many * width > units;
            i128::try_from(many).ok()?.checked_sub(i128::from(is_above))?
        }
    };
    Some(Decimal::new(many.checked_mul(width)?, scale))
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Width::Time(Span(many, unit)) => write!(f, "{many}{}", unit.name()),
            Width::Number(units, scale) => write!(f, "{}", Decimal::new(*units, *scale)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(width: &str, text: &str) -> Result<String, Reason> {
        let mut key = Vec::new();
        Bucket::parse(width).unwrap().push(&mut key, text.as_bytes(), Decimal::parse)?;
        Ok(String::from_utf8(key).unwrap())
    }

    #[test]
    fn numbers_are_called_by_the_lower_end_of_their_bucket() {
        for (width, text, name) in [
            ("100", "0", "0"),
            ("100", "99.99", "0"),
            ("100", "100", "100"),
            ("100", "-0.01", "-100"),
            ("100", "-100", "-100"),
            ("0.5", "0.75", "0.5"),
            ("0.5", "-0.25", "-0.5"),
            ("0.25", "7", "7.00"),
            ("2.5", "1e3", "1000.0"),
            ("7", "15e-1", "0"),
            ("100", "1e-40", "0"),
            ("100", "-1e-50", "-100"),
            ("0.5", "-0.00000000000000000000000000000000000001", "-0.5"),
            ("0.5", "170141183460469231731687303715884105727e-39", "0.0"),
            ("10", "12.34567890123456789012345678901234567890123", "10"),
            ("10", "-12.34567890123456789012345678901234567890123", "-20"),
            (
                "1", "170141183460469231731687303715884105727.5",
                "170141183460469231731687303715884105727",
            ),
        ] {
            assert_eq!(named(width, text), Ok(name.to_owned()), "{text} by {width}");
        }
        assert!(matches!(named("1", "x"), Err(Reason::Number(_))));
        assert_eq!(named("1", "1e40"), Err(Reason::NoBucket));
        // Its lower end is one below what 128 bits hold, and was the highest number that they do.
        let lowest = "-170141183460469231731687303715884105728.5";
        assert_eq!(named("1", lowest), Err(Reason::NoBucket));
    }

    /// All of them were in the first bucket of 1970.
    #[test]
    fn years_by_a_day_however_it_is_written_are_no_seconds() {
        for width in ["1d", "24h", "1440m", "86400s", "8760h", "1w", "1mo", "1y"] {
            assert_eq!(named(width, "2026"), Err(Reason::BareDate), "{width}");
        }
        for width in ["23h", "1439m", "86399s", "1s"] {
            assert!(named(width, "2026").unwrap().starts_with("1970-01-01T"), "{width}");
        }
    }

    #[test]
    fn widths_are_positive_numbers_or_times() {
        for text in ["1s", "90m", "1h", "2d", "1w", "3mo", "1y", "100", "0.25", "1000000s"] {
            assert_eq!(Bucket::parse(text).unwrap().to_string(), text);
        }
        for most in [MOST_UNITS.to_string(), format!("up to {MOST_CHARACTERS} characters")] {
            assert!(WIDTHS.contains(&most), "{WIDTHS}: {most}");
        }
        for text in
            ["", "h", "0h", "0", "0.0", "-5", "1e3", "1.5h", "1H", "1hour", "1000001s", "+1"]
        {
            assert_eq!(Bucket::parse(text), None, "{text}");
        }
    }
}
