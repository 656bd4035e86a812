//! The engine: sources into chunks, chunks to threads, threads into tables, tables into one.
//!
//! The skeleton of a run is here, and `key;value` lines, its plainest form of input;
//! [`delimited`](crate::delimited) is the other. There is no lock and no allocation per record: a
//! lock per chunk of a stream, and one per chunk that has rejects or must keep their order.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use fathom_machine::level::Level;
use fathom_machine::os::live::LiveMap;
use memchr::{memchr_iter, memrchr};

use crate::approx::Approx;
use crate::chunk::{Buffer, Carry, Rows, read_rows};
use crate::composite;
use crate::error::{Error, FieldText, characters};
use crate::gather::{Gathering, Run};
use crate::kernel::{Kernel, Span};
use crate::line;
use crate::merge::{Keep, Partial, Stats, total};
use crate::pool::{Part, Pool};
use crate::queue::{Place, Queue};
use crate::rejects::{Collector, OnError, Raw, Taken};
use crate::shard::{Refused, Shard};
use crate::source::{FilePart, Source, read_at};
use crate::spill::{Lane, Memory, Spill, Spilled};
use crate::statistic::Statistic;
use crate::threads::on_threads;
use crate::way::{self, Input, Road, Way};

/// How to aggregate.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads, at least one; no more are started than files of text have chunks, if there are only such files.
    pub threads: usize,
    /// Bytes of input a thread takes at a time, at most 32 MiB; buffers that fit the second-level cache are best.
    pub chunk_bytes: usize,
    /// Instruction level; what runs for it is told by [`kernel_level`](crate::kernel_level).
    pub level: Level,
    /// Keeps sums of squares, for variances.
    pub with_squares: bool,
    /// Keeps all different values and how often each came, for quantiles, modes and their number.
    pub with_values: bool,
    /// Keeps a sketch of how many values differ.
    pub with_sketch: bool,
    /// Keeps the first and the last value in the order of the input.
    pub with_ends: bool,
    /// Keeps values no nearer than so: quantiles may be so far off, and there are neither modes nor, but by
    /// a sketch, how many values differ.
    pub approx: Option<Approx>,
    /// Most bytes all tables together may take while they grow, with what the result will take.
    pub memory_limit_bytes: Option<usize>,
    /// Where tables are written when the limit is reached, which otherwise is an error; the result is
    /// [there](Summary::spilled), too.
    pub spill: Option<Spill>,
    /// How files of `key;value` lines get into memory; delimited text is read.
    pub input: Input,
    /// Leaves the groups where the threads have them, in [`Summary::gathering`].
    pub gathers_later: bool,
}

/// Default of [`Options::chunk_bytes`].
pub const CHUNK_BYTES: usize = 256 << 10;

impl Default for Options {
    fn default() -> Options {
        Options {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            chunk_bytes: CHUNK_BYTES,
            level: Level::current(),
            with_squares: false,
            with_values: false,
            with_sketch: false,
            with_ends: false,
            approx: None,
            memory_limit_bytes: None,
            spill: None,
            input: Input::default(),
            gathers_later: false,
        }
    }
}

impl Options {
    /// Keeps what these statistics need, too, as exact as [`approx`](Options::approx) says.
    #[must_use]
    pub fn for_statistics(mut self, statistics: &[Statistic]) -> Options {
        for statistic in statistics {
            self.with_squares |= statistic.needs_squares();
            self.with_values |= statistic.needs_values(self.approx);
            self.with_sketch |= statistic.needs_sketch(self.approx);
            self.with_ends |= statistic.needs_ends();
        }
        self
    }

