//! SynLZ, mORMot's codec: like LZ4, but no offset is ever stored. Encoder and decoder keep the same
//! table of 4096 positions, found by a hash of three bytes, and a match names its slot.
//!
//! ```text
//! length: u16 if below 32768, else u16 (0x8000 | low 15 bits), u16 (length >> 15); 0 ends here
//! groups: u32, bit 0 first, 1 = match; then up to 32 items
//!   literal: one byte
//!   match:   u16, high 12 bits slot, low 4 bits t: t + 2 bytes; t = 0: one more byte b, b + 18 bytes
//! ```
//!
//! Its original decoder trusts its input; this one checks every slot, source and target. Runs of
//! period 1 or 2 do not compress: the slot always holds a position one or two back.

use fathom_measure::contender::{Meta, Simple};

use super::workload::{Codec, Texts};

#[allow(unsafe_code)] // unchecked copies; every block says what makes it sound
mod kernel;
mod reference;

pub use kernel::{compress, decompress};
pub use reference::{compress as plain_compress, decompress as plain_decompress};

pub(super) struct SynLz;

pub(super) const SYN_LZ: Simple<Texts> = Simple {
    meta: Meta {
        name: "synlz",
        link: "https://github.com/synopse/mORMot2",
        ..Meta::of(include_str!("mod.rs"))
    },
    prepare: |workload| workload.coded(SynLz),
};

impl Codec for SynLz {
    fn compress(&mut self, plain: &[u8], payload: &mut Vec<u8>) {
        // Texts here are far below the format's limit.
        *payload = compress(plain).unwrap_or_default();
    }

    fn decompress(&mut self, payload: &[u8], plain: &mut [u8]) -> bool {
        decompress(payload, plain).is_ok()
    }
}

/// Entries in the table of positions.
const SLOTS: usize = 4096;
/// No match starts in the last ten bytes.
const TAIL: usize = 11;
/// The longest match.
const LONGEST: usize = 273;

/// What cannot be compressed or decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SynLzError {
    /// The format has 31 bits for the length.
    #[error("texts of 2 GiB and more do not fit the format")]
    TooLong,
    /// The stream ends before the text does; the offset is in the stream.
    #[error("the stream ends at byte {0}, before the text is complete")]
    Truncated(usize),
    /// A match names a slot that holds no position; the offset is in the stream.
    #[error("the match at byte {0} names an empty slot")]
    EmptySlot(usize),
    /// A match goes beyond the announced length; the offset is in the stream.
    #[error("the match at byte {0} goes beyond the announced length")]
    TooFar(usize),
    /// The announced length is more than a stream of this size can hold.
    #[error("a stream of {0} bytes cannot hold a text of the announced length")]
    Impossible(usize),
    /// Something follows the end of the text; the offset is in the stream.
    #[error("the text is complete at byte {0}, but the stream goes on")]
    Trailing(usize),
}

/// Room enough for any text of `length` bytes.
#[must_use]
pub fn bound(length: usize) -> usize {
    length + length / 8 + 16
}

/// Appends the length.
fn push_length(length: usize, stream: &mut Vec<u8>) -> Result<(), SynLzError> {
    if length >= 1 << 31 {
        return Err(SynLzError::TooLong);
    }
    if length < 0x8000 {
        stream.extend_from_slice(&(length as u16).to_le_bytes());
    } else {
        stream.extend_from_slice(&(0x8000 | length as u16).to_le_bytes());
        stream.extend_from_slice(&((length >> 15) as u16).to_le_bytes());
    }
    Ok(())
}

/// The announced length and where the groups start.
fn length(stream: &[u8]) -> Result<(usize, usize), SynLzError> {
    let word = |at: usize| {
        let bytes = stream.get(at..at + 2).ok_or(SynLzError::Truncated(stream.len()))?;
        Ok(usize::from(u16::from_le_bytes([bytes[0], bytes[1]])))
    };
    let low = word(0)?;
    let (length, start) =
        if low < 0x8000 { (low, 2) } else { ((low & 0x7fff) | word(2)? << 15, 4) };
    // Three bytes and a bit give at most 273.
    if length > stream.len().saturating_mul(LONGEST / 3) {
        return Err(SynLzError::Impossible(stream.len()));
    }
    Ok((length, start))
}

/// Nothing but an unused control word may follow.
fn check_end(stream: &[u8], at: usize, group_is_full: bool) -> Result<(), SynLzError> {
    let is_unused_word = group_is_full && stream[at..] == [0; 4];
    if at == stream.len() || is_unused_word { Ok(()) } else { Err(SynLzError::Trailing(at)) }
}

fn slot(word: u32) -> usize {
    ((word >> 12 ^ word) & 0xfff) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// From an independent implementation of the description, not from a run of mORMot.
    #[test]
    fn short_texts_have_the_streams_of_an_independent_implementation() {
        let cases: [(&[u8], &[u8]); 3] = [
            (b"", b"\x00\x00"),
            (b"a", b"\x01\x00\x00\x00\x00\x00a"),
            (b"abcabcabcabcabcabcabcabc", b"\x18\x00\x08\x00\x00\x00abc\x70\x45\x02c"),
        ];
        for (plain, stream) in cases {
            assert_eq!(plain_compress(plain).unwrap(), stream);
            assert_eq!(compress(plain).unwrap(), stream);
        }
        assert_eq!(compress(&[b'x'; 50]).unwrap().len(), 60, "all literals");
    }

    /// In the place of another text.
    fn decompressed(stream: &[u8]) -> Result<Vec<u8>, SynLzError> {
        let mut plain = vec![0xee; length(stream)?.0];
        decompress(stream, &mut plain).map(|()| plain)
    }

    fn check(plain: &[u8]) {
        let stream = plain_compress(plain).unwrap();
        assert!(stream.len() <= bound(plain.len()));
        assert_eq!(compress(plain).unwrap(), stream, "the encoders agree");
        assert_eq!(plain_decompress(&stream).unwrap(), plain);
        assert_eq!(decompressed(&stream).unwrap(), plain);
    }

    #[test]
    fn texts_of_every_kind_come_back() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        for length in (0..200).chain([1000, 32_767, 32_768, 32_769, 80_000, 300_000]) {
            check(&program[program.len() / 3..][..length]);
            check(&crate::mix::random(1, length));
            check(&vec![7; length]);
            let periodic: Vec<u8> = (0..length).map(|at| (at % 37 % 11) as u8).collect();
            check(&periodic);
        }
        check(&crate::people::json(300));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn any_text_comes_back(plain in proptest::collection::vec(0_u8..5, 0..2000)) {
            check(&plain);
        }

        #[test]
        fn any_stream_gives_the_same_answer_in_both_decoders(
            stream in proptest::collection::vec(any::<u8>(), 0..400),
        ) {
            prop_assert_eq!(decompressed(&stream), plain_decompress(&stream));
        }

        #[test]
        fn a_damaged_stream_gives_the_same_answer_in_both_decoders(
            plain in proptest::collection::vec(0_u8..4, 100..1500),
            damages in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut stream = compress(&plain).unwrap();
            for (place, byte) in damages {
                let at = place.index(stream.len());
                stream[at] = byte;
            }
            prop_assert_eq!(decompressed(&stream), plain_decompress(&stream));
            stream.truncate(cut.index(stream.len()));
            prop_assert_eq!(decompressed(&stream), plain_decompress(&stream));
        }
    }
}
