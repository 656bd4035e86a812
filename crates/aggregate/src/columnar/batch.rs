//! What columns in memory look like: the arrays of Arrow, as slices.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::shown::{self, Time};
use crate::error::Error;

/// Where rows come from that threads read for themselves, each its part.
pub trait Parts: Send {
    /// Rows of equal columns.
    type Batch: Batch;

    /// The next part, which whoever asked reads, while others read the next ones.
    ///
    /// # Errors
    /// Why there is none.
    fn next(&mut self) -> Result<Option<Part<Self::Batch>>, Error>;
}

/// Rows, piece by piece, in their order.
pub type Part<B> = Box<dyn Iterator<Item = Result<Piece<B>, Error>>>;

/// Some rows of a batch.
#[derive(Debug)]
pub struct Piece<B> {
    /// The batch.
    pub batch: Arc<B>,
    /// Which of its rows.
    pub rows: Range<usize>,
    /// Where the batch's first row stands: in which of several sources, and behind how many rows of it.
    pub place: (usize, u64),
}

/// Where batches come from, one after the other, that are in memory already.
pub trait Source: Send {
    /// Rows of equal columns.
    type Batch: Batch;

    /// The next one.
    ///
    /// # Errors
    /// Why there is none.
    fn next(&mut self) -> Result<Option<Self::Batch>, Error>;
}

/// Rows of columns.
pub trait Batch: Send + Sync + 'static {
    /// How many rows.
    fn rows(&self) -> usize;
    /// About how many bytes a row has.
    fn row_bytes(&self) -> u64;
    /// A column of the key, by its place among them.
    fn keys(&self, part: usize) -> Texts<'_>;
    /// A column of values, by its place among them.
    fn values(&self, column: usize) -> Numbers<'_>;
    /// A column that the [filter](super::Frame::filter) asks for, by its place among them.
    fn filtered(&self, column: usize) -> Texts<'_>;
}

/// Which rows have a value: a bit each, least significant first, from bit `offset` on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Valid<'a> {
    /// None if all have one.
    pub bits: Option<&'a [u8]>,
    /// Bits before the first row's.
    pub offset: usize,
}

impl Valid<'_> {
    /// Whether a row has a value.
    #[inline]
    pub fn has(self, row: usize) -> bool {
        let at = self.offset + row;
        self.bits.is_none_or(|bits| bits[at / 8] >> (at % 8) & 1 == 1)
    }
}

