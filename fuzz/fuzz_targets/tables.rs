//! Any bytes as a Parquet or Arrow file: rows or an error, the same on any number of threads; every row has as many
//! fields as the header, and a column alone is what it is among the others. The first byte chooses; the rest is
//! the file.
#![no_main]

use std::io::{self, Read};

use fathom_input::table;
use fathom_machine::os::read_at::ReadAt;
use libfuzzer_sys::fuzz_target;

/// Of what has more text only the beginning is compared: some bytes can be a table without end.
const MOST_BYTES: u64 = 1 << 20;

fuzz_target!(|data: &[u8]| {
    let [choice, file @ ..] = data else { return };
    let whole = text(file, None, 1);
    let threads = usize::from(choice % 3) + 2;
    assert_eq!(text(file, None, threads), whole);
    let (text_of_all, is_whole) = match whole {
        Some((text, None)) => (text, true),
        Some((text, Some(_))) => (text, false),
        None => return,
    };
    let is_cut = text_of_all.len() as u64 == MOST_BYTES;
    let rows = rows(&text_of_all);
    let Some((header, rows)) = rows.split_first() else { return };
    let rows = &rows[..rows.len() - usize::from(is_cut && !rows.is_empty())];
    assert!(rows.iter().all(|row| row.len() == header.len()), "a field too few or too many");
    let Some(place) = usize::from(choice / 3).checked_rem(header.len()) else { return };
    let Ok(name) = str::from_utf8(&header[place]) else { return };
    if header.iter().filter(|other| **other == header[place]).count() > 1 || is_cut {
        return;
    }
    // An error of another column is none of this one.
    let Some((text_of_one, error)) = text(file, Some(name), 1) else { panic!("no table any more") };
    if is_whole {
        assert_eq!(error, None);
        let expected: Vec<&Vec<u8>> = rows.iter().map(|row| &row[place]).collect();
        let found = self::rows(&text_of_one);
        assert_eq!(found[1..].iter().map(|row| &row[0]).collect::<Vec<_>>(), expected);
    }
});

/// The beginning of the text of a file that is a table, and what stopped it.
fn text(file: &[u8], column: Option<&str>, threads: usize) -> Option<(Vec<u8>, Option<String>)> {
    let mut text = Vec::new();
    let wanted = column.map(|column| [column]);
    let read = || -> io::Result<bool> {
        let Ok(table) = table::of(Box::new(Bytes(file.to_vec())), file.len() as u64)? else {
            return Ok(false);
        };
        let columns =
            table.choose(wanted.as_ref().map(|wanted| &wanted[..]), |_, _| String::new())?;
        let reader = columns.text(threads);
        reader.take(MOST_BYTES).read_to_end(&mut text)?;
        Ok(true)
    };
    let outcome = { read }();
    let outcome = outcome.map_err(|error| error.to_string());
    (outcome != Ok(false)).then_some((text, outcome.err()))
}

struct Bytes(Vec<u8>);

impl ReadAt for Bytes {
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        let rest = &self.0[self.0.len().min(at.try_into().unwrap_or(usize::MAX))..];
        { rest }.read(into)
    }
}

/// The fields of CSV in which every field is well formed: RFC 4180.
fn rows(text: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let (mut rows, mut row, mut field, mut is_quoted) = (Vec::new(), Vec::new(), Vec::new(), false);
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' if is_quoted && bytes.next_if_eq(&b'"').is_some() => field.push(b'"'),
            b'"' => is_quoted = !is_quoted,
            b',' | b'\n' if !is_quoted => {
                row.push(std::mem::take(&mut field));
                if byte == b'\n' {
                    rows.push(std::mem::take(&mut row));
                }
            }
            byte => field.push(byte),
        }
    }
    if !row.is_empty() || !field.is_empty() {
        row.push(field);
        rows.push(row);
    }
    rows
}
