//! Delimited text in general: any delimiter, chosen columns, a header, quoted fields (RFC 4180).
//!
//! ```text
//! chunks, read by all threads ─▶ cut, one after the other ─▶ parsed by all threads
//!                                where does the next chunk's
//!                                first record start?
//! ```
//!
//! A quoted field may contain line breaks, so where a record starts depends on all text before it.
//! Threads therefore hand a turn from chunk to chunk: whoever has it finds the end of the last record
//! that starts in the chunk. Where there is no quote that is a search for a quote and a newline, done
//! at memory speed; where there are quotes, records with quotes are split one by one. Parsing, which
//! is the work, is done after the turn was passed on: lines without quotes by the kernel of fields,
//! others field by field. A byte order mark is passed over.
//!
//! What a record is stands in `crate::record`; nothing here looks at quotes.

use std::borrow::Cow;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};

use memchr::memchr_iter;

use crate::chunk::{Buffer, MOST_RECORD_BYTES, Rows, SLACK, Window, too_long};
use crate::engine::{
    Account, Column, FilePart, Files, Options, Progress, Source, Summary, located, on_threads,
    read_at, read_some,
};
use crate::error::{Error, Reason, quoted};
use crate::gather::{Run, gather};
use crate::kernel::{Kernel, fields};
use crate::number::Decimal;
use crate::record::{Field, Piece, Pieces, Split, split};
use crate::rejects::{Collector, OnError};
use crate::shard::{Refused, Shard};

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
    options: &Options,
    on_error: OnError<'_>,
    progress: &Progress,
) -> Result<Summary, Error> {
    let paths: Vec<PathBuf> = sources.iter().map(|source| source.path().to_owned()).collect();
    let queue = Queue::new(sources, shape, options.chunk_bytes);
    let shared = Shared {
        queue: &queue,
        shape,
        options,
        progress,
        collector: Mutex::new(Collector::new(on_error)),
        account: Account::new(options.memory_limit_bytes),
    };
    let results = on_threads(options, || work(&shared));
    let collector = shared.collector.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut summary =
        Summary { bytes: progress.bytes.load(Ordering::Relaxed), ..Summary::default() };
    let (shown, rejected) = collector
        .finish(|source| &paths[source], |source, byte| queue.files.line_of(source, byte))?;
    (summary.shown_rejects, summary.rejected) = (shown, rejected);
    let mut columns: Vec<Vec<Run>> = shape.values.iter().map(|_| Vec::new()).collect();
    for result in results {
        let worker = result?;
        summary.records += worker.records;
        summary.blank_lines += worker.blank_lines;
        for (runs, run) in columns.iter_mut().zip(worker.runs) {
            runs.push(run);
        }
    }
    for (selector, runs) in shape.values.iter().zip(columns) {
        summary.columns.push(Column { name: selector.to_string(), groups: gather(runs)? });
    }
    Ok(summary)
}

struct Shared<'a> {
    queue: &'a Queue<'a>,
    shape: &'a Shape,
    options: &'a Options,
    progress: &'a Progress,
    collector: Mutex<Collector<'a>>,
    account: Account,
}

/// What one thread brings home: a run per value column.
struct Share {
    runs: Vec<Run>,
    records: u64,
    blank_lines: u64,
}

fn work(shared: &Shared<'_>) -> Result<Share, Error> {
    let result = work_until_done(shared);
    if result.is_err() {
        shared.queue.stop();
    }
    result
}

