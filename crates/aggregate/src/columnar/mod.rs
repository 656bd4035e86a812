//! Groups of columns that are in memory already, such as Arrow arrays: the same exact states, without text.
//!
//! Every batch is cut into pieces, which threads take in turn ([`aggregate`]), or threads take parts and read their
//! batches for themselves ([`aggregate_parts`]). A piece's keys become numbers of
//! groups first, then every column of values is added up by them. What is refused is reported by its
//! row, from 1, over all batches.
//!
//! A floating-point number means its shortest decimal, the one all programs print, so that a table
//! and its CSV have the same result: 2 is as long as it is printed, `2.0`.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fathom_machine::os::memory::NoMemory;

use crate::account::Account;
use crate::delimited::{Null, Query};
use crate::engine::{Column, Options, Progress, Summary};
use crate::error::{Error, FieldText, Position, Reason, Reject};
use crate::filter::Filter;
use crate::merge::{Partial, merge};
use crate::number::Decimal;
use crate::rejects::SHOWN;
use crate::threads::on_threads;

mod batch;
mod fault;
mod keys;
mod shown;
mod units;
mod values;

pub use batch::{Batch, Integers, Numbers, Part, Parts, Piece, Source, Texts, Valid};
use fault::Fault;
use keys::Groups;
pub use shown::Time;
use values::Values;

/// Rows that are taken at a time, at most: however large a batch is, sums of them fit, and a run can be ended.
const PIECE_ROWS: usize = 1 << 16;

/// What columns in memory are to be grouped by and added up.
#[derive(Clone, Debug)]
pub struct Frame {
    /// What messages call the table.
    pub path: PathBuf,
    /// What the columns of the key are called, at least one.
    pub keys: Vec<String>,
    /// The columns of values: their names, and what a missing value means.
    pub values: Vec<(String, Null)>,
    /// Which rows are taken, and what the columns it asks for are called.
    pub filter: Option<(Filter, Vec<String>)>,
    /// The parts of keys where they are [other](Query::shapes_keys) than what stands in the columns: those of this query,
    /// one by one.
    pub shape: Option<Query>,
    /// Whether NaN is a missing value; otherwise it is refused, as infinities are.
    pub nan_is_missing: bool,
    /// Whether what is refused ends the run; otherwise it is counted.
    pub fail: bool,
}

/// Aggregates all batches of a source.
///
/// # Errors
/// The first row that is refused, unless rows are counted instead; what the source says.
pub fn aggregate(
    source: impl Source,
    frame: &Frame,
    options: &Options,
    progress: &Progress,
) -> Result<Summary, Error> {
    aggregate_parts(Pieces { source, waiting: VecDeque::new(), row: 0 }, frame, options, progress)
}

/// Aggregates all rows of all parts. [`Column::scale`] and all that is told of numbers are those of text.
///
/// # Errors
/// The same.
pub fn aggregate_parts(
    parts: impl Parts,
    frame: &Frame,
    options: &Options,
    progress: &Progress,
) -> Result<Summary, Error> {
    let account = Account::new(options.memory_limit_bytes);
    let (queue, is_over) = (Mutex::new(parts), AtomicBool::new(false));
    let results = on_threads(options.threads.max(1), || {
        let worked = Error::caught(|| {
            let mut worker = Worker::new(frame, options, &account);
            worker.work((&queue, &is_over), frame, progress, &account).map(|()| worker)
        });
        let goes_on = |worker: &Worker| !frame.fail || worker.rejects.is_empty();
        if !worked.as_ref().is_ok_and(goes_on) {
            is_over.store(true, Ordering::Relaxed);
        }
        worked
    });
    // What is Python's, say, is given back once all threads are done with it, and before keys are put in order.
    drop(queue);
    let workers = results.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut summary = Summary { keys: frame.keys.clone(), ..Summary::default() };
    summary.bytes = progress.bytes.load(Ordering::Relaxed);
    let mut lists: Vec<Vec<Vec<Partial>>> = frame.values.iter().map(|_| Vec::new()).collect();
    for worker in workers {
        summary.records += worker.records;
        summary.rejected += worker.rejected;
        summary.left_out += worker.left_out;
        summary.shown_rejects.extend(worker.rejects);
        for (lists, values) in lists.iter_mut().zip(worker.values) {
            lists.push(NoMemory::caught(|| values.into_partials(&worker.groups))?);
        }
    }
    summary.shown_rejects.sort_by_key(|reject| reject.position.line);
    summary.shown_rejects.truncate(SHOWN);
    if frame.fail && !summary.shown_rejects.is_empty() {
        return Err(Error::Record(Box::new(summary.shown_rejects.swap_remove(0))));
    }
    let columns = frame.values.iter().zip(lists);
    summary.columns = columns.map(|((name, _), lists)| Column::new(name, merge(lists))).collect();
    let groups = summary.columns.iter_mut().flat_map(|column| &mut column.groups);
    groups.for_each(|group| group.stats.settle());
    Ok(summary)
}

