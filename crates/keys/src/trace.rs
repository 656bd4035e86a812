//! A recorded trace: what a program did to its keys, one operation a line, with line and column of
//! whatever is wrong. Replays nothing.
//!
//! ```text
//! get KEY        looks for KEY
//! put KEY        inserts KEY, or writes a new value
//! del KEY        erases KEY; that it is not there is legal
//! scan KEY N     visits N values in key order, from the first key on that is not below KEY
//! ```
//!
//! One blank separates the parts, LF or CR LF ends a line. A key is all bytes between; in it `\\` is
//! a backslash, `\n` a line feed, `\r` a carriage return and `\xHH` the byte of these two digits.

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;

use memchr::{memchr, memrchr};

use crate::error::Grow;
use crate::read::{line_ends, parse_integer, unmarked};
use crate::set::{KeySet, Keys, Span};

/// What is done to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// It is looked for.
    Get,
    /// It is inserted, or gets a new value.
    Put,
    /// It is erased.
    Del,
    /// So many values are visited in key order, from it on.
    Scan(u32),
}

/// What the keys of a trace are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers, in decimal digits.
    Integers,
    /// Byte strings.
    Bytes,
}

/// Operations in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace<'b> {
    /// What each does.
    pub acts: Vec<Act>,
    /// The key of each, so that there are as many.
    pub keys: KeySet<'b>,
}

/// Why a file is no trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Something is wrong at one place.
    #[error("line {line}, column {column}: {reason}")]
    Bad {
        /// From 1.
        line: u64,
        /// Of the byte at fault, from 1.
        column: u64,
        /// What is wrong.
        reason: Reason,
    },
    /// What describes the operations does not fit in memory.
    #[error("its operations do not fit in memory")]
    Memory,
    /// There is nothing in it.
    #[error("the trace is empty")]
    Empty,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// It begins with no operation.
    #[error("{0:?} is no operation: get KEY, put KEY, del KEY, scan KEY N")]
    NoOperation(String),
    /// It ends before a key, or with a key of no byte.
    #[error("the key is missing")]
    NoKey,
    /// A scan that does not say how many values.
    #[error("{0:?} is no number of values from 1 to 4294967295: scan KEY N")]
    NotASpan(String),
    /// A backslash before something else than it stands for.
    #[error("a backslash stands before \\, n, r or two hexadecimal digits after x")]
    BadEscape,
    /// A key among integers that is none.
    #[error(
        "{:?} is no whole number from 0 to 18446744073709551615, as the other keys are{}",
        .0, crate::error::zeros(.0)
    )]
    NotAnInteger(String),
    /// A key of 4 GiB or more.
    #[error("a key of 4 GiB or more")]
    TooLong,
}

/// What is wrong, after so many bytes of its line.
type Wrong = (usize, Reason);

/// The trace in `bytes`. Its keys are of this kind; where none is named, they are integers if every
/// one of them is.
///
/// # Errors
/// What is wrong, with line and column.
pub fn read(bytes: &[u8], kind: Option<Kind>) -> Result<Trace<'_>, Error> {
    let bytes = unmarked(bytes);
    if bytes.is_empty() {
        return Err(Error::Empty);
    }
    let mut decoded = match memchr(b'\\', bytes) {
        Some(_) => Some(room(bytes.len())?),
        None => None,
    };
    let (mut acts, mut spans) = (Vec::new(), Vec::new());
    for (start, end) in line_ends(bytes) {
        let line = acts.len() as u64 + 1;
        let bad = |(at, reason)| Error::Bad { line, column: at as u64 + 1, reason };
        let (act, key) = parsed(&bytes[start..end]).map_err(bad)?;
        let start = match &mut decoded {
            None => start + key.start,
            Some(decoded) => {
                let before = decoded.len();
                let raw = &bytes[start..][key.clone()];
                unescape(raw, decoded).map_err(|(at, reason)| bad((key.start + at, reason)))?;
                before
            }
        };
        let end = decoded.as_ref().map_or(start + key.len(), Vec::len);
        let len = u32::try_from(end - start).map_err(|_| bad((key.start, Reason::TooLong)))?;
        let memory = |_| Error::Memory;
        acts.grow(act).map_err(memory)?;
        spans.grow(Span { start: start as u64, len }).map_err(memory)?;
    }
    let bytes = decoded.map_or(Cow::Borrowed(bytes), Cow::Owned);
    let keys = match kind {
        Some(Kind::Bytes) => None,
        _ => match integers(&bytes, &spans) {
            Ok(integers) => Some(Keys::Integers(integers)),
            Err(at) if kind == Some(Kind::Integers) => {
                return Err(no_integer(&bytes, &acts, &spans, at));
            }
            Err(_) => None,
        },
    };
    let keys = keys.unwrap_or(Keys::Bytes(spans));
    Ok(Trace { acts, keys: KeySet { bytes, keys, values: None } })
}

