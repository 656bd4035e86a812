//! The forms of a result. Of many groups each thread writes a part.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;

use fathom_machine::os::memory::prefer_huge;
use unicode_width::UnicodeWidthStr;

use super::Layout;
use super::cell::{Cell, Purpose, write_told};
use super::telling::{Telling, tellings};
use crate::composite;
use crate::engine::Column;

/// Groups for which another thread is worth its start.
const GROUPS_PER_THREAD: usize = 4096;

/// What `write` appends for all of `groups` groups; of many, each thread has its range.
fn in_parts(
    groups: usize,
    layout: &Layout,
    write: impl Fn(Range<usize>, &mut Vec<u8>) + Sync,
) -> Vec<u8> {
    const BYTES_PER_GROUP: usize = 40;
    let room = |groups: usize| {
        let mut text = Vec::with_capacity(groups * BYTES_PER_GROUP);
        prefer_huge(text.spare_capacity_mut());
        text
    };
    let parts = layout.threads.min(groups / GROUPS_PER_THREAD).max(1);
    let range = |part: usize| groups * part / parts..groups * (part + 1) / parts;
    let write = &write;
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..parts)
            .map(|part| {
                let run = move || {
                    let mut text = room(range(part).len());
                    write(range(part), &mut text);
                    text
                };
                (part, std::thread::Builder::new().spawn_scoped(scope, run))
            })
            .collect();
        // Room for all, so that the others' text is copied once; what is not used is not touched.
        let mut text = room(groups);
        write(range(0), &mut text);
        for (part, other) in others {
            // A thread that could not be started: its part is written here.
            let Ok(other) = other else {
                write(range(part), &mut text);
                continue;
            };
            let part = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            text.extend_from_slice(&part);
        }
        text
    })
}

/// Forms that can be written a piece after the other: what they begin with, the keys of each piece, and their end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streamed {
    /// That of [`brc`].
    Brc,
    /// That of [`csv`].
    Csv,
    /// That of [`tsv`].
    Tsv,
    /// That of [`json`].
    Json,
    /// That of [`ndjson`].
    Ndjson,
}

impl Streamed {
    /// What stands before the first key; of the columns no group is looked at.
    pub fn begin(self, columns: &[Column], layout: &Layout) -> Vec<u8> {
        match self {
            Streamed::Brc | Streamed::Ndjson => Vec::new(),
            Streamed::Csv => header(columns, layout, b',', quoted),
            Streamed::Tsv => header(columns, layout, b'\t', escaped),
            Streamed::Json => b"[".to_vec(),
        }
    }

    /// The keys that the columns have; `is_first` if none came before.
    pub fn keys(self, columns: &[Column], layout: &Layout, is_first: bool) -> Vec<u8> {
        match self {
            Streamed::Brc => brc_keys(&columns[0], layout, is_first),
            Streamed::Csv => separated(columns, layout, b',', quoted),
            Streamed::Tsv => separated(columns, layout, b'\t', escaped),
            Streamed::Json => json_keys(columns, layout, is_first),
            Streamed::Ndjson => ndjson_keys(columns, layout),
        }
    }

    /// What stands behind the last key; `is_empty` if there was none.
    pub fn end(self, is_empty: bool) -> &'static [u8] {
        match (self, is_empty) {
            (Streamed::Brc, true) => b"{}\n",
            (Streamed::Brc, false) => b"}\n",
            (Streamed::Json, _) => b"\n]\n",
            (Streamed::Csv | Streamed::Tsv | Streamed::Ndjson, _) => b"",
        }
    }

    fn whole(self, columns: &[Column], layout: &Layout) -> Vec<u8> {
        let is_empty = columns.first().is_none_or(|column| column.groups.is_empty());
        let mut text = self.keys(columns, layout, true);
        let begin = self.begin(columns, layout);
        if !begin.is_empty() {
            text.splice(..0, begin);
        }
        text.extend_from_slice(self.end(is_empty));
        text
    }
}

/// The challenge's form, `{key=min/mean/max, …}` and a newline, with the layout's statistics
/// between the slashes; a statistic that does not exist is left empty. Nothing is escaped, neither in
/// keys nor between the parts of one, which commas keep apart.
pub fn brc(column: &Column, layout: &Layout) -> Vec<u8> {
    Streamed::Brc.whole(std::slice::from_ref(column), layout)
}

