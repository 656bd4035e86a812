//! The lexer: bytes in chunks of any size to events, each as soon as its last byte is seen.
//!
//! Keeps one bit per open container and, for a token that a chunk's end interrupts, its bytes so
//! far; nothing else of the input. Does not read: chunks are handed to it.
//!
//! ```text
//! chunk n            chunk n+1
//! …,"y0":-53.29│0938…│,"x1":…
//!        └── carry ──┘ a cut token is finished here; any other is a view into its chunk
//! ```

use fathom_machine::level::Level;

use crate::error::{Code, Error};
use crate::event::Event;
use crate::kernel::{self, Kernel, Plain};
use crate::number::{self, Number, Part, Step};
use crate::string::{self, Scan, Text};

/// How many values an input holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// One, as RFC 8259 has it.
    #[default]
    Document,
    /// Any number, none included, with white space between them: newline-delimited JSON.
    Lines,
}

/// What the lexer refuses although the grammar allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Containers open at once.
    pub depth: usize,
    /// Bytes of a string between its quotes, or of a number.
    pub token_bytes: usize,
}

impl Limits {
    /// A depth of 1024 and tokens of 1 GiB.
    pub const DEFAULT: Limits = Limits { depth: 1024, token_bytes: 1 << 30 };
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}

/// The state between two chunks, and between two events.
#[derive(Clone, Debug)]
pub struct Lexer {
    limits: Limits,
    mode: Mode,
    kernel: Kernel,
    nest: Nest,
    expect: Expect,
    cut: Cut,
    carry: Vec<u8>,
    /// Offset of the next byte, over all chunks.
    offset: u64,
    /// Offset of the first byte of the last token.
    token: u64,
    /// White space was seen since the last top-level value.
    is_separated: bool,
    failed: Option<Error>,
}

/// An event and its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Located<'a> {
    /// The event.
    pub event: Event<'a>,
    /// Offset of its first byte, over all chunks.
    pub offset: u64,
    /// Containers open after it.
    pub depth: usize,
}

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
    /// The top-level value is complete.
    Done,
}

/// The token a chunk's end has interrupted; its bytes are in the carry buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    None,
    String { is_key: bool, has_escapes: bool, scanned: usize },
    Number(Part),
    Word(Word, usize),
}

/// The three words of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    True,
    False,
    Null,
}

impl Word {
    fn text(self) -> &'static [u8] {
        match self {
            Word::True => b"true",
            Word::False => b"false",
            Word::Null => b"null",
        }
    }

    fn event(self) -> Event<'static> {
        match self {
            Word::True => Event::Bool(true),
            Word::False => Event::Bool(false),
            Word::Null => Event::Null,
        }
    }
}

/// An event by position: what [`Event`] is once the bytes are at hand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Token {
    Plain(Event<'static>),
    String { is_key: bool, has_escapes: bool, span: Span },
    Number { span: Span, integer_bytes: u8 },
}

/// Where a token's bytes are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Span {
    Chunk(usize, usize),
    Carry(usize),
}

impl Lexer {
    /// A lexer at the beginning of an input, with the default limits and the chosen level.
    pub fn new(mode: Mode) -> Lexer {
        Lexer::with(mode, Limits::default(), Level::current())
    }

    /// A lexer with limits and instruction level of the caller's choice; a level that is not
    /// available here is replaced by the scalar one.
    pub fn with(mode: Mode, limits: Limits, level: Level) -> Lexer {
        Lexer {
            limits,
            mode,
            kernel: Kernel::of(level),
            nest: Nest::default(),
            expect: Expect::Value,
            cut: Cut::None,
            carry: Vec::new(),
            offset: 0,
            token: 0,
            is_separated: true,
            failed: None,
        }
    }

    /// Puts a lexer that has met no token's end since its last place between two tokens `bytes`
    /// further on: into these containers, outermost first, each an object or not.
    pub(crate) fn resume(
        &mut self,
        containers: impl Iterator<Item = bool>,
        expect: Expect,
        bytes: u64,
    ) {
        while self.nest.depth > 0 {
            self.nest.close();
        }
        containers.for_each(|is_object| self.nest.open(is_object));
        self.expect = expect;
        self.offset += bytes;
    }

