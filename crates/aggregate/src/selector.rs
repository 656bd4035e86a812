//! Columns, by place or by name, and lists of them as users write them.
//!
//! Whether a column exists is for others to see.

use std::borrow::Cow;
use std::fmt;

use crate::bucket::WIDTHS;

/// Columns of a range.
const MOST_IN_RANGE: usize = 1 << 16;

/// A column, by place or by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// From 1.
    Place(usize),
    /// As the header spells it.
    Name(String),
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selector::Place(place) => write!(f, "column {place}"),
            Selector::Name(name) => f.write_str(name),
        }
    }
}

/// Why a text is no list of columns.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// Nothing where a column was expected.
    #[error("a column is missing in {0:?}")]
    Empty(String),
    /// Columns count from 1.
    #[error("columns count from 1")]
    Zero,
    /// A range whose end is before its start, or that has more than 65,536 columns.
    #[error("{0:?} is no range of columns: the smaller number first, {MOST_IN_RANGE} at most")]
    Range(String),
    /// A number that no column has.
    #[error("{0} is no column: no record has so many")]
    Large(String),
    /// A quote that is never closed, or followed by something other than a comma.
    #[error("{0:?}: what is in quotes ends with its quote, and a comma follows")]
    Quote(String),
    /// What stands behind a name in quotes and its colon is no width of buckets.
    #[error("{0:?} is no width of buckets: {WIDTHS}")]
    Width(String),
}

/// One of a list.
pub(crate) enum Entry {
    /// As it stands.
    Word(Selector),
    /// In quotes, and what stands behind them and a colon.
    Quoted(String, Option<String>),
}

impl Selector {
    /// Its name, if it is chosen by that.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Selector::Name(name) => Some(name),
            Selector::Place(_) => None,
        }
    }

    /// As it stands in a list, where each name is in quotes.
    pub(crate) fn told(&self) -> String {
        match self {
            Selector::Place(place) => place.to_string(),
            Selector::Name(name) => format!("{name:?}"),
        }
    }

    /// Reads `host,3,5-7`: names, numbers and ranges, apart by commas. A name that is a number, a
    /// range, contains a comma or a quote, or has blanks around it is written in quotes, with its own quotes doubled.
    ///
    /// # Errors
    /// [`ListError`], which quotes the text.
    pub fn list(text: &str) -> Result<Vec<Selector>, ListError> {
        let column = |entry| match entry {
            Entry::Word(column) => Ok(column),
            Entry::Quoted(name, None) => Ok(Selector::Name(name)),
            Entry::Quoted(_, Some(_)) => Err(ListError::Quote(text.to_owned())),
        };
        Selector::entries(text)?.into_iter().map(column).collect()
    }

    /// The same, where something may stand behind a column and a colon. What is not in quotes is one word with it.
    pub(crate) fn entries(text: &str) -> Result<Vec<Entry>, ListError> {
        let mut list = Vec::new();
        let mut rest = Some(text);
        while let Some(from) = rest {
            let to_comma = |from| match str::split_once(from, ',') {
                Some((word, rest)) => (word, Some(rest)),
                None => (from, None),
            };
            let from = from.trim_start();
            rest = match from.strip_prefix('"') {
                Some(quoted) => {
                    let quote = || ListError::Quote(text.to_owned());
                    let (name, behind) = unquoted(quoted).ok_or_else(quote)?;
                    let (tail, rest) = to_comma(behind);
                    let tail = tail.trim_end();
                    let tail = match tail.strip_prefix(':') {
                        None if !tail.is_empty() => return Err(quote()),
                        tail => tail.map(str::to_owned),
                    };
                    list.push(Entry::Quoted(name, tail));
                    rest
                }
                None => {
                    let (word, rest) = to_comma(from);
                    Selector::word(word.trim_end(), text, &mut list)?;
                    rest
                }
            };
        }
        Ok(list)
    }

    fn word(word: &str, text: &str, list: &mut Vec<Entry>) -> Result<(), ListError> {
        let range = word.split_once('-').and_then(|(from, to)| Some((number(from)?, number(to)?)));
        match (number(word), range) {
            _ if word.is_empty() => return Err(ListError::Empty(text.to_owned())),
            (Some(0), _) | (_, Some((0, _))) => return Err(ListError::Zero),
            (Some(usize::MAX), _) | (_, Some((_, usize::MAX))) => {
                return Err(ListError::Large(word.to_owned()));
            }
            (Some(place), _) => list.push(Entry::Word(Selector::Place(place))),
            (_, Some((from, to))) if from <= to && to - from < MOST_IN_RANGE => {
                list.extend((from..=to).map(|place| Entry::Word(Selector::Place(place))));
            }
            (_, Some(_)) => return Err(ListError::Range(word.to_owned())),
            (None, None) => list.push(Entry::Word(Selector::Name(word.to_owned()))),
        }
        Ok(())
    }
}

