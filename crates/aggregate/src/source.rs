//! Sources: where input comes from, and files cut into chunks of bytes.
//!
//! Nothing here knows what is in them: where records start is for whoever takes a chunk to find.

use std::io::{self, Cursor, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use fathom_machine::os::read_at::{Forward, ReadAt};

use crate::chunk::MOST_RECORD_BYTES;
use crate::error::Error;

/// Where input comes from.
pub enum Source {
    /// A regular file, or what is read like one: in any order at known offsets.
    File {
        /// As the user named it.
        path: PathBuf,
        /// Open for reading.
        file: Box<dyn ReadAt>,
        /// Bytes it has; what is appended later is not read.
        size: u64,
    },
    /// Some bytes of a regular file: of the records those that start in them. With a header, or where
    /// the first record says how many fields all have, the beginning of the file is read for it.
    Part {
        /// As the user named it.
        path: PathBuf,
        /// Open for reading.
        file: Box<dyn ReadAt>,
        /// Bytes the whole file has.
        size: u64,
        /// The bytes; the end is not behind that of the file.
        range: Range<u64>,
    },
    /// Anything that can only be read forward: a pipe, a decompressor.
    Stream {
        /// As the user named it; `-` for standard input.
        path: PathBuf,
        /// The (decompressed) bytes.
        reader: Box<dyn Read + Send>,
    },
}

impl Source {
    /// As the user named it.
    pub fn path(&self) -> &Path {
        match self {
            Source::File { path, .. } | Source::Part { path, .. } | Source::Stream { path, .. } => {
                path
            }
        }
    }

    /// Says to what is read at offsets that a run is going to: before the runs on those before it are over.
    pub fn announce(&self) {
        match self {
            Source::File { file, size, .. } => file.expect(0..*size),
            Source::Part { file, range, .. } => file.expect(range.clone()),
            Source::Stream { .. } => {}
        }
    }

    /// All of it, from the first byte on.
    pub fn into_reader(self) -> Box<dyn Read + Send> {
        match self {
            Source::File { file, .. } | Source::Part { file, .. } => Box::new(Forward::new(file)),
            Source::Stream { reader, .. } => reader,
        }
    }

    /// The first bytes, at most so many, and whether they are all there are. They are read again by a
    /// run; so is what cannot be read, and said then.
    pub fn peek(&mut self, most: usize) -> (Vec<u8>, bool) {
        match self {
            Source::File { file, size, .. } | Source::Part { file, size, .. } => {
                let ended = *size <= most as u64;
                let mut bytes = vec![0; usize::try_from(*size).unwrap_or(most).min(most)];
                match file.read_exact_at(&mut bytes, 0) {
                    Ok(()) => (bytes, ended),
                    Err(_) => (Vec::new(), false),
                }
            }
            Source::Stream { reader, .. } => {
                let mut rest = std::mem::replace(reader, Box::new(io::empty()));
                let mut bytes = Vec::new();
                let read = rest.by_ref().take(most as u64).read_to_end(&mut bytes);
                let ended = read.as_ref().is_ok_and(|&read| read < most);
                let failure = Failure(read.err());
                *reader = Box::new(Cursor::new(bytes.clone()).chain(failure).chain(rest));
                (bytes, ended)
            }
        }
    }
}

/// What could not be read, if there was any.
struct Failure(Option<io::Error>);

impl Read for Failure {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Files cut into chunks, which are counted through all of them.
pub(crate) struct Files {
    list: Vec<FileInput>,
    chunk_bytes: u64,
    /// Chunks of all files together.
    chunks: u64,
}

struct FileInput {
    source: usize,
    path: PathBuf,
    file: Box<dyn ReadAt>,
    size: u64,
    /// What is read of it.
    range: Range<u64>,
    first_chunk: u64,
}

/// Bytes `start..end` of a file of `size` bytes: a chunk, or all of it.
#[derive(Clone, Copy)]
pub(crate) struct FilePart<'a> {
    /// Which of the sources.
    pub(crate) source: usize,
    /// Whether it is the first of the source.
    pub(crate) is_first: bool,
    /// Where what is read of the source ends.
    pub(crate) until: u64,
    pub(crate) path: &'a Path,
    pub(crate) file: &'a dyn ReadAt,
    pub(crate) size: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// A chunk of more could hold records that are [too long](MOST_RECORD_BYTES), which nobody would see.
const MOST_CHUNK_BYTES: usize = MOST_RECORD_BYTES / 2;

impl Files {
    pub(crate) fn new(chunk_bytes: usize) -> Files {
        let chunk_bytes = chunk_bytes.clamp(1, MOST_CHUNK_BYTES) as u64;
        Files { list: Vec::new(), chunk_bytes, chunks: 0 }
    }

    pub(crate) fn push(
        &mut self,
        source: usize,
        path: PathBuf,
        file: Box<dyn ReadAt>,
        range: Range<u64>,
        size: u64,
    ) {
        let chunks = range.end.saturating_sub(range.start).div_ceil(self.chunk_bytes);
        file.expect(range.clone());
        self.list.push(FileInput { source, path, file, size, range, first_chunk: self.chunks });
        self.chunks += chunks;
    }

    /// How many chunks there are.
    pub(crate) fn chunks(&self) -> u64 {
        self.chunks
    }

    /// Bytes of a chunk.
    pub(crate) fn chunk_bytes(&self) -> usize {
        self.chunk_bytes as usize
    }

    /// Chunk number `chunk`, if there are so many.
    pub(crate) fn part(&self, chunk: u64) -> Option<FilePart<'_>> {
        if chunk >= self.chunks {
            return None;
        }
        // Files without a byte have no chunk, and share their first with the file after them.
        let after = self.list.partition_point(|input| input.first_chunk <= chunk);
        let input = &self.list[after - 1];
        let start = input.range.start + (chunk - input.first_chunk) * self.chunk_bytes;
        Some(input.part(start, (start + self.chunk_bytes).min(input.range.end)))
    }
}

impl FileInput {
    fn part(&self, start: u64, end: u64) -> FilePart<'_> {
        let FileInput { source, ref path, ref file, size, ref range, .. } = *self;
        let (is_first, until, file) = (start == range.start, range.end, &**file);
        FilePart { source, is_first, until, path, file, size, start, end }
    }
}

