//! Delimited text in general: any delimiter, chosen columns, a header, quoted fields (RFC 4180).
//!
//! A quoted field may contain line breaks, so the text is read from its start to its end by one
//! thread. Departures from RFC 4180, all toward accepting more: lines may end with LF alone, the
//! last one with nothing, records may differ in their number of fields, and a byte order mark is
//! passed over. A quote inside an unquoted field, text after a closing quote and a quote that is
//! never closed are errors of that record.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use hashbrown::HashMap;
use memchr::{memchr, memchr_iter, memchr3};

use crate::chunk::MOST_RECORD_BYTES;
use crate::engine::{Column, Progress, Source, Summary};
use crate::error::{BytePosition, Error, Reason, quoted};
use crate::merge::{Partial, Stats};
use crate::number::{Decimal, NumberError};
use crate::rejects::{Collector, OnError, Raw};

/// The shape of delimited text.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The byte between fields: not a quote, a line end, or part of a number.
    pub delimiter: u8,
    /// Whether the first record names the columns.
    pub header: bool,
    /// The column of the key.
    pub key: Selector,
    /// The columns of the values, at least one.
    pub values: Vec<Selector>,
    /// Keeps sums of squares, for variances.
    pub with_squares: bool,
}

/// A column, by place or by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// From 1.
    Place(usize),
    /// As the header spells it.
    Name(String),
}

impl std::fmt::Display for Selector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Selector::Place(place) => write!(f, "column {place}"),
            Selector::Name(name) => f.write_str(name),
        }
    }
}

