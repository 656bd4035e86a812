//! What is asked of delimited text: how it is written, and which of its columns are keys and values.
//!
//! Nothing is read here; whether a column exists is seen when its header is.

use std::borrow::Cow;
use std::fmt;

use memchr::memchr;

use crate::bucket::Bucket;
use crate::error::Reason;
use crate::filter::{Filter, FilterError, Formula};
use crate::number::{Decimal, NumberError};
use crate::record::Dialect;
use crate::selector::{self, Entry, ListError, Selector};

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
    /// Whether fields may stand in quotes; otherwise a quote is a byte like any other.
    pub quotes: bool,
    /// Whether numbers have a comma where others have a point, and no points.
    pub decimal_comma: bool,
    /// Whether the first record names the columns.
    pub header: bool,
    /// The header of the first source, where it was only guessed that there is one: all others begin with the same.
    pub guessed_header: Option<Vec<String>>,
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
    /// What a field of a value or a filter says when there is no value, byte for byte and blanks around it aside: by
    /// default nothing. Such as `NA`, `null` and `NaN`, or a number like `-99.9`.
    pub nulls: Vec<Vec<u8>>,
}

impl Query {
    /// Text with this delimiter and without a header: the key in the first column, the value in the
    /// second.
    pub fn new(delimiter: u8) -> Query {
        Query {
            syntax: Syntax::Delimited,
            delimiter,
            quotes: true,
            decimal_comma: false,
            header: false,
            guessed_header: None,
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

    /// The last of the columns that are chosen by their places.
    pub fn last_place(&self) -> Option<usize> {
        let place = |column: &Selector| match column {
            Selector::Place(place) => Some(*place),
            Selector::Name(_) => None,
        };
        self.columns().filter_map(place).max()
    }

    /// Whether the parts of keys have names of their own; otherwise the key is called so.
    pub fn has_named_parts(&self) -> bool {
        self.header || self.by.len() > 1 || self.syntax != Syntax::Delimited
    }

    /// The parts of keys, from 0, that are numbers, in whose order they are: the buckets of numbers.
    pub fn number_parts(&self) -> Vec<usize> {
        let is_number = |by: &By| by.bucket.as_ref().is_some_and(Bucket::is_number);
        (0..self.by.len()).filter(|&at| is_number(&self.by[at])).collect()
    }

    /// Whether there are values, and all of them are texts.
    pub fn has_only_texts(&self) -> bool {
        !self.values.is_empty() && self.values.iter().all(|value| value.kind == Kind::Text)
    }

    /// The names of all columns that are asked for; None if one is chosen by its place.
    pub fn names(&self) -> Option<Vec<&str>> {
        let names = self.columns().map(|column| match column {
            Selector::Name(name) => Some(name.as_str()),
            Selector::Place(_) => None,
        });
        names.collect()
    }

    /// The columns whose fields are read as numbers: values, what buckets of numbers are made of,
    /// and what conditions compare with numbers.
    pub(crate) fn number_columns(&self) -> impl Iterator<Item = &Selector> {
        let values = self.values.iter().filter(|value| value.kind == Kind::Number);
        let is_number = |by: &&By| by.bucket.as_ref().is_some_and(Bucket::is_number);
        let buckets = self.by.iter().filter(is_number).map(|by| &by.column);
        let compared = self.filter.iter().flat_map(Filter::number_columns);
        values.flat_map(Value::columns).chain(buckets).chain(compared)
    }

    /// All columns that are asked for.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &Selector> {
        let values = self.values.iter().flat_map(Value::columns);
        let filtered = self.filter.iter().flat_map(Filter::columns);
        self.by.iter().map(|by| &by.column).chain(values).chain(filtered)
    }

    /// The byte that cuts records into fields, among which are quoted ones; None where every line is a
    /// record that is read in another way.
    pub(super) fn cut_by(&self) -> Option<u8> {
        (self.syntax == Syntax::Delimited && self.quotes).then_some(self.delimiter)
    }

    /// How records of delimited text are cut into fields.
    pub(crate) fn dialect(&self) -> Dialect {
        Dialect { delimiter: self.delimiter, quotes: self.quotes }
    }

    /// Reads a list of [what says that there is no value](Query::nulls), apart by commas. What has one, or begins with
    /// a quote, stands in quotes, with its own quotes doubled: `NA,"-99,9"`. Each with whether it stands in quotes.
    ///
    /// # Errors
    /// [`ListError::Quote`].
    pub fn null_values(list: &str) -> Result<Vec<(String, bool)>, ListError> {
        let wrong = || ListError::Quote(list.to_owned());
        let (mut values, mut rest) = (Vec::new(), Some(list));
        while let Some(from) = rest {
            let quoted = from.trim_start().strip_prefix('"');
            let (value, behind) = match quoted {
                Some(quoted) => {
                    let (value, behind) = selector::unquoted(quoted).ok_or_else(wrong)?;
                    (value, behind.trim_start())
                }
                None => {
                    let (value, behind) = from.split_at(from.find(',').unwrap_or(from.len()));
                    (value.to_owned(), behind)
                }
            };
            values.push((value, quoted.is_some()));
            rest = behind.strip_prefix(',');
            if rest.is_none() && !behind.is_empty() {
                return Err(wrong());
            }
        }
        Ok(values)
    }

    /// Whether a field says that there is no value, blanks around it aside.
    #[inline]
    pub(crate) fn is_null(&self, field: &[u8]) -> bool {
        let is = |text: &[u8]| self.nulls.iter().any(|null| **null == *text);
        let is_blank = |byte: Option<&u8>| byte.is_some_and(|byte| *byte <= b' ');
        is(field) || (is_blank(field.first()) || is_blank(field.last())) && is(field.trim_ascii())
    }

    /// Reads a field as a number, blanks around it aside.
    pub(crate) fn number(&self, field: &[u8]) -> Result<Decimal, NumberError> {
        let text = field.trim_ascii();
        if !self.decimal_comma {
            return Decimal::parse(text);
        }
        if text.contains(&b'.') {
            return Err(NumberError::Malformed);
        }
        let Some(comma) = memchr(b',', text) else { return Decimal::parse(text) };
        let mut pointed = text.to_vec();
        pointed[comma] = b'.';
        Decimal::parse(&pointed)
    }

    /// All that is asked, a line for each thing; two queries that differ in anything are told otherwise.
    pub(crate) fn told(&self) -> Vec<String> {
        let Query {
            syntax,
            delimiter,
            quotes,
            decimal_comma,
            header,
            guessed_header,
            by,
            trim,
            ignore_case,
            filter,
            values,
            ragged,
            nulls,
        } = self;
        let joined = |words: Vec<String>| words.join(", ");
        let texts =
            |texts: &[String]| joined(texts.iter().map(|text| format!("{text:?}")).collect());
        let nulls: Vec<String> =
            nulls.iter().map(|null| format!("\"{}\"", null.escape_ascii())).collect();
        let mut all = vec![
            format!("syntax: {syntax}"),
            format!("delimiter: {:?}", char::from(*delimiter)),
            format!("quotes: {quotes}"),
            format!("decimal comma: {decimal_comma}"),
            format!("header: {header}"),
            format!("by: {}", joined(by.iter().map(By::told).collect())),
            format!("trim: {trim}"),
            format!("ignore case: {ignore_case}"),
            filter.as_ref().map_or("where: every record".to_owned(), |filter| {
                format!("where: {:?}", filter.text())
            }),
            format!("values: {}", joined(values.iter().map(Value::told).collect())),
            format!("ragged: {}", if *ragged == Ragged::Pad { "pad" } else { "fail" }),
            format!("null values: {}", joined(nulls)),
        ];
        all.extend(
            guessed_header.as_ref().map(|names| format!("guessed header: {}", texts(names))),
        );
        all
    }

    /// Whether the parts of keys are other than what stands in the input.
    pub fn shapes_keys(&self) -> bool {
        self.trim || self.ignore_case || self.by.iter().any(|by| by.bucket.is_some())
    }

    /// What a field is as part of a key. What says that there is no value belongs to no bucket.
    pub(crate) fn shaped<'f>(
        &self,
        by: &By,
        field: Cow<'f, [u8]>,
    ) -> Result<Cow<'f, [u8]>, Reason> {
        let mut part = field;
        if self.trim || by.bucket.is_some() {
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
        if !part.is_empty() && !self.is_null(&part) {
            bucket.push(&mut name, &part, |text| self.number(text))?;
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

impl fmt::Display for Syntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Syntax::Delimited => "delimited text",
            Syntax::Access { combined: false } => "access log, common",
            Syntax::Access { combined: true } => "access log, combined",
            Syntax::JsonLines => "lines of JSON",
        })
    }
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
    /// to the name; all that is in quotes does, and the width stands behind them: `"a:10","3":100`.
    ///
    /// # Errors
    /// [`ListError`], which quotes the text.
    pub fn list(text: &str) -> Result<Vec<By>, ListError> {
        let by = |entry| {
            Ok(match entry {
                Entry::Word(column) => match By::of(column.clone()) {
                    By { column: Selector::Name(name), bucket: Some(_) }
                        if selector::number(&name).is_some() =>
                    {
                        return Err(ListError::Zero);
                    }
                    By { column: Selector::Place(usize::MAX), .. } => {
                        let word = column.name().unwrap_or_default();
                        let digits = word.chars().take_while(char::is_ascii_digit).collect();
                        return Err(ListError::Large(digits));
                    }
                    by => by,
                },
                Entry::Quoted(name, None) => Selector::Name(name).into(),
                Entry::Quoted(name, Some(width)) => {
                    let bucket = Bucket::parse(&width).ok_or(ListError::Width(width))?;
                    By { column: Selector::Name(name), bucket: Some(bucket) }
                }
            })
        };
        Selector::entries(text)?.into_iter().map(by).collect()
    }

    /// One of these, perhaps with the width of its buckets at the end of its name.
    pub fn of(selector: Selector) -> By {
        if let Selector::Name(name) = &selector
            && let Some((column, width)) = name.rsplit_once(':')
            && let Some(bucket) = Bucket::parse(width)
        {
            let place = selector::number(column).filter(|&place| place > 0).map(Selector::Place);
            let column = place.unwrap_or_else(|| Selector::Name(column.to_owned()));
            return By { column, bucket: Some(bucket) };
        }
        selector.into()
    }

    fn told(&self) -> String {
        let column = self.column.told();
        match &self.bucket {
            Some(bucket) => format!("{column}:{bucket}"),
            None => column,
        }
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
    /// Which one; of a formula its text, as the name of what it makes.
    pub column: Selector,
    /// What is computed of each record, if it is not the field of a column.
    pub formula: Option<Formula>,
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

    /// What a formula makes of each record.
    ///
    /// # Errors
    /// What is wrong with its text, and where.
    pub fn derived(text: &str) -> Result<Value, FilterError> {
        let formula = Formula::parse(text)?;
        let column = Selector::Name(text.trim().to_owned());
        Ok(Value { formula: Some(formula), ..Value::from(column) })
    }

    /// Reads a [list of columns](Selector::list), among which may be formulas: what has a sign `+`, `-`, `*` or `/`
    /// with blanks around it and outside quotes, or starts with `round(`. `ms, price * quantity` has one.
    ///
    /// # Errors
    /// [`ValueError`], which shows the text.
    pub fn list(text: &str) -> Result<Vec<Value>, ValueError> {
        let pieces = pieces(text);
        if !pieces.iter().any(|piece| Value::is_formula(piece)) {
            return Ok(Selector::list(text)?.into_iter().map(Value::from).collect());
        }
        let mut values = Vec::new();
        for piece in pieces {
            if Value::is_formula(piece) {
                values.push(Value::derived(piece)?);
            } else {
                values.extend(Selector::list(piece)?.into_iter().map(Value::from));
            }
        }
        Ok(values)
    }

    /// Whether a part of a list of values is a formula.
    pub fn is_formula(piece: &str) -> bool {
        let bytes = piece.as_bytes();
        let is_blank = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_whitespace);
        let is_sign = |(at, byte, is_quoted, _): (usize, u8, bool, usize)| {
            b"+-*/".contains(&byte) && !is_quoted && at > 0 && is_blank(at - 1) && is_blank(at + 1)
        };
        piece.trim_start().starts_with("round(") || placed(piece).any(is_sign)
    }

    /// The text of a formula is its name.
    fn told(&self) -> String {
        let what = match (&self.formula, self.kind) {
            (Some(_), _) => "formula ",
            (None, Kind::Text) => "text ",
            (None, Kind::Number) => "",
        };
        let null = match self.null {
            Null::Skip => "",
            Null::Zero => " (missing: zero)",
            Null::Fail => " (missing: fail)",
        };
        format!("{what}{}{null}", self.column.told())
    }

    /// The columns it is made of.
    fn columns(&self) -> &[Selector] {
        match &self.formula {
            Some(formula) => formula.columns(),
            None => std::slice::from_ref(&self.column),
        }
    }
}

