//! Runs a strategy: chunks to threads, what threads know into one result.
//!
//! The engine itself is run as it is, with its defaults. Here no bad record is skipped and no limit
//! is guessed: the first thing in the input that a strategy cannot hold ends the run.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fathom_machine::level::Level;

use super::kernel::input::{Feed, Piece};
use super::kernel::{Refusal, Trouble, Worker, workers};
use super::{Check, Entry, Strategy};
use crate::chunk::{Buffer, Window};
use crate::engine::{self, Column, Options, Progress, Summary};
use crate::error::{Error, Limit, Position, Reject};
use crate::kernel::Kernel;
use crate::merge::{Partial, merge};
use crate::rejects::OnError;
use crate::shard::Shard;
use crate::source::{FilePart, Files, Source};

/// Aggregates `key;value` lines the way `strategy` says, at instruction level `level`.
///
/// # Errors
/// As [`aggregate`](crate::aggregate()), and [`Error::Limit`] for what the strategy cannot hold.
pub fn aggregate(
    sources: Vec<Source>,
    strategy: &Strategy,
    level: Level,
    progress: &Progress,
) -> Result<Summary, Error> {
    let threads = strategy.threads.unwrap_or_else(|| Options::default().threads);
    if strategy.is_engine() {
        let options = Options {
            threads,
            chunk_bytes: strategy.chunk_bytes,
            level,
            affinity: strategy.affinity,
            trust_hash: strategy.check == Check::Hash,
            ..Options::default()
        };
        return engine::aggregate(sources, &options, OnError::Fail, progress);
    }
    let paths: Vec<PathBuf> = sources.iter().map(|source| source.path().to_owned()).collect();
    let mut files = Files::new(strategy.chunk_bytes);
    for (index, source) in sources.into_iter().enumerate() {
        match source {
            Source::File { path, file, size } => files.push(index, path, file, size),
            Source::Stream { path, .. } => return Err(Error::NotAFile { path }),
        }
    }
    let shared = Shared {
        feed: Feed::new(strategy.input, &files)?,
        paths,
        files,
        strategy,
        progress,
        stopped: AtomicBool::new(false),
        next: AtomicU64::new(0),
    };
    let workers = match strategy.entry {
        Entry::Fathom => (0..threads).map(|_| ours(strategy, level)).collect(),
        _ => workers(strategy, level, threads),
    };
    let results = engine::on_threads(workers, strategy.affinity, |worker| shared.work(worker));
    let mut lists = Vec::new();
    let mut first: Option<Failure> = None;
    for result in results {
        match result {
            Ok(partials) => lists.push(partials),
            Err(failure) if first.as_ref().is_none_or(|f| failure.chunk < f.chunk) => {
                first = Some(failure);
            }
            Err(_) => {}
        }
    }
    if let Some(failure) = first {
        return Err(shared.explained(failure));
    }
    let groups = merge(lists);
    let records = groups.iter().map(|group| group.stats.count()).sum();
    let bytes = progress.bytes.load(Ordering::Relaxed);
    let columns = vec![Column::new("value", groups)];
    Ok(Summary { columns, records, bytes, ..Summary::default() })
}

/// A worker of the engine's own tables.
fn ours(strategy: &Strategy, level: Level) -> Box<dyn Worker> {
    struct Ours(Shard);
    impl Worker for Ours {
        fn take(&mut self, window: &Window<'_>) -> Result<(), Trouble> {
            // Every strategy has a memory of its own kind of limit; this one has that of the engine.
            self.0.take(window).map_err(|_| Trouble::Table(Refusal::Names))?;
            match self.0.refused.first() {
                Some(row) => {
                    Err(Trouble::Row { start: row.start, end: row.end, reason: row.fault.reason })
                }
                None => Ok(()),
            }
        }

        fn partials(self: Box<Self>) -> Vec<Partial> {
            self.0.into_run().partials()
        }
    }
    Box::new(Ours(Shard::new(Kernel { level }, false, strategy.check == Check::Hash)))
}

