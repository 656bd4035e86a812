//! How the rows of a chunk get into memory: read, or mapped one way or another.
//!
//! Mapped rows are used where they lie. Only a last row without its newline is copied, because
//! nothing may be written behind it.

use std::io;

use fathom_machine::os::map::FileMap;
use memchr::{memchr, memrchr};

use crate::chunk::{Buffer, SLACK, Window, read_rows};
use crate::error::Error;
use crate::source::{FilePart, Files, read_at};
use crate::strategy::Input;

/// How bytes get into memory, and what is already there.
pub(in crate::strategy) struct Feed {
    input: Input,
    /// By file, where whole files are mapped.
    whole: Vec<FileMap>,
}

/// Rows of a chunk, and where in the file the window's first byte is.
pub(in crate::strategy) struct Piece<'a> {
    pub(in crate::strategy) window: Window<'a>,
    pub(in crate::strategy) offset: u64,
}

impl Feed {
    /// Gets ready for files of known size.
    ///
    /// # Errors
    /// [`Error::Read`] when a file cannot be mapped.
    pub(in crate::strategy) fn new(input: Input, files: &Files) -> Result<Feed, Error> {
        let mut whole = Vec::new();
        if matches!(input, Input::Whole | Input::WholePopulate) {
            for file in files.whole() {
                whole.push(map(&file, 0, file.size, input == Input::WholePopulate)?);
            }
        }
        Ok(Feed { input, whole })
    }

    /// Hands the rows that start in the part to `take`, in one piece or two.
    ///
    /// # Errors
    /// What reading or mapping says, [`Error::RecordTooLong`], and what `take` says.
    pub(in crate::strategy) fn rows(
        &self,
        part: &FilePart<'_>,
        buffer: &mut Buffer,
        take: &mut dyn FnMut(Piece<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let range = (part.start, part.end, part.size);
        match self.input {
            Input::Pread => {
                let rows = read_rows(buffer, part.path, range, |into, at| {
                    read_at(part.path, part.file, part.size, into, at)
                })?;
                match rows {
                    Some(rows) => take(Piece { window: buffer.window(rows), offset: rows.offset }),
                    None => Ok(()),
                }
            }
            Input::Whole | Input::WholePopulate => {
                let found = find(&self.whole[part.source], 0, part, part.size);
                hand_out(&self.whole[part.source], 0, found, buffer, take)
            }
            Input::Chunk | Input::ChunkPopulate => {
                let populate = self.input == Input::ChunkPopulate;
                let from = part.start.saturating_sub(1);
                let mut extra = 4096;
                loop {
                    let to = (part.end + extra).min(part.size);
                    let mapped = map(part, from, to, populate)?;
                    match find(&mapped, from, part, part.size) {
                        Found::Unfinished if extra > 1 << 30 => {
                            return Err(crate::chunk::too_long(part.path, from));
                        }
                        Found::Unfinished => extra *= 16,
                        found => return hand_out(&mapped, from, found, buffer, take),
                    }
                }
            }
        }
    }
}

fn map(file: &FilePart<'_>, from: u64, to: u64, populate: bool) -> Result<FileMap, Error> {
    // SAFETY: not to change files meanwhile is what the documentation of these strategies asks of
    // whoever chooses one; nothing in this process writes to its inputs.
    unsafe { FileMap::new(file.file, from..to, populate) }.map_err(|source| {
        let path = file.path.to_owned();
        if source.kind() == io::ErrorKind::UnexpectedEof {
            Error::Shrunk { path, expected_bytes: file.size }
        } else {
            Error::Read { path, byte: from, source }
        }
    })
}

/// The rows of a part in a map, as offsets in the file.
enum Found {
    /// No row starts in the part.
    Nothing,
    /// Rows up to `end`, and if it ends without a newline, a last one from there on.
    Rows { start: u64, end: u64, tail: Option<u64> },
    /// The last row goes on behind the map.
    Unfinished,
}

/// Finds the rows that start in the part, in a map of the file from byte `from` on.
fn find(mapped: &FileMap, from: u64, part: &FilePart<'_>, size: u64) -> Found {
    let bytes = &mapped.padded()[mapped.place()];
    let place = |offset: u64| (offset - from) as usize;
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
        None if from + bytes.len() as u64 == size => {
            let rows = &bytes[place(start)..];
            let end = memrchr(b'\n', rows).map_or(start, |newline| start + newline as u64 + 1);
            Found::Rows { start, end, tail: Some(end) }
        }
        None => Found::Unfinished,
    }
}

fn hand_out(
    mapped: &FileMap,
    from: u64,
    found: Found,
    buffer: &mut Buffer,
    take: &mut dyn FnMut(Piece<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let Found::Rows { start, end, tail } = found else { return Ok(()) };
    let place = |offset: u64| mapped.place().start + (offset - from) as usize;
    let around = &mapped.padded()[place(start) - SLACK..place(end) + SLACK];
    let window = Window::new(around, SLACK, around.len() - SLACK);
    take(Piece { window, offset: start })?;
    if let Some(tail) = tail {
        let rows = buffer.load(&mapped.padded()[place(tail)..mapped.place().end], tail);
        take(Piece { window: buffer.window(rows), offset: tail })?;
    }
    Ok(())
}