/// Why a text is no list of values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// Something is wrong with a column.
    #[error(transparent)]
    List(#[from] ListError),
    /// Or with a formula.
    #[error(transparent)]
    Formula(#[from] FilterError),
}

/// Each byte of a text with whether it stands in quotes of either kind, and inside how many parentheses. As in lists of
/// columns, `"` is a quote only where an entry begins.
fn placed(text: &str) -> impl Iterator<Item = (usize, u8, bool, usize)> {
    let (mut quote, mut depth, mut begins) = (None, 0_usize, true);
    text.bytes().enumerate().map(move |(at, byte)| {
        match (quote, byte) {
            (None, b'"') if !begins => {}
            (None, b'"' | b'`') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            (None, b'(') => depth += 1,
            (None, b')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        // A quote that ends one may be the first of two.
        if quote.is_none() && byte != b'"' {
            begins = (byte == b',' && depth == 0) || (begins && byte.is_ascii_whitespace());
        }
        (at, byte, quote.is_some(), depth)
    })
}

/// What stands between the commas that are in no quotes and no parentheses.
fn pieces(text: &str) -> Vec<&str> {
    let mut from = 0;
    let mut pieces = Vec::new();
    for (at, byte, is_quoted, depth) in placed(text) {
        if byte == b',' && !is_quoted && depth == 0 {
            pieces.push(&text[from..at]);
            from = at + 1;
        }
    }
    pieces.push(&text[from..]);
    pieces
}

impl From<Selector> for Value {
    fn from(column: Selector) -> Value {
        Value { column, formula: None, kind: Kind::Number, null: Null::Skip }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_keys_in_quotes_keep_their_colons() {
        let told = |text: &str| -> Vec<String> {
            let told = |by: By| match by.bucket {
                Some(bucket) => format!("{:?} by {bucket}", by.column),
                None => format!("{:?}", by.column),
            };
            By::list(text).unwrap().into_iter().map(told).collect()
        };
        assert_eq!(told("a:10"), ["Name(\"a\") by 10"]);
        assert_eq!(told("\"a:10\""), ["Name(\"a:10\")"]);
        assert_eq!(told("\"a:10\":1h,b"), ["Name(\"a:10\") by 1h", "Name(\"b\")"]);
        let places = ["Place(3) by 10", "Name(\"3\") by 10", "Name(\"3:10\")"];
        assert_eq!(told("3:10,\"3\":10,\"3:10\""), places);
        assert_eq!(told("a:b"), ["Name(\"a:b\")"]);
        assert_eq!(told("+1:10,-1:10"), ["Name(\"+1\") by 10", "Name(\"-1\") by 10"]);
        assert_eq!(By::list("0:10"), Err(ListError::Zero));
        let large = "18446744073709551616";
        let found = By::list(&format!("1,{large}:10"));
        assert_eq!(found, Err(ListError::Large(large.to_owned())));
        let said = By::list("\"a\":0").unwrap_err().to_string();
        assert!(said.starts_with("\"0\" is no width of buckets"), "{said}");
    }

    /// No list had a text with a comma.
    #[test]
    fn what_says_that_there_is_no_value_may_have_commas_in_quotes() {
        for (list, expected) in [
            ("NA, -,", "NA| -|"),
            ("\"-99,9\",5\"", "-99,9|5\""),
            ("\"\"\"NA\"\", none\"", "\"NA\", none"),
        ] {
            let values = Query::null_values(list).unwrap();
            let values: Vec<String> = values.into_iter().map(|(value, _)| value).collect();
            assert_eq!(values.join("|"), expected, "{list}");
        }
        for wrong in ["\"NA", "\"NA\"x"] {
            assert_eq!(Query::null_values(wrong), Err(ListError::Quote(wrong.to_owned())));
        }
    }

    #[test]
    fn lists_of_values_have_formulas_where_signs_have_blanks_around_them() {
        let names = |text: &str| -> Vec<(String, bool)> {
            let values = Value::list(text).unwrap();
            values.iter().map(|v| (v.column.to_string(), v.formula.is_some())).collect()
        };
        let plain = |name: &str| (name.to_owned(), false);
        let formula = |name: &str| (name.to_owned(), true);
        assert_eq!(names("km/h,a-b,\"x - y\""), [plain("km/h"), plain("a-b"), plain("x - y")]);
        assert_eq!(names("ms, a * b , 3"), [plain("ms"), formula("a * b"), plain("column 3")]);
        assert_eq!(names("ms, km, \" x\""), [plain("ms"), plain("km"), plain(" x")]);
        assert_eq!(names("5\" pipe,y * 1"), [plain("5\" pipe"), formula("y * 1")]);
        assert_eq!(names("\"a \"\", - b\",y * 1"), [plain("a \", - b"), formula("y * 1")]);
        let both = [formula("round(a / b, 2)"), formula("`c,d` - 1")];
        assert_eq!(names("round(a / b, 2),`c,d` - 1"), both);
        assert!(matches!(Value::list("a / b"), Err(ValueError::Formula(_))));
        assert!(matches!(Value::list("a * 2,"), Err(ValueError::List(_))));
    }
}
