//! The two formats, part by part.

use std::io;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};

use super::arrow::Arrow;
use super::damaged;
use super::whole::Whole;
use crate::foreign::is_parquet;

/// Rows that become text at once, however many a batch has.
pub(super) const BATCH_ROWS: usize = 8192;

/// An open file, and what stands at its end.
#[derive(Clone)]
pub(super) enum File {
    Parquet(Whole, ArrowReaderMetadata),
    Arrow(Whole, Arc<Arrow>),
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
        let file = Arrow::open(&whole)?;
        let schema = Arc::clone(file.schema());
        Ok((File::Arrow(whole, Arc::new(file)), schema))
    }

    /// How many parts it has.
    pub(super) fn parts(&self) -> usize {
        match self {
            File::Parquet(_, metadata) => metadata.metadata().num_row_groups(),
            File::Arrow(_, file) => file.batches(),
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
            File::Arrow(whole, file) => {
                let batch = file.batch(whole, part, places)?;
                Ok(Box::new(batch.into_iter().map(Ok)))
            }
        }
    }
}
