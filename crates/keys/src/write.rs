//! From keys to bytes, in every format that has one way to be written. Refuses what the format
//! cannot hold instead of changing it.

use std::io::{self, BufWriter, Write};

use xxhash_rust::xxh3::Xxh3Default;

use crate::format::Format;
use crate::read::{FLAG_TERMINATED, MAGIC, MARKER, is_space, kind, parse_integer, unmarked};
use crate::set::{KeySet, Keys};

/// Bytes an output gets at once.
const BUFFER_BYTES: usize = 64 << 10;

/// What is to be written.
#[derive(Clone, Debug)]
pub struct Target {
    /// The format; `csv` and `jsonl` cannot be written.
    pub format: Format,
    /// Appends a zero byte to each key, counted in its length (`bin-text` and `bin-slice-kv`; ignored
    /// for `bin-text1`, as kvbench does).
    pub terminate: bool,
    /// Writes the 64-bit variant even where 32 bits are enough.
    pub wide: bool,
}

impl Target {
    /// This format, keys as they are, 64 bits only where needed.
    #[must_use]
    pub fn new(format: Format) -> Target {
        Target { format, terminate: false, wide: false }
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Keys.
    pub keys: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Whether it became the 64-bit variant.
    pub wide: bool,
}

/// Why keys could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The output failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A key that this format cannot hold.
    #[error("key {number}: {what}")]
    Key {
        /// From 1.
        number: u64,
        /// Why not.
        what: String,
    },
    /// A format that has no one way to be written.
    #[error("{0} can be read, but not written")]
    ReadOnly(Format),
    /// A zero byte was asked for where there is none.
    #[error("a closing zero byte goes with bin-text and bin-slice-kv only")]
    NoTerminator,
    /// The 64-bit variant was asked for where there is none.
    #[error("the 64-bit variant exists of bin-text, bin-text-kv and bin-slice-kv only")]
    NoWide,
}

/// Writes `keys` to `out`.
///
/// # Errors
/// What the output answers; the first key that the format cannot hold.
pub fn write(
    out: &mut dyn Write,
    keys: &KeySet<'_>,
    target: &Target,
) -> Result<Written, WriteError> {
    let is_records = kind(&target.format).is_some();
    if target.wide && !is_records {
        return Err(WriteError::NoWide);
    }
    // The Cuckoo-Trie project's keys have no zero byte; kvbench ignores the wish there.
    let takes_zero = [Format::BinText, Format::BinText1, Format::BinSliceKv];
    if target.terminate && !takes_zero.contains(&target.format) {
        return Err(WriteError::NoTerminator);
    }
    // Keys are short, and an output is asked for many at once.
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, out);
    let written = formatted(&mut out, keys, target)?;
    out.flush()?;
    Ok(written)
}

fn formatted(
    out: &mut dyn Write,
    keys: &KeySet<'_>,
    target: &Target,
) -> Result<Written, WriteError> {
    let bytes = match &target.format {
        Format::Words | Format::Lines => text(out, keys, &target.format)?,
        Format::Integers | Format::U32 | Format::U64 => integers(out, keys, &target.format)?,
        Format::Csv(_) | Format::JsonLines(_) => {
            return Err(WriteError::ReadOnly(target.format.clone()));
        }
        _ => return records(out, keys, target),
    };
    Ok(Written { keys: keys.len() as u64, bytes, wide: false })
}

fn refuse<T>(at: usize, what: impl Into<String>) -> Result<T, WriteError> {
    Err(WriteError::Key { number: at as u64 + 1, what: what.into() })
}

fn text(out: &mut dyn Write, keys: &KeySet<'_>, format: &Format) -> Result<u64, WriteError> {
    let mut bytes = 0;
    for at in 0..keys.len() {
        let key = keys.key(at);
        let (is_cut, unit) = match format {
            Format::Words => (key.iter().any(|&byte| is_space(byte)), "white space"),
            _ => (key.contains(&b'\n') || key.ends_with(b"\r"), "a line end"),
        };
        if is_cut {
            return refuse(at, format!("holds {unit}, which separates keys in {format}"));
        }
        if at == 0 && unmarked(&key).len() < key.len() {
            return refuse(at, "begins with a byte order mark, which a reader of text takes off");
        }
        out.write_all(&key)?;
        out.write_all(b"\n")?;
        bytes += key.len() as u64 + 1;
    }
    Ok(bytes)
}

