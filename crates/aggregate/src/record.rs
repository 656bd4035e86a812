//! Records of delimited text (RFC 4180): where they end and where their fields stand.
//!
//! Finds structure only: it reads no input, and does not know what a field means. Departures from
//! RFC 4180, all toward accepting more: lines may end with LF alone, the last one with nothing. Whether
//! records may differ in their number of fields is for others to say. A quote inside an unquoted field, text after a
//! closing quote and a quote that is never closed are errors of that record.

use std::borrow::Cow;
use std::ops::Range;

use fathom_json::{Event, Lexer, Mode};
use memchr::{memchr, memchr2, memchr3, memrchr};

use crate::error::{MOST_FIELDS, Reason};
use crate::kernel::marks::{Marker, Marks};

/// A field of a record: its content, without the quotes around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    start: usize,
    end: usize,
    escaped: Escaped,
}

/// What a field contains that is not its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escaped {
    Nothing,
    /// Quotes that are doubled.
    Quotes,
    /// Backslashes as in JSON.
    Json,
}

impl Field {
    /// What stands between two places is the content.
    pub(crate) fn new(start: usize, end: usize) -> Field {
        Field { start, end, escaped: Escaped::Nothing }
    }

    /// The inside of a JSON string, with the quotes right around it, which was read without an error.
    pub(crate) fn json(start: usize, end: usize) -> Field {
        Field { start, end, escaped: Escaped::Json }
    }

    /// Where it stands, without the quotes around it.
    pub(crate) fn range(self) -> Range<usize> {
        self.start..self.end
    }

    pub(crate) fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Its content in the bytes it was found in.
    pub(crate) fn content(self, bytes: &[u8]) -> Cow<'_, [u8]> {
        let content = &bytes[self.start..self.end];
        match self.escaped {
            Escaped::Nothing => return Cow::Borrowed(content),
            Escaped::Json => return unescaped(&bytes[self.start - 1..=self.end]),
            Escaped::Quotes => {}
        }
        let mut single = Vec::with_capacity(content.len());
        let mut quotes = 0;
        for &byte in content {
            quotes = if byte == b'"' { quotes + 1 } else { 0 };
            if quotes != 2 {
                single.push(byte);
            } else {
                quotes = 0;
            }
        }
        Cow::Owned(single)
    }
}

/// The fields of a record, in whichever way they were found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Row<'a> {
    Listed(&'a [Field]),
    Marked(MarkedRow<'a>),
}

/// A record and where its fields end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkedRow<'a> {
    text: &'a [u8],
    start: usize,
    /// The last one is its newline.
    ends: &'a [u32],
    quotes: bool,
    doubled: bool,
}

impl Marks {
    /// The record that starts at a place of the text and has these marks.
    #[inline]
    pub(crate) fn row<'a>(
        &'a self,
        text: &'a [u8],
        start: usize,
        marks: Range<usize>,
        quotes: bool,
    ) -> MarkedRow<'a> {
        MarkedRow { text, start, ends: &self.fields[marks], quotes, doubled: self.doubled }
    }
}

impl MarkedRow<'_> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<Field> {
        let mut end = *self.ends.get(place)? as usize;
        let mut start = if place == 0 { self.start } else { self.ends[place - 1] as usize + 1 };
        // A line end of two bytes belongs to no field.
        if place + 1 == self.ends.len() && end > start && self.text[end - 1] == b'\r' {
            end -= 1;
        }
        let mut escaped = Escaped::Nothing;
        if self.quotes && self.text[start] == b'"' {
            (start, end) = (start + 1, end - 1);
            if self.doubled && memchr(b'"', &self.text[start..end]).is_some() {
                escaped = Escaped::Quotes;
            }
        }
        Some(Field { start, end, escaped })
    }

    /// Whether it is a line with nothing on it.
    #[inline]
    pub(crate) fn is_blank(&self) -> bool {
        let is_empty = |field: Field| field.start == field.end && field.start == self.start;
        self.ends.len() == 1 && self.get(0).is_some_and(is_empty)
    }
}

impl Row<'_> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self {
            Row::Listed(fields) => fields.len(),
            Row::Marked(row) => row.len(),
        }
    }

    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<Field> {
        match self {
            Row::Listed(fields) => fields.get(place).copied(),
            Row::Marked(row) => row.get(place),
        }
    }
}

/// What a JSON string says; its quotes are given, too.
fn unescaped(quoted: &[u8]) -> Cow<'_, [u8]> {
    let (mut lexer, mut at) = (Lexer::new(Mode::Document), 0);
    let text = match lexer.next(quoted, &mut at) {
        Ok(Some(Event::String(text))) => text.decode().ok(),
        _ => None,
    };
    Cow::Owned(text.expect("it was read before").into_owned().into_bytes())
}

