//! A key set: where each key lies in the bytes of a file, or the integers themselves. Duplicates
//! stay, in the order of the file.

use std::borrow::Cow;
use std::collections::HashSet;

/// Where a key or value lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Offset of its first byte.
    pub start: u64,
    /// Its length in bytes.
    pub len: u32,
}

impl Span {
    /// The bytes it covers.
    ///
    /// # Panics
    /// When it reaches past the end.
    #[must_use]
    #[inline]
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start as usize..][..self.len as usize]
    }
}

/// The keys of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keys {
    /// Whole numbers.
    Integers(Vec<u64>),
    /// Byte strings, by where they lie.
    Bytes(Vec<Span>),
}

/// Keys and, in formats of pairs, values; all spans lie in `bytes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySet<'b> {
    /// What the spans refer to: the file itself where no key had to be decoded, copies otherwise.
    pub bytes: Cow<'b, [u8]>,
    /// The keys in the order of the file.
    pub keys: Keys,
    /// The value of each key, where the format has values.
    pub values: Option<Vec<Span>>,
}

impl KeySet<'_> {
    /// Number of keys, duplicates counted.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.keys {
            Keys::Integers(keys) => keys.len(),
            Keys::Bytes(spans) => spans.len(),
        }
    }

    /// Whether there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of all keys; an integer has eight.
    #[must_use]
    pub fn key_bytes(&self) -> u64 {
        match &self.keys {
            Keys::Integers(keys) => 8 * keys.len() as u64,
            Keys::Bytes(spans) => spans.iter().map(|span| u64::from(span.len)).sum(),
        }
    }

    /// Bytes of all different keys; an integer has eight.
    #[must_use]
    pub fn distinct_bytes(&self) -> u64 {
        match &self.keys {
            Keys::Integers(keys) => 8 * keys.iter().collect::<HashSet<_>>().len() as u64,
            Keys::Bytes(spans) => {
                let all: HashSet<&[u8]> = spans.iter().map(|span| span.of(&self.bytes)).collect();
                all.into_iter().map(|key| key.len() as u64).sum()
            }
        }
    }

    /// Key number `at` (from 0) as text or bytes; an integer in decimal digits.
    ///
    /// # Panics
    /// When there is no such key.
    #[must_use]
    pub fn key(&self, at: usize) -> Cow<'_, [u8]> {
        match &self.keys {
            Keys::Integers(keys) => Cow::Owned(keys[at].to_string().into_bytes()),
            Keys::Bytes(spans) => Cow::Borrowed(spans[at].of(&self.bytes)),
        }
    }

    /// Value number `at` (from 0); empty where the format has none.
    ///
    /// # Panics
    /// When there is no such key.
    #[must_use]
    pub fn value(&self, at: usize) -> &[u8] {
        match &self.values {
            Some(values) => values[at].of(&self.bytes),
            None => &[],
        }
    }

    /// The keys at `places` (from 0, in that order), without their values.
    ///
    /// # Panics
    /// When there is no such key.
    #[must_use]
    pub fn selected(&self, places: impl Iterator<Item = usize>) -> KeySet<'_> {
        let keys = match &self.keys {
            Keys::Integers(keys) => Keys::Integers(places.map(|at| keys[at]).collect()),
            Keys::Bytes(spans) => Keys::Bytes(places.map(|at| spans[at]).collect()),
        };
        KeySet { bytes: Cow::Borrowed(&self.bytes), keys, values: None }
    }
}
