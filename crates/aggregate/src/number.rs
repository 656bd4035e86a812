//! Decimal numbers of any size: `units / 10^scale`, exact, never through floating point.
//!
//! The grammar is what people and programs write: a sign or none, digits with a point anywhere among
//! them or none, and an exponent or none. No blanks, no grouping, no infinity and no NaN.
//!
//! ```text
//! [+-] ( digits [ . [digits] ] | . digits ) [ (e|E) [+-] digits ]
//! ```

use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;

use num_bigint::BigInt;

/// Most digits a number may have before its decimal point, and as many after it, once its exponent
/// is applied: so that `1e999999999` does not take all memory.
pub const MOST_DIGITS: u16 = 10_000;

/// Units below this can take another digit in 64 bits.
const MOST_UNITS: u64 = 1_000_000_000_000_000_000;

/// Digits that fit the magnitude of an `i128`, whichever they are.
const DIGITS_OF_128_BITS: usize = 38;

/// A decimal number. It compares by its value: 1 and 1.0 are equal.
#[derive(Clone, Debug)]
pub struct Decimal {
    units: Integer,
    scale: u16,
}

/// An integer of any size; big only where it does not fit 128 bits.
#[derive(Clone, Debug)]
enum Integer {
    Small(i128),
    Big(Box<BigInt>),
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
    /// More than [`MOST_DIGITS`] digits before or after the decimal point (leading zeros aside).
    #[error("the value has more than {MOST_DIGITS} digits before or after its decimal point")]
    TooLong,
}

/// Reads a number of few bytes and without an exponent that stands in a text: in units of `10^-scale`, and the
/// scale. None of any other, which may be a number, too.
#[inline]
pub(crate) fn few_digits(text: &[u8], range: Range<usize>) -> Option<(i64, u16)> {
    const MOST: usize = 16;
    if range.len() > 8 || range.end < 8 {
        return (range.len() <= MOST).then(|| digit_by_digit(&text[range])).flatten();
    }
    let bytes = range.len() as u32;
    let (above, word) = (&text[range.end - 8..range.end], u64::MAX.checked_shl(64 - 8 * bytes)?);
    // The bytes of the number last, zeros before them.
    let mut word = u64::from_le_bytes(above.try_into().expect("eight bytes")) & word;
    let negative = text[range.start] == b'-';
    if negative {
        word &= u64::MAX.checked_shl(72 - 8 * bytes)?;
    }
    let points = zeros(word ^ (0x2e * ONES));
    let mut decimals = 0;
    if points != 0 {
        // What stands before the point moves into its place.
        let point = points.trailing_zeros() / 8;
        decimals = 7 - point;
        let before = (1_u64 << (8 * point)) - 1;
        word = word & !(before << 8 | 0xff) | (word & before) << 8;
    }
    let digits = bytes - u32::from(negative) - u32::from(points != 0);
    if digits == 0 {
        return None;
    }
    // Zeros, the digit, for what is before them.
    word |= !u64::MAX.checked_shl(64 - 8 * digits)? & (0x30 * ONES);
    let word = word ^ (0x30 * ONES);
    if (word.wrapping_add(0x76 * ONES) | word) & (0x80 * ONES) != 0 {
        return None;
    }
    // Pairs of digits, then of pairs, then of those.
    let pairs = (word * 10 + (word >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    let all = (fours * 10_000 + (fours >> 32)) as u32;
    let units = i64::from(all);
    Some((if negative { -units } else { units }, decimals as u16))
}

/// One in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;

/// The highest bit of the lowest byte that is zero, and perhaps of some above it.
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & (0x80 * ONES)
}

fn digit_by_digit(text: &[u8]) -> Option<(i64, u16)> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let (mut units, mut point) = (0_i64, digits.len());
    for (at, &byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            units = units * 10 + i64::from(digit);
        } else if byte == b'.' && point == digits.len() {
            point = at;
        } else {
            return None;
        }
    }
    let decimals = (digits.len() - point).saturating_sub(1);
    let is_number = digits.len() > usize::from(point < digits.len());
    is_number.then_some((if negative { -units } else { units }, decimals as u16))
}

/// Bytes that the digits of an integer take.
pub(crate) fn digit_bytes(big: &BigInt) -> usize {
    size_of::<u64>() * big.iter_u64_digits().len()
}