/// Aggregates delimited text.
///
/// # Errors
/// As [`crate::aggregate`], and for headers without a column that was asked for.
pub fn aggregate(
    sources: Vec<Source>,
    shape: &Shape,
    on_error: OnError<'_>,
    progress: &Progress,
) -> Result<Summary, Error> {
    let paths: Vec<PathBuf> = sources.iter().map(|source| source.path().to_owned()).collect();
    let mut collector = Collector::new(on_error);
    let mut groups = Groups::new(shape);
    let mut summary = Summary::default();
    let mut refused = 0;
    for (index, source) in sources.into_iter().enumerate() {
        let mut text = Text::new(source, shape.delimiter);
        let mut columns = if shape.header { None } else { Some(Columns::placed(shape)) };
        let mut told_bytes = 0;
        loop {
            let line = text.line;
            let outcome = match (text.next()?, &columns) {
                (Step::End, _) => break,
                (Step::Blank, _) => {
                    summary.blank_lines += 1;
                    Ok(())
                }
                (Step::Malformed(reason), None) => {
                    return Err(Error::BadHeader { path: text.path, reason });
                }
                (Step::Malformed(reason), Some(_)) => Err(reason),
                (Step::Record, None) => {
                    columns = Some(Columns::named(shape, &text)?);
                    Ok(())
                }
                (Step::Record, Some(columns)) => match groups.add(columns, &text) {
                    Ok(()) => {
                        summary.records += 1;
                        Ok(())
                    }
                    Err(Refusal::Record(reason)) => Err(reason),
                    Err(Refusal::Run(error)) => return Err(error),
                },
            };
            if let Err(reason) = outcome {
                let byte = text.offset + text.record.start as u64;
                let raw = text.raw().to_vec();
                let reject = Raw { source: index, byte, line: Some(line), reason, text: raw };
                refused += 1;
                if collector.take(refused - 1, vec![reject])? {
                    break;
                }
            }
            if told_bytes < text.read_bytes {
                progress.bytes.fetch_add(text.read_bytes - told_bytes, Ordering::Relaxed);
                told_bytes = text.read_bytes;
                if progress.stop.load(Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
            }
        }
        summary.bytes += text.read_bytes;
    }
    let line_of = |_, _| unreachable!("every reject carries its line");
    (summary.shown_rejects, summary.rejected) =
        collector.finish(|source| &paths[source], line_of)?;
    summary.columns = groups.into_columns(shape);
    Ok(summary)
}

/// Where the chosen columns stand in a source, from 0.
struct Columns {
    key: usize,
    values: Vec<usize>,
}

impl Columns {
    fn placed(shape: &Shape) -> Columns {
        let place = |selector: &Selector| match selector {
            Selector::Place(place) => place - 1,
            Selector::Name(_) => unreachable!("names come with a header"),
        };
        Columns { key: place(&shape.key), values: shape.values.iter().map(place).collect() }
    }

    fn named(shape: &Shape, header: &Text) -> Result<Columns, Error> {
        let names: Vec<Cow<'_, [u8]>> = (0..header.fields.len()).map(|i| header.field(i)).collect();
        let place = |selector: &Selector| match selector {
            Selector::Place(place) => Ok(place - 1),
            Selector::Name(name) => {
                names.iter().position(|found| **found == *name.as_bytes()).ok_or_else(|| {
                    let shown: Vec<String> = names.iter().map(|name| quoted(name)).collect();
                    Error::NoSuchColumn {
                        path: header.path.clone(),
                        name: name.clone(),
                        header: shown.join(", "),
                    }
                })
            }
        };
        let values = shape.values.iter().map(place).collect::<Result<_, _>>()?;
        Ok(Columns { key: place(&shape.key)?, values })
    }
}

/// Why a record did not enter the groups.
enum Refusal {
    Record(Reason),
    Run(Error),
}

/// Keys, and as many states per key as there are value columns.
struct Groups {
    index: HashMap<Box<[u8]>, usize>,
    states: Vec<Stats>,
    values: Vec<Decimal>,
    with_squares: bool,
}

impl Groups {
    fn new(shape: &Shape) -> Groups {
        Groups {
            index: HashMap::new(),
            states: Vec::new(),
            values: Vec::with_capacity(shape.values.len()),
            with_squares: shape.with_squares,
        }
    }

    /// Adds a record: all of its values, or none if one of them is refused.
    fn add(&mut self, columns: &Columns, text: &Text) -> Result<(), Refusal> {
        let field = |place: usize| {
            if place < text.fields.len() {
                Ok(text.field(place))
            } else {
                Err(Refusal::Record(Reason::NoColumn(place + 1)))
            }
        };
        self.values.clear();
        for &place in &columns.values {
            let value = Decimal::parse(&field(place)?);
            self.values.push(value.map_err(|error: NumberError| Refusal::Record(error.into()))?);
        }
        let key = field(columns.key)?;
        if key.is_empty() {
            return Err(Refusal::Record(Reason::EmptyKey));
        }
        if let Some(&at) = self.index.get(&*key) {
            for (stats, &value) in self.states[at..].iter_mut().zip(&self.values) {
                stats.add(value).map_err(|_| {
                    let scale = stats.scale().max(value.scale);
                    Refusal::Run(Error::SumOverflow { key: quoted(&key), scale })
                })?;
            }
        } else {
            self.index.insert((*key).into(), self.states.len());
            self.states.extend(self.values.iter().map(|&v| Stats::of(v, self.with_squares)));
        }
        Ok(())
    }

    fn into_columns(self, shape: &Shape) -> Vec<Column> {
        let mut order: Vec<(Box<[u8]>, usize)> = self.index.into_iter().collect();
        order.sort_unstable();
        let column = |(i, selector): (usize, &Selector)| Column {
            name: selector.to_string(),
            groups: order
                .iter()
                .map(|(key, at)| Partial { key: key.clone(), stats: self.states[at + i].clone() })
                .collect(),
        };
        shape.values.iter().enumerate().map(column).collect()
    }
}

/// U+FEFF in UTF-8, which some programs put in front.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What comes next in a text.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Record,
    Blank,
    Malformed(Reason),
    End,
}

/// A field of the current record: its content, without the quotes around it.
#[derive(Clone, Copy, Debug)]
struct Field {
    start: usize,
    end: usize,
    /// Whether it contains doubled quotes.
    doubled: bool,
}

/// A source, read record by record.
struct Text {
    path: PathBuf,
    reader: Reader,
    delimiter: u8,
    buffer: Vec<u8>,
    /// Offset of the buffer in the text.
    offset: u64,
    read_bytes: u64,
    ended: bool,
    /// The current record in the buffer, its line end included.
    record: std::ops::Range<usize>,
    /// The number of the line where the next record starts.
    line: u64,
    fields: Vec<Field>,
}

enum Reader {
    File { file: File, size: u64 },
    Stream(Box<dyn Read + Send>),
}

