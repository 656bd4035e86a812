//! Arrow files: what stands at their end, and their batches one by one.
//!
//! Nothing that a file says of a length is believed before memory is taken for it, which the library's own reader of
//! files does.

use std::io;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, CompressionType, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::Schema;
use bytes::Bytes;
use parquet::file::reader::ChunkReader;

use super::damaged;
use super::whole::Whole;

/// The end of a file: where its blocks are, and what is in them.
pub(super) struct Arrow {
    schema: Arc<Schema>,
    version: MetadataVersion,
    dictionaries: Vec<Block>,
    batches: Vec<Block>,
}

/// The length of the footer and the magic word behind it.
const TRAILER_BYTES: u64 = 10;

impl Arrow {
    pub(super) fn open(whole: &Whole) -> io::Result<Arrow> {
        let short = || damaged("its footer is longer than the file");
        let end = whole.size.checked_sub(TRAILER_BYTES).ok_or_else(short)?;
        let trailer = whole.get_bytes(end, TRAILER_BYTES as usize).map_err(damaged)?;
        let length = read_footer_length(trailer[..].try_into().expect("ten bytes"));
        let length = length.map_err(damaged)?;
        let start = end.checked_sub(length as u64).ok_or_else(short)?;
        let footer = whole.get_bytes(start, length).map_err(damaged)?;
        let footer = root_as_footer(&footer).map_err(damaged)?;
        let schema = footer.schema().ok_or_else(|| damaged("it has no schema"))?;
        if !schema.endianness().equals_to_target_endianness() {
            return Err(damaged("its numbers have the bytes in another order"));
        }
        let schema = try_fb_to_schema(schema).map_err(damaged)?;
        Ok(Arrow {
            schema: Arc::new(schema),
            version: footer.version(),
            dictionaries: footer.dictionaries().iter().flatten().copied().collect(),
            batches: footer.recordBatches().iter().flatten().copied().collect(),
        })
    }

    pub(super) fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// How many there are.
    pub(super) fn batches(&self) -> usize {
        self.batches.len()
    }

    /// A batch, with the columns of these places.
    pub(super) fn batch(
        &self,
        whole: &Whole,
        number: usize,
        places: &[usize],
    ) -> io::Result<Option<RecordBatch>> {
        let mut decoder = FileDecoder::new(Arc::clone(&self.schema), self.version)
            .with_projection(places.to_vec());
        for block in &self.dictionaries {
            decoder.read_dictionary(block, &bytes(whole, block)?.into()).map_err(damaged)?;
        }
        let block = &self.batches[number];
        decoder.read_record_batch(block, &bytes(whole, block)?.into()).map_err(damaged)
    }
}

/// The bytes of a block, in which no buffer says that it decodes to more than it can.
fn bytes(whole: &Whole, block: &Block) -> io::Result<Bytes> {
    let lengths = [block.offset(), block.metaDataLength().into(), block.bodyLength()];
    let [start, head, body] = lengths.map(|length| u64::try_from(length).unwrap_or(u64::MAX));
    let length = usize::try_from(head.saturating_add(body)).unwrap_or(usize::MAX);
    let bytes = whole.get_bytes(start, length).map_err(damaged)?;
    let (head, body) = bytes.split_at(head as usize);
    let message = match head {
        [0xff, 0xff, 0xff, 0xff, _, _, _, _, message @ ..] | [_, _, _, _, message @ ..] => message,
        _ => return Err(damaged("a block has no message")),
    };
    let message = root_as_message(message).map_err(damaged)?;
    let of_dictionary = || message.header_as_dictionary_batch()?.data();
    let batch = message.header_as_record_batch().or_else(of_dictionary);
    let Some((batch, compression)) = batch.and_then(|batch| Some((batch, batch.compression()?)))
    else {
        return Ok(bytes);
    };
    // A byte of LZ4 stands for 255 at most, a block of Zstandard of four for 128 KiB.
    let most = if compression.codec() == CompressionType::LZ4_FRAME { 255 } else { 1 << 15 };
    for buffer in batch.buffers().iter().flatten().filter(|buffer| buffer.length() > 0) {
        let first = usize::try_from(buffer.offset()).ok().and_then(|start| body.get(start..));
        let Some(claim) = first.and_then(<[u8]>::first_chunk) else { continue };
        let claim = i64::from_le_bytes(*claim);
        if claim > buffer.length().saturating_mul(most) {
            let packed = buffer.length();
            return Err(damaged(format!("{packed} bytes are said to decode to {claim}")));
        }
    }
    Ok(bytes)
}
