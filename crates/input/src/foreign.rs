//! What is no text, by its first bytes: so that a message can say what a file is, and how it becomes one.

use crate::utf_16;

/// What [`foreign`] says becomes of a table where none is read, and where it is.
pub const TABLE: &str = match crate::TABLES {
    false => {
        "fathom aggregate of releases and of builds with `--features tables` reads it, and duckdb, polars or pyarrow \
         write it as CSV"
    }
    true => "fathom aggregate reads it",
};

/// Formats, their first bytes, and what to do with them.
const FORMATS: &[(&[u8], &str, &str)] = &[
    (b"ARROW1\0\0", "an Arrow file", TABLE),
    (b"FEA1\0", "a Feather file of version 1", "pandas or pyarrow write it as Arrow or Parquet"),
    (b"PARE\x15", "an encrypted Parquet file", "nothing here has its key"),
    // Only what is decompressed already begins so.
    (b"\x1f\x8b\x08", "compressed twice", "gzip -dc FILE | fathom … - leaves it compressed once"),
    (b"\x28\xb5\x2f\xfd", "compressed twice", "decompress FILE once: what is left is read"),
    (b"\xfd7zXZ\0", "compressed by xz", "xz -dc FILE | fathom … - decompresses it"),
    (b"BZh91AY&SY", "compressed by bzip2", "bzip2 -dc FILE | fathom … - decompresses it"),
    (b"\x04\"M\x18", "compressed by lz4", "lz4 -dc FILE | fathom … - decompresses it"),
    (b"LZIP\x01", "compressed by lzip", "lzip -dc FILE | fathom … - decompresses it"),
    (
        b"PK\x03\x04", "a zip archive or a spreadsheet",
        "unzip -p FILE | fathom … - reads a text in it",
    ),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "7z x -so FILE | fathom … - reads a text in it"),
    (
        b"SQLite format 3\0",
        "an SQLite database",
        "sqlite3 -csv -header FILE 'SELECT …' | fathom … - reads a table",
    ),
    (b"%PDF-", "a PDF document", "it has no records"),
    (b"\x89PNG\r\n\x1a\n", "an image", "it has no records"),
    (b"\x7fELF", "a program", "it has no records"),
];

/// What these first bytes of an input are instead of text, and what to do with it; None for what may
/// be text. No text starts with any of them but by intent.
pub fn foreign(first: &[u8]) -> Option<(&'static str, &'static str)> {
    let known = FORMATS.iter().find(|(magic, ..)| first.starts_with(magic));
    if let Some((_, what, hint)) = known {
        return Some((what, hint));
    }
    if is_parquet(first) {
        return Some(("a Parquet file", TABLE));
    }
    if is_arrow_stream(first) {
        return Some(("an Arrow stream", TABLE));
    }
    let start = first.trim_ascii_start();
    let is_page =
        start.get(..14).is_some_and(|start| start.eq_ignore_ascii_case(b"<!doctype html"));
    is_page.then_some(("a web page", "perhaps the address wanted a login, or was wrong"))
}

/// The same of JSON, which is UTF-8 without a mark in front (RFC 8259, section 8.1).
pub fn no_json(first: &[u8]) -> Option<(&'static str, &'static str)> {
    match first {
        [0xef, 0xbb, 0xbf, ..] => {
            Some(("text behind a byte order mark", "tail -c +4 FILE | fathom … - leaves that out"))
        }
        _ if utf_16(first).is_some() => {
            Some(("UTF-16", "iconv -f UTF-16 -t UTF-8 FILE | fathom … - decodes it"))
        }
        _ => foreign(first),
    }
}

/// Its first page follows, whose header starts so: "PAR1" alone may be a key.
pub(crate) fn is_parquet(first: &[u8]) -> bool {
    let next = first.strip_prefix(b"PAR1").and_then(|rest| rest.first());
    next.is_some_and(|&byte| byte < b'\t' || byte == 0x15)
}

/// A message begins it, whose description has a length.
pub(crate) fn is_arrow_stream(first: &[u8]) -> bool {
    message_length(first).is_some_and(|length| length > 0)
}

/// The length of the description that follows such a beginning of a message in an Arrow stream, if it is one; 0 of
/// the mark at the end. No text has four bytes of 255, and nobody describes a table in 16 MiB.
pub(crate) fn message_length(first: &[u8]) -> Option<u64> {
    let [0xff, 0xff, 0xff, 0xff, length @ ..] = first.first_chunk::<8>()? else { return None };
    let length = u32::from_le_bytes(*length);
    (length % 8 == 0 && length < 1 << 24).then_some(length.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_their_first_bytes_and_text_is_none() {
        for (first, what) in [
            (&b"PAR1\x15\x04\x15"[..], "a Parquet file"),
            (b"FEA1\0\0\0\0", "a Feather file of version 1"),
            (b"PARE\x15\x04\x15", "an encrypted Parquet file"),
            (b"\x1f\x8b\x08\0", "compressed twice"),
            (b"\xfd7zXZ\0\0\x04", "compressed by xz"),
            (b"PK\x03\x04\x14\0", "a zip archive or a spreadsheet"),
            (b"\n<!DOCTYPE html>\n<html", "a web page"),
            (b"ARROW1\0\0\xff", "an Arrow file"),
            (b"\xff\xff\xff\xff\x88\x01\0\0\x10", "an Arrow stream"),
        ] {
            assert_eq!(foreign(first).map(|(what, _)| what), Some(what));
        }
        assert_eq!(foreign(b"\xff\xff\xff\xff;1.0\n"), None, "a name in Latin-1");
        for (first, what) in [
            (&b"\xef\xbb\xbf[]"[..], "text behind a byte order mark"),
            (b"\xff\xfe[\0]\0", "UTF-16"),
            (b"BZh91AY&SYx", "compressed by bzip2"),
        ] {
            assert_eq!(no_json(first).map(|(what, _)| what), Some(what));
        }
        assert_eq!(no_json(b"[]"), None);
        // Which no haversine reads.
        let hint = no_json(b"ARROW1\0\0").map(|(_, hint)| hint);
        assert!(hint.is_some_and(|hint| hint.starts_with("fathom aggregate ")), "{hint:?}");
        for text in ["", "PAR1;2.0\n", "PK;1.0", "BZh9;1.0", "<html>;1.0\n", "%PD", "host,ms\n"] {
            assert_eq!(foreign(text.as_bytes()), None, "{text}");
        }
    }
}
