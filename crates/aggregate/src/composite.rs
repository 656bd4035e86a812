//! Keys of several parts as one text: no two keys have the same, and their order is that of the parts.
//!
//! ```text
//! part 0 part 0 … part      with 0 in a part written 1 1, and 1 written 1 2
//! ```
//!
//! Every part but the last is escaped, and ends with the one byte that no escaped part has; the last
//! ends with the text. A byte that ends a part is less than any other, so that comparing texts
//! compares part after part. A key of a single part is that part, unchanged.

use std::borrow::Cow;
use std::ops::Range;

const END: u8 = 0;
/// The last of the bytes that no part but the last has.
pub(crate) const ESCAPE: u8 = 1;

/// Appends a part that stands in a text and has no byte up to [`ESCAPE`], as [`push`], without a call where it is short.
#[inline]
pub(crate) fn push_plain(key: &mut Vec<u8>, text: &[u8], at: Range<usize>, is_last: bool) {
    const SHORT: usize = 32;
    match text[at.start..].first_chunk::<SHORT>() {
        Some(wide) if at.len() <= SHORT => {
            let len = key.len() + at.len();
            key.extend_from_slice(wide);
            key.truncate(len);
        }
        _ => key.extend_from_slice(&text[at]),
    }
    if !is_last {
        key.push(END);
    }
}

/// Appends a part behind those before it; `is_last` says that none will follow.
pub(crate) fn push(key: &mut Vec<u8>, part: &[u8], is_last: bool) {
    if is_last {
        return key.extend_from_slice(part);
    }
    // Without an early end, so that it is done many bytes at a time.
    if !part.iter().fold(false, |is_any, &byte| is_any | (byte <= ESCAPE)) {
        key.extend_from_slice(part);
    } else {
        part.iter().for_each(|&byte| match byte {
            END | ESCAPE => key.extend([ESCAPE, byte + 1]),
            _ => key.push(byte),
        });
    }
    key.push(END);
}

/// The parts of a key that has so many: of a text that is no such key, as many as there are.
pub(crate) fn parts(key: &[u8], count: usize) -> impl Iterator<Item = Cow<'_, [u8]>> {
    let mut rest = Some(key);
    (0..count).map_while(move |at| {
        let text = rest.take()?;
        let is_last = at + 1 == count;
        let end = if is_last { None } else { memchr::memchr(END, text) };
        let Some(end) = end else { return Some(Cow::Borrowed(text)) };
        rest = Some(&text[end + 1..]);
        Some(unescaped(&text[..end]))
    })
}

fn unescaped(part: &[u8]) -> Cow<'_, [u8]> {
    if !part.contains(&ESCAPE) {
        return Cow::Borrowed(part);
    }
    let mut bytes = part.iter();
    let mut plain = Vec::with_capacity(part.len());
    while let Some(&byte) = bytes.next() {
        plain.push(match byte {
            ESCAPE => bytes.next().map_or(byte, |second| second - 1),
            _ => byte,
        });
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(parts: &[Vec<u8>]) -> Vec<u8> {
        let mut key = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            push(&mut key, part, at + 1 == parts.len());
        }
        key
    }

    /// Parts of few different bytes, so that keys are alike: those that mean something among them.
    fn three() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let byte = prop::sample::select(vec![0, 1, 2, b',', b'a', 0xff]);
        prop::collection::vec(prop::collection::vec(byte, 0..4), 3)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn keys_are_alike_and_ordered_as_their_parts_are(one in three(), other in three()) {
            let texts = [key(&one), key(&other)];
            prop_assert_eq!(texts[0].cmp(&texts[1]), one.cmp(&other));
            let read: Vec<_> = parts(&texts[0], 3).map(Cow::into_owned).collect();
            prop_assert_eq!(read, one);
        }
    }

    #[test]
    fn a_key_of_one_part_is_that_part() {
        assert_eq!(key(&[b"a\0\x01".to_vec()]), b"a\0\x01");
        assert_eq!(parts(b"a\0\x01", 1).collect::<Vec<_>>(), [&b"a\0\x01"[..]]);
    }
}
