//! The scalars between bytes that are known: the inner loop of [`Pattern::find`](crate::Pattern::find).
//!
//! Walks on while what stands before a scalar is what is expected and the scalar is a string of ASCII
//! without escapes, or a plain number; whoever asked looks at all others and walks on behind them.

use std::ops::Range;

use fathom_machine::simd::Vector;

use super::{number_over, special_over};

/// What a scalar is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A string.
    String {
        /// Whether a backslash stands in it.
        has_escapes: bool,
    },
    /// A number.
    Number,
    /// `true`.
    True,
    /// `false`.
    False,
    /// `null`.
    #[default]
    Null,
}

/// A string, a number, `true`, `false` or `null` of a text, and where it stands there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scalar {
    /// Its first byte.
    pub start: usize,
    /// The byte behind it.
    pub end: usize,
    /// What it is; the quotes of a string belong to it.
    pub kind: Kind,
}

/// Bytes around scalars.
#[derive(Clone, Debug)]
pub(crate) struct Gap {
    /// The first 16, with zeros behind them, as they are in memory, and a bit for each bit of theirs.
    first: u128,
    mask: u128,
    len: usize,
    /// All, if they are more than 16.
    all: Box<[u8]>,
}

impl Gap {
    const FIRST: usize = 16;

    pub(crate) fn new(bytes: &[u8]) -> Gap {
        let (mut first, len) = ([0; Gap::FIRST], bytes.len());
        let short = len.min(Gap::FIRST);
        first[..short].copy_from_slice(&bytes[..short]);
        let mask = u128::MAX.checked_shr(128 - 8 * short as u32).unwrap_or(0);
        let all = if len > Gap::FIRST { bytes.into() } else { Box::default() };
        Gap { first: u128::from_le_bytes(first), mask, len, all }
    }

    /// Where it ends in a text, if it stands there at `at`.
    #[inline(always)]
    pub(crate) fn end(&self, text: &[u8], at: usize) -> Option<usize> {
        let Some(here) = text.get(at..)?.first_chunk() else {
            let first = self.first.to_le_bytes();
            let bytes = if self.all.is_empty() { &first[..self.len] } else { &self.all };
            return text[at..].starts_with(bytes).then_some(at + self.len);
        };
        let is_first = (u128::from_le_bytes(*here) ^ self.first) & self.mask == 0;
        let is_all = is_first && (self.len <= Gap::FIRST || text[at..].starts_with(&self.all));
        is_all.then_some(at + self.len)
    }

    /// Its bytes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether it stands at a place of a text, and in a range of it.
    ///
    /// # Safety
    /// The range is one of the text, and 16 bytes follow it there.
    #[inline(always)]
    pub(super) unsafe fn stands(&self, text: &[u8], at: usize, range: &Range<usize>) -> bool {
        if at.wrapping_sub(range.start) > range.len() || range.end - at < self.len {
            return false;
        }
        // SAFETY: the place is in the range or where it ends.
        let here = unsafe { text.as_ptr().add(at).cast::<u128>().read_unaligned() };
        (u128::from_le(here) ^ self.first) & self.mask == 0
            && (self.len <= Gap::FIRST || text[at..].starts_with(&self.all))
    }
}

/// Finds scalars from `at` on, each behind its gap: how many, and where the last one ends.
///
/// # Safety
/// The level of `V` is available.
#[inline(always)]
pub(super) unsafe fn scalars_over<V: Vector>(
    gaps: &[Gap],
    text: &[u8],
    mut at: usize,
    scalars: &mut [Scalar],
) -> (usize, usize) {
    for (found, (gap, scalar)) in gaps.iter().zip(scalars).enumerate() {
        // SAFETY: the caller vouches for the level.
        let Some(here) = (unsafe { scalar_over::<V>(gap, text, at) }) else { return (found, at) };
        *scalar = here;
        at = here.end;
    }
    (gaps.len(), at)
}

/// The scalar behind a gap at a place, if there is a plain one.
///
/// # Safety
/// The level of `V` is available.
#[inline(always)]
unsafe fn scalar_over<V: Vector>(gap: &Gap, text: &[u8], at: usize) -> Option<Scalar> {
    let start = gap.end(text, at)?;
    let first = *text.get(start)?;
    // SAFETY: the caller vouches for the level.
    let (end, kind) = unsafe {
        if first == b'"' {
            let (quote, is_ascii) = special_over::<V>(text, start + 1);
            let is_plain = is_ascii && text.get(quote) == Some(&b'"');
            is_plain.then_some((quote + 1, Kind::String { has_escapes: false }))?
        } else {
            let number = number_over::<V>(text, start)?;
            (start + usize::from(number.bytes.get()), Kind::Number)
        }
    };
    Some(Scalar { start, end, kind })
}
