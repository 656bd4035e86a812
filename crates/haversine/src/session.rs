//! Reading a document block by block: the strict lexer where it must, the template where it may.
//!
//! A session is the state between two blocks. Between two elements it looks whether the next ones
//! look like the last; those it reads by [`Template`] and tells the lexer to skip. Whatever looks
//! different, is cut by a block's end, or is wrong goes through the lexer, which alone says what
//! is valid. Does not read files and does not compute distances.

use fathom_json::{Lexer, Limits, Located, Mode};
use fathom_machine::level::Level;

use crate::alike::{self, Cursors};
use crate::block::Block;
use crate::error::Error;
use crate::formula::Pair;
use crate::pairs::{Collector, Layout, OnError};
use crate::template::Template;
use crate::zone::zone;

/// Reading, somewhere in a document.
#[derive(Debug)]
pub(crate) struct Session {
    level: Level,
    lexer: Lexer,
    collector: Collector,
    template: Option<Template>,
    cursors: Cursors,
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
            cursors: Cursors::default(),
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
        self.collector.forget_last();
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
        let start = *at + template.prefix_bytes();
        let number = alike::read(self.level, block, template, start, &mut self.cursors, pairs);
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
        // Of an element that began in an earlier block this is beyond the bytes.
        let Ok(start) = usize::try_from(start.wrapping_sub(base)) else { return };
        let learned = Template::learn(bytes, start, places, base, next);
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

    fn read(text: &[u8], level: Level) -> (Session, Result<(), Error>, Vec<Pair>) {
        let (mut session, mut pairs) = (Session::new(OnError::Stop, level), Vec::new());
        let read = session.read(&block(text), 0, &mut pairs, &mut Mark::default());
        (session, read, pairs)
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
                let (mut session, read, mut pairs) = read(text.as_bytes(), level);
                read.unwrap();
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

    #[test]
    fn a_session_inside_learns_a_template_wherever_in_its_block_it_begins() {
        let element = r#"{"x0":1,"y0":2,"x1":3,"y1":4}"#;
        for (layout, between) in [(Layout::Member, ", "), (Layout::Lines, "\n")] {
            for from in [0, 1, 2, 3, 11, 12, 13, 14, 500] {
                let text = format!("{}{}", " ".repeat(from), [element; 3].join(between));
                let mut session = Session::inside(layout, OnError::Stop, Level::Scalar);
                let mut pairs = Vec::new();
                session
                    .read(&block(text.as_bytes()), from, &mut pairs, &mut Mark::default())
                    .unwrap();
                assert!(session.template.is_some(), "{layout:?} from {from}");
            }
        }
    }

    #[test]
    fn what_another_session_has_read_separates_the_elements_around_it() {
        let element = r#"{"x0":1,"y0":2,"x1":3,"y1":4}"#;
        let text = format!("[{element},{{}},{element},{{}},{element}]");
        let (block, read_elsewhere) = (block(text.as_bytes()), 2 + element.len());
        let mut session = Session::new(OnError::Skip, Level::Scalar);
        let mut pairs = Vec::new();
        let (at, layout) = session.read_until(&block, read_elsewhere, &mut pairs).unwrap();
        assert_eq!((at, layout), (read_elsewhere, Some(Layout::Array)));
        let mark = Mark { at: at + "{},".len(), pairs: 0, elements: 1, skipped: 1 };
        session.skip(at, &mark);
        session.read(&block, mark.at, &mut pairs, &mut Mark::default()).unwrap();
        assert_eq!((pairs.len(), session.counts()), (3, (5, 2)));
    }

    /// Reads texts of numbers, four to an element, as one array and compares every bit with the standard
    /// library's parser.
    fn check_numbers(texts: &[String]) {
        let (fours, _) = texts.as_chunks::<4>();
        let elements: Vec<String> = fours
            .iter()
            .map(|[a, b, c, d]| format!("{{\"x0\":{a}, \"y0\":{b}, \"x1\":{c}, \"y1\":{d}}}"))
            .collect();
        let text = format!("[\n{}\n]", elements.join(",\n"));
        for level in Level::available() {
            let (_, read, pairs) = read(text.as_bytes(), level);
            read.unwrap();
            assert_eq!(pairs.len() * 4, texts.len());
            let own = pairs.iter().flat_map(|pair| [pair.x0, pair.y0, pair.x1, pair.y1]);
            for (own, text) in own.zip(texts) {
                let standard: f64 = text.parse().unwrap();
                assert_eq!(own.to_bits(), standard.to_bits(), "{level} {text}");
            }
        }
    }

    /// Random integer parts and decimals of every length, and the sixteen decimals next to the
    /// middle between two neighbouring doubles, where a rounding error would show.
    #[test]
    fn numbers_of_the_fast_kind_and_around_it_are_the_nearest_doubles() {
        let mut state = 1u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state ^ state >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11
        };
        let mut numbers = Vec::new();
        for i in 0..60_000 {
            let sign = if random() % 2 == 0 { "-" } else { "" };
            let whole = random() % [10, 230, 1000, 12_000][i % 4];
            let places = 1 + random() as usize % if i % 5 == 0 { 19 } else { 16 };
            let decimals = format!("{:019}", random() * 1000 + random() % 1000);
            numbers.push(format!("{sign}{whole}.{}", &decimals[..places]));
        }
        for i in 0..60_000 {
            let value = random() as f64 / (1u64 << 53) as f64 * [1.0, 230.0, 180.0, 16.0][i % 4];
            let half = (f64::from_bits(value.to_bits() + 1) - value) / 2.0;
            // Both are exact with 70 decimals; their sum is the middle.
            let (value, half) = (format!("{value:.70}"), format!("{half:.70}"));
            let (whole, decimals) = value.split_once('.').unwrap();
            let sixteen = |text: &str| text[..16].parse::<u64>().unwrap();
            let near = sixteen(decimals) + sixteen(&half[2..]) + random() % 3;
            numbers.push(format!("{whole}.{:016}", near.min(9_999_999_999_999_999)));
        }
        let odd = [
            "0", "-0", "-0.0", "0.0000000000000000", "7", "1e2", "-1.5E-3", "229.9999999999999999",
            "230.0", "230.0000000000000001", "999.9999999999999999", "1000.5",
            "0.00000000000000001", "99.5e0", "-180.0000000000000000", "0.1", "9.9",
        ];
        numbers.extend(odd.map(str::to_owned));
        numbers.resize(numbers.len().next_multiple_of(4), "1.25".to_owned());
        check_numbers(&numbers);
    }

