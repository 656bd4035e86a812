//! Cutting: whole records into chunks, where a record may contain line breaks.
//!
//! Chunks of a file are read by all threads at once, but cut in their order: each needs to know
//! where the one before it ended. Values are not looked at.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use memchr::memchr_iter;

use super::columns::Columns;
use super::query::{Kind, Query};
use crate::chunk::{Buffer, MOST_RECORD_BYTES, Rows, SLACK, byte_order_mark, longer, too_long};
use crate::engine::Names;
use crate::error::Error;
use crate::queue::{Place, Queue, ReadSome};
use crate::record::{Field, Pieces, Split, split};
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
    /// Input stands before this byte of the buffer, and goes on there unless it has `ended`: where
    /// the end was found by looking further, so must whoever parses.
    pub(super) readable: usize,
    pub(super) ended: bool,
    pub(super) columns: Arc<Columns>,
}

/// What comes before the first record of a chunk, and what was learnt there.
struct Head {
    columns: Option<Arc<Columns>>,
    blank_lines: u64,
    /// Where the first record starts.
    from: usize,
}

impl Head {
    fn new(columns: Option<Arc<Columns>>, from: usize) -> Head {
        Head { columns, blank_lines: 0, from }
    }

    /// Where the last record that starts before `limit` ends; those before `at` are complete. Reads
    /// the header first if the columns are not known. An inner error is the place of a record that
    /// is not complete.
    fn end_of_records(
        &mut self,
        query: &Query,
        path: &Path,
        bytes: &[u8],
        (at, limit): (usize, usize),
        ended: bool,
        fields: &mut Vec<Field>,
    ) -> Result<Result<usize, usize>, Error> {
        while self.columns.is_none() && self.from < limit {
            match split(bytes, self.from, query.delimiter, ended, fields) {
                Split::More => return Ok(Err(self.from)),
                Split::Blank(end) => {
                    self.blank_lines += 1;
                    self.from = end;
                }
                Split::Malformed(reason, _) => {
                    return Err(Error::BadHeader { path: path.to_owned(), reason });
                }
                Split::Record(end) => {
                    let names: Vec<_> = fields.iter().map(|field| field.content(bytes)).collect();
                    self.columns = Some(Arc::new(Columns::named(query, path, &names)?));
                    self.from = end;
                }
            }
        }
        let mut first = self.from;
        while let Some(columns) = self.columns.as_mut().filter(|known| known.fields.is_none())
            && first < limit
        {
            match split(bytes, first, query.delimiter, ended, fields) {
                Split::More => return Ok(Err(first)),
                Split::Blank(end) | Split::Malformed(_, end) => first = end,
                Split::Record(_) => Arc::make_mut(columns).fields = Some(fields.len()),
            }
        }
        let range = (at.max(self.from), limit);
        Ok(Pieces::new(bytes, range, query.cut_by(), ended).end(fields))
    }
}

/// The chunks of all sources.
pub(super) struct Chunks<'a> {
    pub(super) query: &'a Query,
    pub(super) queue: Queue<StreamState>,
    turn: Mutex<Turn>,
    passed: Condvar,
    /// Of the first source that has a header: which it is, and its columns.
    named: Mutex<Option<(usize, Arc<Columns>)>>,
}