fn work_until_done(shared: &Shared<'_>) -> Result<Share, Error> {
    let mut worker = Worker::new(shared.shape, shared.options);
    let mut buffer = Buffer::default();
    let mut before = (0, 0);
    while let Some(chunk) = shared.queue.next(&mut buffer, &mut worker.fields)? {
        worker.blank_lines += chunk.blank_lines;
        let mut rejects = Vec::new();
        if let Some(cut) = &chunk.cut {
            worker.take(&buffer, cut)?;
            rejects = located(&worker.refused, buffer.bytes(), cut.rows, chunk.source);
        }
        shared.progress.bytes.fetch_add(chunk.bytes as u64, Ordering::Relaxed);
        let mut collector = shared.collector.lock().unwrap_or_else(PoisonError::into_inner);
        if collector.take(chunk.number, rejects)? {
            shared.queue.stop();
        }
        drop(collector);
        let bytes = worker.shards.iter().map(Shard::bytes).sum();
        before = shared.account.add(before, (bytes, worker.shards[0].keys()))?;
        if shared.progress.stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
    }
    let Worker { shards, records, blank_lines, .. } = worker;
    let runs = shards.into_iter().map(Shard::into_run).collect();
    Ok(Share { runs, records, blank_lines })
}

/// The state of one thread: a shard per value column.
struct Worker {
    delimiter: u8,
    kernel: Kernel,
    with_squares: bool,
    shards: Vec<Shard>,
    fields: Vec<Field>,
    values: Vec<Decimal>,
    odd: Vec<(usize, usize)>,
    /// Refused records of the current chunk.
    refused: Vec<Refused>,
    records: u64,
    blank_lines: u64,
}

impl Worker {
    fn new(shape: &Shape, options: &Options) -> Worker {
        let kernel = Kernel { level: options.level };
        let shard = || Shard::new(kernel, options.with_squares, options.trust_hash);
        Worker {
            delimiter: shape.delimiter,
            kernel,
            with_squares: options.with_squares,
            shards: shape.values.iter().map(|_| shard()).collect(),
            fields: Vec::new(),
            values: Vec::new(),
            odd: Vec::new(),
            refused: Vec::new(),
            records: 0,
            blank_lines: 0,
        }
    }

    /// Takes every record of a chunk; those that are none are in `refused` afterwards, in order.
    fn take(&mut self, buffer: &Buffer, cut: &Cut) -> Result<(), Error> {
        self.refused.clear();
        let bytes = &buffer.bytes()[..cut.readable];
        let range = (cut.rows.from, cut.rows.to);
        let mut pieces = Pieces::new(bytes, range, self.delimiter, cut.ended);
        loop {
            let mut fields = std::mem::take(&mut self.fields);
            let piece = pieces.next(&mut fields);
            self.fields = fields;
            match piece {
                Piece::End(_) => break,
                Piece::More(_) => {
                    unreachable!("whoever cut the chunk found the end of each record")
                }
                Piece::Lines(from, to) => {
                    self.lines(&Window::new(buffer.bytes(), from, to), &cut.columns)?;
                }
                Piece::Record(start, split) => {
                    let end = match split {
                        Split::Record(end) | Split::Blank(end) | Split::Malformed(_, end) => end,
                        Split::More => unreachable!("this is Piece::More"),
                    };
                    self.exact(bytes, &cut.columns, (start, end - 1), &split);
                    self.settle(1)?;
                }
            }
        }
        self.refused.sort_unstable_by_key(|record| record.start);
        Ok(())
    }

    /// Lines without quotes.
    fn lines(&mut self, window: &Window<'_>, columns: &Columns) -> Result<(), Error> {
        let wanted =
            fields::Wanted { delimiter: self.delimiter, key: columns.key, values: &columns.values };
        let mut odd = std::mem::take(&mut self.odd);
        odd.clear();
        let squares = self.with_squares;
        let lines = fields::run(self.kernel, window, &wanted, &mut self.shards, squares, &mut odd);
        self.records += lines - odd.len() as u64;
        for &(start, newline) in &odd {
            // The newline belongs to the line.
            let line = &window.buffer()[..=newline];
            let split = split(line, start, self.delimiter, true, &mut self.fields);
            self.exact(line, columns, (start, newline), &split);
        }
        self.odd = odd;
        self.settle(lines)
    }

    fn settle(&mut self, records: u64) -> Result<(), Error> {
        self.shards.iter_mut().try_for_each(|shard| shard.settle(records))
    }

