//! The bytes of a file that is a table, as its readers ask for them.

use std::io::{self, Read};
use std::sync::Arc;

use bytes::Bytes;
use fathom_machine::os::read_at::ReadAt;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

/// The bytes of a file, for any number of threads.
#[derive(Clone)]
pub(super) struct Whole {
    bytes: Arc<dyn ReadAt>,
    pub(super) size: u64,
}

impl Whole {
    pub(super) fn new(bytes: Box<dyn ReadAt>, size: u64) -> Whole {
        Whole { bytes: bytes.into(), size }
    }

    fn reader(&self, at: u64) -> Reader {
        Reader { whole: self.clone(), at }
    }
}

impl Length for Whole {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for Whole {
    type T = Reader;

    fn get_read(&self, start: u64) -> Result<Reader, ParquetError> {
        Ok(self.reader(start))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        // What a damaged file says is not believed before memory is taken for it.
        let is_there = start.checked_add(length as u64).is_some_and(|end| end <= self.size);
        if !is_there {
            return Err(ParquetError::EOF(format!("{length} bytes from byte {start} on")));
        }
        let mut bytes = vec![0; length];
        self.bytes.read_exact_at(&mut bytes, start)?;
        Ok(bytes.into())
    }
}

/// Reads from a place on.
pub(super) struct Reader {
    whole: Whole,
    at: u64,
}

impl Read for Reader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.whole.bytes.read_at(into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
