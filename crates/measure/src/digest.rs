//! The check: a 64-bit digest that proves a contender did the work; it does not protect against
//! anybody who wants to cheat.
//!
//! The function is FNV-1a over bytes, so that an outside worker in any language can compute it in
//! three lines. It is never part of a timed region.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// FNV-1a, 64 bits, of a contender's answer. Written as 16 hexadecimal digits, also in JSON, where
/// a number of this size would lose digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Digest(pub u64);

impl Default for Digest {
    fn default() -> Digest {
        Digest(OFFSET)
    }
}

impl Digest {
    /// The digest of `bytes`.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Digest {
        Digest::default().with_bytes(bytes)
    }

    /// The digest of a number: of its eight bytes, least significant first.
    #[must_use]
    pub fn of_u64(number: u64) -> Digest {
        Digest::of_bytes(&number.to_le_bytes())
    }

    /// The digest of everything so far and then `bytes`.
    #[must_use]
    pub fn with_bytes(self, bytes: &[u8]) -> Digest {
        Digest(
            bytes.iter().fold(self.0, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME)),
        )
    }

    /// The digest of everything so far and then `number`.
    #[must_use]
    pub fn with_u64(self, number: u64) -> Digest {
        self.with_bytes(&number.to_le_bytes())
    }

    /// The digest of a set of parts whose order means nothing, such as the entries of a hash table
    /// as it iterates: their sum.
    #[must_use]
    pub fn unordered(parts: impl IntoIterator<Item = Digest>) -> Digest {
        Digest(parts.into_iter().fold(0, |sum, part| sum.wrapping_add(part.0)))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}", self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Digest({self})")
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        digest.to_string()
    }
}

impl FromStr for Digest {
    type Err = BadDigest;

    fn from_str(text: &str) -> Result<Digest, BadDigest> {
        if text.len() != 16 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(BadDigest(text.to_owned()));
        }
        u64::from_str_radix(text, 16).map(Digest).map_err(|_| BadDigest(text.to_owned()))
    }
}

impl TryFrom<String> for Digest {
    type Error = BadDigest;

    fn try_from(text: String) -> Result<Digest, BadDigest> {
        text.parse()
    }
}

/// Something that is not 16 hexadecimal digits.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is no digest: expected 16 hexadecimal digits")]
pub struct BadDigest(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_hash_to_the_published_values_of_fnv_1a() {
        // Draft-eastlake-fnv, 64-bit test vectors.
        assert_eq!(Digest::of_bytes(b"").0, 0xcbf2_9ce4_8422_2325);
        assert_eq!(Digest::of_bytes(b"a").0, 0xaf63_dc4c_8601_ec8c);
        assert_eq!(Digest::of_bytes(b"foobar").0, 0x8594_4171_f739_67e8);
    }

    #[test]
    fn text_goes_there_and_back() {
        let digest = Digest::of_bytes(b"a");
        assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        assert!("af63dc4c8601ec8".parse::<Digest>().is_err());
        assert!("+f63dc4c8601ec8c".parse::<Digest>().is_err());
    }

    #[test]
    fn order_matters_unless_said_otherwise() {
        let (a, b) = (Digest::of_u64(1), Digest::of_u64(2));
        assert_ne!(a.with_u64(2), b.with_u64(1));
        assert_eq!(Digest::unordered([a, b]), Digest::unordered([b, a]));
    }

    #[test]
    fn a_part_that_is_there_twice_counts_twice() {
        let (a, b) = (Digest::of_u64(1), Digest::of_u64(2));
        assert_ne!(Digest::unordered([a, a]), Digest::unordered([]));
        assert_ne!(Digest::unordered([a, a, b]), Digest::unordered([b]));
        assert_ne!(Digest::unordered([a, a, b, b]), Digest::unordered([]));
    }
}
