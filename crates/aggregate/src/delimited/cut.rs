//! Cutting: whole records into chunks, where a record may contain line breaks.
//!
//! Chunks of a file are read by all threads at once, but cut in their order: each needs to know
//! where the one before it ended. Values are not looked at.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use memchr::{memchr, memchr_iter};

use super::columns::Columns;
use super::enter::{beginning, enter};
use super::head::{Head, terminate};
use super::pieces::Pieces;
use super::query::{Kind, Query};
use crate::chunk::{Buffer, MOST_RECORD_BYTES, Rows, SLACK, byte_order_mark, ensure_short, longer};
use crate::engine::Names;
use crate::error::Error;
use crate::kernel::marks::Marker;
use crate::queue::{Place, Queue, ReadSome};
use crate::record::{Field, Marks};
use crate::selector::Selector;
use crate::source::{FilePart, Source, read_at};

/// A chunk in a thread's buffer.
pub(super) struct Chunk {
    /// Input it takes in bytes, header included.
    pub(super) bytes: usize,
    /// Blank lines before the header.
    pub(super) blank_lines: u64,
    /// Line ends before the first record.
    pub(super) lines: u64,
    /// Its records, if any starts in it.
    pub(super) cut: Option<Cut>,
}

/// Where a chunk's records stand in the buffer.
pub(super) struct Cut {
    pub(super) rows: Rows,
    /// Which of them the marks in hand are of.
    pub(super) marked: Option<Range<usize>>,
    /// Input stands before this byte of the buffer, and goes on there unless it has `ended`: where
    /// the end was found by looking further, so must whoever parses.
    pub(super) readable: usize,
    pub(super) ended: bool,
    pub(super) columns: Arc<Columns>,
}

/// What a thread keeps from chunk to chunk: room for the fields of a record, and for the marks of many.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) fields: Vec<Field>,
    pub(super) marks: Marks,
}

/// The chunks of all sources.
pub(super) struct Chunks<'a> {
    pub(super) query: &'a Query,
    marker: Marker,
    pub(super) queue: Queue<StreamState>,
    turn: Mutex<Turn>,
    passed: Condvar,
    /// Of the first source that has a header: which it is, and its columns.
    named: Mutex<Option<(usize, Arc<Columns>)>>,
}

/// Whose turn it is to find where records end.
struct Turn {
    chunk: u64,
    /// Where the first record of the file starts that is taken.
    first: u64,
    /// Where the next one starts.
    start: u64,
    /// Where the first of all records of the file starts, once that is known.
    records: Option<u64>,
    columns: Option<Arc<Columns>>,
}

/// What is known of a stream between two chunks.
pub(super) struct StreamState {
    /// What was read of a record that is not complete.
    carry: Vec<u8>,
    offset: u64,
    ended: bool,
    columns: Option<Arc<Columns>>,
}

