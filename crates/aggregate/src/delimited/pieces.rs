//! Delimited text cut into pieces of one kind: lines without a quote, records that are marked 64 bytes at a
//! time, and single records that one byte after the other is looked at for.

use memchr::{memchr, memrchr};

use crate::kernel::marks::Marker;
use crate::record::{Dialect, Field, Marks, Split, split};

/// Bytes of records that are marked at a time.
pub(crate) const MARKED_BYTES: usize = 16 << 10;

/// A piece of text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Whole lines without a quote, `from..to`: each is a record.
    Lines(usize, usize),
    /// Well-formed records, `from..to`, quotes and all, which are marked.
    Records(usize, usize),
    /// One record with a quote, from a byte on.
    Record(usize, Split),
    /// The text ends inside the record that starts here.
    More(usize),
    /// No record starts before the limit any more; the next one starts here.
    End(usize),
}

/// Cuts text into pieces, so that only records with quotes are looked at byte by byte.
pub(crate) struct Pieces<'a> {
    bytes: &'a [u8],
    at: usize,
    limit: usize,
    /// None where lines are records, whatever stands in them.
    delimiter: Option<u8>,
    ended: bool,
    marker: Marker,
    /// The first quote from `at` on, or the end of the bytes; not known if before `at`.
    quote: usize,
}

impl<'a> Pieces<'a> {
    /// The records of `bytes` that start in `at..limit`, of which `at` is one. `ended` says that the
    /// input ends with the bytes, which then end with a newline.
    pub(crate) fn new(
        bytes: &'a [u8],
        (at, limit): (usize, usize),
        delimiter: Option<u8>,
        ended: bool,
        marker: Marker,
    ) -> Pieces<'a> {
        let quote = match delimiter {
            Some(_) => memchr(b'"', &bytes[at..]).map_or(bytes.len(), |quote| at + quote),
            None => bytes.len(),
        };
        Pieces { bytes, at, limit, delimiter, ended, marker, quote }
    }

    /// The next piece; `fields` are those of a [`Piece::Record`], and `marks`, if they are wanted, those of
    /// [`Piece::Records`], which are few enough for the nearest cache then.
    pub(crate) fn next(&mut self, fields: &mut Vec<Field>, marks: Option<&mut Marks>) -> Piece {
        let (bytes, from) = (self.bytes, self.at);
        if from >= self.limit {
            return Piece::End(from);
        }
        if self.delimiter.is_some() && bytes.get(from) == Some(&b'"') {
            self.quote = from;
        } else if self.quote < from {
            self.quote = memchr(b'"', &bytes[from..]).map_or(bytes.len(), |quote| from + quote);
        }
        // Up to here there is no quote, and a line starts here unless the bytes end.
        let free = match bytes.get(self.quote) {
            Some(_) if self.quote == from => from,
            Some(_) => memrchr(b'\n', &bytes[from..self.quote]).map_or(from, |n| from + n + 1),
            None => bytes.len(),
        };
        if free == from
            && let Some(delimiter) = self.delimiter
        {
            let dialect = Dialect { delimiter, quotes: true };
            let limit = if marks.is_some() { from + MARKED_BYTES } else { self.limit };
            let end = self.marker.run(bytes, (from, limit.min(self.limit)), dialect, marks);
            if end > from {
                self.at = end;
                return Piece::Records(from, end);
            }
            let split = split(bytes, from, dialect, self.ended, fields);
            self.at = match split {
                Split::More => return Piece::More(from),
                Split::Record(end) | Split::Blank(end) | Split::Malformed { end, .. } => end,
            };
            return Piece::Record(from, split);
        }
        // The last line that starts before the limit ends at the first newline not before it.
        let last = from.max(self.limit - 1);
        let end = match bytes[..free].get(last..).and_then(|rest| memchr(b'\n', rest)) {
            Some(newline) => last + newline + 1,
            None => match memrchr(b'\n', &bytes[from..free]) {
                Some(newline) => from + newline + 1,
                None => return Piece::More(from),
            },
        };
        self.at = end;
        Piece::Lines(from, end)
    }

    /// Where the records end that start before the limit, or where one starts that does not.
    pub(crate) fn end(mut self, fields: &mut Vec<Field>) -> Result<usize, usize> {
        loop {
            match self.next(fields, None) {
                Piece::End(end) => return Ok(end),
                Piece::More(start) => return Err(start),
                Piece::Lines(..) | Piece::Records(..) | Piece::Record(..) => {}
            }
        }
    }
}