fn room(bytes: usize) -> Result<Vec<u8>, Error> {
    let mut room = Vec::new();
    room.try_reserve_exact(bytes).map_err(|_| Error::Memory)?;
    Ok(room)
}

/// What a line says is done, and where in it the key lies.
fn parsed(line: &[u8]) -> Result<(Act, Range<usize>), Wrong> {
    let end = memchr(b' ', line).unwrap_or(line.len());
    let mut key = end + 1..line.len();
    let act = match &line[..end] {
        b"get" => Act::Get,
        b"put" => Act::Put,
        b"del" => Act::Del,
        b"scan" => {
            let rest = line.get(key.clone()).unwrap_or_default();
            let blank = memrchr(b' ', rest).ok_or((line.len(), Reason::NotASpan(String::new())))?;
            let at = key.start + blank + 1;
            let span = parse_integer(&line[at..]).and_then(|span| u32::try_from(span).ok());
            let span = span.filter(|&span| span > 0);
            key.end = at - 1;
            Act::Scan(span.ok_or_else(|| (at, Reason::NotASpan(shown(&line[at..]))))?)
        }
        other => return Err((0, Reason::NoOperation(shown(other)))),
    };
    match key.start < key.end {
        true => Ok((act, key)),
        false => Err((key.start.min(line.len()), Reason::NoKey)),
    }
}

/// The beginning of what is wrong.
fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned()
}

/// Adds the bytes that `raw` stands for.
fn unescape(raw: &[u8], out: &mut Vec<u8>) -> Result<(), Wrong> {
    let mut at = 0;
    while let Some(found) = memchr(b'\\', &raw[at..]) {
        out.extend_from_slice(&raw[at..at + found]);
        let digit = |at: usize| char::from(*raw.get(at)?).to_digit(16);
        let backslash = at + found;
        let (byte, length) = match raw.get(backslash + 1) {
            Some(b'\\') => (Some(b'\\'), 2),
            Some(b'n') => (Some(b'\n'), 2),
            Some(b'r') => (Some(b'\r'), 2),
            Some(b'x') => {
                let digits = digit(backslash + 2).zip(digit(backslash + 3));
                (digits.map(|(high, low)| (16 * high + low) as u8), 4)
            }
            _ => (None, 0),
        };
        out.push(byte.ok_or((backslash, Reason::BadEscape))?);
        at = backslash + length;
    }
    out.extend_from_slice(&raw[at..]);
    Ok(())
}

/// The keys as integers, or the number of the first that is none.
fn integers(bytes: &[u8], spans: &[Span]) -> Result<Vec<u64>, usize> {
    let integer = |(at, span): (usize, &Span)| parse_integer(span.of(bytes)).ok_or(at);
    spans.iter().enumerate().map(integer).collect()
}

fn no_integer(bytes: &[u8], acts: &[Act], spans: &[Span], at: usize) -> Error {
    let reason = Reason::NotAnInteger(shown(spans[at].of(bytes)));
    let column = name(acts[at]).len() as u64 + 2;
    Error::Bad { line: at as u64 + 1, column, reason }
}

fn name(act: Act) -> &'static str {
    match act {
        Act::Get => "get",
        Act::Put => "put",
        Act::Del => "del",
        Act::Scan(_) => "scan",
    }
}

