//! Arrow files and streams: where their batches are, and these one by one.
//!
//! The end of a file says where they are; a stream has the same messages one after the other, each with its length
//! before it ([the format](https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format)), so these are walked once.
//! Nothing that a file says of a length is believed before memory is taken for it, which the library's own reader of
//! files does.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{
    Block, CompressionType, Message, MessageHeader, MetadataVersion, root_as_footer,
    root_as_message,
};
use arrow_schema::Schema;
use bytes::Bytes;
use parquet::file::reader::ChunkReader;

use super::damaged;
use super::whole::Whole;
use crate::foreign::{is_arrow_stream, message_length};

/// Where the blocks of a file or stream are, and what is in them.
pub(super) struct Arrow {
    schema: Arc<Schema>,
    version: MetadataVersion,
    /// Each batch, with the number of its dictionaries.
    batches: Vec<(Block, usize)>,
    dictionaries: Vec<Generation>,
    last: Mutex<Option<Last>>,
}

/// The last decoder, with the number of its dictionaries and its columns.
type Last = (usize, Vec<usize>, Arc<FileDecoder>);

/// The length of the footer and the magic word behind it.
const TRAILER_BYTES: u64 = 10;
/// What a message begins with, and the length of its description.
const LEAD_BYTES: u64 = 8;

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
        let schema = schema_of(footer.schema())?;
        let dictionaries = footer.dictionaries().into_iter().flatten();
        let dictionaries = dictionaries.map(|&block| Ok((id(whole, &block)?, block)));
        let dictionaries = vec![dictionaries.collect::<io::Result<Generation>>()?];
        let batches = footer.recordBatches().into_iter().flatten();
        let batches = batches.map(|&block| (block, 0)).collect();
        let (version, last) = (footer.version(), Mutex::default());
        Ok(Arrow { schema, version, batches, dictionaries, last })
    }

    /// The same of a stream. Its end mark may be left out by the format, and is asked for here: without, nothing
    /// tells a whole stream from one whose writer was killed between two batches.
    pub(super) fn of_stream(whole: &Whole) -> io::Result<Arrow> {
        let (mut at, mut schema, mut version) = (0, None, MetadataVersion::V5);
        let (mut dictionaries, mut batches) = (Dictionaries::default(), Vec::new());
        loop {
            let cut = |_| damaged("it has no end mark, as if its writer had not come to the end");
            let lead = whole.get_bytes(at, LEAD_BYTES as usize).map_err(cut)?;
            let Some(length) = message_length(&lead) else {
                return Err(damaged(format!("at byte {at} there is no message")));
            };
            if length == 0 {
                let behind = at + LEAD_BYTES;
                if whole.size - behind >= LEAD_BYTES
                    && is_arrow_stream(
                        &whole.get_bytes(behind, LEAD_BYTES as usize).map_err(damaged)?,
                    )
                {
                    let said = format!("a second stream follows at byte {behind}");
                    return Err(io::Error::new(io::ErrorKind::InvalidData, said));
                }
                let schema = schema.ok_or_else(|| damaged("it has no schema"))?;
                let last = dictionaries.all();
                let dictionaries = dictionaries.before.into_iter().chain([last]).collect();
                return Ok(Arrow {
                    schema,
                    version,
                    batches,
                    dictionaries,
                    last: Mutex::default(),
                });
            }
            let message = whole.get_bytes(at + LEAD_BYTES, length as usize).map_err(cut)?;
            let message = root_as_message(&message).map_err(damaged)?;
            let head = i32::try_from(LEAD_BYTES + length).map_err(damaged)?;
            let block = Block::new(at as i64, head, message.bodyLength());
            let body = u64::try_from(message.bodyLength()).map_err(damaged)?;
            match (message.header_type(), &schema) {
                (MessageHeader::Schema, None) => {
                    schema = Some(schema_of(message.header_as_schema())?);
                    version = message.version();
                }
                (MessageHeader::DictionaryBatch, Some(_)) => {
                    let Some(batch) = message.header_as_dictionary_batch() else {
                        return Err(damaged("a dictionary has no description"));
                    };
                    dictionaries.add(batch.id(), batch.isDelta(), block);
                }
                (MessageHeader::RecordBatch, Some(_)) => {
                    batches.push((block, dictionaries.generation()));
                }
                (other, _) => {
                    return Err(damaged(format!("at byte {at} there is {other:?} out of place")));
                }
            }
            at = at.saturating_add(LEAD_BYTES + length).saturating_add(body);
        }
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
        let (block, generation) = &self.batches[number];
        let decoder = self.decoder(whole, *generation, places)?;
        decoder.read_record_batch(block, &bytes(whole, block)?.into()).map_err(damaged)
    }

    /// One that has read the dictionaries of these columns: that of the batch before, as a rule.
    fn decoder(
        &self,
        whole: &Whole,
        generation: usize,
        places: &[usize],
    ) -> io::Result<Arc<FileDecoder>> {
        let last = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((number, columns, decoder)) = &*last()
            && (*number, &**columns) == (generation, places)
        {
            return Ok(Arc::clone(decoder));
        }
        let chosen = self.schema.project(places).map_err(damaged)?;
        let mut decoder = FileDecoder::new(Arc::clone(&self.schema), self.version)
            .with_projection(places.to_vec());
        for (id, block) in &self.dictionaries[generation] {
            #[expect(deprecated, reason = "the library goes by these numbers itself")]
            let is_chosen = !chosen.fields_with_dict_id(*id).is_empty();
            if is_chosen {
                decoder.read_dictionary(block, &bytes(whole, block)?.into()).map_err(damaged)?;
            }
        }
        let decoder = Arc::new(decoder);
        *last() = Some((generation, places.to_vec(), Arc::clone(&decoder)));
        Ok(decoder)
    }
}

