//! The queue: the chunks of all sources, those of files first, then those of streams.
//!
//! Threads take the next chunk when they are free; no split is fixed beforehand, because schedulers
//! are unfair. There is a lock per chunk of a stream. How a chunk is cut into whole records differs
//! between forms of input and is theirs.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};

use crate::chunk::Rows;
use crate::error::Error;
use crate::kept::Order;
use crate::rejects::Taken;
use crate::source::{FilePart, Files, Source, read_some};

/// Chunks of files and streams. `S` is what is known of a stream between two of its chunks.
pub(crate) struct Queue<S> {
    pub(crate) files: Files,
    streams: Vec<Stream<S>>,
    next_file_chunk: AtomicU64,
    next_stream_chunk: AtomicU64,
    stopped: AtomicBool,
}

struct Stream<S> {
    source: usize,
    path: PathBuf,
    state: Mutex<Reading<S>>,
}

/// Reads some bytes of a stream into a slice; which offset they have is for the error.
pub(crate) type ReadSome<'a> = &'a mut dyn FnMut(&mut [u8], u64) -> Result<usize, Error>;

/// A stream somebody reads.
struct Reading<S> {
    reader: Box<dyn Read + Send>,
    state: S,
    ended: bool,
}

/// Which chunk something is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Which of the sources.
    pub(crate) source: usize,
    /// Which chunk in the order of the input.
    pub(crate) number: u64,
    /// The byte of the source that stands at the start of the buffer, or would; so it may wrap.
    base: u64,
}

impl Place {
    /// The first of all.
    pub(crate) const FIRST: Place = Place::new(0, 0);

    const fn new(source: usize, number: u64) -> Place {
        Place { source, number, base: 0 }
    }

    /// The same chunk once its rows are in a buffer.
    pub(crate) fn of(self, rows: Rows) -> Place {
        Place { base: rows.offset.wrapping_sub(rows.from as u64), ..self }
    }

    /// What starts at this byte of the chunk's buffer.
    pub(crate) fn order(self, start: usize) -> Order {
        Order { source: self.source, byte: self.base.wrapping_add(start as u64) }
    }

    /// The chunk with nothing in it.
    pub(crate) fn taken(self) -> Taken {
        let Place { source, number, .. } = self;
        Taken { source, number, bytes: 0, lines: 0, rejects: Vec::new() }
    }
}

impl<S> Queue<S> {
    pub(crate) fn new(
        sources: Vec<Source>,
        chunk_bytes: usize,
        stream_state: impl Fn() -> S,
    ) -> Queue<S> {
        let mut files = Files::new(chunk_bytes);
        let mut streams = Vec::new();
        for (index, source) in sources.into_iter().enumerate() {
            match source {
                Source::File { path, file, size } => files.push(index, path, file, 0..size, size),
                Source::Part { path, file, size, range } => {
                    files.push(index, path, file, range, size);
                }
                Source::Stream { path, reader } => {
                    let state = Reading { reader, state: stream_state(), ended: false };
                    streams.push(Stream { source: index, path, state: Mutex::new(state) });
                }
            }
        }
        let [next_file_chunk, next_stream_chunk] = [0, files.chunks()].map(AtomicU64::new);
        let stopped = AtomicBool::new(false);
        Queue { files, streams, next_file_chunk, next_stream_chunk, stopped }
    }

    /// No chunk is handed out any more; those that were are finished, so that of several errors
    /// the first in the input is found.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Chunks there are, as far as that is known.
    pub(crate) fn most_chunks(&self) -> usize {
        let chunks = usize::try_from(self.files.chunks()).unwrap_or(usize::MAX);
        if self.streams.is_empty() { chunks } else { usize::MAX }
    }

    /// The next chunk of the files; None when all were handed out.
    pub(crate) fn file_chunk(&self) -> Option<(Place, FilePart<'_>)> {
        let number = self.next_file_chunk.fetch_add(1, Ordering::Relaxed);
        let part = self.files.part(number)?;
        Some((Place::new(part.source, number), part))
    }

    /// Cuts the next chunk of the first stream nobody is reading; if all are being read, of the
    /// first that has not ended. `cut` gets the stream's number and path, its state, and what reads from it
    /// into a slice at an offset; None from it ends the stream.
    pub(crate) fn stream_chunk<T>(
        &self,
        mut cut: impl FnMut((usize, &Path), &mut S, ReadSome<'_>) -> Result<Option<T>, Error>,
    ) -> Result<Option<(Place, T)>, Error> {
        for wait in [false, true] {
            for Stream { source, path, state } in &self.streams {
                let mut stream = match state.try_lock() {
                    Ok(stream) => stream,
                    Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                    Err(TryLockError::WouldBlock) if wait => {
                        state.lock().unwrap_or_else(PoisonError::into_inner)
                    }
                    Err(TryLockError::WouldBlock) => continue,
                };
                if stream.ended || self.is_stopped() {
                    continue;
                }
                let Reading { reader, state, ended } = &mut *stream;
                let read = &mut |into: &mut [u8], at| read_some(path, reader, into, at);
                // Nobody goes on behind what could not be read or cut: it would be taken for a beginning.
                let chunk = cut((*source, path), state, read).inspect_err(|_| *ended = true)?;
                let Some(chunk) = chunk else {
                    *ended = true;
                    continue;
                };
                let number = self.next_stream_chunk.fetch_add(1, Ordering::Relaxed);
                return Ok(Some((Place::new(*source, number), chunk)));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_thread_read_on_behind_a_header_that_was_refused() {
        let pipe = Source::Stream { path: "pipe".into(), reader: Box::new(&b"a;b\n1;2\n"[..]) };
        let queue = Queue::new(vec![pipe], 1, || ());
        let first = queue.stream_chunk::<()>(|_, (), _| Err(Error::Interrupted));
        assert!(matches!(first, Err(Error::Interrupted)));
        let second = queue.stream_chunk::<()>(|_, (), _| panic!("there is nothing to read on for"));
        assert!(matches!(second, Ok(None)));
    }
}
