//! Reading a document block by block: the strict lexer where it must, the template where it may.
//!
//! A session is the state between two blocks. Between two elements it looks whether the next ones
//! look like the last; those it reads by [`Template`] and tells the lexer to skip. Whatever looks
//! different, is cut by a block's end, or is wrong goes through the lexer, which alone says what
//! is valid. Does not read files and does not compute distances.

use fathom_json::{Lexer, Limits, Located, Mode};
use fathom_machine::level::Level;

use crate::block::Block;
use crate::error::Error;
use crate::formula::Pair;
use crate::kernel;
use crate::pairs::{Collector, Layout, OnError};
use crate::template::Template;
use crate::zone::zone;

/// Reading, somewhere in a document.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    level: Level,
    lexer: Lexer,
    collector: Collector,
    template: Option<Template>,
}

/// A state between two elements that may be returned to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Index into the block.
    pub(crate) at: usize,
    /// Pairs read before it, of those in the session's output.
    pub(crate) pairs: usize,
    /// Elements read before it, skipped ones included.
    pub(crate) elements: u64,
    pub(crate) skipped: u64,
}

impl Session {
    /// At the beginning of an input.
    pub(crate) fn new(on_error: OnError, level: Level) -> Session {
        Session {
            level,
            lexer: Lexer::with(Mode::Lines, Limits::default(), level),
            collector: Collector::new(on_error),
            template: None,
        }
    }

    /// Between two elements of an input with this layout. Offsets count from somewhere.
    pub(crate) fn inside(layout: Layout, on_error: OnError, level: Level) -> Session {
        let mut session = Session::new(on_error, level);
        session.restart(layout);
        session
    }

    /// Back to the state between two elements, whatever happened; the template stays.
    pub(crate) fn restart(&mut self, layout: Layout) {
        self.lexer = Lexer::with(Mode::Lines, Limits::default(), self.level);
        let before: &[u8] = match layout {
            Layout::Member => b"{\"pairs\":[0,",
            Layout::Array => b"[0,",
            Layout::Lines => b"0 ",
        };
        let mut at = 0;
        while self.lexer.next(before, &mut at).expect("a valid beginning").is_some() {}
        self.collector = Collector::inside(layout, self.collector.on_error());
    }