/// The schema of a file or stream, whose numbers are this machine's.
fn schema_of(schema: Option<arrow_ipc::Schema<'_>>) -> io::Result<Arc<Schema>> {
    let schema = schema.ok_or_else(|| damaged("it has no schema"))?;
    if !schema.endianness().equals_to_target_endianness() {
        return Err(damaged("its numbers have the bytes in another order"));
    }
    try_fb_to_schema(schema).map(Arc::new).map_err(damaged)
}

/// Dictionaries by id, in the order in which they are read.
type Generation = Vec<(i64, Block)>;

/// The dictionaries of a stream. An addition does no harm to the batches before it, so a generation lasts until one is
/// replaced.
#[derive(Default)]
struct Dictionaries {
    /// By id: the last whole one, and what was added to it since.
    by_id: Vec<(i64, Vec<Block>)>,
    /// Whether a batch has needed these.
    is_used: bool,
    before: Vec<Generation>,
}

impl Dictionaries {
    /// One is in place of that of its id, unless it is an addition to it.
    fn add(&mut self, id: i64, is_addition: bool, block: Block) {
        let known = self.by_id.iter().position(|(other, _)| *other == id);
        let Some(place) = known else { return self.by_id.push((id, vec![block])) };
        if !is_addition {
            if std::mem::take(&mut self.is_used) {
                self.before.push(self.all());
            }
            self.by_id[place].1.clear();
        }
        self.by_id[place].1.push(block);
    }

    /// The number of the generation, for a batch.
    fn generation(&mut self) -> usize {
        self.is_used = true;
        self.before.len()
    }

    fn all(&self) -> Generation {
        let all = self.by_id.iter();
        all.flat_map(|(id, blocks)| blocks.iter().map(move |&block| (*id, block))).collect()
    }
}

/// The id of a dictionary of a file.
fn id(whole: &Whole, block: &Block) -> io::Result<i64> {
    let start = u64::try_from(block.offset()).map_err(damaged)?;
    let length = usize::try_from(block.metaDataLength()).map_err(damaged)?;
    let head = whole.get_bytes(start, length).map_err(damaged)?;
    let dictionary = message(&head)?.header_as_dictionary_batch();
    dictionary.map(|one| one.id()).ok_or_else(|| damaged("a dictionary has no description"))
}

/// The message that a block begins with.
fn message(head: &[u8]) -> io::Result<Message<'_>> {
    match head {
        [0xff, 0xff, 0xff, 0xff, _, _, _, _, message @ ..] | [_, _, _, _, message @ ..] => {
            root_as_message(message).map_err(damaged)
        }
        _ => Err(damaged("a block has no message")),
    }
}

/// The bytes of a block, in which no buffer says that it decodes to more than it can.
fn bytes(whole: &Whole, block: &Block) -> io::Result<Bytes> {
    let lengths = [block.offset(), block.metaDataLength().into(), block.bodyLength()];
    let [start, head, body] = lengths.map(|length| u64::try_from(length).unwrap_or(u64::MAX));
    let length = usize::try_from(head.saturating_add(body)).unwrap_or(usize::MAX);
    let bytes = whole.get_bytes(start, length).map_err(damaged)?;
    let (head, body) = bytes.split_at(head as usize);
    let message = message(head)?;
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
