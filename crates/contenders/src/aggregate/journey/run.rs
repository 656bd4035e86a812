//! Runs a strategy: chunks to threads, what threads know into one result.
//!
//! The first thing in the input that a strategy cannot hold ends the run. Nothing is skipped.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fathom_aggregate::parts::{Refused, Table, Window};
use fathom_aggregate::{OnError, Options, Partial, Progress, Source, merge};
use fathom_machine::level::Level;
use fathom_machine::os::affinity;
use fathom_machine::os::memory::NoMemory;

use super::kernel::input::{Feed, Stopped};
use super::kernel::{Refusal, Trouble, Worker, workers};
use super::{Check, Entry, Strategy};

/// Bytes in which lines are counted.
const PIECE_BYTES: usize = 1 << 20;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What the engine, or reading, says.
    #[error(transparent)]
    Engine(#[from] fathom_aggregate::Error),
    /// A row the strategy does not take.
    #[error(
        "{path}:{line}: the strategy takes only key;value with a value from -99.9 to 99.9 of one decimal"
    )]
    Row {
        /// The file.
        path: PathBuf,
        /// The number of the row, from 1.
        line: u64,
    },
    /// The strategy cannot hold the data.
    #[error("{path}: strategy {strategy} cannot hold this: {limit}")]
    Limit {
        /// The file.
        path: PathBuf,
        /// The strategy.
        strategy: String,
        /// What it cannot hold.
        limit: Refusal,
    },
}

/// Aggregates the `key;value` lines of a file the way `strategy` says, at instruction level `level`.
/// Keys come in the order of their bytes.
///
/// # Errors
/// What cannot be read, a row that is none, and what the strategy cannot hold.
pub fn aggregate(path: &Path, strategy: &Strategy, level: Level) -> Result<Vec<Partial>, Error> {
    // Tables that are refused memory unwind, and threads hand that on.
    let found = NoMemory::caught(|| unwinding(path, strategy, level));
    found.unwrap_or_else(|refused| Err(fathom_aggregate::Error::from(refused).into()))
}

fn unwinding(path: &Path, strategy: &Strategy, level: Level) -> Result<Vec<Partial>, Error> {
    let failed = |source| fathom_aggregate::Error::Read { path: path.to_owned(), byte: 0, source };
    let file = File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    let threads = strategy.threads.unwrap_or_else(|| Options::default().threads);
    if strategy.is_engine() {
        let options =
            Options { threads, chunk_bytes: strategy.chunk_bytes, level, ..Options::default() };
        let sources = vec![Source::File { path: path.to_owned(), file: Box::new(file), size }];
        let progress = Progress::default();
        let summary = fathom_aggregate::aggregate(sources, &options, OnError::Fail, &progress)?;
        return Ok(summary.columns.into_iter().flat_map(|column| column.groups).collect());
    }
    let shared = Shared {
        feed: Feed::new(strategy.input, path, &file, size)?,
        chunk_bytes: strategy.chunk_bytes as u64,
        size,
        stopped: AtomicBool::new(false),
        next: AtomicU64::new(0),
    };
    let workers = match strategy.entry {
        Entry::Fathom => (0..threads).map(|_| ours(strategy, level)).collect(),
        _ => workers(strategy, level, threads),
    };
    let (mut lists, mut first) = (Vec::new(), None::<Failure>);
    for result in on_threads(workers, strategy.affinity, |worker| shared.work(worker)) {
        match result {
            Ok(partials) => lists.push(partials),
            Err(failure) if first.as_ref().is_none_or(|f| failure.chunk < f.chunk) => {
                first = Some(failure);
            }
            Err(_) => {}
        }
    }
    match first {
        Some(failure) => Err(explained(failure.reason, path, &file, strategy)),
        None => Ok(merge(lists)),
    }
}

/// A worker of the engine's own tables.
fn ours(strategy: &Strategy, level: Level) -> Box<dyn Worker> {
    struct Ours(Table);
    impl Worker for Ours {
        fn take(&mut self, window: &Window<'_>) -> Result<(), Trouble> {
            self.0.take(window).map_err(|refused| match refused {
                Refused::Row(start) => Trouble::Row(start),
                Refused::Error(error) => Trouble::Engine(error),
            })
        }

        fn partials(self: Box<Self>) -> Vec<Partial> {
            self.0.partials()
        }
    }
    Box::new(Ours(Table::new(level, strategy.check == Check::Hash)))
}

