//! The names of the formats, as `-F` takes them. Reads and writes none.

use std::fmt;
use std::str::FromStr;

/// How keys stand in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// `words`: separated by white space, as C's `isspace` has it; duplicates stay.
    Words,
    /// `lines`: one key a line, spaces included; CR LF ends a line too.
    Lines,
    /// `csv:COLUMN` or `csv:COLUMN:DELIMITER`: a column by name (then the first record is a header)
    /// or by number from 1 (then there is none); RFC 4180.
    Csv(Csv),
    /// `jsonl:FIELD`: the field of the JSON object on each line; `a.b` is field b of object a.
    JsonLines(String),
    /// `integers`: whole numbers in decimal digits, separated by white space.
    Integers,
    /// `u32`: integers of 4 bytes, little-endian.
    U32,
    /// `u64`: integers of 8 bytes, little-endian.
    U64,
    /// `bin-text`: kvbench's format of words, and its checked 64-bit variant.
    BinText,
    /// `bin-text1`: what kvbench's `convert-text1` writes, the Cuckoo-Trie project's format.
    BinText1,
    /// `bin-text-kv`: pairs of printable ASCII, and the 64-bit variant.
    BinTextKv,
    /// `bin-slice-kv`: pairs of any bytes, and the 64-bit variant.
    BinSliceKv,
}

/// A column of delimited text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csv {
    /// Which.
    pub column: Column,
    /// The byte between fields.
    pub delimiter: u8,
}

/// A column, by name or by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// As the header names it.
    Named(String),
    /// From 1; there is no header.
    Number(usize),
}

/// A name that is none of a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no format: words, lines, csv:COLUMN[:DELIMITER], jsonl:FIELD, integers, u32, u64, \
     bin-text, bin-text1, bin-text-kv, bin-slice-kv"
)]
pub struct UnknownFormat(pub String);

impl Format {
    /// Whether it is text, whose places have a line and a column.
    #[must_use]
    pub fn is_text(&self) -> bool {
        match self {
            Format::Words
            | Format::Lines
            | Format::Csv(_)
            | Format::JsonLines(_)
            | Format::Integers => true,
            Format::U32
            | Format::U64
            | Format::BinText
            | Format::BinText1
            | Format::BinTextKv
            | Format::BinSliceKv => false,
        }
    }

    /// Whether it has values.
    #[must_use]
    pub fn has_values(&self) -> bool {
        matches!(self, Format::BinTextKv | Format::BinSliceKv)
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Format, UnknownFormat> {
        let unknown = || UnknownFormat(text.to_owned());
        if let Some(rest) = text.strip_prefix("csv:") {
            return csv(rest).map(Format::Csv).ok_or_else(unknown);
        }
        if let Some(field) = text.strip_prefix("jsonl:") {
            let field = Some(field).filter(|field| field.split('.').all(|part| !part.is_empty()));
            return field.map(|field| Format::JsonLines(field.to_owned())).ok_or_else(unknown);
        }
        Ok(match text {
            "words" => Format::Words,
            "lines" => Format::Lines,
            "integers" => Format::Integers,
            "u32" => Format::U32,
            "u64" => Format::U64,
            "bin-text" => Format::BinText,
            "bin-text1" | "convert-text1" => Format::BinText1,
            "bin-text-kv" => Format::BinTextKv,
            "bin-slice-kv" => Format::BinSliceKv,
            _ => return Err(unknown()),
        })
    }
}

fn csv(rest: &str) -> Option<Csv> {
    let (column, delimiter) = match rest.rsplit_once(':') {
        // A colon may be the delimiter itself.
        Some((column, "")) => (column.strip_suffix(':')?, b':'),
        Some((column, "\\t" | "tab")) => (column, b'\t'),
        Some((column, delimiter)) => match delimiter.as_bytes() {
            [byte] if !matches!(byte, b'"' | b'\n' | b'\r') => (column, *byte),
            _ => return None,
        },
        None => (rest, b','),
    };
    let column = match (column, column.parse()) {
        ("" | "0", _) => return None,
        // As numbers are written: a column can be called 01, or +1.
        (_, Ok(number)) if !column.starts_with(['0', '+']) => Column::Number(number),
        _ => Column::Named(column.to_owned()),
    };
    Some(Csv { column, delimiter })
}

impl fmt::Display for Format {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Format::Words => "words",
            Format::Lines => "lines",
            Format::Integers => "integers",
            Format::U32 => "u32",
            Format::U64 => "u64",
            Format::BinText => "bin-text",
            Format::BinText1 => "bin-text1",
            Format::BinTextKv => "bin-text-kv",
            Format::BinSliceKv => "bin-slice-kv",
            Format::JsonLines(field) => return write!(out, "jsonl:{field}"),
            Format::Csv(Csv { column, delimiter }) => {
                match column {
                    Column::Named(name) => write!(out, "csv:{name}")?,
                    Column::Number(number) => write!(out, "csv:{number}")?,
                }
                let has_colon = matches!(column, Column::Named(name) if name.contains(':'));
                return match delimiter {
                    b',' if !has_colon => Ok(()),
                    b'\t' => write!(out, ":\\t"),
                    byte => write!(out, ":{}", char::from(*byte)),
                };
            }
        };
        out.write_str(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_there_and_back() {
        for name in [
            "words", "lines", "integers", "u32", "u64", "bin-text", "bin-text1", "bin-text-kv",
            "bin-slice-kv", "csv:2", "csv:name", "csv:2:;", "csv:a b:\\t", "csv:1::",
            "csv:user:id:,", "csv:user:::", "csv:01", "jsonl:user.name",
        ] {
            assert_eq!(name.parse::<Format>().unwrap().to_string(), name);
        }
        assert_eq!("convert-text1".parse(), Ok(Format::BinText1));
        for name in [
            "", "text", "csv", "csv:", "csv:0", "csv:1:ab", "csv:1:", "csv::;", "csv:::", "jsonl:",
            "jsonl:a.",
        ] {
            assert!(name.parse::<Format>().is_err(), "{name}");
        }
    }
}
