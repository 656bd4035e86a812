//! The bytes of a file that is a table, as its readers ask for them.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use fathom_machine::os::read_at::ReadAt;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// The bytes of a file, for any number of threads.
#[derive(Clone)]
pub(super) struct Whole {
    bytes: Arc<dyn ReadAt>,
    pub(super) size: u64,
    /// What could not be read first; of errors the libraries keep the words alone.
    failed: Arc<OnceLock<io::Error>>,
}

impl Whole {
    pub(super) fn new(bytes: Box<dyn ReadAt>, size: u64) -> Whole {
        Whole { bytes: bytes.into(), size, failed: Arc::default() }
    }

    /// What could not be read, if that is what is wrong.
    pub(super) fn failure(&self) -> Option<io::Error> {
        self.failed.get().map(|error| io::Error::new(error.kind(), error.to_string()))
    }

    fn noted<T>(&self, read: io::Result<T>) -> io::Result<T> {
        read.map_err(|error| {
            let same = io::Error::new(error.kind(), error.to_string());
            // Is asked for once more.
            if error.kind() != io::ErrorKind::Interrupted {
                let _ = self.failed.set(error);
            }
            same
        })
    }

    /// As many bytes from there on, of which the first are known.
    fn bytes(&self, start: u64, length: usize, known: &[u8]) -> Result<Bytes> {
        // What a damaged file says is not believed before memory is taken for it.
        let is_there = start.checked_add(length as u64).is_some_and(|end| end <= self.size);
        if !is_there {
            return Err(ParquetError::EOF(format!("{length} bytes from byte {start} on")));
        }
        let mut bytes = vec![0; length];
        let (first, rest) = bytes.split_at_mut(known.len());
        first.copy_from_slice(known);
        self.noted(self.bytes.read_exact_at(rest, start + known.len() as u64))?;
        Ok(bytes.into())
    }
}

impl Length for Whole {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for Whole {
    type T = WholeReader;

    fn get_read(&self, start: u64) -> Result<WholeReader> {
        Ok(WholeReader { whole: self.clone(), at: start })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.bytes(start, length, &[])
    }
}

/// Reads from a place on.
pub(super) struct WholeReader {
    whole: Whole,
    at: u64,
}

impl Read for WholeReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.whole.noted(self.whole.bytes.read_at(into, self.at))?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Bytes of a file that are asked for in their order, and are read in blocks: page by page, with a header byte by byte,
/// they would be thousands of requests to a store.
#[derive(Clone)]
pub(super) struct Stretch {
    whole: Whole,
    end: u64,
    /// The last block, and where it begins.
    block: Arc<Mutex<(u64, Bytes)>>,
}

/// Of a block, unless one page has more.
const BLOCK_BYTES: u64 = 1 << 20;

impl Stretch {
    pub(super) fn of(whole: &Whole, range: Range<u64>) -> Stretch {
        let end = range.end.min(whole.size);
        whole.bytes.expect(range.start..end);
        Stretch { whole: whole.clone(), end, block: Arc::default() }
    }
}

impl Length for Stretch {
    fn len(&self) -> u64 {
        self.whole.size
    }
}

impl ChunkReader for Stretch {
    type T = StretchReader;

    fn get_read(&self, start: u64) -> Result<StretchReader> {
        Ok(StretchReader { stretch: self.clone(), at: start })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut block = self.block.lock().unwrap_or_else(PoisonError::into_inner);
        let place = || usize::try_from(start.checked_sub(block.0)?).ok();
        if let Some(place) = place()
            && place.checked_add(length).is_some_and(|end| end <= block.1.len())
        {
            return Ok(block.1.slice(place..place + length));
        }
        let ahead = BLOCK_BYTES.min(self.end.saturating_sub(start));
        // The end of the block is the beginning of the next.
        let known = place().and_then(|place| block.1.get(place..)).unwrap_or_default();
        let bytes = self.whole.bytes(start, length.max(ahead as usize), known)?;
        *block = (start, bytes.clone());
        Ok(bytes.slice(..length))
    }
}

/// Reads from a place on.
pub(super) struct StretchReader {
    stretch: Stretch,
    at: u64,
}

impl Read for StretchReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.stretch.len().saturating_sub(self.at);
        let length = into.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let bytes = self.stretch.get_bytes(self.at, length).map_err(io::Error::other)?;
        into[..length].copy_from_slice(&bytes);
        self.at += length as u64;
        Ok(length)
    }
}
