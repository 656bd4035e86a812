//! Where the chosen columns stand: as the user placed them, or as the header names them.

use std::borrow::Cow;
use std::path::Path;

use super::query::{Query, Syntax, Value};
use crate::access;
use crate::bucket::{Bucket, WIDTHS};
use crate::error::{Error, WIDE, is_wide, quoted};
use crate::filter::{Filter, Formula};
use crate::selector::{Selector, places};

/// What is known of the records of a source.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// Where the parts of the key stand, from 0.
    pub(super) keys: Vec<usize>,
    /// Those of the values; of one that is computed nothing.
    pub(super) values: Vec<usize>,
    /// Of each value the columns it is computed from.
    pub(super) formulas: Vec<Vec<usize>>,
    /// Those a filter asks for, in its order.
    pub(super) filter: Vec<usize>,
    /// How many fields a record has; None until the first one was seen.
    pub(super) fields: Option<usize>,
    /// What the header calls all columns; nothing without one.
    names: Vec<String>,
}

/// What is said where lines begin as JSON does and are read as delimited text.
pub(super) const OF_JSON: &str = " (JSON is read as ndjson, of which each line is an object)";

/// What may be wrong with a name where there is no column of it but `there`, to be said behind that.
pub fn hint(name: &str, there: &[&str]) -> String {
    let is_cut = |whole: &&&str| {
        let width = whole.strip_prefix(name).and_then(|behind| behind.strip_prefix(':'));
        width.is_some_and(|width| Bucket::parse(width).is_some())
    };
    if let Some(whole) = there.iter().find(is_cut) {
        format!(" (behind the colon of {whole} is a width of buckets: '\"{whole}\"' is a name)")
    } else if there.first().is_some_and(|first| first.starts_with(['{', '['])) {
        OF_JSON.to_owned()
    } else if there.iter().any(|name| is_wide(name.as_bytes())) {
        format!(" ({WIDE})")
    } else if there.first().is_some_and(|first| first.starts_with("sep=")) {
        " (a first line sep=… is for spreadsheets and no header: remove it)".to_owned()
    } else if Value::is_formula(name) {
        " (formulas are values only)".to_owned()
    } else if name.contains(['*', '+', '/']) || name.contains("- ") {
        " (a formula has blanks around its signs: ms * 2)".to_owned()
    } else if name.contains(':') {
        format!(" (what is behind its colon is no width of buckets: {WIDTHS})")
    } else if let Some(whole) = there.iter().find(|whole| has_sign_behind(whole, name)) {
        format!(" (if {whole} is meant: in a condition or a formula it stands in backticks)")
    } else {
        String::new()
    }
}

/// Whether a name begins with another one and a sign, so that a formula takes it for two.
fn has_sign_behind(whole: &str, name: &str) -> bool {
    let behind = whole.strip_prefix(name).map(str::trim_start);
    behind.is_some_and(|behind| !name.is_empty() && behind.starts_with(['+', '-', '*', '/']))
}

/// The column of each value that is not computed.
fn fields(query: &Query) -> impl Iterator<Item = Option<&Selector>> {
    query.values.iter().map(|value: &Value| value.formula.is_none().then_some(&value.column))
}

/// The columns that each value is computed from.
fn formulas(query: &Query) -> impl Iterator<Item = &[Selector]> {
    query.values.iter().map(|value| value.formula.as_ref().map_or(&[][..], Formula::columns))
}

impl Columns {
    /// Those that are known before anything is read; None where a header must be read first.
    ///
    /// # Errors
    /// Columns that the format cannot have.
    pub(super) fn known(query: &Query, path: &Path) -> Result<Option<Columns>, Error> {
        match query.syntax {
            Syntax::Delimited if query.header => Ok(None),
            Syntax::Delimited => match query.columns().find_map(Selector::name) {
                Some(name) => Err(Error::NoHeader { name: name.to_owned() }),
                None => Ok(Some(Columns::by_place(query))),
            },
            Syntax::Access { .. } => {
                let names: Vec<_> =
                    access::NAMES.iter().map(|name| Cow::Borrowed(name.as_bytes())).collect();
                Columns::named(query, path, &names).map(Some).map_err(|error| match error {
                    Error::NoSuchColumn { name, header, hint, .. } => {
                        Error::NoSuchLogColumn { name, columns: header, hint }
                    }
                    error => error,
                })
            }
            Syntax::JsonLines => {
                let names: Vec<_> = Columns::members(query)?.into_iter().map(Cow::Owned).collect();
                Columns::named(query, path, &names).map(Some)
            }
        }
    }

