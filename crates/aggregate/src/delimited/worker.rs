//! One thread's work: the records of a chunk into its tables, a table per value column.

use super::Shape;
use super::columns::Columns;
use super::cut::Cut;
use crate::chunk::{Buffer, Window};
use crate::engine::Options;
use crate::error::{Error, Reason};
use crate::kernel::{Kernel, fields};
use crate::number::Decimal;
use crate::record::{Field, Piece, Pieces, Split, split};
use crate::shard::{Refused, Shard};

/// The state of one thread: a shard per value column.
pub(super) struct Worker {
    delimiter: u8,
    kernel: Kernel,
    with_squares: bool,
    pub(super) shards: Vec<Shard>,
    pub(super) fields: Vec<Field>,
    values: Vec<Decimal>,
    odd: Vec<(usize, usize)>,
    /// Refused records of the current chunk.
    pub(super) refused: Vec<Refused>,
    pub(super) records: u64,
    pub(super) blank_lines: u64,
}

impl Worker {
    pub(super) fn new(shape: &Shape, options: &Options) -> Worker {
        let kernel = Kernel { level: options.level };
        let shard = || Shard::new(kernel, options.with_squares, false);
        Worker {
            delimiter: shape.delimiter,
            kernel,
            with_squares: options.with_squares,
            shards: shape.values.iter().map(|_| shard()).collect(),
            fields: Vec::new(),
            values: Vec::new(),
            odd: Vec::new(),
            refused: Vec::new(),
            records: 0,
            blank_lines: 0,
        }
    }

    /// Takes every record of a chunk; those that are none are in `refused` afterwards, in order.
    pub(super) fn take(&mut self, buffer: &Buffer, cut: &Cut) -> Result<(), Error> {
        self.refused.clear();
        let bytes = &buffer.bytes()[..cut.readable];
        let range = (cut.rows.from, cut.rows.to);
        let mut pieces = Pieces::new(bytes, range, self.delimiter, cut.ended);
        loop {
            let mut fields = std::mem::take(&mut self.fields);
            let piece = pieces.next(&mut fields);
            self.fields = fields;
            match piece {
                Piece::End(_) => break,
                Piece::More(_) => {
                    unreachable!("whoever cut the chunk found the end of each record")
                }
                Piece::Lines(from, to) => {
                    self.lines(&Window::new(buffer.bytes(), from, to), &cut.columns)?;
                }
                Piece::Record(start, split) => {
                    let end = match split {
                        Split::Record(end) | Split::Blank(end) | Split::Malformed(_, end) => end,
                        Split::More => unreachable!("this is Piece::More"),
                    };
                    self.exact(bytes, &cut.columns, (start, end - 1), &split);
                    self.settle(1)?;
                }
            }
        }
        self.refused.sort_unstable_by_key(|record| record.start);
        Ok(())
    }

    /// Lines without quotes.
    fn lines(&mut self, window: &Window<'_>, columns: &Columns) -> Result<(), Error> {
        let wanted =
            fields::Wanted { delimiter: self.delimiter, key: columns.key, values: &columns.values };
        let mut odd = std::mem::take(&mut self.odd);
        odd.clear();
        let squares = self.with_squares;
        let lines = fields::run(self.kernel, window, &wanted, &mut self.shards, squares, &mut odd);
        self.records += lines - odd.len() as u64;
        for &(start, newline) in &odd {
            // The newline belongs to the line.
            let line = &window.buffer()[..=newline];
            let split = split(line, start, self.delimiter, true, &mut self.fields);
            self.exact(line, columns, (start, newline), &split);
        }
        self.odd = odd;
        self.settle(lines)
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
            Split::Malformed(reason, _) => Err(*reason),
            Split::Record(_) | Split::More => self.add(bytes, columns),
        };
        if let Err(reason) = outcome {
            self.refused.push(Refused { start, end, reason });
        }
    }

    /// Adds a record: all of its values, or none if one of them is refused.
    fn add(&mut self, bytes: &[u8], columns: &Columns) -> Result<(), Reason> {
        let field = |place: usize| {
            let field = self.fields.get(place).ok_or(Reason::NoColumn(place + 1))?;
            Ok::<_, Reason>(field.content(bytes))
        };
        self.values.clear();
        for &place in &columns.values {
            self.values.push(Decimal::parse(&field(place)?)?);
        }
        let key = field(columns.key)?;
        if key.is_empty() {
            return Err(Reason::EmptyKey);
        }
        for (shard, &value) in self.shards.iter_mut().zip(&self.values) {
            shard.add(&key, value);
        }
        self.records += 1;
        Ok(())
    }
}