fn brc_keys(column: &Column, layout: &Layout, is_first: bool) -> Vec<u8> {
    let columns = std::slice::from_ref(column);
    let tellings = &tellings(columns, layout)[..];
    in_parts(column.groups.len(), layout, |range, text| {
        for at in range {
            let group = &column.groups[at];
            text.extend_from_slice(if at == 0 && is_first { b"{" } else { b", " });
            for (j, part) in composite::parts(&group.key, layout.keys.len()).enumerate() {
                text.extend_from_slice(if j == 0 { b"" } else { b"," });
                text.extend_from_slice(&part);
            }
            text.push(b'=');
            for (j, &(_, telling)) in tellings.iter().enumerate() {
                text.extend((j > 0).then_some(b'/'));
                let told = (telling, at);
                if let Cell::Text(cell) =
                    write_told(text, columns, told, Purpose::Challenge, layout)
                {
                    text.extend_from_slice(&cell);
                }
            }
        }
    })
}

/// The names over the parts of the key and over [what is told](tellings); and a number behind what
/// would be there twice.
pub fn headings(columns: &[Column], layout: &Layout) -> Vec<String> {
    let mut names = Names::default();
    let numbers = tellings(columns, layout).into_iter().map(|(name, _)| name);
    layout.keys.iter().cloned().chain(numbers).map(|plain| names.add(plain)).collect()
}

/// Names of which none is there twice.
#[derive(Default)]
struct Names {
    taken: HashSet<String>,
    /// The last number behind each that would have been.
    numbers: HashMap<String, usize>,
}

