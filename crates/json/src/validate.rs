//! The verdict alone: whether a text is JSON, block by block where the level can, else token by token.
//!
//! Delivers no events and looks at no value. What is wrong and where, the lexer says: it is set up at
//! the last place from where on the text is not known to be right.

use std::io::{ErrorKind, Read};

use fathom_machine::level::Level;

use crate::error::{Error, ReadError};
use crate::kernel::{BEHIND_BYTES, BLOCK_BYTES, Blocks, Judge, SHORT_BYTES, State};
use crate::lexer::{Lexer, Limits, Mode};

/// Bytes asked of the source at a time: half of a small second-level cache.
const WINDOW_BYTES: usize = 128 << 10;

/// Whether `text` is one JSON document.
///
/// # Errors
/// The first fault and its offset.
pub fn validate(text: &[u8]) -> Result<(), Error> {
    validate_at(Level::current(), text)
}

/// [`validate`] at a level of the caller's choice.
///
/// # Errors
/// As [`validate`].
pub fn validate_at(level: Level, text: &[u8]) -> Result<(), Error> {
    let judge = Judge::of(level);
    let Some(blocks) = judge.blocks().filter(|_| text.len() > SHORT_BYTES) else {
        if judge.accepts(text) {
            return Ok(());
        }
        return explain(Lexer::with(Mode::Document, Limits::default(), level), text);
    };
    let mut validator = Validator::new(level, blocks, Limits::DEFAULT.token_bytes);
    if validator.read(text).is_some() && validator.is_complete(text) {
        return Ok(());
    }
    explain(validator.lexer, &text[validator.known..])
}

/// The level at which texts longer than a few blocks are validated, if `level` is asked for.
pub fn validating_level(level: Level) -> Level {
    Judge::of(level).level()
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
    validate_read_at(Level::current(), source, WINDOW_BYTES)
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
    let Some(blocks) = Judge::of(level).blocks() else {
        let lexer = Lexer::with(Mode::Document, Limits::default(), level);
        return explain_read(lexer, &mut vec![0; window_bytes.max(1)], 0, source);
    };
    let mut validator = Validator::new(level, blocks, Limits::DEFAULT.token_bytes);
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
    blocks: Blocks,
    state: State,
    /// All before it is right, as far as the blocks read tell.
    at: usize,
    /// Where `lexer` would go on, between two tokens.
    known: usize,
    lexer: Lexer,
}

impl Validator {
    fn new(level: Level, blocks: Blocks, token_bytes: usize) -> Validator {
        let limits = Limits { token_bytes, ..Limits::DEFAULT };
        let lexer = Lexer::with(Mode::Document, limits, level);
        Validator { blocks, state: State::new(token_bytes), at: 0, known: 0, lexer }
    }

