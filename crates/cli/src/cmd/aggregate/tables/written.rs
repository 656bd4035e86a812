//! The files, batch by batch.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Decimal128Array, Float64Array, Int64Array, LargeBinaryArray, LargeStringArray,
    RecordBatch,
};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DECIMAL128_MAX_PRECISION, DataType, Field, Schema};
use fathom_aggregate::format::{self, Type, Typed};
use fathom_aggregate::{Column, Layout};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::super::NotThere;

/// Rows of a batch: the text of their cells is in memory.
const BATCH_ROWS: usize = 1 << 16;

/// A Parquet file. Snappy is what all readers have.
pub(crate) fn parquet(columns: &[Column], layout: &Layout) -> anyhow::Result<Vec<u8>> {
    let table = Table::new(columns, layout);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut file = ArrowWriter::try_new(Vec::new(), Arc::clone(&table.schema), Some(properties))?;
    table.batches().try_for_each(|batch| anyhow::Ok(file.write(&batch?)?))?;
    Ok(file.into_inner()?)
}

/// An Arrow IPC file.
pub(crate) fn arrow(columns: &[Column], layout: &Layout) -> anyhow::Result<Vec<u8>> {
    let table = Table::new(columns, layout);
    let mut file = FileWriter::try_new(Vec::new(), &table.schema)?;
    table.batches().try_for_each(|batch| anyhow::Ok(file.write(&batch?)?))?;
    Ok(file.into_inner()?)
}

/// A result and the types of its columns, which are those of the Python module.
struct Table<'r> {
    columns: &'r [Column],
    layout: &'r Layout,
    typed: Vec<Typed<'r>>,
    schema: Arc<Schema>,
}

impl<'r> Table<'r> {
    fn new(columns: &'r [Column], layout: &'r Layout) -> Table<'r> {
        let typed = Typed::all(columns, layout);
        let is_text = |part| {
            let all = 0..columns[0].groups.len();
            let mut keys = format::key_part(columns, layout, part, all);
            keys.all(|key| std::str::from_utf8(&key).is_ok())
        };
        let of_key = |part| if is_text(part) { DataType::LargeUtf8 } else { DataType::LargeBinary };
        let of_cells = |typed: &Typed<'_>| match (typed.cell_type(), typed.decimals()) {
            (Type::Text, _) => DataType::LargeUtf8,
            (Type::Integer, _) => DataType::Int64,
            (Type::Whole | Type::Number, None) => DataType::Float64,
            // At most 18.
            (Type::Whole | Type::Number, Some(decimals)) => {
                DataType::Decimal128(DECIMAL128_MAX_PRECISION, decimals as i8)
            }
        };
        let types = (0..layout.keys.len()).map(of_key).chain(typed.iter().map(of_cells));
        let names = format::headings(columns, layout).into_iter();
        let fields = names.zip(types).map(|(name, kind)| Field::new(name, kind, true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Table { columns, layout, typed, schema }
    }

    fn batches(&self) -> impl Iterator<Item = anyhow::Result<RecordBatch>> {
        let rows = self.columns[0].groups.len();
        let starts = (0..rows).step_by(BATCH_ROWS);
        starts.map(move |start| self.batch(start..rows.min(start + BATCH_ROWS)))
    }

    fn batch(&self, rows: Range<usize>) -> anyhow::Result<RecordBatch> {
        let arrays = (0..self.schema.fields().len()).map(|at| self.array(at, rows.clone()));
        let arrays = arrays.collect::<anyhow::Result<_>>()?;
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), arrays)?)
    }

    fn array(&self, at: usize, rows: Range<usize>) -> anyhow::Result<ArrayRef> {
        let field = self.schema.field(at);
        let Some(number) = at.checked_sub(self.layout.keys.len()) else {
            let keys = format::key_part(self.columns, self.layout, at, rows);
            return Ok(match field.data_type() {
                DataType::LargeUtf8 => {
                    let text = |key: &[u8]| String::from_utf8_lossy(key).into_owned();
                    let keys = keys.map(|key| text(&key));
                    Arc::new(LargeStringArray::from_iter_values(keys))
                }
                _ => Arc::new(LargeBinaryArray::from_iter_values(keys)),
            });
        };
        let mut cells = self.typed[number].cells(rows);
        Ok(match *field.data_type() {
            DataType::LargeUtf8 => Arc::new(LargeStringArray::from_iter(cells)),
            DataType::Int64 => Arc::new(Int64Array::from_iter(parsed(cells))),
            DataType::Decimal128(precision, scale) => {
                let units = |cell: Option<String>| {
                    let units = |cell: String| format::units(&cell, scale as usize);
                    let too_long = || {
                        NotThere(format!(
                            "{:?} has a number of more than 38 digits: csv and json have it",
                            field.name()
                        ))
                    };
                    cell.map(|cell| units(cell).ok_or_else(too_long)).transpose()
                };
                let units = cells.by_ref().map(units).collect::<Result<Vec<_>, _>>()?;
                let units = Decimal128Array::from(units);
                Arc::new(units.with_precision_and_scale(precision, scale)?)
            }
            _ => {
                let doubles: Float64Array = parsed(cells).collect();
                if doubles.iter().flatten().any(f64::is_infinite) {
                    let name = field.name();
                    return Err(NotThere(format!(
                        "{name:?} has a number beyond those of doubles: csv and json have it"
                    ))
                    .into());
                }
                Arc::new(doubles)
            }
        })
    }
}

/// Numbers of cells whose column has that type.
fn parsed<T: std::str::FromStr<Err: std::fmt::Debug>>(
    cells: impl Iterator<Item = Option<String>>,
) -> impl Iterator<Item = Option<T>> {
    cells.map(|cell| cell.map(|cell| cell.parse().expect("a number of its column's type")))
}
