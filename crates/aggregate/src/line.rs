//! `key;value` lines one at a time: the exact parser of what the hot loop leaves over.
//!
//! A value that is missing (`key;`) is a mistake here: the form has one value a line and nothing to
//! say that there is none. Delimited text has.

use memchr::memchr;

use crate::error::{Fault, Reason};
use crate::number::Decimal;

/// The byte between key and value.
pub(crate) const DELIMITER: u8 = b';';

/// Names of the fields, for messages.
pub(crate) const FIELDS: [&str; 2] = ["key", "value"];

/// Splits one line, without its newline, into key and value; `None` is a blank line.
///
/// # Errors
/// Why it is no record, and where.
pub(crate) fn record(line: &[u8]) -> Result<Option<(&[u8], Decimal)>, Fault> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() {
        return Ok(None);
    }
    let at = memchr(DELIMITER, line).ok_or(Fault::at(0, Reason::NoDelimiter))?;
    let (key, value) = (&line[..at], &line[at + 1..]);
    if let Some(second) = memchr(DELIMITER, value) {
        return Err(Fault::at(at + 1 + second, Reason::ManyDelimiters));
    }
    if key.is_empty() {
        return Err(Fault::of(0, 0..0, Reason::EmptyKey));
    }
    let value_at = at + 1..line.len();
    let value = Decimal::parse(value).map_err(|why| Fault::of(1, value_at, why.into()))?;
    Ok(Some((key, value)))
}
