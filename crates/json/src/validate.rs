//! The verdict alone: whether a text is JSON, block by block where the level can, else token by token.
//!
//! Delivers no events and looks at no value. What is wrong and where, the lexer says: it is set up at
//! the last place from where on the text is not known to be right.

use std::io::{ErrorKind, Read};

use fathom_machine::level::Level;

use crate::error::{Error, ReadError};
use crate::kernel::{BEHIND_BYTES, BLOCK_BYTES, Kernel, ReadBlocks, State};
use crate::lexer::{Lexer, Limits, Mode};

/// Bytes asked of the source at a time: half of a small second-level cache.
const WINDOW_BYTES: usize = 128 << 10;

/// Bytes between places the lexer may be set up at.
const STRIDE_BYTES: usize = 64 * BLOCK_BYTES;

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
    let kernel = Kernel::of(level);
    let Some(read_blocks) = kernel.read_blocks() else {
        if kernel.accepts(text) {
            return Ok(());
        }
        return explain(Lexer::with(Mode::Document, Limits::default(), level), text);
    };
    let mut validator = Validator::new(level, read_blocks, Limits::DEFAULT.token_bytes);
    if validator.read(text).is_some() && validator.is_complete(text) {
        return Ok(());
    }
    explain(validator.lexer, &text[validator.known..])
}

/// What the lexer says of the rest of a text.
#[cold]
fn explain(mut lexer: Lexer, rest: &[u8]) -> Result<(), Error> {
    let mut at = 0;
    while lexer.advance(rest, &mut at)?.is_some() {}
    while lexer.end()?.is_some() {}
    Ok(())
}

/// Whether what `source` holds is one JSON document.
///
/// # Errors
/// What the source answers, or the first fault and its offset.
pub fn validate_read(source: impl Read) -> Result<(), ReadError> {
    validate_read_at(Level::chosen().unwrap_or(Level::Scalar), source, WINDOW_BYTES)
}

/// [`validate_read`] at a level and with a window (bytes, at least 1) of the caller's choice.
///
/// # Errors
/// As [`validate_read`].
pub fn validate_read_at(
    level: Level,
    mut source: impl Read,
    window_bytes: usize,
) -> Result<(), ReadError> {
    let Some(read_blocks) = Kernel::of(level).read_blocks() else {
        let lexer = Lexer::with(Mode::Document, Limits::default(), level);
        return explain_read(lexer, &mut vec![0; window_bytes.max(1)], 0, source);
    };
    let mut validator = Validator::new(level, read_blocks, Limits::DEFAULT.token_bytes);
    let mut window = vec![0; window_bytes.max(2 * BLOCK_BYTES)];
    let mut end = 0;
    loop {
        if end == window.len() {
            // What the lexer may need again goes to the front.
            let known = validator.forget();
            window.copy_within(known..end, 0);
            end -= known;
            if end > window.len() / 2 {
                window.resize(2 * window.len(), 0);
            }
        }
        let read = read_some(&mut source, &mut window[end..])?;
        end += read;
        let text = &window[..end];
        let is_right =
            if read == 0 { validator.is_complete(text) } else { validator.read(text).is_some() };
        match (is_right, read) {
            (true, 0) => return Ok(()),
            (true, _) => {}
            (false, _) => {
                window.copy_within(validator.known..end, 0);
                let rest = end - validator.known;
                return explain_read(validator.lexer, &mut window, rest, source);
            }
        }
    }
}

/// What the lexer says of `rest` bytes in the window and of all that the source still has.
#[cold]
fn explain_read(
    mut lexer: Lexer,
    window: &mut [u8],
    rest: usize,
    mut source: impl Read,
) -> Result<(), ReadError> {
    let mut end = rest;
    loop {
        let mut at = 0;
        while lexer.advance(&window[..end], &mut at)?.is_some() {}
        end = read_some(&mut source, window)?;
        if end == 0 {
            while lexer.end()?.is_some() {}
            return Ok(());
        }
    }
}

