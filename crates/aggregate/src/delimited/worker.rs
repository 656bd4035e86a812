//! One thread's work: the records of a chunk into its tables, a table per value column.

use std::borrow::Cow;
use std::sync::Arc;

use memchr::memchr_iter;

use super::columns::Columns;
use super::cut::Cut;
use super::query::{Null, Query, Ragged};
use crate::account::Account;
use crate::chunk::{Buffer, Window};
use crate::composite;
use crate::engine::Options;
use crate::error::{Error, Fault, MOST_FIELDS, Reason};
use crate::kernel::{Kernel, Odd, fields};
use crate::number::Decimal;
use crate::record::{Field, Piece, Pieces, Split, split};
use crate::shard::{Refused, Shard};

/// The state of one thread: a shard per value column.
pub(super) struct Worker<'a> {
    query: &'a Query,
    delimiter: u8,
    kernel: Kernel,
    with_squares: bool,
    pub(super) shards: Vec<Shard>,
    pub(super) fields: Vec<Field>,
    values: Vec<Option<Decimal>>,
    /// The key of the record in hand, if it has several parts.
    key: Vec<u8>,
    /// Whether the kernel would take what it must not: several parts for a key, or what says that
    /// there is no value for one.
    by_record: bool,
    odd: Odd,
    /// Refused records of the current chunk.
    pub(super) refused: Vec<Refused>,
    pub(super) records: u64,
    pub(super) blank_lines: u64,
}

