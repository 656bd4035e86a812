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
use fathom_machine::os::memory::{Backing, Buffer, Pages, prefer_huge};
use fathom_measure::workload::Data;

use super::kernel::prefetch;
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
}

/// The same where it is UTF-8, for structures whose own keys are strings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Str<'w>(pub &'w str);

impl<'w> Key for Str<'w> {
    type Raw = &'w [u8];
    const SAME_LENGTH: bool = false;
    type Owned = Box<str>;
    type Part = str;

    fn owned(self) -> Box<str> {
        self.0.into()
    }

    #[inline]
    fn part(&self) -> &str {
        self.0
    }

    #[inline]
    fn raw(self) -> &'w [u8] {
        self.0.as_bytes()
    }

    #[inline]
    fn hash_by<H: Hashes>(self, function: &H) -> u64 {
        function.bytes(self.0.as_bytes())
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
}

/// Bytes that live as long as the data set: a vector, a mapped file, a shared segment.
pub type Storage = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A data set as storage of keys, from a byte on.
pub(crate) struct Shared(pub(crate) usize, pub(crate) Data);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.1[self.0..]
    }
}

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
            Keys::Text(text) => text.len(),
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
            Keys::Text(text) => text.lengths().map(|length| length as u64).sum(),
        }
    }

    /// The sum over all bytes of all keys, the `i`th byte of a key shifted left by `8 (i mod 8)`
    /// bits, modulo 2⁶⁴: proof that each was read.
    #[must_use]
    pub fn sum_plain(&self) -> u64 {
        let add = |all: u64, key: &[u8]| all.wrapping_add(sum_plain(key));
        match self {
            Keys::Integers(keys) => keys.iter().fold(0, |all, key| add(all, &key.to_le_bytes())),
            Keys::Text(text) => (0..text.len()).fold(0, |all, at| add(all, text.key(at).0)),
        }
    }

    /// [`sum_plain`](Keys::sum_plain), as fast as memory allows.
    #[inline(never)]
    #[must_use]
    pub fn sum(&self) -> u64 {
        match self {
            Keys::Integers(keys) => keys.iter().fold(0, |sum, &key| sum.wrapping_add(key)),
            Keys::Text(text) => text.sum(),
        }
    }

    /// Byte strings in memory of this process on huge pages; the first to move says what it got.
    #[must_use]
    pub(crate) fn moved(self, backing: &mut Option<String>) -> Keys {
        match self {
            Keys::Text(text) if !text.is_empty() => {
                let (text, got) = text.moved();
                let words = |got: Backing| format!("from shared memory to {}", got.sentence());
                *backing = backing.take().or(got.map(words));
                Keys::Text(text)
            }
            Keys::Integers(keys) => {
                let words = "from shared memory to the heap, huge pages asked for";
                *backing = backing.take().or_else(|| Some(words.to_owned()));
                Keys::Integers(on_huge_pages(keys.into_iter()))
            }
            empty @ Keys::Text(_) => empty,
        }
    }

    /// The keys themselves where they are integers, on huge pages; else none.
    pub(crate) fn integers(&self) -> Vec<u64> {
        match self {
            Keys::Integers(keys) => on_huge_pages(keys.iter().copied()),
            Keys::Text(_) => Vec::new(),
        }
    }

    /// Where they are byte strings, a reference to each; else none.
    pub(crate) fn strings(&self) -> Vec<Bytes<'_>> {
        match self {
            Keys::Text(text) => text.keys(),
            Keys::Integers(_) => Vec::new(),
        }
    }

    /// Whether they are strings: byte strings that are UTF-8.
    pub(crate) fn are_strings(&self) -> bool {
        let is_utf8 = |key: Bytes<'_>| str::from_utf8(key.0).is_ok();
        match self {
            Keys::Text(text) => (0..text.len()).all(|at| is_utf8(text.key(at))),
            Keys::Integers(keys) => keys.is_empty(),
        }
    }

    /// Where they [are strings](Keys::are_strings), a reference to each.
    ///
    /// # Panics
    /// Where one is none.
    pub(crate) fn texts(&self) -> Vec<Str<'_>> {
        let texts = self.strings().into_iter();
        on_huge_pages(texts.map(|key| Str(str::from_utf8(key.0).expect("asked before"))))
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

    /// Number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Key number `at`.
    #[must_use]
    pub fn key(&self, at: usize) -> Bytes<'_> {
        Bytes(self.spans[at].of((*self.bytes).as_ref()))
    }

    /// How many bytes each key has.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = usize> {
        self.spans.iter().map(|span| span.len as usize)
    }

    /// All keys, referring to the buffer.
    #[must_use]
    pub fn keys(&self) -> Vec<Bytes<'_>> {
        let bytes = (*self.bytes).as_ref();
        on_huge_pages(self.spans.iter().map(|&span| Bytes(span.of(bytes))))
    }

    /// The same keys in memory of this process on huge pages, and what the kernel gave of those.
    #[must_use]
    pub fn moved(self) -> (Text, Option<Backing>) {
        struct Moved(Buffer);
        impl AsRef<[u8]> for Moved {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }
        let first = self.spans.iter().map(|span| span.start).min().unwrap_or(0);
        let end = self.spans.iter().map(|span| span.start + u64::from(span.len)).max();
        let bytes = &(*self.bytes).as_ref()[first as usize..end.unwrap_or(first) as usize];
        let Ok(mut buffer) = Buffer::new(bytes.len(), Pages::Transparent) else {
            return (self, None);
        };
        buffer.copy_from_slice(bytes);
        let backing = buffer.backing();
        let moved = self.spans.iter().map(|span| Span { start: span.start - first, ..*span });
        let spans = on_huge_pages(moved);
        (Text { bytes: Arc::new(Moved(buffer)), spans }, Some(backing))
    }

    /// See [`Keys::sum`]. Always 32 bytes at once, of which those beyond the key are masked out: the
    /// lengths of words are what no branch predictor guesses, and a wrong guess costs more than all
    /// the rest.
    fn sum(&self) -> u64 {
        let bytes = (*self.bytes).as_ref();
        let mut lanes = [0_u64; 4];
        // Keys whose last 32 bytes would reach past the data; in files they are the last few. They
        // are not summed here, so that the lanes can stay in registers.
        let (mut first, mut end) = (self.spans.len(), 0);
        for (at, span) in self.spans.iter().enumerate() {
            // The processor's own guesses stop at each page's end: 5.0 ns a word from memory without
            // asking ahead, 2.0 with it.
            prefetch(std::ptr::from_ref(span).cast::<u8>().wrapping_add(AHEAD));
            let (start, len) = (span.start as usize, span.len as usize);
            let Some(room) = bytes.get(start..start + (len | 31) + 1) else {
                (first, end) = (first.min(at), at + 1);
                continue;
            };
            let (windows, _) = room.as_chunks::<32>();
            for (number, window) in windows.iter().enumerate() {
                prefetch(window.as_ptr().wrapping_add(AHEAD));
                let (words, _) = window.as_chunks::<8>();
                let mask = &MASKS[len.saturating_sub(32 * number).min(32)];
                for ((lane, word), mask) in lanes.iter_mut().zip(words).zip(mask) {
                    *lane = lane.wrapping_add(u64::from_le_bytes(*word) & mask);
                }
            }
        }
        let sum = lanes.iter().fold(0, |sum: u64, &lane| sum.wrapping_add(lane));
        let late = self.spans.get(first..end).unwrap_or_default();
        sum.wrapping_add(sum_late(bytes, late))
    }
}

