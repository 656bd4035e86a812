//! The two formats, part by part.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::FileReaderBuilder;
use arrow_schema::{ArrowError, Schema};
use bytes::Bytes;
use fathom_machine::os::read_at::ReadAt;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use super::damaged;
use crate::foreign::is_parquet;

/// Rows of a batch of a Parquet file.
const BATCH_ROWS: usize = 8192;

/// An open file, and what stands at its end.
#[derive(Clone)]
pub(super) enum File {
    Parquet(Whole, ArrowReaderMetadata),
    /// With its number of batches.
    Arrow(Whole, usize),
}

/// Batches of a part.
pub(super) type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>;

/// Opens a file of a format.
type Opener = fn(Whole) -> io::Result<(File, Arc<Schema>)>;

impl File {
    /// What reads the end of a file that begins so.
    pub(super) fn opener(first: &[u8]) -> Option<Opener> {
        match first {
            first if is_parquet(first) => Some(File::parquet),
            b"ARROW1\0\0" => Some(File::arrow),
            _ => None,
        }
    }

    fn parquet(whole: Whole) -> io::Result<(File, Arc<Schema>)> {
        let metadata = ArrowReaderMetadata::load(&whole, ArrowReaderOptions::new());
        let metadata = metadata.map_err(damaged)?;
        let schema = Arc::clone(metadata.schema());
        Ok((File::Parquet(whole, metadata), schema))
    }

    fn arrow(whole: Whole) -> io::Result<(File, Arc<Schema>)> {
        let reader = FileReaderBuilder::new().build(whole.reader(0)).map_err(damaged)?;
        Ok((File::Arrow(whole, reader.num_batches()), reader.schema()))
    }

    /// How many parts it has.
    pub(super) fn parts(&self) -> usize {
        match self {
            File::Parquet(_, metadata) => metadata.metadata().num_row_groups(),
            File::Arrow(_, batches) => *batches,
        }
    }

    /// The batches of a part, with the columns of these places.
    pub(super) fn part(&self, part: usize, places: &[usize]) -> io::Result<Batches> {
        match self {
            File::Parquet(whole, metadata) => {
                let (whole, metadata) = (whole.clone(), metadata.clone());
                let columns =
                    ProjectionMask::roots(metadata.parquet_schema(), places.iter().copied());
                let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(whole, metadata)
                    .with_projection(columns)
                    .with_row_groups(vec![part])
                    .with_batch_size(BATCH_ROWS)
                    .build();
                Ok(Box::new(reader.map_err(damaged)?))
            }
            File::Arrow(whole, _) => {
                let builder = FileReaderBuilder::new().with_projection(places.to_vec());
                let mut reader = builder.build(whole.reader(0)).map_err(damaged)?;
                reader.set_index(part).map_err(damaged)?;
                Ok(Box::new(reader.take(1)))
            }
        }
    }
}

/// The bytes of a file, for any number of threads.
#[derive(Clone)]
pub(super) struct Whole {
    bytes: Arc<dyn ReadAt>,
    size: u64,
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

impl Seek for Reader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.whole.size.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
