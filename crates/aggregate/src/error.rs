//! What can go wrong, and where: every error that input can cause carries a position.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

use fathom_machine::os::memory::NoMemory;
use memchr::memchr;

use crate::number::{Decimal, NumberError};

/// Most fields of a record: so that a line of nothing but delimiters does not take all memory.
pub(crate) const MOST_FIELDS: usize = 1 << 20;

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
    /// Delimited text: records have no such column.
    #[error("there is no column {0}")]
    NoColumn(usize),
    /// Delimited text: more or fewer fields than the header, or the first record, has.
    #[error("expected {expected} fields, found {found}")]
    Ragged {
        /// Fields of the header or of the first record.
        expected: usize,
        /// Fields of this record.
        found: usize,
    },
    /// Delimited text: more fields than any record may have.
    #[error("the record has more than {MOST_FIELDS} fields")]
    TooManyFields,
    /// Delimited text: a value is missing where it must not.
    #[error("the value is missing")]
    Missing,
    /// A line of an access log is not in its format.
    #[error("not a line of an access log: expected {0}")]
    AccessLog(&'static str),
    /// A line of JSON is none.
    #[error("not JSON: {}", .0.message())]
    Json(fathom_json::Code),
    /// A line of JSON is something else than an object.
    #[error("the line is no JSON object")]
    NoObject,
    /// A JSON object has a member twice.
    #[error("the member is there twice")]
    Twice,
    /// A member that was asked for is not a value, but has members or elements.
    #[error("an object or an array is no value: name a member or element of it")]
    Nested,
    /// A JSON string has half a surrogate pair, which is no character.
    #[error("the string holds half a surrogate pair")]
    LoneSurrogate,
    /// A field whose buckets are times is none.
    #[error(
        "not a time (RFC 3339, YYYY-MM-DD …, seconds or milliseconds since 1970, or that of access logs)"
    )]
    NoTime,
    /// A field whose buckets are times is a date, perhaps with a clock, or a year without dashes: as seconds or
    /// milliseconds it would be another time.
    #[error(
        "a date is written YYYY-MM-DD [HH:MM:SS]; what counts from 1970 and looks like one, with a fraction (2026.0); years are joined as numbers (year:10)"
    )]
    BareDate,
    /// A number is too large for buckets so small.
    #[error("the number is too large for a bucket of its own")]
    NoBucket,
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

/// Where something stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The file as the user named it; `-` for standard input.
    pub path: PathBuf,
    /// Bytes of (decompressed) input before it.
    pub byte: u64,
    /// The number of the line, from 1.
    pub line: u64,
    /// The number of the character in the line, from 1; a byte that is not UTF-8 counts as one.
    pub column: u64,
}

/// How many there are; a byte that is not UTF-8 counts as one.
pub(crate) fn characters(text: &[u8]) -> u64 {
    let count = |chunk: std::str::Utf8Chunk<'_>| {
        chunk.valid().chars().count() + usize::from(!chunk.invalid().is_empty())
    };
    text.utf8_chunks().map(count).sum::<usize>() as u64
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path.display(), self.line, self.column)
    }
}

/// A field as it stands in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldText {
    /// As the header names it; without one, by its place.
    pub name: String,
    /// Its bytes, without the quotes around them.
    pub text: Vec<u8>,
}

/// A record that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reject {
    /// Where what is wrong stands: the field, if it is one, otherwise the record.
    pub position: Position,
    /// Bytes of (decompressed) input before the record.
    pub record_byte: u64,
    /// Why it was refused.
    pub reason: Reason,
    /// The field that is wrong, if it is one.
    pub field: Option<FieldText>,
    /// Its bytes, without the line end.
    pub text: Vec<u8>,
}

impl Reject {
    /// Whether the field is no number but would be one with a point in the place of its comma.
    pub fn has_decimal_comma(&self) -> bool {
        let Some(FieldText { text, .. }) = &self.field else { return false };
        let Some(comma) = memchr(b',', text) else { return false };
        let mut pointed = text.clone();
        pointed[comma] = b'.';
        self.reason == Reason::Number(NumberError::Malformed)
            && Decimal::parse(pointed.trim_ascii()).is_ok()
    }

