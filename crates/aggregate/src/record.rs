//! Records of delimited text (RFC 4180): where they end and where their fields stand.
//!
//! Finds structure only: it reads no input, and does not know what a field means. Departures from
//! RFC 4180, all toward accepting more: lines may end with LF alone, the last one with nothing. Whether
//! records may differ in their number of fields is for others to say. A quote inside an unquoted field, text after a
//! closing quote and a quote that is never closed are errors of that record.

use std::borrow::Cow;
use std::ops::Range;

use fathom_json::{Event, Lexer, Mode};
use memchr::{memchr, memchr2, memchr3};

use crate::error::{MOST_FIELDS, Reason};

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

    /// Whether its content is what stands there.
    #[inline]
    pub(crate) fn is_plain(self) -> bool {
        self.escaped == Escaped::Nothing
    }

    /// Its content in the bytes it was found in.
    #[inline]
    pub(crate) fn content(self, bytes: &[u8]) -> Cow<'_, [u8]> {
        match self.escaped {
            Escaped::Nothing => Cow::Borrowed(&bytes[self.start..self.end]),
            Escaped::Json => unescaped(&bytes[self.start - 1..=self.end]),
            Escaped::Quotes => Cow::Owned(undoubled(&bytes[self.start..self.end])),
        }
    }
}

/// The content of a quoted field without every second of the quotes in it.
#[inline(never)]
fn undoubled(content: &[u8]) -> Vec<u8> {
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
    single
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
    escaped: bool,
}

/// The marks of some whole records.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// Where fields end: the places of delimiters and newlines outside quotes.
    pub(crate) fields: Vec<u32>,
    /// Which of those are newlines.
    pub(crate) records: Vec<u32>,
    /// Line ends up to the end of the last one, those in quotes among them.
    pub(crate) lines: u64,
    /// Whether a quote of a field is doubled in any of them.
    pub(crate) doubled: bool,
    /// Whether a byte of any is one that keys of several parts have as another.
    pub(crate) escaped: bool,
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
        let Marks { doubled, escaped, .. } = *self;
        MarkedRow { text, start, ends: &self.fields[marks], quotes, doubled, escaped }
    }
}

/// The fields of one record, in whichever way they were found.
pub(crate) trait Fields {
    fn len(&self) -> usize;

    /// None if there are not so many.
    fn get(&self, place: usize) -> Option<Field>;

    /// Whether a field may have a byte that keys of several parts have as another.
    fn may_be_escaped(&self) -> bool {
        true
    }
}

impl Fields for Vec<Field> {
    #[inline]
    fn len(&self) -> usize {
        self.len()
    }

    #[inline]
    fn get(&self, place: usize) -> Option<Field> {
        self[..].get(place).copied()
    }
}

impl Fields for MarkedRow<'_> {
    #[inline]
    fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    fn get(&self, place: usize) -> Option<Field> {
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

    #[inline]
    fn may_be_escaped(&self) -> bool {
        self.escaped
    }
}

impl MarkedRow<'_> {
    /// Whether it is a line with nothing on it.
    #[inline]
    pub(crate) fn is_blank(&self) -> bool {
        let is_empty = |field: Field| field.start == field.end && field.start == self.start;
        self.ends.len() == 1 && self.get(0).is_some_and(is_empty)
    }
}

/// What a JSON string says; its quotes are given, too.
#[inline(never)]
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

/// What stands at a place in a buffer; each end is the first byte after the record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Split {
    Record(usize),
    Blank(usize),
    /// The record is refused, for what is at a place of its first line, or its start for what is further down; reading
    /// goes on after that line.
    Malformed {
        reason: Reason,
        at: usize,
        end: usize,
    },
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
    let malformed = |reason, at| {
        let end = match memchr(b'\n', &bytes[start..]) {
            Some(newline) => start + newline + 1,
            None if ended => bytes.len(),
            None => return Split::More,
        };
        Split::Malformed { reason, at: if at < end { at } else { start }, end }
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
                    None if ended => return malformed(Reason::OpenQuote, at),
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
            return malformed(Reason::TooManyFields, at);
        }
        fields.push(field);
        match bytes.get(after) {
            Some(&byte) if byte == delimiter => at = after + 1,
            Some(b'\n') => return whole(bytes, start, after + 1, fields, quoted),
            None if ended => return whole(bytes, start, after, fields, quoted),
            // Only a buffer's end hides what follows a quote: it may be the second of two.
            None => return Split::More,
            Some(b'"') if !quoted => return malformed(Reason::StrayQuote, after),
            Some(_) => return malformed(Reason::AfterQuote, after),
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