/// Pieces in the order of their rows, so that none before the first refused row is left out.
struct Pieces<S: Source> {
    source: S,
    waiting: VecDeque<Piece<S::Batch>>,
    row: u64,
}

impl<S: Source> Parts for Pieces<S> {
    type Batch = S::Batch;

    fn next(&mut self) -> Result<Option<Part<S::Batch>>, Error> {
        while self.waiting.is_empty() {
            let Some(batch) = self.source.next()? else { return Ok(None) };
            let (rows, place, batch) = (batch.rows(), (0, self.row), Arc::new(batch));
            self.row += rows as u64;
            let piece = |rows| Piece { batch: Arc::clone(&batch), rows, place };
            self.waiting.extend(cut(0..rows).map(piece));
        }
        let piece = self.waiting.pop_front().map(Ok);
        Ok(Some(Box::new(piece.into_iter())))
    }
}

/// Pieces of these rows.
fn cut(rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = rows.end;
    rows.step_by(PIECE_ROWS).map(move |start| start..end.min(start + PIECE_ROWS))
}

/// What one thread knows.
struct Worker {
    groups: Groups,
    values: Vec<Values>,
    records: u64,
    rejected: u64,
    left_out: u64,
    rejects: Vec<Reject>,
    /// Of the tables, as far as the account knows.
    bytes: usize,
}

impl Worker {
    fn new(frame: &Frame, options: &Options, account: &Arc<Account>) -> Worker {
        let values = |_| Values::new(options.keep(), account);
        let values = frame.values.iter().map(values).collect();
        let (groups, rejects) = (Groups::default(), Vec::new());
        Worker { groups, values, records: 0, rejected: 0, left_out: 0, rejects, bytes: 0 }
    }

    /// Says how the tables have grown since it was asked last.
    fn account(&mut self, account: &Account) {
        let values: usize = self.values.iter().map(Values::bytes).sum();
        let bytes = self.groups.bytes() + values;
        // What does not fit ends the run.
        account.take(bytes.saturating_sub(std::mem::replace(&mut self.bytes, bytes)));
    }

