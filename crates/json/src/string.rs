//! Strings: where one ends, whether it is valid, and what its escapes stand for.
//!
//! Does not copy unless asked to: [`Text`] is the bytes between the quotes, as they stand.

use std::borrow::Cow;

use crate::error::Code;
use crate::kernel::Kernel;

/// The inside of a string or key: valid UTF-8, valid escapes, not yet unescaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    raw: &'a [u8],
    has_escapes: bool,
}

/// Half a surrogate pair: valid by the grammar of JSON, but no character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the string holds half a surrogate pair")]
pub struct LoneSurrogate;

impl<'a> Text<'a> {
    #[inline]
    pub(crate) fn new(raw: &'a [u8], has_escapes: bool) -> Self {
        Text { raw, has_escapes }
    }

    /// The bytes between the quotes, escapes and all.
    #[inline]
    pub fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// Whether [`Text::decode`] has to copy.
    pub fn has_escapes(&self) -> bool {
        self.has_escapes
    }

    /// Whether the string means `word`: `"\u0078\u0030"` is "x0".
    #[inline]
    pub fn is(&self, word: &str) -> bool {
        if self.has_escapes {
            self.decode().is_ok_and(|text| text == word)
        } else {
            self.raw == word.as_bytes()
        }
    }

    /// The characters the string stands for.
    ///
    /// # Errors
    /// [`LoneSurrogate`] when an escape is half a pair.
    pub fn decode(&self) -> Result<Cow<'a, str>, LoneSurrogate> {
        // The lexer has validated the bytes; a failure here would be its fault, not the input's.
        let text = std::str::from_utf8(self.raw).expect("the lexer let invalid UTF-8 pass");
        if !self.has_escapes {
            return Ok(Cow::Borrowed(text));
        }
        let mut decoded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('\\') {
            decoded.push_str(&rest[..at]);
            let (character, used) = unescape(&rest[at + 1..])?;
            decoded.push(character);
            rest = &rest[at + 1 + used..];
        }
        decoded.push_str(rest);
        Ok(Cow::Owned(decoded))
    }
}

/// The character after a backslash and how many bytes stand for it.
fn unescape(rest: &str) -> Result<(char, usize), LoneSurrogate> {
    let unit = |from: usize| {
        rest.get(from..from + 4).and_then(|digits| u32::from_str_radix(digits, 16).ok())
    };
    let plain = match rest.as_bytes()[0] {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let first = unit(1).ok_or(LoneSurrogate)?;
            if !(0xd800..0xdc00).contains(&first) {
                return Ok((char::from_u32(first).ok_or(LoneSurrogate)?, 5));
            }
            let second = if rest.get(5..7) == Some("\\u") { unit(7) } else { None };
            let second = second.filter(|s| (0xdc00..0xe000).contains(s)).ok_or(LoneSurrogate)?;
            let point = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            return Ok((char::from_u32(point).ok_or(LoneSurrogate)?, 11));
        }
        itself => char::from(itself), // one of "\/
    };
    Ok((plain, 1))
}

/// What scanning a string found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scan {
    /// The closing quote stands here.
    End(usize),
    /// The bytes end inside the string; scanning may go on from this index, an escape's or a
    /// character's beginning.
    More(usize),
    Bad(usize, Code),
}

/// Scans the inside of a string from `from`, up to and with its closing quote.
#[inline]
pub(crate) fn scan(kernel: Kernel, bytes: &[u8], from: usize, has_escapes: &mut bool) -> Scan {
    let mut at = from;
    loop {
        let (stop, is_ascii) = kernel.special(bytes, at);
        if !is_ascii && let Err(error) = std::str::from_utf8(&bytes[at..stop]) {
            let bad = at + error.valid_up_to();
            // A sequence that only lacks its end is not wrong if the chunk ends there too.
            let is_cut = error.error_len().is_none() && stop == bytes.len();
            return if is_cut { Scan::More(bad) } else { Scan::Bad(bad, Code::InvalidUtf8) };
        }
        match bytes.get(stop) {
            None => return Scan::More(stop),
            Some(b'"') => return Scan::End(stop),
            Some(b'\\') => *has_escapes = true,
            Some(_) => return Scan::Bad(stop, Code::ControlCharacter),
        }
        match bytes.get(stop + 1) {
            None => return Scan::More(stop),
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at = stop + 2,
            Some(b'u') => {
                for digit in stop + 2..stop + 6 {
                    match bytes.get(digit) {
                        None => return Scan::More(stop),
                        Some(byte) if byte.is_ascii_hexdigit() => {}
                        Some(_) => return Scan::Bad(digit, Code::BadHexDigit),
                    }
                }
                at = stop + 6;
            }
            Some(_) => return Scan::Bad(stop + 1, Code::BadEscape),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(raw: &str) -> Result<String, LoneSurrogate> {
        Text::new(raw.as_bytes(), raw.contains('\\')).decode().map(Cow::into_owned)
    }

    #[test]
    fn escapes_become_their_characters() {
        assert_eq!(decoded(r#"a\"\\\/\b\f\n\r\tz"#).unwrap(), "a\"\\/\u{8}\u{c}\n\r\tz");
        assert_eq!(decoded(r"\u00e9\uD83D\uDE00é").unwrap(), "é😀é");
        assert!(Text::new(br"\u0078\u0030", true).is("x0"));
    }

    #[test]
    fn half_a_pair_is_no_character() {
        for raw in [r"\ud800", r"\ud800x", r"\ud800\n", r"\ud800\ud800", r"\udc00", r"\uD8"] {
            assert_eq!(decoded(raw), Err(LoneSurrogate), "{raw}");
        }
    }
}
