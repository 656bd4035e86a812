//! The pages of a part of a Parquet file, which must not contradict themselves.
//!
//! A page without a checksum may be damaged in its header alone. The library takes it at its word wherever that
//! leads to no memory of others, so that numbers are made of bytes that are none. Asked here of the columns that
//! text is made of, which are not nested: that the values are as many as the rows, that there are no levels of
//! repetition, and that values in streams of bytes are as long as so many are
//! ([the format](https://parquet.apache.org/docs/file-format/data-pages/)).

use std::iter;
use std::sync::Arc;

use bytes::Bytes;
use parquet::arrow::arrow_reader::RowGroups;
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescriptor;

use super::whole::{Stretch, Whole};

/// A part of a file.
pub(super) struct Part {
    pub(super) whole: Whole,
    pub(super) metadata: Arc<ParquetMetaData>,
    pub(super) number: usize,
}

impl RowGroups for Part {
    fn num_rows(&self) -> usize {
        self.row_group().num_rows() as usize
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        let (rows, chunk) = (self.num_rows(), self.row_group().column(column));
        let (start, bytes) = chunk.byte_range();
        let stretch = Stretch::of(&self.whole, start..start.saturating_add(bytes));
        let pages = SerializedPageReader::new(Arc::new(stretch), chunk, rows, None)?;
        let pages = Pages { pages, column: chunk.column_descr_ptr(), left: rows as u64 };
        Ok(Box::new(Once(Some(pages))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(iter::once(self.row_group()))
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

impl Part {
    fn row_group(&self) -> &RowGroupMetaData {
        self.metadata.row_group(self.number)
    }
}

/// The pages of the one chunk of a column that a part has.
struct Once(Option<Pages>);

impl Iterator for Once {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(|pages| Ok(Box::new(pages) as _))
    }
}

impl PageIterator for Once {}

/// The pages of a column.
struct Pages {
    pages: SerializedPageReader<Stretch>,
    column: Arc<ColumnDescriptor>,
    /// Rows of which there was no value yet.
    left: u64,
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        let values = page.as_ref().filter(|page| page.is_data_page()).map(Page::num_values);
        let left = self.left.checked_sub(values.unwrap_or(0).into());
        self.left = left.filter(|&left| page.is_some() || left == 0).ok_or_else(|| {
            ParquetError::General("a column has more or fewer values than rows".to_owned())
        })?;
        page.map(|page| checked(page, &self.column)).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        unreachable!("all rows are read")
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

/// The page, unless it contradicts itself.
fn checked(page: Page, column: &ColumnDescriptor) -> Result<Page> {
    let has_levels = column.max_def_level() > 0;
    if let Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } = page
        && (rep_levels_byte_len > 0 || def_levels_byte_len > 0 && !has_levels)
    {
        let said = "a page has levels that its column has not";
        return Err(ParquetError::General(said.to_owned()));
    }
    if page.encoding() != Encoding::BYTE_STREAM_SPLIT || !page.is_data_page() {
        return Ok(page);
    }
    let values = u64::from(page.num_values());
    let (bytes, count) = match &page {
        Page::DataPage { buf, def_level_encoding, .. } if has_levels => {
            match split_levels(buf, *def_level_encoding) {
                Some((levels, bytes)) => (bytes, ones(levels, values)),
                None => return Ok(page),
            }
        }
        Page::DataPageV2 { buf, num_nulls, def_levels_byte_len, .. } => {
            let bytes = buf.get(*def_levels_byte_len as usize..).unwrap_or_default();
            (bytes, values.checked_sub((*num_nulls).into()))
        }
        page => (&page.buffer()[..], Some(values)),
    };
    let width = match column.physical_type() {
        Type::INT32 | Type::FLOAT => 4,
        Type::INT64 | Type::DOUBLE => 8,
        _ => u64::try_from(column.type_length()).unwrap_or(0),
    };
    if count.and_then(|count| count.checked_mul(width)) != Some(bytes.len() as u64) {
        let said = format!("{} bytes are no values of {width} bytes", bytes.len());
        return Err(ParquetError::General(said));
    }
    Ok(page)
}

/// The levels of definition of a first version's page, behind their length, and the values; unless they are in a form
/// that was given up long before values in streams of bytes came.
fn split_levels(bytes: &Bytes, encoding: Encoding) -> Option<(&[u8], &[u8])> {
    let (length, bytes) = bytes.split_first_chunk().filter(|_| encoding == Encoding::RLE)?;
    bytes.split_at_checked(u32::from_le_bytes(*length) as usize)
}

/// How many of so many bits are set, in runs and groups of eight
/// ([the form](https://parquet.apache.org/docs/file-format/data-pages/encodings/#RLE)).
pub(super) fn ones(mut levels: &[u8], mut values: u64) -> Option<u64> {
    let mut count = 0;
    while values > 0 {
        let (mut head, mut shift) = (0_u64, 0);
        loop {
            let (&byte, rest) = levels.split_first().filter(|_| shift < u64::BITS)?;
            head |= u64::from(byte & 0x7f) << shift;
            (levels, shift) = (rest, shift + 7);
            if byte < 0x80 {
                break;
            }
        }
        if head & 1 == 0 {
            let (&value, rest) = levels.split_first()?;
            let run = values.min(head >> 1);
            count += run * u64::from(value & 1);
            (levels, values) = (rest, values - run);
        } else {
            let groups = values.div_ceil(8).min(head >> 1);
            let (bits, rest) = levels.split_at_checked(usize::try_from(groups).ok()?)?;
            for &byte in bits {
                let wanted = values.min(8);
                count += u64::from((byte & (0xff_u8 >> (8 - wanted))).count_ones());
                values -= wanted;
            }
            levels = rest;
        }
    }
    Some(count)
}
