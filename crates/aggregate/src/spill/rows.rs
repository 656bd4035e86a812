//! Results from disk: in the order of their keys or in another one, a piece at a time.
//!
//! Runs are merged by a thread of its own, ahead of whoever takes the pieces.

use std::sync::mpsc::sync_channel;

use super::lane::{LEAST_BYTES, Spilled, Written};
use super::merging::{ByKey, ByOrder, write_rows};
use crate::engine::{Column, Summary};
use crate::error::Error;
use crate::format::{Criterion, arrange, is_by_key};
use crate::key::Key;
use crate::merge::{Keep, Partial};

/// Most keys of a piece, and bytes of them on disk unless one key has more; fewer where there is little memory.
const PIECE_KEYS: usize = 1 << 15;
const PIECE_BYTES: usize = 1 << 20;

/// The same within a limit.
fn most_of_piece(limit_bytes: usize) -> (usize, usize) {
    let most = |usual: usize, share| usual.min(limit_bytes / share).max(1);
    (most(PIECE_KEYS, 4096), most(PIECE_BYTES, 64))
}

/// Pieces ahead.
const AHEAD: usize = 1;

/// The groups of some keys, for each column.
type Piece = Vec<Vec<Partial>>;

impl Summary {
    /// Hands out what was [spilled](Summary::spilled) in an order, as columns that have the groups of some keys, once:
    /// pieces of what [`format::arrange`](crate::format::arrange) would make of all. Without that it is what the columns have.
    ///
    /// # Errors
    /// What cannot be read or written on the way, and what `take` says.
    pub fn pieces<E: From<Error>>(
        &mut self,
        order: &[Criterion],
        mut take: impl FnMut(&[Column]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.gather();
        let columns = &mut self.columns;
        let Some(spilled) = self.spilled.take() else {
            arrange(columns, order, None);
            return take(columns);
        };
        if is_by_key(order) {
            return by_key(spilled, |groups| {
                put(columns, groups);
                take(columns).map(|()| true)
            });
        }
        let limit_bytes = spilled.limit_bytes;
        let keeps: Vec<Keep> = spilled.columns.iter().map(|column| column.keep).collect();
        let first = spilled.columns.iter().flat_map(|column| &column.runs).next();
        let Some(store) = first.map(|run| run.store().another()).transpose()? else {
            return Ok(());
        };
        let (mut runs, mut sorting) = (Vec::new(), Sorting::default());
        by_key(spilled, |piece| {
            sorting.push(columns, piece);
            // They are put in order in a list of their own.
            if sorting.bytes > limit_bytes / 8 {
                arrange(columns, order, None);
                runs.push(write_rows(columns, &store)?);
                sorting.clear(columns);
            }
            Ok::<_, E>(true)
        })?;
        arrange(columns, order, None);
        runs.push(write_rows(columns, &store)?);
        sorting.clear(columns);
        drop(store);
        let about = columns.clone();
        let mut rows = ByOrder::new(runs, (&about, &keeps), order, limit_bytes)?;
        while let Some(row) = rows.next()? {
            columns.iter_mut().zip(row).for_each(|(column, group)| column.groups.push(group));
            if columns[0].groups.len() == most_of_piece(limit_bytes).0 {
                take(columns)?;
                columns.iter_mut().for_each(|column| column.groups.clear());
            }
        }
        take(columns)
    }

    /// Keeps the first `top` groups of an order, as [`format::arrange`](crate::format::arrange) does, where they were
    /// [spilled](Summary::spilled), and says how many keys there are; `counts` if that is asked for, otherwise it may
    /// be fewer.
    ///
    /// # Errors
    /// What cannot be read, and [`Error::TopLimit`] if memory does not hold so many.
    pub fn first(&mut self, order: &[Criterion], top: usize, counts: bool) -> Result<usize, Error> {
        self.gather();
        let columns = &mut self.columns;
        let Some(spilled) = self.spilled.take() else {
            let keys = columns[0].groups.len();
            arrange(columns, order, Some(top));
            return Ok(keys);
        };
        let (limit_bytes, in_order) = (spilled.limit_bytes, is_by_key(order));
        let (mut keys, mut sorting) = (0, Sorting::default());
        by_key(spilled, |piece| {
            keys += piece[0].len();
            if in_order && columns[0].groups.len() >= top {
                return Ok::<_, Error>(counts);
            }
            sorting.push(columns, piece);
            // What comes later is behind what it is like.
            if columns[0].groups.len() > top.max(PIECE_KEYS).saturating_mul(2)
                || sorting.bytes > limit_bytes / 4
            {
                arrange(columns, order, Some(top));
                sorting.weigh(columns);
                if sorting.bytes > limit_bytes / 2 && sorting.bytes > LEAST_BYTES {
                    return Err(Error::TopLimit { limit_bytes, top });
                }
            }
            Ok(true)
        })?;
        arrange(columns, order, Some(top));
        Ok(keys)
    }
}

fn put(columns: &mut [Column], groups: Piece) {
    columns.iter_mut().zip(groups).for_each(|(column, groups)| column.groups = groups);
}

/// Rows that wait to be put in order.
#[derive(Default)]
struct Sorting {
    /// What they take, about.
    bytes: usize,
}

impl Sorting {
    fn push(&mut self, columns: &mut [Column], piece: Piece) {
        for (column, mut groups) in columns.iter_mut().zip(piece) {
            self.bytes += weight(&groups);
            column.groups.append(&mut groups);
        }
    }