struct Shared<'a> {
    feed: Feed,
    files: Files,
    paths: Vec<PathBuf>,
    strategy: &'a Strategy,
    progress: &'a Progress,
    stopped: AtomicBool,
    next: AtomicU64,
}

/// What ended a thread, and in which chunk: the first in the input is reported.
struct Failure {
    chunk: u64,
    reason: Stopped,
}

enum Stopped {
    Error(Error),
    Row { source: usize, byte: u64, reject: Box<(crate::Reason, Vec<u8>)> },
    Table { source: usize, refusal: Refusal },
}

impl Shared<'_> {
    fn work(&self, mut worker: Box<dyn Worker>) -> Result<Vec<Partial>, Failure> {
        let mut buffer = Buffer::default();
        while !self.stopped.load(Ordering::Relaxed) {
            let chunk = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = self.files.part(chunk) else { break };
            let stopped = self.chunk(&part, &mut buffer, &mut *worker);
            if let Err(reason) = stopped {
                self.stopped.store(true, Ordering::Relaxed);
                return Err(Failure { chunk, reason });
            }
            self.progress.bytes.fetch_add(part.end - part.start, Ordering::Relaxed);
            if self.progress.stop.load(Ordering::Relaxed) {
                return Err(Failure { chunk: 0, reason: Stopped::Error(Error::Interrupted) });
            }
        }
        Ok(worker.partials())
    }

    fn chunk(
        &self,
        part: &FilePart<'_>,
        buffer: &mut Buffer,
        worker: &mut dyn Worker,
    ) -> Result<(), Stopped> {
        let mut stopped = None;
        let mut take = |piece: Piece<'_>| {
            let trouble = match worker.take(&piece.window) {
                Ok(()) => return Ok(()),
                Err(trouble) => trouble,
            };
            stopped = Some(match trouble {
                Trouble::Table(refusal) => Stopped::Table { source: part.source, refusal },
                Trouble::Row { start, end, reason } => Stopped::Row {
                    source: part.source,
                    byte: piece.offset + (start - piece.window.from()) as u64,
                    reject: Box::new((reason, piece.window.buffer()[start..end].to_vec())),
                },
            });
            // The error itself is not seen: `stopped` has the reason.
            Err(Error::Interrupted)
        };
        let end = self.feed.rows(part, buffer, &mut take);
        match (stopped, end) {
            (Some(stopped), _) => Err(stopped),
            (None, end) => end.map_err(Stopped::Error),
        }
    }

    /// The number of the line that starts at a byte.
    fn line_of(&self, source: usize, byte: u64) -> Result<u64, Error> {
        let parts = self.files.whole();
        let part = parts.iter().find(|part| part.source == source).expect("it is a file");
        let mut text = vec![0; 256 << 10];
        let (mut at, mut line) = (0, 1);
        while at < byte {
            let some = (byte - at).min(text.len() as u64) as usize;
            crate::source::read_at(part.path, part.file, part.size, &mut text[..some], at)?;
            line += memchr::memchr_iter(b'\n', &text[..some]).count() as u64;
            at += some as u64;
        }
        Ok(line)
    }

    /// The failure as an error, with the number of its line where it has one.
    fn explained(&self, failure: Failure) -> Error {
        match failure.reason {
            Stopped::Error(error) => error,
            Stopped::Row { source, byte, reject } => match self.line_of(source, byte) {
                Err(error) => error,
                Ok(line) => {
                    let path = self.paths[source].clone();
                    let (reason, text) = *reject;
                    let position = Position { path, byte, line, column: 1 };
                    let (record_byte, field) = (byte, None);
                    Error::Record(Box::new(Reject { position, record_byte, reason, field, text }))
                }
            },
            Stopped::Table { source, refusal } => Error::Limit {
                path: self.paths[source].clone(),
                strategy: self.strategy.to_string(),
                limit: match refusal {
                    Refusal::Names => Limit::Names,
                    Refusal::NameBytes { key, most } => Limit::NameBytes { key, most },
                    Refusal::Sum { key } => Limit::Sum { key },
                    Refusal::Count => Limit::Count,
                    Refusal::Row => unreachable!("rows are found out where they are"),
                },
            },
        }
    }
}
