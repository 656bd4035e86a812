//! Chunks: pieces of input that hold whole rows, read into a reused buffer.
//!
//! A row belongs to the chunk in which it starts. A chunk of a file is therefore read with one
//! byte before it, which tells whether a row starts at its first byte, and some bytes after it,
//! which complete its last row. Streams are cut behind a newline as they are read.
//!
//! Nothing here knows what a row means.

use std::ops::Range;
use std::path::Path;

use memchr::{memchr, memchr_iter, memrchr};

use crate::error::{BytePosition, Error, Position, characters};

/// Readable bytes a [`Window`] has on either side.
pub const SLACK: usize = 64;

/// U+FEFF in UTF-8, which some programs put in front.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Bytes of the mark, if the text starts with it.
pub(crate) fn byte_order_mark(text: &[u8]) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
}

/// Longest record, in bytes, that is read into one piece.
pub const MOST_RECORD_BYTES: usize = 64 << 20;

/// Most rows of a piece of a window. A row takes at least a byte, its newline.
pub(crate) const PIECE_ROWS: u64 = 4 << 20;

/// Rows in a buffer: `buffer[from..to]`, of which the last byte is a newline unless it is empty,
/// with [`SLACK`] readable bytes on either side. The type is the kernels' licence to read wide.
#[derive(Debug)]
pub struct Window<'a> {
    buffer: &'a [u8],
    from: usize,
    to: usize,
}

impl<'a> Window<'a> {
    /// The rows `buffer[from..to]`.
    ///
    /// # Panics
    /// If the window breaks the promise of its type.
    pub fn new(buffer: &'a [u8], from: usize, to: usize) -> Window<'a> {
        assert!(from >= SLACK && from <= to && to + SLACK <= buffer.len());
        assert!(from == to || buffer[to - 1] == b'\n');
        assert!(buffer.len() < i32::MAX as usize, "offsets are 31-bit");
        Window { buffer, from, to }
    }

    /// The window in pieces of whole rows, of up to so many rows each.
    pub(crate) fn pieces(&self, most: u64) -> impl Iterator<Item = Window<'a>> {
        let (buffer, mut from, to) = (self.buffer, self.from, self.to);
        std::iter::from_fn(move || {
            let limit = from + most as usize - 1;
            let start = from;
            from = match buffer[..to].get(limit..) {
                _ if start == to => return None,
                // Of nothing there is no newline: what is left has a byte less than it may.
                None | Some([]) => to,
                Some(rest) => {
                    limit + memchr(b'\n', rest).expect("a window ends with a newline") + 1
                }
            };
            Some(Window { buffer, from: start, to: from })
        })
    }

    /// Lists every row with its start and its newline; returns how many there are.
    pub(crate) fn each_row(&self, rows: &mut Vec<(usize, usize)>) -> u64 {
        let (mut start, before) = (self.from, rows.len());
        rows.extend(memchr_iter(b'\n', &self.buffer[self.from..self.to]).map(|newline| {
            let newline = self.from + newline;
            (std::mem::replace(&mut start, newline + 1), newline)
        }));
        (rows.len() - before) as u64
    }

    /// All readable bytes, slack included.
    pub fn buffer(&self) -> &'a [u8] {
        self.buffer
    }

    /// The first byte of the first row.
    pub fn from(&self) -> usize {
        self.from
    }

    /// One behind the last byte of the last row.
    pub fn to(&self) -> usize {
        self.to
    }
}

/// A thread's buffer: input between two slacks.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
}

/// Rows found in a buffer and the offset of the first in its (decompressed) file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) offset: u64,
    /// Bytes of input from `from` on: without the newline that was put behind a last row.
    pub(crate) bytes: usize,
    /// Bytes of a byte order mark before them.
    pub(crate) mark: usize,
}

impl Buffer {
    pub(crate) fn window(&self, rows: Rows) -> Window<'_> {
        Window::new(&self.bytes, rows.from, rows.to)
    }

    /// Everything in it, slacks included.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// `bytes` of room behind the front slack, with the rear slack after them. Old input stays.
    pub(crate) fn room(&mut self, bytes: usize) -> &mut [u8] {
        if self.bytes.len() < bytes + 2 * SLACK {
            self.bytes.resize(bytes + 2 * SLACK, 0);
        }
        &mut self.bytes[SLACK..SLACK + bytes]
    }

    /// Puts a newline at the end of `bytes` of input, which lack one.
    pub(crate) fn terminate(&mut self, bytes: usize) {
        self.room(bytes + 1)[bytes] = b'\n';
    }
}