    fn weigh(&mut self, columns: &[Column]) {
        self.bytes = columns.iter().map(|column| weight(&column.groups)).sum();
    }

    fn clear(&mut self, columns: &mut [Column]) {
        columns.iter_mut().for_each(|column| column.groups.clear());
        self.bytes = 0;
    }
}

fn weight(groups: &[Partial]) -> usize {
    // A place in the order is beside each.
    let one = |group: &Partial| size_of::<Partial>() + size_of::<u64>() + group.stats.kept_bytes();
    groups.iter().map(one).sum()
}

/// Hands out all groups in the order of their keys, as long as `take` wants more.
fn by_key<E: From<Error>>(
    spilled: Spilled,
    mut take: impl FnMut(Piece) -> Result<bool, E>,
) -> Result<(), E> {
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(AHEAD);
        // Whoever takes no more drops the receiver, and the thread ends with its next piece.
        let merge = move || {
            let outcome = merged(spilled, |piece| sender.send(Ok(piece)).is_ok());
            outcome.err().map(|error| sender.send(Err(error)))
        };
        let thread = std::thread::Builder::new().spawn_scoped(scope, merge);
        thread.map_err(Error::Thread)?;
        for piece in receiver {
            if !take(piece?)? {
                break;
            }
        }
        Ok(())
    })
}

/// The same in this thread; whoever takes a piece says whether there should be another.
fn merged(spilled: Spilled, mut take: impl FnMut(Piece) -> bool) -> Result<(), Error> {
    let limits = (spilled.limit_bytes, spilled.columns.len());
    let (most_keys, most_bytes) = most_of_piece(spilled.limit_bytes);
    let column = |Written { runs, keep }| ByKey::new(runs, keep, limits);
    let mut columns = spilled.columns.into_iter().map(column).collect::<Result<Vec<_>, _>>()?;
    loop {
        let mut piece: Piece = columns.iter().map(|_| Vec::new()).collect();
        let mut bytes = 0;
        'piece: while piece[0].len() < most_keys && bytes < most_bytes {
            for (column, groups) in columns.iter_mut().zip(&mut piece) {
                let Some((stats, more)) = column.next()? else { break 'piece };
                groups.push(Partial { key: Key::from(column.key()), stats });
                bytes += more;
            }
            let are_same = columns.iter().all(|column| column.key() == columns[0].key());
            assert!(are_same, "all columns have the same keys");
        }
        if piece[0].is_empty() || !take(piece) {
            return Ok(());
        }
    }
}
