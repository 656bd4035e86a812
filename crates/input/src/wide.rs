//! UTF-16 with a byte order mark, decoded to UTF-8 as it is read.
//!
//! Without a mark nothing is guessed. What was cut in half, or half a pair of surrogates, is an error.

use std::io::{self, Read};

/// Bytes read at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// Whether an input that starts with these bytes is UTF-16, and which: Some(true) has the small end of each unit
/// first. (UTF-32 starts so, too, with two zeros behind.)
pub fn utf_16(first: &[u8]) -> Option<bool> {
    match first {
        [0xff, 0xfe, 0, 0, ..] => None,
        [0xff, 0xfe, ..] => Some(true),
        [0xfe, 0xff, ..] => Some(false),
        _ => None,
    }
}

/// The same text in UTF-8, its mark included.
pub fn decoded<'a>(source: impl Read + Send + 'a, is_little: bool) -> Box<dyn Read + Send + 'a> {
    // Boxed, so that the decoder is compiled here, optimised.
    let source: Box<dyn Read + Send + 'a> = Box::new(source);
    Box::new(Decoder { source, is_little, bytes: Vec::new(), text: Vec::new(), at: 0, offset: 0 })
}

struct Decoder<'a> {
    source: Box<dyn Read + Send + 'a>,
    is_little: bool,
    /// Read and not yet decoded: part of a character.
    bytes: Vec<u8>,
    /// Decoded, and handed out up to `at`.
    text: Vec<u8>,
    at: usize,
    /// Bytes decoded before.
    offset: u64,
}

impl Decoder<'_> {
    /// Decodes what comes next; false at the end.
    fn refill(&mut self) -> io::Result<bool> {
        (self.at, self.text) = (0, std::mem::take(&mut self.text));
        self.text.clear();
        while self.text.is_empty() {
            let had = self.bytes.len();
            let read =
                self.source.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut self.bytes)?;
            if read == 0 && had > 0 {
                return Err(self.wrong(0, "ends within a character"));
            }
            if read == 0 {
                return Ok(false);
            }
            self.decode()?;
        }
        Ok(true)
    }

    fn decode(&mut self) -> io::Result<()> {
        let unit = |two: &[u8; 2]| match self.is_little {
            true => u16::from_le_bytes(*two),
            false => u16::from_be_bytes(*two),
        };
        let (pairs, _) = self.bytes.as_chunks::<2>();
        let mut units: Vec<u16> = pairs.iter().map(unit).collect();
        // The second half of a pair may not have been read.
        let is_open = units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit));
        units.truncate(units.len() - usize::from(is_open));
        let mut done = 0;
        let mut text = std::mem::take(&mut self.text);
        for character in char::decode_utf16(units.iter().copied()) {
            let Ok(character) = character else {
                return Err(self.wrong(2 * done, "has half a pair of surrogates"));
            };
            done += character.len_utf16();
            text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        self.text = text;
        self.bytes.drain(..2 * done);
        self.offset += 2 * done as u64;
        Ok(())
    }

    fn wrong(&self, more: usize, what: &str) -> io::Error {
        let byte = self.offset + more as u64;
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("the UTF-16 text {what} at its byte {byte}"),
        )
    }
}

impl Read for Decoder<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.text.len() && !self.refill()? {
            return Ok(0);
        }
        let read = (&self.text[self.at..]).read(into)?;
        self.at += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<String, String> {
        let is_little = utf_16(bytes).ok_or("no mark")?;
        let mut text = String::new();
        let outcome = decoded(bytes, is_little).read_to_string(&mut text);
        outcome.map(|_| text).map_err(|error| error.to_string())
    }

    #[test]
    fn both_ends_first_are_decoded_whatever_the_portions() {
        // Surrogates at every place around the end of a portion.
        for blanks in CHUNK_BYTES / 2 - 4..CHUNK_BYTES / 2 + 2 {
            let text = format!("\u{feff}{}é\u{1F600}\n;1.0\n", " ".repeat(blanks));
            let units = || text.encode_utf16();
            let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
            let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
            assert_eq!(read(&little), Ok(text.clone()));
            assert_eq!(read(&big), Ok(text));
        }
    }

    #[test]
    fn what_is_cut_or_no_character_is_an_error_with_its_byte() {
        let wrong = |bytes: &[u8]| read(bytes).unwrap_err();
        assert_eq!(wrong(b"\xff\xfea\0b"), "the UTF-16 text ends within a character at its byte 4");
        assert_eq!(
            wrong(b"\xff\xfe\0\xd8"),
            "the UTF-16 text ends within a character at its byte 2"
        );
        let half = b"\xff\xfea\0\0\xdcb\0";
        assert_eq!(wrong(half), "the UTF-16 text has half a pair of surrogates at its byte 4");
        assert_eq!(utf_16(b"\xff\xfe\0\0"), None);
        assert_eq!(utf_16(b"a;1.0\n"), None);
    }
}
