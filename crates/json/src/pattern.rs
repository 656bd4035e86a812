//! Documents that are built alike, as the lines of a log are: read once, recognised afterwards.
//!
//! A pattern is a document without its scalars: brackets, keys, colons, commas and white space, byte for
//! byte. Whatever other scalars stand between the same bytes, the whole is a document again, of the same
//! members; so only the scalars are left to be checked. An empty container belongs to the pattern.
//!
//! ```text
//! {"id":17,"tags":["x",null]}   learned
//! {"id":  ,"tags":[   ,    ]}   its gaps
//! {"id":"a","tags":[-2.5,true]} found: "a", -2.5, true
//! {"id":17,"tags":["x"]}        not found, which is to say nothing of it
//! ```

use std::ops::Range;

use fathom_machine::level::Level;

use crate::kernel::{Gap, Kernel, Kind, Scalar};
use crate::lexer::Limits;
use crate::{number, string};

/// A document without its scalars.
#[derive(Clone, Debug)]
pub struct Pattern {
    kernel: Kernel,
    /// What stands before each scalar.
    gaps: Vec<Gap>,
    /// And behind the last one.
    last: Gap,
}

impl Pattern {
    /// The pattern of a document that the lexer accepts, whose scalars stand here, in their order.
    ///
    /// # Panics
    /// Where a scalar does not end in the document, or overlaps the one before.
    pub fn of(document: &[u8], scalars: &[Range<usize>], level: Level) -> Pattern {
        let mut at = 0;
        let gap = |scalar: &Range<usize>| {
            let before = std::mem::replace(&mut at, scalar.end);
            Gap::new(&document[before..scalar.start])
        };
        let gaps = scalars.iter().map(gap).collect();
        Pattern { kernel: Kernel::of(level), gaps, last: Gap::new(&document[at..]) }
    }

    /// Where a document of this pattern ends that starts at `at` of a text, and its scalars; whatever stands
    /// behind it. None if there is none, or not all of it: it may be a document of another pattern.
    pub fn find(&self, text: &[u8], at: usize, scalars: &mut Vec<Scalar>) -> Option<usize> {
        scalars.resize(self.gaps.len(), Scalar::default());
        self.go_on(text, (0, at), scalars)
    }

    /// [`Pattern::find`] of two documents at once, which takes less time than one after the other.
    pub fn find_two(
        &self,
        text: &[u8],
        at: [usize; 2],
        scalars: &mut [Vec<Scalar>; 2],
    ) -> [Option<usize>; 2] {
        let [one, other] = scalars.each_mut().map(|list| {
            list.resize(self.gaps.len(), Scalar::default());
            &mut list[..]
        });
        let (known, [end, other_end]) =
            self.kernel.pairs(&self.gaps, text, at, [&mut *one, &mut *other]);
        let [at, other_at] = at;
        let first = are_short(&one[..known], end - at).then(|| self.go_on(text, (known, end), one));
        let second = are_short(&other[..known], other_end - other_at)
            .then(|| self.go_on(text, (known, other_end), other));
        [first.flatten(), second.flatten()]
    }

    /// The rest of a document, of which so many scalars are known.
    fn go_on(
        &self,
        text: &[u8],
        (mut known, mut at): (usize, usize),
        scalars: &mut [Scalar],
    ) -> Option<usize> {
        while known < self.gaps.len() {
            let (gaps, scalars) = (&self.gaps[known..], &mut scalars[known..]);
            let (found, end) = self.kernel.scalars(gaps, text, at, scalars);
            if !are_short(&scalars[..found], end - at) {
                return None;
            }
            (known, at) = (known + found, end);
            if let Some(gap) = gaps.get(found) {
                scalars[found] = self.any(text, gap.end(text, end)?)?;
                (known, at) = (known + 1, scalars[found].end);
            }
        }
        self.last.end(text, at)
    }

