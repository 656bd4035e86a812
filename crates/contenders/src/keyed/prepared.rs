//! The loaded workload as bytes: keys, values and probes, drawn once for all workers. Other languages
//! need no random numbers of ours, and our own workers map what would take each of them minutes for
//! tens of millions of keys.
//!
//! ```text
//! "fathomK1"                                      8 bytes, then sections; all numbers u64, little-endian
//! entries  values  probes  probe values  new values  misses  acts
//!
//! a section of keys     kind 1, number of keys, integers …
//!                       kind 2, number of keys, ends of the keys in the bytes …, bytes padded to 8
//! a section of values   kind 0, number of values, values …
//! acts                  values: what threads do to each probe, numbered as in `step::Act`
//! ```

use std::sync::Arc;

use fathom_keys::Span;
use fathom_measure::workload::Data;

use super::keys::{Keys, Shared, Text};

/// The first eight bytes.
const MAGIC: &[u8; 8] = b"fathomK1";

/// A part of the workload.
pub(crate) enum Section<'w> {
    Keys(&'w Keys),
    Values(&'w [u64]),
}

/// All sections, one after the other.
pub(crate) fn bytes(sections: &[Section<'_>]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    for section in sections {
        match section {
            Section::Values(values) => numbers(&mut out, 0, values.iter().copied()),
            Section::Keys(Keys::Integers(keys)) => numbers(&mut out, 1, keys.iter().copied()),
            Section::Keys(Keys::Text(text)) => {
                let keys = || (0..text.len()).map(|at| text.key(at).0);
                let mut end = 0;
                let ends = keys().map(|key| {
                    end += key.len() as u64;
                    end
                });
                numbers(&mut out, 2, ends);
                out.reserve(end as usize + 8);
                keys().for_each(|key| out.extend_from_slice(key));
                out.resize(out.len().next_multiple_of(8), 0);
            }
        }
    }
    out
}

fn numbers(out: &mut Vec<u8>, kind: u64, numbers: impl ExactSizeIterator<Item = u64>) {
    out.reserve(8 * (numbers.len() + 2));
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&(numbers.len() as u64).to_le_bytes());
    numbers.for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
}

/// Takes sections off the front of prepared bytes, in their order.
pub(crate) struct Reader {
    data: Data,
    at: usize,
}

impl Reader {
    /// At the first section.
    ///
    /// # Errors
    /// In words: bytes that are not prepared by this version.
    pub(crate) fn new(data: Data) -> Result<Reader, String> {
        match data.starts_with(MAGIC) {
            true => Ok(Reader { data, at: MAGIC.len() }),
            false => Err("not a prepared workload of version 1".to_owned()),
        }
    }

    /// A section of values.
    ///
    /// # Errors
    /// In words, with the byte.
    pub(crate) fn values(&mut self) -> Result<Vec<u64>, String> {
        match self.number()? {
            0 => self.numbers(),
            kind => Err(self.wrong(&format!("kind {kind} where values are due"))),
        }
    }

    /// A section of keys. Byte strings stay where they are.
    ///
    /// # Errors
    /// In words, with the byte.
    pub(crate) fn keys(&mut self) -> Result<Keys, String> {
        match self.number()? {
            1 => return Ok(Keys::Integers(self.numbers()?)),
            2 => {}
            kind => return Err(self.wrong(&format!("kind {kind} where keys are due"))),
        }
        let ends = self.numbers()?;
        let base = self.at as u64;
        let total = ends.last().copied().unwrap_or(0);
        let padded = total.checked_next_multiple_of(8).and_then(|len| usize::try_from(len).ok());
        let padded = padded.ok_or_else(|| self.wrong("keys without end"))?;
        self.take(padded)?;
        let mut start = 0;
        let spans = ends.iter().map(|&end| {
            let len = end.checked_sub(start).and_then(|len| u32::try_from(len).ok())?;
            let span = Span { start: base + start, len };
            start = end;
            Some(span)
        });
        let spans: Option<Vec<Span>> = spans.collect();
        let spans = spans.ok_or_else(|| self.wrong("a key that ends before it starts"))?;
        let text = Text::new(Arc::new(Shared(0, self.data.clone())), spans);
        text.map(Keys::Text).map_err(|key| self.wrong(&format!("key {key} reaches past the end")))
    }

    /// Nothing is left.
    ///
    /// # Errors
    /// In words, with the byte, if something is.
    pub(crate) fn finish(self) -> Result<(), String> {
        match self.at == self.data.len() {
            true => Ok(()),
            false => Err(self.wrong("bytes after the last section")),
        }
    }

    fn numbers(&mut self) -> Result<Vec<u64>, String> {
        let count = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        let bytes = count.checked_mul(8).ok_or_else(|| self.wrong("numbers without end"))?;
        let (words, _) = self.take(bytes)?.as_chunks::<8>();
        Ok(words.iter().map(|&word| u64::from_le_bytes(word)).collect())
    }

    fn number(&mut self) -> Result<u64, String> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(bytes.try_into().expect("eight bytes were taken")))
    }

    fn take(&mut self, bytes: usize) -> Result<&[u8], String> {
        let end = self.at.checked_add(bytes).filter(|&end| end <= self.data.len());
        let end = end.ok_or_else(|| self.wrong("it ends too early"))?;
        let taken = &self.data[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn wrong(&self, what: &str) -> String {
        format!("prepared workload, byte {}: {what}", self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::keys::Bytes;
    use super::*;

    fn example() -> Vec<u8> {
        let text = Keys::Text(["ab", "", "cdefghi"].into_iter().collect());
        let integers = Keys::Integers(vec![9]);
        bytes(&[Section::Keys(&text), Section::Values(&[7]), Section::Keys(&integers)])
    }

    #[test]
    fn the_form_is_the_documented_one() {
        let out = example();
        assert_eq!(&out[..8], b"fathomK1");
        let words: Vec<u64> =
            out[8..].chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
        assert_eq!(words[..5], [2, 3, 2, 2, 9]);
        assert_eq!(&out[48..64], b"abcdefghi\0\0\0\0\0\0\0");
        assert_eq!(words[7..], [0, 1, 7, 1, 1, 9]);
    }

    #[test]
    fn what_was_written_is_read() {
        let mut reader = Reader::new(Data::own(example())).unwrap();
        let Ok(Keys::Text(text)) = reader.keys() else { panic!() };
        assert_eq!(text.keys(), [Bytes(b"ab"), Bytes(b""), Bytes(b"cdefghi")]);
        assert_eq!(reader.values(), Ok(vec![7]));
        let Ok(Keys::Integers(integers)) = reader.keys() else { panic!() };
        assert_eq!(integers, [9]);
        assert_eq!(reader.finish(), Ok(()));
    }

    #[test]
    fn broken_bytes_are_an_error_with_their_place() {
        let whole = example();
        let read = |bytes: &[u8]| {
            let mut reader = Reader::new(Data::own(bytes.to_vec()))?;
            reader.keys()?;
            reader.values()?;
            reader.keys()?;
            reader.finish()
        };
        assert_eq!(read(&whole), Ok(()));
        for len in 0..whole.len() {
            let error = read(&whole[..len]).unwrap_err();
            assert!(error.contains("byte") || len < 8, "{len}: {error}");
        }
        for (byte, value) in [(8, 9), (16, 255), (31, 255), (24, 200), (47, 1)] {
            let mut bytes = whole.clone();
            bytes[byte] = value;
            assert!(read(&bytes).is_err(), "byte {byte}");
        }
        let longer = [&whole[..], &[0]].concat();
        assert!(read(&longer).unwrap_err().contains("after the last"));
    }
}