    /// What looks like a number of the fast kind but is none gets the lexer's verdict.
    #[test]
    fn what_is_no_number_is_refused_on_every_level() {
        for wrong in [
            "01.5", "-01.5", "00.5", "-.5", ".5", "+1.5", "1.", "-1.", "1.5.5", "1..5", "--1.5",
            "1,5", "0001.5", "1.5e", "1.5-", "x.5", "1.x", "-", "", " ", "\"1.5\"", "1.5 5", "1:5",
            "/.5", "-/.5", ":.5", "1.:", "1.5/", "\u{0}", "1\u{b2}.5", "1.\u{b9}",
        ] {
            for at in 0..4 {
                let mut numbers = ["1.5"; 4];
                numbers[at] = wrong;
                let element = |[a, b, c, d]: [&str; 4]| {
                    format!("{{\"x0\":{a},\"y0\":{b},\"x1\":{c},\"y1\":{d}}}")
                };
                let good = element(["1.5"; 4]);
                let text = format!("[{good},{good},{good},{},{good},{good}]", element(numbers));
                for level in Level::available() {
                    let (_, read, pairs) = read(text.as_bytes(), level);
                    assert!(read.is_err(), "{level} {wrong:?} as number {at}");
                    assert_eq!(pairs.len(), 3, "{level} {wrong:?}");
                }
            }
        }
    }

    #[test]
    fn a_separator_that_differs_in_any_byte_is_not_taken_for_the_same() {
        let good = r#"{"x0":1.5, "y0":2.5, "x1":3.5, "y1":4.5}, "#;
        let text = format!("[{}{}]", good.repeat(6), good.trim_end_matches(", "));
        let changed = 1 + 3 * good.len();
        for at in changed..changed + good.len() {
            for byte in [b' ', b'z', b'"', b'0', b'.'] {
                let mut text = text.clone().into_bytes();
                text[at] = byte;
                let mut told = Vec::new();
                for level in Level::available() {
                    let (_, read, pairs) = read(&text, level);
                    told.push((read.map_err(|e| e.to_string()), pairs));
                }
                assert!(told.windows(2).all(|two| two[0] == two[1]), "byte {at}: {told:?}");
            }
        }
    }
}
