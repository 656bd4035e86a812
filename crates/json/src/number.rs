//! Numbers: the grammar of RFC 8259 section 6, and conversion that rounds once.
//!
//! Does not decide what a number is for: integers, doubles and text are all offered.

use crate::error::{Code, OutOfRange};
use crate::float;

/// A number as it stands in the text, its form already checked; its value is found when asked for.
#[derive(Clone, Copy, Debug)]
pub struct Number<'a> {
    text: &'a [u8],
    /// Bytes before the point, a minus sign included, if there is no exponent; or 0, which is to say
    /// that the text has not been looked at.
    integer_bytes: u8,
}

/// Numbers are equal that are written alike.
impl PartialEq for Number<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl<'a> Number<'a> {
    #[inline]
    pub(crate) fn new(text: &'a [u8], integer_bytes: u8) -> Self {
        Number { text, integer_bytes }
    }

    /// The bytes of the number, all of them ASCII.
    #[inline]
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// The nearest double, ties to even, for any number of digits; `-0` is -0.0, and what is too
    /// small becomes zero.
    ///
    /// # Errors
    /// [`OutOfRange`] when the nearest double would be infinite.
    #[inline]
    pub fn to_f64(&self) -> Result<f64, OutOfRange> {
        if let Some(value) = self.usual_to_f64() {
            return Ok(value);
        }
        self.any_to_f64()
    }

    /// [`Number::to_f64`] of 9 to 16 decimals and up to 8 digits before them, 19 in all: three words of
    /// eight digits each, without a loop whose end could be predicted wrongly.
    ///
    /// ```text
    /// -123.4567890123456       whole: the first eight bytes behind the sign, without those from the point on
    ///  └──whole──┘             upper: the sixteenth byte from the end and on, without the point and before
    ///    └upper─┘└─lower┘      lower: the last eight
    /// ```
    #[inline]
    fn usual_to_f64(&self) -> Option<f64> {
        let is_negative = self.text.first() == Some(&b'-');
        let start = usize::from(is_negative);
        let integers = usize::from(self.integer_bytes).wrapping_sub(start);
        let decimals = self.text.len().wrapping_sub(usize::from(self.integer_bytes) + 1);
        let is_usual = integers.wrapping_sub(1) < 8 && decimals.wrapping_sub(9) < 8;
        if !is_usual || integers + decimals > Decimal::DIGITS as usize {
            return None;
        }
        let whole = u64::from_le_bytes(*self.text.get(start..)?.first_chunk()?);
        let [upper, lower] = self.text.last_chunk::<16>()?.as_chunks().0 else { return None };
        let whole = eight_digits(whole << (64 - 8 * integers));
        let upper = eight_digits(u64::from_le_bytes(*upper) & !0 << (8 * (16 - decimals)));
        let lower = eight_digits(u64::from_le_bytes(*lower));
        let decimal = u64::from(upper) * POWERS[8] + u64::from(lower);
        let mantissa = u64::from(whole) * POWERS[decimals] + decimal;
        let value = float::exact(mantissa, -(decimals as i64))?;
        Some(f64::from_bits(value.to_bits() | u64::from(is_negative) << 63))
    }

    #[inline]
    fn any_to_f64(&self) -> Result<f64, OutOfRange> {
        let (_, decimal) = scan(self.text, 0).expect("the lexer has checked the form");
        decimal.to_f64(self.text)
    }

    /// The value, if it is written as an integer (no point, no exponent) and fits.
    pub fn to_i64(&self) -> Option<i64> {
        std::str::from_utf8(self.text).ok()?.parse().ok()
    }
}

/// The double nearest to a number of JSON's grammar: [`Number::to_f64`] for a text of one's own.
///
/// # Errors
/// `None` if the text is not one number of JSON's grammar and nothing else, or beyond the range.
pub fn nearest(text: &[u8]) -> Option<f64> {
    match scan(text, 0) {
        Ok((end, decimal)) if end == text.len() => decimal.to_f64(text).ok(),
        _ => None,
    }
}

/// The double nearest to the longest number at the beginning of `text`, and its length in bytes.
/// Whether what follows may follow a number is the caller's to know.
///
/// `None` if no number begins there, one is malformed, or it is beyond the range.
pub fn leading_number(text: &[u8]) -> Option<(f64, usize)> {
    let (end, decimal) = scan(text, 0).ok()?;
    Some((decimal.to_f64(&text[..end]).ok()?, end))
}

