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
//! The run itself is that of `crate::engine`. What a record is stands in `crate::record`; nothing
//! here looks at quotes.

use std::path::PathBuf;
use std::sync::Arc;

use crate::account::Account;
use crate::chunk::Buffer;
use crate::engine::{Form, Options, Progress, Share, Summary, located, run};
use crate::error::Error;
use crate::rejects::{OnError, Taken};
use crate::shard::Shard;
use crate::source::Source;

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
    pub values: Vec<Value>,
    /// What becomes of records with more or fewer fields than the header or the first record.
    pub ragged: Ragged,
    /// What a field of a value column says when there is no value, byte for byte: by default
    /// nothing. Such as `NA`, `null` and `NaN`, or a number like `-99.9`.
    pub nulls: Vec<Vec<u8>>,
}

impl Shape {
    /// Text with this delimiter and without a header: the key in the first column, the value in the
    /// second.
    pub fn new(delimiter: u8) -> Shape {
        Shape {
            delimiter,
            header: false,
            key: Selector::Place(1),
            values: vec![Selector::Place(2).into()],
            ragged: Ragged::Fail,
            nulls: vec![Vec::new()],
        }
    }
}

/// A column of values.
#[derive(Clone, Debug)]
pub struct Value {
    /// Which one.
    pub column: Selector,
    /// What a missing value means.
    pub null: Null,
}

impl From<Selector> for Value {
    fn from(column: Selector) -> Value {
        Value { column, null: Null::Skip }
    }
}

/// What a missing value means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Null {
    /// The record is counted among the [rows](crate::Stats::rows) of its key, and the other columns
    /// keep their values.
    #[default]
    Skip,
    /// It is the number 0.
    Zero,
    /// The record is refused.
    Fail,
}

/// What becomes of a record with more or fewer fields than the header or, without one, the first
/// record of its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ragged {
    /// It is refused.
    #[default]
    Fail,
    /// Fields it lacks are missing, those it has more are passed over.
    Pad,
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
    run(&chunks, &paths, options, on_error, progress)
}

impl<'a> Form for Chunks<'a> {
    type Worker = Worker<'a>;

    fn worker(&self, options: &Options, account: &Arc<Account>) -> Worker<'a> {
        Worker::new(self.shape, options, account)
    }

    fn take(&self, worker: &mut Worker<'a>, buffer: &mut Buffer) -> Result<Option<Taken>, Error> {
        let next = self.next(buffer, &mut worker.fields)?;
        let Some((place, chunk)) = next else { return Ok(None) };
        worker.blank_lines += chunk.blank_lines;
        let mut taken = Taken { bytes: chunk.bytes, lines: chunk.lines, ..place.taken() };
        if let Some(cut) = &chunk.cut {
            taken.lines += worker.take(buffer, cut)?;
            let name = |column| cut.columns.name(column);
            taken.rejects = located(&mut worker.refused, buffer.bytes(), cut.rows, name);
            taken.rejects.iter_mut().for_each(|raw| raw.lines_before += chunk.lines);
        }
        Ok(Some(taken))
    }

    fn keys(worker: &Worker<'a>) -> usize {
        worker.shards.iter().map(Shard::keys).sum()
    }

    fn share(worker: Worker<'a>) -> Share {
        let Worker { shards, records, blank_lines, .. } = worker;
        Share { runs: shards.into_iter().map(Shard::into_run).collect(), records, blank_lines }
    }

    fn stop(&self) {
        self.stop();
    }

    fn names(&self) -> Vec<String> {
        self.names()
    }
}