/// Reads the rows that start in bytes `[start, end)` of a file of `size` bytes. `read` fills a
/// slice from an offset or fails.
///
/// # Errors
/// What `read` says, and [`Error::RecordTooLong`].
pub(crate) fn read_rows(
    buffer: &mut Buffer,
    path: &Path,
    (start, end, size): (u64, u64, u64),
    read: impl Fn(&mut [u8], u64) -> Result<(), Error>,
) -> Result<Option<Rows>, Error> {
    const FIRST_EXTRA_BYTES: u64 = 256;
    let base = start.saturating_sub(1);
    let place = |offset: u64| (offset - base) as usize;
    let mut have = place((end + FIRST_EXTRA_BYTES).min(size));
    read(buffer.room(have), base)?;
    let first = if start == 0 {
        byte_order_mark(buffer.room(have))
    } else {
        match memchr(b'\n', &buffer.room(have)[..place(end - 1)]) {
            Some(newline) => newline + 1,
            None => return Ok(None),
        }
    };
    // The newline that ends the last row is the first one not before `end - 1`.
    let mut searched = place(end - 1).max(first);
    let last = loop {
        match memchr(b'\n', &buffer.room(have)[searched..]) {
            Some(newline) => break searched + newline,
            None if base + have as u64 == size => {
                if first == have {
                    return Ok(None);
                }
                buffer.terminate(have);
                break have;
            }
            None => {}
        }
        searched = have;
        let start = row_start(&buffer.room(have)[first..]) + first;
        ensure_short(path, base, start..have)?;
        let more = place((base + longer(have, start) as u64).min(size));
        read(&mut buffer.room(more)[have..], base + have as u64)?;
        have = more;
    };
    let start = row_start(&buffer.room(last)[first..]) + first;
    ensure_short(path, base, start..last)?;
    let offset = base + first as u64;
    let bytes = have.min(last + 1) - first;
    let mark = if start == 0 { first } else { 0 };
    Ok(Some(Rows { from: SLACK + first, to: SLACK + last + 1, offset, bytes, mark }))
}

/// Where the last row of some starts.
fn row_start(rows: &[u8]) -> usize {
    memrchr(b'\n', rows).map_or(0, |newline| newline + 1)
}

/// Refuses a record of too many bytes, its newline aside, however much was read at a time.
pub(crate) fn ensure_short(path: &Path, base: u64, record: Range<usize>) -> Result<(), Error> {
    match record.len() > MOST_RECORD_BYTES {
        true => Err(too_long(path, base + record.start as u64)),
        false => Ok(()),
    }
}

/// How many bytes to read where `have` end inside the record that starts at `start`: in so many steps
/// as doubling it takes, and never far beyond what a chunk and a record may have.
pub(crate) fn longer(have: usize, start: usize) -> usize {
    have + (have - start).max(256)
}

/// Behind so much of the beginning of an input.
pub(crate) fn behind(path: &Path, text: &[u8]) -> Position {
    let line = row_start(text).max(byte_order_mark(text));
    Position {
        path: path.to_owned(),
        byte: text.len() as u64,
        line: memchr_iter(b'\n', text).count() as u64 + 1,
        column: characters(&text[line..]) + 1,
    }
}

pub(crate) fn too_long(path: &Path, byte: u64) -> Error {
    let position = BytePosition { path: path.to_owned(), byte };
    Error::RecordTooLong { position, limit_bytes: MOST_RECORD_BYTES }
}

/// The unfinished row a stream holds between two chunks, and how far it has come.
#[derive(Debug, Default)]
pub(crate) struct Carry {
    bytes: Vec<u8>,
    /// Offset of the carried row in the stream.
    offset: u64,
    ended: bool,
}