impl Text {
    fn new(source: Source, delimiter: u8) -> Text {
        let (path, reader) = match source {
            Source::File { path, file, size } => (path, Reader::File { file, size }),
            Source::Stream { path, reader } => (path, Reader::Stream(reader)),
        };
        Text {
            path,
            reader,
            delimiter,
            buffer: Vec::new(),
            offset: 0,
            read_bytes: 0,
            ended: false,
            record: 0..0,
            line: 1,
            fields: Vec::new(),
        }
    }

    /// The current record's bytes, without its line end.
    fn raw(&self) -> &[u8] {
        let raw = &self.buffer[self.record.clone()];
        raw.strip_suffix(b"\n").unwrap_or(raw)
    }

    /// The content of a field of the current record.
    fn field(&self, place: usize) -> Cow<'_, [u8]> {
        let Field { start, end, doubled } = self.fields[place];
        let content = &self.buffer[start..end];
        if !doubled {
            return Cow::Borrowed(content);
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

    /// Steps to the next record.
    fn next(&mut self) -> Result<Step, Error> {
        let mut start = self.record.end;
        if self.offset == 0 && start == 0 {
            while self.buffer.len() < BYTE_ORDER_MARK.len() && !self.ended {
                self.fill(0)?;
            }
            if self.buffer.starts_with(BYTE_ORDER_MARK) {
                start = BYTE_ORDER_MARK.len();
            }
        }
        loop {
            let (step, end) =
                match split(&self.buffer, start, self.delimiter, self.ended, &mut self.fields) {
                    Split::More if self.ended => {
                        self.record = start..start;
                        return Ok(Step::End);
                    }
                    Split::More if self.buffer.len() - start > MOST_RECORD_BYTES => {
                        let byte = self.offset + start as u64;
                        let position = BytePosition { path: self.path.clone(), byte };
                        return Err(Error::RecordTooLong {
                            position,
                            limit_bytes: MOST_RECORD_BYTES,
                        });
                    }
                    Split::More => {
                        self.fill(start)?;
                        start = 0;
                        continue;
                    }
                    Split::Blank(end) => (Step::Blank, end),
                    Split::Record(end) => (Step::Record, end),
                    Split::Malformed(reason, end) => (Step::Malformed(reason), end),
                };
            self.record = start..end;
            self.line += memchr_iter(b'\n', &self.buffer[self.record.clone()]).count() as u64;
            return Ok(step);
        }
    }

    /// Drops what lies before `start` and reads on.
    fn fill(&mut self, start: usize) -> Result<(), Error> {
        const STEP_BYTES: usize = 256 << 10;
        self.buffer.drain(..start);
        self.offset += start as u64;
        let have = self.buffer.len();
        self.buffer.resize(have + STEP_BYTES.max(have), 0);
        let read = self.reader.read(&self.path, &mut self.buffer[have..], self.read_bytes)?;
        self.buffer.truncate(have + read);
        self.read_bytes += read as u64;
        self.ended = read == 0;
        Ok(())
    }
}

impl Reader {
    fn read(&mut self, path: &Path, into: &mut [u8], at: u64) -> Result<usize, Error> {
        loop {
            let read = match self {
                Reader::File { file, size } => {
                    let most = into.len().min((*size - at) as usize);
                    match file.read_at(&mut into[..most], at) {
                        Ok(0) if most > 0 => {
                            let path = path.to_owned();
                            return Err(Error::Shrunk { path, expected_bytes: *size });
                        }
                        read => read,
                    }
                }
                Reader::Stream(reader) => reader.read(into),
            };
            match read {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(source) => return Err(Error::Read { path: path.to_owned(), byte: at, source }),
                Ok(read) => return Ok(read),
            }
        }
    }
}

/// What stands at a place in a buffer; each end is the first byte after the record.
#[derive(Debug, PartialEq, Eq)]
enum Split {
    Record(usize),
    Blank(usize),
    /// The record is refused; reading goes on after its first line.
    Malformed(Reason, usize),
    /// The buffer ends inside the record, or there is none.
    More,
}

/// Finds the fields of the record at `start`. `ended` says that no more bytes will follow.
fn split(bytes: &[u8], start: usize, delimiter: u8, ended: bool, fields: &mut Vec<Field>) -> Split {
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
        let quoted = bytes.get(at) == Some(&b'"');
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
            Field { start: at + 1, end: close, doubled }
        } else {
            let stop = match memchr3(delimiter, b'\n', b'"', &bytes[at..]) {
                Some(stop) => at + stop,
                None if ended => bytes.len(),
                None => return Split::More,
            };
            Field { start: at, end: stop, doubled: false }
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
    use super::*;

    fn shape(header: bool, key: Selector, values: &[Selector]) -> Shape {
        Shape { delimiter: b',', header, key, values: values.to_vec(), with_squares: false }
    }

    /// Yields its bytes a few at a time.
    struct Slow(Vec<u8>, usize, usize);

    impl Read for Slow {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let n = self.2.min(into.len()).min(self.0.len() - self.1);
            into[..n].copy_from_slice(&self.0[self.1..self.1 + n]);
            self.1 += n;
            Ok(n)
        }
    }