/// Whose turn it is to find where records end.
struct Turn {
    chunk: u64,
    /// Where the next record of the file starts.
    start: u64,
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
    pub(super) fn new(sources: Vec<Source>, query: &'a Query, chunk_bytes: usize) -> Chunks<'a> {
        let stream =
            || StreamState { carry: Vec::new(), offset: 0, ended: false, columns: known(query) };
        Chunks {
            query,
            queue: Queue::new(sources, chunk_bytes, stream),
            turn: Mutex::new(Turn { chunk: 0, start: 0, columns: None }),
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
        let values = values
            .map(|(at, value)| (name(&value.column, |c| &c.values, at), value.kind == Kind::Text));
        let mut names = Names { keys: keys.collect(), values: values.collect() };
        if query.values.is_empty() {
            names.values.push(("records".to_owned(), false));
        }
        names
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

    /// No chunk is cut any more; those that were are finished, and they are the first of the input.
    pub(super) fn stop(&self) {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.queue.stop();
        drop(turn);
        self.passed.notify_all();
    }

    /// The next chunk, read and cut; None when there is none.
    pub(super) fn next(
        &self,
        buffer: &mut Buffer,
        fields: &mut Vec<Field>,
    ) -> Result<Option<(Place, Chunk)>, Error> {
        if self.queue.is_stopped() {
            return Ok(None);
        }
        if let Some((place, part)) = self.queue.file_chunk() {
            return self.file_chunk(place, part, buffer, fields);
        }
        self.queue.stream_chunk(|at, state, read| self.cut_stream(at, state, read, buffer, fields))
    }

    /// Reads a chunk of a file, waits for its turn, and cuts it.
    fn file_chunk(
        &self,
        place: Place,
        part: FilePart<'_>,
        buffer: &mut Buffer,
        fields: &mut Vec<Field>,
    ) -> Result<Option<(Place, Chunk)>, Error> {
        const FIRST_EXTRA_BYTES: u64 = 256;
        let have = ((part.end + FIRST_EXTRA_BYTES).min(part.size) - part.start) as usize;
        // A failure is told when it is this chunk's turn: there may be another before it.
        let read = read_at(part.path, part.file, part.size, buffer.room(have), part.start);
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        while turn.chunk != place.number && !self.queue.is_stopped() {
            turn = self.passed.wait(turn).unwrap_or_else(PoisonError::into_inner);
        }
        if self.queue.is_stopped() {
            return Ok(None);
        }
        read?;
        let chunk = self.cut_file(part, have, &mut turn, buffer, fields)?;
        turn.chunk += 1;
        drop(turn);
        self.passed.notify_all();
        Ok(Some((place, chunk)))
    }

    fn cut_file(
        &self,
        part: FilePart<'_>,
        mut have: usize,
        turn: &mut MutexGuard<'_, Turn>,
        buffer: &mut Buffer,
        fields: &mut Vec<Field>,
    ) -> Result<Chunk, Error> {
        let FilePart { start, end, size, .. } = part;
        if start == 0 {
            turn.start = byte_order_mark(buffer.room(have)) as u64;
            turn.columns = known(self.query);
        }
        if turn.start >= end {
            let bytes = if start == 0 { turn.start as usize } else { 0 };
            return Ok(Chunk { bytes, blank_lines: 0, lines: 0, cut: None });
        }
        let local = |offset: u64| (offset - start) as usize;
        let mut head = Head::new(turn.columns.take(), local(turn.start));
        let taken_from = if start == 0 { 0 } else { head.from };
        let mut at = head.from;
        let (at, readable, ended) = loop {
            let ended = start + have as u64 == size;
            let readable = have + usize::from(ended && terminate(buffer, have));
            let bytes = &buffer.room(readable)[..];
            let range = (at, local(end));
            match head.end_of_records(self.query, part.path, bytes, range, ended, fields)? {
                Ok(end) => break (end, readable, ended),
                Err(incomplete) => {
                    if have - incomplete > MOST_RECORD_BYTES {
                        return Err(too_long(part.path, start + incomplete as u64));
                    }
                    at = incomplete;
                    let more = longer(have, incomplete).min(local(size));
                    let offset = start + have as u64;
                    let into = &mut buffer.room(more)[have..];
                    read_at(part.path, part.file, size, into, offset)?;
                    have = more;
                }
            }
        };
        turn.start = start + at as u64;
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
            readable: SLACK + readable,
            ended,
            columns,
        });
        let bytes = at.min(have) - taken_from;
        let lines = line_ends(&buffer.room(from)[taken_from..]);
        Ok(Chunk { bytes, blank_lines: head.blank_lines, lines, cut })
    }

    /// The next chunk of a stream; None at its end.
    fn cut_stream(
        &self,
        (source, path): (usize, &Path),
        state: &mut StreamState,
        read: ReadSome<'_>,
        buffer: &mut Buffer,
        fields: &mut Vec<Field>,
    ) -> Result<Option<Chunk>, Error> {
        if state.ended {
            return Ok(None);
        }
        let mut have = state.carry.len();
        if have > MOST_RECORD_BYTES {
            return Err(too_long(path, state.offset));
        }
        let mut want = self.queue.files.chunk_bytes().max(2 * have).max(3);
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
            let bytes = &buffer.room(readable)[..];
            let range = (at, readable);
            at = match head.end_of_records(self.query, path, bytes, range, ended, fields)? {
                Ok(end) | Err(end) => end,
            };
            if at == 0 && !ended {
                if have > MOST_RECORD_BYTES {
                    return Err(too_long(path, state.offset));
                }
                want = 2 * have;
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
            let blank_lines = head.blank_lines;
            return Ok(Some(Chunk { bytes: taken, blank_lines, lines, cut }));
        }
    }
}

/// The columns where no header says them; whether there can be such was asked before.
fn known(query: &Query) -> Option<Arc<Columns>> {
    Columns::known(query, Path::new("-")).ok().flatten().map(Arc::new)
}

fn line_ends(text: &[u8]) -> u64 {
    memchr_iter(b'\n', text).count() as u64
}

/// Puts a newline behind the last of `have` bytes unless it is one; true if it did.
fn terminate(buffer: &mut Buffer, have: usize) -> bool {
    let missing = buffer.room(have).last().is_some_and(|&byte| byte != b'\n');
    if missing {
        buffer.terminate(have);
    }
    missing
}
