//! What can go wrong, and where: every error that input can cause carries a position.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::number::NumberError;

/// Why one record was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// No delimiter in the record.
    #[error("there is no delimiter")]
    NoDelimiter,
    /// Two delimiters or more where a record has one; a key cannot contain it unquoted.
    #[error("there is more than one delimiter")]
    ManyDelimiters,
    /// Nothing before the delimiter.
    #[error("the key is empty")]
    EmptyKey,
    /// The value is not a number.
    #[error(transparent)]
    Number(#[from] NumberError),
    /// Delimited text: the record ends before a column that was asked for.
    #[error("there is no column {0}")]
    NoColumn(usize),
    /// Delimited text: a quoted field is followed by something other than a delimiter.
    #[error("text follows a closing quote")]
    AfterQuote,
    /// Delimited text: a quote stands inside a field that does not start with one.
    #[error("a quote stands inside an unquoted field")]
    StrayQuote,
    /// Delimited text: the input ends inside a quoted field.
    #[error("a quote is never closed")]
    OpenQuote,
}

/// Where a record stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The file as the user named it; `-` for standard input.
    pub path: PathBuf,
    /// Bytes of (decompressed) input before the record.
    pub byte: u64,
    /// Number of the record's line, from 1.
    pub record: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path.display(), self.byte, self.record)
    }
}

/// A record that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reject {
    /// Where it stands.
    pub position: Position,
    /// Why it was refused.
    pub reason: Reason,
    /// Its bytes, without the line end.
    pub text: Vec<u8>,
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.position, self.reason, shortened(&self.text))
    }
}

/// The text quoted for a terminal: control and non-UTF-8 bytes escaped, at most sixty characters.
fn shortened(text: &[u8]) -> String {
    const MOST: usize = 60;
    let cut = &text[..text.len().min(MOST)];
    let mut shown = String::from("\"");
    for chunk in cut.utf8_chunks() {
        shown.extend(chunk.valid().chars().flat_map(char::escape_debug));
        for byte in chunk.invalid() {
            shown.push_str(&format!("\\x{byte:02x}"));
        }
    }
    shown.push('"');
    if text.len() > MOST {
        shown.push_str(&format!("… ({} bytes)", text.len()));
    }
    shown
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A record was refused and the policy is to stop at the first.
    #[error("{0}")]
    Record(Box<Reject>),
    /// A record is longer than the engine holds at once.
    #[error("{position}: the record is longer than {limit_bytes} bytes")]
    RecordTooLong {
        /// Where the record starts; the number of the record is not known.
        position: BytePosition,
        /// The limit in bytes.
        limit_bytes: usize,
    },
    /// A file became shorter while it was read.
    #[error("{path}: the file shrank while it was read: it had {expected_bytes} bytes")]
    Shrunk {
        /// The file.
        path: PathBuf,
        /// Its size in bytes when it was opened.
        expected_bytes: u64,
    },
    /// The operating system, or the decompressor, refused to read on.
    #[error("{path}: cannot read at byte {byte}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Bytes of (decompressed) input read before.
        byte: u64,
        /// What it said.
        source: io::Error,
    },
    /// The sum of one key's values does not fit 38 digits.
    #[error("the sum of key {key} exceeds 38 digits at scale {scale}")]
    SumOverflow {
        /// The key, quoted for a terminal.
        key: String,
        /// Digits after the decimal point in the common scale.
        scale: u8,
    },
    /// Delimited text: a column name that the header lacks.
    #[error("{path}: the header has no column {name:?}; it has: {header}")]
    NoSuchColumn {
        /// The file.
        path: PathBuf,
        /// The name asked for.
        name: String,
        /// The columns there are.
        header: String,
    },
    /// Delimited text: the header itself cannot be read.
    #[error("{path}:0:1: the header cannot be read: {reason}")]
    BadHeader {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: Reason,
    },
    /// The tables would outgrow the limit that was set.
    #[error(
        "the memory limit of {limit_bytes} bytes is reached with {keys} keys; raise the limit or \
         aggregate by a coarser key"
    )]
    MemoryLimit {
        /// The limit in bytes.
        limit_bytes: usize,
        /// Keys held so far, counted once per thread that met them.
        keys: usize,
    },
    /// A table cannot number more keys.
    #[error("one thread met more than {most} keys; aggregate by a coarser key")]
    TooManyKeys {
        /// Keys it can hold.
        most: usize,
    },
    /// Refused records could not be written where they were to be kept.
    #[error("cannot write rejected records: {0}")]
    Rejects(#[source] io::Error),
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// A file and a byte in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BytePosition {
    /// The file.
    pub path: PathBuf,
    /// Bytes before the position.
    pub byte: u64,
}

impl fmt::Display for BytePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.byte)
    }
}

/// A key quoted for a terminal.
pub(crate) fn quoted(key: &[u8]) -> String {
    shortened(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offending_text_is_shortened_and_escaped() {
        assert_eq!(shortened(b"a;b"), "\"a;b\"");
        assert_eq!(shortened(b"a\t\xff\x1b"), "\"a\\t\\xff\\u{1b}\"");
        let long = shortened(&[b'x'; 1000]);
        assert!(long.len() < 90 && long.ends_with("… (1000 bytes)"), "{long}");
    }

    #[test]
    fn a_reject_reads_path_byte_record_reason() {
        let reject = Reject {
            position: Position { path: "in.txt".into(), byte: 17, record: 3 },
            reason: Reason::NoDelimiter,
            text: b"oops".to_vec(),
        };
        assert_eq!(reject.to_string(), "in.txt:17:3: there is no delimiter: \"oops\"");
    }
}
