//! Words, lines and integers in text. Decodes nothing: bytes from 0x80 up belong to words.

use crate::error::{Error, Grow, Reason, bad};
use crate::set::Span;

/// What separates words: C's `isspace` in the C locale.
#[inline]
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// Text without the byte order mark that programs on Windows put before it.
pub(crate) fn unmarked(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// A whole number in decimal digits, without sign and without needless zeros in front.
pub(crate) fn parse_integer(digits: &[u8]) -> Option<u64> {
    let is_plain = digits.len() == 1 || digits.first() != Some(&b'0');
    if !is_plain || digits.is_empty() || digits.len() > 20 {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, &digit| {
        let digit = digit.wrapping_sub(b'0');
        let more = number.checked_mul(10)?.checked_add(digit.into())?;
        (digit < 10).then_some(more)
    })
}

/// The place of every word.
struct Words<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Iterator for Words<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        let rest = &self.bytes[self.at..];
        let start = self.at + rest.iter().position(|&byte| !is_space(byte))?;
        let rest = &self.bytes[start..];
        let end = start + rest.iter().position(|&byte| is_space(byte)).unwrap_or(rest.len());
        self.at = end;
        Some((start, end))
    }
}

pub(super) fn span(start: usize, end: usize) -> Result<Span, Error> {
    let len = u32::try_from(end - start).map_err(|_| bad(start, Reason::TooLong))?;
    Ok(Span { start: start as u64, len })
}

pub(super) fn words(bytes: &[u8]) -> Result<Vec<Span>, Error> {
    let mut spans = Vec::new();
    for (start, end) in (Words { bytes, at: 0 }) {
        spans.grow(span(start, end)?)?;
    }
    Ok(spans)
}

pub(super) fn lines(bytes: &[u8]) -> Result<Vec<Span>, Error> {
    let mut spans = Vec::new();
    for (start, end) in line_ends(bytes) {
        if start == end {
            return Err(bad(start, Reason::EmptyKey(spans.len() as u64 + 1)));
        }
        spans.grow(span(start, end)?)?;
    }
    Ok(spans)
}

/// The place of every line without its end; a last line without one counts.
pub(crate) fn line_ends(bytes: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at == bytes.len() {
            return None;
        }
        let start = at;
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |found| at + found);
        at = (end + 1).min(bytes.len());
        let end = if end > start && bytes[end - 1] == b'\r' { end - 1 } else { end };
        Some((start, end))
    })
}

pub(super) fn integers(bytes: &[u8]) -> Result<Vec<u64>, Error> {
    let parse = |(start, end): (usize, usize)| {
        let digits = &bytes[start..end];
        parse_integer(digits).ok_or_else(|| {
            let shown = String::from_utf8_lossy(&digits[..digits.len().min(40)]).into_owned();
            bad(start, Reason::NotAnInteger(shown))
        })
    };
    let mut numbers = Vec::new();
    for word in (Words { bytes, at: 0 }) {
        numbers.grow(parse(word)?)?;
    }
    Ok(numbers)
}

pub(super) fn all_integers(bytes: &[u8]) -> bool {
    Words { bytes, at: 0 }.all(|(start, end)| parse_integer(&bytes[start..end]).is_some())
}

/// A text without the ends of lines at its end.
pub(super) fn without_blank_lines(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'));
    &bytes[..end.map_or(0, |last| last + 1)]
}

/// The first line and the delimiter of what looks like a table: two lines or more, each with as many
/// delimiters as the first, at least one. Quotes are not looked into.
pub(super) fn table(bytes: &[u8]) -> Option<(&[u8], u8)> {
    const LINES: usize = 1000;
    let bytes = without_blank_lines(bytes);
    let lines = || line_ends(bytes).take(LINES).map(|(start, end)| &bytes[start..end]);
    let first = lines().next()?;
    let count = |line: &[u8], delimiter| memchr::memchr_iter(delimiter, line).count();
    let is_regular = |&delimiter: &u8| {
        let wanted = count(first, delimiter);
        wanted > 0
            && lines().nth(1).is_some()
            && lines().all(|line| count(line, delimiter) == wanted)
    };
    b",;\t|".iter().copied().find(is_regular).map(|delimiter| (first, delimiter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_told_from_words() {
        let tables: [(&[u8], u8); 3] =
            [(b"id,name\n1,a b\n2,c\n", b','), (b"a;b\r\n1;2", b';'), (b"x\ty\n1\t2\n", b'\t')];
        for (text, delimiter) in tables {
            assert_eq!(table(text).map(|found| found.1), Some(delimiter));
        }
        let words: [&[u8]; 4] = [b"one, two\nthree\n", b"a,b", b"word\nother\n", b"a,b\nc,d,e\n"];
        for text in words {
            assert_eq!(table(text), None);
        }
    }

    #[test]
    fn integers_are_plain_and_fit() {
        for (text, number) in
            [("0", Some(0)), ("7", Some(7)), ("18446744073709551615", Some(u64::MAX))]
        {
            assert_eq!(parse_integer(text.as_bytes()), number);
        }
        for text in ["", "00", "01", "-1", "+1", "1.0", "18446744073709551616", "1e3", "é"] {
            assert_eq!(parse_integer(text.as_bytes()), None, "{text}");
        }
    }
}
