//! Key sets: byte strings that stay where they were loaded, or integers. Reads no file format.
//!
//! ```text
//! Text   bytes  | t h e   q u i c k   f o x |     one buffer, usually the file itself
//!        spans  | 0,3 | 4,5 | 10,3 |              where each key lies
//! ```

use std::borrow::Borrow;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use fathom_keys::Span;

use crate::hash::Hashes;

/// A key as structures see it: a byte string in the data set, or an integer.
pub trait Key: Copy + Eq + Ord + Hash + Default + Debug + Send + Sync {
    /// Its bytes; their order as byte strings is the order of the keys.
    type Raw: AsRef<[u8]> + Borrow<[u8]> + Copy + Send + Sync;
    /// Whether all keys have the same number of bytes: then none is the beginning of another.
    const SAME_LENGTH: bool;
    /// A copy that refers to nothing, for structures that keep no references.
    type Owned: Ord + Hash + Clone + Send + Sync + Borrow<Self::Part> + 'static;
    /// What an owned key is compared with.
    type Part: Ord + Hash + ?Sized + 'static;

    /// Copies the key.
    fn owned(self) -> Self::Owned;

    /// The key to compare with owned ones.
    fn part(&self) -> &Self::Part;

    /// The bytes themselves, or the eight bytes of the integer, most significant first.
    fn raw(self) -> Self::Raw;

    /// Its hash by `function`.
    fn hash_by<H: Hashes>(self, function: &H) -> u64;

    /// A sum over every byte of it: proof that it was read.
    fn touch(self) -> u64;
}

/// A byte string in the data set: 16 bytes that refer to it.
///
/// Equal when length and bytes are. Unlike `[u8]` it feeds a hasher its bytes alone, in one call,
/// because nothing is hashed together with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes<'w>(pub &'w [u8]);

impl Hash for Bytes<'_> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(self.0);
    }
}

impl<'w> Key for Bytes<'w> {
    type Raw = &'w [u8];
    const SAME_LENGTH: bool = false;
    type Owned = Box<[u8]>;
    type Part = [u8];

    fn owned(self) -> Box<[u8]> {
        self.0.into()
    }

    #[inline]
    fn part(&self) -> &[u8] {
        self.0
    }

    #[inline]
    fn raw(self) -> &'w [u8] {
        self.0
    }

    #[inline]
    fn hash_by<H: Hashes>(self, function: &H) -> u64 {
        function.bytes(self.0)
    }

    #[inline]
    fn touch(self) -> u64 {
        // Whole words, and a last one that may overlap: no loop over single bytes, whose number no
        // branch predictor guesses. Rotated, so that a byte counted twice cannot cancel itself.
        let bytes = self.0;
        if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
            let sum = first.wrapping_add(last.rotate_left(7));
            return match bytes.len() {
                ..=16 => sum,
                _ => words(&bytes[8..]).wrapping_add(sum),
            };
        }
        if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
            return u64::from(first).wrapping_add(u64::from(last) << 7);
        }
        bytes.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
    }
}

impl Key for u64 {
    type Raw = [u8; 8];
    const SAME_LENGTH: bool = true;
    type Owned = u64;
    type Part = u64;

    fn owned(self) -> u64 {
        self
    }

    #[inline]
    fn part(&self) -> &u64 {
        self
    }

    #[inline]
    fn raw(self) -> [u8; 8] {
        self.to_be_bytes()
    }

    #[inline]
    fn hash_by<H: Hashes>(self, function: &H) -> u64 {
        function.word(self)
    }

    #[inline]
    fn touch(self) -> u64 {
        self
    }
}

/// The sum of the words in `bytes`, without what is left over.
#[inline]
fn words(bytes: &[u8]) -> u64 {
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().fold(0, |sum, &word| sum.wrapping_add(u64::from_le_bytes(word)))
}

/// Bytes that live as long as the data set: a vector, a mapped file, a shared segment.
pub type Storage = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Keys in the order of their file, duplicates kept.
#[derive(Clone)]
pub enum Keys {
    /// Whole numbers.
    Integers(Vec<u64>),
    /// Byte strings.
    Text(Text),
}