    /// Reads what blocks there are from `at` on.
    fn read(&mut self, text: &[u8]) -> Option<()> {
        loop {
            let at = self.blocks.read(&mut self.state, text, self.at)?;
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
        self.blocks.read(&mut self.state, &last, 0).is_some() && self.state.is_complete()
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

    fn plain(text: &[u8], limits: Limits) -> Result<(), Error> {
        let mut machine = Machine::new(Mode::Document, limits);
        machine.feed(text, &mut |_| {})?;
        machine.finish(&mut |_| {})
    }

    /// What the grammar by bits says, and the lexer where it says no; the text arrives in pieces of
    /// growing length. The second is whether the lexer was asked.
    fn by_bits(
        blocks: Blocks,
        text: &[u8],
        limits: Limits,
        piece: usize,
    ) -> (Result<(), Error>, bool) {
        let mut validator = Validator::new(blocks.level, blocks, limits.token_bytes);
        let mut ends = (piece..text.len()).step_by(piece).chain([text.len()]);
        let is_right = ends.all(|end| validator.read(&text[..end]).is_some());
        if is_right && validator.is_complete(text) {
            return (Ok(()), false);
        }
        (explain(validator.lexer, &text[validator.known..]), true)
    }

    /// Limits are the default ones for users; here a small one, since a gigabyte is long.
    #[test]
    fn a_token_that_is_too_long_is_left_to_the_lexer() {
        const LIMIT: usize = 50_000;
        let limits = Limits { token_bytes: LIMIT, ..Limits::DEFAULT };
        let tokens = [("[\"", 'x', "\"]"), ("{\"", 'é', "\":1}"), ("", '7', "")];
        for size in [1, 9_000, 17_000, 30_000, 50_000, 50_001, 80_000] {
            for (open, byte, close) in tokens {
                for indent in [0, 1, 63] {
                    let inside: String = std::iter::repeat_n(byte, size).collect();
                    let text = format!("{}{open}{inside}{close}", " ".repeat(indent));
                    let expected = plain(text.as_bytes(), limits);
                    let codes = expected.map_err(|error| error.code);
                    let is_long = inside.len() > LIMIT;
                    assert_eq!(codes, if is_long { Err(Code::TokenTooLong) } else { Ok(()) });
                    for kernel in Level::available().map(Blocks::of) {
                        let (said, _) = by_bits(kernel, text.as_bytes(), limits, usize::MAX);
                        assert_eq!(said, expected, "{} {size} {open} {indent}", kernel.level);
                    }
                }
            }
        }
    }

    /// A few thousand bytes with every kind of token at changing places in their blocks.
    fn document(mut seed: u64) -> String {
        let mut random = |below: usize| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        let scalars = [
            "0", "-0", "7", "-12", "1.5", "-0.25", "123456789012345678901234567890", "1e5", "2E-7",
            "-3.25e+10", "0e0", "10", "true", "false", "null", "\"\"", "\"a\"", "\"\\\"\"",
            "\"\\u00e9\\n\\\\\"", "\"h\u{e9}llo \u{1f600} \u{65e5}\u{672c}\"", "[]", "{}", "[[]]",
            "{\"\":{}}", "[{}]",
        ];
        let spaces = ["", "", "", " ", "\n", "\r\n\t", "        ", "\n                    "];
        let mut text = String::new();
        let mut open = Vec::new();
        while text.len() < 3000 || !open.is_empty() {
            text += spaces[random(spaces.len())];
            let is_first = text.trim_end().ends_with(['[', '{']) || open.is_empty();
            if open.len() > 1 && random(4) == 0 || !open.is_empty() && text.len() > 3000 {
                text.push(open.pop().unwrap());
                if open.is_empty() {
                    break;
                }
                continue;
            }
            if !is_first {
                text.push(',');
                text += spaces[random(spaces.len())];
            }
            if open.last() == Some(&'}') {
                text += [
                    "\"k\"",
                    "\"\"",
                    "\"a longer key, longer than a block of sixty-four bytes is, by far\"",
                ][random(3)];
                text += spaces[random(spaces.len())];
                text.push(':');
                text += spaces[random(spaces.len())];
            }
            match random(3) {
                0 if open.len() < 40 => {
                    text.push('[');
                    open.push(']');
                }
                1 if open.len() < 40 => {
                    text.push('{');
                    open.push('}');
                }
                _ if open.is_empty() => {
                    text.push('[');
                    open.push(']');
                }
                _ => text += scalars[random(scalars.len())],
            }
        }
        text + "\n"
    }

    /// What a row of masks must know of the one before, and a read of the read before.
    #[test]
    fn neighbours_are_judged_alike_wherever_a_block_ends() {
        let right =
            ["true", "false", "null", "-0.5e-7", "10.25E+3", r#""\u00e9""#, r#"{"a":[1,{}]}"#];
        let wrong = [
            "true1", "false-", "nulle", "true.", "nulltrue", "1true", "tru", "01", "-", "--1",
            "-01", "1.", ".5", "1.x", "1..2", "1.2.3", "1e", "1e+", "1e+-2", "1e5e", "1e5.2",
            "1-2", "+1", "1 2", r#""a""b""#, r#""a"1"#, r#"1"a""#, "1,,2", "[1,]", "[,1]", "1]",
            "}", r#"{"a":1,}"#, r#"{"a" 1}"#, r#"{"a":}"#, "{1:1}", r#"{"a"}"#, r#""a":1"#,
            r#"{"a":1:2}"#, r#"{"a":1 "b":2}"#, "[}", "{]", r#""\x""#, r#""\u12g4""#,
        ];
        for (tokens, is_right) in [(&right[..], true), (&wrong[..], false)] {
            for (token, before) in tokens.iter().flat_map(|token| (0..70).map(move |n| (token, n)))
            {
                let text = format!("[\"{}\",{token}]{}", "x".repeat(before), " ".repeat(160));
                let expected = plain(text.as_bytes(), Limits::DEFAULT);
                assert_eq!(expected.is_ok(), is_right, "{text}");
                for kernel in Level::available().map(Blocks::of) {
                    let said = by_bits(kernel, text.as_bytes(), Limits::DEFAULT, BLOCK_BYTES);
                    assert_eq!(said, (expected, !is_right), "{} {before}: {token}", kernel.level);
                }
            }
        }
    }

    /// Blocks in a long string's middle are not asked, but what they begin with may be escaped.
    #[test]
    fn a_long_string_ends_at_its_quote_wherever_an_escape_stands() {
        for (before, behind) in (500..564).flat_map(|n| (0..130).map(move |m| (n, m))) {
            let inside = format!("{}\\n{}", "x".repeat(before), "x".repeat(behind));
            let text = format!("[\"{inside}\"]{}", " ".repeat(160));
            for kernel in Level::available().map(Blocks::of) {
                let said = by_bits(kernel, text.as_bytes(), Limits::DEFAULT, usize::MAX);
                assert_eq!(said, (Ok(()), false), "{} {before} {behind}", kernel.level);
            }
        }
    }

    #[test]
    fn documents_of_many_blocks_need_no_lexer_and_edited_ones_get_its_answer() {
        let limits = Limits::DEFAULT;
        for seed in 0..12 {
            let text = document(seed).into_bytes();
            assert_eq!(plain(&text, limits), Ok(()), "{}", text.escape_ascii());
            for kernel in Level::available().map(Blocks::of) {
                for piece in [100, 1000, usize::MAX] {
                    let said = by_bits(kernel, &text, limits, piece);
                    assert_eq!(said, (Ok(()), false), "{} seed {seed}", kernel.level);
                }
            }
            for (n, &byte) in
                b"\"\\{}[],:0-.eE tn\n\x00\x1f\x80\xff+1".iter().cycle().enumerate().take(600)
            {
                let at = (n * 2_654_435_761 + seed as usize) % text.len();
                let mut text = text.clone();
                match n % 3 {
                    0 => text.insert(at, byte),
                    1 => text[at] = byte,
                    _ => drop(text.remove(at)),
                }
                let expected = plain(&text, limits);
                for kernel in Level::available().map(Blocks::of) {
                    let (said, _) = by_bits(kernel, &text, limits, 72 + n % 200);
                    assert_eq!(said, expected, "{} {}", kernel.level, text.escape_ascii());
                }
            }
        }
    }

    #[test]
    fn short_texts_of_every_length_get_the_machines_verdict() {
        let limits = Limits::DEFAULT;
        let texts = (0..SHORT_BYTES + 2).flat_map(|bytes| {
            let fill = |open: &str, inside: char, close: &str| {
                let used = open.len() + close.len();
                let inside: String = std::iter::repeat_n(inside, bytes.max(used) - used).collect();
                format!("{open}{inside}{close}").into_bytes()
            };
            let mut cut = document(bytes as u64).into_bytes();
            cut.truncate(bytes);
            [
                fill("", ' ', "0"),
                fill("0", ' ', ""),
                fill("[1,\"", 'x', "\"]"),
                fill("{\"a\":", '7', "}"),
                fill("[", '1', ",true]"),
                fill("", '[', "]"),
                fill("[\"", 'x', "\\\"]"),
                fill("[\"\u{e9}", 'x', "\u{e9}\"]"),
                cut,
            ]
        });
        for text in texts {
            let expected = plain(&text, limits);
            for level in Level::available() {
                assert_eq!(validate_at(level, &text), expected, "{level} {}", text.escape_ascii());
            }
            for blocks in Level::available().map(Blocks::of) {
                if text.len() <= SHORT_BYTES {
                    let said = blocks.accepts_short(&text);
                    assert_eq!(said, expected.is_ok(), "{} {}", blocks.level, text.escape_ascii());
                }
            }
        }
    }
}
