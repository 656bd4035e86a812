//! How the rows of a chunk get into memory: read, or mapped one way or another.
//!
//! Mapped rows are used where they lie. Only a last row without its newline is copied, because
//! nothing may be written behind it.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use fathom_aggregate::parts::{SLACK, Window};
use fathom_aggregate::{BytePosition, Error, MOST_RECORD_BYTES};
use fathom_machine::os::map::FileMap;
use memchr::{memchr, memrchr};

use super::super::Input;
use super::names::Refusal;

/// A file, how its bytes get into memory, and what is already there.
pub(in super::super) struct Feed<'a> {
    input: Input,
    path: &'a Path,
    file: &'a File,
    size: u64,
    /// Where the whole file is mapped.
    whole: Option<FileMap>,
}

/// What ended a thread.
pub(in super::super) enum Stopped {
    /// As the engine says it.
    Error(fathom_aggregate::Error),
    /// The row at this byte of the file.
    Row(u64),
    /// What the table cannot hold.
    Table(Refusal),
}

/// Takes rows, whose first byte is at an offset of the file.
type Take<'a> = &'a mut dyn FnMut(Window<'_>, u64) -> Result<(), Stopped>;

impl<'a> Feed<'a> {
    /// Gets ready for a file of known size.
    ///
    /// # Errors
    /// [`Error::Read`] when it cannot be mapped.
    pub(in super::super) fn new(
        input: Input,
        path: &'a Path,
        file: &'a File,
        size: u64,
    ) -> Result<Feed<'a>, Error> {
        let mut feed = Feed { input, path, file, size, whole: None };
        if matches!(input, Input::Whole | Input::WholePopulate) {
            feed.whole = Some(feed.map(0, size, input == Input::WholePopulate)?);
        }
        Ok(feed)
    }

    /// Hands the rows that start in the part to `take`, in one piece or two.
    ///
    /// # Errors
    /// What reading or mapping says, [`Error::RecordTooLong`], and what `take` says.
    pub(in super::super) fn rows(
        &self,
        part: Range<u64>,
        buffer: &mut Vec<u8>,
        take: Take<'_>,
    ) -> Result<(), Stopped> {
        if let Some(map) = &self.whole {
            // As far as a chunk is read at most: a row that goes on there is too long.
            let mut place = map.place();
            place.end = place.end.min(place.start + part.end as usize + MOST_RECORD_BYTES + 1);
            let bytes = Bytes { padded: map.padded(), place, from: 0 };
            return match bytes.find(&part, self.size) {
                Found::Unfinished(byte) => Err(self.too_long(byte)),
                found => bytes.hand_out(found, take),
            };
        }
        let from = part.start.saturating_sub(1);
        let mut extra = if self.input == Input::Pread { 256 } else { 4096 };
        loop {
            let to = (part.end + extra).min(self.size);
            let map;
            let bytes = if self.input == Input::Pread {
                self.read(from, to, buffer).map_err(Stopped::Error)?
            } else {
                let populate = self.input == Input::ChunkPopulate;
                map = self.map(from, to, populate).map_err(Stopped::Error)?;
                Bytes { padded: map.padded(), place: map.place(), from }
            };
            match bytes.find(&part, self.size) {
                Found::Unfinished(byte) if extra > MOST_RECORD_BYTES as u64 => {
                    return Err(self.too_long(byte));
                }
                Found::Unfinished(_) => extra = (16 * extra).min(MOST_RECORD_BYTES as u64 + 1),
                found => return bytes.hand_out(found, take),
            }
        }
    }

    fn read<'b>(&self, from: u64, to: u64, buffer: &'b mut Vec<u8>) -> Result<Bytes<'b>, Error> {
        let place = SLACK..SLACK + (to - from) as usize;
        if buffer.len() < place.end + SLACK {
            buffer.resize(place.end + SLACK, 0);
        }
        let read = self.file.read_exact_at(&mut buffer[place.clone()], from);
        read.map_err(|error| self.failed(from, error))?;
        Ok(Bytes { padded: buffer, place, from })
    }

    fn map(&self, from: u64, to: u64, populate: bool) -> Result<FileMap, Error> {
        // SAFETY: not to change files meanwhile is what the documentation of these strategies asks
        // of whoever chooses one; nothing in this process writes to its inputs.
        let map = unsafe { FileMap::new(self.file, from..to, populate) };
        map.map_err(|error| self.failed(from, error))
    }

    /// The row that begins at `byte` is.
    fn too_long(&self, byte: u64) -> Stopped {
        let position = BytePosition { path: self.path.to_owned(), byte };
        Stopped::Error(Error::RecordTooLong { position, limit_bytes: MOST_RECORD_BYTES })
    }

    fn failed(&self, byte: u64, source: io::Error) -> Error {
        let path = self.path.to_owned();
        if source.kind() == io::ErrorKind::UnexpectedEof {
            Error::Shrunk { path, expected_bytes: self.size }
        } else {
            Error::Read { path, byte, source }
        }
    }
}

/// Bytes of the file from `from` on at a place with slack around it.
struct Bytes<'a> {
    padded: &'a [u8],
    place: Range<usize>,
    from: u64,
}

/// The rows of a part, as offsets in the file.
enum Found {
    /// No row starts in the part.
    Nothing,
    /// Rows up to `end`, and if it ends without a newline, a last one from there on.
    Rows { start: u64, end: u64, tail: Option<u64> },
    /// The last row, which starts there, goes on behind the bytes.
    Unfinished(u64),
}

impl Bytes<'_> {
    /// Finds the rows that start in the part.
    fn find(&self, part: &Range<u64>, size: u64) -> Found {
        let bytes = &self.padded[self.place.clone()];
        let place = |offset: u64| (offset - self.from) as usize;
        let start = if part.start == 0 {
            0
        } else {
            match memchr(b'\n', &bytes[place(part.start - 1)..place(part.end - 1)]) {
                Some(newline) => part.start + newline as u64,
                None => return Found::Nothing,
            }
        };
        match memchr(b'\n', &bytes[place(part.end - 1)..]) {
            Some(newline) => Found::Rows { start, end: part.end + newline as u64, tail: None },
            None if self.from + bytes.len() as u64 == size => {
                let rows = &bytes[place(start)..];
                let end = memrchr(b'\n', rows).map_or(start, |newline| start + newline as u64 + 1);
                Found::Rows { start, end, tail: Some(end) }
            }
            None => {
                let rows = &bytes[place(start)..place(part.end - 1)];
                let newline = memrchr(b'\n', rows);
                Found::Unfinished(newline.map_or(start, |newline| start + newline as u64 + 1))
            }
        }
    }

    fn hand_out(&self, found: Found, take: Take<'_>) -> Result<(), Stopped> {
        let Found::Rows { start, end, tail } = found else { return Ok(()) };
        let place = |offset: u64| self.place.start + (offset - self.from) as usize;
        let around = &self.padded[place(start) - SLACK..place(end) + SLACK];
        take(Window::new(around, SLACK, around.len() - SLACK), start)?;
        let Some(tail) = tail else { return Ok(()) };
        let row = &self.padded[place(tail)..self.place.end];
        if row.is_empty() {
            return Ok(());
        }
        let copy = [&[0; SLACK][..], row, b"\n", &[0; SLACK]].concat();
        take(Window::new(&copy, SLACK, copy.len() - SLACK), tail)
    }
}