/// The sum over those keys of which [`Text::sum`] cannot take 32 bytes at once.
#[cold]
fn sum_late(bytes: &[u8], spans: &[Span]) -> u64 {
    let is_late = |span: &&Span| span.start + u64::from(span.len | 31) + 1 > bytes.len() as u64;
    spans.iter().filter(is_late).fold(0, |sum, &span| sum.wrapping_add(sum_plain(span.of(bytes))))
}

/// The sum over one key: [`Keys::sum_plain`].
fn sum_plain(key: &[u8]) -> u64 {
    let shifted = key.iter().zip((0..64).step_by(8).cycle());
    shifted.fold(0, |sum, (&byte, by)| sum.wrapping_add(u64::from(byte) << by))
}

/// Collected where the kernel grants huge pages, so that a walk over it costs no page walks.
pub(crate) fn on_huge_pages<T>(items: impl ExactSizeIterator<Item = T>) -> Vec<T> {
    let mut all = Vec::with_capacity(items.len());
    prefer_huge(all.spare_capacity_mut());
    all.extend(items);
    all
}

/// How far ahead of the keys memory is asked for, in bytes: some 40 words.
const AHEAD: usize = 1024;

/// By number of bytes that count, what to keep of 32 bytes.
const MASKS: [[u64; 4]; 33] = {
    let mut masks = [[0; 4]; 33];
    let mut len = 0;
    while len <= 32 {
        let mut byte = 0;
        while byte < len {
            masks[len][byte / 8] |= 0xff << (8 * (byte % 8));
            byte += 1;
        }
        len += 1;
    }
    masks
};

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

impl FromIterator<u64> for Keys {
    fn from_iter<I: IntoIterator<Item = u64>>(keys: I) -> Keys {
        Keys::Integers(keys.into_iter().collect())
    }
}

impl FromIterator<Box<[u8]>> for Keys {
    fn from_iter<I: IntoIterator<Item = Box<[u8]>>>(keys: I) -> Keys {
        Keys::Text(keys.into_iter().collect())
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
    fn the_sum_is_the_plain_one_and_reads_every_byte() {
        let bytes: Vec<u8> = (0..200_u32).map(|at| (at * 37 % 251) as u8).collect();
        for len in 0..=100 {
            let spans: Vec<Span> =
                (0..3).map(|key| Span { start: key * len, len: len as u32 }).collect();
            let end = Span { start: 200 - len, len: len as u32 };
            let spans = [&spans[..usize::from(len < 67) * 3], &[end]].concat();
            let sum = |bytes: &[u8]| {
                let text = Text::new(Arc::new(bytes.to_vec()), spans.clone()).unwrap();
                let keys = Keys::Text(text);
                assert_eq!(keys.sum(), keys.sum_plain(), "{len}");
                keys.sum()
            };
            let whole = sum(&bytes);
            let text = Text::new(Arc::new(bytes.clone()), spans.clone()).unwrap();
            assert_eq!(Keys::Text(text.moved().0).sum(), whole, "{len}");
            for at in end.start as usize..200 {
                let mut other = bytes.clone();
                other[at] ^= 1;
                assert_ne!(sum(&other), whole, "{len}: byte {at}");
            }
        }
        let integers = Keys::Integers(vec![1, u64::MAX, 0x0102_0304_0506_0708]);
        assert_eq!(integers.sum(), integers.sum_plain());
    }
}
