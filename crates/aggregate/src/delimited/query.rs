//! What is asked of delimited text: how it is written, and which of its columns are keys and values.
//!
//! Nothing is read here; whether a column exists is seen when its header is.

use std::borrow::Cow;

use crate::bucket::Bucket;
use crate::error::Reason;
use crate::filter::Filter;
use crate::selector::{ListError, Selector};

/// A question to delimited text: [`Query::new`], and what differs from it.
///
/// ```
/// use fathom_aggregate::{By, Query, Selector};
///
/// let mut query = Query::new(b',');
/// query.header = true;
/// query.by = By::list("host,time:15m").unwrap();
/// query.values = Selector::list("ms").unwrap().into_iter().map(Into::into).collect();
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Query {
    /// How records are written.
    pub syntax: Syntax,
    /// The byte between fields: not a quote, a line end, or part of a number.
    pub delimiter: u8,
    /// Whether the first record names the columns.
    pub header: bool,
    /// The columns whose fields make the key, at least one. Of several, each but not all may be
    /// empty.
    pub by: Vec<By>,
    /// Whether blanks around the parts of a key (those of ASCII) are no part of it.
    pub trim: bool,
    /// Whether keys that differ only in the case of ASCII letters are one, written in small letters.
    pub ignore_case: bool,
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
            syntax: Syntax::Delimited,
            delimiter,
            header: false,
            by: vec![Selector::Place(1).into()],
            trim: false,
            ignore_case: false,
            filter: None,
            values: vec![Selector::Place(2).into()],
            ragged: Ragged::Fail,
            nulls: vec![Vec::new()],
        }
    }

    /// Whether any column is chosen by its name, which only a header gives.
    pub fn has_names(&self) -> bool {
        self.columns().any(|column| matches!(column, Selector::Name(_)))
    }

    /// Whether any column is chosen by its place.
    pub fn has_places(&self) -> bool {
        self.columns().any(|column| matches!(column, Selector::Place(_)))
    }

    /// All columns that are asked for.
    pub(super) fn columns(&self) -> impl Iterator<Item = &Selector> {
        let values = self.values.iter().map(|value| &value.column);
        let filtered = self.filter.iter().flat_map(Filter::columns);
        self.by.iter().map(|by| &by.column).chain(values).chain(filtered)
    }

    /// The byte that cuts records into fields, among which are quoted ones; None where every line is a
    /// record that is read in another way.
    pub(super) fn cut_by(&self) -> Option<u8> {
        (self.syntax == Syntax::Delimited).then_some(self.delimiter)
    }

    /// Whether the parts of keys are other than what stands in the input.
    pub(crate) fn shapes_keys(&self) -> bool {
        self.trim || self.ignore_case || self.by.iter().any(|by| by.bucket.is_some())
    }

    /// What a field is as part of a key. What says that there is no value belongs to no bucket.
    pub(crate) fn shaped<'f>(
        &self,
        by: &By,
        field: Cow<'f, [u8]>,
    ) -> Result<Cow<'f, [u8]>, Reason> {
        let mut part = field;
        if self.trim {
            part = match part {
                Cow::Borrowed(text) => Cow::Borrowed(text.trim_ascii()),
                Cow::Owned(text) => Cow::Owned(text.trim_ascii().to_vec()),
            };
        }
        // The letters of a time mean something: `Nov`.
        if self.ignore_case && by.bucket.is_none() && part.iter().any(u8::is_ascii_uppercase) {
            part.to_mut().make_ascii_lowercase();
        }
        let Some(bucket) = &by.bucket else { return Ok(part) };
        let mut name = Vec::new();
        if !part.is_empty() && !self.nulls.iter().any(|null| **null == *part) {
            bucket.push(&mut name, &part)?;
        }
        Ok(Cow::Owned(name))
    }
}

/// How records are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syntax {
    /// Fields with a delimiter between them, some in quotes (RFC 4180).
    #[default]
    Delimited,
    /// Lines of an access log in the common format, or in the combined one; their columns are `host`, `ident`,
    /// `user`, `time`, `request`, `method`, `path`, `query`, `protocol`, `status`, `bytes`, `referer`, `agent`
    /// and `rest`, whatever follows the format.
    Access {
        /// With referer and agent.
        combined: bool,
    },
    /// A JSON object a line. Columns are paths of names, and numbers from 0, with dots between them.
    JsonLines,
}

/// A column of the key: its fields as they are if made [from](From) a selector.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct By {
    /// Which one.
    pub column: Selector,
    /// What its fields are joined in.
    pub bucket: Option<Bucket>,
}

impl By {
    /// Reads a [list of columns](Selector::list), each perhaps with the width of its buckets behind a
    /// colon: `host,time:15m,ms:100`. What stands behind a colon and is no [width](Bucket::parse) belongs
    /// to the name.
    ///
    /// # Errors
    /// [`ListError`], which quotes the text.
    pub fn list(text: &str) -> Result<Vec<By>, ListError> {
        let by = |selector: Selector| {
            if let Selector::Name(name) = &selector
                && let Some((column, width)) = name.rsplit_once(':')
                && let Some(bucket) = Bucket::parse(width)
            {
                let place = column.parse().ok().filter(|&place| place > 0).map(Selector::Place);
                let column = place.unwrap_or_else(|| Selector::Name(column.to_owned()));
                return By { column, bucket: Some(bucket) };
            }
            selector.into()
        };
        Ok(Selector::list(text)?.into_iter().map(by).collect())
    }
}

impl From<Selector> for By {
    fn from(column: Selector) -> By {
        By { column, bucket: None }
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
