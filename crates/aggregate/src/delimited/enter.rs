//! Entering a file in its middle: what the columns are, and where the first record starts.
//!
//! The columns stand at the beginning of the file, which is read for them. Where a record starts is a
//! guess: behind the first line end. A line end inside quotes makes it a wrong one, which nobody can
//! see from there; so a run says where it began and where it ended ([`Summary::seam`]), and whoever puts
//! ranges together compares the end of each with the beginning of the next.
//!
//! [`Summary::seam`]: crate::Summary::seam

use std::sync::Arc;

use memchr::memchr;

use super::columns::Columns;
use super::head::{Head, terminate};
use super::query::Query;
use crate::chunk::{Buffer, MOST_RECORD_BYTES, byte_order_mark, too_long};
use crate::error::Error;
use crate::record::Field;
use crate::source::{FilePart, read_at};

/// Bytes that are read at a time.
const BLOCK_BYTES: usize = 64 << 10;

/// What is known where a part begins that is not the beginning of its file.
pub(super) struct Entry {
    /// Where its first record starts.
    pub(super) start: u64,
    /// Where the first of the file does, if there is any.
    pub(super) records: Option<u64>,
    pub(super) columns: Option<Arc<Columns>>,
    /// Blank lines before the header, in what is read of the file.
    pub(super) blank_lines: u64,
    /// Bytes of these, and of the header if it starts there.
    pub(super) bytes: usize,
}

/// Enters the file at the start of a part.
pub(super) fn enter(
    query: &Query,
    part: FilePart<'_>,
    fields: &mut Vec<Field>,
) -> Result<Entry, Error> {
    let head = beginning(query, part, fields)?;
    let first = head.from as u64;
    // Behind a header, or a mark, a record starts whatever stands before it.
    let start = if part.start <= first { first } else { line_start(part)? };
    let is_own = |at: &&usize| (part.start..part.until).contains(&(**at as u64));
    let blank_lines = head.blank.iter().filter(is_own).count() as u64;
    let lines = head.blank.iter().chain(&head.header).map(|&at| at as u64);
    let line = |from: u64| lines.clone().find(|&at| at >= from).unwrap_or(first).min(part.size);
    let bytes = (line(part.until) - line(part.start)) as usize;
    let records = head.columns.as_ref().map(|_| first);
    Ok(Entry { start, records, columns: head.columns, blank_lines, bytes })
}

/// The beginning of the file, up to its first record.
pub(super) fn beginning(
    query: &Query,
    part: FilePart<'_>,
    fields: &mut Vec<Field>,
) -> Result<Head, Error> {
    let FilePart { path, file, size, .. } = part;
    let (mut buffer, mut have) = (Buffer::default(), 0);
    loop {
        let more = (2 * have).max(BLOCK_BYTES).min(usize::try_from(size).unwrap_or(usize::MAX));
        read_at(path, file, size, &mut buffer.room(more)[have..], have as u64)?;
        have = more;
        let ended = have as u64 == size;
        let readable = have + usize::from(ended && terminate(&mut buffer, have));
        let bytes = &buffer.room(readable)[..];
        let mut head = Head::new(Columns::placed(query).map(Arc::new), byte_order_mark(bytes));
        let learnt = head.learn(query, path, bytes, readable, ended, fields)?;
        if ended || learnt.is_ok() && head.is_known() {
            return Ok(head);
        }
        if have > 2 * MOST_RECORD_BYTES {
            return Err(too_long(path, head.from as u64));
        }
    }
}

/// The first byte behind a line end that is not before the part, or the end of the file. A line starts
/// at the part's first byte if the one before it ends a line.
fn line_start(part: FilePart<'_>) -> Result<u64, Error> {
    let FilePart { path, file, size, start, .. } = part;
    let mut block = vec![0; BLOCK_BYTES];
    let mut at = start - 1;
    while at < size {
        let bytes = (size - at).min(BLOCK_BYTES as u64) as usize;
        read_at(path, file, size, &mut block[..bytes], at)?;
        if let Some(newline) = memchr(b'\n', &block[..bytes]) {
            return Ok(at + newline as u64 + 1);
        }
        at += bytes as u64;
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::delimited::aggregate;
    use crate::engine::{Options, Progress};
    use crate::rejects::OnError;
    use crate::source::Source;

    /// Blank lines behind the cut, and the header behind them, were of no range; all of the text, if there was no header.
    #[test]
    fn ranges_cut_before_the_header_have_all_bytes_together() {
        let query = Query { header: true, ..Query::new(b';') };
        let texts = [
            "\n\r\n\nk;v\na;1\n", "\u{feff}\n\nk;v\na;1\nb;2", "\u{feff}k;v\na;1\n",
            "\"k\n\";v\n\na;1\n", "\n\n\r\n", "\n\nk;v",
        ];
        for (text, chunk_bytes) in texts.into_iter().flat_map(|text| [(text, 1), (text, 1 << 16)]) {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            let size = text.len() as u64;
            let options = Options { chunk_bytes, ..Options::default() };
            for cut in 1..size {
                let bytes = [0..cut, cut..size].map(|range| {
                    let file = Box::new(file.try_clone().unwrap());
                    let source = Source::Part { path: "t".into(), file, size, range };
                    let (on_error, progress) = (OnError::Fail, Progress::default());
                    aggregate(vec![source], &query, &options, on_error, &progress).unwrap().bytes
                });
                assert_eq!(bytes[0] + bytes[1], size, "{text:?} {cut} {chunk_bytes}");
            }
        }
    }
}