    pub(crate) fn keep(&self) -> Keep {
        Keep {
            squares: self.with_squares,
            values: self.with_values,
            rounding: self.approx,
            sketch: self.with_sketch,
            ends: self.with_ends,
            texts: false,
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
    /// One state per key, in byte order of the keys (of their parts), for each value column; one column
    /// unless delimited text was asked for more. A query without values has one of zeros, whose
    /// [count](crate::Stats::count) is that of the records.
    pub columns: Vec<Column>,
    /// What the parts of the keys are called: "key", or what the header calls their columns. Of
    /// several, [`parts`](Summary::parts) takes a key apart.
    pub keys: Vec<String>,
    /// Records taken.
    pub records: u64,
    /// Lines with nothing on them, which are ignored.
    pub blank_lines: u64,
    /// Records that a filter left out; they are not among those taken.
    pub left_out: u64,
    /// Records refused; not zero only under [`OnError::Skip`].
    pub rejected: u64,
    /// The first of them.
    pub shown_rejects: Vec<crate::error::Reject>,
    /// Bytes of (decompressed) input.
    pub bytes: u64,
    /// Of delimited text that is a [part](crate::Source::Part) of one file: where the first record taken
    /// starts, and where the next one would. Ranges were cut rightly if each begins where the one before it
    /// ended; a line end inside quotes may have been taken for the end of a record otherwise.
    pub seam: Option<[u64; 2]>,
    /// Where the groups of the columns are if they were to be [spilled](Options::spill): [`Summary::pieces`] and
    /// [`Summary::first`] read them.
    pub spilled: Option<Spilled>,
    /// Where the groups of the columns are if they were to be [gathered later](Options::gathers_later): [`Summary::texts`]
    /// makes text of them without a list of all, the others that list.
    pub gathering: Option<Gathering>,
    /// How each source of `key;value` lines got into memory.
    pub ways: Vec<Way>,
    /// Whether a header was to name columns that are chosen by number, and there was none.
    pub lacks_header: bool,
    /// Members of lines of JSON that were asked for, by keys, values or the filter, and that no line had, whether it was
    /// taken or left out.
    pub absent: Vec<String>,
}

impl Summary {
    /// Puts the groups of the columns where they belong, if they were to be [gathered later](Options::gathers_later).
    pub fn gather(&mut self) {
        let whole = self.gathering.take().into_iter().flat_map(Gathering::whole);
        self.columns.iter_mut().zip(whole).for_each(|(column, groups)| column.groups = groups);
    }

    /// The parts of a key of this result, one for each of [`keys`](Summary::keys).
    pub fn parts<'k>(&self, key: &'k [u8]) -> impl Iterator<Item = Cow<'k, [u8]>> {
        composite::parts(key, self.keys.len())
    }
}

/// The groups of one value column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// Its name, from the header, otherwise by its place, or "value".
    pub name: String,
    /// One state per key, in byte order of the keys.
    pub groups: Vec<Partial>,
    /// The most digits any value of the column has after its decimal point, also of keys that are
    /// not shown.
    pub scale: u16,
    /// Whether the values are texts, of which only some statistics can be told.
    pub is_text: bool,
    /// What is known of all keys together, also of those that are not shown, once they were
    /// [summed up](Column::sum_up).
    pub total: Option<Box<Stats>>,
}

impl Column {
    /// A column of these groups.
    pub fn new(name: &str, groups: Vec<Partial>) -> Column {
        let scale = groups.iter().map(|group| group.stats.scale()).max().unwrap_or(0);
        Column { name: name.to_owned(), groups, scale, is_text: false, total: None }
    }

    /// Makes the [total](Column::total) of the groups there are.
    pub fn sum_up(&mut self) {
        self.total = Some(Box::new(total(&self.groups)));
    }
}

/// Aggregates `key;value` lines.
///
/// # Errors
/// The first thing that made a result impossible, by its place in the input where it has one; of several streams,
/// which are read side by side, the first of any of them.
pub fn aggregate(
    sources: Vec<Source>,
    options: &Options,
    on_error: OnError<'_>,
    progress: &Progress,
) -> Result<Summary, Error> {
    let paths: Vec<PathBuf> = sources.iter().map(|source| source.path().to_owned()).collect();
    let obstacle = match (options.keep().is_more(), &options.spill) {
        (true, _) => Some("the statistics need whole records"),
        (_, Some(_)) => Some("tables may be spilled"),
        _ => None,
    };
    let road = |source| Road::new(source, options.input, options.chunk_bytes, obstacle);
    let roads = sources.iter().map(road).collect();
    let queue = Queue::new(sources, options.chunk_bytes, Carry::default);
    let lines = Lines { queue, roads };
    run(&lines, &paths, options, on_error, progress)
}

