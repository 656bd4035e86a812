//! Rows at addresses: what the loops take, in a buffer of ours or in a mapped file.
//!
//! A mapped file is *live*: another process may change any byte between two looks. So there is no reference to
//! its bytes, and the loops are right about memory whatever they see: where rows end is written down once, all bounds come
//! from that, a value and the length of its key from one look at eight bytes, and a key that is stored from one look at
//! sixteen, or from a copy. What a row says that changed meanwhile is anything; it is never behind its bounds.

use std::marker::PhantomData;
use std::ops::Range;

use fathom_machine::os::live::LiveMap;
use fathom_machine::prefetch;

use crate::chunk::{PIECE_ROWS, SLACK, Window};

/// As a [`Window`]: `from..to` ends with a newline, or did, and has [`SLACK`] readable bytes on either side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span<'a> {
    base: *const u8,
    from: usize,
    to: usize,
    is_live: bool,
    bytes: PhantomData<&'a [u8]>,
}

impl<'a> Span<'a> {
    pub(crate) fn of(window: &Window<'a>) -> Span<'a> {
        let (base, from, to) = (window.buffer().as_ptr(), window.from(), window.to());
        Span { base, from, to, is_live: false, bytes: PhantomData }
    }

    /// Whole rows of a mapped file, of which there are no more than a piece may have; None where there is no slack.
    pub(crate) fn of_map(map: &'a LiveMap, rows: Range<u64>) -> Option<Span<'a>> {
        let (mapped, slack) = (map.range(), SLACK as u64);
        let first = rows.start.checked_sub(slack)?;
        let bytes = rows.end.checked_sub(rows.start).filter(|&bytes| bytes <= PIECE_ROWS)?;
        if first < mapped.start || rows.end + slack > mapped.end {
            return None;
        }
        let (base, to) = (map.address(first), SLACK + bytes as usize);
        Some(Span { base, from: SLACK, to, is_live: true, bytes: PhantomData })
    }

    /// What positions count from.
    #[inline(always)]
    pub(super) fn base(&self) -> *const u8 {
        self.base
    }

    /// The first byte of the first row.
    #[inline(always)]
    pub(crate) fn from(&self) -> usize {
        self.from
    }

    /// One behind the last byte of the last row.
    #[inline(always)]
    pub(crate) fn to(&self) -> usize {
        self.to
    }

    /// Whether others may change the bytes.
    #[inline(always)]
    pub(crate) fn is_live(&self) -> bool {
        self.is_live
    }

    /// Bytes of the rows that stay what they are: themselves, or a copy.
    pub(crate) fn bytes<'b>(&'b self, place: Range<usize>, copy: &'b mut Vec<u8>) -> &'b [u8] {
        assert!(self.from <= place.start && place.start <= place.end && place.end <= self.to);
        let bytes = place.end - place.start;
        // SAFETY: inside the rows, which are readable. A slice is made of bytes that a borrowed buffer holds; of live
        // ones a copy is, byte for byte as they were when it was made.
        unsafe {
            let from = self.base.add(place.start);
            if !self.is_live {
                return std::slice::from_raw_parts(from, bytes);
            }
            copy.clear();
            copy.reserve(bytes);
            copy.as_mut_ptr().copy_from_nonoverlapping(from, bytes);
            copy.set_len(bytes);
        }
        copy
    }

    /// Begins to fetch some lines of the cache that follow a short row by a while, if they are live: other bytes have just been
    /// copied, and are near.
    #[inline(always)]
    pub(super) fn fetch_ahead(&self, row: usize, lines: usize) {
        if self.is_live {
            for line in 0..lines {
                prefetch(self.base.wrapping_add(row + AHEAD_BYTES + 64 * line));
            }
        }
    }

    /// The same of a row whose key is long: the lines of its first and its last byte.
    #[inline(always)]
    pub(super) fn fetch_behind(&self, row: usize, bytes: usize) {
        if self.is_live {
            let at = self.base.wrapping_add(row + LONG_AHEAD_BYTES);
            prefetch(at);
            prefetch(at.wrapping_add(bytes.min(64)));
        }
    }
}

/// How far behind the rows in hand a mapped file is fetched: newlines are looked for farther than a batch, but no farther than
/// this.
pub(super) const AHEAD_BYTES: usize = 4 << 10;

/// The same of long rows, a batch of which is nearly as long.
const LONG_AHEAD_BYTES: usize = 6 << 10;
