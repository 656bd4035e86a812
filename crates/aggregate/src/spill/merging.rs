//! Runs side by side: the next entry of all of them, by its key or by what is told of it.

use std::sync::Arc;

use super::codec;
use super::lane::LEAST_BYTES;
use super::store::{BLOCK_BYTES, Reader, Run, Store, Writer};
use crate::engine::Column;
use crate::error::Error;
use crate::format::{Criterion, Worths};
use crate::key::Key;
use crate::merge::{Keep, Partial, Stats};

/// Which entry is next: a binary heap of the numbers of runs.
#[derive(Debug)]
struct Heap(Vec<usize>);

impl Heap {
    fn new(runs: Vec<usize>, is_before: impl Fn(usize, usize) -> bool) -> Heap {
        let mut heap = Heap(runs);
        (0..heap.0.len() / 2).rev().for_each(|at| heap.sink(at, &is_before));
        heap
    }

    fn first(&self) -> Option<usize> {
        self.0.first().copied()
    }

    /// The first has gone on, or has ended.
    #[inline]
    fn renew(&mut self, has_next: bool, is_before: impl Fn(usize, usize) -> bool) {
        if !has_next {
            self.0.swap_remove(0);
        }
        self.sink(0, &is_before);
    }

    #[inline]
    fn sink(&mut self, mut at: usize, is_before: &impl Fn(usize, usize) -> bool) {
        let heap = &mut self.0;
        loop {
            let mut next = 2 * at + 1;
            if next >= heap.len() {
                return;
            }
            next += usize::from(next + 1 < heap.len() && is_before(heap[next + 1], heap[next]));
            if !is_before(heap[next], heap[at]) {
                return;
            }
            heap.swap(at, next);
            at = next;
        }
    }
}

/// How many runs are read side by side, within a quarter of the memory for so many columns.
fn most_runs(runs: &[Run], limit_bytes: usize, columns: usize) -> usize {
    let largest = runs.iter().map(Run::most_bytes).max().unwrap_or(0).max(BLOCK_BYTES);
    (limit_bytes / 4 / columns / largest).max(2)
}

/// As many runs as are read side by side, of any: `merge` writes several as one, in another file, so that theirs is gone
/// then.
fn fewer(
    mut runs: Vec<Run>,
    (limit_bytes, columns): (usize, usize),
    merge: impl Fn(Vec<Run>, &Arc<Store>) -> Result<Run, Error>,
) -> Result<Vec<Run>, Error> {
    loop {
        let most = most_runs(&runs, limit_bytes, columns);
        if runs.len() <= most {
            return Ok(runs);
        }
        let store = runs[0].store().another()?;
        let mut surplus = runs.len() - most;
        let mut rest = runs.into_iter();
        runs = Vec::new();
        while surplus > 0 && rest.len() > 1 {
            let some: Vec<Run> = rest.by_ref().take(most.min(surplus + 1)).collect();
            surplus -= some.len() - 1;
            runs.push(merge(some, &store)?);
        }
        runs.extend(rest);
    }
}

/// The keys of all runs of a column in their order, each once.
#[derive(Debug)]
pub(super) struct ByKey {
    readers: Vec<Reader>,
    /// The first bytes of each one's key.
    heads: Vec<u64>,
    heap: Heap,
    keep: Keep,
    limit_bytes: usize,
    key: Vec<u8>,
}

impl ByKey {
    /// Of any number of runs.
    ///
    /// # Errors
    /// What cannot be read, or written in between.
    pub(super) fn new(
        runs: Vec<Run>,
        keep: Keep,
        (limit_bytes, columns): (usize, usize),
    ) -> Result<ByKey, Error> {
        let merge = |runs, store: &Arc<Store>| {
            let mut merging = ByKey::of(runs, keep, limit_bytes)?;
            let mut writer = Writer::new(store);
            while let Some((stats, _)) = merging.next()? {
                writer.push(merging.key(), |bytes| codec::write(bytes, &stats))?;
            }
            writer.finish()
        };
        ByKey::of(fewer(runs, (limit_bytes, columns), merge)?, keep, limit_bytes)
    }