    /// What a point makes of a [comma](Reject::has_decimal_comma) that may as well part thousands: `1.234` of `1,234`.
    pub fn pointed_thousands(&self) -> Option<String> {
        let text = &self.field.as_ref()?.text;
        let may_be = may_be_thousands(text) && self.has_decimal_comma();
        may_be.then(|| String::from_utf8_lossy(text).trim().replace(',', "."))
    }

    /// What the field, or the whole record, may be instead of what was expected, and how that is written.
    pub fn hint(&self) -> Option<&'static str> {
        if is_wide(&self.text) {
            return Some(WIDE);
        }
        let text = std::str::from_utf8(&self.field.as_ref()?.text).ok()?.trim();
        match self.reason {
            Reason::NoTime if is_local_date(text) => Some("dates are written YYYY-MM-DD"),
            Reason::Number(NumberError::Malformed) => {
                let bare = text.trim_matches(['%', '$', '€', '£', '¥']).trim();
                if is_grouped(bare) {
                    Some("separators of thousands are not read: write the digits without them")
                } else if bare.len() < text.len() && Decimal::parse(bare.as_bytes()).is_ok() {
                    Some("signs of percent and currencies are not read: write the number alone")
                } else {
                    is_local_date(text).then_some("a date is no number, and is written YYYY-MM-DD")
                }
            }
            _ => None,
        }
    }
}

/// Whether a number with a comma may have it between thousands: `1,234`, not `0,234`.
pub(crate) fn may_be_thousands(text: &[u8]) -> bool {
    let text = std::str::from_utf8(text).unwrap_or_default().trim();
    let Some((whole, rest)) = text.split_once(',') else { return false };
    let digits = whole.trim_start_matches(['-', '+']);
    let is_first = (1..=3).contains(&digits.len()) && !digits.starts_with('0');
    is_first && rest.len() == 3 && rest.bytes().all(|byte| byte.is_ascii_digit())
}

/// What is said of UTF-16 that nothing marks as that.
pub(crate) const WIDE: &str = "this looks like UTF-16 without a byte order mark";

/// Whether every second byte is zero, as in UTF-16 of ASCII cut anywhere.
pub(crate) fn is_wide(text: &[u8]) -> bool {
    let zeros = |first: usize| text.iter().skip(first).step_by(2).all(|&byte| byte == 0);
    // A hole in a file is nothing but zeros.
    text.len() > 2 && zeros(0) != zeros(1)
}

/// Whether these are digits in groups of three, perhaps with a fraction: `1.234,50`, `1 234`; four bytes between points
/// are an address, `192.168.100.200`.
fn is_grouped(text: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_byte = |text: &str| text.parse::<u8>().is_ok();
    let text = text.trim_start_matches(['-', '+']);
    [',', '.', ' ', '\'', '\u{a0}', '\u{202f}'].into_iter().any(|mark| {
        let Some((first, rest)) = text.split_once(mark) else { return false };
        let is_point = |c: char| c != mark && matches!(c, ',' | '.');
        let (rest, fraction) = rest.rsplit_once(is_point).unwrap_or((rest, ""));
        let is_address =
            mark == '.' && text.split(mark).count() == 4 && text.split(mark).all(is_byte);
        (1..=3).contains(&first.len())
            && !is_address
            && digits(first)
            && digits(fraction)
            && rest.split(mark).all(|group| group.len() == 3 && digits(group))
    })
}

/// `01.02.2026`, `1/2/2026`, `2026/02/01`.
fn is_local_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['.', '/']).collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let are_few = |lengths: &[usize]| lengths.iter().all(|length| (1..=2).contains(length));
    parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
        && match lengths[..] {
            [day, month, 4] => are_few(&[day, month]),
            [4, month, day] => are_few(&[month, day]),
            _ => false,
        }
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: ", self.position, self.reason)?;
        match &self.field {
            Some(field) => write!(f, "{} {}", field.name, quoted(&field.text)),
            None => f.write_str(&quoted(&self.text)),
        }
    }
}

/// What is wrong with a record, and where in the bytes it was found in.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) reason: Reason,
    pub(crate) at: usize,
    /// The column, from 0, and the end of the field.
    pub(crate) field: Option<(usize, usize)>,
}

impl Fault {
    pub(crate) fn at(at: usize, reason: Reason) -> Fault {
        Fault { reason, at, field: None }
    }