/// A form of input: how it is cut into chunks, and what a thread does with one.
pub(crate) trait Form: Sync {
    /// The state of a thread.
    type Worker;

    /// A thread's state before its first chunk.
    fn worker(&self, options: &Options, memory: &Memory) -> Self::Worker;

    /// Takes the records of the next chunk, by way of the thread's buffer; None when there is none
    /// any more. `hand` becomes its place before anything fails that chunks behind it do not wait for.
    ///
    /// # Errors
    /// What made a result impossible.
    fn take(
        &self,
        worker: &mut Self::Worker,
        buffer: &mut Buffer,
        hand: &mut Option<Place>,
    ) -> Result<Option<Taken>, Error>;

    /// Keys of a thread's tables.
    fn keys(worker: &Self::Worker) -> usize;

    /// What a thread brings home.
    fn share(worker: Self::Worker) -> Share;

    /// Hands out no chunk any more; those that were are finished.
    fn stop(&self);

    /// Threads beyond which none would have a chunk, as far as that is known.
    fn most_threads(&self) -> usize {
        usize::MAX
    }

    /// What the keys and the values are called, once all chunks were taken.
    fn names(&self) -> Names;

    /// As [`Summary::seam`].
    fn seam(&self) -> Option<[u64; 2]> {
        None
    }

    /// As [`Summary::ways`].
    fn ways(&self) -> Vec<Way> {
        Vec::new()
    }
}

/// What the parts of the key, and the value columns, are called.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) keys: Vec<String>,
    /// One for each shard of a [`Share`], and whether its values are texts.
    pub(crate) values: Vec<(String, bool)>,
    /// As [`Summary::lacks_header`].
    pub(crate) lacks_header: bool,
}

/// What one thread brings home: a shard per value column.
pub(crate) struct Share {
    pub(crate) shards: Vec<Shard>,
    pub(crate) records: u64,
    pub(crate) blank_lines: u64,
    pub(crate) left_out: u64,
    /// As [`Summary::absent`], of the lines of this thread.
    pub(crate) absent: Vec<String>,
}

/// The shards of a thread in order: in memory, or written.
enum Ordered {
    Runs(Vec<Run>),
    Lanes(Vec<Lane>),
}

impl Ordered {
    fn new(shards: Vec<Shard>) -> Result<Ordered, Error> {
        Ok(match shards.iter().any(Shard::spills) {
            true => {
                let lanes = shards.into_iter().map(Shard::into_lane);
                Ordered::Lanes(lanes.collect::<Result<_, _>>()?)
            }
            false => Ordered::Runs(shards.into_iter().map(Shard::into_run).collect()),
        })
    }
}