/// Texts or what is shown as text.
#[derive(Clone, Debug)]
pub enum Texts<'a> {
    /// Text `row` is `bytes[offsets[row]..offsets[row + 1]]`.
    Short(Valid<'a>, &'a [i32], &'a [u8]),
    /// The same with long offsets.
    Long(Valid<'a>, &'a [i64], &'a [u8]),
    /// Views: length, then up to twelve bytes, or four, a buffer and an offset in it.
    Views(Valid<'a>, &'a [[u8; 16]], Vec<&'a [u8]>),
    /// Integers, as their digits.
    Integers(Valid<'a>, Integers<'a>),
    /// Each row is the place of one of these texts.
    Dictionary(Valid<'a>, Integers<'a>, Box<Texts<'a>>),
    /// `true` where the second has a bit, otherwise `false`.
    Booleans(Valid<'a>, Valid<'a>),
    /// Dates and times, as ISO 8601 has them.
    Times(Valid<'a>, Integers<'a>, Time),
    /// Numbers with all their digits.
    Numbers(Numbers<'a>),
}

impl<'a> Texts<'a> {
    /// The text of a row, if it has one.
    #[inline]
    pub fn get(&self, row: usize) -> Option<Cow<'a, [u8]>> {
        match self {
            Texts::Short(valid, offsets, bytes) => valid
                .has(row)
                .then(|| Cow::Borrowed(&bytes[offsets[row] as usize..offsets[row + 1] as usize])),
            Texts::Long(valid, offsets, bytes) => valid
                .has(row)
                .then(|| Cow::Borrowed(&bytes[offsets[row] as usize..offsets[row + 1] as usize])),
            Texts::Views(valid, views, buffers) => {
                valid.has(row).then(|| Cow::Borrowed(view(&views[row], buffers)))
            }
            Texts::Integers(valid, integers) => {
                valid.has(row).then(|| Cow::Owned(integers.get(row).to_string().into_bytes()))
            }
            Texts::Dictionary(valid, places, texts) => {
                valid.has(row).then(|| texts.get(places.get(row) as usize)).flatten()
            }
            Texts::Booleans(valid, bits) => {
                let text: &[u8] = if bits.has(row) { b"true" } else { b"false" };
                valid.has(row).then_some(Cow::Borrowed(text))
            }
            Texts::Times(valid, all, time) => valid.has(row).then(|| {
                let all = i64::try_from(all.get(row)).expect("times have no more than 64 bits");
                Cow::Owned(shown::time(all, *time).into_bytes())
            }),
            Texts::Numbers(numbers) => {
                let text = || numbers.text(row).into_bytes();
                numbers.valid().has(row).then(|| Cow::Owned(text()))
            }
        }
    }

    /// The second since 1970 in which the time of a row lies, if it is one with a date of four digits.
    pub(super) fn second(&self, row: usize) -> Option<i64> {
        let Texts::Times(valid, all, time) = self else { return None };
        let count = i64::try_from(all.get(row)).expect("times have no more than 64 bits");
        valid.has(row).then(|| shown::second(count, *time)).flatten()
    }

    /// Which text of a dictionary a row has.
    pub(super) fn place(&self, row: usize) -> Option<i64> {
        match self {
            Texts::Dictionary(valid, places, _) if valid.has(row) => {
                i64::try_from(places.get(row)).ok()
            }
            _ => None,
        }
    }
}

/// What a view says.
pub(super) enum View {
    /// How many bytes the text has, and those twelve that stand in the view.
    Here(usize, u128),
    /// How many, in which buffer, and from where on.
    There(usize, usize, usize),
}

impl View {
    #[inline]
    pub(super) fn of(view: &[u8; 16]) -> View {
        let view = u128::from_le_bytes(*view);
        let len = view as u32 as usize;
        if len <= 12 {
            return View::Here(len, view >> 32);
        }
        View::There(len, (view >> 64) as u32 as usize, (view >> 96) as usize)
    }
}

/// The text of a view.
fn view<'a>(view: &'a [u8; 16], buffers: &[&'a [u8]]) -> &'a [u8] {
    match View::of(view) {
        View::Here(len, _) => &view[4..4 + len],
        View::There(len, buffer, at) => &buffers[buffer][at..at + len],
    }
}

/// Integers of a width.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "named by their types")]
pub enum Integers<'a> {
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
}

/// An expression over the slice of whichever width there is.
macro_rules! each_width {
    ($integers:expr, $all:ident => $what:expr) => {{
        use $crate::columnar::Integers;
        match $integers {
            Integers::I8($all) => $what,
            Integers::I16($all) => $what,
            Integers::I32($all) => $what,
            Integers::I64($all) => $what,
            Integers::U8($all) => $what,
            Integers::U16($all) => $what,
            Integers::U32($all) => $what,
            Integers::U64($all) => $what,
        }
    }};
}
pub(super) use each_width;

impl Integers<'_> {
    /// The one of a row.
    #[inline]
    pub fn get(&self, row: usize) -> i128 {
        each_width!(self, all => all[row].into())
    }

    /// Whether all of them are in `0..end`.
    #[expect(clippy::unnecessary_cast, reason = "of one of the widths")]
    pub fn are_below(&self, end: u64) -> bool {
        // Not until the first that is none: so it is done for many at once. A negative one is beyond all ends.
        each_width!(self, all => all.iter().fold(true, |is_so, &one| is_so & ((one as u64) < end)))
    }
}

/// Numbers of a column.
#[derive(Clone, Copy, Debug)]
pub enum Numbers<'a> {
    /// Integers.
    Integers(Valid<'a>, Integers<'a>),
    /// Decimals: 16 bytes each, least significant first, in units of `10^-scale`.
    Decimals(Valid<'a>, &'a [[u8; 16]], u16),
    /// Doubles.
    F64(Valid<'a>, &'a [f64]),
    /// Single precision.
    F32(Valid<'a>, &'a [f32]),
}

impl<'a> Numbers<'a> {
    pub(super) fn valid(&self) -> Valid<'a> {
        match *self {
            Numbers::Integers(valid, _)
            | Numbers::Decimals(valid, ..)
            | Numbers::F64(valid, _)
            | Numbers::F32(valid, _) => valid,
        }
    }

    /// The number of a row with all its digits; a floating-point number with its shortest ones.
    fn text(&self, row: usize) -> String {
        match self {
            Numbers::Integers(_, all) => all.get(row).to_string(),
            Numbers::Decimals(_, all, scale) => {
                shown::decimal(i128::from_le_bytes(all[row]), (*scale).into())
            }
            Numbers::F64(_, all) => zmij::Buffer::new().format(all[row]).to_owned(),
            Numbers::F32(_, all) => zmij::Buffer::new().format(all[row]).to_owned(),
        }
    }

    /// The floating-point numbers of these rows that are none, or infinite.
    pub(super) fn not_finite(&self, rows: Range<usize>) -> Vec<(usize, f64)> {
        match self {
            Numbers::F64(_, all) => not_finite(&all[rows.clone()], rows.start),
            Numbers::F32(_, all) => not_finite(&all[rows.clone()], rows.start),
            Numbers::Integers(..) | Numbers::Decimals(..) => Vec::new(),
        }
    }
}

/// Looked for without a branch first: there are none in most tables.
fn not_finite<T: Copy + Into<f64>>(all: &[T], first: usize) -> Vec<(usize, f64)> {
    let is_none = |value: T| !value.into().is_finite();
    if !all.iter().fold(false, |found, &value| found | is_none(value)) {
        return Vec::new();
    }
    let found = all.iter().enumerate().filter(|(_, value)| is_none(**value));
    found.map(|(at, &value)| (first + at, value.into())).collect()
}