impl Carry {
    /// Fills the buffer with the next rows of a stream: about `chunk_bytes`, or one row if it is
    /// longer. `read` fills some of a slice and returns how much, 0 at the end. None at the end.
    ///
    /// # Errors
    /// What `read` says, and [`Error::RecordTooLong`].
    pub(crate) fn next_rows(
        &mut self,
        buffer: &mut Buffer,
        path: &Path,
        chunk_bytes: usize,
        mut read: impl FnMut(&mut [u8], u64) -> Result<usize, Error>,
    ) -> Result<Option<Rows>, Error> {
        if self.ended {
            return Ok(None);
        }
        let mut have = self.bytes.len();
        ensure_short(path, self.offset, 0..have)?;
        buffer.room(have.max(chunk_bytes)).split_at_mut(have).0.copy_from_slice(&self.bytes);
        // With a byte for its end, and no more, a record that is too long never seems complete.
        let mut want = chunk_bytes.max(2 * have).min(MOST_RECORD_BYTES + 1);
        let mut terminated = 0;
        loop {
            while have < want && !self.ended {
                let got = read(&mut buffer.room(want)[have..], self.offset + have as u64)?;
                self.ended = got == 0;
                have += got;
            }
            let end = if self.ended {
                if have == 0 || self.offset == 0 && byte_order_mark(buffer.room(have)) == have {
                    return Ok(None);
                }
                if buffer.room(have)[have - 1] != b'\n' {
                    buffer.terminate(have);
                    have += 1;
                    terminated = 1;
                }
                have
            } else if let Some(newline) = memrchr(b'\n', buffer.room(have)) {
                newline + 1
            } else {
                ensure_short(path, self.offset, 0..have)?;
                want = (2 * have).min(MOST_RECORD_BYTES + 1);
                continue;
            };
            let from = if self.offset == 0 { byte_order_mark(buffer.room(end)) } else { 0 };
            let offset = self.offset + from as u64;
            let bytes = end - terminated - from;
            let rows = Rows { from: SLACK + from, to: SLACK + end, offset, bytes, mark: from };
            self.bytes.clear();
            self.bytes.extend_from_slice(&buffer.room(have)[end..]);
            self.offset += end as u64;
            return Ok(Some(rows));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_record_behind_a_large_chunk_is_not_too_long() {
        // A chunk beyond the limit of a record, and a record of a kilobyte across its end.
        let row = [&[b'k'; 50][..], b";1.0\n"].concat();
        let last = [vec![b'l'; 1000], b";1.0\n".to_vec()].concat();
        let rows = MOST_RECORD_BYTES / row.len() + 1000;
        let chunk = (rows * row.len() + 100) as u64;
        let input = [row.repeat(rows), last.clone(), last].concat();
        let range = (0, chunk, input.len() as u64);
        let read = |into: &mut [u8], at: u64| {
            into.copy_from_slice(&input[at as usize..at as usize + into.len()]);
            Ok(())
        };
        let rows = read_rows(&mut Buffer::default(), Path::new("t"), range, read).unwrap().unwrap();
        assert_eq!(rows.to - rows.from, input.len() - 1005);
    }

    /// It was one for some chunks and for others not, as much as was read at once.
    #[test]
    fn a_record_is_too_long_whatever_is_read_at_a_time() {
        for extra in [0, 1] {
            let row = [&b"k".repeat(MOST_RECORD_BYTES + extra - 4)[..], b";2.5\n"].concat();
            let input = [b"a;1.0\n", &row[..], b"b;1.5\n"].concat();
            for chunk in [7, MOST_RECORD_BYTES / 2] {
                let range = (0, chunk as u64, input.len() as u64);
                let read = |into: &mut [u8], at: u64| {
                    into.copy_from_slice(&input[at as usize..at as usize + into.len()]);
                    Ok(())
                };
                let rows = read_rows(&mut Buffer::default(), Path::new("t"), range, read);
                let (mut carry, mut buffer) = (Carry::default(), Buffer::default());
                let some = |into: &mut [u8], at: u64| {
                    let bytes = into.len().min(input.len() - at as usize);
                    into[..bytes].copy_from_slice(&input[at as usize..at as usize + bytes]);
                    Ok(bytes)
                };
                let mut next = || carry.next_rows(&mut buffer, Path::new("t"), chunk, some);
                let end = std::iter::from_fn(|| next().transpose()).find(Result::is_err);
                for refused in [rows.err(), end.and_then(Result::err)] {
                    let byte = refused.map(|error| match error {
                        Error::RecordTooLong { position, .. } => position.byte,
                        error => panic!("{error}"),
                    });
                    assert_eq!(byte, (extra > 0).then_some(6), "{extra} {chunk}");
                }
            }
        }
    }

    /// Whether the pieces of a window of this text are all of it, none with more rows than it may have.
    fn check_pieces(text: &[u8], most: u64) {
        let mut buffer = Buffer::default();
        buffer.room(text.len()).copy_from_slice(text);
        let (to, bytes) = (SLACK + text.len(), text.len());
        let mut at = SLACK;
        for piece in buffer.window(Rows { from: SLACK, to, offset: 0, bytes, mark: 0 }).pieces(most)
        {
            assert_eq!(piece.from(), at);
            at = piece.to();
            let text = &buffer.bytes()[piece.from()..at];
            assert!(memchr::memchr_iter(b'\n', text).count() as u64 <= most);
        }
        assert_eq!(at, to, "{bytes} bytes in pieces of {most} rows");
    }

    #[test]
    fn pieces_tile_a_window_and_have_no_more_rows_than_they_may() {
        let rows = b"\n".repeat(PIECE_ROWS as usize + 10);
        check_pieces(&[vec![b'k'; 2 * PIECE_ROWS as usize], rows].concat(), PIECE_ROWS);
    }

    /// A rest of one byte less than a piece may have was left out, silently.
    #[test]
    fn pieces_tile_windows_of_every_length() {
        for bytes in 1..40 {
            for row in [1, 2, 3, 5, 40] {
                let is_end = |n: usize| n == bytes - 1 || n % row == row - 1;
                let text: Vec<u8> =
                    (0..bytes).map(|n| if is_end(n) { b'\n' } else { b'k' }).collect();
                (1..12).for_each(|most| check_pieces(&text, most));
            }
        }
    }
}