    fn run(text: &str, shape: &Shape, portion: usize) -> Result<Summary, Error> {
        let reader = Box::new(Slow(text.as_bytes().to_vec(), 0, portion));
        let source = Source::Stream { path: "t.csv".into(), reader };
        aggregate(vec![source], shape, OnError::Skip(None), &Progress::default())
    }

    fn sums(summary: &Summary) -> Vec<(String, Vec<i128>)> {
        let keys = &summary.columns[0].groups;
        (0..keys.len())
            .map(|i| {
                let key = String::from_utf8_lossy(&keys[i].key).into_owned();
                (key, summary.columns.iter().map(|c| c.groups[i].stats.sum()).collect())
            })
            .collect()
    }

    #[test]
    fn quoted_fields_keep_delimiters_quotes_and_line_breaks_at_any_portion() {
        let text = "\u{feff}name,t,h\r\n\"Oslo, N\",1.5,10\n\"the \"\"big\"\" one\",-2,20\r\n\
                    \"two\nlines\",3,30\n\"Oslo, N\",\"0.5\",5\r\n\n\"\"\"\",1,1";
        let shape = shape(
            true,
            Selector::Name("name".into()),
            &[Selector::Name("t".into()), Selector::Place(3)],
        );
        for portion in 1..text.len() {
            let summary = run(text, &shape, portion).unwrap();
            let expected = [
                ("\"", vec![1, 1]),
                ("Oslo, N", vec![20, 15]),
                ("the \"big\" one", vec![-2, 20]),
                ("two\nlines", vec![3, 30]),
            ];
            let found = sums(&summary);
            let expected: Vec<_> = expected.map(|(key, sums)| (key.to_owned(), sums)).into();
            assert_eq!(found, expected, "portions of {portion}");
            assert_eq!((summary.records, summary.blank_lines, summary.rejected), (5, 1, 0));
            assert_eq!(summary.columns[1].name, "column 3");
        }
    }

    #[test]
    fn malformed_records_are_refused_one_line_at_a_time() {
        let text = "a,1\n\"b\"x,2\nc\"d,3\n,4\nshort\ne,\nf,x\n\"open,5\ng,6\n";
        for portion in 1..text.len() {
            let summary =
                run(text, &shape(false, Selector::Place(1), &[Selector::Place(2)]), portion)
                    .unwrap();
            let found: Vec<_> = summary
                .shown_rejects
                .iter()
                .map(|r| (r.position.byte, r.position.record, r.reason))
                .collect();
            assert_eq!(
                found,
                [
                    (4, 2, Reason::AfterQuote),
                    (11, 3, Reason::StrayQuote),
                    (17, 4, Reason::EmptyKey),
                    (20, 5, Reason::NoColumn(2)),
                    (26, 6, Reason::Number(NumberError::Empty)),
                    (29, 7, Reason::Number(NumberError::Malformed)),
                    (33, 8, Reason::OpenQuote),
                ],
                "portions of {portion}"
            );
            assert_eq!(sums(&summary), [("a".to_owned(), vec![1]), ("g".to_owned(), vec![6])]);
            assert_eq!((summary.records, summary.rejected), (2, 7));
        }
    }

    #[test]
    fn a_missing_column_lists_those_there_are() {
        let error =
            run("a,b\nx,1\n", &shape(true, Selector::Place(1), &[Selector::Name("t".into())]), 9)
                .unwrap_err();
        assert_eq!(
            error.to_string(),
            "t.csv: the header has no column \"t\"; it has: \"a\", \"b\""
        );
    }
}