    /// One record, whose fields were found, between its start and its line feed.
    fn exact(
        &mut self,
        bytes: &[u8],
        columns: &Columns,
        (start, end): (usize, usize),
        split: &Split,
    ) {
        let outcome = match split {
            Split::Blank(_) => {
                self.blank_lines += 1;
                Ok(())
            }
            Split::Malformed(reason, _) => Err(*reason),
            Split::Record(_) | Split::More => self.add(bytes, columns),
        };
        if let Err(reason) = outcome {
            self.refused.push(Refused { start, end, reason });
        }
    }

    /// Adds a record: all of its values, or none if one of them is refused.
    fn add(&mut self, bytes: &[u8], columns: &Columns) -> Result<(), Reason> {
        let field = |place: usize| {
            let field = self.fields.get(place).ok_or(Reason::NoColumn(place + 1))?;
            Ok::<_, Reason>(field.content(bytes))
        };
        self.values.clear();
        for &place in &columns.values {
            self.values.push(Decimal::parse(&field(place)?)?);
        }
        let key = field(columns.key)?;
        if key.is_empty() {
            return Err(Reason::EmptyKey);
        }
        for (shard, &value) in self.shards.iter_mut().zip(&self.values) {
            shard.add(&key, value);
        }
        self.records += 1;
        Ok(())
    }
}

/// Where the chosen columns stand in a source, from 0.
#[derive(Debug)]
struct Columns {
    key: usize,
    values: Vec<usize>,
}

impl Columns {
    /// Those of a source without a header; None where a header must be read first.
    fn placed(shape: &Shape) -> Option<Arc<Columns>> {
        let place = |selector: &Selector| match selector {
            Selector::Place(place) => place - 1,
            Selector::Name(_) => unreachable!("names come with a header"),
        };
        (!shape.header).then(|| {
            let values = shape.values.iter().map(place).collect();
            Arc::new(Columns { key: place(&shape.key), values })
        })
    }