/// Runs one form of input on all threads and joins what they know.
///
/// # Errors
/// As [`aggregate`].
pub(crate) fn run(
    form: &impl Form,
    paths: &[PathBuf],
    options: &Options,
    on_error: OnError<'_>,
    progress: &Progress,
) -> Result<Summary, Error> {
    let threads = options.threads.min(form.most_threads()).max(1);
    let shared = Shared {
        form,
        options,
        progress,
        collector: Mutex::new(Collector::new(on_error, paths)),
        memory: Memory::new(options.memory_limit_bytes, options.spill.as_ref(), threads)?,
    };
    let results = on_threads(threads, || shared.work());
    let Shared { collector, memory, .. } = shared;
    let collector = collector.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut summary =
        Summary { bytes: progress.bytes.load(Ordering::Relaxed), ..Summary::default() };
    let (done, failed): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    let failed = failed.into_iter().filter_map(Result::err).min_by_key(|(number, _)| *number);
    // Who was refused first may have been the last to say how many keys it had.
    let failed = failed.map(|(number, error)| (number, memory.account.recounted(error)));
    (summary.shown_rejects, summary.rejected) = collector.finish(failed)?;
    summary.seam = form.seam();
    summary.ways = form.ways();
    let names = form.names();
    (summary.keys, summary.lacks_header) = (names.keys, names.lacks_header);
    let mut runs: Vec<Vec<Run>> = names.values.iter().map(|_| Vec::new()).collect();
    let mut lanes: Vec<Vec<Lane>> = names.values.iter().map(|_| Vec::new()).collect();
    for (number, (mut share, ordered)) in done.into_iter().flatten().enumerate() {
        let in_others = |name: &String| number == 0 || summary.absent.contains(name);
        share.absent.retain(in_others);
        summary.absent = share.absent;
        summary.records += share.records;
        summary.blank_lines += share.blank_lines;
        summary.left_out += share.left_out;
        match ordered {
            Ordered::Runs(own) => runs.iter_mut().zip(own).for_each(|(runs, run)| runs.push(run)),
            Ordered::Lanes(own) => lanes.iter_mut().zip(own).for_each(|(lanes, l)| lanes.push(l)),
        }
    }
    let spills = memory.spills();
    for (runs, pool) in runs.iter_mut().zip(memory.into_pools()) {
        let Some(pool) = pool else { continue };
        runs.extend(runs_of(pool, threads)?);
    }
    let gathering = Gathering::new(runs, threads);
    for ((name, is_text), scale) in names.values.into_iter().zip(gathering.scales()) {
        summary.columns.push(Column { is_text, scale, ..Column::new(&name, Vec::new()) });
    }
    if spills {
        let (spilled, about) = Spilled::new(lanes, options.memory_limit_bytes);
        for (column, about) in summary.columns.iter_mut().zip(about) {
            (column.scale, column.total) = (about.scale, about.total);
        }
        summary.spilled = Some(spilled);
        return Ok(summary);
    }
    summary.gathering = Some(gathering);
    if !options.gathers_later {
        summary.gather();
    }
    Ok(summary)
}

/// The parts of a pool in order, which so many threads put them in, or as many as there are parts, if any.
fn runs_of(pool: Pool, threads: usize) -> Result<Vec<Run>, Error> {
    let (kernel, keep) = (pool.kernel, pool.keep);
    let parts: Vec<Part> = pool.into_parts().collect();
    let (threads, parts) = (threads.min(parts.len()), Mutex::new(parts.into_iter()));
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = |part| Shard::of_part(kernel, keep, part).into_run();
    let runs = || Ok(std::iter::from_fn(next).map(run).collect::<Vec<Run>>());
    let runs: Result<Vec<_>, Error> =
        on_threads(threads, || Error::caught(runs)).into_iter().collect();
    Ok(runs?.into_iter().flatten().collect())
}

/// What all threads of a run see.
struct Shared<'a, F> {
    form: &'a F,
    options: &'a Options,
    progress: &'a Progress,
    collector: Mutex<Collector<'a>>,
    memory: Memory,
}

impl<F: Form> Shared<'_, F> {
    /// # Errors
    /// What went wrong, behind the number of the chunk in hand, or [`u64::MAX`] if there was none.
    fn work(&self) -> Result<(Share, Ordered), (u64, Error)> {
        /// Others may wait for what a thread that ends early would have done.
        struct StopsUnlessDone<'a, F: Form>(&'a F, bool);
        impl<F: Form> Drop for StopsUnlessDone<'_, F> {
            fn drop(&mut self) {
                if !self.1 {
                    self.0.stop();
                }
            }
        }
        let mut end = StopsUnlessDone(self.form, false);
        let mut hand = None;
        let result = Error::caught(|| self.work_until_done(&mut hand));
        end.1 = result.is_ok();
        result.map_err(|error| (hand.map_or(u64::MAX, |place| place.number), error))
    }

    fn work_until_done(&self, hand: &mut Option<Place>) -> Result<(Share, Ordered), Error> {
        let mut worker = self.form.worker(self.options, &self.memory);
        let mut buffer = Buffer::default();
        let mut keys = 0;
        while let Some(taken) = self.form.take(&mut worker, &mut buffer, hand)? {
            *hand = None;
            self.progress.bytes.fetch_add(taken.bytes as u64, Ordering::Relaxed);
            let mut collector = self.collector.lock().unwrap_or_else(PoisonError::into_inner);
            if collector.take(taken)? {
                self.form.stop();
            }
            drop(collector);
            if self.memory.account.is_limited() {
                let now = F::keys(&worker);
                self.memory.account.add_keys(now - keys)?;
                keys = now;
            }
            if self.progress.stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
        }
        let mut share = F::share(worker);
        share.shards.iter_mut().try_for_each(Shard::end_pool)?;
        let ordered = Ordered::new(std::mem::take(&mut share.shards))?;
        Ok((share, ordered))
    }
}