/// How records are cut into fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The byte between fields.
    pub delimiter: u8,
    /// Whether fields may stand in quotes; otherwise a quote is a byte like any other.
    pub quotes: bool,
}

/// Bytes of records that are marked at a time.
pub(crate) const MARKED_BYTES: usize = 16 << 10;

/// A piece of text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Whole lines without a quote, `from..to`: each is a record.
    Lines(usize, usize),
    /// Well-formed records, `from..to`, quotes and all, which are marked.
    Records(usize, usize),
    /// One record with a quote, from a byte on.
    Record(usize, Split),
    /// The text ends inside the record that starts here.
    More(usize),
    /// No record starts before the limit any more; the next one starts here.
    End(usize),
}

/// Cuts text into pieces, so that only records with quotes are looked at byte by byte.
pub(crate) struct Pieces<'a> {
    bytes: &'a [u8],
    at: usize,
    limit: usize,
    /// None where lines are records, whatever stands in them.
    delimiter: Option<u8>,
    ended: bool,
    marker: Marker,
    /// The first quote from `at` on, or the end of the bytes; not known if before `at`.
    quote: usize,
}

impl<'a> Pieces<'a> {
    /// The records of `bytes` that start in `at..limit`, of which `at` is one. `ended` says that the
    /// input ends with the bytes, which then end with a newline.
    pub(crate) fn new(
        bytes: &'a [u8],
        (at, limit): (usize, usize),
        delimiter: Option<u8>,
        ended: bool,
        marker: Marker,
    ) -> Pieces<'a> {
        let quote = match delimiter {
            Some(_) => memchr(b'"', &bytes[at..]).map_or(bytes.len(), |quote| at + quote),
            None => bytes.len(),
        };
        Pieces { bytes, at, limit, delimiter, ended, marker, quote }
    }

    /// The next piece; `fields` are those of a [`Piece::Record`], and `marks`, if they are wanted, those of
    /// [`Piece::Records`], which are few enough for the nearest cache then.
    pub(crate) fn next(&mut self, fields: &mut Vec<Field>, marks: Option<&mut Marks>) -> Piece {
        let (bytes, from) = (self.bytes, self.at);
        if from >= self.limit {
            return Piece::End(from);
        }
        if self.delimiter.is_some() && bytes.get(from) == Some(&b'"') {
            self.quote = from;
        } else if self.quote < from {
            self.quote = memchr(b'"', &bytes[from..]).map_or(bytes.len(), |quote| from + quote);
        }
        // Up to here there is no quote, and a line starts here unless the bytes end.
        let free = match bytes.get(self.quote) {
            Some(_) if self.quote == from => from,
            Some(_) => memrchr(b'\n', &bytes[from..self.quote]).map_or(from, |n| from + n + 1),
            None => bytes.len(),
        };
        if free == from
            && let Some(delimiter) = self.delimiter
        {
            let dialect = Dialect { delimiter, quotes: true };
            let limit = if marks.is_some() { from + MARKED_BYTES } else { self.limit };
            let end = self.marker.run(bytes, (from, limit.min(self.limit)), dialect, marks);
            if end > from {
                self.at = end;
                return Piece::Records(from, end);
            }
            let split = split(bytes, from, dialect, self.ended, fields);
            self.at = match split {
                Split::More => return Piece::More(from),
                Split::Record(end) | Split::Blank(end) | Split::Malformed(_, end) => end,
            };
            return Piece::Record(from, split);
        }
        // The last line that starts before the limit ends at the first newline not before it.
        let last = from.max(self.limit - 1);
        let end = match bytes[..free].get(last..).and_then(|rest| memchr(b'\n', rest)) {
            Some(newline) => last + newline + 1,
            None => match memrchr(b'\n', &bytes[from..free]) {
                Some(newline) => from + newline + 1,
                None => return Piece::More(from),
            },
        };
        self.at = end;
        Piece::Lines(from, end)
    }

    /// Where the records end that start before the limit, or where one starts that does not.
    pub(crate) fn end(mut self, fields: &mut Vec<Field>) -> Result<usize, usize> {
        loop {
            match self.next(fields, None) {
                Piece::End(end) => return Ok(end),
                Piece::More(start) => return Err(start),
                Piece::Lines(..) | Piece::Records(..) | Piece::Record(..) => {}
            }
        }
    }
}

/// What stands at a place in a buffer; each end is the first byte after the record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Split {
    Record(usize),
    Blank(usize),
    /// The record is refused; reading goes on after its first line.
    Malformed(Reason, usize),
    /// The buffer ends inside the record, or there is none.
    More,
}