    /// The same where the bytes stand behind `more` others.
    pub(crate) fn from(self, more: usize) -> Fault {
        let field = self.field.map(|(column, end)| (column, end + more));
        Fault { at: self.at + more, field, ..self }
    }

    pub(crate) fn of(column: usize, field: Range<usize>, reason: Reason) -> Fault {
        Fault { reason, at: field.start, field: Some((column, field.end)) }
    }
}

/// The text quoted for a terminal: control and non-UTF-8 bytes escaped, at most sixty characters.
pub(crate) fn quoted(text: &[u8]) -> String {
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
    #[error("{}: the record at byte {} is longer than {limit_bytes} bytes", .position.path.display(), .position.byte)]
    RecordTooLong {
        /// Where the record starts; the number of its line is not known.
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
    /// Delimited text: a column name that the header, or the format, lacks.
    #[error("{path}: the header has no column {name:?}{hint}; it has: {header}")]
    NoSuchColumn {
        /// The file.
        path: PathBuf,
        /// The name asked for.
        name: String,
        /// The columns there are.
        header: String,
        /// What may be wrong with it.
        hint: String,
    },
    /// Delimited text: a column chosen by its name where there is no header.
    #[error("column {name:?} is chosen by name, and only a header has names")]
    NoHeader {
        /// The name asked for.
        name: String,
    },
    /// Delimited text: the first record is not the header that the first source was guessed to have.
    #[error(
        "{path}:1:1: the first record is not that of the first input, which was taken for a header: {found}; \
         whether each has one is to be said"
    )]
    OtherHeader {
        /// The file.
        path: PathBuf,
        /// Its first record.
        found: String,
    },
    /// The file is no text.
    #[error("{path}: this is {what}, not text: {hint}")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: &'static str,
        /// What to do.
        hint: &'static str,
    },
    /// Lines of JSON: a column chosen by a number.
    #[error("lines of JSON have no column {0}: name its member")]
    NumberedMember(usize),
    /// Access logs: a column name that they lack.
    #[error("an access log has no column {name:?}{hint}; it has: {columns}")]
    NoSuchLogColumn {
        /// The name asked for.
        name: String,
        /// The columns there are.
        columns: String,
        /// What may be wrong with it.
        hint: String,
    },
    /// Delimited text: a column name that the header has twice.
    #[error("{path}: the header has {name:?} twice, as columns {} and {}: choose one by its number",
        .places[0], .places[1])]
    AmbiguousColumn {
        /// The file.
        path: PathBuf,
        /// The name asked for.
        name: String,
        /// The first two columns of this name, from 1.
        places: [usize; 2],
    },
    /// Delimited text: the header itself cannot be read.
    #[error("{position}: the header cannot be read: {reason}{hint}")]
    BadHeader {
        /// Where.
        position: Position,
        /// Why.
        reason: Reason,
        /// What it may be instead.
        hint: &'static str,
    },
    /// The tables would outgrow the limit that was set.
    #[error(
        "the memory limit is reached (bytes: {limit_bytes}, keys of all threads: {keys}); raise it, \
         aggregate by a coarser key, with --approx where quantiles keep many values, or with the \
         command's --spill DIR, which neither states nor comparisons have"
    )]
    MemoryLimit {
        /// The limit in bytes.
        limit_bytes: usize,
        /// Keys held so far, counted once per thread that met them.
        keys: usize,
    },
    /// Of keys that were spilled more are to be held at once than the limit has room for.
    #[error(
        "the first {top} keys do not fit the memory limit (bytes: {limit_bytes}): raise it, or ask for fewer (--top), or for all"
    )]
    TopLimit {
        /// The limit in bytes.
        limit_bytes: usize,
        /// Keys that were asked for.
        top: usize,
    },
    /// What outgrew the limit could not be written, or read back.
    #[error("cannot spill to {folder}: {source}")]
    Spill {
        /// The folder.
        folder: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Spilling keys is of no use here.
    #[error(
        "the values of one key take more than half of the memory limit (bytes: {limit_bytes}): raise it, or --approx, \
         which has no mode"
    )]
    OneKey {
        /// The limit in bytes.
        limit_bytes: usize,
    },
    /// Nor here.
    #[error(
        "what one thread knows of all keys takes more than it may of the memory limit (bytes: {most_bytes}): raise that, \
         take fewer threads, or --approx, which has no mode"
    )]
    Total {
        /// What it may take, in bytes.
        most_bytes: usize,
    },
    /// A thread that reads what was spilled could not be started.
    #[error("cannot start a thread: {0}")]
    Thread(#[source] io::Error),
    /// The system refused memory for tables.
    #[error(transparent)]
    NoMemory(#[from] NoMemory),
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

impl Error {
    /// Does what makes tables and lists; that memory was [refused](NoMemory::caught) is an error as any other.
    pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        NoMemory::caught(work).unwrap_or_else(|refused| Err(refused.into()))
    }
}

/// A file and a byte in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BytePosition {
    /// The file.
    pub path: PathBuf,
    /// Bytes before the position.
    pub byte: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offending_text_is_shortened_and_escaped() {
        assert_eq!(quoted(b"a;b"), "\"a;b\"");
        assert_eq!(quoted(b"a\t\xff\x1b"), "\"a\\t\\xff\\u{1b}\"");
        let long = quoted(&[b'x'; 1000]);
        assert!(long.len() < 90 && long.ends_with("… (1000 bytes)"), "{long}");
    }

    #[test]
    fn a_record_that_is_too_long_is_told_with_its_byte_and_no_line() {
        let position = BytePosition { path: "in.txt".into(), byte: 17 };
        let error = Error::RecordTooLong { position, limit_bytes: 1000 };
        let said = "in.txt: the record at byte 17 is longer than 1000 bytes";
        assert_eq!(error.to_string(), said);
    }

    #[test]
    fn a_reject_reads_path_line_column_reason_and_what_is_wrong() {
        let mut reject = Reject {
            position: Position { path: "in.txt".into(), byte: 17, line: 3, column: 1 },
            record_byte: 17,
            reason: Reason::NoDelimiter,
            field: None,
            text: b"oops".to_vec(),
        };
        assert_eq!(reject.to_string(), "in.txt:3:1: there is no delimiter: \"oops\"");
        reject.field = Some(FieldText { name: "ms".into(), text: b"ps".to_vec() });
        assert_eq!(reject.to_string(), "in.txt:3:1: there is no delimiter: ms \"ps\"");
        reject.reason = Reason::Number(NumberError::Malformed);
        for text in ["1,5", "-0,05e3", "1,5,0", "1.234,5", "1.5", "a,b"] {
            let expected = ["1,5", "-0,05e3"].contains(&text);
            reject.field = Some(FieldText { name: "ms".into(), text: text.into() });
            assert_eq!(reject.has_decimal_comma(), expected, "{text}");
        }
        for text in ["-1,234", "1,23", "0,125", "1234,567", "1,234.5", "1,5e3"] {
            let expected = (text == "-1,234").then_some("-1.234");
            reject.field = Some(FieldText { name: "ms".into(), text: text.into() });
            assert_eq!(reject.pointed_thousands().as_deref(), expected, "{text}");
        }
        let thousands =
            ["1.234,50", "-1,234.50", "1 234", "1.234.567,5", "$1,234", "1.234.567.890"];
        let others = [("12%", "percent"), ("12.5 €", "percent")];
        let dates = [("01.02.2026", "YYYY-MM-DD"), ("2026/2/1", "YYYY-MM-DD")];
        let none = ["1.2.3", "1,23,456", "192.168.100.200", "x%", ""].map(|text| (text, ""));
        let hints = thousands.map(|text| (text, "thousands")).into_iter();
        for (text, hint) in hints.chain(others).chain(dates).chain(none) {
            reject.field = Some(FieldText { name: "ms".into(), text: text.into() });
            let said = reject.hint().unwrap_or_default();
            assert!(said.contains(hint) && said.is_empty() == hint.is_empty(), "{text}: {said}");
            // A number with a point is refused where there are decimal commas.
            assert!(!said.contains('.'), "{text}: {said}");
        }
        (reject.field, reject.text) = (None, b"\0k\0;\x001".to_vec());
        assert_eq!(reject.hint(), Some(WIDE));
        reject.text = vec![0; 4];
        assert_eq!(reject.hint(), None, "a hole");
    }
}