/// Where a header has this name; blanks around its own mean nothing where none is spelled so.
pub(crate) fn places(name: &str, header: &[Cow<'_, [u8]>]) -> impl Iterator<Item = usize> {
    let is_there = header.iter().any(|field| **field == *name.as_bytes());
    let is =
        move |field: &[u8]| name.as_bytes() == if is_there { field } else { field.trim_ascii() };
    (0..header.len()).filter(move |&at| is(&header[at]))
}

/// What has digits alone, as a number; those that are too large are none of a column.
pub(crate) fn number(digits: &str) -> Option<usize> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(usize::MAX))
}

/// What stands before the closing quote, and behind it.
pub(crate) fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut rest = text;
    loop {
        let (inside, behind) = rest.split_once('"')?;
        name.push_str(inside);
        match behind.strip_prefix('"') {
            Some(more) => {
                name.push('"');
                rest = more;
            }
            None => return Some((name, behind)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_names_numbers_ranges_and_quotes() {
        let name = |name: &str| Selector::Name(name.to_owned());
        let place = Selector::Place;
        for (text, expected) in [
            ("host", vec![name("host")]),
            ("host,path,7", vec![name("host"), name("path"), place(7)]),
            ("3-5,1", vec![place(3), place(4), place(5), place(1)]),
            ("2-2", vec![place(2)]),
            ("user-agent,a-1,1-a", vec![name("user-agent"), name("a-1"), name("1-a")]),
            (r#""3-5","a,""b""",x"#, vec![name("3-5"), name("a,\"b\""), name("x")]),
            (r#""""#, vec![name("")]),
            (
                " a , 3-4 ,\" b \" , c d",
                vec![name("a"), place(3), place(4), name(" b "), name("c d")],
            ),
        ] {
            assert_eq!(Selector::list(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_list_says_why() {
        let said = |text: &str| Selector::list(text).unwrap_err().to_string();
        assert_eq!(said(""), "a column is missing in \"\"");
        assert_eq!(said("a,,b"), "a column is missing in \"a,,b\"");
        assert_eq!(said("a, "), "a column is missing in \"a, \"");
        assert_eq!(said("0"), "columns count from 1");
        assert_eq!(said("0-3"), "columns count from 1");
        let large = "18446744073709551616 is no column: no record has so many";
        assert_eq!(said("1,18446744073709551616"), large);
        let beyond = "18446744073709551615-18446744073709551616";
        assert_eq!(said(beyond), format!("{beyond} is no column: no record has so many"));
        for text in ["5-3", "1-65537", "1-99999999999"] {
            let limits = "is no range of columns: the smaller number first, 65536 at most";
            assert_eq!(said(text), format!("{text:?} {limits}"));
        }
        assert_eq!(Selector::list("1-65536").unwrap().len(), 65536);
        for text in ["\"a", "\"a\"b", "\"a\"\"", "a,\"", "\"a\":1"] {
            assert!(said(text).contains("ends with its quote"), "{text}");
        }
    }
}