/// A number as sign, up to 19 significant digits, and a power of ten.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Decimal {
    /// The digits without the point; wrapped around beyond 19 of them.
    mantissa: u64,
    /// Digits, leading zeros included.
    digits: u32,
    /// The power of ten the mantissa is to be multiplied by.
    exponent: i64,
    negative: bool,
}

impl Decimal {
    /// 10¹⁹ - 1 is below 2⁶⁴, so this many digits always fit.
    const DIGITS: u32 = 19;

    /// Of an exponent the standard library stops reading at 0x10000: what is shorter has too few digits to make up
    /// for such a one.
    const LONG_BYTES: usize = 0xf000;

    #[inline]
    fn to_f64(self, text: &[u8]) -> Result<f64, OutOfRange> {
        if self.digits <= Decimal::DIGITS
            && let Some(value) = float::exact(self.mantissa, self.exponent)
        {
            return Ok(if self.negative { -value } else { value });
        }
        self.long_to_f64(text)
    }

    /// More digits or a larger exponent: leading zeros are none of 19 digits, and what is left is
    /// the standard library's.
    #[cold]
    fn long_to_f64(self, text: &[u8]) -> Result<f64, OutOfRange> {
        let is_leading = |byte: &&u8| matches!(byte, b'-' | b'0' | b'.');
        let zeros = text.iter().take_while(is_leading).filter(|byte| **byte == b'0').count();
        if self.digits as usize - zeros.min(self.digits as usize) <= Decimal::DIGITS as usize
            && let Some(value) = float::exact(self.mantissa, self.exponent)
        {
            return Ok(if self.negative { -value } else { value });
        }
        let text = std::str::from_utf8(text).map_err(|_| OutOfRange)?;
        let whole = (text.len() >= Decimal::LONG_BYTES).then(|| self.with_whole_exponent(text));
        let value: f64 = whole.as_deref().unwrap_or(text).parse().map_err(|_| OutOfRange)?;
        if value.is_finite() { Ok(value) } else { Err(OutOfRange) }
    }

    /// The number as `0.DIGITSeEXPONENT`, of which the exponent alone says what is beyond the range.
    fn with_whole_exponent(self, text: &str) -> String {
        let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
        let digits = mantissa.chars().filter(char::is_ascii_digit);
        let digits: String = digits.skip_while(|&digit| digit == '0').collect();
        let exponent = self.exponent.saturating_add(digits.len() as i64);
        format!("{}0.{digits}e{exponent}", if self.negative { "-" } else { "" })
    }

    /// Takes in the digits of `bytes` from `from` on, unless only their end is wanted, which it
    /// returns.
    #[inline]
    fn take_digits<const VALUED: bool>(&mut self, bytes: &[u8], from: usize) -> usize {
        let mut at = from;
        while let Some(eight) = bytes.get(at..at + 8) {
            let word = u64::from_le_bytes(eight.try_into().unwrap_or_default());
            let count = leading_digits(word);
            if count == 0 {
                break;
            }
            if VALUED {
                // Moved up so that the last digit is the last byte; what moves in are zeros.
                let value = eight_digits(word << (64 - 8 * count));
                let moved = self.mantissa.wrapping_mul(POWERS[count as usize]);
                self.mantissa = moved.wrapping_add(value.into());
            }
            at += count as usize;
            if count < 8 {
                break;
            }
        }
        while let Some(digit) = bytes.get(at).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
            self.mantissa = self.mantissa.wrapping_mul(10).wrapping_add(digit.into());
            at += 1;
        }
        self.digits = self.digits.saturating_add(u32::try_from(at - from).unwrap_or(u32::MAX));
        at
    }
}

