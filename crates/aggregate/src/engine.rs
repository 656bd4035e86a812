//! The engine: sources into chunks, chunks to threads, threads into tables, tables into one.
//!
//! Threads take the next chunk when they are free; no split is fixed beforehand, because
//! schedulers are unfair. There is no lock and no allocation per record: a lock per chunk of a
//! stream, and one per chunk that has rejects or must keep their order.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};

use fathom_machine::level::Level;
use fathom_machine::os::affinity;
use memchr::memchr_iter;

use crate::chunk::{Buffer, Carry, Rows, read_rows};
use crate::error::Error;
use crate::gather::{Run, gather};
use crate::kernel::Kernel;
use crate::merge::Partial;
use crate::rejects::{Collector, OnError, Raw};
use crate::shard::{Refused, Shard};

/// Where input comes from.
pub enum Source {
    /// A regular file, read in any order at known offsets.
    File {
        /// As the user named it.
        path: PathBuf,
        /// Open for reading.
        file: File,
        /// Bytes it has; what is appended later is not read.
        size: u64,
    },
    /// Anything that can only be read forward: a pipe, a decompressor.
    Stream {
        /// As the user named it; `-` for standard input.
        path: PathBuf,
        /// The (decompressed) bytes.
        reader: Box<dyn Read + Send>,
    },
}

impl Source {
    /// As the user named it.
    pub fn path(&self) -> &Path {
        match self {
            Source::File { path, .. } | Source::Stream { path, .. } => path,
        }
    }
}

/// How to aggregate.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads, at least one.
    pub threads: usize,
    /// Bytes of input a thread takes at a time; buffers that fit the second-level cache are best.
    pub chunk_bytes: usize,
    /// Instruction level; must be available.
    pub level: Level,
    /// Binds thread i to a processor: the even ones first, then the odd ones.
    pub affinity: bool,
    /// Takes two keys of 16 bytes and more for the same when their 64-bit hashes are equal, which
    /// on other data than today's silently merges keys. Shorter keys are compared in any case.
    pub trust_hash: bool,
    /// Keeps sums of squares, for variances.
    pub with_squares: bool,
    /// Most bytes all tables together may take.
    pub memory_limit_bytes: Option<usize>,
}

/// Default of [`Options::chunk_bytes`].
pub const CHUNK_BYTES: usize = 256 << 10;

impl Default for Options {
    fn default() -> Options {
        Options {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            chunk_bytes: CHUNK_BYTES,
            level: Level::best(),
            affinity: false,
            trust_hash: false,
            with_squares: false,
            memory_limit_bytes: None,
        }
    }
}

/// What a run tells the outside while it works, and what the outside may tell it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes of (decompressed) input taken so far.
    pub bytes: AtomicU64,
    /// Set it to end the run with [`Error::Interrupted`] within a chunk's time.
    pub stop: AtomicBool,
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct Summary {
    /// One state per key, in byte order of the keys, for each value column; one column unless
    /// delimited text was asked for more.
    pub columns: Vec<Column>,
    /// Records taken.
    pub records: u64,
    /// Lines with nothing on them, which are ignored.
    pub blank_lines: u64,
    /// Records refused; not zero only under [`OnError::Skip`].
    pub rejected: u64,
    /// The first of them.
    pub shown_rejects: Vec<crate::error::Reject>,
    /// Bytes of (decompressed) input.
    pub bytes: u64,
}

/// The groups of one value column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// Its name, from the header or "value".
    pub name: String,
    /// One state per key, in byte order of the keys.
    pub groups: Vec<Partial>,
}

