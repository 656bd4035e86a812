//! [Arrow's stream of messages](https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format):
//! a schema, record batches, an end. Only the types that states have.
//!
//! ```text
//! ff ff ff ff │ length │ metadata (FlatBuffers) │ body: the buffers of all columns
//! ```
//!
//! Every message and every buffer takes a multiple of 64 bytes, so that all of it is aligned for
//! whoever maps the file. What the columns mean is not known here.

use super::flat::{Builder, Reference, Slot, Table};

/// The type of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// 64-bit integers, never null.
    Integer,
    /// Decimals of 128 bits with so many digits behind the point.
    Decimal(u16),
    /// Bytes.
    Binary,
    /// UTF-8.
    Text,
    /// Lists of a value and how often it came.
    Counted(Box<Kind>),
}

/// A column of the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) nullable: bool,
}

impl Field {
    pub(super) fn new(name: &str, kind: Kind, nullable: bool) -> Field {
        Field { name: name.to_owned(), kind, nullable }
    }
}

/// The values of a column in a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Data {
    Integers(Vec<i64>),
    Decimals {
        valid: Vec<bool>,
        units: Vec<i128>,
    },
    /// Bytes or texts; a value ends where its offset says.
    Bytes {
        valid: Vec<bool>,
        ends: Vec<i64>,
        bytes: Vec<u8>,
    },
    /// Where each list ends, the values of all, and their counts.
    Counted {
        ends: Vec<i64>,
        values: Box<Data>,
        counts: Vec<i64>,
    },
}

impl Data {
    pub(super) fn new(kind: &Kind) -> Data {
        match kind {
            Kind::Integer => Data::Integers(Vec::new()),
            Kind::Decimal(_) => Data::Decimals { valid: Vec::new(), units: Vec::new() },
            Kind::Binary | Kind::Text => {
                Data::Bytes { valid: Vec::new(), ends: Vec::new(), bytes: Vec::new() }
            }
            Kind::Counted(value) => {
                let values = Box::new(Data::new(value));
                Data::Counted { ends: Vec::new(), values, counts: Vec::new() }
            }
        }
    }
}

/// The digits of a decimal of 128 bits.
pub(super) const MOST_DIGITS: u16 = 38;

const ALIGNMENT: usize = 64;
/// `MetadataVersion.V5`.
const VERSION: i16 = 4;
/// Of the union `MessageHeader`.
const SCHEMA: u8 = 1;
const RECORD_BATCH: u8 = 3;
/// The end of a stream.
pub(super) const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// The message of a schema with these entries of metadata.
pub(super) fn schema(fields: &[Field], metadata: &[(&str, &str)]) -> Vec<u8> {
    let (mut builder, root) = Builder::new();
    let message =
        [Slot::Short(VERSION), Slot::Byte(SCHEMA), Slot::Refer, Slot::Long(0), Slot::Skip];
    let header = builder.table(root, &message)[0];
    // Little-endian is the default.
    let references = builder.table(header, &[Slot::Skip, Slot::Refer, Slot::Refer]);
    let places = builder.references(references[0], fields.len());
    for (place, field) in places.into_iter().zip(fields) {
        write_field(&mut builder, place, field);
    }
    let places = builder.references(references[1], metadata.len());
    for (place, (key, value)) in places.into_iter().zip(metadata) {
        let pair = builder.table(place, &[Slot::Refer, Slot::Refer]);
        builder.string(pair[0], key);
        builder.string(pair[1], value);
    }
    framed(builder.finish(), &[])
}

fn write_field(builder: &mut Builder, place: Reference, field: &Field) {
    // Of the union `Type`: Int, Decimal, LargeBinary, LargeUtf8, LargeList.
    let (kind, slots): (u8, &[Slot]) = match field.kind {
        Kind::Integer => (2, &[Slot::Int(64), Slot::Byte(1)]),
        Kind::Decimal(scale) => {
            (7, &[Slot::Int(MOST_DIGITS.into()), Slot::Int(scale.into()), Slot::Int(128)])
        }
        Kind::Binary => (19, &[]),
        Kind::Text => (20, &[]),
        Kind::Counted(_) => (21, &[]),
    };
    let slots_of = |nullable: bool, kind| {
        let nullable = Slot::Byte(nullable.into());
        [Slot::Refer, nullable, Slot::Byte(kind), Slot::Refer, Slot::Skip, Slot::Refer]
    };
    let references = builder.table(place, &slots_of(field.nullable, kind));
    builder.string(references[0], &field.name);
    builder.table(references[1], slots);
    let Kind::Counted(value) = &field.kind else {
        builder.references(references[2], 0);
        return;
    };
    let place = builder.references(references[2], 1)[0];
    let references = builder.table(place, &slots_of(false, STRUCT));
    builder.string(references[0], "item");
    builder.table(references[1], &[]);
    let places = builder.references(references[2], 2);
    write_field(builder, places[0], &Field::new("value", (**value).clone(), false));
    write_field(builder, places[1], &Field::new("count", Kind::Integer, false));
}

