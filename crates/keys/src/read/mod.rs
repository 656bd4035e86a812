//! From bytes to keys: one file per format family. Guesses only in [`detect`], and only where the
//! whole file agrees with the guess.

mod binary;
mod csv;
mod json_lines;
mod text;

use std::borrow::Cow;

use crate::error::Error;
use crate::format::{Column, Csv, Format};
use crate::set::{KeySet, Keys};

pub(crate) use binary::{FLAG_TERMINATED, MAGIC, MARKER, kind};
pub(crate) use text::{is_space, line_ends, parse_integer, unmarked};

/// The keys of `bytes` in `format`; a byte order mark before text is none of them.
///
/// # Errors
/// What is wrong, with the offset.
pub fn read<'b>(bytes: &'b [u8], format: &Format) -> Result<KeySet<'b>, Error> {
    let records = if format.is_text() { text::unmarked(bytes) } else { bytes };
    let marked = (bytes.len() - records.len()) as u64;
    parsed(records, format).map_err(|error| match error {
        Error::Bad { offset, reason } => Error::Bad { offset: offset + marked, reason },
        other => other,
    })
}

fn parsed<'b>(bytes: &'b [u8], format: &Format) -> Result<KeySet<'b>, Error> {
    let borrowed = |keys| KeySet { bytes: Cow::Borrowed(bytes), keys, values: None };
    Ok(match format {
        Format::Words => borrowed(Keys::Bytes(text::words(bytes)?)),
        Format::Lines => borrowed(Keys::Bytes(text::lines(bytes)?)),
        Format::Integers => borrowed(Keys::Integers(text::integers(bytes)?)),
        Format::U32 => borrowed(Keys::Integers(binary::integers::<4>(bytes)?)),
        Format::U64 => borrowed(Keys::Integers(binary::integers::<8>(bytes)?)),
        Format::Csv(csv) => csv::column(bytes, csv)?,
        Format::JsonLines(field) => json_lines::field(bytes, field)?,
        Format::BinText | Format::BinText1 | Format::BinTextKv | Format::BinSliceKv => {
            binary::records(bytes, format)?
        }
    })
}

/// The format of `bytes`, where they tell: kvbench's files by their structure, integers and words
/// by every one of their bytes. CSV columns, JSON lines and binary integers must be named.
///
/// # Errors
/// Nothing fits; says what came nearest.
pub fn detect(bytes: &[u8]) -> Result<Format, Error> {
    if bytes.is_empty() {
        return Err(Error::Empty);
    }
    let mut nearest = None;
    let mut formats =
        vec![Format::BinText, Format::BinText1, Format::BinTextKv, Format::BinSliceKv];
    // What says itself of which kind it is, is of no other.
    if let Some(kind) = binary::wide_kind(bytes)
        && let Some(format) = formats.iter().find(|format| binary::kind(format) == Some(kind))
    {
        formats = vec![format.clone()];
    }
    for format in formats {
        match binary::check(bytes, &format) {
            Ok(()) => return Ok(format),
            Err(error) => {
                let reached = match error {
                    Error::Bad { offset, .. } => offset,
                    _ => 0,
                };
                if nearest.as_ref().is_none_or(|&(best, _)| reached > best) {
                    nearest = Some((reached, format!("as {format}, {error}")));
                }
            }
        }
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(Error::Unrecognised(
            "it is UTF-16 by its mark (iconv -f UTF-16 -t UTF-8)".into(),
        ));
    }
    if let Some(at) = memchr::memchr(0, bytes) {
        let why = match nearest {
            Some((16.., why)) => why,
            _ => format!("zero at byte {at}, so no text (binary integers: u32 or u64)"),
        };
        return Err(Error::Unrecognised(why));
    }
    let bytes = text::unmarked(bytes);
    let first = bytes.iter().copied().find(|&byte| !is_space(byte));
    if first == Some(b'{') && json_lines::looks_like(bytes) {
        return Err(Error::Unrecognised(
            "JSON lines need the field of the key, jsonl:FIELD".into(),
        ));
    }
    if matches!(first, Some(b'{' | b'[')) && fathom_json::validate(bytes).is_ok() {
        return Err(Error::Unrecognised(
            "it is one JSON document: write its keys a line each (jq -r '.[]'), or take it as words or lines".into(),
        ));
    }
    if let Some((header, delimiter)) = text::table(bytes) {
        let csv = |column| Format::Csv(Csv { column, delimiter });
        let shown = String::from_utf8_lossy(&header[..header.len().min(80)]).into_owned();
        let name = header.split(|&byte| byte == delimiter).next().unwrap_or_default();
        let name = std::str::from_utf8(name).unwrap_or_default().trim_matches('"');
        let named = csv(Column::Named(name.to_owned()));
        // What is empty, or reads as a number, names no column.
        let by_name = match named.to_string().parse() == Ok(named.clone()) {
            true => in_a_shell(named) + " or ",
            false => String::new(),
        };
        return Err(Error::Unrecognised(format!(
            "it looks like a table that begins with {shown:?}; name the column, {by_name}{} without a \
             header, or take it as words or lines",
            in_a_shell(csv(Column::Number(1))),
        )));
    }
    match first {
        None => Err(Error::Unrecognised("nothing but white space".into())),
        Some(_) if text::all_integers(bytes) => Ok(Format::Integers),
        Some(_) => Ok(Format::Words),
    }
}