    /// The scalar that starts at a place.
    fn any(&self, text: &[u8], start: usize) -> Option<Scalar> {
        let mut has_escapes = false;
        let (end, kind) = match text.get(start)? {
            b'"' => match string::scan(self.kernel, text, start + 1, &mut has_escapes) {
                string::Scan::End(end) => (end + 1, Kind::String { has_escapes }),
                _ => return None,
            },
            b't' => (word(text, start, b"true")?, Kind::True),
            b'f' => (word(text, start, b"false")?, Kind::False),
            b'n' => (word(text, start, b"null")?, Kind::Null),
            _ => (number::find_end(text, start).ok()?, Kind::Number),
        };
        (end - start <= LONGEST).then_some(Scalar { start, end, kind })
    }
}

/// The lexer refuses longer tokens.
const LONGEST: usize = Limits::DEFAULT.token_bytes;

/// Whether it refuses none of these, which take no more than so many bytes together.
fn are_short(scalars: &[Scalar], bytes: usize) -> bool {
    bytes <= LONGEST || scalars.iter().all(|scalar| scalar.end - scalar.start <= LONGEST)
}

fn word(text: &[u8], start: usize, word: &[u8]) -> Option<usize> {
    text[start..].starts_with(word).then_some(start + word.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Event, Lexer, Mode};

    /// The scalars of a document as the lexer sees them.
    fn by_lexer(document: &[u8]) -> Option<Vec<Scalar>> {
        let (mut lexer, mut at) = (Lexer::with(Mode::Document, Limits::DEFAULT, Level::Scalar), 0);
        let mut scalars = Vec::new();
        let mut take = |event: Event<'_>, offset: u64| {
            let start = offset as usize;
            let (len, kind) = match event {
                Event::String(text) => {
                    (text.raw().len() + 2, Kind::String { has_escapes: text.has_escapes() })
                }
                Event::Number(number) => (number.text().len(), Kind::Number),
                Event::Bool(true) => (4, Kind::True),
                Event::Bool(false) => (5, Kind::False),
                Event::Null => (4, Kind::Null),
                _ => return,
            };
            scalars.push(Scalar { start, end: start + len, kind });
        };
        while let Some(located) = lexer.next_located(document, &mut at).ok()? {
            take(located.event, located.offset);
        }
        loop {
            let start = lexer.token_offset();
            match lexer.end().ok()? {
                Some(event) => take(event, start),
                None => return Some(scalars),
            }
        }
    }

    fn pattern(document: &[u8], level: Level) -> Pattern {
        let scalars = by_lexer(document).expect("it is a document");
        let places: Vec<_> = scalars.iter().map(|scalar| scalar.start..scalar.end).collect();
        Pattern::of(document, &places, level)
    }

    /// What a pattern finds in a text, with something behind it.
    fn found(pattern: &Pattern, text: &str, behind: &str) -> Option<(usize, Vec<Scalar>)> {
        let (all, mut scalars) = (format!("..{text}{behind}"), Vec::new());
        let end = pattern.find(all.as_bytes(), 2, &mut scalars)?;
        let moved = |scalar: &Scalar| Scalar {
            start: scalar.start - 2,
            end: scalar.end - 2,
            kind: scalar.kind,
        };
        Some((end - 2, scalars.iter().map(moved).collect()))
    }

    #[test]
    fn what_is_built_alike_is_found_and_nothing_else() {
        let learned = br#"{"id": 17, "a much longer name of one": "x", "t": [true, {}, [null]]}"#;
        let filled = |[a, b, c, d]: [&str; 4]| {
            format!(r#"{{"id": {a}, "a much longer name of one": {b}, "t": [{c}, {{}}, [{d}]]}}"#)
        };
        let scalars = ["-0.5e+3", "\"\"", "\"é\\u00e9\\n\"", "null", "12", "false", "\"a,b\"", "0"];
        let wrong = ["01", "\"\u{1}\"", "nul", "\"\\x\"", "", "-", "[]", "1 2", "\"a", "1.", "tru"];
        for level in Level::available() {
            let pattern = pattern(learned, level);
            for at in 0..scalars.len() {
                let text = filled([0, 1, 2, 3].map(|part| scalars[(at + part) % scalars.len()]));
                for behind in [
                    "",
                    "\n",
                    "\n{\"id\": 18, \"and\": \"much more, so that there are many bytes\"}",
                ] {
                    let expected = by_lexer(text.as_bytes()).map(|scalars| (text.len(), scalars));
                    assert_eq!(found(&pattern, &text, behind), expected, "{level} {text}");
                }
                for wrong in wrong {
                    let mut parts = [0, 1, 2, 3].map(|part| scalars[(at + part) % scalars.len()]);
                    parts[at % 4] = wrong;
                    assert_eq!(found(&pattern, &filled(parts), "\n"), None, "{level} {wrong}");
                }
            }
            let other = String::from_utf8_lossy(learned).replace("\"t\"", "\"u\"");
            assert_eq!(found(&pattern, &other, "\n"), None);
            assert_eq!(found(&pattern, &other[..other.len() - 1], ""), None);
        }
    }

    #[test]
    fn strings_are_utf8() {
        for level in Level::available() {
            let pattern = pattern(b"[\"x\"]", level);
            for (inside, is_text) in [(&b"\xc3\xa9"[..], true), (b"\xc3(", false), (b"\xff", false)]
            {
                for before in 0..70 {
                    let text =
                        [b"[\"", &vec![b'y'; before][..], inside, b"\"]\n", &[b'z'; 70]].concat();
                    let end = before + inside.len() + 4;
                    let found = pattern.find(&text, 0, &mut Vec::new());
                    assert_eq!(found, is_text.then_some(end), "{level} {before} {inside:?}");
                }
            }
        }
    }

    proptest! {
        /// Whatever becomes of a document, what is found in it is what the lexer finds.
        #[test]
        fn what_is_found_is_a_document_of_these_scalars(
            parts in prop::collection::vec(0_usize..14, 1..20),
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..19), 0..3),
            level in prop::sample::select(Level::available().collect::<Vec<_>>()),
        ) {
            let values = ["1", "-2.50", "\"text of some more bytes\"", "null", "true", "[]", "{\"k\":7}",
                "[1, \"x\"]", "\"\\\\\"", "\"ü\"", "3e7", "\"\"", "false", "[[{}]]"];
            let members: Vec<_> = parts.iter().enumerate()
                .map(|(at, &part)| format!("\"member {at}\":{}", values[part])).collect();
            let learned = format!("{{{}}}", members.join(", ")).into_bytes();
            let mut text = learned.clone();
            for (place, byte) in changes {
                let at = place.index(text.len());
                match byte {
                    0 => { text.remove(at); }
                    1 => text.insert(at, b'"'),
                    2 => text.insert(at, b'9'),
                    byte => text[at] = b"\"\\,:{}[]019.-e \x01\xc3"[byte - 3],
                }
                prop_assume!(!text.is_empty());
            }
            let pattern = pattern(&learned, level);
            let mut scalars = Vec::new();
            prop_assert_eq!(pattern.find(&learned, 0, &mut scalars), Some(learned.len()));
            prop_assert_eq!(Some(scalars.clone()), by_lexer(&learned));
            text.push(b'\n');
            let end = pattern.find(&text, 0, &mut scalars);
            if let Some(end) = end {
                prop_assert_eq!(Some(scalars.clone()), by_lexer(&text[..end]));
            }
            // Beside others, before and behind them.
            let (len, mut lists) = (text.len(), <[Vec<Scalar>; 2]>::default());
            let both = [&text[..], &learned[..], &b"\n"[..], &text[..]].concat();
            let places = [0, len, len + learned.len() + 1];
            let starts = |turn: usize| std::array::from_fn(|n| places[(n + turn) % 3]);
            for turn in 0..3 {
                let ends = pattern.find_two(&both, starts(turn), &mut lists);
                for ((start, found), list) in starts(turn).into_iter().zip(ends).zip(&lists) {
                    let expected = pattern.find(&both, start, &mut scalars);
                    prop_assert_eq!(found, expected);
                    prop_assert!(found.is_none() || *list == scalars);
                }
            }
        }
    }
}