impl Decimal {
    /// Reads a whole text as one number.
    ///
    /// # Errors
    /// [`NumberError`] when the text departs from the grammar of this module, or (leading zeros aside) has more than
    /// [`MOST_DIGITS`] digits on one side of its point.
    #[inline]
    pub fn parse(text: &[u8]) -> Result<Decimal, NumberError> {
        let (negative, digits) = match text {
            [] => return Err(NumberError::Empty),
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, text),
        };
        let mut units: u64 = 0;
        let mut point = None;
        for (at, &byte) in digits.iter().enumerate() {
            match byte {
                b'0'..=b'9' => {
                    units = units * 10 + u64::from(byte - b'0');
                    if units >= MOST_UNITS {
                        return any(negative, digits);
                    }
                }
                b'.' if point.is_none() => point = Some(at),
                b'e' | b'E' => return any(negative, digits),
                _ => return Err(NumberError::Malformed),
            }
        }
        let decimals = point.map_or(0, |at| digits.len() - at - 1);
        if digits.len() == usize::from(point.is_some()) {
            return Err(NumberError::Malformed);
        }
        if decimals > usize::from(MOST_DIGITS) {
            return any(negative, digits);
        }
        let units = i128::from(units);
        Ok(Decimal::new(if negative { -units } else { units }, decimals as u16))
    }

    /// `units / 10^scale`.
    pub fn new(units: i128, scale: u16) -> Decimal {
        Decimal { units: Integer::Small(units), scale }
    }

    /// `units / 10^scale`.
    pub fn of_big(units: BigInt, scale: u16) -> Decimal {
        let units = match i128::try_from(&units) {
            Ok(small) => Integer::Small(small),
            Err(_) => Integer::Big(Box::new(units)),
        };
        Decimal { units, scale }
    }

    /// Digits after the decimal point.
    pub fn scale(&self) -> u16 {
        self.scale
    }

    /// The number without its decimal point, if 128 bits hold it.
    pub fn small(&self) -> Option<i128> {
        match self.units {
            Integer::Small(units) => Some(units),
            Integer::Big(_) => None,
        }
    }

    /// Bytes of it that lie elsewhere.
    pub(crate) fn bytes(&self) -> usize {
        match &self.units {
            Integer::Small(_) => 0,
            Integer::Big(units) => size_of::<BigInt>() + digit_bytes(units),
        }
    }

    /// The number without its decimal point.
    pub fn to_big(&self) -> BigInt {
        match &self.units {
            Integer::Small(units) => BigInt::from(*units),
            Integer::Big(units) => (**units).clone(),
        }
    }

    /// Whether it has more digits on one side of its point than may be written.
    pub(crate) fn is_too_long(&self) -> bool {
        let is_wide = || {
            *self.to_big().magnitude() >= *big_power_of_ten(MOST_DIGITS + self.scale).magnitude()
        };
        self.scale > MOST_DIGITS || self.small().is_none() && is_wide()
    }

    /// The same number with more digits after the point.
    ///
    /// # Panics
    /// If there are fewer, which would lose digits.
    #[must_use]
    pub fn rescaled(&self, scale: u16) -> Decimal {
        assert!(scale >= self.scale, "a coarser scale would lose digits");
        let more = scale - self.scale;
        match self.small().and_then(|units| scaled(units, more)) {
            Some(units) => Decimal::new(units, scale),
            None => Decimal::of_big(self.to_big() * big_power_of_ten(more), scale),
        }
    }

    /// The number `factor` times.
    #[must_use]
    pub(crate) fn times(&self, factor: u64) -> Decimal {
        match self.small().and_then(|units| units.checked_mul(factor.into())) {
            Some(units) => Decimal::new(units, self.scale),
            None => Decimal::of_big(self.to_big() * factor, self.scale),
        }
    }

    /// The sum of two.
    #[must_use]
    pub(crate) fn plus(&self, other: &Decimal) -> Decimal {
        let scale = self.scale.max(other.scale);
        let (left, right) = (self.rescaled(scale), other.rescaled(scale));
        match left.small().zip(right.small()).and_then(|(left, right)| left.checked_add(right)) {
            Some(units) => Decimal::new(units, scale),
            None => Decimal::of_big(left.to_big() + right.to_big(), scale),
        }
    }

    /// This less the other.
    #[must_use]
    pub(crate) fn minus(&self, other: &Decimal) -> Decimal {
        self.plus(&other.times_decimal(&Decimal::new(-1, 0)))
    }

    /// The product of two.
    #[must_use]
    pub(crate) fn times_decimal(&self, other: &Decimal) -> Decimal {
        let scale = self.scale + other.scale;
        match self.small().zip(other.small()).and_then(|(left, right)| left.checked_mul(right)) {
            Some(units) => Decimal::new(units, scale),
            None => Decimal::of_big(self.to_big() * other.to_big(), scale),
        }
    }
}

