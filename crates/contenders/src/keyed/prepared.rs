//! The loaded workload as bytes, for workers in other languages: keys, values and probes as they are
//! measured here, so that nobody has to draw the same random numbers. Reads nothing back.
//!
//! ```text
//! "fathomK1"                                      8 bytes, then sections; all numbers u64, little-endian
//! entries  values  probes  probe values  new values  misses
//!
//! a section of keys     kind 1, number of keys, integers …
//!                       kind 2, number of keys, ends of the keys in the bytes …, bytes padded to 8
//! a section of values   kind 0, number of values, values …
//! ```

use super::keys::Keys;

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
            Section::Values(values) => numbers(&mut out, 0, values),
            Section::Keys(Keys::Integers(keys)) => numbers(&mut out, 1, keys),
            Section::Keys(Keys::Text(text)) => {
                let keys = text.keys();
                let ends: Vec<u64> = keys
                    .iter()
                    .scan(0, |end, key| {
                        *end += key.0.len() as u64;
                        Some(*end)
                    })
                    .collect();
                numbers(&mut out, 2, &ends);
                keys.iter().for_each(|key| out.extend_from_slice(key.0));
                out.resize(out.len().next_multiple_of(8), 0);
            }
        }
    }
    out
}

fn numbers(out: &mut Vec<u8>, kind: u64, numbers: &[u64]) {
    out.reserve(8 * (numbers.len() + 2));
    for number in [kind, numbers.len() as u64].iter().chain(numbers) {
        out.extend_from_slice(&number.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_the_documented_one() {
        let text = Keys::Text(["ab", "", "cdefghi"].into_iter().collect());
        let sections =
            [Section::Keys(&text), Section::Values(&[7]), Section::Keys(&Keys::Integers(vec![9]))];
        let out = bytes(&sections);
        assert_eq!(&out[..8], b"fathomK1");
        let words: Vec<u64> =
            out[8..].chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
        assert_eq!(words[..5], [2, 3, 2, 2, 9]);
        assert_eq!(&out[48..64], b"abcdefghi\0\0\0\0\0\0\0");
        assert_eq!(words[7..], [0, 1, 7, 1, 1, 9]);
    }
}