    /// Elements read, skipped ones included, and skipped ones.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.collector.elements, self.collector.skipped)
    }

    /// Reads the block from `at` to its end, adding to `pairs`.
    ///
    /// `mark` is moved to each place between two elements; after an error it says how far all was
    /// well.
    pub(crate) fn read(
        &mut self,
        block: &Block,
        mut at: usize,
        pairs: &mut Vec<Pair>,
        mark: &mut Mark,
    ) -> Result<(), Error> {
        let mut zone = zone!("parse");
        let bytes = block.bytes();
        zone.bytes((bytes.len() - at) as u64);
        loop {
            if self.settle(bytes, &mut at).is_some() {
                self.read_alike(block, &mut at, pairs);
                *mark = self.mark(at, pairs.len());
            }
            if !self.step(bytes, &mut at, pairs)? {
                return Ok(());
            }
        }
    }

    /// Reads the block from its beginning until the session stands between two elements at `stop`
    /// or beyond, or the block ends; returns where it stands then.
    pub(crate) fn read_until(
        &mut self,
        block: &Block,
        stop: usize,
        pairs: &mut Vec<Pair>,
    ) -> Result<(usize, Option<Layout>), Error> {
        let mut at = 0;
        loop {
            let layout = self.settle(block.bytes(), &mut at);
            if layout.is_some() && at >= stop {
                return Ok((at, layout));
            }
            if !self.step(block.bytes(), &mut at, pairs)? {
                return Ok((at, None));
            }
        }
    }

    /// Takes over what another session has read from here on, `mark.at` less `from` bytes.
    pub(crate) fn skip(&mut self, from: usize, mark: &Mark) {
        self.lexer.skip(mark.at - from);
        self.collector.elements += mark.elements;
        self.collector.skipped += mark.skipped;
    }

    /// Says that the input has ended.
    pub(crate) fn end(&mut self, pairs: &mut Vec<Pair>) -> Result<(), Error> {
        let (offset, depth) = (self.lexer.token_offset(), self.lexer.depth());
        while let Some(event) = self.lexer.end()? {
            self.collector.take(event, offset, depth, pairs)?;
        }
        self.collector.end()
    }

    fn mark(&self, at: usize, pairs: usize) -> Mark {
        let (elements, skipped) = self.counts();
        Mark { at, pairs, elements, skipped }
    }

    /// One event; false when the block is used up.
    fn step(&mut self, bytes: &[u8], at: &mut usize, pairs: &mut Vec<Pair>) -> Result<bool, Error> {
        loop {
            let Some(Located { event, offset, depth }) = self.lexer.next_located(bytes, at)? else {
                return Ok(false);
            };
            self.collector.take(event, offset, depth, pairs)?;
            // Only an event that ends something can lead to a place between two elements.
            if self.collector.layout_between().is_some() {
                return Ok(true);
            }
        }
    }

    /// If the session stands between two elements, moves to the next one's first byte.
    fn settle(&mut self, bytes: &[u8], at: &mut usize) -> Option<Layout> {
        let layout = self.collector.layout_between()?;
        self.lexer.settle(bytes, at);
        let is_between = match layout {
            Layout::Lines => self.lexer.is_between_lines(),
            _ => self.lexer.is_before_element() && self.lexer.depth() == layout.depth(),
        };
        is_between.then_some(layout)
    }

    /// Reads elements that look like the last one, as many as there are.
    fn read_alike(&mut self, block: &Block, at: &mut usize, pairs: &mut Vec<Pair>) {
        let bytes = block.bytes();
        let is_known = self.template.as_ref().is_some_and(|t| t.begins_at(bytes, *at));
        if !is_known {
            self.learn(bytes, *at);
        }
        let Some(template) = self.template.as_ref().filter(|t| t.begins_at(bytes, *at)) else {
            return;
        };
        let before = pairs.len();
        let mut number = *at + template.prefix_bytes();
        loop {
            number = kernel::read_pairs(self.level, block, number, template, pairs);
            let Some((pair, next)) = template.step(bytes, number) else { break };
            pairs.push(pair);
            number = next;
        }
        let end = number - template.prefix_bytes();
        self.collector.elements += (pairs.len() - before) as u64;
        self.lexer.skip(end - *at);
        // An element that begins alike and goes on otherwise: the next one may tell how.
        if end == *at {
            self.learn(bytes, *at);
        }
        *at = end;
    }

    /// Learns the template from the last element, followed by the one at `next`.
    fn learn(&mut self, bytes: &[u8], next: usize) {
        let Some((start, places)) = self.collector.last_pair() else { return };
        let base = self.lexer.offset().wrapping_sub(next as u64);
        let Some(start) = start.checked_sub(base) else { return };
        let learned = Template::learn(bytes, start as usize, places, base, next);
        if learned.is_some() {
            self.template = learned;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn block(text: &[u8]) -> Block {
        let mut block = Block::new(text.len().max(1));
        let mut rest = text;
        block.fill(|room, _| rest.read(room)).unwrap();
        block
    }

    #[test]
    fn elements_alike_are_read_by_template_and_others_by_the_lexer() {
        let alike = r#"{"x0":1.5, "y0":2,"x1":-3e0 ,"y1":4.25}"#;
        let other = r#"{"y1":8, "z":[{"x0":9}], "x\u0030":5,"y0":6,"x1":7}"#;
        let items = [alike, alike, alike, other, alike, other, other, alike, alike];
        for text in [
            format!("{{\"a\":[1],\"pairs\":[\n{}\n]}}", items.join(",\n")),
            format!("[{}]", items.join(" , ")),
            items.join("\n"),
        ] {
            for level in Level::available() {
                let mut pairs = Vec::new();
                let mut session = Session::new(OnError::Stop, level);
                session.read(&block(text.as_bytes()), 0, &mut pairs, &mut Mark::default()).unwrap();
                session.end(&mut pairs).unwrap();
                let expected = items.map(|item| match item == alike {
                    true => Pair::new([1.5, 2.0, -3.0, 4.25]),
                    false => Pair::new([5.0, 6.0, 7.0, 8.0]),
                });
                assert_eq!(pairs, expected, "{level} {text}");
                assert_eq!(session.counts(), (9, 0));
            }
        }
    }

    #[test]
    fn a_session_inside_reads_to_the_end_of_its_block_and_marks_whole_elements() {
        let text = br#"{"x0":1,"y0":2,"x1":3,"y1":4},{"x0":5,"y0":6,"x1":7,"y1":8},{"x0":9"#;
        let mut pairs = Vec::new();
        let mut mark = Mark::default();
        let mut session = Session::inside(Layout::Member, OnError::Stop, Level::Scalar);
        session.read(&block(text), 0, &mut pairs, &mut mark).unwrap();
        assert_eq!((mark.at, mark.pairs, mark.elements), (60, 2, 2));
    }
}