impl Ord for Decimal {
    #[inline]
    fn cmp(&self, other: &Decimal) -> Ordering {
        if let (Integer::Small(left), Integer::Small(right)) = (&self.units, &other.units)
            && self.scale == other.scale
        {
            return left.cmp(right);
        }
        let scale = self.scale.max(other.scale);
        let (left, right) = (self.rescaled(scale), other.rescaled(scale));
        match (left.units, right.units) {
            (Integer::Small(left), Integer::Small(right)) => left.cmp(&right),
            (left, right) => left.into_big().cmp(&right.into_big()),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Decimal) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal {}

impl Integer {
    fn into_big(self) -> BigInt {
        match self {
            Integer::Small(units) => units.into(),
            Integer::Big(units) => *units,
        }
    }
}

/// All digits, with a point before the last `scale` of them.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = usize::from(self.scale);
        let (digits, is_negative) = match &self.units {
            Integer::Small(units) => (units.unsigned_abs().to_string(), *units < 0),
            Integer::Big(units) => {
                (units.magnitude().to_string(), units.sign() == num_bigint::Sign::Minus)
            }
        };
        let sign = if is_negative { "-" } else { "" };
        if scale == 0 {
            return write!(f, "{sign}{digits}");
        }
        let digits = format!("{digits:0>width$}", width = scale + 1);
        let (whole, part) = digits.split_at(digits.len() - scale);
        write!(f, "{sign}{whole}.{part}")
    }
}

/// A number with an exponent or of more digits than 64 bits hold; the sign was read before.
#[cold]
fn any(negative: bool, text: &[u8]) -> Result<Decimal, NumberError> {
    let mut parts = text.splitn(2, |byte| matches!(byte, b'e' | b'E'));
    let mantissa = parts.next().unwrap_or_default();
    let exponent = parts.next().map_or(Ok(0), exponent)?;
    let point = memchr::memchr(b'.', mantissa).unwrap_or(mantissa.len());
    let (whole, part) = (&mantissa[..point], mantissa.get(point + 1..).unwrap_or_default());
    if whole.len() + part.len() == 0 || !whole.iter().chain(part).all(u8::is_ascii_digit) {
        return Err(NumberError::Malformed);
    }
    let zeros = whole.iter().chain(part).take_while(|&&digit| digit == b'0').count();
    let significant = whole.len() + part.len() - zeros;
    let scale = part.len() as i64 - exponent;
    let most = i64::from(MOST_DIGITS);
    // Zero is not too long, however it is written; with more decimals than a number may have it has none.
    let scale = if significant == 0 && !(0..=most).contains(&scale) { 0 } else { scale };
    if scale > most || significant as i64 - scale > most {
        return Err(NumberError::TooLong);
    }
    let digits = whole.iter().chain(part).skip(zeros);
    let units = if significant <= DIGITS_OF_128_BITS {
        let units = digits.fold(0, |units, digit| units * 10 + i128::from(digit - b'0'));
        Decimal::new(if negative { -units } else { units }, 0)
    } else {
        let digits: Vec<u8> = digits.copied().collect();
        let units = BigInt::parse_bytes(&digits, 10).expect("digits");
        Decimal::of_big(if negative { -units } else { units }, 0)
    };
    Ok(match u16::try_from(scale) {
        Ok(scale) => Decimal { scale, ..units },
        Err(_) => Decimal { scale: 0, ..units.rescaled(scale.unsigned_abs() as u16) },
    })
}

/// Reads what follows the `e`; far more than any number may have is as good as all of it.
fn exponent(text: &[u8]) -> Result<i64, NumberError> {
    let (sign, digits) = match text {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        _ => (1, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NumberError::Malformed);
    }
    let far = 1 << 40;
    let value = digits.iter().fold(0, |e, digit| (e * 10 + i64::from(digit - b'0')).min(far));
    Ok(sign * value)
}

