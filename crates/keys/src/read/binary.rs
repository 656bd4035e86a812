//! kvbench's files, the checked 64-bit variant, and binary integers; all little-endian.
//!
//! ```text
//! bin-text       u32 words            (u32 bytes, bytes)…
//! bin-text1      u64 words, u64 bytes (u32 bytes, bytes)…
//! bin-…-kv       u32 pairs            (u32 key bytes, u32 value bytes, key, value)…
//! 64-bit variant u32 0xffffffff, "FKV1", u32 kind, u32 flags, u64 count, u64 bytes, u64 XXH3-64
//!                of those bytes, then the records of the kind
//! ```
//!
//! A count is checked against the records and never trusted to reserve memory. kvbench itself reads
//! none of the 64-bit variant, whose marker is a count it cannot have.

use std::borrow::Cow;

use xxhash_rust::xxh3::xxh3_64;

use super::text::span;
use crate::error::{Error, Grow, Reason, bad};
use crate::format::Format;
use crate::set::{KeySet, Keys, Span};

/// The count that no file of 32-bit counts has.
pub(crate) const MARKER: u32 = u32::MAX;
/// What follows the marker.
pub(crate) const MAGIC: [u8; 4] = *b"FKV1";
/// Bytes before the records of the 64-bit variant.
const WIDE_HEADER_BYTES: usize = 40;
/// Every key ends with a zero byte.
pub(crate) const FLAG_TERMINATED: u32 = 1;

/// The number of the kind in the 64-bit variant; `bin-text1` has 64 bits already.
pub(crate) fn kind(format: &Format) -> Option<u32> {
    match format {
        Format::BinText => Some(1),
        Format::BinTextKv => Some(2),
        Format::BinSliceKv => Some(3),
        _ => None,
    }
}

/// The number of the kind that a file of the 64-bit variant says it is of.
pub(super) fn wide_kind(bytes: &[u8]) -> Option<u32> {
    let after = bytes.strip_prefix(&MARKER.to_le_bytes())?.strip_prefix(&MAGIC)?;
    after.first_chunk().copied().map(u32::from_le_bytes)
}

/// What a header says.
struct Header {
    count: u64,
    /// Offset of the first record.
    start: usize,
    /// Bytes of keys.
    sum: Option<u64>,
    terminated: bool,
}

pub(super) fn records<'b>(bytes: &'b [u8], format: &Format) -> Result<KeySet<'b>, Error> {
    let mut keys = Vec::new();
    let mut values = Vec::new();
    walk(bytes, format, |key, value| {
        keys.grow(key)?;
        value.map_or(Ok(()), |value| values.grow(value))
    })?;
    let values = format.has_values().then_some(values);
    Ok(KeySet { bytes: Cow::Borrowed(bytes), keys: Keys::Bytes(keys), values })
}

pub(super) fn check(bytes: &[u8], format: &Format) -> Result<(), Error> {
    walk(bytes, format, |_, _| Ok(()))
}

pub(super) fn integers<const WIDTH: usize>(bytes: &[u8]) -> Result<Vec<u64>, Error> {
    let (whole, rest) = bytes.as_chunks::<WIDTH>();
    if !rest.is_empty() {
        let odd = Reason::OddBytes { width: WIDTH as u64, left: rest.len() as u64 };
        return Err(bad(bytes.len() - rest.len(), odd));
    }
    let widened = |chunk: &[u8; WIDTH]| {
        let mut eight = [0; 8];
        eight[..WIDTH].copy_from_slice(chunk);
        u64::from_le_bytes(eight)
    };
    let mut integers = Vec::new();
    integers.try_reserve_exact(whole.len()).map_err(|_| Error::Memory(whole.len()))?;
    integers.extend(whole.iter().map(widened));
    Ok(integers)
}

