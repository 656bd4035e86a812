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
//! The run itself is that of [`mod@crate::engine`]. What a record is stands in `crate::record`; nothing
//! here looks at quotes.

use std::path::PathBuf;

use crate::chunk::Buffer;
use crate::engine::{Form, Options, Progress, Share, Summary, Taken, located, run};
use crate::error::Error;
use crate::rejects::OnError;
use crate::shard::Shard;
use crate::source::{Files, Source};

mod columns;
mod cut;
#[cfg(test)]
mod tests;
mod worker;

use cut::Chunks;
use worker::Worker;

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
    let chunks = Chunks::new(sources, shape, options.chunk_bytes);
    let columns: Vec<String> = shape.values.iter().map(Selector::to_string).collect();
    run(&chunks, &paths, &columns, options, on_error, progress)
}

impl Form for Chunks<'_> {
    type Worker = Worker;

    fn worker(&self, options: &Options) -> Worker {
        Worker::new(self.shape, options)
    }

    fn take(&self, worker: &mut Worker, buffer: &mut Buffer) -> Result<Option<Taken>, Error> {
        let next = self.next(buffer, &mut worker.fields)?;
        let Some((place, chunk)) = next else { return Ok(None) };
        worker.blank_lines += chunk.blank_lines;
        let mut rejects = Vec::new();
        if let Some(cut) = &chunk.cut {
            worker.take(buffer, cut)?;
            rejects = located(&worker.refused, buffer.bytes(), cut.rows, place.source);
        }
        Ok(Some(Taken { number: place.number, bytes: chunk.bytes, rejects }))
    }

    fn size(worker: &Worker) -> (usize, usize) {
        (worker.shards.iter().map(Shard::bytes).sum(), worker.shards[0].keys())
    }

    fn share(worker: Worker) -> Share {
        let Worker { shards, records, blank_lines, .. } = worker;
        Share { runs: shards.into_iter().map(Shard::into_run).collect(), records, blank_lines }
    }

    fn stop(&self) {
        self.stop();
    }

    fn files(&self) -> &Files {
        &self.queue.files
    }
}