/// Aggregates `key;value` lines.
///
/// # Errors
/// The first thing that made a result impossible, by its place in the input where it has one.
pub fn aggregate(
    sources: Vec<Source>,
    options: &Options,
    on_error: OnError<'_>,
    progress: &Progress,
) -> Result<Summary, Error> {
    let paths: Vec<PathBuf> = sources.iter().map(|source| source.path().to_owned()).collect();
    let queue = Queue::new(sources, options.chunk_bytes);
    let shared = Shared {
        queue: &queue,
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
    let mut runs = Vec::new();
    for result in results {
        let share = result?;
        summary.records += share.records;
        summary.blank_lines += share.blank_lines;
        runs.push(share.run);
    }
    summary.columns = vec![Column { name: "value".to_owned(), groups: gather(runs)? }];
    Ok(summary)
}

/// What `work` returns on each of the threads that were asked for.
pub(crate) fn on_threads<T: Send>(options: &Options, work: impl Fn() -> T + Sync) -> Vec<T> {
    let processors = if options.affinity { processors() } else { vec![] };
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..options.threads.max(1))
            .map(|i| {
                let processor = processors.get(i % processors.len().max(1)).copied();
                scope.spawn(move || {
                    if let Some(processor) = processor {
                        // A processor that went away meanwhile costs speed, not correctness.
                        let _ = affinity::pin(processor);
                    }
                    work()
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// The processors threads are bound to, in order.
pub(crate) fn processors() -> Vec<usize> {
    spread(&affinity::allowed().unwrap_or_default())
}

/// Even processors first, then odd ones: on many machines neighbours share a core.
fn spread(processors: &[usize]) -> Vec<usize> {
    let evens = processors.iter().step_by(2);
    evens.chain(processors.iter().skip(1).step_by(2)).copied().collect()
}

/// What one thread brings home.
struct Share {
    run: Run,
    records: u64,
    blank_lines: u64,
}

struct Shared<'a> {
    queue: &'a Queue,
    options: &'a Options,
    progress: &'a Progress,
    collector: Mutex<Collector<'a>>,
    account: Account,
}

fn work(shared: &Shared<'_>) -> Result<Share, Error> {
    let result = work_until_done(shared);
    if result.is_err() {
        shared.queue.stop();
    }
    result
}

fn work_until_done(shared: &Shared<'_>) -> Result<Share, Error> {
    let options = shared.options;
    let kernel = Kernel { level: options.level };
    let mut shard = Shard::new(kernel, options.with_squares, options.trust_hash);
    let mut buffer = Buffer::default();
    let mut before = (0, 0);
    while let Some(chunk) = shared.queue.next(&mut buffer)? {
        let mut rejects = Vec::new();
        if let Some(rows) = chunk.rows {
            let window = buffer.window(rows);
            shard.take(&window)?;
            shared.progress.bytes.fetch_add(rows.bytes as u64, Ordering::Relaxed);
            rejects = located(&shard.refused, window.buffer(), rows, chunk.source);
        }
        let mut collector = shared.collector.lock().unwrap_or_else(PoisonError::into_inner);
        if collector.take(chunk.number, rejects)? {
            shared.queue.stop();
        }
        drop(collector);
        before = shared.account.add(before, (shard.bytes(), shard.keys()))?;
        if shared.progress.stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
    }
    let (records, blank_lines) = (shard.records, shard.blank_lines);
    Ok(Share { run: shard.into_run(), records, blank_lines })
}

/// The refused rows of a chunk with their places in the source.
pub(crate) fn located(refused: &[Refused], buffer: &[u8], rows: Rows, source: usize) -> Vec<Raw> {
    let mut lines = (rows.from, 0);
    refused
        .iter()
        .map(|row| {
            let line = rows.line.map(|first| {
                let between = memchr_iter(b'\n', &buffer[lines.0..row.start]).count() as u64;
                lines = (row.start, lines.1 + between);
                first + lines.1
            });
            Raw {
                source,
                byte: rows.offset + (row.start - rows.from) as u64,
                line,
                reason: row.reason,
                text: buffer[row.start..row.end].to_vec(),
            }
        })
        .collect()
}

/// What the tables of all threads take, and the limit of it.
#[derive(Debug)]
pub(crate) struct Account {
    limit_bytes: Option<usize>,
    bytes: AtomicUsize,
    keys: AtomicUsize,
}

impl Account {
    pub(crate) fn new(limit_bytes: Option<usize>) -> Account {
        Account { limit_bytes, bytes: AtomicUsize::new(0), keys: AtomicUsize::new(0) }
    }

    /// Adds what a thread's tables have grown: `(bytes, keys)` before and now. Returns those of now.
    ///
    /// # Errors
    /// [`Error::MemoryLimit`].
    pub(crate) fn add(
        &self,
        before: (usize, usize),
        now: (usize, usize),
    ) -> Result<(usize, usize), Error> {
        let Some(limit_bytes) = self.limit_bytes else { return Ok(before) };
        let grown = now.0.wrapping_sub(before.0);
        let bytes = self.bytes.fetch_add(grown, Ordering::Relaxed).wrapping_add(grown);
        let more = now.1 - before.1;
        let keys = self.keys.fetch_add(more, Ordering::Relaxed) + more;
        if bytes > limit_bytes {
            return Err(Error::MemoryLimit { limit_bytes, keys });
        }
        Ok(now)
    }
}

/// Files cut into chunks, which are counted through all of them.
pub(crate) struct Files {
    list: Vec<FileInput>,
    chunk_bytes: u64,
    /// Chunks of all files together.
    chunks: u64,
}

struct FileInput {
    source: usize,
    path: PathBuf,
    file: File,
    size: u64,
    first_chunk: u64,
}

/// Bytes `start..end` of a file of `size` bytes: a chunk, or all of it.
#[derive(Clone, Copy)]
pub(crate) struct FilePart<'a> {
    /// Which of the sources.
    pub(crate) source: usize,
    pub(crate) path: &'a Path,
    pub(crate) file: &'a File,
    pub(crate) size: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Files {
    pub(crate) fn new(chunk_bytes: usize) -> Files {
        Files { list: Vec::new(), chunk_bytes: chunk_bytes.clamp(1, 1 << 30) as u64, chunks: 0 }
    }

    pub(crate) fn push(&mut self, source: usize, path: PathBuf, file: File, size: u64) {
        self.list.push(FileInput { source, path, file, size, first_chunk: self.chunks });
        self.chunks += size.div_ceil(self.chunk_bytes);
    }

    /// How many chunks there are.
    pub(crate) fn chunks(&self) -> u64 {
        self.chunks
    }

    /// Bytes of a chunk.
    pub(crate) fn chunk_bytes(&self) -> usize {
        self.chunk_bytes as usize
    }

    /// Every file as one part.
    pub(crate) fn whole(&self) -> Vec<FilePart<'_>> {
        self.list.iter().map(|input| input.part(0, input.size)).collect()
    }

    /// Chunk number `chunk`, if there are so many.
    pub(crate) fn part(&self, chunk: u64) -> Option<FilePart<'_>> {
        if chunk >= self.chunks {
            return None;
        }
        // Files without a byte have no chunk, and share their first with the file after them.
        let after = self.list.partition_point(|input| input.first_chunk <= chunk);
        let input = &self.list[after - 1];
        let start = (chunk - input.first_chunk) * self.chunk_bytes;
        Some(input.part(start, (start + self.chunk_bytes).min(input.size)))
    }

    /// The number of the line that starts at a byte of a source, by reading up to it again: only
    /// rejects ask.
    pub(crate) fn line_of(&self, source: usize, byte: u64) -> Result<u64, Error> {
        let owner = self.list.iter().find(|input| input.source == source);
        let input = owner.expect("streams count their lines");
        let mut buffer = vec![0; CHUNK_BYTES];
        let (mut at, mut line) = (0, 1);
        while at < byte {
            let part = &mut buffer[..(byte - at).min(CHUNK_BYTES as u64) as usize];
            read_at(&input.path, &input.file, input.size, part, at)?;
            line += memchr_iter(b'\n', part).count() as u64;
            at += part.len() as u64;
        }
        Ok(line)
    }
}

impl FileInput {
    fn part(&self, start: u64, end: u64) -> FilePart<'_> {
        let FileInput { source, ref path, ref file, size, .. } = *self;
        FilePart { source, path, file, size, start, end }
    }
}

/// Hands out the chunks of all sources: those of files first, then those of streams.
struct Queue {
    files: Files,
    streams: Vec<Stream>,
    next_file_chunk: AtomicU64,
    next_stream_chunk: AtomicU64,
    stopped: AtomicBool,
}

struct Stream {
    source: usize,
    path: PathBuf,
    state: Mutex<StreamState>,
}

struct StreamState {
    reader: Box<dyn Read + Send>,
    carry: Carry,
    ended: bool,
}

/// A chunk: whose, which in the order of the input, and its rows, if any starts in it.
struct Chunk {
    source: usize,
    number: u64,
    rows: Option<Rows>,
}

impl Queue {
    fn new(sources: Vec<Source>, chunk_bytes: usize) -> Queue {
        let mut files = Files::new(chunk_bytes);
        let mut streams = Vec::new();
        for (index, source) in sources.into_iter().enumerate() {
            match source {
                Source::File { path, file, size } => files.push(index, path, file, size),
                Source::Stream { path, reader } => {
                    let state = StreamState { reader, carry: Carry::default(), ended: false };
                    streams.push(Stream { source: index, path, state: Mutex::new(state) });
                }
            }
        }
        let next_stream_chunk = AtomicU64::new(files.chunks);
        Queue {
            files,
            streams,
            next_file_chunk: AtomicU64::new(0),
            next_stream_chunk,
            stopped: AtomicBool::new(false),
        }
    }

    /// No chunk is handed out any more; those that were are finished, so that of several errors
    /// the first in the input is found.
    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    fn next(&self, buffer: &mut Buffer) -> Result<Option<Chunk>, Error> {
        if self.stopped.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let number = self.next_file_chunk.fetch_add(1, Ordering::Relaxed);
        let Some(part) = self.files.part(number) else { return self.stream_chunk(buffer) };
        let range = (part.start, part.end, part.size);
        let rows = read_rows(buffer, part.path, range, |into, at| {
            read_at(part.path, part.file, part.size, into, at)
        })?;
        Ok(Some(Chunk { source: part.source, number, rows }))
    }

    /// The next chunk of the first stream nobody is reading; if all are being read, of the first
    /// that has not ended.
    fn stream_chunk(&self, buffer: &mut Buffer) -> Result<Option<Chunk>, Error> {
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
                if stream.ended || self.stopped.load(Ordering::Relaxed) {
                    continue;
                }
                let StreamState { reader, carry, ended } = &mut *stream;
                let chunk_bytes = self.files.chunk_bytes as usize;
                let rows = carry.next_rows(buffer, path, chunk_bytes, |into, at| {
                    read_some(path, reader, into, at)
                })?;
                let Some(rows) = rows else {
                    *ended = true;
                    continue;
                };
                let number = self.next_stream_chunk.fetch_add(1, Ordering::Relaxed);
                return Ok(Some(Chunk { source: *source, number, rows: Some(rows) }));
            }
        }
        Ok(None)
    }
}

/// Fills `into` from byte `at` of a file that had `size` bytes.
pub(crate) fn read_at(
    path: &Path,
    file: &File,
    size: u64,
    into: &mut [u8],
    at: u64,
) -> Result<(), Error> {
    file.read_exact_at(into, at).map_err(|source| {
        let path = path.to_owned();
        if source.kind() == io::ErrorKind::UnexpectedEof {
            Error::Shrunk { path, expected_bytes: size }
        } else {
            Error::Read { path, byte: at, source }
        }
    })
}

pub(crate) fn read_some(
    path: &Path,
    reader: &mut (dyn Read + Send),
    into: &mut [u8],
    at: u64,
) -> Result<usize, Error> {
    loop {
        match reader.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(Error::Read { path: path.to_owned(), byte: at, source }),
            Ok(bytes) => return Ok(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_processors_come_first() {
        assert_eq!(spread(&[0, 1, 2, 3, 4]), [0, 2, 4, 1, 3]);
        assert_eq!(spread(&[7]), [7]);
    }
}