/// Visits every record.
fn walk(
    bytes: &[u8],
    format: &Format,
    mut visit: impl FnMut(Span, Option<Span>) -> Result<(), Error>,
) -> Result<(), Error> {
    let Header { count, start, sum, terminated } = header(bytes, format)?;
    let mut at = start;
    let mut key_bytes = 0;
    for record in 1..=count {
        let missing = || bad(at, Reason::MissingRecord { record, count });
        let key_len = u32_at(bytes, at).ok_or_else(missing)? as usize;
        let value_len = match format.has_values() {
            true => Some(u32_at(bytes, at + 4).ok_or_else(missing)? as usize),
            false => None,
        };
        let key_start = at + if value_len.is_some() { 8 } else { 4 };
        let fits = |what, wanted: usize, from: usize, field: usize| {
            let left = (bytes.len() - from) as u64;
            let wanted = wanted as u64;
            let past = Reason::PastEnd { what, wanted, left, record, count };
            if wanted > left { Err(bad(field, past)) } else { Ok(()) }
        };
        fits("key", key_len, key_start, at)?;
        if key_len == 0 {
            return Err(bad(at, Reason::EmptyKey(record)));
        }
        let key_end = key_start + key_len;
        if terminated && bytes[key_end - 1] != 0 {
            return Err(bad(key_end - 1, Reason::NotTerminated(record)));
        }
        key_bytes += key_len as u64;
        let key = span(key_start, key_end)?;
        let value = match value_len {
            None => None,
            Some(value_len) => {
                fits("value", value_len, key_end, at + 4)?;
                Some(span(key_end, key_end + value_len)?)
            }
        };
        let end = key_end + value_len.unwrap_or(0);
        if *format == Format::BinTextKv {
            let odd = bytes[key_start..end].iter().position(|byte| !matches!(byte, 0x20..=0x7e));
            if let Some(odd) = odd {
                let odd = key_start + odd;
                return Err(bad(odd, Reason::NotPrintable(bytes[odd])));
            }
        }
        visit(key, value)?;
        at = end;
    }
    if at < bytes.len() {
        return Err(bad(at, Reason::Trailing((bytes.len() - at) as u64)));
    }
    match sum {
        Some(said) if said != key_bytes => Err(bad(8, Reason::WrongSum { said, found: key_bytes })),
        _ => Ok(()),
    }
}

fn header(bytes: &[u8], format: &Format) -> Result<Header, Error> {
    let short = |wanted: usize| {
        bad(0, Reason::ShortHeader { wanted: wanted as u64, left: bytes.len() as u64 })
    };
    if *format == Format::BinText1 {
        let fields = u64_at(bytes, 0).zip(u64_at(bytes, 8));
        let (count, sum) = fields.ok_or_else(|| short(16))?;
        return Ok(Header { count, start: 16, sum: Some(sum), terminated: false });
    }
    let count = u32_at(bytes, 0).ok_or_else(|| short(4))?;
    match kind(format) {
        Some(kind) if count == MARKER => wide_header(bytes, kind),
        _ => Ok(Header { count: count.into(), start: 4, sum: None, terminated: false }),
    }
}

fn wide_header(bytes: &[u8], expected: u32) -> Result<Header, Error> {
    let Some((header, records)) = bytes.split_at_checked(WIDE_HEADER_BYTES) else {
        let wanted = WIDE_HEADER_BYTES as u64;
        return Err(bad(0, Reason::ShortHeader { wanted, left: bytes.len() as u64 }));
    };
    let half = |at| u32_at(header, at).unwrap_or_default();
    let word = |at| u64_at(header, at).unwrap_or_default();
    if header[4..8] != MAGIC {
        return Err(bad(4, Reason::BadMagic));
    }
    if half(8) != expected {
        return Err(bad(8, Reason::WrongKind { found: half(8), expected }));
    }
    if half(12) & !FLAG_TERMINATED != 0 {
        return Err(bad(12, Reason::UnknownFlags(half(12))));
    }
    let found = records.len() as u64;
    if word(24) != found {
        return Err(bad(24, Reason::WrongLength { said: word(24), found }));
    }
    let found = xxh3_64(records);
    if word(32) != found {
        return Err(bad(32, Reason::WrongChecksum { said: word(32), found }));
    }
    let terminated = half(12) & FLAG_TERMINATED != 0;
    Ok(Header { count: word(16), start: WIDE_HEADER_BYTES, sum: None, terminated })
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|four| u32::from_le_bytes(*four))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|eight| u64::from_le_bytes(*eight))
}