impl Keys {
    /// Number of keys, duplicates counted.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Keys::Integers(keys) => keys.len(),
            Keys::Text(text) => text.spans.len(),
        }
    }

    /// Whether there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of all keys; an integer has eight.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Keys::Integers(keys) => 8 * keys.len() as u64,
            Keys::Text(text) => text.spans.iter().map(|span| u64::from(span.len)).sum(),
        }
    }

    /// Copies of the keys at `order`, in that order, in memory of their own.
    #[must_use]
    pub fn copies(&self, order: impl Iterator<Item = usize>) -> Keys {
        match self {
            Keys::Integers(keys) => Keys::Integers(order.map(|at| keys[at]).collect()),
            Keys::Text(text) => Keys::Text(order.map(|at| text.key(at).0).collect()),
        }
    }
}

/// Byte strings in one buffer.
#[derive(Clone)]
pub struct Text {
    bytes: Storage,
    spans: Vec<Span>,
}

impl Text {
    /// The keys at `spans` of `bytes`; the first span that does not fit is the error.
    ///
    /// # Errors
    /// The index of a span that reaches past the end.
    pub fn new(bytes: Storage, spans: Vec<Span>) -> Result<Text, usize> {
        let end = (*bytes).as_ref().len() as u64;
        let fits = |span: &Span| span.start.checked_add(span.len.into()).is_some_and(|e| e <= end);
        match spans.iter().position(|span| !fits(span)) {
            Some(bad) => Err(bad),
            None => Ok(Text { bytes, spans }),
        }
    }

    /// Key number `at`.
    #[must_use]
    pub fn key(&self, at: usize) -> Bytes<'_> {
        Bytes(self.spans[at].of((*self.bytes).as_ref()))
    }

    /// All keys, referring to the buffer.
    #[must_use]
    pub fn keys(&self) -> Vec<Bytes<'_>> {
        let bytes = (*self.bytes).as_ref();
        self.spans.iter().map(|&span| Bytes(span.of(bytes))).collect()
    }
}

/// Copies of byte strings, one after another without gaps.
impl<T: AsRef<[u8]>> FromIterator<T> for Text {
    fn from_iter<I: IntoIterator<Item = T>>(keys: I) -> Text {
        let (mut bytes, mut spans) = (Vec::new(), Vec::new());
        for key in keys {
            let key = key.as_ref();
            let len = u32::try_from(key.len()).expect("a key of less than 4 GiB");
            spans.push(Span { start: bytes.len() as u64, len });
            bytes.extend_from_slice(key);
        }
        Text { bytes: Arc::new(bytes), spans }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_have_the_same_bytes_elsewhere() {
        let text: Text = ["alpha", "", "beta"].into_iter().collect();
        let keys = Keys::Text(text.clone());
        let Keys::Text(copies) = keys.copies([2, 0, 1].into_iter()) else { panic!() };
        assert_eq!(copies.keys(), [Bytes(b"beta"), Bytes(b"alpha"), Bytes(b"")]);
        assert_ne!(copies.key(1).0.as_ptr(), text.key(0).0.as_ptr());
        assert_eq!((keys.len(), keys.bytes()), (3, 9));
    }

    #[test]
    fn a_span_past_the_end_is_named() {
        let spans = vec![Span { start: 0, len: 3 }, Span { start: 2, len: 2 }];
        assert_eq!(Text::new(Arc::new(vec![0; 3]), spans).err(), Some(1));
        let wraps = vec![Span { start: u64::MAX, len: 2 }];
        assert_eq!(Text::new(Arc::new(vec![0; 3]), wraps).err(), Some(0));
    }

    #[test]
    fn raw_bytes_order_like_the_keys() {
        assert!(255_u64.raw() < 256_u64.raw());
        assert!(Bytes(b"a").raw() < Bytes(b"ab").raw());
    }

    #[test]
    fn touching_reads_every_byte() {
        let mut text = *b"every single byte of a longer text counts";
        for len in 1..=text.len() {
            let whole = Bytes(&text[..len]).touch();
            for bit in 0..8 * len {
                text[bit / 8] ^= 1 << (bit % 8);
                assert_ne!(Bytes(&text[..len]).touch(), whole, "{len}: bit {bit}");
                text[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}