/// What all threads see.
struct Shared<'a> {
    feed: Feed<'a>,
    chunk_bytes: u64,
    size: u64,
    stopped: AtomicBool,
    next: AtomicU64,
}

/// What ended a thread, and in which chunk: the first in the input is reported.
struct Failure {
    chunk: u64,
    reason: Stopped,
}

impl Shared<'_> {
    fn work(&self, mut worker: Box<dyn Worker>) -> Result<Vec<Partial>, Failure> {
        let mut buffer = Vec::new();
        while !self.stopped.load(Ordering::Relaxed) {
            let chunk = self.next.fetch_add(1, Ordering::Relaxed);
            let start = chunk * self.chunk_bytes;
            if start >= self.size {
                break;
            }
            let range = start..(start + self.chunk_bytes).min(self.size);
            let taken = self.feed.rows(range, &mut buffer, &mut |window, offset| {
                worker.take(&window).map_err(|trouble| match trouble {
                    Trouble::Row(start) => Stopped::Row(offset + (start - window.from()) as u64),
                    Trouble::Table(refusal) => Stopped::Table(refusal),
                    Trouble::Engine(error) => Stopped::Error(error),
                })
            });
            if let Err(reason) = taken {
                self.stopped.store(true, Ordering::Relaxed);
                return Err(Failure { chunk, reason });
            }
        }
        Ok(worker.partials())
    }
}

/// What ended the run as an error, with the number of its line where it has one.
fn explained(stopped: Stopped, path: &Path, file: &File, strategy: &Strategy) -> Error {
    let path = path.to_owned();
    match stopped {
        Stopped::Error(error) => error.into(),
        Stopped::Table(limit) => Error::Limit { path, strategy: strategy.to_string(), limit },
        Stopped::Row(byte) => match line(file, byte) {
            Ok(line) => Error::Row { path, line },
            Err(source) => fathom_aggregate::Error::Read { path, byte: 0, source }.into(),
        },
    }
}

/// The number of the line of a byte, from 1. A file that does not fit in memory is read in pieces, too.
fn line(file: &File, byte: u64) -> io::Result<u64> {
    let mut piece = vec![0; PIECE_BYTES];
    let (mut at, mut line) = (0, 1);
    while at < byte {
        let length = piece.len().min(usize::try_from(byte - at).unwrap_or(usize::MAX));
        file.read_exact_at(&mut piece[..length], at)?;
        line += memchr::memchr_iter(b'\n', &piece[..length]).count() as u64;
        at += length as u64;
    }
    Ok(line)
}

/// What `work` makes of each worker, on a thread each; with `affinity` thread i has a processor.
fn on_threads<W: Send, T: Send>(
    workers: Vec<W>,
    affinity: bool,
    work: impl Fn(W) -> T + Sync,
) -> Vec<T> {
    let allowed = if affinity { affinity::allowed().unwrap_or_default() } else { vec![] };
    let processors = spread(&allowed);
    let work = &work;
    std::thread::scope(|scope| {
        let spawn = |(i, worker): (usize, W)| {
            let processor = processors.get(i % processors.len().max(1)).copied();
            scope.spawn(move || {
                if let Some(processor) = processor {
                    // A processor that went away meanwhile costs speed, not correctness.
                    let _ = affinity::pin(processor);
                }
                work(worker)
            })
        };
        let threads: Vec<_> = workers.into_iter().enumerate().map(spawn).collect();
        let ends = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        ends.map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

/// Even processors first, then odd ones: on many machines neighbours share a core.
fn spread(processors: &[usize]) -> Vec<usize> {
    let evens = processors.iter().step_by(2);
    evens.chain(processors.iter().skip(1).step_by(2)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_across_pieces() {
        let mut file = tempfile::tempfile().unwrap();
        let most = 2 * PIECE_BYTES + 1;
        io::Write::write_all(&mut file, &vec![b'\n'; most]).unwrap();
        for byte in [0, 1, PIECE_BYTES, PIECE_BYTES + 1, most] {
            assert_eq!(line(&file, byte as u64).unwrap(), byte as u64 + 1);
        }
        assert!(line(&file, most as u64 + 1).is_err());
    }

    #[test]
    fn even_processors_come_first() {
        assert_eq!(spread(&[0, 1, 2, 3, 4]), [0, 2, 4, 1, 3]);
        assert_eq!(spread(&[7]), [7]);
    }
}