/// Writes the operations at `places` (from 0, in that order).
///
/// # Errors
/// What `out` answers.
///
/// # Panics
/// When there is no such operation.
pub fn write(
    out: &mut impl Write,
    trace: &Trace<'_>,
    places: impl Iterator<Item = usize>,
) -> io::Result<()> {
    for at in places {
        let act = trace.acts[at];
        write!(out, "{} ", name(act))?;
        for &byte in trace.keys.key(at).iter() {
            match byte {
                b'\\' => out.write_all(b"\\\\")?,
                b'\n' => out.write_all(b"\\n")?,
                b'\r' => out.write_all(b"\\r")?,
                byte => out.write_all(&[byte])?,
            }
        }
        match act {
            Act::Scan(span) => writeln!(out, " {span}")?,
            _ => out.write_all(b"\n")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(trace: &Trace<'_>) -> Vec<Vec<u8>> {
        (0..trace.acts.len()).map(|at| trace.keys.key(at).into_owned()).collect()
    }

    #[test]
    fn a_line_is_an_operation_and_a_key_is_all_that_stands_behind_it() {
        let trace = read(b"put a b\r\nget  a\ndel a b \nscan a b 12\nscan 7 3", None).unwrap();
        let acts = [Act::Put, Act::Get, Act::Del, Act::Scan(12), Act::Scan(3)];
        assert_eq!(trace.acts, acts);
        assert_eq!(keys(&trace), [&b"a b"[..], b" a", b"a b ", b"a b", b"7"]);
        assert!(matches!(trace.keys.bytes, Cow::Borrowed(_)));
    }

    #[test]
    fn any_byte_can_be_in_a_key() {
        let trace = read(b"put a\\nb\nget \\\\\\r\\x00\\xFf\nget c", None).unwrap();
        assert_eq!(keys(&trace), [&b"a\nb"[..], b"\\\r\0\xff", b"c"]);
    }

    #[test]
    fn keys_are_integers_if_all_are_and_nobody_says_otherwise() {
        let text = b"put 7\nscan 18446744073709551615 2";
        let trace = read(text, None).unwrap();
        assert_eq!(trace.keys.keys, Keys::Integers(vec![7, u64::MAX]));
        let trace = read(text, Some(Kind::Bytes)).unwrap();
        assert_eq!(keys(&trace)[0], b"7");
        assert!(matches!(read(b"put 7\nget 07", None).unwrap().keys.keys, Keys::Bytes(_)));
    }

    #[test]
    fn what_is_wrong_is_said_with_line_and_column() {
        let said = |text: &[u8], kind| read(text, kind).unwrap_err().to_string();
        let cases: [(&[u8], &str); 16] = [
            (b"", "the trace is empty"),
            (
                b"\n",
                "line 1, column 1: \"\" is no operation: get KEY, put KEY, del KEY, scan KEY N",
            ),
            (b"get a\n\nget b", "line 2, column 1: \"\" is no operation"),
            (b"get a\nGET b", "line 2, column 1: \"GET\" is no operation"),
            (b"get\ta", "line 1, column 1: \"get\\ta\" is no operation"),
            (b"get", "line 1, column 4: the key is missing"),
            (b"put a\nget ", "line 2, column 5: the key is missing"),
            (b"scan", "line 1, column 5: \"\" is no number of values"),
            (b"scan a", "line 1, column 7: \"\" is no number of values"),
            (b"scan  5", "line 1, column 6: the key is missing"),
            (b"scan a 0", "line 1, column 8: \"0\" is no number of values"),
            (b"scan a 4294967296", "line 1, column 8: \"4294967296\" is no number"),
            (b"scan a b", "line 1, column 8: \"b\" is no number"),
            (b"get a\nget ab\\q", "line 2, column 7: a backslash stands before"),
            (b"get \\x4", "line 1, column 5: a backslash"),
            (b"get a\\", "line 1, column 6: a backslash"),
        ];
        for (text, expected) in cases {
            let found = said(text, None);
            assert!(found.starts_with(expected), "{found} for {expected}");
        }
        let found = said(b"put 1\nscan x 3", Some(Kind::Integers));
        assert!(found.starts_with("line 2, column 6: \"x\" is no whole number"), "{found}");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            steps in prop::collection::vec((0_u32..6, prop::collection::vec(any::<u8>(), 1..9)), 1..30),
        ) {
            let act = |number| match number {
                0 => Act::Get,
                1 => Act::Put,
                2 => Act::Del,
                span => Act::Scan(span),
            };
            let (mut bytes, mut spans) = (Vec::new(), Vec::new());
            for (_, key) in &steps {
                spans.push(Span { start: bytes.len() as u64, len: key.len() as u32 });
                bytes.extend_from_slice(key);
            }
            let keys_of = KeySet { bytes: bytes.into(), keys: Keys::Bytes(spans), values: None };
            let acts = steps.iter().map(|(number, _)| act(*number)).collect();
            let trace = Trace { acts, keys: keys_of };
            let mut text = Vec::new();
            write(&mut text, &trace, 0..steps.len()).unwrap();
            let again = read(&text, Some(Kind::Bytes)).unwrap();
            prop_assert_eq!(&again.acts, &trace.acts);
            prop_assert_eq!(keys(&again), keys(&trace));
        }

        #[test]
        fn any_bytes_are_read_or_refused_within_them(text in prop::collection::vec(any::<u8>(), 0..60)) {
            match read(&text, None) {
                Ok(trace) => prop_assert_eq!(trace.keys.len(), trace.acts.len()),
                Err(Error::Bad { line, column, .. }) => {
                    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
                    prop_assert!(column as usize <= lines[line as usize - 1].len() + 1);
                }
                Err(other) => prop_assert_eq!(other, Error::Empty),
            }
        }
    }
}