    fn work<P: Parts>(
        &mut self,
        (queue, is_over): (&Mutex<P>, &AtomicBool),
        frame: &Frame,
        progress: &Progress,
        account: &Account,
    ) -> Result<(), Error> {
        let (mut numbers, mut faults) = (Vec::new(), Vec::new());
        loop {
            let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
            let next = if is_over.load(Ordering::Relaxed) { None } else { queue.next()? };
            drop(queue);
            let Some(part) = next else { return Ok(()) };
            for piece in part {
                let piece = piece?;
                for rows in cut(piece.rows.clone()) {
                    if progress.stop.load(Ordering::Relaxed) {
                        return Err(Error::Interrupted);
                    }
                    let bytes = piece.batch.row_bytes() * rows.len() as u64;
                    progress.bytes.fetch_add(bytes, Ordering::Relaxed);
                    let known = self.groups.len();
                    let place = (rows, piece.place);
                    self.take(&*piece.batch, place, frame, &mut numbers, &mut faults);
                    self.account(account);
                    account.add_keys((self.groups.len() - known) * self.values.len())?;
                    self.refuse(&mut faults, &piece, frame);
                    if frame.fail && !self.rejects.is_empty() {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Counts the rows of a piece that are refused, each once, and keeps the first.
    fn refuse<B>(&mut self, faults: &mut Vec<Fault>, piece: &Piece<B>, frame: &Frame) {
        faults.sort_by_key(|fault| (fault.row, fault.column));
        faults.dedup_by_key(|fault| fault.row);
        self.records -= faults.len() as u64;
        self.rejected += faults.len() as u64;
        for fault in faults.drain(..) {
            if self.rejects.len() < SHOWN {
                self.rejects.push(reject(fault, piece, frame));
            }
        }
    }

    /// Takes the rows of a batch that are a piece. A row with a refused cell is taken by no column.
    ///
    /// For any batch, so that it is compiled here, optimised, and not where a type of batches is.
    fn take(
        &mut self,
        batch: &dyn Batch,
        (rows, place): (Range<usize>, (usize, u64)),
        frame: &Frame,
        numbers: &mut Vec<u32>,
        faults: &mut Vec<Fault>,
    ) {
        let keys: Vec<_> = (0..frame.keys.len()).map(|part| batch.keys(part)).collect();
        let chosen = |(filter, _): &(Filter, _)| chosen(filter, batch, &rows, frame, faults);
        let taken = frame.filter.as_ref().map(chosen);
        let (refused, shape) = (faults.len(), frame.shape.as_ref());
        self.records += rows.len() as u64;
        match &taken {
            None => self.groups.number((&keys, shape), rows.clone(), numbers, faults),
            Some(taken) => {
                let left_out = (rows.len() - taken.len() - refused) as u64;
                self.records -= left_out;
                self.left_out += left_out;
                self.groups.number((&keys, shape), taken.iter().copied(), numbers, faults);
                let mut all = vec![keys::NONE; rows.len()];
                taken.iter().zip(&*numbers).for_each(|(row, &of)| all[row - rows.start] = of);
                *numbers = all;
            }
        }
        for (column, (_, null)) in frame.values.iter().enumerate() {
            let columns = (frame.keys.len() + column, *null, frame.nan_is_missing);
            values::check(&batch.values(column), columns, rows.clone(), faults);
        }
        if let Some(taken) = &taken {
            // Values of what is left out are not looked at, nor are those behind a condition that failed.
            let mut at = 0;
            faults.retain(|fault| {
                at += 1;
                at <= refused || taken.binary_search(&fault.row).is_ok()
            });
        }
        for fault in &*faults {
            numbers[fault.row - rows.start] = keys::NONE;
        }
        for (column, values) in self.values.iter_mut().enumerate() {
            let is_zero = frame.values[column].1 == Null::Zero;
            let place = (place, rows.clone());
            values.take(&batch.values(column), place, numbers, is_zero, self.groups.len());
        }
    }
}

/// The rows of a piece for which a condition is true, in their order; a cell that it cannot read is a fault.
fn chosen(
    filter: &Filter,
    batch: &dyn Batch,
    rows: &Range<usize>,
    frame: &Frame,
    faults: &mut Vec<Fault>,
) -> Vec<usize> {
    let columns: Vec<Texts<'_>> =
        (0..filter.columns().len()).map(|column| batch.filtered(column)).collect();
    let is_null = |text: &[u8]| {
        let bare = text.trim_ascii();
        bare.is_empty() || frame.nan_is_missing && bare == b"NaN"
    };
    let first = frame.keys.len() + frame.values.len();
    let mut holds = |row: usize| {
        let field = |at: usize| Ok(columns[at].get(row).filter(|text| !is_null(text)));
        let read = |at: usize, text: &[u8]| {
            Decimal::parse(text.trim_ascii()).map_err(|why| Fault {
                row,
                column: first + at,
                reason: Reason::Number(why),
                text: String::from_utf8_lossy(text).into_owned(),
            })
        };
        filter.holds(field, read).unwrap_or_else(|fault| {
            faults.push(fault);
            false
        })
    };
    rows.clone().filter(|&row| holds(row)).collect()
}

/// A fault with its place in the table.
fn reject<B>(fault: Fault, piece: &Piece<B>, frame: &Frame) -> Reject {
    let Fault { row, column, reason, text } = fault;
    let values = frame.values.iter().map(|(name, _)| name);
    let filtered = frame.filter.iter().flat_map(|(_, names)| names);
    let name = frame.keys.iter().chain(values).chain(filtered).nth(column).cloned();
    let name = name.expect("the name of a column asked for");
    let (line, column) = (piece.place.1 + row as u64 + 1, column as u64 + 1);
    Reject {
        position: Position { path: frame.path.clone(), byte: 0, line, column },
        record_byte: 0,
        reason,
        field: Some(FieldText { name, text: text.clone().into_bytes() }),
        text: text.into_bytes(),
    }
}

#[cfg(test)]
mod tests;