fn read_some(source: &mut impl Read, window: &mut [u8]) -> Result<usize, ReadError> {
    loop {
        match source.read(window) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return Ok(read?),
        }
    }
}

/// The grammar by bits over a text that grows, and a lexer that could take over.
struct Validator {
    read_blocks: ReadBlocks,
    state: State,
    /// All before it is right, as far as the blocks read tell.
    at: usize,
    /// Where `lexer` would go on, between two tokens.
    known: usize,
    lexer: Lexer,
}

impl Validator {
    fn new(level: Level, read_blocks: ReadBlocks, token_bytes: usize) -> Validator {
        let limits = Limits { token_bytes, ..Limits::DEFAULT };
        let lexer = Lexer::with(Mode::Document, limits, level);
        Validator { read_blocks, state: State::new(token_bytes), at: 0, known: 0, lexer }
    }

    /// Reads what blocks there are from `at` on.
    fn read(&mut self, text: &[u8]) -> Option<()> {
        loop {
            let end = text.len().min(self.at + STRIDE_BYTES + BEHIND_BYTES);
            let at = (self.read_blocks)(&mut self.state, &text[..end], self.at)?;
            if at == self.at {
                return Some(());
            }
            self.at = at;
            if let Some(expect) = self.state.expect() {
                self.lexer.resume(self.state.containers(), expect, (at - self.known) as u64);
                self.known = at;
            }
        }
    }

    /// Whether the document ends with `text`.
    fn is_complete(&mut self, text: &[u8]) -> bool {
        let rest = &text[self.at..]; // less than a block and what must stand behind it
        let mut last = [b' '; 2 * BLOCK_BYTES + BEHIND_BYTES];
        last[..rest.len()].copy_from_slice(rest);
        (self.read_blocks)(&mut self.state, &last, 0).is_some() && self.state.is_complete()
    }

    /// Counts from `known` on from now on; where that was.
    fn forget(&mut self) -> usize {
        self.at -= self.known;
        std::mem::take(&mut self.known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;
    use crate::reference::Machine;

    /// Limits are the default ones for users; here a small one, since a gigabyte is long.
    #[test]
    fn a_token_that_is_too_long_is_left_to_the_lexer() {
        const LIMIT: usize = 1000;
        let limits = Limits { token_bytes: LIMIT, ..Limits::DEFAULT };
        for level in Level::available() {
            let Some(read_blocks) = Kernel::of(level).read_blocks() else { continue };
            for size in [0, 700, 999, 1000, 1001, 2000] {
                for (open, byte, close) in
                    [("[\"", 'x', "\"]"), ("{\"", 'é', "\":1}"), ("", '7', "")]
                {
                    for indent in [0, 1, 63] {
                        let inside: String = std::iter::repeat_n(byte, size + 1).collect();
                        let text = format!("{}{open}{inside}{close}", " ".repeat(indent));
                        let text = text.as_bytes();
                        let mut machine = Machine::new(Mode::Document, limits);
                        let fed = machine.feed(text, &mut |_| {});
                        let expected = fed.and_then(|()| machine.finish(&mut |_| {}));
                        let mut validator = Validator::new(level, read_blocks, LIMIT);
                        let is_right =
                            validator.read(text).is_some() && validator.is_complete(text);
                        if is_right {
                            assert_eq!(expected, Ok(()), "{level} {size} {open} {indent}");
                        } else {
                            let said = explain(validator.lexer, &text[validator.known..]);
                            assert_eq!(said, expected, "{level} {size} {open} {indent}");
                        }
                        let is_long = inside.len() > LIMIT;
                        let codes = expected.map_err(|error| error.code);
                        assert_eq!(codes, if is_long { Err(Code::TokenTooLong) } else { Ok(()) });
                    }
                }
            }
        }
    }
}