    /// The next event that ends in `chunk[*at..]`, moving `at` behind it; `None` when the chunk is
    /// used up (`*at == chunk.len()`).
    ///
    /// # Errors
    /// What is wrong at which offset. The same error answers every later call.
    #[inline]
    pub fn next<'a>(
        &'a mut self,
        chunk: &'a [u8],
        at: &mut usize,
    ) -> Result<Option<Event<'a>>, Error> {
        Ok(self.advance(chunk, at)?.map(|token| self.event(token, chunk)))
    }

    /// [`Lexer::next`] with the event's place.
    ///
    /// # Errors
    /// As [`Lexer::next`].
    #[inline]
    pub fn next_located<'a>(
        &'a mut self,
        chunk: &'a [u8],
        at: &mut usize,
    ) -> Result<Option<Located<'a>>, Error> {
        let Some(token) = self.advance(chunk, at)? else { return Ok(None) };
        let event = self.event(token, chunk);
        Ok(Some(Located { event, offset: self.token, depth: self.nest.depth }))
    }

    /// Moves `at` over the white space, and in an array the comma, before the next token, and no
    /// further: to where [`Lexer::is_before_element`] can be asked.
    pub fn settle(&mut self, chunk: &[u8], at: &mut usize) {
        if self.failed.is_some() || self.cut != Cut::None {
            return;
        }
        let from = *at;
        *at = self.kernel.space(chunk, from);
        self.is_separated |= *at != from;
        let is_in_array = self.nest.depth > 0 && !self.nest.is_object();
        if self.expect == Expect::CommaOrEnd && is_in_array && chunk.get(*at) == Some(&b',') {
            self.expect = Expect::Value;
            *at = self.kernel.space(chunk, *at + 1);
        }
        self.offset = self.offset.wrapping_add((*at - from) as u64);
    }

    /// Says that no chunk follows. A number may be waiting for exactly that: call until `None`.
    ///
    /// # Errors
    /// [`Code::Truncated`] when the document is not complete, or the error met before.
    pub fn end(&mut self) -> Result<Option<Event<'_>>, Error> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if let Cut::Number(part) = self.cut
            && part.is_complete()
        {
            let token = self.carried_number();
            return Ok(Some(self.event(token, &[])));
        }
        let is_between = self.expect == Expect::Done
            || self.mode == Mode::Lines && self.expect == Expect::Value && self.nest.depth == 0;
        if is_between && self.cut == Cut::None {
            return Ok(None);
        }
        Err(self.fail(Code::Truncated, self.offset))
    }

    /// Offset of the first byte of the last event's token, over all chunks.
    pub fn token_offset(&self) -> u64 {
        self.token
    }

    /// Offset of the first byte not yet taken, over all chunks.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The level it runs at.
    pub fn level(&self) -> Level {
        self.kernel.level()
    }

    /// How many containers are open.
    pub fn depth(&self) -> usize {
        self.nest.depth
    }

    /// Whether the next thing expected is an element of the innermost array, its comma already
    /// taken: the state in which a consumer may read elements by itself, see [`Lexer::skip`].
    pub fn is_before_element(&self) -> bool {
        let is_inside = self.nest.depth > 0 && !self.nest.is_object();
        self.expect == Expect::Value && self.cut == Cut::None && is_inside
    }

    /// Whether the next thing expected is a top-level value, in [`Mode::Lines`].
    pub fn is_between_lines(&self) -> bool {
        let is_next = match self.expect {
            Expect::Value => self.nest.depth == 0,
            Expect::Done => self.is_separated,
            _ => false,
        };
        self.mode == Mode::Lines && self.cut == Cut::None && is_next
    }

    /// Takes note that the caller has read `bytes` bytes by itself: whole elements with their
    /// commas where [`Lexer::is_before_element`], whole lines with their ends where
    /// [`Lexer::is_between_lines`]. The state stays what it is.
    ///
    /// # Panics
    /// In any other state.
    pub fn skip(&mut self, bytes: usize) {
        assert!(self.is_before_element() || self.is_between_lines(), "skipping inside a value");
        self.offset += bytes as u64;
    }

    /// The event of a token of the chunk it was found in.
    #[inline]
    pub(crate) fn event<'a>(&'a self, token: Token, chunk: &'a [u8]) -> Event<'a> {
        let bytes = |span| match span {
            Span::Chunk(from, to) => &chunk[from..to],
            Span::Carry(to) => &self.carry[..to],
        };
        match token {
            Token::Plain(event) => event,
            Token::Number { span, integer_bytes } => {
                Event::Number(Number::new(bytes(span), integer_bytes))
            }
            Token::String { is_key, has_escapes, span } => {
                let text = Text::new(bytes(span), has_escapes);
                if is_key { Event::Key(text) } else { Event::String(text) }
            }
        }
    }

    /// [`Lexer::next`] by position.
    #[inline]
    pub(crate) fn advance(&mut self, chunk: &[u8], at: &mut usize) -> Result<Option<Token>, Error> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let base = self.offset.wrapping_sub(*at as u64);
        let mut here = *at; // in a register
        let result = match self.cut {
            Cut::None => self.token_of(chunk, &mut here, base),
            _ => self.resume_cut(chunk, &mut here, base),
        };
        *at = here;
        self.offset = base.wrapping_add(here as u64);
        result.map_err(|(code, offset)| self.fail(code, offset))
    }

    #[cold]
    fn resume_cut(&mut self, chunk: &[u8], at: &mut usize, base: u64) -> Found {
        match self.cut {
            Cut::None => self.token_of(chunk, at, base),
            Cut::String { .. } => self.resume_string(chunk, at, base),
            Cut::Number(part) => self.resume_number(part, chunk, at, base),
            Cut::Word(word, matched) => self.word(word, matched, chunk, at, base),
        }
    }

    #[cold]
    fn fail(&mut self, code: Code, offset: u64) -> Error {
        let error = Error { code, offset };
        self.failed = Some(error);
        error
    }

    /// The next token, none being interrupted.
    #[inline(always)]
    fn token_of(&mut self, chunk: &[u8], at: &mut usize, base: u64) -> Found {
        let mut expect = self.expect;
        loop {
            let from = *at;
            *at = self.kernel.space(chunk, from);
            if *at != from {
                self.is_separated = true;
            }
            let Some(&byte) = chunk.get(*at) else {
                self.expect = expect;
                return Ok(None);
            };
            self.token = base.wrapping_add(*at as u64);
            match expect {
                Expect::CommaOrEnd => match (byte, self.nest.is_object()) {
                    (b',', true) => expect = Expect::Key,
                    (b',', false) => expect = Expect::Value,
                    (b'}', true) | (b']', false) => break,
                    _ => return Err(self.unexpected(expect)),
                },
                Expect::Key | Expect::KeyOrEnd if byte == b'"' => {
                    return self.string(true, chunk, at, base);
                }
                Expect::Value => return self.value(expect, chunk, at, base),
                Expect::Colon if byte == b':' => expect = Expect::Value,
                Expect::KeyOrEnd if byte == b'}' => break,
                Expect::ValueOrEnd if byte == b']' => break,
                Expect::ValueOrEnd => return self.value(expect, chunk, at, base),
                Expect::Done if self.mode == Mode::Lines && self.is_separated => {
                    return self.value(expect, chunk, at, base);
                }
                _ => return Err(self.unexpected(expect)),
            }
            *at += 1;
        }
        let event = if self.nest.is_object() { Event::EndObject } else { Event::EndArray };
        *at += 1;
        self.nest.close();
        self.after_value();
        Ok(Some(Token::Plain(event)))
    }

    #[inline(always)]
    fn value(&mut self, expect: Expect, chunk: &[u8], at: &mut usize, base: u64) -> Found {
        let byte = chunk[*at];
        // In one test, since nobody can predict signs.
        if byte.is_ascii_digit() | (byte == b'-') {
            return self.number(chunk, at, base);
        }
        match byte {
            b'{' => self.open(true, at),
            b'[' => self.open(false, at),
            b'"' => self.string(false, chunk, at, base),
            b't' => self.word(Word::True, 0, chunk, at, base),
            b'f' => self.word(Word::False, 0, chunk, at, base),
            b'n' => self.word(Word::Null, 0, chunk, at, base),
            _ => Err(self.unexpected(expect)),
        }
    }

    #[inline]
    fn open(&mut self, is_object: bool, at: &mut usize) -> Found {
        if self.nest.depth == self.limits.depth {
            return Err((Code::TooDeep, self.token));
        }
        self.nest.open(is_object);
        *at += 1;
        self.expect = if is_object { Expect::KeyOrEnd } else { Expect::ValueOrEnd };
        Ok(Some(Token::Plain(if is_object { Event::StartObject } else { Event::StartArray })))
    }

    #[inline]
    fn after_value(&mut self) {
        self.is_separated = false;
        self.expect = if self.nest.depth == 0 { Expect::Done } else { Expect::CommaOrEnd };
    }

    #[inline]
    fn after_string(&mut self, is_key: bool) {
        if is_key {
            self.expect = Expect::Colon;
        } else {
            self.after_value();
        }
    }

    /// What the last byte seen is not.
    #[cold]
    fn unexpected(&self, expect: Expect) -> (Code, u64) {
        let code = match expect {
            Expect::Value => Code::ExpectedValue,
            Expect::ValueOrEnd => Code::ExpectedValueOrEnd,
            Expect::Key => Code::ExpectedKey,
            Expect::KeyOrEnd => Code::ExpectedKeyOrEnd,
            Expect::Colon => Code::ExpectedColon,
            Expect::CommaOrEnd if self.nest.is_object() => Code::ExpectedCommaOrBrace,
            Expect::CommaOrEnd => Code::ExpectedCommaOrBracket,
            Expect::Done if self.mode == Mode::Lines && self.is_separated => Code::ExpectedValue,
            Expect::Done => Code::TrailingText,
        };
        (code, self.token)
    }

    #[inline(always)]
    fn string(&mut self, is_key: bool, chunk: &[u8], at: &mut usize, base: u64) -> Found {
        let inside = *at + 1;
        if let Some(end) = kernel::short_text_end(chunk, inside)
            && end - inside <= self.limits.token_bytes
        {
            return Ok(Some(self.whole_string(is_key, false, inside, end, chunk, at)));
        }
        self.long_string(is_key, chunk, at, base)
    }

    #[inline(always)]
    fn whole_string(
        &mut self,
        is_key: bool,
        has_escapes: bool,
        inside: usize,
        end: usize,
        chunk: &[u8],
        at: &mut usize,
    ) -> Token {
        *at = end + 1;
        self.after_string(is_key);
        // Most colons follow at once.
        if is_key && chunk.get(*at) == Some(&b':') {
            *at += 1;
            self.expect = Expect::Value;
        }
        Token::String { is_key, has_escapes, span: Span::Chunk(inside, end) }
    }

    #[inline(never)]
    fn long_string(&mut self, is_key: bool, chunk: &[u8], at: &mut usize, base: u64) -> Found {
        let inside = *at + 1;
        let mut has_escapes = false;
        match string::scan(self.kernel, chunk, inside, &mut has_escapes) {
            Scan::End(end) if end - inside <= self.limits.token_bytes => {
                Ok(Some(self.whole_string(is_key, has_escapes, inside, end, chunk, at)))
            }
            Scan::More(scanned) if scanned - inside <= self.limits.token_bytes => {
                self.carry.clear();
                self.carry.extend_from_slice(&chunk[inside..]);
                *at = chunk.len();
                self.cut = Cut::String { is_key, has_escapes, scanned: scanned - inside };
                Ok(None)
            }
            Scan::Bad(bad, code) if bad - inside <= self.limits.token_bytes => {
                Err((code, base.wrapping_add(bad as u64)))
            }
            _ => Err(self.too_long(1)),
        }
    }

    /// Goes on with an interrupted string: up to each quote of the chunk, until one is the end.
    #[cold]
    fn resume_string(&mut self, chunk: &[u8], at: &mut usize, _base: u64) -> Found {
        let Cut::String { is_key, mut has_escapes, mut scanned } = self.cut else {
            unreachable!("only called for an interrupted string");
        };
        while *at < chunk.len() {
            let quote = memchr::memchr(b'"', &chunk[*at..]);
            let piece = quote.map_or(chunk.len(), |quote| *at + quote + 1);
            self.carry.extend_from_slice(&chunk[*at..piece]);
            *at = piece;
            match string::scan(self.kernel, &self.carry, scanned, &mut has_escapes) {
                Scan::End(end) if end <= self.limits.token_bytes => {
                    self.cut = Cut::None;
                    self.after_string(is_key);
                    let span = Span::Carry(end);
                    return Ok(Some(Token::String { is_key, has_escapes, span }));
                }
                Scan::More(more) if more <= self.limits.token_bytes => scanned = more,
                Scan::Bad(bad, code) if bad <= self.limits.token_bytes => {
                    return Err((code, self.token + 1 + bad as u64));
                }
                _ => return Err(self.too_long(1)),
            }
        }
        self.cut = Cut::String { is_key, has_escapes, scanned };
        Ok(None)
    }

    #[inline(always)]
    fn number(&mut self, chunk: &[u8], at: &mut usize, base: u64) -> Found {
        let from = *at;
        let limit = from.saturating_add(self.limits.token_bytes);
        if let Some(Plain { bytes, integer_bytes }) = self.kernel.number(chunk, from)
            && usize::from(bytes.get()) <= self.limits.token_bytes
        {
            *at = from + usize::from(bytes.get());
            self.after_value();
            let span = Span::Chunk(from, *at);
            return Ok(Some(Token::Number { span, integer_bytes }));
        }
        match number::find_end(chunk, from) {
            Ok(end) if end < chunk.len() && end <= limit => {
                *at = end;
                self.after_value();
                Ok(Some(Token::Number { span: Span::Chunk(from, end), integer_bytes: 0 }))
            }
            Err((bad, code)) if bad < chunk.len() && bad <= limit => {
                Err((code, base.wrapping_add(bad as u64)))
            }
            _ if chunk.len() > limit => Err(self.too_long(0)),
            _ => {
                let part = Part::after(&chunk[from..]).expect("the scanner found no fault");
                self.carry.clear();
                self.carry.extend_from_slice(&chunk[from..]);
                *at = chunk.len();
                self.cut = Cut::Number(part);
                Ok(None)
            }
        }
    }

    #[cold]
    fn resume_number(&mut self, mut part: Part, chunk: &[u8], at: &mut usize, base: u64) -> Found {
        while let Some(&byte) = chunk.get(*at) {
            match part.step(byte) {
                Step::Next(_) if self.carry.len() >= self.limits.token_bytes => {
                    return Err(self.too_long(0));
                }
                Step::Next(next) => part = next,
                Step::End => return Ok(Some(self.carried_number())),
                Step::Bad(code) => return Err((code, base.wrapping_add(*at as u64))),
            }
            self.carry.push(byte);
            *at += 1;
        }
        self.cut = Cut::Number(part);
        Ok(None)
    }

    fn carried_number(&mut self) -> Token {
        self.cut = Cut::None;
        self.after_value();
        Token::Number { span: Span::Carry(self.carry.len()), integer_bytes: 0 }
    }

    fn word(
        &mut self,
        word: Word,
        matched: usize,
        chunk: &[u8],
        at: &mut usize,
        base: u64,
    ) -> Found {
        for (i, &expected) in word.text().iter().enumerate().skip(matched) {
            match chunk.get(*at) {
                None => {
                    self.cut = Cut::Word(word, i);
                    return Ok(None);
                }
                Some(&byte) if byte == expected => *at += 1,
                Some(_) => return Err((Code::BadLiteral, base.wrapping_add(*at as u64))),
            }
        }
        self.cut = Cut::None;
        self.after_value();
        Ok(Some(Token::Plain(word.event())))
    }

    #[cold]
    fn too_long(&self, quote: u64) -> (Code, u64) {
        (Code::TokenTooLong, self.token + quote + self.limits.token_bytes as u64)
    }
}

/// A token, none in this chunk, or a code and an absolute offset.
type Found = Result<Option<Token>, (Code, u64)>;

/// The open containers, innermost last: a bit each, set for an object.
#[derive(Clone, Debug, Default)]
struct Nest {
    bits: Vec<u64>,
    depth: usize,
    /// The innermost one's bit; clear when none is open.
    is_object: bool,
}

impl Nest {
    #[inline]
    fn open(&mut self, is_object: bool) {
        let (word, bit) = (self.depth / 64, self.depth % 64);
        if word == self.bits.len() {
            self.bits.push(0);
        }
        self.bits[word] = self.bits[word] & !(1 << bit) | u64::from(is_object) << bit;
        self.depth += 1;
        self.is_object = is_object;
    }

    #[inline]
    fn close(&mut self) {
        self.depth -= 1;
        self.is_object = match self.depth.checked_sub(1) {
            Some(top) => self.bits[top / 64] >> (top % 64) & 1 == 1,
            None => false,
        };
    }

    /// Whether the innermost container is an object; false when none is open.
    #[inline]
    fn is_object(&self) -> bool {
        self.is_object
    }
}
