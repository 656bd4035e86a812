//! One thread's work: the records of a chunk into its tables, a table per value column.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr_iter;

use super::columns::Columns;
use super::cut::{Cut, Scratch};
use super::pieces::{MARKED_BYTES, Piece, Pieces};
use super::query::{Kind, Null, Query, Ragged, Syntax, Value};
use crate::access;
use crate::chunk::{Buffer, Window};
use crate::composite;
use crate::engine::Options;
use crate::error::{Error, Fault, MOST_FIELDS, Reason};
use crate::kept::Given;
use crate::kernel::marks::Marker;
use crate::kernel::{Kernel, Odd, fields};
use crate::merge::Keep;
use crate::ndjson::Finder;
use crate::number::{Decimal, NumberError, few_digits};
use crate::queue::Place;
use crate::record::{Dialect, Field, Fields, Marks, Split, split};
use crate::shard::{Batch, Refused, Shard};
use crate::spill::Memory;

/// What a value column of a record has.
enum Found {
    Nothing,
    Number(Decimal),
    /// This field.
    Text(Field),
    /// Nothing, which means 0.
    ZeroText,
}

/// The state of one thread: a shard per value column.
pub(super) struct Worker<'a> {
    query: &'a Query,
    /// Of lines of JSON.
    pub(super) finder: Finder,
    kernel: Kernel,
    marker: Marker,
    /// Of the piece in hand.
    marks: Marks,
    /// Records that are added together, if there may be any.
    batch: Option<Batch>,
    keep: Keep,
    /// Whether parts of keys are other than their fields.
    shapes_keys: bool,
    /// Whether a number may say that there is none.
    has_null_digits: bool,
    /// Where the chunk in hand stands.
    place: Place,
    pub(super) shards: Vec<Shard>,
    /// With the marks of the chunk in hand.
    pub(super) scratch: Scratch,
    values: Vec<Found>,
    /// The key of the record in hand, if it has several parts.
    key: Vec<u8>,
    /// Whether the kernel would take what it must not: several parts for a key, what says that there
    /// is no value for one, values of which more than sums are kept, what a filter leaves out, or columns
    /// that no record has.
    by_record: bool,
    /// Whether the kernel left so many records to others that it is faster to mark them.
    is_mostly_odd: bool,
    odd: Odd,
    /// Refused records of the current chunk.
    pub(super) refused: Vec<Refused>,
    pub(super) records: u64,
    pub(super) blank_lines: u64,
    /// Records that the filter left out.
    pub(super) left_out: u64,
}

/// The value of a record, in units of `10^-scale`, where there is none and records are counted.
const COUNTED: (i64, u16) = (0, 1);

/// Fewer say nothing of those that will come.
const MANY_LINES: u64 = 64;

/// The range of a field without the blanks around it, if there are any.
fn bare(bytes: &[u8], range: Range<usize>) -> Option<Range<usize>> {
    let field = &bytes[range.clone()];
    let (start, len) = (range.end - field.trim_ascii_start().len(), field.trim_ascii().len());
    (len < field.len()).then(|| start..start + len)
}

/// The members that lines of JSON are looked through for.
fn members(query: &Query) -> impl Iterator<Item = Vec<u8>> {
    let is_json = query.syntax == Syntax::JsonLines;
    let members = is_json.then(|| Columns::members(query).ok()).flatten();
    members.into_iter().flatten()
}

/// Whether there is a record at a place that was split.
fn found(split: &Split) -> Result<bool, Fault> {
    match split {
        Split::Blank(_) => Ok(false),
        Split::Malformed { reason, at, .. } => Err(Fault::at(*at, *reason)),
        Split::Record(_) | Split::More => Ok(true),
    }
}