/// `Type.Struct_`.
const STRUCT: u8 = 13;

/// Metadata and body of a message as they stand in the stream.
fn framed(mut metadata: Vec<u8>, body: &[u8]) -> Vec<u8> {
    metadata.resize((metadata.len() + 8).next_multiple_of(ALIGNMENT) - 8, 0);
    let mut message = Vec::with_capacity(8 + metadata.len() + body.len());
    message.extend([0xff; 4]);
    message.extend((metadata.len() as u32).to_le_bytes());
    message.extend(metadata);
    message.extend(body);
    message
}

/// The message of `len` rows.
pub(super) fn batch(columns: &[Data], len: usize) -> Vec<u8> {
    let mut body = Body::default();
    columns.iter().for_each(|column| body.push(column, len));
    let (mut builder, root) = Builder::new();
    let length = Slot::Long(body.bytes.len() as i64);
    let message = [Slot::Short(VERSION), Slot::Byte(RECORD_BATCH), Slot::Refer, length, Slot::Skip];
    let header = builder.table(root, &message)[0];
    let references =
        builder.table(header, &[Slot::Long(len as i64), Slot::Refer, Slot::Refer, Slot::Skip]);
    builder.pairs(references[0], &body.nodes);
    builder.pairs(references[1], &body.buffers);
    framed(builder.finish(), &body.bytes)
}

/// The buffers of a batch, what each has, and where each is.
#[derive(Default)]
struct Body {
    bytes: Vec<u8>,
    /// Rows and nulls.
    nodes: Vec<[i64; 2]>,
    /// Place and length.
    buffers: Vec<[i64; 2]>,
}

impl Body {
    fn push(&mut self, column: &Data, len: usize) {
        match column {
            Data::Integers(values) => {
                self.node(len, &[]);
                self.buffer(values.iter().flat_map(|value| value.to_le_bytes()));
            }
            Data::Decimals { valid, units } => {
                self.node(len, valid);
                self.buffer(units.iter().flat_map(|units| units.to_le_bytes()));
            }
            Data::Bytes { valid, ends, bytes } => {
                self.node(len, valid);
                self.offsets(ends);
                self.buffer(bytes.iter().copied());
            }
            Data::Counted { ends, values, counts } => {
                self.node(len, &[]);
                self.offsets(ends);
                self.node(counts.len(), &[]);
                self.push(values, counts.len());
                self.push(&Data::Integers(counts.clone()), counts.len());
            }
        }
    }

    /// A node and which of its rows there are; all of them if none is missing.
    fn node(&mut self, len: usize, valid: &[bool]) {
        let nulls = valid.iter().filter(|valid| !**valid).count();
        self.nodes.push([len as i64, nulls as i64]);
        let valid = if nulls == 0 { &[] } else { valid };
        let byte =
            |bits: &[bool]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
        self.buffer(valid.chunks(8).map(byte));
    }

    fn offsets(&mut self, ends: &[i64]) {
        self.buffer([0].iter().chain(ends).flat_map(|end| end.to_le_bytes()));
    }

    fn buffer(&mut self, bytes: impl Iterator<Item = u8>) {
        let start = self.bytes.len();
        self.bytes.extend(bytes);
        self.buffers.push([start as i64, (self.bytes.len() - start) as i64]);
        let end = self.bytes.len().next_multiple_of(ALIGNMENT);
        self.bytes.resize(end, 0);
    }
}

/// A message found in a stream.
pub(super) enum Message<'a> {
    Schema(Table<'a>),
    Batch(Table<'a>, &'a [u8]),
    /// The end of the stream.
    End,
}

/// The message at the start of some bytes, and what is behind it. None if there is none, or a part.
pub(super) fn next(bytes: &[u8]) -> Option<(Message<'_>, &[u8])> {
    if let Some(rest) = bytes.strip_prefix(&END) {
        return Some((Message::End, rest));
    }
    let rest = bytes.strip_prefix(&[0xff; 4])?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (metadata, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    let message = Table::root(metadata)?;
    let header = message.table(2)?;
    let body_bytes = usize::try_from(message.long(3).unwrap_or(0)).ok()?;
    let (body, rest) = rest.split_at_checked(body_bytes)?;
    match message.byte(1)? {
        SCHEMA => Some((Message::Schema(header), rest)),
        RECORD_BATCH => Some((Message::Batch(header, body), rest)),
        _ => None,
    }
}

/// Whether the bytes begin as a message and end before its description does.
pub(super) fn is_cut(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(&[0xff; 4]) else { return false };
    rest.split_first_chunk()
        .is_none_or(|(length, rest)| u32::from_le_bytes(*length) as usize > rest.len())
}

/// The metadata of a schema that has this key.
pub(super) fn metadata<'a>(schema: Table<'a>, key: &str) -> Option<&'a [u8]> {
    let pairs = schema.tables(2)?;
    pairs.iter().find(|pair| pair.string(0) == Some(key.as_bytes()))?.string(1)
}

