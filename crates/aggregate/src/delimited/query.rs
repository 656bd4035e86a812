//! What is asked of delimited text: how it is written, and which of its columns are keys and values.
//!
//! Nothing is read here; whether a column exists is seen when its header is.

use crate::filter::Filter;
use crate::selector::Selector;

/// A question to delimited text: [`Query::new`], and what differs from it.
///
/// ```
/// use fathom_aggregate::{Query, Selector};
///
/// let mut query = Query::new(b',');
/// query.header = true;
/// query.by = Selector::list("host,path").unwrap();
/// query.values = Selector::list("ms").unwrap().into_iter().map(Into::into).collect();
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Query {
    /// The byte between fields: not a quote, a line end, or part of a number.
    pub delimiter: u8,
    /// Whether the first record names the columns.
    pub header: bool,
    /// The columns whose fields make the key, at least one. Of several, each but not all may be
    /// empty.
    pub by: Vec<Selector>,
    /// Which records are taken: those for which it is true.
    pub filter: Option<Filter>,
    /// The columns of the values. Without any, records are counted.
    pub values: Vec<Value>,
    /// What becomes of records with more or fewer fields than the header or the first record.
    pub ragged: Ragged,
    /// What a field of a value or a filter says when there is no value, byte for byte: by default
    /// nothing. Such as `NA`, `null` and `NaN`, or a number like `-99.9`.
    pub nulls: Vec<Vec<u8>>,
}

impl Query {
    /// Text with this delimiter and without a header: the key in the first column, the value in the
    /// second.
    pub fn new(delimiter: u8) -> Query {
        Query {
            delimiter,
            header: false,
            by: vec![Selector::Place(1)],
            filter: None,
            values: vec![Selector::Place(2).into()],
            ragged: Ragged::Fail,
            nulls: vec![Vec::new()],
        }
    }

    /// Whether any column is chosen by its name, which only a header gives.
    pub fn has_names(&self) -> bool {
        let values = self.values.iter().map(|value| &value.column);
        let filtered = self.filter.iter().flat_map(Filter::columns);
        self.by
            .iter()
            .chain(values)
            .chain(filtered)
            .any(|column| matches!(column, Selector::Name(_)))
    }
}

/// A column of values: numbers if made [from](From) a selector.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Value {
    /// Which one.
    pub column: Selector,
    /// What its fields are.
    pub kind: Kind,
    /// What a missing value means.
    pub null: Null,
}

impl Value {
    /// A column of texts.
    pub fn text(column: Selector) -> Value {
        Value { kind: Kind::Text, ..Value::from(column) }
    }
}

impl From<Selector> for Value {
    fn from(column: Selector) -> Value {
        Value { column, kind: Kind::Number, null: Null::Skip }
    }
}

/// What the fields of a column are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Decimal numbers; 1 and 1.0 are the same.
    #[default]
    Number,
    /// Bytes, of which can be told how many and which there are, but no sum.
    Text,
}

/// What a missing value means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Null {
    /// The record is counted among the [rows](crate::Stats::rows) of its key, and the other columns
    /// keep their values.
    #[default]
    Skip,
    /// It is the number 0, or the text `0`.
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