impl<'a> Worker<'a> {
    pub(super) fn new(query: &'a Query, options: &Options, memory: &Memory) -> Worker<'a> {
        let kernel = Kernel { level: options.level };
        let keep = options.keep();
        let shard = |column, texts| {
            let keep = keep.of(texts);
            let lane = memory.lane(keep, query.values.len());
            let shard = Shard::new(kernel, keep, false, &memory.account).spilled_by(lane);
            shard.pooled(memory.pool(column, kernel, keep))
        };
        let is_text = |value: &Value| value.kind == Kind::Text;
        let columns = query.values.iter().map(is_text).enumerate();
        let mut shards: Vec<Shard> = columns.map(|(at, texts)| shard(at, texts)).collect();
        if shards.is_empty() {
            shards.push(shard(0, false));
        }
        let is_tenths = |null: &Vec<u8>| Decimal::parse(null).is_ok_and(|null| null.scale() == 1);
        let is_column = |value: &Value| value.kind == Kind::Number && value.formula.is_none();
        let is_plain = query.values.iter().all(is_column) && !query.decimal_comma;
        Worker {
            query,
            by_record: query.by.len() > 1
                || query.shapes_keys()
                || query.syntax != Syntax::Delimited
                || query.filter.is_some()
                || query.decimal_comma
                || !query.quotes
                || query.nulls.iter().any(is_tenths)
                || query.values.iter().any(|value| is_text(value) || value.formula.is_some())
                || query.last_place().is_some_and(|place| place > MOST_FIELDS)
                || keep.is_more(),
            is_mostly_odd: false,
            finder: Finder::new(members(query), options.level),
            kernel,
            marker: Marker::new(options.level),
            marks: Marks::default(),
            batch: is_plain.then(|| Batch::new(query.values.len().max(1))),
            keep,
            shapes_keys: query.shapes_keys(),
            has_null_digits: query.nulls.iter().flatten().any(u8::is_ascii_digit),
            place: Place::FIRST,
            shards,
            scratch: Scratch::default(),
            values: Vec::new(),
            key: Vec::new(),
            odd: Vec::new(),
            refused: Vec::new(),
            records: 0,
            blank_lines: 0,
            left_out: 0,
        }
    }

    /// Takes every record of a chunk and returns how many line ends they have; those that are none are
    /// in `refused` afterwards, in order.
    pub(super) fn take(&mut self, buffer: &Buffer, cut: &Cut, place: Place) -> Result<u64, Error> {
        self.refused.clear();
        self.place = place.of(cut.rows);
        let rows = cut.rows;
        let marked = cut.marked.clone().unwrap_or(rows.from..rows.from);
        let mut lines = self.pieces(buffer, cut, rows.from..marked.start)?;
        if !marked.is_empty() {
            let bytes = &buffer.bytes()[..cut.readable];
            let marks = std::mem::take(&mut self.scratch.marks);
            self.marked(bytes, &cut.columns, marked.start, (&marks, true))?;
            lines += marks.lines;
            self.scratch.marks = marks;
        }
        lines += self.pieces(buffer, cut, marked.end..rows.to)?;
        self.refused.sort_unstable_by_key(|record| record.start);
        Ok(lines)
    }

    /// Takes records of a chunk that were not marked, and returns how many line ends they have.
    fn pieces(&mut self, buffer: &Buffer, cut: &Cut, range: Range<usize>) -> Result<u64, Error> {
        if range.is_empty() {
            // Nothing is looked for, not even a quote.
            return Ok(0);
        }
        let bytes = &buffer.bytes()[..cut.readable];
        let (range, delimiter) = ((range.start, range.end), self.query.cut_by());
        let mut pieces = Pieces::new(bytes, range, delimiter, cut.ended, self.marker);
        let count = |from, to| memchr_iter(b'\n', &bytes[from..to]).count() as u64;
        let is_delimited = self.query.syntax == Syntax::Delimited;
        let piece_rows = self.shards[0].piece_rows();
        let mut lines = 0;
        loop {
            match pieces.next(&mut self.scratch.fields, Some(&mut self.marks)) {
                Piece::End(_) => return Ok(lines),
                Piece::More(_) => {
                    unreachable!("whoever cut the chunk found the end of each record")
                }
                Piece::Records(start, _) => lines += self.own_marks(bytes, cut, (start, true))?,
                Piece::Lines(start, end) => {
                    let is_marked = self.by_record || self.is_mostly_odd;
                    let (marked, found) = match is_marked && is_delimited {
                        true => self.marked_lines(bytes, cut, (start, end))?,
                        false => (start, 0),
                    };
                    lines += found;
                    for window in Window::new(buffer.bytes(), marked, end).pieces(piece_rows) {
                        lines += self.lines(&window, &cut.columns)?;
                    }
                }
                Piece::Record(start, split) => {
                    let end = match split {
                        Split::Record(end) | Split::Blank(end) | Split::Malformed { end, .. } => {
                            end
                        }
                        Split::More => unreachable!("this is Piece::More"),
                    };
                    let found = found(&split);
                    let fields = std::mem::take(&mut self.scratch.fields);
                    self.exact(bytes, &cut.columns, (start, end - 1), found, &fields);
                    self.scratch.fields = fields;
                    self.settle(1)?;
                    lines += count(start, end);
                }
            }
        }
    }

    /// The records of the piece in hand; returns how many line ends they have.
    fn own_marks(
        &mut self,
        bytes: &[u8],
        cut: &Cut,
        (start, quotes): (usize, bool),
    ) -> Result<u64, Error> {
        let marks = std::mem::take(&mut self.marks);
        self.marked(bytes, &cut.columns, start, (&marks, quotes))?;
        self.marks = marks;
        Ok(self.marks.lines)
    }

    /// The records of marks, of which the first starts at `start`.
    fn marked(
        &mut self,
        bytes: &[u8],
        columns: &Columns,
        mut start: usize,
        (marks, quotes): (&Marks, bool),
    ) -> Result<(), Error> {
        let mut first = 0;
        for &newline in &marks.records {
            let behind = newline as usize + 1;
            let row = marks.row(bytes, start, first..behind, quotes);
            let end = marks.fields[newline as usize] as usize;
            if row.is_blank() || !self.add_plain(bytes, columns, start, &row) {
                self.exact(bytes, columns, (start, end), Ok(!row.is_blank()), &row);
            }
            (start, first) = (end + 1, behind);
        }
        self.add_batch();
        self.settle(marks.records.len() as u64)
    }

    /// Puts a record, no blank line, that has nothing odd into the batch; false if it needs [`Worker::exact`], and nothing changed.
    #[inline]
    fn add_plain(
        &mut self,
        bytes: &[u8],
        columns: &Columns,
        start: usize,
        row: &impl Fields,
    ) -> bool {
        let Some(batch) = &mut self.batch else { return false };
        if columns.fields != Some(row.len()) {
            return false;
        }
        if let Some(filter) = &self.query.filter {
            // A record without the column, or with another number there, is told of by `exact`.
            let content = |at: usize| match row.get(columns.filter[at]) {
                Some(field) => {
                    Ok(Some(field.content(bytes)).filter(|text| !self.query.is_null(text)))
                }
                None => Err(NumberError::Empty),
            };
            match filter.holds(content, |_, text| self.query.number(text)) {
                Ok(true) => {}
                Ok(false) => {
                    self.left_out += 1;
                    return true;
                }
                Err(_) => return false,
            }
        }
        let row_number = batch.len();
        let values = columns.values.iter().zip(&mut batch.values);
        for (&place, values) in values {
            values.truncate(row_number);
            let Some(field) = row.get(place) else { return false };
            let range = field.range();
            let number = few_digits(bytes, range.clone());
            match number.or_else(|| few_digits(bytes, bare(bytes, range)?)) {
                Some(number)
                    if !self.has_null_digits || !self.query.is_null(&bytes[field.range()]) =>
                {
                    values.push(number);
                }
                _ => return false,
            }
        }
        if self.query.values.is_empty() {
            batch.values[0].truncate(row_number);
            batch.values[0].push(COUNTED);
        }
        let is_plain = !self.shapes_keys && (columns.keys.len() == 1 || !row.may_be_escaped());
        let (key, mut is_empty) = (batch.next_key(), true);
        for (at, (by, &place)) in self.query.by.iter().zip(&columns.keys).enumerate() {
            let (Some(field), is_last) = (row.get(place), at + 1 == columns.keys.len()) else {
                return false;
            };
            if is_plain && field.is_plain() {
                is_empty &= field.range().is_empty();
                composite::push_plain(key, bytes, field.range(), is_last);
                continue;
            }
            let Ok(part) = self.query.shaped(by, field.content(bytes)) else { return false };
            is_empty &= part.is_empty();
            composite::push(key, &part, is_last);
        }
        if is_empty {
            return false;
        }
        batch.push(self.place.order(start));
        self.records += 1;
        if batch.len() == Batch::ROWS {
            self.add_batch();
        }
        true
    }

    fn add_batch(&mut self) {
        let Some(batch) = &mut self.batch else { return };
        for (column, shard) in self.shards.iter_mut().enumerate() {
            shard.add_all(batch, column);
        }
        batch.clear();
    }

    /// Lines without quotes, as records; returns where the first starts that has too many fields for marks, and how many
    /// were before it.
    fn marked_lines(
        &mut self,
        bytes: &[u8],
        cut: &Cut,
        (mut at, end): (usize, usize),
    ) -> Result<(usize, u64), Error> {
        let mut lines = 0;
        let dialect = Dialect { quotes: false, ..self.query.dialect() };
        while at < end {
            let range = (at, end.min(at + MARKED_BYTES));
            let next = self.marker.run(bytes, range, dialect, Some(&mut self.marks));
            if next == at {
                break;
            }
            lines += self.own_marks(bytes, cut, (at, false))?;
            at = next;
        }
        Ok((at, lines))
    }

    /// Lines without quotes; returns how many.
    fn lines(&mut self, window: &Window<'_>, columns: &Columns) -> Result<u64, Error> {
        let mut odd = std::mem::take(&mut self.odd);
        odd.clear();
        let lines = if self.by_record {
            window.each_row(&mut odd)
        } else {
            self.shards.iter_mut().for_each(|shard| shard.make_way(window));
            let wanted = self.wanted(columns);
            let mut tables: Vec<_> =
                self.shards.iter_mut().map(|shard| &mut shard.tables).collect();
            fields::run(self.kernel, window, &wanted, &mut tables, self.keep.squares, &mut odd)
        };
        if lines >= MANY_LINES {
            self.is_mostly_odd = odd.len() as u64 > lines / 4;
        }
        self.records += lines - odd.len() as u64;
        let mut fields = std::mem::take(&mut self.scratch.fields);
        for (number, &(start, newline)) in odd.iter().enumerate() {
            // The newline belongs to the line.
            let line = &window.buffer()[..=newline];
            let range = (start, newline);
            let found = match self.query.syntax {
                Syntax::Delimited => {
                    let dialect = self.query.dialect();
                    found(&split(line, start, dialect, true, &mut fields))
                }
                Syntax::Access { combined } => access::split(line, range, combined, &mut fields),
                Syntax::JsonLines => {
                    self.finder.split(window.buffer(), &odd[number..], &mut fields)
                }
            };
            if found.is_err() && self.leaves_out(line, columns, &fields) {
                self.left_out += 1;
                continue;
            }
            let is_named = self.query.syntax != Syntax::Delimited && matches!(found, Ok(true));
            if !is_named || !self.add_plain(line, columns, start, &fields) {
                self.exact(line, columns, range, found, &fields);
            }
        }
        self.add_batch();
        self.scratch.fields = fields;
        self.odd = odd;
        self.settle(lines)?;
        Ok(lines)
    }

    /// Whether the conditions leave out a line of JSON without a look at those of its values that are none.
    fn leaves_out(&self, bytes: &[u8], columns: &Columns, fields: &[Field]) -> bool {
        let (Some(filter), refused) = (&self.query.filter, self.finder.refused()) else {
            return false;
        };
        let content = |at: usize| match columns.filter[at] {
            place if refused.contains(&place) => Err(NumberError::Empty),
            place => {
                Ok(Some(fields[place].content(bytes)).filter(|text| !self.query.is_null(text)))
            }
        };
        !refused.is_empty()
            && matches!(filter.holds(content, |_, text| self.query.number(text)), Ok(false))
    }

    /// What the kernel of fields may take: everything else is odd to it.
    fn wanted<'c>(&self, columns: &'c Columns) -> fields::Wanted<'c> {
        let key = columns.keys[0];
        let last = columns.values.iter().copied().fold(key, usize::max);
        let delimiters = match columns.fields {
            Some(fields) if self.query.ragged == Ragged::Fail => (last.max(fields - 1), fields - 1),
            _ => (last, MOST_FIELDS - 1),
        };
        let (delimiter, values) = (self.query.delimiter, &columns.values);
        fields::Wanted { delimiter, key, values, last, delimiters }
    }

    fn settle(&mut self, records: u64) -> Result<(), Error> {
        self.shards.iter_mut().try_for_each(|shard| shard.settle(records))
    }

    /// One record, whose fields were found unless there is nothing, between its start and its line feed.
    fn exact(
        &mut self,
        bytes: &[u8],
        columns: &Columns,
        (start, end): (usize, usize),
        found: Result<bool, Fault>,
        row: &dyn Fields,
    ) {
        let outcome = match found {
            Ok(false) => {
                self.blank_lines += 1;
                Ok(())
            }
            Ok(true) => self.add(bytes, start, columns, row),
            Err(fault) => Err(fault),
        };
        if let Err(fault) = outcome {
            self.refused.push(Refused { start, end, fault });
        }
    }

    /// Adds a record: all of its values, or none if one of them is refused.
    fn add(
        &mut self,
        bytes: &[u8],
        start: usize,
        columns: &Columns,
        row: &dyn Fields,
    ) -> Result<(), Fault> {
        let found = row.len();
        let expected = columns.fields.unwrap_or(found);
        if found != expected && self.query.ragged == Ragged::Fail {
            let at = row.get(expected).map_or(start, |surplus| surplus.range().start);
            return Err(Fault::at(at, Reason::Ragged { expected, found }));
        }
        let field = |place: usize| match row.get(place) {
            Some(field) => Ok(Some(field)),
            None if place < expected => Ok(None),
            None => Err(Fault::at(start, Reason::NoColumn(place + 1))),
        };
        let content = |place: usize| {
            let content = field(place)?.map(|field| field.content(bytes));
            Ok(content.filter(|content| !self.query.is_null(content)))
        };
        let read = |place: usize, text: &[u8]| {
            let range = || row.get(place).map_or(start..start, Field::range);
            let failed = |why: NumberError| Fault::of(place, range(), why.into());
            self.query.number(text).map_err(failed)
        };
        if let Some(filter) = &self.query.filter {
            let places = &columns.filter;
            if !filter.holds(|at| content(places[at]), |at, text| read(places[at], text))? {
                self.left_out += 1;
                return Ok(());
            }
        }
        self.values.clear();
        for (at, value) in self.query.values.iter().enumerate() {
            if let Some(formula) = &value.formula {
                let places = &columns.formulas[at];
                let number =
                    formula.value(|at| content(places[at]), |at, text| read(places[at], text))?;
                let fault = |reason| Fault::at(start, reason);
                self.values.push(match (number, value.null) {
                    (Some(number), _) if number.is_too_long() => {
                        return Err(fault(NumberError::TooLong.into()));
                    }
                    (Some(number), _) => Found::Number(number),
                    (None, Null::Skip) => Found::Nothing,
                    (None, Null::Zero) => Found::Number(Decimal::new(0, 0)),
                    (None, Null::Fail) => return Err(fault(Reason::Missing)),
                });
                continue;
            }
            let place = columns.values[at];
            let own = field(place)?.unwrap_or(Field::new(start, start));
            let (content, at) = (own.content(bytes), own.range());
            let is_null = self.query.is_null(&content) || place >= found;
            let fault = |reason| Fault::of(place, at, reason);
            self.values.push(match (is_null, value.null, value.kind) {
                (false, _, Kind::Number) => {
                    Found::Number(self.query.number(&content).map_err(|why| fault(why.into()))?)
                }
                (false, _, Kind::Text) => Found::Text(own),
                (true, Null::Skip, _) => Found::Nothing,
                (true, Null::Zero, Kind::Number) => Found::Number(Decimal::new(0, 0)),
                (true, Null::Zero, Kind::Text) => Found::ZeroText,
                (true, Null::Fail, _) => return Err(fault(Reason::Missing)),
            });
        }
        if self.query.values.is_empty() {
            let (units, scale) = COUNTED;
            self.values.push(Found::Number(Decimal::new(units.into(), scale)));
        }
        let part = |at: usize| {
            let place = columns.keys[at];
            let Some(field) = field(place)? else { return Ok(Cow::Borrowed(&[][..])) };
            let part = self.query.shaped(&self.query.by[at], field.content(bytes));
            part.map_err(|reason| Fault::of(place, field.range(), reason))
        };
        let one;
        let key: &[u8] = if columns.keys.len() == 1 {
            one = part(0)?;
            &one
        } else {
            self.key.clear();
            let mut is_empty = true;
            for at in 0..columns.keys.len() {
                let part = part(at)?;
                is_empty &= part.is_empty();
                composite::push(&mut self.key, &part, at + 1 == columns.keys.len());
            }
            if is_empty { &[] } else { &self.key }
        };
        if key.is_empty() {
            let place = columns.keys[0];
            let at = row.get(place).map_or(start..start, Field::range);
            return Err(Fault::of(place, at, Reason::EmptyKey));
        }
        let at = self.place.order(start);
        for (shard, value) in self.shards.iter_mut().zip(&self.values) {
            match value {
                Found::Nothing => shard.add_missing(key),
                Found::Number(number) => shard.add(key, Given::Number(number), at),
                Found::ZeroText => shard.add(key, Given::Text(b"0"), at),
                Found::Text(field) => shard.add(key, Given::Text(&field.content(bytes)), at),
            }
        }
        self.records += 1;
        Ok(())
    }
}