impl Names {
    fn add(&mut self, plain: String) -> String {
        if self.taken.insert(plain.clone()) {
            return plain;
        }
        let number = self.numbers.entry(plain.clone()).or_insert(1);
        loop {
            *number += 1;
            let name = format!("{plain}_{number}");
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// Calls `write` for every key with its place and its columns' cells: columns have the same keys in
/// the same order.
fn by_rows(
    columns: &[Column],
    layout: &Layout,
    write: impl Fn(&mut Vec<u8>, usize, &[u8], &Cells<'_>) + Sync,
) -> Vec<u8> {
    let keys = columns.first().map_or(&[][..], |column| &column.groups);
    let tellings = &tellings(columns, layout)[..];
    in_parts(keys.len(), layout, |range, text| {
        for at in range {
            write(text, at, &keys[at].key, &Cells { columns, tellings, layout, at });
        }
    })
}

/// Appends bytes in some form.
type Append = fn(&mut Vec<u8>, &[u8]);

/// The numbers of one key.
struct Cells<'a> {
    columns: &'a [Column],
    tellings: &'a [(String, Telling)],
    layout: &'a Layout,
    at: usize,
}

impl Cells<'_> {
    /// Appends each with something before it, texts by `word`, JSON by `json`, and `none` for what does
    /// not exist.
    fn write(
        &self,
        text: &mut Vec<u8>,
        mut before: impl FnMut(&mut Vec<u8>, usize),
        [word, json]: [Append; 2],
        none: &[u8],
    ) {
        for (i, &(_, telling)) in self.tellings.iter().enumerate() {
            before(text, i);
            let told = (telling, self.at);
            match write_told(text, self.columns, told, Purpose::Programs, self.layout) {
                Cell::Number => {}
                Cell::Text(cell) => word(text, &cell),
                Cell::Json(cell) => json(text, &cell),
                Cell::Nothing => text.extend_from_slice(none),
            }
        }
    }
}

/// Comma-separated values with a header, quoted as RFC 4180 says, lines ended by LF.
pub fn csv(columns: &[Column], layout: &Layout) -> Vec<u8> {
    Streamed::Csv.whole(columns, layout)
}

/// Headings apart by `separator`, written by `name`.
fn header(columns: &[Column], layout: &Layout, separator: u8, name: Append) -> Vec<u8> {
    let mut text = Vec::new();
    for (at, heading) in headings(columns, layout).iter().enumerate() {
        if at > 0 {
            text.push(separator);
        }
        name(&mut text, heading.as_bytes());
    }
    text.push(b'\n');
    text
}

/// A line a key, cells apart by `separator`, keys written by `name`.
fn separated(columns: &[Column], layout: &Layout, separator: u8, name: Append) -> Vec<u8> {
    by_rows(columns, layout, |text, _, key, cells| {
        for (at, part) in composite::parts(key, layout.keys.len()).enumerate() {
            text.extend((at > 0).then_some(separator));
            name(text, &part);
        }
        cells.write(text, |text, _| text.push(separator), [name, name], b"");
        text.push(b'\n');
    })
}

fn quoted(text: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.iter().any(|byte| matches!(byte, b',' | b'"' | b'\r' | b'\n')) {
        text.push(b'"');
        for &byte in bytes {
            text.extend(std::iter::repeat_n(byte, if byte == b'"' { 2 } else { 1 }));
        }
        text.push(b'"');
    } else {
        text.extend_from_slice(bytes);
    }
}

/// Tab-separated values with a header; tab, line feed, carriage return and backslash in a key are
/// written `\t`, `\n`, `\r` and `\\`.
pub fn tsv(columns: &[Column], layout: &Layout) -> Vec<u8> {
    Streamed::Tsv.whole(columns, layout)
}

fn escaped(text: &mut Vec<u8>, bytes: &[u8]) {
    for &byte in bytes {
        match byte {
            b'\t' => text.extend_from_slice(b"\\t"),
            b'\n' => text.extend_from_slice(b"\\n"),
            b'\r' => text.extend_from_slice(b"\\r"),
            b'\\' => text.extend_from_slice(b"\\\\"),
            _ => text.push(byte),
        }
    }
}

/// A JSON array with one object per key. Numbers are JSON numbers with all their digits; what does
/// not exist is null. A key that is not UTF-8 is shown with replacement characters and given
/// exactly in a member of the key's name and `_hex`, and a number where that would be there twice; a value that is not
/// is shown so only.
pub fn json(columns: &[Column], layout: &Layout) -> Vec<u8> {
    Streamed::Json.whole(columns, layout)
}

fn json_keys(columns: &[Column], layout: &Layout, is_first: bool) -> Vec<u8> {
    let headings = quoted_headings(columns, layout);
    by_rows(columns, layout, |text, at, key, cells| {
        text.extend_from_slice(if at == 0 && is_first { b"\n  " } else { b",\n  " });
        object(text, key, cells, &headings);
    })
}

/// The objects of [`json`], one on each line.
pub fn ndjson(columns: &[Column], layout: &Layout) -> Vec<u8> {
    Streamed::Ndjson.whole(columns, layout)
}

fn ndjson_keys(columns: &[Column], layout: &Layout) -> Vec<u8> {
    let headings = quoted_headings(columns, layout);
    by_rows(columns, layout, |text, _, key, cells| {
        object(text, key, cells, &headings);
        text.push(b'\n');
    })
}

/// The headings as JSON, and those of the parts of keys that are not UTF-8.
fn quoted_headings(columns: &[Column], layout: &Layout) -> [Vec<String>; 2] {
    let headings = headings(columns, layout);
    let mut names = Names { taken: headings.iter().cloned().collect(), ..Names::default() };
    let hex = headings.iter().take(layout.keys.len());
    let hex = hex.map(|heading| quote(&names.add(format!("{heading}_hex")))).collect();
    [headings.iter().map(|heading| quote(heading)).collect(), hex]
}

fn object(text: &mut Vec<u8>, key: &[u8], cells: &Cells<'_>, [headings, hex]: &[Vec<String>; 2]) {
    let keys = cells.layout.keys.len();
    for (at, part) in composite::parts(key, keys).enumerate() {
        let shown = String::from_utf8_lossy(&part);
        let before = if at == 0 { "{" } else { ", " };
        let _ = write!(text, "{before}{}: {}", headings[at], quote(&shown));
        if shown.as_bytes() != &*part {
            let _ = write!(text, ", {}: \"", hex[at]);
            for byte in &*part {
                let _ = write!(text, "{byte:02x}");
            }
            text.push(b'"');
        }
    }
    let before = |text: &mut Vec<u8>, i: usize| {
        text.extend_from_slice(b", ");
        text.extend_from_slice(headings[keys + i].as_bytes());
        text.extend_from_slice(b": ");
    };
    let word = |text: &mut Vec<u8>, cell: &[u8]| {
        text.extend_from_slice(quote(&String::from_utf8_lossy(cell)).as_bytes());
    };
    let json = |text: &mut Vec<u8>, cell: &[u8]| text.extend_from_slice(cell);
    cells.write(text, before, [word, json], b"null");
    text.push(b'}');
}

/// A JSON string.
fn quote(content: &str) -> String {
    let mut text = String::with_capacity(content.len() + 2);
    text.push('"');
    for c in content.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\u{0}'..='\u{1f}' => {
                let _ = write!(text, "\\u{:04x}", c as u32);
            }
            _ => text.push(c),
        }
    }
    text.push('"');
    text
}

