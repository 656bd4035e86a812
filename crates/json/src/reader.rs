//! Pull: events from anything that can be read, and validation alone.
//!
//! Does not buffer beyond one window; a token across two windows goes through the lexer's carry.

use std::io::{ErrorKind, Read};

use fathom_machine::level::Level;

use crate::error::{Error, ReadError};
use crate::event::Event;
use crate::kernel::Kernel;
use crate::lexer::{Lexer, Limits, Mode};

/// Bytes asked of the source at a time: half of a small second-level cache.
const WINDOW_BYTES: usize = 128 << 10;

/// Events out of a byte source, one call each.
#[derive(Debug)]
pub struct Reader<R> {
    source: R,
    lexer: Lexer,
    window: Vec<u8>,
    /// The part of the window not yet read is `at..end`.
    at: usize,
    end: usize,
    is_ended: bool,
}

impl<R: Read> Reader<R> {
    /// A reader of one document with the default limits.
    pub fn new(source: R) -> Self {
        Reader::with(source, Lexer::new(Mode::Document), WINDOW_BYTES)
    }

    /// A reader with a lexer and a window size (bytes, at least 1) of the caller's choice.
    pub fn with(source: R, lexer: Lexer, window_bytes: usize) -> Self {
        let window = vec![0; window_bytes.max(1)];
        Reader { source, lexer, window, at: 0, end: 0, is_ended: false }
    }

    /// The next event, or `None` at the end of a complete document.
    ///
    /// # Errors
    /// What the source answers, or what is wrong with the text.
    #[inline]
    #[allow(clippy::should_implement_trait)] // the events borrow from the reader
    pub fn next(&mut self) -> Result<Option<Event<'_>>, ReadError> {
        let token = loop {
            if self.is_ended {
                return Ok(self.lexer.end()?);
            }
            if let Some(token) = self.lexer.advance(&self.window[..self.end], &mut self.at)? {
                break token;
            }
            self.refill()?;
        };
        Ok(Some(self.lexer.event(token, &self.window[..self.end])))
    }

    /// The offset of the last event's first byte.
    pub fn token_offset(&self) -> u64 {
        self.lexer.token_offset()
    }

    #[cold]
    fn refill(&mut self) -> Result<(), ReadError> {
        self.at = 0;
        self.end = loop {
            match self.source.read(&mut self.window) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.is_ended = self.end == 0;
        Ok(())
    }
}

/// Whether `text` is one JSON document.
///
/// # Errors
/// The first fault and its offset.
pub fn validate(text: &[u8]) -> Result<(), Error> {
    validate_at(Level::chosen().unwrap_or(Level::Scalar), text)
}

/// [`validate`] at a level of the caller's choice.
///
/// # Errors
/// As [`validate`].
pub fn validate_at(level: Level, text: &[u8]) -> Result<(), Error> {
    if Kernel::new(level).is_some_and(|kernel| kernel.accepts(text)) {
        return Ok(());
    }
    let mut lexer = Lexer::with(Mode::Document, Limits::default(), level);
    let mut at = 0;
    while lexer.advance(text, &mut at)?.is_some() {}
    while lexer.end()?.is_some() {}
    Ok(())
}

/// Whether what `source` holds is one JSON document.
///
/// # Errors
/// What the source answers, or the first fault and its offset.
pub fn validate_read(source: impl Read) -> Result<(), ReadError> {
    let mut reader = Reader::new(source);
    while reader.next()?.is_some() {}
    Ok(())
}