const POWERS: [i128; DIGITS_OF_128_BITS + 1] = {
    let mut powers = [1; DIGITS_OF_128_BITS + 1];
    let mut i = 1;
    while i < powers.len() {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

/// `10^exponent`, if it fits.
#[inline]
pub(crate) fn power_of_ten(exponent: u16) -> Option<i128> {
    POWERS.get(usize::from(exponent)).copied()
}

/// `10^exponent`.
pub(crate) fn big_power_of_ten(exponent: u16) -> BigInt {
    power_of_ten(exponent).map_or_else(|| BigInt::from(10).pow(exponent.into()), BigInt::from)
}

/// `units * 10^exponent`, if it fits 64 bits.
#[inline]
pub(crate) fn scaled_short(units: i64, exponent: u16) -> Option<i64> {
    units.checked_mul(i64::try_from(power_of_ten(exponent)?).ok()?)
}

/// `units * 10^exponent`, if it fits.
#[inline]
pub(crate) fn scaled(units: i128, exponent: u16) -> Option<i128> {
    if exponent == 0 { Some(units) } else { units.checked_mul(power_of_ten(exponent)?) }
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

    fn parse(text: &str) -> Result<(i128, u16), NumberError> {
        Decimal::parse(text.as_bytes()).map(|d| (d.small().unwrap(), d.scale()))
    }

    #[test]
    fn few_digits_are_the_number_that_they_are() {
        let check = |text: &[u8]| {
            for before in [&b""[..], b"1234567", b"12345678", b"..-..-..-"] {
                let all = [before, text, b"5.5"].concat();
                let found = few_digits(&all, before.len()..before.len() + text.len());
                let exact = Decimal::parse(text).ok();
                let exact = exact.and_then(|number| {
                    Some((i64::try_from(number.small()?).ok()?, number.scale()))
                });
                let shown = String::from_utf8_lossy(text);
                match found {
                    Some(_) => assert_eq!(found, exact, "{shown:?}"),
                    None => {
                        let is_plain = text.iter().all(|byte| b"0123456789.-".contains(byte));
                        assert!(exact.is_none() || !is_plain || text.len() > 16, "{shown:?}");
                    }
                }
            }
        };
        // Every text of up to six of these bytes, behind digits or not.
        let bytes = b"09.-+e/:\x00\xb0";
        let mut texts = vec![Vec::new()];
        for _ in 0..6 {
            texts.iter().for_each(|text| check(text));
            texts.truncate(if texts[0].len() == 5 { 0 } else { texts.len() });
            texts = texts
                .iter()
                .flat_map(|text| bytes.iter().map(|&byte| [&text[..], &[byte]].concat()))
                .collect();
        }
        for len in 1..20 {
            for point in 0..len {
                for sign in ["", "-"] {
                    let digits = "90817263544536271809"[..len].to_owned();
                    let pointed = format!("{}.{}", &digits[..point], &digits[point..]);
                    [digits, pointed]
                        .iter()
                        .for_each(|digits| check((sign.to_owned() + digits).as_bytes()));
                }
            }
        }
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
            (".5", (5, 1)),
            ("5.", (5, 0)),
            ("-.5e1", (-5, 0)),
            ("8.5e-05", (85, 6)),
            ("1.5E+3", (1500, 0)),
            ("15e0", (15, 0)),
            ("0e10000", (0, 0)),
            ("0e10001", (0, 0)),
            ("0.00e99999999999999999999", (0, 0)),
            ("-0e-10001", (0, 0)),
            (&*format!("0.{}", "0".repeat(10_001)), (0, 0)),
            ("0.0001585689968174077", (1_585_689_968_174_077, 19)),
            ("0000000000000000000000001", (1, 0)),
            ("999999999999999999", (999_999_999_999_999_999, 0)),
            ("-9999999999999999999", (-9_999_999_999_999_999_999, 0)),
            ("1.7976931348623157e20", (179_769_313_486_231_570_000, 0)),
            ("0.0000000000000000001", (1, 19)),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn numbers_of_any_size_are_shown_with_all_their_digits() {
        let long = format!("-{}.{}", "123456789".repeat(20), "987654321".repeat(20));
        let huge = format!("1{}", "0".repeat(9_999));
        let tiny = format!("0.{}1", "0".repeat(9_999));
        for (text, shown) in [
            (&*long, &*long),
            ("1e9999", &huge),
            ("1e-10000", &tiny),
            ("5e-324", &format!("0.{}5", "0".repeat(323))),
            ("-0.05", "-0.05"),
        ] {
            assert_eq!(Decimal::parse(text.as_bytes()).unwrap().to_string(), shown);
        }
    }

    #[test]
    fn everything_else_is_refused_with_its_reason() {
        assert_eq!(parse(""), Err(NumberError::Empty));
        for text in [
            "-", "+", ".", "-.", ".e1", "e1", "1e", "1e+", "1e1.5", "1e1e1", "1.2.3", " 1", "1 ",
            "--1", "NaN", "inf", "1,5", "12345678901234567890x", "0.1234567890123456789.1",
        ] {
            assert_eq!(parse(text), Err(NumberError::Malformed), "{text}");
        }
        let whole = "1".repeat(usize::from(MOST_DIGITS) + 1);
        let fraction = format!(".{whole}");
        for text in [
            &*whole, &fraction, "1e10000", "1e-10001", "1e99999999999999999999999",
            "-1e-99999999999999999999999",
        ] {
            assert_eq!(parse(text), Err(NumberError::TooLong), "{text}");
        }
    }

    #[test]
    fn numbers_compare_by_value_at_any_scale() {
        let number = |text: &str| Decimal::parse(text.as_bytes()).unwrap();
        let ascending = ["-1e300", "-2", "-1.5", "0", "1e-400", "1.25", "1.3", "1e38", "2e38"];
        for (i, left) in ascending.iter().enumerate() {
            for (j, right) in ascending.iter().enumerate() {
                assert_eq!(number(left).cmp(&number(right)), i.cmp(&j), "{left} {right}");
            }
        }
        assert_eq!(number("1"), number("1.000"));
    }
}
