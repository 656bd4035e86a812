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
//! at memory speed; where there are quotes, their parity says which line ends are in quotes, 64 bytes at a
//! time (`crate::kernel::marks`), and only records that are not well formed are split byte by byte. Parsing, which
//! is the work, is done after the turn was passed on: lines without quotes by the kernel of fields,
//! others by marks. A byte order mark is passed over.
//!
//! The run itself is that of `crate::engine`. What a record is stands in `crate::record`; nothing
//! here looks at quotes. Access logs and lines of JSON have no records of several lines, and columns of known
//! names; `crate::access` and `crate::ndjson` find them, and all else is the same.

use std::path::{Path, PathBuf};

use fathom_machine::level::Level;
use fathom_machine::os::read_at::ReadAt;

use crate::chunk::Buffer;
use crate::engine::{Form, Names, Options, Progress, Share, Summary, located, run};
use crate::error::Error;
use crate::kernel::marks::Marker;
use crate::queue::Place;
use crate::rejects::{OnError, Taken};
pub use crate::selector::{ListError, Selector};
use crate::shard::Shard;
use crate::source::Source;
use crate::spill::Memory;

mod columns;
mod cut;
mod enter;
mod head;
mod pieces;
mod query;
#[cfg(test)]
mod tests;
mod worker;

use columns::Columns;
pub use columns::hint;
use cut::{Chunks, Scratch};
pub use query::{By, Kind, Null, Query, Ragged, Syntax, Value, ValueError};
use worker::Worker;

/// Aggregates delimited text.
///
/// # Errors
/// As [`crate::aggregate`], and for headers without a column that was asked for.
pub fn aggregate(
    sources: Vec<Source>,
    query: &Query,
    options: &Options,
    on_error: OnError<'_>,
    progress: &Progress,
) -> Result<Summary, Error> {
    let paths: Vec<PathBuf> = sources.iter().map(|source| source.path().to_owned()).collect();
    Columns::known(query, paths.first().map_or(Path::new("-"), PathBuf::as_path))?;
    let chunks = Chunks::new(sources, query, options.chunk_bytes, Marker::new(options.level));
    run(&chunks, &paths, options, on_error, progress)
}

/// Where the first records start that do not start before each multiple of `every` bytes, or some bytes behind it: places at which
/// a file can be cut whatever its quotes enclose. All of it is read, by one thread, and no value looked at.
///
/// # Errors
/// What cannot be read, and records longer than [`MOST_RECORD_BYTES`](crate::MOST_RECORD_BYTES).
pub fn record_starts(
    path: &Path,
    (file, size): (Box<dyn ReadAt>, u64),
    delimiter: u8,
    every: u64,
) -> Result<Vec<u64>, Error> {
    const CHUNK_BYTES: u64 = 4 << 20;
    let query = Query::new(delimiter);
    let sources = vec![Source::File { path: path.to_owned(), file, size }];
    // Where chunks end is known where records start: as many end where one is wanted.
    let chunk_bytes = every.div_ceil(every.div_ceil(CHUNK_BYTES)) as usize;
    let chunks = Chunks::new(sources, &query, chunk_bytes, Marker::new(Level::best()));
    let (mut buffer, mut scratch, mut starts) = (Buffer::default(), Scratch::default(), Vec::new());
    let mut wanted = every;
    while chunks.next(&mut buffer, &mut scratch)?.is_some() {
        let next = chunks.seam().map_or(0, |[_, next]| next);
        if next >= wanted && next < size {
            starts.push(next);
            wanted = next - next % every + every;
        }
    }
    Ok(starts)
}

impl<'a> Form for Chunks<'a> {
    type Worker = Worker<'a>;

    fn worker(&self, options: &Options, memory: &Memory) -> Worker<'a> {
        Worker::new(self.query, options, memory)
    }

    fn take(
        &self,
        worker: &mut Worker<'a>,
        buffer: &mut Buffer,
        hand: &mut Option<Place>,
    ) -> Result<Option<Taken>, Error> {
        let next = self.next(buffer, &mut worker.scratch)?;
        let Some((place, chunk)) = next else { return Ok(None) };
        *hand = Some(place);
        worker.blank_lines += chunk.blank_lines;
        let mut taken = Taken { bytes: chunk.bytes, lines: chunk.lines, ..place.taken() };
        if let Some(cut) = &chunk.cut {
            taken.lines += worker.take(buffer, cut, place)?;
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
        let Worker { shards, finder, records, blank_lines, left_out, .. } = worker;
        let absent = finder.absent().map(|path| String::from_utf8_lossy(&path).into_owned());
        Share { shards, records, blank_lines, left_out, absent: absent.collect() }
    }

    fn stop(&self) {
        self.stop();
    }

    fn most_threads(&self) -> usize {
        self.queue.most_chunks()
    }

    fn names(&self) -> Names {
        self.names()
    }

    fn seam(&self) -> Option<[u64; 2]> {
        self.seam()
    }
}
