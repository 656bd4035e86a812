//! What can go wrong between a file and its mean, each with the place where it did.

use std::{fmt, io};

use fathom_json::Event;

use crate::formula::{Coordinate, MOST_DEGREES};

/// Why there is no mean.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input or the answers cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The input is not JSON.
    #[error(transparent)]
    Json(#[from] fathom_json::Error),
    /// The input is JSON, but one of its pairs is none.
    #[error("pair {index}: {fault}{found} at byte {offset}")]
    Pair {
        /// Pairs before this one.
        index: u64,
        /// The byte that shows it.
        offset: u64,
        /// What is wrong.
        fault: Fault,
        /// What stands there instead.
        found: Found,
    },
    /// The input is JSON, but holds no pairs where they should be.
    #[error("{shape} at byte {offset}")]
    Shape {
        /// The byte that shows it.
        offset: u64,
        /// What is wrong.
        shape: Shape,
    },
    /// There is no pair, and so no mean.
    #[error("the input holds no pair, so there is no mean")]
    NoPairs,
    /// All elements were skipped, and so there is no mean.
    #[error("no element is a pair, so there is no mean: {0} skipped")]
    AllSkipped(u64),
    /// The input is something else, as a caller saw by its first bytes.
    #[error("this is {what}, not JSON: {hint}")]
    Foreign {
        /// What it is.
        what: &'static str,
        /// What to do.
        hint: String,
    },
    /// The answers cannot belong to the input.
    #[error(transparent)]
    Answers(#[from] AnswersError),
}

impl Error {
    /// The byte that shows what is wrong, if it is the input's.
    pub fn offset(&self) -> Option<u64> {
        match self {
            Error::Json(error) => Some(error.offset),
            Error::Pair { offset, .. } | Error::Shape { offset, .. } => Some(*offset),
            Error::Io(_) | Error::NoPairs | Error::AllSkipped(_) => None,
            Error::Foreign { .. } | Error::Answers(_) => None,
        }
    }
}

/// The beginning of a value that is not what was expected, as the input has it; nothing where there is
/// no value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found(String);

impl Found {
    /// The value an event begins.
    #[cold]
    pub(crate) fn new(event: Event<'_>) -> Found {
        let bytes = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        let text = match event {
            Event::String(text) | Event::Key(text) => format!("\"{}\"", bytes(text.raw())),
            Event::Number(number) => bytes(number.text()),
            Event::Bool(value) => value.to_string(),
            Event::Null => "null".to_owned(),
            Event::StartArray | Event::EndArray => "an array".to_owned(),
            Event::StartObject | Event::EndObject => "an object".to_owned(),
        };
        let is_long = text.chars().count() > Found::MOST_CHARS;
        let begin: String = text.chars().take(Found::MOST_CHARS).collect();
        Found(format!(", found {begin}{}", if is_long { "…" } else { "" }))
    }

    const MOST_CHARS: usize = 40;
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What keeps an element from being a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The element is a number, a string, a word or an array.
    NotAnObject,
    /// The object ends without this member.
    Missing(Coordinate),
    /// The member's value is not a number.
    NotANumber(Coordinate),
    /// The member occurs twice; taking the first or the last would depend on the reader.
    Duplicate(Coordinate),
    /// The number is beyond [`MOST_DEGREES`].
    OutOfRange(Coordinate),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NotAnObject => write!(f, "expected an object with x0, y0, x1 and y1"),
            Fault::Missing(name) => write!(f, "expected a member {name} before the object ends"),
            Fault::NotANumber(name) => write!(f, "expected a number as {name}"),
            Fault::Duplicate(name) => write!(f, "expected one member {name}, found a second"),
            Fault::OutOfRange(name) => {
                write!(f, "expected {name} from -{MOST_DEGREES} to {MOST_DEGREES} degrees")
            }
        }
    }
}

/// What keeps a document from being one of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The top-level value is neither an object nor an array.
    NoContainer,
    /// The top-level object has neither a member `pairs` nor coordinates.
    NoPairsMember,
    /// `pairs` is not an array.
    PairsNotAnArray,
    /// There are two members `pairs`.
    SecondPairs,
    /// A second document follows the first.
    SecondDocument,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Shape::NoContainer => "expected an object or an array",
            Shape::NoPairsMember => {
                "expected a member \"pairs\" (or x0, y0, x1, y1) before the object ends"
            }
            Shape::PairsNotAnArray => "expected an array as \"pairs\"",
            Shape::SecondPairs => "expected one member \"pairs\", found a second",
            Shape::SecondDocument => "expected the end of the input after the document",
        })
    }
}

/// What keeps a file from being the answers to an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswersError {
    /// Answers are doubles of eight bytes: a distance for each pair, then the mean.
    #[error("the answers have {bytes} bytes, no multiple of 8 that is at least 8")]
    Size {
        /// Length of the file.
        bytes: u64,
    },
    /// The number of distances is not that of the pairs.
    #[error("pairs in the answers: {answers}, in the input: {pairs}")]
    Count {
        /// Distances in the answers.
        answers: u64,
        /// Pairs in the input.
        pairs: u64,
    },
}