/// Fills `into` from byte `at` of a file that had `size` bytes.
pub(crate) fn read_at(
    path: &Path,
    file: &dyn ReadAt,
    size: u64,
    into: &mut [u8],
    at: u64,
) -> Result<(), Error> {
    file.read_exact_at(into, at).map_err(|source| {
        let path = path.to_owned();
        if source.kind() == io::ErrorKind::UnexpectedEof {
            Error::Shrunk { path, expected_bytes: size }
        } else {
            Error::Read { path, byte: at, source }
        }
    })
}

pub(crate) fn read_some(
    path: &Path,
    reader: &mut (dyn Read + Send),
    into: &mut [u8],
    at: u64,
) -> Result<usize, Error> {
    loop {
        match reader.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(Error::Read { path: path.to_owned(), byte: at, source }),
            Ok(bytes) => return Ok(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_peeked_is_read_again_and_so_is_a_failure() {
        /// Two bytes, then an error, then another byte.
        struct Broken(u32);
        impl Read for Broken {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                self.0 += 1;
                match self.0 {
                    1 => (&b"ab"[..]).read(into),
                    2 => Err(io::Error::other("broken")),
                    _ => (&b"c"[..]).read(into),
                }
            }
        }
        let stream = |reader| Source::Stream { path: "-".into(), reader };
        for most in [1, 3, 6, 7, 100] {
            let mut source = stream(Box::new(&b"abcdef"[..]) as Box<dyn Read + Send>);
            let expected = (b"abcdef"[..most.min(6)].to_vec(), most > 6);
            assert_eq!(source.peek(most), expected);
            assert_eq!(source.peek(most), expected, "as often as one likes");
            let Source::Stream { mut reader, .. } = source else { unreachable!() };
            let mut all = Vec::new();
            reader.read_to_end(&mut all).unwrap();
            assert_eq!(all, b"abcdef");
        }
        let mut source = stream(Box::new(Broken(0)));
        assert_eq!(source.peek(100), (b"ab".to_vec(), false));
        let Source::Stream { mut reader, .. } = source else { unreachable!() };
        let mut all = Vec::new();
        assert_eq!(reader.read_to_end(&mut all).unwrap_err().to_string(), "broken");
        assert_eq!(all, b"ab");
    }
}