impl<'a> Chunks<'a> {
    pub(super) fn new(
        sources: Vec<Source>,
        query: &'a Query,
        chunk_bytes: usize,
        marker: Marker,
    ) -> Chunks<'a> {
        let stream = || StreamState {
            carry: Vec::new(),
            offset: 0,
            ended: false,
            columns: Columns::placed(query).map(Arc::new),
        };
        Chunks {
            query,
            marker,
            queue: Queue::new(sources, chunk_bytes, stream),
            turn: Mutex::new(Turn { chunk: 0, first: 0, start: 0, records: None, columns: None }),
            passed: Condvar::new(),
            named: Mutex::new(None),
        }
    }

    /// What the keys and the values are called.
    pub(super) fn names(&self) -> Names {
        let query = self.query;
        let named = &*self.named.lock().unwrap_or_else(PoisonError::into_inner);
        let name = |selector: &Selector, place: fn(&Columns) -> &[usize], at: usize| match named {
            Some((_, columns)) => columns.name(place(columns)[at]),
            None => selector.to_string(),
        };
        let keys = query.by.iter().enumerate().map(|(at, by)| name(&by.column, |c| &c.keys, at));
        let values = query.values.iter().enumerate();
        let values = values.map(|(at, value)| match value.formula {
            Some(_) => (value.column.to_string(), false),
            None => (name(&value.column, |c| &c.values, at), value.kind == Kind::Text),
        });
        let lacks_header = query.header && named.is_none() && query.has_places();
        let mut names = Names { keys: keys.collect(), values: values.collect(), lacks_header };
        if query.values.is_empty() {
            names.values.push(("records".to_owned(), false));
        }
        names
    }

    /// Where the first record of the last file starts, and where the one behind the last.
    pub(super) fn seam(&self) -> Option<[u64; 2]> {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        // What comes before the first record of the file is its beginning, wherever that was left.
        let is_behind = |at: &u64| turn.records.is_some_and(|records| *at > records);
        let place = |at: u64| Some(at).filter(is_behind).unwrap_or(0);
        (turn.chunk > 0).then(|| [turn.first, turn.start].map(place))
    }

    /// Notes the columns of a source whose header was read.
    fn name(&self, source: usize, columns: Option<&Arc<Columns>>) {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(columns) = columns
            && named.as_ref().is_none_or(|(first, _)| source < *first)
        {
            *named = Some((source, Arc::clone(columns)));
        }
    }

    /// No chunk is cut any more; those that were are finished, and they are the first of their sources.
    pub(super) fn stop(&self) {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.queue.stop();
        drop(turn);
        self.passed.notify_all();
    }

    /// The next chunk, read and cut; None when there is none. Those of its records that were marked on the way are said.
    pub(super) fn next(
        &self,
        buffer: &mut Buffer,
        scratch: &mut Scratch,
    ) -> Result<Option<(Place, Chunk)>, Error> {
        if self.queue.is_stopped() {
            return Ok(None);
        }
        if let Some((place, part)) = self.queue.file_chunk() {
            return self.file_chunk(place, part, buffer, scratch);
        }
        self.queue.stream_chunk(|at, state, read| self.cut_stream(at, state, read, buffer, scratch))
    }

    /// Marks records from a place of the buffer on, where one starts that has a quote, up to the last that starts
    /// before `limit`; None if there is nothing to be marked.
    fn mark(
        &self,
        bytes: &[u8],
        (from, limit): (usize, usize),
        marks: &mut Marks,
    ) -> Option<Range<usize>> {
        /// Marks take about as much memory as the text.
        const MOST_BYTES: usize = 1 << 20;
        let line = memchr(b'\n', &bytes[from..])?;
        self.query.cut_by().and_then(|_| memchr(b'"', &bytes[from..][..line]))?;
        let limit = limit.min(from + MOST_BYTES);
        let end = self.marker.run(bytes, (from, limit), self.query.dialect(), Some(marks));
        (end > from).then_some(from..end)
    }

    /// The same before it is known where records start: behind the first newline, most likely.
    fn scout(&self, bytes: &[u8], limit: usize, marks: &mut Marks) -> Option<Range<usize>> {
        // What starts at the limit belongs to the next chunk.
        let newline = memchr(b'\n', &bytes[SLACK..limit - 1])?;
        self.mark(bytes, (SLACK + newline + 1, limit), marks)
    }

    /// Reads a chunk of a file, waits for its turn, and cuts it.
    fn file_chunk(
        &self,
        place: Place,
        part: FilePart<'_>,
        buffer: &mut Buffer,
        Scratch { fields, marks }: &mut Scratch,
    ) -> Result<Option<(Place, Chunk)>, Error> {
        const FIRST_EXTRA_BYTES: u64 = 256;
        let have = ((part.end + FIRST_EXTRA_BYTES).min(part.size) - part.start) as usize;
        // A failure is told when it is this chunk's turn: there may be another before it.
        let read = read_at(part.path, part.file, part.size, buffer.room(have), part.start);
        let limit = SLACK + (part.end - part.start) as usize;
        let scouted = match (&read, part.start) {
            (Ok(()), 1..) => self.scout(&buffer.bytes()[..SLACK + have], limit, marks),
            _ => None,
        };
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        while turn.chunk != place.number && !self.queue.is_stopped() {
            turn = self.passed.wait(turn).unwrap_or_else(PoisonError::into_inner);
        }
        if self.queue.is_stopped() {
            return Ok(None);
        }
        read?;
        let chunk = self.cut_file(part, (have, scouted), &mut turn, buffer, fields)?;
        // A part may end before the header; its columns have the names of that all the same.
        if turn.columns.is_none() && part.end == part.until && part.end < part.size {
            self.name(part.source, beginning(self.query, part, fields)?.columns.as_ref());
        }
        turn.chunk += 1;
        drop(turn);
        self.passed.notify_all();
        Ok(Some((place, chunk)))
    }

    fn cut_file(
        &self,
        part: FilePart<'_>,
        (mut have, scouted): (usize, Option<Range<usize>>),
        turn: &mut MutexGuard<'_, Turn>,
        buffer: &mut Buffer,
        fields: &mut Vec<Field>,
    ) -> Result<Chunk, Error> {
        let FilePart { start, end, size, .. } = part;
        let (mut blank_lines, mut before) = (0, 0);
        if start == 0 {
            turn.start = byte_order_mark(buffer.room(have)) as u64;
            turn.columns = Columns::placed(self.query).map(Arc::new);
            (turn.first, turn.records) = (0, turn.columns.as_ref().map(|_| turn.start));
        } else if part.is_first {
            let entry = enter(self.query, part, fields)?;
            (turn.start, turn.columns, turn.records) = (entry.start, entry.columns, entry.records);
            turn.first = turn.start;
            (blank_lines, before) = (entry.blank_lines, entry.bytes);
            self.name(part.source, turn.columns.as_ref());
        }
        if turn.start >= end {
            let bytes = if start == 0 { turn.start as usize } else { before };
            return Ok(Chunk { bytes, blank_lines, lines: 0, cut: None });
        }
        let local = |offset: u64| (offset - start) as usize;
        let mut head = Head::new(turn.columns.take(), local(turn.start));
        let taken_from = if start == 0 { 0 } else { head.from };
        // What was marked is right if one record after the other ends there.
        let marked = scouted.filter(|marked| {
            let bytes = &buffer.room(have)[..];
            let before = (head.from, marked.start - SLACK);
            let pieces = || Pieces::new(bytes, before, self.query.cut_by(), false, self.marker);
            head.is_known() && before.0 <= before.1 && pieces().end(fields) == Ok(before.1)
        });
        let mut at = marked.as_ref().map_or(head.from, |marked| marked.end - SLACK);
        let (at, readable, ended) = loop {
            let ended = start + have as u64 == size;
            let readable = have + usize::from(ended && terminate(buffer, have));
            let bytes = &buffer.room(readable)[..];
            let range = (at, local(end));
            match head.end_of_records(
                self.query,
                part.path,
                bytes,
                range,
                ended,
                (&mut *fields, self.marker),
            )? {
                Ok(end) => {
                    // What was complete at once is shorter: a chunk has half as many bytes at most.
                    ensure_short(part.path, start, at..end.max(at + 1) - 1)?;
                    break (end, readable, ended);
                }
                Err(incomplete) => {
                    ensure_short(part.path, start, incomplete..have)?;
                    at = incomplete;
                    let more = longer(have, incomplete).min(local(size));
                    let offset = start + have as u64;
                    let into = &mut buffer.room(more)[have..];
                    read_at(part.path, part.file, size, into, offset)?;
                    have = more;
                }
            }
        };
        turn.start = (start + at as u64).min(size);
        let known = head.columns.as_ref().map(|_| start + head.from as u64);
        turn.records = turn.records.or(known);
        turn.columns.clone_from(&head.columns);
        let from = head.from;
        self.name(part.source, head.columns.as_ref());
        let cut = head.columns.filter(|_| from < at).map(|columns| Cut {
            rows: Rows {
                from: SLACK + from,
                to: SLACK + at,
                offset: start + from as u64,
                bytes: at.min(have) - from,
                mark: 0,
            },
            marked,
            readable: SLACK + readable,
            ended,
            columns,
        });
        let bytes = before + at.min(have) - taken_from;
        let lines = line_ends(&buffer.room(from)[taken_from..]);
        Ok(Chunk { bytes, blank_lines: blank_lines + head.blank.len() as u64, lines, cut })
    }

    /// The next chunk of a stream; None at its end.
    fn cut_stream(
        &self,
        (source, path): (usize, &Path),
        state: &mut StreamState,
        read: ReadSome<'_>,
        buffer: &mut Buffer,
        Scratch { fields, marks }: &mut Scratch,
    ) -> Result<Option<Chunk>, Error> {
        if state.ended {
            return Ok(None);
        }
        let mut have = state.carry.len();
        ensure_short(path, state.offset, 0..have)?;
        // As of lines, see `Carry`.
        let mut want = self.queue.files.chunk_bytes().max(2 * have).clamp(3, MOST_RECORD_BYTES + 1);
        buffer.room(want)[..have].copy_from_slice(&state.carry);
        let mut ended = false;
        let mut head = Head::new(state.columns.take(), 0);
        let mut at = 0;
        loop {
            while have < want && !ended {
                let into = &mut buffer.room(want)[have..];
                let got = read(into, state.offset + have as u64)?;
                ended = got == 0;
                have += got;
            }
            if have == 0 {
                return Ok(None);
            }
            if state.offset == 0 && head.from == 0 {
                head.from = byte_order_mark(buffer.room(have));
                at = head.from;
            }
            // A mark is no line that lacks its end.
            let readable = have + usize::from(ended && head.from < have && terminate(buffer, have));
            let text = &buffer.bytes()[..SLACK + readable];
            let from = SLACK + head.from;
            let marked = match head.is_known() {
                true => self.mark(text, (from, text.len()), marks),
                false => None,
            };
            at = marked.as_ref().map_or(at, |marked| marked.end - SLACK);
            let bytes = &buffer.room(readable)[..];
            let range = (at, readable);
            at = match head.end_of_records(
                self.query,
                path,
                bytes,
                range,
                ended,
                (&mut *fields, self.marker),
            )? {
                Ok(end) | Err(end) => end,
            };
            if at == 0 && !ended {
                ensure_short(path, state.offset, 0..have)?;
                want = (2 * have).min(MOST_RECORD_BYTES + 1);
                continue;
            }
            let (from, taken) = (head.from, at.min(have));
            self.name(source, head.columns.as_ref());
            let cut = head.columns.clone().filter(|_| from < at).map(|columns| Cut {
                rows: Rows {
                    from: SLACK + from,
                    to: SLACK + at,
                    offset: state.offset + from as u64,
                    bytes: taken - from,
                    mark: 0,
                },
                marked,
                readable: SLACK + readable,
                ended,
                columns,
            });
            let lines = line_ends(&bytes[..from]);
            state.carry.clear();
            state.carry.extend_from_slice(&bytes[at..readable]);
            state.offset += at as u64;
            state.columns = head.columns;
            state.ended = ended;
            let blank_lines = head.blank.len() as u64;
            return Ok(Some(Chunk { bytes: taken, blank_lines, lines, cut }));
        }
    }
}

fn line_ends(text: &[u8]) -> u64 {
    memchr_iter(b'\n', text).count() as u64
}
