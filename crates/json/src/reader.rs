//! Pull: events from anything that can be read.
//!
//! Does not buffer beyond one window; a token across two windows goes through the lexer's carry.

use std::io::{ErrorKind, Read};

use crate::error::ReadError;
use crate::event::Event;
use crate::lexer::{Lexer, Mode};

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
