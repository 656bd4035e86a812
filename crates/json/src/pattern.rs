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

use crate::kernel::{Gap, Joints, Kernel, Kind, Scalar, bare_end, bare_kind};
use crate::lexer::Limits;
use crate::string;

/// A document without its scalars.
#[derive(Clone, Debug)]
pub struct Pattern {
    kernel: Kernel,
    /// What stands before each scalar.
    gaps: Vec<Gap>,
    /// And behind the last one.
    last: Gap,
    /// The same by its marks, where it has enough of them.
    joints: Option<Joints>,
}

/// Finds the marks of a text: where the bytes stand that are quotes, or no plain ASCII, or backslashes.
#[derive(Clone, Copy, Debug)]
pub struct Marker(Kernel);

impl Marker {
    /// That of an instruction level.
    pub fn of(level: Level) -> Marker {
        Marker(Kernel::of(level))
    }

    /// Appends the marks of a range of a text, in their order.
    ///
    /// # Panics
    /// Where the text is longer than 4 GiB, or does not have the range.
    pub fn mark(self, text: &[u8], range: Range<usize>, marks: &mut Vec<u32>) {
        self.0.marks(text, range, marks);
    }
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
        let (last, joints) = (Gap::new(&document[at..]), Joints::of(document, scalars));
        Pattern { kernel: Kernel::of(level), gaps, last, joints }
    }

    /// How many marks a document of this pattern has whose strings are plain ASCII without escapes; none where it is not to be
    /// found by them.
    #[inline]
    pub fn marks(&self) -> Option<usize> {
        self.joints.as_ref().map(|joints| joints.marks)
    }

    /// Whether all of a range of a text, which has these marks, is a document of this pattern, with the same of its scalars in
    /// quotes. If not it may be one all the same.
    #[inline]
    pub fn stands(&self, text: &[u8], range: Range<usize>, marks: &[u32]) -> bool {
        let Some(joints) = &self.joints else { return false };
        range.len() <= LONGEST && self.kernel.stands(joints, text, range, marks)
    }

    /// One of the scalars of a document that [stands](Pattern::stands) and ends at `end`, by its number.
    ///
    /// # Panics
    /// If it has less scalars, or the marks are others.
    #[inline]
    pub fn scalar(&self, text: &[u8], number: usize, marks: &[u32], end: usize) -> Scalar {
        self.joints.as_ref().expect("it stands").scalar(text, number, marks, end)
    }

    /// Where a document of this pattern ends that starts at `at` of a text, and its scalars; whatever stands
    /// behind it. None if there is none, or not all of it: it may be a document of another pattern.
    pub fn find(&self, text: &[u8], mut at: usize, scalars: &mut Vec<Scalar>) -> Option<usize> {
        scalars.resize(self.gaps.len(), Scalar::default());
        let mut known = 0;
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
            &first => (bare_end(text, start)?, bare_kind(first)),
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

    /// Whether a document with something around it stands by its marks, and its scalars by them.
    fn stands(pattern: &Pattern, document: &[u8], level: Level) -> (bool, Vec<Scalar>) {
        let around = 100;
        let text = [&vec![b'"'; around], document, &[b'"'; 100]].concat();
        let (range, mut marks) = (around..around + document.len(), Vec::new());
        Marker::of(level).mark(&text, range.clone(), &mut marks);
        if !pattern.stands(&text, range.clone(), &marks) {
            return (false, Vec::new());
        }
        let moved = |number| {
            let Scalar { start, end, kind } = pattern.scalar(&text, number, &marks, range.end);
            Scalar { start: start - around, end: end - around, kind }
        };
        (true, (0..pattern.gaps.len()).map(moved).collect())
    }

    #[test]
    fn marks_are_quotes_backslashes_and_what_is_no_plain_ascii() {
        let text: Vec<u8> = (0..=255).cycle().take(1000).collect();
        for level in Level::available() {
            for (from, to) in [(0, 1000), (1, 64), (34, 35), (92, 160), (7, 7), (900, 1000)] {
                let mut marks = vec![5];
                Marker::of(level).mark(&text, from..to, &mut marks);
                let is_marked = |at: &usize| {
                    let byte = text[*at] as char;
                    byte.is_ascii_control() && byte != '\x7f'
                        || !byte.is_ascii()
                        || "\"\\".contains(byte)
                };
                let expected = (from..to).filter(is_marked).map(|at| at as u32);
                assert!(marks.into_iter().eq([5].into_iter().chain(expected)), "{level} {from}");
            }
        }
    }

    #[test]
    fn numbers_and_words_between_marks_are_what_the_lexer_takes() {
        let good = [
            "0", "-0", "0.5", "-0.5", "7", "12e3", "1E+5", "12345678901234567890",
            "1234567890123456789012345678901", "12345678901234567890123456789012",
            "3.14159265358979", "-1.5e-7", "true", "false", "null",
        ];
        let bad = [
            "00", "01", "-01", "00.5", "1.", ".5", "-", "-.5", "1.2.3", "1-2", "1e", "", "tru",
            "truee", "nul", "1 ", " 1", "1,2", "[]", "{}", "x", "1a", "0x1", "0123", "1/2", "1:2",
        ];
        for level in Level::available() {
            for frame in [r#"{"id":#,"b":"x"}"#, r#"{"p":[#,@,#],"b":"x"}"#, r#"["s",#]"#] {
                let pattern = pattern(frame.replace(['#', '@'], "1").as_bytes(), level);
                for one in good.into_iter().chain(bad) {
                    for other in good.into_iter().chain(bad) {
                        let text = frame.replace('#', one).replace('@', other);
                        let (stood, scalars) = stands(&pattern, text.as_bytes(), level);
                        let is_good =
                            good.contains(&one) && (good.contains(&other) || !frame.contains('@'));
                        assert_eq!(stood, is_good, "{level} {text}");
                        let other = text.replace(['}', ']'], ":");
                        assert!(!stands(&pattern, other.as_bytes(), level).0, "{level} {other}");
                        assert!(
                            !stood || Some(scalars) == by_lexer(text.as_bytes()),
                            "{level} {text}"
                        );
                    }
                }
            }
        }
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
            other in any::<u32>(),
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
            // By its marks, whatever stands around it.
            for (document, is_learned) in [(&learned[..], true), (&text[..text.len() - 1], false)] {
                let (stood, scalars) = stands(&pattern, document, level);
                let is_plain = document.is_ascii() && !document.contains(&b'\\') && !pattern.gaps.is_empty();
                prop_assert!(!is_learned || stood == is_plain);
                prop_assert!(!stood || Some(scalars) == by_lexer(document));
            }
            // Marks of something else are refused, or let others find what they may.
            let others = vec![other; pattern.marks().unwrap_or_default()];
            let _ = pattern.stands(&text, 0..text.len(), &others);
        }
    }
}