impl<'a> Worker<'a> {
    pub(super) fn new(query: &'a Query, options: &Options, account: &Arc<Account>) -> Worker<'a> {
        let kernel = Kernel { level: options.level };
        let shard = || Shard::new(kernel, options.with_squares, false, account);
        let is_tenths = |null: &Vec<u8>| Decimal::parse(null).is_ok_and(|null| null.scale() == 1);
        Worker {
            query,
            by_record: query.by.len() > 1 || query.nulls.iter().any(is_tenths),
            delimiter: query.delimiter,
            kernel,
            with_squares: options.with_squares,
            shards: (0..query.values.len().max(1)).map(|_| shard()).collect(),
            fields: Vec::new(),
            values: Vec::new(),
            key: Vec::new(),
            odd: Vec::new(),
            refused: Vec::new(),
            records: 0,
            blank_lines: 0,
        }
    }

    /// Takes every record of a chunk and returns how many line ends they have; those that are none are
    /// in `refused` afterwards, in order.
    pub(super) fn take(&mut self, buffer: &Buffer, cut: &Cut) -> Result<u64, Error> {
        self.refused.clear();
        let bytes = &buffer.bytes()[..cut.readable];
        let range = (cut.rows.from, cut.rows.to);
        let mut pieces = Pieces::new(bytes, range, self.delimiter, cut.ended);
        let count = |from, to| memchr_iter(b'\n', &bytes[from..to]).count() as u64;
        // Line ends of records with quotes are counted once behind a run of them, `from..to`.
        let (mut lines, mut from, mut to) = (0, cut.rows.from, cut.rows.from);
        loop {
            let mut fields = std::mem::take(&mut self.fields);
            let piece = pieces.next(&mut fields);
            self.fields = fields;
            match piece {
                Piece::End(_) => break,
                Piece::More(_) => {
                    unreachable!("whoever cut the chunk found the end of each record")
                }
                Piece::Lines(start, end) => {
                    lines += count(from, to);
                    for window in Window::new(buffer.bytes(), start, end).pieces() {
                        lines += self.lines(&window, &cut.columns)?;
                    }
                    (from, to) = (end, end);
                }
                Piece::Record(start, split) => {
                    let end = match split {
                        Split::Record(end) | Split::Blank(end) | Split::Malformed(_, end) => end,
                        Split::More => unreachable!("this is Piece::More"),
                    };
                    self.exact(bytes, &cut.columns, (start, end - 1), &split);
                    self.settle(1)?;
                    to = end;
                }
            }
        }
        self.refused.sort_unstable_by_key(|record| record.start);
        Ok(lines + count(from, to))
    }

    /// Lines without quotes; returns how many.
    fn lines(&mut self, window: &Window<'_>, columns: &Columns) -> Result<u64, Error> {
        let mut odd = std::mem::take(&mut self.odd);
        odd.clear();
        let lines = if self.by_record {
            let mut start = window.from();
            odd.extend(memchr_iter(b'\n', &window.buffer()[start..window.to()]).map(|newline| {
                let newline = window.from() + newline;
                (std::mem::replace(&mut start, newline + 1), newline)
            }));
            odd.len() as u64
        } else {
            let wanted = self.wanted(columns);
            let mut tables: Vec<_> =
                self.shards.iter_mut().map(|shard| &mut shard.tables).collect();
            fields::run(self.kernel, window, &wanted, &mut tables, self.with_squares, &mut odd)
        };
        self.records += lines - odd.len() as u64;
        for &(start, newline) in &odd {
            // The newline belongs to the line.
            let line = &window.buffer()[..=newline];
            let split = split(line, start, self.delimiter, true, &mut self.fields);
            self.exact(line, columns, (start, newline), &split);
        }
        self.odd = odd;
        self.settle(lines)?;
        Ok(lines)
    }

    /// What the kernel of fields may take: everything else is odd to it.
    fn wanted<'c>(&self, columns: &'c Columns) -> fields::Wanted<'c> {
        let key = columns.keys[0];
        let last = columns.values.iter().copied().fold(key, usize::max);
        let delimiters = match columns.fields {
            Some(fields) if self.query.ragged == Ragged::Fail => (last.max(fields - 1), fields - 1),
            _ => (last, MOST_FIELDS - 1),
        };
        fields::Wanted { delimiter: self.delimiter, key, values: &columns.values, last, delimiters }
    }

    fn settle(&mut self, records: u64) -> Result<(), Error> {
        self.shards.iter_mut().try_for_each(|shard| shard.settle(records))
    }

    /// One record, whose fields were found, between its start and its line feed.
    fn exact(
        &mut self,
        bytes: &[u8],
        columns: &Columns,
        (start, end): (usize, usize),
        split: &Split,
    ) {
        let outcome = match split {
            Split::Blank(_) => {
                self.blank_lines += 1;
                Ok(())
            }
            Split::Malformed(reason, _) => Err(Fault::at(start, *reason)),
            Split::Record(_) | Split::More => self.add(bytes, start, columns),
        };
        if let Err(fault) = outcome {
            self.refused.push(Refused { start, end, fault });
        }
    }

    /// Adds a record: all of its values, or none if one of them is refused.
    fn add(&mut self, bytes: &[u8], start: usize, columns: &Columns) -> Result<(), Fault> {
        let found = self.fields.len();
        let expected = columns.fields.unwrap_or(found);
        if found != expected && self.query.ragged == Ragged::Fail {
            let at = self.fields.get(expected).map_or(start, |surplus| surplus.range().start);
            return Err(Fault::at(at, Reason::Ragged { expected, found }));
        }
        let field = |place: usize| match self.fields.get(place) {
            Some(field) => Ok(Some(*field)),
            None if place < expected => Ok(None),
            None => Err(Fault::at(start, Reason::NoColumn(place + 1))),
        };
        self.values.clear();
        for (value, &place) in self.query.values.iter().zip(&columns.values) {
            let (content, at) = match field(place)? {
                Some(field) => (field.content(bytes), field.range()),
                None => (Cow::Borrowed(&b""[..]), start..start),
            };
            let is_null = self.query.nulls.iter().any(|null| **null == *content) || place >= found;
            let fault = |reason| Fault::of(place, at, reason);
            self.values.push(match (is_null, value.null) {
                (false, _) => Some(Decimal::parse(&content).map_err(|why| fault(why.into()))?),
                (true, Null::Skip) => None,
                (true, Null::Zero) => Some(Decimal::new(0, 0)),
                (true, Null::Fail) => return Err(fault(Reason::Missing)),
            });
        }
        if self.query.values.is_empty() {
            self.values.push(Some(Decimal::new(0, 1)));
        }
        let one;
        let key: &[u8] = if let [place] = columns.keys[..] {
            one = field(place)?.map(|field| field.content(bytes)).unwrap_or_default();
            &one
        } else {
            self.key.clear();
            let mut is_empty = true;
            for (at, &place) in columns.keys.iter().enumerate() {
                let part = field(place)?.map(|field| field.content(bytes)).unwrap_or_default();
                is_empty &= part.is_empty();
                composite::push(&mut self.key, &part, at + 1 == columns.keys.len());
            }
            if is_empty { &[] } else { &self.key }
        };
        if key.is_empty() {
            return Err(Fault::of(columns.keys[0], start..start, Reason::EmptyKey));
        }
        for (shard, value) in self.shards.iter_mut().zip(&self.values) {
            match value {
                Some(value) => shard.add(key, value),
                None => shard.add_missing(key),
            }
        }
        self.records += 1;
        Ok(())
    }
}