    /// Those that are known before anything is read, of a format that can have them.
    pub(super) fn placed(query: &Query) -> Option<Columns> {
        Columns::known(query, Path::new("-")).ok().flatten()
    }

    /// The members of lines of JSON that are asked for, each once.
    pub(super) fn members(query: &Query) -> Result<Vec<Vec<u8>>, Error> {
        let mut members: Vec<Vec<u8>> = Vec::new();
        for column in query.columns() {
            match column {
                Selector::Place(place) => return Err(Error::NumberedMember(*place)),
                Selector::Name(name) if members.iter().any(|known| known == name.as_bytes()) => {}
                Selector::Name(name) => members.push(name.clone().into_bytes()),
            }
        }
        Ok(members)
    }

    /// Those of a source without a header.
    fn by_place(query: &Query) -> Columns {
        let place = |selector: &Selector| match selector {
            Selector::Place(place) => place - 1,
            Selector::Name(_) => unreachable!("seen to by `Columns::known`"),
        };
        let filter = query.filter.iter().flat_map(Filter::columns);
        Columns {
            filter: filter.map(place).collect(),
            keys: query.by.iter().map(|by| place(&by.column)).collect(),
            values: fields(query).map(|column| column.map_or(0, place)).collect(),
            formulas: formulas(query).map(|all| all.iter().map(place).collect()).collect(),
            fields: None,
            names: Vec::new(),
        }
    }

    pub(super) fn named(
        query: &Query,
        path: &Path,
        names: &[Cow<'_, [u8]>],
    ) -> Result<Columns, Error> {
        let header = || names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
        let place = |selector: &Selector| {
            let name = match selector {
                Selector::Place(place) => return Ok(place - 1),
                Selector::Name(name) => name,
            };
            let mut places = places(name, names);
            match (places.next(), places.next()) {
                (Some(first), Some(second)) => Err(Error::AmbiguousColumn {
                    path: path.to_owned(),
                    name: name.clone(),
                    places: [first + 1, second + 1],
                }),
                (Some(place), None) => Ok(place),
                (None, _) => {
                    let there: Vec<_> =
                        names.iter().map(|name| String::from_utf8_lossy(name)).collect();
                    let hint = hint(name, &there.iter().map(|name| &**name).collect::<Vec<_>>());
                    let (path, name) = (path.to_owned(), name.clone());
                    Err(Error::NoSuchColumn { path, name, header: header(), hint })
                }
            }
        };
        let filter = query.filter.iter().flat_map(Filter::columns);
        let texts: Vec<String> =
            names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        if query.guessed_header.as_ref().is_some_and(|guessed| *guessed != texts) {
            return Err(Error::OtherHeader { path: path.to_owned(), found: header() });
        }
        Ok(Columns {
            filter: filter.map(place).collect::<Result<_, _>>()?,
            keys: query.by.iter().map(|by| place(&by.column)).collect::<Result<_, _>>()?,
            values: fields(query)
                .map(|column| column.map_or(Ok(0), place))
                .collect::<Result<_, _>>()?,
            formulas: formulas(query)
                .map(|all| all.iter().map(place).collect())
                .collect::<Result<_, _>>()?,
            fields: Some(names.len()),
            names: texts,
        })
    }

    /// What a column is called.
    pub(super) fn name(&self, column: usize) -> String {
        let place = || Selector::Place(column + 1).to_string();
        self.names.get(column).map_or_else(place, |name| name.trim_ascii().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_there_is_said_with_what_was_meant() {
        for (name, expected) in [
            ("a", " (behind the colon of a:5 is a width of buckets: '\"a:5\"' is a name)"),
            ("b", ""),
            ("km", " (if km/h is meant: in a condition or a formula it stands in backticks)"),
            ("a + 1", " (formulas are values only)"),
            ("a+1", " (a formula has blanks around its signs: ms * 2)"),
            (
                "a:15min",
                " (what is behind its colon is no width of buckets: a number of up to 18 \
                 characters, such as 0.5, or a whole number up to 1000000 and s, m, h, d, w, mo \
                 or y, such as 15m)",
            ),
        ] {
            assert_eq!(hint(name, &["a:5", "b:x", "km/h"]), expected, "{name}");
        }
        for (there, expected) in [(["sep=", ""], "sep=…"), (["k", "\0v\0w\0"], WIDE)] {
            let said = hint("v", &there);
            assert!(said.contains(expected), "{said}");
        }
    }
}