fn integers(out: &mut dyn Write, keys: &KeySet<'_>, format: &Format) -> Result<u64, WriteError> {
    let mut bytes = 0;
    for at in 0..keys.len() {
        let number = match &keys.keys {
            Keys::Integers(numbers) => numbers[at],
            Keys::Bytes(_) => match parse_integer(&keys.key(at)) {
                Some(number) => number,
                None => {
                    let bits = if *format == Format::U32 { 32 } else { 64 };
                    return refuse(at, format!("is no whole number of {bits} bits"));
                }
            },
        };
        let length = match format {
            Format::U32 => {
                let Ok(narrow) = u32::try_from(number) else {
                    return refuse(at, format!("{number} has more than 32 bits"));
                };
                out.write_all(&narrow.to_le_bytes())?;
                4
            }
            Format::U64 => {
                out.write_all(&number.to_le_bytes())?;
                8
            }
            _ => {
                let line = format!("{number}\n");
                out.write_all(line.as_bytes())?;
                line.len() as u64
            }
        };
        bytes += length;
    }
    Ok(bytes)
}

fn records(out: &mut dyn Write, keys: &KeySet<'_>, target: &Target) -> Result<Written, WriteError> {
    let format = &target.format;
    let terminate = target.terminate && *format != Format::BinText1;
    let record = Record { keys, with_values: format.has_values(), terminate };
    let (mut body_bytes, mut key_bytes) = (0_u64, 0_u64);
    for at in 0..keys.len() {
        let key = keys.key(at);
        let value = keys.value(at);
        if key.is_empty() {
            return refuse(at, "is empty");
        }
        let length = key.len() as u64 + u64::from(terminate);
        let longest = u64::from(u32::MAX);
        if length > longest {
            return refuse(at, "is longer than 4 GiB");
        }
        if record.with_values && value.len() as u64 > longest {
            return refuse(at, "has a value that is longer than 4 GiB");
        }
        let printable = |bytes: &[u8]| bytes.iter().all(|byte| matches!(byte, 0x20..=0x7e));
        if *format == Format::BinTextKv && !(printable(&key) && printable(value)) {
            let what = if printable(&key) { "has a value that is" } else { "is" };
            return refuse(at, format!("{what} not printable ASCII; bin-slice-kv takes any bytes"));
        }
        key_bytes += length;
        body_bytes += 4 + length;
        if record.with_values {
            body_bytes += 4 + value.len() as u64;
        }
    }
    let count = keys.len() as u64;
    let narrow_is_enough = count < u64::from(MARKER) && 4 + body_bytes <= u64::from(u32::MAX);
    let kind = kind(format);
    let wide = kind.is_some() && (target.wide || !narrow_is_enough);
    let header = match kind {
        Some(kind) if wide => {
            let mut hash = Xxh3Default::new();
            record.each(&mut |bytes| {
                hash.update(bytes);
                Ok(())
            })?;
            let flags = if terminate { FLAG_TERMINATED } else { 0 };
            let [marker, kind, flags] = [MARKER, kind, flags].map(u32::to_le_bytes);
            let mut header = [marker, MAGIC, kind, flags].concat();
            header.extend([count, body_bytes, hash.digest()].map(u64::to_le_bytes).concat());
            header
        }
        Some(_) => (count as u32).to_le_bytes().to_vec(),
        None => [count, key_bytes].map(u64::to_le_bytes).concat(),
    };
    out.write_all(&header)?;
    record.each(&mut |bytes| out.write_all(bytes))?;
    Ok(Written { keys: count, bytes: header.len() as u64 + body_bytes, wide })
}

/// How keys become records.
struct Record<'a> {
    keys: &'a KeySet<'a>,
    with_values: bool,
    terminate: bool,
}

impl Record<'_> {
    /// Hands the bytes of all records to `put`, piece by piece.
    fn each(&self, put: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        for at in 0..self.keys.len() {
            let key = self.keys.key(at);
            let length = key.len() as u32 + u32::from(self.terminate);
            put(&length.to_le_bytes())?;
            if self.with_values {
                put(&(self.keys.value(at).len() as u32).to_le_bytes())?;
            }
            put(&key)?;
            if self.terminate {
                put(&[0])?;
            }
            if self.with_values {
                put(self.keys.value(at))?;
            }
        }
        Ok(())
    }
}