    fn of(runs: Vec<Run>, keep: Keep, limit_bytes: usize) -> Result<ByKey, Error> {
        let mut readers: Vec<Reader> = runs.into_iter().map(Reader::new).collect();
        let mut there = Vec::new();
        for (at, reader) in readers.iter_mut().enumerate() {
            there.extend(reader.advance()?.then_some(at));
        }
        let heads: Vec<u64> = readers.iter().map(|reader| head(reader.key())).collect();
        let heap = Heap::new(there, |a, b| is_before(&readers, &heads, [a, b]));
        Ok(ByKey { readers, heads, heap, keep, limit_bytes, key: Vec::new() })
    }

    /// The key that came last.
    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }

    /// The next key's statistics, and how many bytes they were.
    ///
    /// # Errors
    /// What cannot be read, and [`Error::OneKey`].
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<(Stats, usize)>, Error> {
        let Some(first) = self.heap.first() else { return Ok(None) };
        self.key.clear();
        self.key.extend_from_slice(self.readers[first].key());
        let (mut stats, mut bytes) = self.take(first)?;
        while let Some(next) = self.heap.first() {
            if self.readers[next].key() != self.key {
                break;
            }
            let (more, more_bytes) = self.take(next)?;
            bytes += more_bytes;
            self.check(&[&stats, &more], bytes)?;
            stats.merge(&more);
        }
        stats.settle();
        Ok(Some((stats, bytes)))
    }

    /// What a run, which is the next one, knows of its key; it goes on.
    #[inline]
    fn take(&mut self, at: usize) -> Result<(Stats, usize), Error> {
        let reader = &mut self.readers[at];
        let start = reader.at();
        let stats = reader.stats(self.keep)?;
        let bytes = reader.at() - start;
        let has_next = reader.advance()?;
        self.heads[at] = head(reader.key());
        let (readers, heads) = (&self.readers, &self.heads);
        self.heap.renew(has_next, |a, b| is_before(readers, heads, [a, b]));
        Ok((stats, bytes))
    }

    /// What is merged is there twice.
    fn check(&self, stats: &[&Stats; 2], bytes: usize) -> Result<(), Error> {
        const FEW_BYTES: usize = 64 << 10;
        if bytes < FEW_BYTES {
            return Ok(());
        }
        let weight: usize = stats.iter().map(|stats| 2 * stats.kept_bytes()).sum();
        let held: usize = self.readers.iter().map(Reader::held_bytes).sum();
        match weight + held > self.limit_bytes && weight > LEAST_BYTES {
            true => Err(Error::OneKey { limit_bytes: self.limit_bytes }),
            false => Ok(()),
        }
    }
}

/// The first bytes of a key, as a number: less is before.
#[inline]
fn head(key: &[u8]) -> u64 {
    let mut head = [0; 8];
    let len = key.len().min(8);
    head[..len].copy_from_slice(&key[..len]);
    u64::from_be_bytes(head)
}

#[inline]
fn is_before(readers: &[Reader], heads: &[u64], [a, b]: [usize; 2]) -> bool {
    heads[a] < heads[b] || heads[a] == heads[b] && readers[a].key() < readers[b].key()
}

/// Writes rows: keys with what is known of them in all columns.
///
/// # Errors
/// [`Error::Spill`].
pub(super) fn write_rows(columns: &[Column], store: &Arc<Store>) -> Result<Run, Error> {
    let mut writer = Writer::new(store);
    for row in 0..columns[0].groups.len() {
        let groups = || columns.iter().map(|column| &column.groups[row]);
        writer.push(&columns[0].groups[row].key, |bytes| {
            groups().for_each(|group| codec::write(bytes, &group.stats));
        })?;
    }
    writer.finish()
}

