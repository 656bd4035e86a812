//! What can be wrong with a JSON text, and where. Holds no input: messages quote no bytes.

use std::{fmt, io};

/// What the bytes before an offset demanded and the byte there is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// A value must stand here.
    ExpectedValue,
    /// After `[`: a value or `]`.
    ExpectedValueOrEnd,
    /// After a comma in an object: a key in quotes.
    ExpectedKey,
    /// After `{`: a key in quotes or `}`.
    ExpectedKeyOrEnd,
    /// After a key.
    ExpectedColon,
    /// After a member of an object: `,` or `}`.
    ExpectedCommaOrBrace,
    /// After an element of an array: `,` or `]`.
    ExpectedCommaOrBracket,
    /// The value is complete and so is the document.
    TrailingText,
    /// A word that begins like `true`, `false` or `null` and goes on otherwise.
    BadLiteral,
    /// A sign, point or exponent mark must be followed by a digit.
    ExpectedDigit,
    /// A digit after an integer part of `0`.
    LeadingZero,
    /// A byte below 0x20 inside a string.
    ControlCharacter,
    /// A backslash is followed by one of `"\/bfnrtu`.
    BadEscape,
    /// `\u` is followed by four hexadecimal digits.
    BadHexDigit,
    /// The offset is that of the first byte of the malformed sequence.
    InvalidUtf8,
    /// The input ends inside the document; the offset is its length.
    Truncated,
    /// More containers are open than [`Limits::depth`](crate::Limits::depth).
    TooDeep,
    /// A string or number is longer than [`Limits::token_bytes`](crate::Limits::token_bytes).
    TokenTooLong,
}

impl Code {
    /// The code as a sentence fragment, such as "expected a value".
    pub fn message(self) -> &'static str {
        match self {
            Code::ExpectedValue => "expected a value",
            Code::ExpectedValueOrEnd => "expected a value or ']'",
            Code::ExpectedKey => "expected a key in quotes",
            Code::ExpectedKeyOrEnd => "expected a key in quotes or '}'",
            Code::ExpectedColon => "expected ':' after the key",
            Code::ExpectedCommaOrBrace => "expected ',' or '}'",
            Code::ExpectedCommaOrBracket => "expected ',' or ']'",
            Code::TrailingText => "expected the end of the document",
            Code::BadLiteral => "expected true, false or null",
            Code::ExpectedDigit => "expected a digit",
            Code::LeadingZero => "expected no digit after a leading zero",
            Code::ControlCharacter => "expected no bare control character in a string",
            Code::BadEscape => "expected one of \"\\/bfnrtu after the backslash",
            Code::BadHexDigit => "expected four hexadecimal digits after \\u",
            Code::InvalidUtf8 => "expected valid UTF-8",
            Code::Truncated => "the input ends inside the document",
            Code::TooDeep => "nested too deeply",
            Code::TokenTooLong => "a string or number is too long",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

/// Why a text is not JSON, and the offset of the byte that shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code} at byte {offset}")]
pub struct Error {
    /// What was expected.
    pub code: Code,
    /// Bytes before the one at fault, from 0, over all chunks.
    pub offset: u64,
}

/// A number of valid form beyond the range of doubles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the number is beyond the range of a double")]
pub struct OutOfRange;

/// Why reading events stopped.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The source failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The source is not JSON.
    #[error(transparent)]
    Json(#[from] Error),
}