/// 10⁰ to 10¹⁶.
const POWERS: [u64; 17] = {
    let mut powers = [1; 17];
    let mut i = 1;
    while i < powers.len() {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

/// How many of eight bytes, from the first in memory on, are ASCII digits.
///
/// A byte is none if it exceeds 9 once '0' is flipped out of it: then adding 0x76 sets its highest
/// bit, or it was set before. A carry out of such a byte disturbs only later ones.
#[inline]
fn leading_digits(word: u64) -> u32 {
    let flipped = word ^ 0x3030_3030_3030_3030;
    let others = (flipped.wrapping_add(0x7676_7676_7676_7676) | flipped) & 0x8080_8080_8080_8080;
    others.trailing_zeros() / 8
}

/// The value of eight ASCII digits, the first in the lowest byte: neighbours are joined pairwise,
/// to two, four and eight digits.
#[inline]
fn eight_digits(word: u64) -> u32 {
    let ones = word & 0x0f0f_0f0f_0f0f_0f0f;
    let twos = (ones.wrapping_mul(10).wrapping_add(ones >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (twos.wrapping_mul(100).wrapping_add(twos >> 16)) & 0x0000_ffff_0000_ffff;
    (fours.wrapping_mul(10_000).wrapping_add(fours >> 32)) as u32
}

/// Scans the number that begins at `bytes[from]`, a minus sign or digit: its end and its decimal.
///
/// The end of `bytes` counts as the end of the number; a caller that may get more bytes treats an
/// end, or an error, at `bytes.len()` as "not yet known".
#[inline]
pub(crate) fn scan(bytes: &[u8], from: usize) -> Result<(usize, Decimal), (usize, Code)> {
    walk::<true>(bytes, from)
}

/// [`scan`] for the end alone.
#[inline]
pub(crate) fn find_end(bytes: &[u8], from: usize) -> Result<usize, (usize, Code)> {
    walk::<false>(bytes, from).map(|(end, _)| end)
}

#[inline]
fn walk<const VALUED: bool>(bytes: &[u8], from: usize) -> Result<(usize, Decimal), (usize, Code)> {
    let mut decimal = Decimal { negative: bytes.get(from) == Some(&b'-'), ..Decimal::default() };
    let start = from + usize::from(decimal.negative);
    let mut at = match bytes.get(start) {
        Some(b'0') if bytes.get(start + 1).is_some_and(u8::is_ascii_digit) => {
            return Err((start + 1, Code::LeadingZero));
        }
        Some(b'0'..=b'9') => decimal.take_digits::<VALUED>(bytes, start),
        _ => return Err((start, Code::ExpectedDigit)),
    };
    if bytes.get(at) == Some(&b'.') {
        let fraction = at + 1;
        at = decimal.take_digits::<VALUED>(bytes, fraction);
        if at == fraction {
            return Err((at, Code::ExpectedDigit));
        }
        decimal.exponent = -((at - fraction) as i64);
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let sign = bytes.get(at + 1);
        let digits = at + 1 + usize::from(matches!(sign, Some(b'+' | b'-')));
        let mut power = 0i64;
        at = digits;
        while let Some(digit) = bytes.get(at).filter(|b| b.is_ascii_digit()) {
            power = power.saturating_mul(10).saturating_add(i64::from(digit - b'0'));
            at += 1;
        }
        if at == digits {
            return Err((at, Code::ExpectedDigit));
        }
        let power = if sign == Some(&b'-') { -power } else { power };
        decimal.exponent = decimal.exponent.saturating_add(power);
    }
    Ok((at, decimal))
}

/// How far a number has come, for one that a chunk's end interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    Mark,
    MarkSign,
    Exponent,
}

/// What the next byte does to an interrupted number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Next(Part),
    /// The number ended before this byte.
    End,
    Bad(Code),
}

impl Part {
    /// Whether the number may end here.
    pub(crate) fn is_complete(self) -> bool {
        matches!(self, Part::Zero | Part::Integer | Part::Fraction | Part::Exponent)
    }

    pub(crate) fn first(byte: u8) -> Part {
        match byte {
            b'-' => Part::Minus,
            b'0' => Part::Zero,
            _ => Part::Integer,
        }
    }

    pub(crate) fn step(self, byte: u8) -> Step {
        match (self, byte) {
            (Part::Minus, b'0') => Step::Next(Part::Zero),
            (Part::Minus | Part::Integer, b'0'..=b'9') => Step::Next(Part::Integer),
            (Part::Zero, b'0'..=b'9') => Step::Bad(Code::LeadingZero),
            (Part::Zero | Part::Integer, b'.') => Step::Next(Part::Point),
            (Part::Point | Part::Fraction, b'0'..=b'9') => Step::Next(Part::Fraction),
            (Part::Zero | Part::Integer | Part::Fraction, b'e' | b'E') => Step::Next(Part::Mark),
            (Part::Mark, b'+' | b'-') => Step::Next(Part::MarkSign),
            (Part::Mark | Part::MarkSign | Part::Exponent, b'0'..=b'9') => {
                Step::Next(Part::Exponent)
            }
            (part, _) if part.is_complete() => Step::End,
            _ => Step::Bad(Code::ExpectedDigit),
        }
    }

    /// The state after `text`, the beginning of a number that [`scan`] found no fault in.
    pub(crate) fn after(text: &[u8]) -> Option<Part> {
        let (first, rest) = text.split_first()?;
        let mut part = Part::first(*first);
        for &byte in rest {
            let Step::Next(next) = part.step(byte) else { return None };
            part = next;
        }
        Some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_keeps_its_sign_and_small_is_zero_and_large_is_refused() {
        assert_eq!(nearest(b"-0").map(f64::to_bits), Some((-0.0f64).to_bits()));
        assert_eq!(nearest(b"-0.000e99").map(f64::to_bits), Some((-0.0f64).to_bits()));
        assert_eq!(nearest(b"1e-999"), Some(0.0));
        assert_eq!(nearest(b"1e999"), None);
        assert_eq!(nearest(b"0e999999999999999999999999"), Some(0.0));
        assert_eq!(nearest(b"1e-99999999999999999999999"), Some(0.0));
        assert_eq!(nearest(b"1.7976931348623157e308"), Some(f64::MAX));
        assert_eq!(nearest(b"1.7976931348623159e308"), None);
    }

    #[test]
    fn what_is_no_number_says_where() {
        let refused = |text: &str| scan(text.as_bytes(), 0).unwrap_err();
        for (text, at) in [("-", 1), ("-x", 1), ("1.", 2), ("1.e5", 2), ("1e", 2), ("1e+x", 3)] {
            assert_eq!(refused(text), (at, Code::ExpectedDigit), "{text}");
        }
        assert_eq!(refused("00"), (1, Code::LeadingZero));
        assert_eq!(refused("-01"), (2, Code::LeadingZero));
    }

    #[test]
    fn digits_beyond_nineteen_are_counted_from_the_first_that_is_not_zero() {
        let long = b"0.00000000000000000000000000000000000000000000012345678901234567";
        let (_, decimal) = scan(long, 0).unwrap();
        assert_eq!((decimal.digits, decimal.mantissa), (63, 12_345_678_901_234_567));
        assert_eq!(nearest(long), std::str::from_utf8(long).unwrap().parse().ok());
        assert_eq!(nearest(b"0.00001234567890123456789"), Some(1.234_567_890_123_456_8e-5));
        assert_eq!(nearest(b"-000"), None);
    }

    /// Of 700,001 the standard library reads 70,000, which left nothing of one number and was too much for another.
    #[test]
    fn an_exponent_counts_to_its_end_where_as_many_zeros_stand_against_it() {
        for count in [70_000, 1_000_000] {
            let zeros = "0".repeat(count);
            for (text, wanted) in [
                (
                    format!("0.{zeros}12345678901234567890123e{}", count + 1),
                    "1.2345678901234567890123",
                ),
                (format!("-0.{zeros}123e+{}", count + 300), "-1.23e299"),
                (format!("1{zeros}.5E-{count}"), "1"),
                (format!("-12{zeros}e-{}", count + 309), "-1.2e-308"),
                (format!("0.{zeros}1e{}", count - 400), "0"),
            ] {
                let read = nearest(text.as_bytes());
                assert_eq!(read, wanted.parse().ok(), "{count} zeros: {wanted}");
            }
            assert_eq!(nearest(format!("1{zeros}e-{}", count - 400).as_bytes()), None);
        }
    }

    #[test]
    fn leading_digits_end_at_any_other_byte() {
        for at in 0..8 {
            for byte in (0..=255u8).filter(|byte| !byte.is_ascii_digit()) {
                let mut word = *b"90817263";
                word[at] = byte;
                assert_eq!(leading_digits(u64::from_le_bytes(word)), at as u32, "{byte} at {at}");
                word[7] = 0xff;
                assert_eq!(leading_digits(u64::from_le_bytes(word)), at as u32, "{byte} at {at}");
            }
        }
        assert_eq!(leading_digits(u64::from_le_bytes(*b"01234567")), 8);
    }

    #[test]
    fn an_interrupted_number_stands_where_the_scanner_stands() {
        for text in ["-0.5e-7", "120E+05", "3", "-0", "9.99"] {
            for cut in 1..=text.len() {
                let part = Part::after(&text.as_bytes()[..cut]).unwrap();
                let whole = scan(&text.as_bytes()[..cut], 0);
                assert_eq!(part.is_complete(), whole.is_ok(), "{text} cut at {cut}");
            }
        }
    }
}