/// The rows of several runs in an order in which each run is; of rows that are alike those of the first run come
/// first.
#[derive(Debug)]
pub(super) struct ByOrder<'a> {
    readers: Vec<Reader>,
    /// The next row of each.
    heads: Vec<Column>,
    worths: Worths,
    heap: Heap,
    keeps: &'a [Keep],
    order: &'a [Criterion],
}

impl<'a> ByOrder<'a> {
    /// Of any number of runs; `about` are columns without groups, with all that is said of them.
    ///
    /// # Errors
    /// What cannot be read, or written in between.
    pub(super) fn new(
        runs: Vec<Run>,
        (about, keeps): (&[Column], &'a [Keep]),
        order: &'a [Criterion],
        limit_bytes: usize,
    ) -> Result<ByOrder<'a>, Error> {
        let merge = |runs, store: &Arc<Store>| {
            let mut merging = ByOrder::of(runs, (about, keeps), order)?;
            let mut writer = Writer::new(store);
            while let Some(row) = merging.next()? {
                writer.push(&row[0].key, |bytes| {
                    row.iter().for_each(|group| codec::write(bytes, &group.stats));
                })?;
            }
            writer.finish()
        };
        ByOrder::of(fewer(runs, (limit_bytes, 1), merge)?, (about, keeps), order)
    }

    fn of(
        runs: Vec<Run>,
        (about, keeps): (&[Column], &'a [Keep]),
        order: &'a [Criterion],
    ) -> Result<ByOrder<'a>, Error> {
        let mut readers: Vec<Reader> = runs.into_iter().map(Reader::new).collect();
        let (mut heads, mut there) = (about.to_vec(), Vec::new());
        for (at, reader) in readers.iter_mut().enumerate() {
            let row = read_row(reader, keeps)?;
            there.extend(row.is_some().then_some(at));
            // A place for one that has none is not looked at.
            let row = row.unwrap_or_else(|| vec![nothing(); keeps.len()]);
            heads.iter_mut().zip(row).for_each(|(column, group)| column.groups.push(group));
        }
        let worths = Worths::new(order, &heads);
        let heap = Heap::new(there, |a, b| row_is_before(&heads, (order, &worths), [a, b]));
        Ok(ByOrder { readers, heads, worths, heap, keeps, order })
    }

    /// The next row.
    ///
    /// # Errors
    /// What cannot be read.
    pub(super) fn next(&mut self) -> Result<Option<Vec<Partial>>, Error> {
        let Some(at) = self.heap.first() else { return Ok(None) };
        let next = read_row(&mut self.readers[at], self.keeps)?;
        let has_next = next.is_some();
        let next = next.unwrap_or_else(|| vec![nothing(); self.keeps.len()]);
        let heads = self.heads.iter_mut().zip(next);
        let row = heads.map(|(column, group)| std::mem::replace(&mut column.groups[at], group));
        let row = row.collect();
        let (heads, order) = (&self.heads, self.order);
        self.worths.renew(order, heads, at);
        let order = (order, &self.worths);
        self.heap.renew(has_next, |a, b| row_is_before(heads, order, [a, b]));
        Ok(Some(row))
    }
}

fn nothing() -> Partial {
    Partial { key: Key::from([]), stats: Stats::without_room() }
}

fn read_row(reader: &mut Reader, keeps: &[Keep]) -> Result<Option<Vec<Partial>>, Error> {
    if !reader.advance()? {
        return Ok(None);
    }
    let key = Key::from(reader.key());
    let group = |keep: &Keep| {
        let mut stats = reader.stats(*keep)?;
        stats.settle();
        Ok(Partial { key: key.clone(), stats })
    };
    keeps.iter().map(group).collect::<Result<_, _>>().map(Some)
}

fn row_is_before(
    heads: &[Column],
    (order, worths): (&[Criterion], &Worths),
    [a, b]: [usize; 2],
) -> bool {
    worths.ordering(order, heads, [a, b]).then(a.cmp(&b)).is_lt()
}
