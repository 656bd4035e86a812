//! The plain lexer: one `match` per byte, every token copied byte by byte. The oracle of the tests
//! and the first rung of the ladder that `fathom haversine --stages` climbs.
//!
//! Shares nothing with the fast lexer but the error codes. Does not convert numbers.

use crate::error::{Code, Error};
use crate::lexer::{Limits, Mode};

/// An event with its bytes, as the plain lexer hands it over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain<'a> {
    /// `{`
    StartObject,
    /// `}`
    EndObject,
    /// `[`
    StartArray,
    /// `]`
    EndArray,
    /// A key, without its quotes, escapes and all.
    Key(&'a [u8]),
    /// A string, likewise.
    String(&'a [u8]),
    /// A number of valid form.
    Number(&'a [u8]),
    /// `true`, `false` or `null`
    Word(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
    Done,
    /// Inside a string.
    String,
    Escape,
    /// Hexadecimal digits still to come.
    Hex(u8),
    /// Continuation bytes still to come and the range of the next one.
    Utf8(u8, u8, u8),
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    Mark,
    MarkSign,
    Exponent,
    Word(&'static str, usize),
}

/// The plain lexer between two bytes.
#[derive(Clone, Debug)]
pub struct Machine {
    limits: Limits,
    mode: Mode,
    state: State,
    /// `{` or `[` per open container.
    open: Vec<u8>,
    token: Vec<u8>,
    is_key: bool,
    is_separated: bool,
    offset: u64,
    /// Where the current token began, and where the current UTF-8 sequence began.
    token_start: u64,
    sequence_start: u64,
}

impl Machine {
    /// A machine at the beginning of an input.
    pub fn new(mode: Mode, limits: Limits) -> Machine {
        Machine {
            limits,
            mode,
            state: State::Value,
            open: Vec::new(),
            token: Vec::new(),
            is_key: false,
            is_separated: true,
            offset: 0,
            token_start: 0,
            sequence_start: 0,
        }
    }

    /// Takes in the bytes of `chunk`, handing each event to `on_event`.
    ///
    /// # Errors
    /// The first fault and its offset; the machine is of no use afterwards.
    pub fn feed(
        &mut self,
        chunk: &[u8],
        on_event: &mut impl FnMut(Plain<'_>),
    ) -> Result<(), Error> {
        for &byte in chunk {
            self.byte(byte, on_event)?;
            self.offset += 1;
        }
        Ok(())
    }

    /// Says that nothing follows.
    ///
    /// # Errors
    /// [`Code::Truncated`] when the document is not complete.
    pub fn finish(&mut self, on_event: &mut impl FnMut(Plain<'_>)) -> Result<(), Error> {
        if self.is_complete_number() {
            self.end_number(on_event);
        }
        let is_between = self.state == State::Done
            || self.mode == Mode::Lines && self.state == State::Value && self.open.is_empty();
        if is_between { Ok(()) } else { self.fail(Code::Truncated) }
    }

    fn fail(&self, code: Code) -> Result<(), Error> {
        Err(Error { code, offset: self.offset })
    }

    fn is_complete_number(&self) -> bool {
        matches!(self.state, State::Zero | State::Integer | State::Fraction | State::Exponent)
    }

    fn end_number(&mut self, on_event: &mut impl FnMut(Plain<'_>)) {
        on_event(Plain::Number(&self.token));
        self.after_value();
    }

    fn after_value(&mut self) {
        self.is_separated = false;
        self.state = if self.open.is_empty() { State::Done } else { State::CommaOrEnd };
    }

    fn is_in_object(&self) -> bool {
        self.open.last() == Some(&b'{')
    }

    fn byte(&mut self, byte: u8, on_event: &mut impl FnMut(Plain<'_>)) -> Result<(), Error> {
        match self.state {
            State::String | State::Escape | State::Hex(_) | State::Utf8(..) => {
                return self.in_string(byte, on_event);
            }
            State::Word(word, matched) => return self.in_word(word, matched, byte, on_event),
            State::Minus
            | State::Zero
            | State::Integer
            | State::Point
            | State::Fraction
            | State::Mark
            | State::MarkSign
            | State::Exponent => {
                if self.in_number(byte)? {
                    return Ok(());
                }
                self.end_number(on_event);
            }
            _ => {}
        }
        self.between(byte, on_event)
    }

    /// A byte between tokens, or the first of one.
    fn between(&mut self, byte: u8, on_event: &mut impl FnMut(Plain<'_>)) -> Result<(), Error> {
        match (self.state, byte) {
            (_, b' ' | b'\t' | b'\n' | b'\r') => self.is_separated = true,
            (State::Colon, b':') => self.state = State::Value,
            (State::Colon, _) => return self.fail(Code::ExpectedColon),
            (State::CommaOrEnd, b',') if self.is_in_object() => self.state = State::Key,
            (State::CommaOrEnd, b',') => self.state = State::Value,
            (State::CommaOrEnd | State::KeyOrEnd, b'}') if self.is_in_object() => {
                on_event(Plain::EndObject);
                self.open.pop();
                self.after_value();
            }
            (State::CommaOrEnd | State::ValueOrEnd, b']') if !self.is_in_object() => {
                on_event(Plain::EndArray);
                self.open.pop();
                self.after_value();
            }
            (State::CommaOrEnd, _) if self.is_in_object() => {
                return self.fail(Code::ExpectedCommaOrBrace);
            }
            (State::CommaOrEnd, _) => return self.fail(Code::ExpectedCommaOrBracket),
            (State::Key | State::KeyOrEnd, b'"') => self.start(State::String, true),
            (State::Key, _) => return self.fail(Code::ExpectedKey),
            (State::KeyOrEnd, _) => return self.fail(Code::ExpectedKeyOrEnd),
            (State::Done, _) if self.mode == Mode::Document || !self.is_separated => {
                return self.fail(Code::TrailingText);
            }
            _ => return self.value(byte, on_event),
        }
        Ok(())
    }

    fn start(&mut self, state: State, is_key: bool) {
        self.token.clear();
        self.token_start = self.offset;
        self.is_key = is_key;
        self.state = state;
    }

    fn value(&mut self, byte: u8, on_event: &mut impl FnMut(Plain<'_>)) -> Result<(), Error> {
        match byte {
            b'{' | b'[' => {
                if self.open.len() == self.limits.depth {
                    return self.fail(Code::TooDeep);
                }
                self.open.push(byte);
                let is_object = byte == b'{';
                on_event(if is_object { Plain::StartObject } else { Plain::StartArray });
                self.state = if is_object { State::KeyOrEnd } else { State::ValueOrEnd };
            }
            b'"' => self.start(State::String, false),
            b'-' => self.start(State::Minus, false),
            b'0' => self.start(State::Zero, false),
            b'1'..=b'9' => self.start(State::Integer, false),
            b't' => self.start(State::Word("true", 1), false),
            b'f' => self.start(State::Word("false", 1), false),
            b'n' => self.start(State::Word("null", 1), false),
            _ if self.state == State::ValueOrEnd => return self.fail(Code::ExpectedValueOrEnd),
            _ => return self.fail(Code::ExpectedValue),
        }
        if byte == b'-' || byte.is_ascii_digit() {
            self.token_byte(byte)?;
        }
        Ok(())
    }

    fn token_byte(&mut self, byte: u8) -> Result<(), Error> {
        if self.token.len() == self.limits.token_bytes {
            return self.fail(Code::TokenTooLong);
        }
        self.token.push(byte);
        Ok(())
    }

    fn in_word(
        &mut self,
        word: &'static str,
        matched: usize,
        byte: u8,
        on_event: &mut impl FnMut(Plain<'_>),
    ) -> Result<(), Error> {
        if byte != word.as_bytes()[matched] {
            return self.fail(Code::BadLiteral);
        }
        self.state = State::Word(word, matched + 1);
        if matched + 1 == word.len() {
            on_event(Plain::Word(word));
            self.after_value();
        }
        Ok(())
    }

    /// Whether `byte` belongs to the number.
    fn in_number(&mut self, byte: u8) -> Result<bool, Error> {
        let next = match (self.state, byte) {
            (State::Minus, b'0') => State::Zero,
            (State::Minus, b'1'..=b'9') | (State::Integer, b'0'..=b'9') => State::Integer,
            (State::Zero, b'0'..=b'9') => return self.fail(Code::LeadingZero).map(|()| true),
            (State::Zero | State::Integer, b'.') => State::Point,
            (State::Point | State::Fraction, b'0'..=b'9') => State::Fraction,
            (State::Zero | State::Integer | State::Fraction, b'e' | b'E') => State::Mark,
            (State::Mark, b'+' | b'-') => State::MarkSign,
            (State::Mark | State::MarkSign | State::Exponent, b'0'..=b'9') => State::Exponent,
            _ if self.is_complete_number() => return Ok(false),
            _ => return self.fail(Code::ExpectedDigit).map(|()| true),
        };
        self.state = next;
        self.token_byte(byte)?;
        Ok(true)
    }

    /// Well-formed UTF-8 by table 3-7 of the Unicode Standard.
    fn in_string(&mut self, byte: u8, on_event: &mut impl FnMut(Plain<'_>)) -> Result<(), Error> {
        match (self.state, byte) {
            (State::Escape, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.state = State::String;
            }
            (State::Escape, b'u') => self.state = State::Hex(4),
            (State::Escape, _) => return self.fault(Code::BadEscape, self.offset),
            (State::Hex(left), b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                self.state = if left == 1 { State::String } else { State::Hex(left - 1) };
            }
            (State::Hex(_), _) => return self.fault(Code::BadHexDigit, self.offset),
            (State::Utf8(left, low, high), _) if (low..=high).contains(&byte) => {
                self.state =
                    if left == 1 { State::String } else { State::Utf8(left - 1, 0x80, 0xbf) };
            }
            (State::Utf8(..), _) => return self.fault(Code::InvalidUtf8, self.sequence_start),
            (_, b'"') => {
                if self.token.len() > self.limits.token_bytes {
                    return self.too_long();
                }
                let is_key = self.is_key;
                on_event(if is_key { Plain::Key(&self.token) } else { Plain::String(&self.token) });
                if is_key {
                    self.state = State::Colon;
                } else {
                    self.after_value();
                }
                return Ok(());
            }
            (_, b'\\') => self.state = State::Escape,
            (_, 0..0x20) => return self.fault(Code::ControlCharacter, self.offset),
            (_, 0x20..0x80) => {}
            _ => {
                self.sequence_start = self.offset;
                self.state = match byte {
                    0xc2..=0xdf => State::Utf8(1, 0x80, 0xbf),
                    0xe0 => State::Utf8(2, 0xa0, 0xbf),
                    0xed => State::Utf8(2, 0x80, 0x9f),
                    0xe1..=0xef => State::Utf8(2, 0x80, 0xbf),
                    0xf0 => State::Utf8(3, 0x90, 0xbf),
                    0xf1..=0xf3 => State::Utf8(3, 0x80, 0xbf),
                    0xf4 => State::Utf8(3, 0x80, 0x8f),
                    _ => return self.fault(Code::InvalidUtf8, self.offset),
                };
            }
        }
        // The verdict "too long" waits for a sequence or escape to end: what is wrong with one
        // that began within the limit comes first.
        let is_whole = self.state == State::String;
        if is_whole && self.token.len() + 1 > self.limits.token_bytes {
            return self.too_long();
        }
        self.token.push(byte);
        Ok(())
    }

    /// A fault of a string at `offset`, unless the string was too long before it.
    fn fault(&self, code: Code, offset: u64) -> Result<(), Error> {
        if offset - self.token_start - 1 > self.limits.token_bytes as u64 {
            return self.too_long();
        }
        Err(Error { code, offset })
    }

    fn too_long(&self) -> Result<(), Error> {
        let offset = self.token_start + 1 + self.limits.token_bytes as u64;
        Err(Error { code: Code::TokenTooLong, offset })
    }
}
