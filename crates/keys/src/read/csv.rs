//! A column of delimited text (RFC 4180). Lines may end with LF alone, the last one with nothing or CR; blank ones at
//! the end are none, nor are others behind a record of several fields; records may have different numbers of fields, as long as the key's is there, and a CR within an
//! unquoted field belongs to it.
//! A quote where the RFC has none is an error of its byte. Keys are spans of the file, unless one holds a doubled
//! quote: then all are copied.

use std::borrow::Cow;

use super::text::{span, without_blank_lines};
use crate::error::{Error, Grow, Reason, bad};
use crate::format::{Column, Csv};
use crate::set::{KeySet, Keys, Span};

/// One field: its place without the quotes, whether quotes in it are doubled, and how it ends.
struct Field {
    start: usize,
    end: usize,
    doubled: bool,
    /// Offset of what follows its delimiter or line end.
    next: usize,
    ends_record: bool,
}

pub(super) fn column<'b>(bytes: &'b [u8], csv: &Csv) -> Result<KeySet<'b>, Error> {
    let mut at = 0;
    // The most fields that a record had so far.
    let mut columns = 0;
    let wanted = match &csv.column {
        Column::Number(number) => number - 1,
        Column::Named(name) => {
            let (wanted, fields) = named(bytes, &mut at, name, csv.delimiter)?;
            columns = fields;
            wanted
        }
    };
    let mut found = Vec::new();
    let mut any_doubled = false;
    let mut record = 0;
    let end = without_blank_lines(bytes).len();
    while at < end {
        record += 1;
        let start_of_record = at;
        let mut key = None;
        let mut fields = 0;
        loop {
            let field = field(bytes, at, csv.delimiter)?;
            at = field.next;
            let ends = field.ends_record;
            if fields == wanted {
                any_doubled |= field.doubled;
                key = Some(field);
            }
            fields += 1;
            if ends {
                break;
            }
        }
        let is_blank = matches!(&bytes[start_of_record..at], b"\n" | b"\r\n");
        if is_blank && fields == 1 && columns > 1 {
            record -= 1;
            continue;
        }
        columns = columns.max(fields);
        let few = Reason::FewFields { record, fields: fields as u64, wanted: wanted as u64 + 1 };
        let key = key.ok_or_else(|| bad(start_of_record, few))?;
        if key.start == key.end {
            return Err(bad(key.start, Reason::EmptyKey(record)));
        }
        found.grow(span(key.start, key.end)?)?;
    }
    Ok(match any_doubled {
        false => KeySet { bytes: Cow::Borrowed(bytes), keys: Keys::Bytes(found), values: None },
        true => undoubled(bytes, &found)?,
    })
}

/// The number of the column in the header, which is passed over, and how many that has.
fn named(bytes: &[u8], at: &mut usize, name: &str, delimiter: u8) -> Result<(usize, usize), Error> {
    let start = *at;
    let mut number = None;
    let mut fields = 0;
    while *at < bytes.len() || fields == 0 {
        let field = field(bytes, *at, delimiter)?;
        *at = field.next;
        let text = String::from_utf8_lossy(&bytes[field.start..field.end]).replace("\"\"", "\"");
        if text == name && number.replace(fields).is_some() {
            return Err(bad(field.start, Reason::TwoColumns(text)));
        }
        fields += 1;
        if field.ends_record {
            break;
        }
    }
    let number = number.ok_or_else(|| bad(start, Reason::NoColumn(name.to_owned())))?;
    Ok((number, fields))
}

fn field(bytes: &[u8], start: usize, delimiter: u8) -> Result<Field, Error> {
    if bytes.get(start) == Some(&b'"') {
        return quoted(bytes, start + 1, delimiter);
    }
    let rest = &bytes[start..];
    let length = memchr::memchr3(delimiter, b'\n', b'"', rest).unwrap_or(rest.len());
    let end = start + length;
    if bytes.get(end) == Some(&b'"') {
        return Err(bad(end, Reason::StrayQuote));
    }
    let ends_record = bytes.get(end) != Some(&delimiter);
    let text_end = match end > start && ends_record && bytes[end - 1] == b'\r' {
        true => end - 1,
        false => end,
    };
    let next = (end + 1).min(bytes.len());
    // A delimiter as the last byte of the file is followed by one more, empty field.
    Ok(Field { start, end: text_end, doubled: false, next, ends_record })
}

fn quoted(bytes: &[u8], start: usize, delimiter: u8) -> Result<Field, Error> {
    let mut at = start;
    let mut doubled = false;
    let end = loop {
        let found = memchr::memchr(b'"', &bytes[at..]);
        let quote = at + found.ok_or_else(|| bad(start - 1, Reason::OpenQuote))?;
        if bytes.get(quote + 1) != Some(&b'"') {
            break quote;
        }
        doubled = true;
        at = quote + 2;
    };
    let (next, ends_record) = match &bytes[end + 1..] {
        [] | [b'\r'] => (bytes.len(), true),
        [b'\n', ..] => (end + 2, true),
        [b'\r', b'\n', ..] => (end + 3, true),
        [byte, ..] if *byte == delimiter => (end + 2, false),
        _ => return Err(bad(end + 1, Reason::StrayQuote)),
    };
    Ok(Field { start, end, doubled, next, ends_record })
}

fn undoubled(bytes: &[u8], found: &[Span]) -> Result<KeySet<'static>, Error> {
    let (mut copies, mut spans) = (Vec::new(), Vec::new());
    // One copy of all that is kept, which is no longer than it was.
    let kept = found.iter().map(|span| span.len as usize).sum();
    copies.try_reserve_exact(kept).map_err(|_| Error::Memory(found.len()))?;
    for span in found {
        let start = copies.len();
        let mut rest = span.of(bytes);
        // A quote of an unquoted field never got here; in a quoted one they come in pairs.
        while let Some(at) = memchr::memchr(b'"', rest) {
            copies.extend_from_slice(&rest[..=at]);
            rest = &rest[at + 2..];
        }
        copies.extend_from_slice(rest);
        spans.grow(Span { start: start as u64, len: (copies.len() - start) as u32 })?;
    }
    Ok(KeySet { bytes: Cow::Owned(copies), keys: Keys::Bytes(spans), values: None })
}