/// The name of a format in quotes where a shell would take some of it for more than itself.
fn in_a_shell(format: Format) -> String {
    let name = format.to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=,:@%".contains(c);
    match name.chars().all(is_plain) {
        true => name,
        false => format!("'{}'", name.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error was that of whichever format had read farthest.
    #[test]
    fn a_file_that_says_its_kind_has_the_error_of_that_kind() {
        let mut file = [&u32::MAX.to_le_bytes()[..], b"FKV1", &[1, 0, 0, 0, 0, 0, 0, 0]].concat();
        file.extend([300_u64, 3000, 7].map(u64::to_le_bytes).concat());
        file.extend([3; 3000]);
        let said = detect(&file).unwrap_err().to_string();
        assert!(said.contains("as bin-text, byte 32: checksum"), "{said}");
        file.pop();
        let said = detect(&file).unwrap_err().to_string();
        assert!(said.contains("as bin-text, byte 24: the header says that 3000 bytes"), "{said}");
        let said = detect(b"\xff\xfea\0b\0\n\0").unwrap_err().to_string();
        assert!(said.contains("UTF-16 by its mark"), "{said}");
    }

    /// With a blank line at its end it was words, and was refused as a column.
    #[test]
    fn blank_lines_at_the_end_of_a_table_are_no_records() {
        for end in ["", "\n", "\n\n\r\n"] {
            let table = format!("id,name\n1,Jo\n2,Al{end}");
            let said = detect(table.as_bytes()).unwrap_err().to_string();
            assert!(said.contains("it looks like a table"), "{said}");
            let keys = read(table.as_bytes(), &"csv:id".parse().unwrap()).unwrap();
            assert_eq!((keys.len(), &*keys.key(1)), (2, &b"2"[..]));
        }
        assert!(read(b"id\n1\n\n2\n", &"csv:id".parse().unwrap()).is_err());
    }

    /// One was a record with an empty key.
    #[test]
    fn blank_lines_within_a_table_of_several_columns_are_no_records() {
        for (table, column) in [
            ("id,name\n\n1,Jo\n\r\n\n2,Al\n", "csv:id"),
            ("Jo,1\n\nAl,2\n", "csv:2"),
            ("1,Jo\r\n\r\n2,\r\n", "csv:1"),
        ] {
            let keys = read(table.as_bytes(), &column.parse().unwrap()).unwrap();
            assert_eq!([keys.key(0), keys.key(1)].map(|key| key.to_vec()), [b"1", b"2"], "{table}");
            assert_eq!(keys.len(), 2, "{table}");
        }
        for table in ["id,name\n\"\",Jo\n", "id,name\n\"\"\n", "id,name\n,Jo\n", "\n1,Jo\n"] {
            let said = read(table.as_bytes(), &"csv:1".parse().unwrap()).unwrap_err().to_string();
            assert!(said.contains("an empty key"), "{table}: {said}");
        }
    }

    /// Its brackets and quotes were keys.
    #[test]
    fn a_json_document_was_words() {
        for document in ["{\n  \"keys\": [\"a\", \"b\"]\n}\n", "[\"a\", \"b\"]", "\n[\n1,\n2\n]\n"]
        {
            let said = detect(document.as_bytes()).unwrap_err().to_string();
            assert!(said.contains("it is one JSON document"), "{said}");
        }
        for words in ["[::1]\n[::2]\n", "{a} {b}\n", "[a\n"] {
            assert_eq!(detect(words.as_bytes()), Ok(Format::Words), "{words}");
        }
    }

    #[test]
    fn the_advice_for_a_table_was_two_commands_in_a_shell() {
        let advice = |table: &str| detect(table.as_bytes()).unwrap_err().to_string();
        let said = advice("id;name\n1;Jo\n2;Al\n");
        assert!(said.contains("name the column, 'csv:id:;' or 'csv:1:;' without"), "{said}");
        let said = advice("id,name\n1,Jo\n2,Al\n");
        assert!(said.contains("name the column, csv:id or csv:1 without"), "{said}");
        // These names were none, or a number's.
        for table in [",a\n1,2\n3,4\n", "5,foo\n6,bar\n", "2020,2021\n1,2\n"] {
            let said = advice(table);
            assert!(said.contains("name the column, csv:1 without"), "{said}");
        }
        // Of a long name there was a part, and of one that is no UTF-8 another one.
        let long = "x".repeat(100);
        let said = advice(&format!("{long},b\n1,2\n"));
        assert!(said.contains(&format!("csv:{long} or csv:1 without")), "{said}");
        let said = detect(b"n\xe9,b\n1,2\n3,4\n").unwrap_err().to_string();
        assert!(said.contains("name the column, csv:1 without"), "{said}");
        assert_eq!(in_a_shell("csv:a'b".parse().unwrap()), r"'csv:a'\''b'");
    }
}