    fn named(shape: &Shape, path: &Path, names: &[Cow<'_, [u8]>]) -> Result<Columns, Error> {
        let place = |selector: &Selector| match selector {
            Selector::Place(place) => Ok(place - 1),
            Selector::Name(name) => {
                names.iter().position(|found| **found == *name.as_bytes()).ok_or_else(|| {
                    let shown: Vec<String> = names.iter().map(|name| quoted(name)).collect();
                    Error::NoSuchColumn {
                        path: path.to_owned(),
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

/// A chunk in a thread's buffer.
struct Chunk {
    source: usize,
    number: u64,
    /// Input it takes in bytes, header included.
    bytes: usize,
    /// Blank lines before the header.
    blank_lines: u64,
    /// Its records, if any starts in it.
    cut: Option<Cut>,
}

/// Where a chunk's records stand in the buffer.
struct Cut {
    rows: Rows,
    /// Input stands before this byte of the buffer, and goes on there unless it has `ended`: where
    /// the end was found by looking further, so must whoever parses.
    readable: usize,
    ended: bool,
    columns: Arc<Columns>,
}

/// What was learnt before the first record.
#[derive(Default)]
struct Head {
    columns: Option<Arc<Columns>>,
    blank_lines: u64,
}

/// Hands out chunks: those of files first, then those of streams.
struct Queue<'a> {
    shape: &'a Shape,
    files: Files,
    next_file_chunk: AtomicU64,
    turn: Mutex<Turn>,
    passed: Condvar,
    streams: Vec<Stream>,
    next_stream_chunk: AtomicU64,
    stopped: AtomicBool,
}

/// Whose turn it is to find where records end.
struct Turn {
    chunk: u64,
    /// Where the next record of the file starts.
    start: u64,
    columns: Option<Arc<Columns>>,
}

struct Stream {
    source: usize,
    path: PathBuf,
    state: Mutex<StreamState>,
}

struct StreamState {
    reader: Box<dyn Read + Send>,
    /// What was read of a record that is not complete.
    carry: Vec<u8>,
    offset: u64,
    lines: u64,
    ended: bool,
    columns: Option<Arc<Columns>>,
}

impl<'a> Queue<'a> {
    fn new(sources: Vec<Source>, shape: &'a Shape, chunk_bytes: usize) -> Queue<'a> {
        let mut files = Files::new(chunk_bytes);
        let mut streams = Vec::new();
        for (index, source) in sources.into_iter().enumerate() {
            match source {
                Source::File { path, file, size } => files.push(index, path, file, size),
                Source::Stream { path, reader } => {
                    let state = StreamState {
                        reader,
                        carry: Vec::new(),
                        offset: 0,
                        lines: 0,
                        ended: false,
                        columns: Columns::placed(shape),
                    };
                    streams.push(Stream { source: index, path, state: Mutex::new(state) });
                }
            }
        }
        let next_stream_chunk = AtomicU64::new(files.chunks());
        Queue {
            shape,
            files,
            next_file_chunk: AtomicU64::new(0),
            turn: Mutex::new(Turn { chunk: 0, start: 0, columns: None }),
            passed: Condvar::new(),
            streams,
            next_stream_chunk,
            stopped: AtomicBool::new(false),
        }
    }

    /// No chunk is cut any more; those that were are finished, and they are the first of the input.
    fn stop(&self) {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.stopped.store(true, Ordering::Relaxed);
        drop(turn);
        self.passed.notify_all();
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn next(&self, buffer: &mut Buffer, fields: &mut Vec<Field>) -> Result<Option<Chunk>, Error> {
        if self.is_stopped() {
            return Ok(None);
        }
        let number = self.next_file_chunk.fetch_add(1, Ordering::Relaxed);
        match self.files.part(number) {
            Some(part) => self.file_chunk(part, number, buffer, fields),
            None => self.stream_chunk(buffer, fields),
        }
    }

    fn file_chunk(
        &self,
        part: FilePart<'_>,
        number: u64,
        buffer: &mut Buffer,
        fields: &mut Vec<Field>,
    ) -> Result<Option<Chunk>, Error> {
        const FIRST_EXTRA_BYTES: u64 = 256;
        let have = ((part.end + FIRST_EXTRA_BYTES).min(part.size) - part.start) as usize;
        // A failure is told when it is this chunk's turn: there may be another before it.
        let read = read_at(part.path, part.file, part.size, buffer.room(have), part.start);
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        while turn.chunk != number && !self.is_stopped() {
            turn = self.passed.wait(turn).unwrap_or_else(PoisonError::into_inner);
        }
        if self.is_stopped() {
            return Ok(None);
        }
        read?;
        let chunk = self.cut_file(part, number, have, &mut turn, buffer, fields)?;
        turn.chunk += 1;
        drop(turn);
        self.passed.notify_all();
        Ok(Some(chunk))
    }

    fn cut_file(
        &self,
        part: FilePart<'_>,
        number: u64,
        mut have: usize,
        turn: &mut MutexGuard<'_, Turn>,
        buffer: &mut Buffer,
        fields: &mut Vec<Field>,
    ) -> Result<Chunk, Error> {
        let FilePart { start, end, size, .. } = part;
        if start == 0 {
            turn.start = byte_order_mark(buffer.room(have)) as u64;
            turn.columns = Columns::placed(self.shape);
        }
        let source = part.source;
        if turn.start >= end {
            let bytes = if start == 0 { turn.start as usize } else { 0 };
            return Ok(Chunk { source, number, bytes, blank_lines: 0, cut: None });
        }
        let local = |offset: u64| (offset - start) as usize;
        let mut from = local(turn.start);
        let taken_from = if start == 0 { 0 } else { from };
        let mut head = Head { columns: turn.columns.take(), blank_lines: 0 };
        let mut at = from;
        let (at, readable, ended) = loop {
            let ended = start + have as u64 == size;
            let readable = have + usize::from(ended && terminate(buffer, have));
            let bytes = &buffer.room(readable)[..];
            let outcome = self
                .head(part.path, bytes, &mut from, local(end), ended, &mut head, fields)?
                .and_then(|()| {
                    let range = (at.max(from), local(end));
                    Pieces::new(bytes, range, self.shape.delimiter, ended).end(fields)
                });
            match outcome {
                Ok(end) => break (end, readable, ended),
                Err(incomplete) => {
                    if have - incomplete > MOST_RECORD_BYTES {
                        return Err(too_long(part.path, start + incomplete as u64));
                    }
                    at = incomplete;
                    let more = (2 * have).min(local(size));
                    let offset = start + have as u64;
                    let into = &mut buffer.room(more)[have..];
                    read_at(part.path, part.file, size, into, offset)?;
                    have = more;
                }
            }
        };
        turn.start = start + at as u64;
        turn.columns.clone_from(&head.columns);
        let cut = head.columns.filter(|_| from < at).map(|columns| Cut {
            rows: Rows {
                from: SLACK + from,
                to: SLACK + at,
                offset: start + from as u64,
                bytes: at.min(have) - from,
                line: None,
            },
            readable: SLACK + readable,
            ended,
            columns,
        });
        let bytes = at.min(have) - taken_from;
        Ok(Chunk { source, number, bytes, blank_lines: head.blank_lines, cut })
    }

    /// Reads on until the columns are known, moving `from` behind the header. An inner error is the
    /// place of a record that is not complete.
    #[allow(clippy::too_many_arguments)] // the state of a cut, which has no other use as a type
    fn head(
        &self,
        path: &Path,
        bytes: &[u8],
        from: &mut usize,
        limit: usize,
        ended: bool,
        head: &mut Head,
        fields: &mut Vec<Field>,
    ) -> Result<Result<(), usize>, Error> {
        while head.columns.is_none() && *from < limit {
            match split(bytes, *from, self.shape.delimiter, ended, fields) {
                Split::More => return Ok(Err(*from)),
                Split::Blank(end) => {
                    head.blank_lines += 1;
                    *from = end;
                }
                Split::Malformed(reason, _) => {
                    return Err(Error::BadHeader { path: path.to_owned(), reason });
                }
                Split::Record(end) => {
                    let names: Vec<_> = fields.iter().map(|field| field.content(bytes)).collect();
                    head.columns = Some(Arc::new(Columns::named(self.shape, path, &names)?));
                    *from = end;
                }
            }
        }
        Ok(Ok(()))
    }

    /// The next chunk of the first stream nobody is reading; if all are being read, of the first
    /// that has not ended.
    fn stream_chunk(
        &self,
        buffer: &mut Buffer,
        fields: &mut Vec<Field>,
    ) -> Result<Option<Chunk>, Error> {
        for wait in [false, true] {
            for stream in &self.streams {
                let mut state = match stream.state.try_lock() {
                    Ok(state) => state,
                    Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                    Err(TryLockError::WouldBlock) if wait => {
                        stream.state.lock().unwrap_or_else(PoisonError::into_inner)
                    }
                    Err(TryLockError::WouldBlock) => continue,
                };
                if state.ended || self.is_stopped() {
                    continue;
                }
                if let Some(chunk) = self.cut_stream(stream, &mut state, buffer, fields)? {
                    return Ok(Some(chunk));
                }
                state.ended = true;
            }
        }
        Ok(None)
    }

    fn cut_stream(
        &self,
        stream: &Stream,
        state: &mut StreamState,
        buffer: &mut Buffer,
        fields: &mut Vec<Field>,
    ) -> Result<Option<Chunk>, Error> {
        let path = &stream.path;
        let mut have = state.carry.len();
        let mut want = self.files.chunk_bytes().max(2 * have).max(BYTE_ORDER_MARK.len());
        buffer.room(want)[..have].copy_from_slice(&state.carry);
        let mut ended = false;
        let mut head = Head { columns: state.columns.take(), blank_lines: 0 };
        let (mut from, mut at) = (0, 0);
        loop {
            while have < want && !ended {
                let into = &mut buffer.room(want)[have..];
                let read = read_some(path, &mut *state.reader, into, state.offset + have as u64)?;
                ended = read == 0;
                have += read;
            }
            if have == 0 {
                return Ok(None);
            }
            if state.offset == 0 && from == 0 {
                from = byte_order_mark(buffer.room(have));
                at = from;
            }
            // A mark is no line that lacks its end.
            let readable = have + usize::from(ended && from < have && terminate(buffer, have));
            let bytes = &buffer.room(readable)[..];
            let outcome = self
                .head(path, bytes, &mut from, readable, ended, &mut head, fields)?
                .and_then(|()| {
                    let range = (at.max(from), readable);
                    Pieces::new(bytes, range, self.shape.delimiter, ended).end(fields)
                });
            at = match outcome {
                Ok(end) | Err(end) => end,
            };
            if at == 0 && !ended {
                if have > MOST_RECORD_BYTES {
                    return Err(too_long(path, state.offset));
                }
                want = 2 * have;
                continue;
            }
            let taken = at.min(have);
            let newlines =
                |range: std::ops::Range<usize>| memchr_iter(b'\n', &bytes[range]).count() as u64;
            let line = state.lines + 1 + newlines(0..from);
            let cut = head.columns.clone().filter(|_| from < at).map(|columns| Cut {
                rows: Rows {
                    from: SLACK + from,
                    to: SLACK + at,
                    offset: state.offset + from as u64,
                    bytes: taken - from,
                    line: Some(line),
                },
                readable: SLACK + readable,
                ended,
                columns,
            });
            state.lines += newlines(0..at);
            state.carry.clear();
            state.carry.extend_from_slice(&bytes[at..readable]);
            state.offset += at as u64;
            state.columns = head.columns;
            state.ended = ended;
            let number = self.next_stream_chunk.fetch_add(1, Ordering::Relaxed);
            let (source, blank_lines) = (stream.source, head.blank_lines);
            return Ok(Some(Chunk { source, number, bytes: taken, blank_lines, cut }));
        }
    }
}

/// U+FEFF in UTF-8, which some programs put in front.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Bytes of the mark, if the text starts with it.
fn byte_order_mark(text: &[u8]) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
}

/// Puts a newline behind the last of `have` bytes unless it is one; true if it did.
fn terminate(buffer: &mut Buffer, have: usize) -> bool {
    let missing = buffer.room(have).last().is_some_and(|&byte| byte != b'\n');
    if missing {
        buffer.terminate(have);
    }
    missing
}

#[cfg(test)]
mod tests {
    use fathom_machine::level::Level;
    use proptest::prelude::*;

    use super::*;
    use crate::merge::Partial;
    use crate::merge::Stats;
    use crate::number::NumberError;

    fn shape(header: bool, key: Selector, values: &[Selector]) -> Shape {
        Shape { delimiter: b',', header, key, values: values.to_vec() }
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
        run_bytes(text.as_bytes(), shape, portion, false, &options(1, portion, Level::best()))
    }

    fn options(threads: usize, chunk_bytes: usize, level: Level) -> Options {
        Options { threads, chunk_bytes, level, with_squares: threads == 2, ..Options::default() }
    }

    fn run_bytes(
        text: &[u8],
        shape: &Shape,
        portion: usize,
        as_file: bool,
        options: &Options,
    ) -> Result<Summary, Error> {
        let source = if as_file {
            let mut file = tempfile::tempfile().unwrap();
            std::io::Write::write_all(&mut file, text).unwrap();
            Source::File { path: "t.csv".into(), file, size: text.len() as u64 }
        } else {
            let reader = Box::new(Slow(text.to_vec(), 0, portion));
            Source::Stream { path: "t.csv".into(), reader }
        };
        aggregate(vec![source], shape, options, OnError::Skip(None), &Progress::default())
    }

    /// The plain program: one record after the other, a sorted map per column.
    fn plain(text: &[u8], shape: &Shape, with_squares: bool) -> Result<Plain, Error> {
        use std::collections::BTreeMap;
        let path = Path::new("t.csv");
        let mut maps: Vec<BTreeMap<Box<[u8]>, Stats>> = vec![BTreeMap::new(); shape.values.len()];
        let mut plain = Plain::default();
        let mut columns = Columns::placed(shape);
        let (mut at, mut fields) = (byte_order_mark(text), Vec::new());
        while at < text.len() {
            let start = at;
            let outcome = split(text, at, shape.delimiter, true, &mut fields);
            at = match outcome {
                Split::Record(end) | Split::Blank(end) | Split::Malformed(_, end) => end,
                Split::More => unreachable!("the text has ended"),
            };
            let contents: Vec<_> = fields.iter().map(|field| field.content(text)).collect();
            let field = |place: usize| contents.get(place).ok_or(Reason::NoColumn(place + 1));
            let result = match (outcome, &columns) {
                (Split::Blank(_), _) => {
                    plain.blank_lines += 1;
                    continue;
                }
                (Split::Malformed(reason, _), None) => {
                    return Err(Error::BadHeader { path: path.to_owned(), reason });
                }
                (Split::Malformed(reason, _), Some(_)) => Err(reason),
                (_, None) => {
                    columns = Some(Arc::new(Columns::named(shape, path, &contents)?));
                    continue;
                }
                (_, Some(columns)) => (|| {
                    let values: Vec<Decimal> = columns
                        .values
                        .iter()
                        .map(|&place| Ok::<_, Reason>(Decimal::parse(field(place)?)?))
                        .collect::<Result<_, _>>()?;
                    let key = field(columns.key)?;
                    if key.is_empty() {
                        return Err(Reason::EmptyKey);
                    }
                    Ok((key, values))
                })(),
            };
            match result {
                Ok((key, values)) => {
                    plain.records += 1;
                    for (map, value) in maps.iter_mut().zip(values) {
                        map.entry(key.to_vec().into())
                            .and_modify(|stats| stats.add(value).unwrap())
                            .or_insert_with(|| Stats::of(value, with_squares));
                    }
                }
                Err(reason) => {
                    let line = text[..start].iter().filter(|&&b| b == b'\n').count() as u64 + 1;
                    plain.rejects.push((start as u64, line, reason));
                }
            }
        }
        plain.columns = maps
            .into_iter()
            .map(|map| {
                map.into_iter().map(|(key, stats)| Partial { key: key.into(), stats }).collect()
            })
            .collect();
        Ok(plain)
    }

    #[derive(Debug, Default)]
    struct Plain {
        columns: Vec<Vec<Partial>>,
        records: u64,
        blank_lines: u64,
        rejects: Vec<(u64, u64, Reason)>,
    }

    fn assert_same(text: &[u8], shape: &Shape, portion: usize, file: bool, options: &Options) {
        let what = || {
            let (threads, chunk) = (options.threads, options.chunk_bytes);
            let text = String::from_utf8_lossy(text);
            format!(
                "{text:?}, file {file}, {threads} threads, chunks of {chunk}, {}",
                options.level
            )
        };
        let found = run_bytes(text, shape, portion, file, options);
        let expected = plain(text, shape, options.with_squares);
        let (found, expected) = match (found, expected) {
            (Ok(found), Ok(expected)) => (found, expected),
            (Err(found), Err(expected)) => {
                assert_eq!(found.to_string(), expected.to_string(), "{}", what());
                return;
            }
            (found, expected) => panic!("{}: {found:?} for {expected:?}", what()),
        };
        let groups: Vec<_> = found.columns.iter().map(|column| column.groups.clone()).collect();
        assert_eq!(groups, expected.columns, "{}", what());
        let rejects: Vec<_> = found
            .shown_rejects
            .iter()
            .map(|r| (r.position.byte, r.position.record, r.reason))
            .collect();
        let shown = expected.rejects.len().min(crate::rejects::SHOWN);
        assert_eq!(rejects, expected.rejects[..shown], "{}", what());
        let counts = (found.records, found.blank_lines, found.rejected, found.bytes);
        let rejected = expected.rejects.len() as u64;
        let bytes = text.len() as u64;
        assert_eq!(counts, (expected.records, expected.blank_lines, rejected, bytes), "{}", what());
    }

    #[test]
    fn every_split_of_quoted_and_unquoted_text_gives_the_same_answer() {
        let long = "a key of more than sixteen bytes";
        let texts = [
            String::new(),
            "\u{feff}".into(),
            "\u{feff}k,v\na,1.5".into(),
            "k,v\n".into(),
            "\n\nk,v\n\n\na,1.5\n\n".into(),
            "k,v\r\na,1.5\r\n\r\nb,-22.5\r\na,0.25".into(),
            format!("k,v\n{long},1.5\n\"{long}\",2.5\n{long}!,99.9\n\"{long}\n\",-1.0\n"),
            "k,v\n\"a\nb\",1.5\n\"a,b\",2.5,x\na;b,1.0\nc\nd,,e\n,1.0\ne,1.0\n".into(),
            "k,v\n\"two\nlines\"x,1\na,1.5\n\"open,1\nb,2.5\n".into(),
            "\"k\nk\",v\n\"a\",\"1.5\"\n\"\"\"\",\"2.5\"".into(),
            "k,v\n\"never closed,1\na,1.5\nb,2.5".into(),
            "k\"k,v\na,1\n".into(),
        ];
        for text in &texts {
            let columns = [Selector::Place(2)];
            for header in [false, true] {
                let shape = shape(header, Selector::Place(1), &columns);
                for chunk in 1..=text.len() + 1 {
                    for level in Level::available() {
                        let text = text.as_bytes();
                        assert_same(text, &shape, 1000, true, &options(1, chunk, level));
                        assert_same(text, &shape, chunk, false, &options(2, 7, level));
                    }
                    let three = options(3, chunk, Level::best());
                    assert_same(text.as_bytes(), &shape, 1000, true, &three);
                }
            }
        }
    }

    #[test]
    fn many_keys_and_columns_agree_with_the_plain_program() {
        let mut text = String::from("id,v,name,w\n");
        let mut state = 7_u64;
        for i in 0..30_000_u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(i | 1);
            let key = (state >> 40) % 6000;
            let padding = "-and-more".repeat((key % 5) as usize);
            let quote = if state >> 20 & 255 == 0 { "\"" } else { "" };
            let tenths = (state >> 8) % 1000;
            let (v, w) = (format!("-{}.{}", tenths / 10, tenths % 10), tenths % 200);
            text += &format!("{i},{v},{quote}{key}{padding}{quote},{w}.5\n");
        }
        let columns = [Selector::Name("w".into()), Selector::Name("v".into())];
        let shape = shape(true, Selector::Name("name".into()), &columns);
        for level in Level::available() {
            for threads in [1, 2, 3] {
                let options = options(threads, 20_000, level);
                assert_same(text.as_bytes(), &shape, 1 << 20, true, &options);
                assert_same(text.as_bytes(), &shape, 5000, false, &options);
            }
        }
    }

    #[test]
    fn a_memory_limit_is_an_error_that_counts_keys() {
        let text: String = (0..200_000).map(|i| format!("k{i},1.0\n")).collect();
        let shape = shape(false, Selector::Place(1), &[Selector::Place(2)]);
        let options =
            Options { memory_limit_bytes: Some(2 << 20), ..options(2, 1 << 16, Level::best()) };
        let error = run_bytes(text.as_bytes(), &shape, 1000, true, &options).unwrap_err();
        let Error::MemoryLimit { keys, .. } = error else { panic!("{error}") };
        assert!((10_000..=400_000).contains(&keys), "{keys}");
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 256,
            // A failure prints its input; it becomes a named case above.
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn any_text_in_any_split_agrees(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "a", "b", ",", ",", "1.5", "-22.5", "0.25", "\"", "\"\"", "\n", "\n", "\r\n",
                "a,1.5\n", "bcd,-7.5\n", "\"q,q\",3.5\n", "a key of many bytes,5.5\n", ";",
            ]), 0..60),
            chunk in 1_usize..80,
            threads in 1_usize..4,
            file in any::<bool>(),
            header in any::<bool>(),
        ) {
            let text = pieces.concat();
            let shape = shape(header, Selector::Place(1), &[Selector::Place(2)]);
            for level in Level::available() {
                let options = options(threads, chunk, level);
                assert_same(text.as_bytes(), &shape, chunk, file, &options);
            }
        }
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