/// `key;value` lines.
struct Lines {
    queue: Queue<Carry>,
    /// One for each source.
    roads: Vec<Road>,
}

impl Lines {
    /// Takes a part of a file, the way it is its turn.
    ///
    /// # Errors
    /// What cannot be read, and what the tables cannot hold.
    fn take_part(
        &self,
        shard: &mut Shard,
        buffer: &mut Buffer,
        (place, part): (Place, FilePart<'_>),
    ) -> Result<Taken, Error> {
        let leg = self.roads[part.source].next();
        let mapped = match leg.map {
            Some(map) => take_mapped(map, shard, buffer, (place, part))?,
            None => None,
        };
        let is_mapped = mapped.is_some();
        let taken = match mapped {
            Some(taken) => taken,
            None => {
                let range = (part.start, part.end, part.size);
                let rows = read_rows(buffer, part.path, range, |into, at| {
                    read_at(part.path, part.file, part.size, into, at)
                })?;
                take_read(shard, buffer, place, rows)?
            }
        };
        leg.end(is_mapped, taken.bytes);
        Ok(taken)
    }
}

/// Takes rows that are in the buffer.
fn take_read(
    shard: &mut Shard,
    buffer: &Buffer,
    place: Place,
    rows: Option<Rows>,
) -> Result<Taken, Error> {
    let mut taken = place.taken();
    if let Some(rows) = rows {
        let window = buffer.window(rows);
        taken.lines = shard.take(&window, place.of(rows))?;
        taken.bytes = rows.mark + rows.bytes;
        taken.rejects = located(&mut shard.refused, window.buffer(), rows, field_name);
    }
    Ok(taken)
}

/// Takes a part of a file where it is mapped; None if it has to be read. Of rows that are refused what is
/// told is read.
fn take_mapped(
    map: &LiveMap,
    shard: &mut Shard,
    buffer: &mut Buffer,
    (place, part): (Place, FilePart<'_>),
) -> Result<Option<Taken>, Error> {
    let bytes = way::rows_of(map, &part);
    let span = bytes.clone().and_then(|bytes| Span::of_map(map, bytes));
    let Some((bytes, span)) = bytes.zip(span) else { return Ok(None) };
    let length = (bytes.end - bytes.start) as usize;
    let (from, to) = (span.from(), span.to());
    let rows = Rows { from, to, offset: bytes.start, bytes: length, mark: 0 };
    let mut taken = place.taken();
    taken.lines = shard.take_live(&span, place.of(rows))?;
    taken.bytes = length;
    // Before anything is said of rows that may have been none.
    way::settle(map, &part)?;
    if !shard.refused.is_empty() {
        read_at(part.path, part.file, part.size, buffer.room(length), bytes.start)?;
    }
    taken.rejects = located(&mut shard.refused, buffer.bytes(), rows, field_name);
    Ok(Some(taken))
}

fn field_name(column: usize) -> String {
    line::FIELDS[column].to_owned()
}

impl Form for Lines {
    type Worker = Shard;

    fn worker(&self, options: &Options, memory: &Memory) -> Shard {
        let (kernel, keep) = (Kernel { level: options.level }, options.keep());
        let shard = Shard::new(kernel, keep, false, &memory.account);
        shard.spilled_by(memory.lane(keep, 1)).pooled(memory.pool(0, kernel, keep))
    }

    fn take(
        &self,
        shard: &mut Shard,
        buffer: &mut Buffer,
        hand: &mut Option<Place>,
    ) -> Result<Option<Taken>, Error> {
        let queue = &self.queue;
        if queue.is_stopped() {
            return Ok(None);
        }
        if let Some(chunk) = queue.file_chunk() {
            *hand = Some(chunk.0);
            return self.take_part(shard, buffer, chunk).map(Some);
        }
        let chunk_bytes = queue.files.chunk_bytes();
        let chunk = queue.stream_chunk(|(_, path), carry, read| {
            carry.next_rows(buffer, path, chunk_bytes, read)
        })?;
        let Some((place, rows)) = chunk else { return Ok(None) };
        *hand = Some(place);
        take_read(shard, buffer, place, Some(rows)).map(Some)
    }

    fn keys(shard: &Shard) -> usize {
        shard.keys()
    }

    fn share(shard: Shard) -> Share {
        let (records, blank_lines) = (shard.records, shard.blank_lines);
        Share { shards: vec![shard], records, blank_lines, left_out: 0, absent: Vec::new() }
    }

    fn stop(&self) {
        self.queue.stop();
    }

    fn most_threads(&self) -> usize {
        self.queue.most_chunks()
    }

    fn ways(&self) -> Vec<Way> {
        self.roads.iter().map(Road::told).collect()
    }

    fn names(&self) -> Names {
        let [key, value] = line::FIELDS.map(str::to_owned);
        Names { keys: vec![key], values: vec![(value, false)], lacks_header: false }
    }
}

/// The refused rows of a chunk, in their order, with their places in the source; `name` names a
/// column. Lines are counted from the first row of the chunk on.
pub(crate) fn located(
    refused: &mut Vec<Refused>,
    buffer: &[u8],
    rows: Rows,
    name: impl Fn(usize) -> String,
) -> Vec<Raw> {
    let mut lines = (rows.from, 0);
    let offset_of = |at: usize| rows.offset + (at - rows.from) as u64;
    let locate = |Refused { start, end, fault }: Refused| {
        let between = memchr_iter(b'\n', &buffer[lines.0..start]).count() as u64;
        lines = (start, lines.1 + between);
        let inside = &buffer[start..fault.at];
        let line = memrchr(b'\n', inside).map_or(0, |newline| newline + 1);
        Raw {
            byte: offset_of(fault.at),
            record_byte: offset_of(start),
            lines_before: lines.1 + memchr_iter(b'\n', inside).count() as u64,
            column: characters(&inside[line..]) + 1,
            reason: fault.reason,
            field: fault.field.map(|(column, field_end)| FieldText {
                name: name(column),
                text: buffer[fault.at..field_end].to_vec(),
            }),
            text: buffer[start..end].to_vec(),
            is_ended: end - rows.from < rows.bytes,
        }
    };
    refused.drain(..).map(locate).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use fathom_machine::os::memory::Slab;
    use fathom_random::Random;

    use super::*;
    use crate::account::Account;
    use crate::gather::gather;
    use crate::kept::{Given, Order};
    use crate::number::Decimal;

    /// Of 100 threads that are asked for there are two. The first chunk fails; whoever has the second waits until
    /// the run is stopped.
    struct Waiting(AtomicU64, AtomicU64, Mutex<bool>, std::sync::Condvar, fn());
    impl Form for Waiting {
        type Worker = ();
        fn worker(&self, _: &Options, _: &Memory) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        fn take(
            &self,
            (): &mut (),
            _: &mut Buffer,
            _: &mut Option<Place>,
        ) -> Result<Option<Taken>, Error> {
            if self.1.fetch_add(1, Ordering::Relaxed) == 0 {
                (self.4)();
            }
            let stopped = self.2.lock().unwrap();
            drop(self.3.wait_while(stopped, |stopped| !*stopped).unwrap());
            Ok(None)
        }
        fn keys((): &()) -> usize {
            0
        }
        fn share((): ()) -> Share {
            Share { shards: vec![], records: 0, blank_lines: 0, left_out: 0, absent: vec![] }
        }
        fn stop(&self) {
            *self.2.lock().unwrap() = true;
            self.3.notify_all();
        }
        fn most_threads(&self) -> usize {
            2
        }
        fn names(&self) -> Names {
            Names::default()
        }
    }

    /// What becomes of a run whose first chunk does this.
    fn outcome(fail: fn()) -> std::thread::Result<Result<(), Error>> {
        let (workers, chunks) = (AtomicU64::new(0), AtomicU64::new(0));
        let form = Waiting(workers, chunks, Mutex::new(false), std::sync::Condvar::new(), fail);
        let options = Options { threads: 100, ..Options::default() };
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            run(&form, &[], &options, OnError::Fail, &Progress::default()).map(|_| ())
        }));
        assert_eq!(form.0.into_inner(), 2, "threads without a chunk");
        result
    }

    /// Holds the statistics of keys of every table, some of two, to what came, by threads that take turns; how many of these
    /// emptied their tables.
    fn pooled(keys: u64, rows: u64, squares: bool) -> usize {
        const SETTLED: u64 = 500;
        let (kernel, keep) = (Kernel { level: Level::best() }, Keep { squares, ..Keep::default() });
        let (pool, account) = (Arc::new(Pool::new(2, kernel, keep)), Account::new(None));
        let shard = |_| Shard::new(kernel, keep, false, &account).pooled(Some(Arc::clone(&pool)));
        let mut shards = [0, 1].map(shard);
        let (mut came, mut random) = (BTreeMap::new(), Random::new(keys));
        for row in 0..rows {
            let key = random.below(keys);
            let padding = if key % 3 == 0 { ", a key of many bytes" } else { "" };
            let name = format!("{key}{padding}").into_bytes();
            let units = i128::from(random.below(1999)) - 999;
            let number = Decimal::new(units, if key % 7 == 0 { random.below(3) as u16 } else { 1 });
            let shard = &mut shards[(row % 2) as usize];
            let own = came.entry(name.clone()).or_insert_with(|| Stats::none(keep));
            if random.below(50) == 0 {
                own.add_missing();
                shard.add_missing(&name);
            } else {
                own.add(&number);
                shard.add(&name, Given::Number(&number), Order::LAST);
            }
            if row / 2 % SETTLED == SETTLED - 1 {
                shard.settle(SETTLED).unwrap();
            }
        }
        let emptied = shards.iter().filter(|shard| shard.is_pooled()).count();
        shards.iter_mut().for_each(|shard| shard.end_pool().unwrap());
        let mut runs: Vec<Run> = shards.into_iter().map(Shard::into_run).collect();
        let pool = Arc::into_inner(pool).expect("threads let go of it");
        runs.extend(runs_of(pool, 3).unwrap());
        let mut found = BTreeMap::new();
        for group in gather(runs, 3) {
            assert!(found.insert(group.key.to_vec(), group.stats).is_none(), "a key twice");
        }
        assert!(found == came, "{keys} keys");
        emptied
    }

    #[test]
    fn what_threads_pool_is_what_came() {
        // Few keys, keys that come again and again, keys that come once or twice each.
        for (keys, rows, squares, expected) in [
            (1000, 20_000, true, 0),
            (100_000, 500_000, true, 0),
            (400_000, 600_000, true, 2),
            (400_000, 600_000, false, 2),
        ] {
            assert_eq!(pooled(keys, rows, squares), expected, "{keys} keys");
        }
    }

    #[test]
    fn a_thread_that_panics_while_others_wait_for_it_does_not_block_them() {
        assert!(outcome(|| panic!("as planned")).is_err());
    }

    #[test]
    fn memory_that_is_refused_while_others_wait_is_an_error() {
        let refused = outcome(|| drop(Slab::<u64>::new(1 << 58)));
        assert!(matches!(refused, Ok(Err(Error::NoMemory(_)))));
    }
}
