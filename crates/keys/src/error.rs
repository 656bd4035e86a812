//! What can be wrong with a file of keys, and where. Quotes at most a few bytes of it.

use fathom_json::Code;

/// Why the keys of a file cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Something is wrong at one place.
    #[error("byte {offset}: {reason}")]
    Bad {
        /// Bytes before the one at fault.
        offset: u64,
        /// What is wrong.
        reason: Reason,
    },
    /// No format was named and none fits.
    #[error("no format fits: {0}; name one with -F")]
    Unrecognised(String),
    /// What describes the keys does not fit in memory.
    #[error("no memory for the places of {0} keys")]
    Memory(usize),
    /// There is nothing in it.
    #[error("byte 0: the file is empty")]
    Empty,
}

/// What is wrong at one place of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The file ends inside a header.
    #[error("the header has {wanted} bytes, the file has {left} from here")]
    ShortHeader {
        /// Bytes a header has.
        wanted: u64,
        /// Bytes there are.
        left: u64,
    },
    /// The file ends before a record that its count promised, or inside its lengths.
    #[error("the file ends where record {record} of {count} should begin or go on")]
    MissingRecord {
        /// From 1.
        record: u64,
        /// What the header says.
        count: u64,
    },
    /// A length reaches past the end.
    #[error(
        "a {what} of {} with {} left (record {record} of {count})",
        counted(*wanted, "byte"), counted(*left, "byte")
    )]
    PastEnd {
        /// Key or value.
        what: &'static str,
        /// What the length says.
        wanted: u64,
        /// Bytes there are.
        left: u64,
        /// From 1.
        record: u64,
        /// What the header says.
        count: u64,
    },
    /// Bytes after the last record.
    #[error("{} after the last record", counted(*.0, "byte"))]
    Trailing(u64),
    /// A key without a byte.
    #[error("an empty key (record {0})")]
    EmptyKey(u64),
    /// A byte that a text format does not allow.
    #[error("byte 0x{0:02x} in a format of printable ASCII; bin-slice-kv takes any byte")]
    NotPrintable(u8),
    /// The sum of lengths in the header is not that of the records.
    #[error("the header says {said} bytes of keys, the records have {found}")]
    WrongSum {
        /// In the header.
        said: u64,
        /// In the records.
        found: u64,
    },
    /// The marker of the 64-bit variant is followed by something else.
    #[error("the marker of the 64-bit variant without its \"FKV1\"")]
    BadMagic,
    /// Another kind of file than the one asked for.
    #[error("this is a 64-bit file of kind {found}, expected {expected}")]
    WrongKind {
        /// In the header.
        found: u32,
        /// What the format says.
        expected: u32,
    },
    /// Flags that this version does not know.
    #[error("unknown flags 0x{0:x}")]
    UnknownFlags(u32),
    /// The length in the header is not that of the file.
    #[error("the header says that {said} bytes follow, {found} do")]
    WrongLength {
        /// In the header.
        said: u64,
        /// In the file.
        found: u64,
    },
    /// The checksum in the header is not that of the records.
    #[error("checksum {found:016x}, the header says {said:016x}")]
    WrongChecksum {
        /// In the header.
        said: u64,
        /// Of the records.
        found: u64,
    },
    /// The header says that every key ends with a zero byte.
    #[error("a key without the closing zero byte the header promises (record {0})")]
    NotTerminated(u64),
    /// Something else than a whole number of 64 bits.
    #[error("{:?} is no whole number from 0 to 18446744073709551615{}", .0, zeros(.0))]
    NotAnInteger(String),
    /// The size of a file of binary integers is not a multiple of theirs.
    #[error("{} left over: integers here have {} each", counted(*left, "byte"), counted(*width, "byte"))]
    OddBytes {
        /// Bytes of one integer.
        width: u64,
        /// Bytes after the last one.
        left: u64,
    },
    /// The header of a CSV file names the column twice.
    #[error("the header has {0:?} twice: rename one (a number says that there is no header)")]
    TwoColumns(String),
    /// The header of a CSV file does not name the column.
    #[error("no column {0:?} in the header")]
    NoColumn(String),
    /// A record of a CSV file has fewer fields.
    #[error("record {record} has {}, the key is in field {wanted}", counted(*fields, "field"))]
    FewFields {
        /// From 1.
        record: u64,
        /// Fields it has.
        fields: u64,
        /// The field of the key, from 1.
        wanted: u64,
    },
    /// A quote where RFC 4180 has none.
    #[error("a quotation mark inside an unquoted field, or text after a closing one")]
    StrayQuote,
    /// A quoted field that is never closed.
    #[error("this quoted field is never closed")]
    OpenQuote,
    /// A line that is no JSON.
    #[error("not JSON: {0}")]
    Json(Code),
    /// A line of JSON that is no object, or has the field not or twice.
    #[error("{what}")]
    Field {
        /// From 1.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
    /// A key of 4 GiB or more.
    #[error("a key of 4 GiB or more")]
    TooLong,
}

/// A list that says so when it cannot grow.
pub(crate) trait Grow<T> {
    fn grow(&mut self, item: T) -> Result<(), Error>;
}

impl<T> Grow<T> for Vec<T> {
    fn grow(&mut self, item: T) -> Result<(), Error> {
        if self.len() == self.capacity() {
            let more = self.len().max(64);
            self.try_reserve(more).map_err(|_| Error::Memory(self.len() + more))?;
        }
        self.push(item);
        Ok(())
    }
}

/// So many of something: `1 byte`, `2 bytes`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Why digits are none: two keys would be one integer.
pub(crate) fn zeros(text: &str) -> &'static str {
    let is_padded =
        text.len() > 1 && text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit());
    if is_padded { " without zeros before it" } else { "" }
}

pub(crate) fn bad(offset: usize, reason: Reason) -> Error {
    Error::Bad { offset: offset as u64, reason }
}