/// How many rows a batch says that it has.
pub(super) fn rows(header: Table<'_>) -> Option<usize> {
    usize::try_from(header.long(0).unwrap_or(0)).ok()
}

/// How many rows a batch has, and its columns, of these kinds. None if it has others.
pub(super) fn columns(
    header: Table<'_>,
    body: &[u8],
    fields: &[Field],
) -> Option<(usize, Vec<Data>)> {
    let len = rows(header)?;
    let (nodes, buffers) = (header.pairs(1)?, header.pairs(2)?);
    let mut reader = Reader { body, nodes: nodes.iter(), buffers: buffers.iter() };
    let columns: Option<Vec<Data>> =
        fields.iter().map(|field| reader.column(&field.kind, field.nullable, len)).collect();
    (reader.nodes.len() == 0 && reader.buffers.len() == 0).then_some((len, columns?))
}

struct Reader<'a> {
    body: &'a [u8],
    nodes: std::slice::Iter<'a, [i64; 2]>,
    buffers: std::slice::Iter<'a, [i64; 2]>,
}

impl<'a> Reader<'a> {
    fn column(&mut self, kind: &Kind, nullable: bool, len: usize) -> Option<Data> {
        let valid = self.node(nullable, len)?;
        Some(match kind {
            Kind::Integer => {
                Data::Integers(self.numbers::<8>(len)?.map(i64::from_le_bytes).collect())
            }
            Kind::Decimal(_) => {
                let units = self.numbers::<16>(len)?.map(i128::from_le_bytes).collect();
                Data::Decimals { valid, units }
            }
            Kind::Binary | Kind::Text => {
                let ends = self.ends(len)?;
                let bytes = self.buffer()?.to_vec();
                let all = usize::try_from(ends.last().copied().unwrap_or(0)).ok()?;
                (all == bytes.len()).then_some(Data::Bytes { valid, ends, bytes })?
            }
            Kind::Counted(value) => {
                let ends = self.ends(len)?;
                let all = usize::try_from(ends.last().copied().unwrap_or(0)).ok()?;
                self.node(false, all)?;
                let values = Box::new(self.column(value, false, all)?);
                let Data::Integers(counts) = self.column(&Kind::Integer, false, all)? else {
                    return None;
                };
                Data::Counted { ends, values, counts }
            }
        })
    }

    /// Which rows of a node of `len` rows there are.
    fn node(&mut self, nullable: bool, len: usize) -> Option<Vec<bool>> {
        let &[rows, nulls] = self.nodes.next()?;
        let bits = self.buffer()?;
        // Before anything is made of it: no row takes less than a bit of some buffer.
        if usize::try_from(rows).ok()? != len || len > 8 * self.body.len() {
            return None;
        }
        if nulls == 0 {
            return bits.is_empty().then(|| vec![true; len]);
        }
        if !nullable || bits.len() != len.div_ceil(8) {
            return None;
        }
        let valid: Vec<bool> = (0..len).map(|at| bits[at / 8] >> (at % 8) & 1 == 1).collect();
        let found = valid.iter().filter(|valid| !**valid).count();
        (i64::try_from(found) == Ok(nulls)).then_some(valid)
    }

    fn numbers<const N: usize>(
        &mut self,
        len: usize,
    ) -> Option<impl Iterator<Item = [u8; N]> + 'a> {
        let bytes = self.buffer()?;
        let (numbers, rest) = bytes.as_chunks::<N>();
        (numbers.len() == len && rest.is_empty()).then(|| numbers.iter().copied())
    }

    /// Where each of `len` values ends: from 0 on, none before the one before it.
    fn ends(&mut self, len: usize) -> Option<Vec<i64>> {
        let mut offsets = self.numbers::<8>(len.checked_add(1)?)?.map(i64::from_le_bytes);
        let first = offsets.next()?;
        let ends: Vec<i64> = offsets.collect();
        (first == 0 && ends.first().is_none_or(|&end| end >= 0) && ends.is_sorted()).then_some(ends)
    }

    fn buffer(&mut self) -> Option<&'a [u8]> {
        let [start, bytes] = self.buffers.next()?.map(|number| usize::try_from(number).ok());
        self.body.get(start?..)?.get(..bytes?)
    }
}