/// Finds the fields of the record at `start`. `ended` says that no more bytes will follow.
pub(crate) fn split(
    bytes: &[u8],
    start: usize,
    Dialect { delimiter, quotes }: Dialect,
    ended: bool,
    fields: &mut Vec<Field>,
) -> Split {
    fields.clear();
    if start == bytes.len() {
        return Split::More;
    }
    let malformed = |reason| match memchr(b'\n', &bytes[start..]) {
        Some(newline) => Split::Malformed(reason, start + newline + 1),
        None if ended => Split::Malformed(reason, bytes.len()),
        None => Split::More,
    };
    let mut at = start;
    loop {
        let quoted = quotes && bytes.get(at) == Some(&b'"');
        let field = if quoted {
            let mut doubled = false;
            let mut close = at + 1;
            loop {
                match memchr(b'"', bytes.get(close..).unwrap_or(&[])) {
                    Some(quote) if bytes.get(close + quote + 1) == Some(&b'"') => {
                        doubled = true;
                        close += quote + 2;
                    }
                    Some(quote) => break close += quote,
                    None if ended => return malformed(Reason::OpenQuote),
                    None => return Split::More,
                }
            }
            let escaped = if doubled { Escaped::Quotes } else { Escaped::Nothing };
            Field { start: at + 1, end: close, escaped }
        } else {
            let stop = match quotes {
                true => memchr3(delimiter, b'\n', b'"', &bytes[at..]),
                false => memchr2(delimiter, b'\n', &bytes[at..]),
            };
            let stop = match stop {
                Some(stop) => at + stop,
                None if ended => bytes.len(),
                None => return Split::More,
            };
            Field::new(at, stop)
        };
        let mut after = field.end + usize::from(quoted);
        if quoted && bytes.get(after) == Some(&b'\r') {
            // Part of the line end, or text after the quote; with nothing behind it, either.
            match bytes.get(after + 1) {
                None if !ended => return Split::More,
                None | Some(b'\n') => after += 1,
                Some(_) => {}
            }
        }
        if fields.len() == MOST_FIELDS {
            return malformed(Reason::TooManyFields);
        }
        fields.push(field);
        match bytes.get(after) {
            Some(&byte) if byte == delimiter => at = after + 1,
            Some(b'\n') => return whole(bytes, start, after + 1, fields, quoted),
            None if ended => return whole(bytes, start, after, fields, quoted),
            // Only a buffer's end hides what follows a quote: it may be the second of two.
            None => return Split::More,
            Some(b'"') if !quoted => return malformed(Reason::StrayQuote),
            Some(_) => return malformed(Reason::AfterQuote),
        }
    }
}

fn whole(bytes: &[u8], start: usize, end: usize, fields: &mut [Field], quoted: bool) -> Split {
    let last = fields.last_mut().expect("a record has a field");
    if !quoted && bytes[last.start..last.end].ends_with(b"\r") {
        last.end -= 1;
    }
    let nothing = fields.len() == 1 && !quoted && fields[0].start == fields[0].end;
    debug_assert!(start < end);
    if nothing { Split::Blank(end) } else { Split::Record(end) }
}

#[cfg(test)]
mod tests {
    use fathom_machine::level::Level;

    use super::*;

    /// Where each record starts, by splitting one after the other.
    fn starts(bytes: &[u8]) -> Vec<usize> {
        let (mut at, mut starts, mut fields) = (0, Vec::new(), Vec::new());
        while at < bytes.len() {
            starts.push(at);
            let dialect = Dialect { delimiter: b',', quotes: true };
            at = match split(bytes, at, dialect, true, &mut fields) {
                Split::Record(end) | Split::Blank(end) | Split::Malformed(_, end) => end,
                Split::More => unreachable!("the text has ended"),
            };
        }
        starts
    }

    #[test]
    fn pieces_start_where_records_do_under_any_limit() {
        let texts = [
            "a,1\nb,2\n",
            "a,1\n\"b\nc\",2\nd,3\n\n\"e\",4\n",
            "\"a\"x,1\nb,\"2\"\nc\"d,3\n\"open\ne,5\n",
            "\n\n\"\"\n\"\"\"\",1\r\n",
        ];
        for text in texts {
            let bytes = text.as_bytes();
            let starts = starts(bytes);
            for limit in 0..=bytes.len() {
                for &at in &starts {
                    let marker = Marker::new(Level::best());
                    let pieces = Pieces::new(bytes, (at, limit), Some(b','), true, marker);
                    let end = pieces.end(&mut Vec::new()).unwrap();
                    let expected = starts.iter().copied().find(|&s| s >= limit.max(at));
                    assert_eq!(end, expected.unwrap_or(bytes.len()), "{text:?} {at} {limit}");
                }
            }
        }
    }
}
