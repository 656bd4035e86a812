//! The formats, part by part.

use std::io;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, RowGroups as _,
};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels};
use parquet::basic::{Encoding, EncodingMask, Type};
use parquet::file::metadata::ColumnChunkMetaData;

use super::arrow::Arrow;
use super::damaged;
use super::pages::Part;
use super::whole::Whole;
use crate::foreign::{is_arrow_stream, is_parquet};

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
    /// What finds the parts of a file that begins so.
    pub(super) fn opener(first: &[u8]) -> Option<Opener> {
        match first {
            first if is_parquet(first) => Some(File::parquet),
            b"ARROW1\0\0" => Some(File::arrow),
            first if is_arrow_stream(first) => Some(File::arrow_stream),
            _ => None,
        }
    }

    fn parquet(whole: Whole) -> io::Result<(File, Arc<Schema>)> {
        let metadata = ArrowReaderMetadata::load(&whole, ArrowReaderOptions::new());
        let metadata = as_stored(metadata.map_err(damaged)?)?;
        let schema = Arc::clone(metadata.schema());
        Ok((File::Parquet(whole, metadata), schema))
    }

    fn arrow(whole: Whole) -> io::Result<(File, Arc<Schema>)> {
        let file = Arrow::open(&whole)?;
        Ok(File::of_arrow(whole, file))
    }

    fn arrow_stream(whole: Whole) -> io::Result<(File, Arc<Schema>)> {
        let file = Arrow::of_stream(&whole)?;
        Ok(File::of_arrow(whole, file))
    }

    fn of_arrow(whole: Whole, file: Arrow) -> (File, Arc<Schema>) {
        let schema = Arc::clone(file.schema());
        (File::Arrow(whole, Arc::new(file)), schema)
    }

    pub(super) fn whole(&self) -> &Whole {
        let (File::Parquet(whole, _) | File::Arrow(whole, _)) = self;
        whole
    }

    /// How many parts it has.
    pub(super) fn parts(&self) -> usize {
        match self {
            File::Parquet(_, metadata) => metadata.metadata().num_row_groups(),
            File::Arrow(_, file) => file.batches(),
        }
    }

    /// The same file with those texts among these columns as dictionaries that have one for all of a part.
    pub(super) fn with_dictionaries(&self, part: usize, places: &[usize]) -> io::Result<File> {
        let File::Parquet(whole, metadata) = self else { return Ok(self.clone()) };
        let (row_group, columns) = (metadata.metadata().row_group(part), metadata.parquet_schema());
        let is_wanted = |column: usize| {
            let place = columns.get_column_root_idx(column);
            places.contains(&place) && has_dictionary(row_group.column(column))
        };
        let wanted: Vec<usize> = (0..columns.num_columns())
            .filter(|&column| is_wanted(column))
            .map(|column| columns.get_column_root_idx(column))
            .collect();
        let field = |(place, field): (usize, &Arc<Field>)| {
            let texts = text_of(field.data_type()).filter(|_| wanted.contains(&place));
            texts.map_or_else(
                || Arc::clone(field),
                |texts| {
                    let places = Box::new(DataType::Int32);
                    let kind = DataType::Dictionary(places, Box::new(texts));
                    Arc::new(field.as_ref().clone().with_data_type(kind))
                },
            )
        };
        let fields = metadata.schema().fields().iter().enumerate().map(field).collect();
        Ok(File::Parquet(whole.clone(), with_fields(metadata, fields)?))
    }

    /// The batches of a part, with the columns of these places.
    pub(super) fn part(&self, part: usize, places: &[usize]) -> io::Result<Batches> {
        match self {
            File::Parquet(whole, metadata) => {
                let (schema, fields) = (metadata.parquet_schema(), metadata.schema().fields());
                let columns = ProjectionMask::roots(schema, places.iter().copied());
                let levels = parquet_to_arrow_field_levels(schema, columns, Some(fields));
                let levels = levels.map_err(damaged)?;
                let metadata = Arc::clone(metadata.metadata());
                let part = Part { whole: whole.clone(), metadata, number: part };
                let rows = BATCH_ROWS.min(part.num_rows()).max(1);
                let batches =
                    ParquetRecordBatchReader::try_new_with_row_groups(&levels, &part, rows, None);
                Ok(Box::new(batches.map_err(damaged)?))
            }
            File::Arrow(whole, file) => {
                let batch = file.batch(whole, part, places)?;
                Ok(Box::new(batch.into_iter().map(Ok)))
            }
        }
    }
}

/// The same with these fields.
fn with_fields(
    metadata: &ArrowReaderMetadata,
    fields: Vec<Arc<Field>>,
) -> io::Result<ArrowReaderMetadata> {
    let options = ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(fields)));
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options).map_err(damaged)
}

/// The same with types that the columns really have, where the writer's memory had others: days that were counted in milliseconds,
/// and dictionaries that are not of texts, of which the library reads only some.
fn as_stored(metadata: ArrowReaderMetadata) -> io::Result<ArrowReaderMetadata> {
    let columns = metadata.parquet_schema().root_schema().get_fields();
    let is_day = |place: usize| {
        let column = &columns[place];
        column.is_primitive() && column.get_physical_type() == Type::INT32
    };
    let stored = |(place, field): (usize, &Arc<Field>)| {
        let kind = field.data_type();
        let values = match kind {
            DataType::Dictionary(_, values) if text_of(values).is_none() => values,
            kind => kind,
        };
        let values = match values {
            DataType::Date64 if is_day(place) => &DataType::Date32,
            values => values,
        };
        (values != kind).then(|| values.clone())
    };
    let fields = metadata.schema().fields().iter().enumerate();
    if fields.clone().all(|field| stored(field).is_none()) {
        return Ok(metadata);
    }
    let field = |(place, field): (usize, &Arc<Field>)| match stored((place, field)) {
        Some(kind) => Arc::new(field.as_ref().clone().with_data_type(kind)),
        None => Arc::clone(field),
    };
    with_fields(&metadata, fields.map(field).collect())
}

/// The type of the texts of a dictionary of them.
fn text_of(kind: &DataType) -> Option<DataType> {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(DataType::Utf8),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Some(DataType::Binary),
        _ => None,
    }
}

/// Whether all cells are places in a dictionary. A writer whose dictionary grows too large goes on without; to make
/// dictionaries of that would take longer than to read it as it is.
fn has_dictionary(column: &ColumnChunkMetaData) -> bool {
    let is_place = |mask: &EncodingMask| {
        mask.is_only(Encoding::PLAIN_DICTIONARY) || mask.is_only(Encoding::RLE_DICTIONARY)
    };
    // Not every writer counts pages by their encoding.
    column.dictionary_page_offset().is_some()
        && column.page_encoding_stats_mask().is_none_or(is_place)
}