/// The cells of [`table`]: the headings, then a line for the key at each of these places.
pub fn rows(
    columns: &[Column],
    layout: &Layout,
    places: impl Iterator<Item = usize>,
) -> Vec<Vec<String>> {
    lines((columns, places), layout, plain)
}

/// The cells of a table for people, headings first; `plain` makes texts fit for it.
pub(super) fn lines(
    (columns, places): (&[Column], impl Iterator<Item = usize>),
    layout: &Layout,
    plain: fn(&[u8]) -> String,
) -> Vec<Vec<String>> {
    let tellings = tellings(columns, layout);
    let headings = headings(columns, layout);
    let mut lines = vec![headings.iter().map(|heading| plain(heading.as_bytes())).collect()];
    for at in places {
        let key = &columns[0].groups[at].key;
        let parts = composite::parts(key, layout.keys.len()).map(|part| plain(&part));
        let cells = tellings.iter().map(|&(_, telling)| {
            let mut cell = Vec::new();
            match write_told(&mut cell, columns, (telling, at), Purpose::People, layout) {
                Cell::Number => String::from_utf8(cell).expect("ASCII"),
                Cell::Text(text) | Cell::Json(text) => plain(&text),
                Cell::Nothing => "-".to_owned(),
            }
        });
        lines.push(parts.chain(cells).collect());
    }
    lines
}

/// How many keys there are.
pub(crate) fn groups(columns: &[Column]) -> usize {
    columns.first().map_or(0, |column| column.groups.len())
}

/// How wide the widest cell of each column is, in places of a terminal.
pub(super) fn widths(lines: &[Vec<String>]) -> Vec<usize> {
    let width = |at: usize| lines.iter().map(|line| line[at].width()).max().unwrap_or(0);
    (0..lines[0].len()).map(width).collect()
}

/// A table for people: keys to the left, numbers to the right, columns as wide as they must be.
pub fn table(columns: &[Column], layout: &Layout) -> Vec<u8> {
    let lines = lines((columns, 0..groups(columns)), layout, plain);
    let widths = widths(&lines);
    let mut text = Vec::new();
    // Widths of formatting macros end at 65,535, and keys need not.
    let pad = |text: &mut Vec<u8>, bytes: usize| text.resize(text.len() + bytes, b' ');
    for line in &lines {
        for (at, (cell, column)) in line.iter().zip(&widths).enumerate() {
            let (gap, room) = (if at == 0 { 0 } else { 2 }, column - cell.width());
            let is_key = at < layout.keys.len();
            pad(&mut text, if is_key { gap } else { gap + room });
            text.extend_from_slice(cell.as_bytes());
            pad(&mut text, if is_key { room } else { 0 });
        }
        text.push(b'\n');
    }
    text
}

/// Text without control characters and bytes that are no characters.
pub(super) fn plain(part: &[u8]) -> String {
    let mut shown = String::new();
    for chunk in part.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() { shown.extend(c.escape_default()) } else { shown.push(c) }
        }
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Statistic;
    use crate::format::samples::column;

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn no_name_is_there_twice() {
        let value = || column("v", &[(b"a\xff", &["1"])]);
        let (statistics, keys) = (vec![Statistic::Min; 2], vec!["v_min".to_owned()]);
        let layout = Layout { statistics, keys, ..Layout::default() };
        let expected = b"v_min,v_min_2,v_min_3,v_min_4,v_min_5\na\xff,1,1,1,1\n";
        assert_eq!(csv(&[value(), value()], &layout), expected);
        let members = text(ndjson(&[value()], &Layout { keys: vec!["min".to_owned()], ..layout }));
        let expected =
            "{\"min\": \"a\u{fffd}\", \"min_hex\": \"61ff\", \"min_2\": 1, \"min_3\": 1}\n";
        assert_eq!(members, expected);
        let keys = ["k", "k_hex", "k_hex_2"].map(str::to_owned).to_vec();
        let layout = Layout { statistics: vec![Statistic::Min], keys, ..Layout::default() };
        let members = text(ndjson(&[column("v", &[(b"a\xff\0b\0c", &["1"])])], &layout));
        assert!(members.contains("\"k_hex_3\": \"61ff\", \"k_hex\": "), "{members}");
    }
}
