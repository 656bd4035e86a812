//! Reading elements that look like the last one: four cursors through a block, first for where
//! the numbers are, then for what they are.
//!
//! ```text
//! │{…},{…},{…},│{…},{…},{…},│{…},{…},{…},│{…},{…},{…
//!  0 ─────►     1 ─────►     2 ─────►     3 ─────►
//! ```
//!
//! A cursor finds each number where the last one ended: a chain of dependent steps, which four
//! cursors in turn fill four times as well as one. A cursor's beginning is a guess (text that looks
//! like the end of one element and the beginning of the next); what it finds counts only if the
//! cursor before it ends exactly there. Nothing is decided here about what is valid: see
//! [`Template`].

use fathom_json::nearest;
use fathom_machine::level::Level;

use crate::block::Block;
use crate::formula::{MOST_DEGREES, Pair};
use crate::kernel::{self, Extent};
use crate::template::Template;
use crate::zone::zone;

/// Cursors in a block.
pub(crate) const CURSORS: usize = 4;

/// Below this many bytes further cursors are not worth their search.
const LEAST_BYTES: usize = 16 << 10;

/// How far a beginning is looked for: some elements of usual size. What is searched is in proportion to the
/// elements read even where few of them look alike.
const SEARCHED_BYTES: usize = 1 << 10;

/// Where finding the numbers of elements stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cursor {
    /// Where it began, and where it stands: at the first number of an element.
    start: usize,
    pub(crate) at: usize,
    /// Elements that begin here or later are not this cursor's.
    pub(crate) end: usize,
    /// The numbers of the elements before `at`.
    pub(crate) found: Vec<[Extent; 4]>,
}

impl Cursor {
    fn restart(&mut self, start: usize, end: usize) {
        (self.start, self.at, self.end) = (start, start, end);
        self.found.clear();
    }

    /// Whether the next element is this cursor's.
    pub(crate) fn is_inside(&self) -> bool {
        self.at < self.end
    }

    /// Makes room for about as many elements as are left.
    fn reserve(&mut self) {
        self.found.reserve(self.end.saturating_sub(self.at) / 64 + 16);
    }
}

/// Four cursors, and how many bytes they are set out over.
#[derive(Debug)]
pub(crate) struct Cursors {
    cursors: [Cursor; CURSORS],
    reach: usize,
}

impl Default for Cursors {
    fn default() -> Cursors {
        Cursors { cursors: Default::default(), reach: usize::MAX }
    }
}

/// Reads elements that look like `template` from the one whose first number is at `start`, adds
/// them to `pairs`, and returns where the first number is of the one that looks different.
pub(crate) fn read(
    level: Level,
    block: &Block,
    template: &Template,
    start: usize,
    cursors: &mut Cursors,
    pairs: &mut Vec<Pair>,
) -> usize {
    let bytes = block.bytes();
    if !kernel::finds_numbers(level) {
        return read_one_by_one(bytes, template, start, pairs);
    }
    let mut at = start;
    // Where the text after the last number is another for each element, as a number of its own makes it, none
    // looks alike, and no cursor need be set out for it.
    while template.extents(bytes, at).is_some() {
        let (begin, end) = (at, bytes.len().min(at.saturating_add(cursors.reach)));
        at = read_to(level, block, template, [begin, end], &mut cursors.cursors, pairs);
        if at < end {
            // What was found behind it is lost: the next time no more is looked at than twice what was read.
            cursors.reach = (2 * (at - begin)).max(SEARCHED_BYTES);
            return at;
        }
        cursors.reach = cursors.reach.saturating_mul(2);
    }
    at
}

/// As [`read`], of those that begin from the first of two places on and before the second.
fn read_to(
    level: Level,
    block: &Block,
    template: &Template,
    [start, end]: [usize; 2],
    cursors: &mut [Cursor; CURSORS],
    pairs: &mut Vec<Pair>,
) -> usize {
    let bytes = block.bytes();
    spread(&bytes[..end], template, start, cursors);
    loop {
        cursors.iter_mut().for_each(Cursor::reserve);
        kernel::find_numbers(level, block, template, cursors);
        // What the kernel does not take may still look alike.
        let mut is_moving = false;
        for cursor in cursors.iter_mut().filter(|cursor| cursor.is_inside()) {
            match template.extents(bytes, cursor.at) {
                Some((extents, next)) => {
                    cursor.found.push(extents);
                    cursor.at = next;
                    is_moving = true;
                }
                None => cursor.end = cursor.at,
            }
        }
        if !is_moving {
            break;
        }
    }
    let mut zone = zone!("convert");
    let mut at = start;
    for cursor in cursors.iter().filter(|cursor| !cursor.found.is_empty()) {
        if cursor.start != at {
            break;
        }
        let converted = convert(level, block, template, &cursor.found, pairs);
        zone.bytes((converted * size_of::<Pair>()) as u64);
        if let Some(wrong) = cursor.found.get(converted) {
            return wrong[0].start();
        }
        at = cursor.at;
    }
    at
}

/// Sets the cursors out over the bytes from `start` on.
fn spread(bytes: &[u8], template: &Template, start: usize, cursors: &mut [Cursor; CURSORS]) {
    let share = (bytes.len() - start) / CURSORS;
    let mut end = bytes.len();
    for (number, cursor) in cursors.iter_mut().enumerate().skip(1).rev() {
        let guess = if share * CURSORS < LEAST_BYTES {
            None
        } else {
            let from = start + number * share;
            template.next_after(&bytes[..end.min(from + SEARCHED_BYTES)], from)
        };
        let from = guess.unwrap_or(end);
        cursor.restart(from, end);
        end = from;
    }
    cursors[0].restart(start, end);
}

/// Converts the numbers of elements, as far as they are numbers.
fn convert(
    level: Level,
    block: &Block,
    template: &Template,
    found: &[[Extent; 4]],
    pairs: &mut Vec<Pair>,
) -> usize {
    let mut converted = 0;
    loop {
        converted += kernel::convert(level, block, template, &found[converted..], pairs);
        let Some(extents) = found.get(converted) else { return converted };
        // Not of the kernel's kind: any number the grammar allows, or none.
        let value = |extent: Extent| nearest(&block.bytes()[extent.range()]);
        let values = extents.map(|e| value(e).filter(|value| value.abs() <= MOST_DEGREES));
        let [Some(a), Some(b), Some(c), Some(d)] = values else { return converted };
        pairs.push(template.pair([a, b, c, d]));
        converted += 1;
    }
}

/// The plain way: one element after the other, each number converted where it is found.
fn read_one_by_one(
    bytes: &[u8],
    template: &Template,
    start: usize,
    pairs: &mut Vec<Pair>,
) -> usize {
    let mut at = start;
    while let Some((values, next)) = template.values(bytes, at) {
        pairs.push(template.pair(values));
        at = next;
    }
    at
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::pairs::Place;

    /// A cursor's search that finds nothing would go through the rest of the block, once for each element.
    #[test]
    fn no_cursor_is_set_out_for_elements_of_which_none_looks_like_the_last() {
        let element =
            |id: usize| format!(r#"{{"x0":1.5,"y0":2.5,"x1":3.5,"y1":4.5,"id":{id:05}}},"#);
        let text: String = (0..1000).map(element).collect();
        let (next, mut rest) = (element(0).len(), text.as_bytes());
        let mut block = Block::new(text.len());
        block.fill(|room, _| rest.read(room)).unwrap();
        let place = |coordinate| Place { at: 6 + 9 * coordinate as u64, bytes: 3, coordinate };
        let places = [0, 1, 2, 3].map(place);
        let template = Template::learn(text.as_bytes(), 0, &places, 0, next).unwrap();
        for level in Level::available() {
            let (mut cursors, mut pairs) = (Cursors::default(), Vec::new());
            let start = next + template.prefix_bytes();
            let read = read(level, &block, &template, start, &mut cursors, &mut pairs);
            assert_eq!((read, pairs.len()), (start, 0), "{level}");
            assert!(cursors.cursors.iter().all(|cursor| cursor.end == 0), "{level}");
        }
    }

    /// What was found of a block was thrown away for each number that could not be converted, or cursor that stopped.
    #[test]
    fn what_is_looked_at_is_in_proportion_to_what_is_read() {
        let element =
            |x: &str, end: &str| format!(r#"{{"x0":{x},"y0":2.5,"x1":3.5,"y1":4.5{end},"#);
        let (good, far) = (element("1.500000", "}"), element("-9999999", "}"));
        let (longer, next) = (element("1.500000", r#","id":1}"#), good.len());
        let alternating = [&*good, &far].concat().repeat(2000);
        let quarter = [&[&*good, &longer].concat().repeat(400), &*good.repeat(1200)].concat();
        for text in [alternating, quarter.repeat(4)] {
            let text = format!("{good}{text}");
            let mut block = Block::new(text.len());
            let mut rest = text.as_bytes();
            block.fill(|room, _| rest.read(room)).unwrap();
            let places = [(6, 8), (20, 3), (29, 3), (38, 3)];
            let place = |coordinate: usize| {
                let (at, bytes) = places[coordinate];
                Place { at, bytes, coordinate }
            };
            let places = [0, 1, 2, 3].map(place);
            let template = Template::learn(text.as_bytes(), 0, &places, 0, next).unwrap();
            for level in Level::available() {
                let (mut cursors, mut pairs) = (Cursors::default(), Vec::new());
                let (mut at, mut looked_at, mut others) = (next + template.prefix_bytes(), 0, 0);
                while at < text.len() {
                    at = read(level, &block, &template, at, &mut cursors, &mut pairs);
                    looked_at += cursors.cursors.iter().map(|c| c.found.len()).sum::<usize>();
                    // The lexer reads one that looks different.
                    let rest = &text[at.min(text.len())..];
                    at +=
                        rest.find("},").map_or(rest.len(), |end| end + 2 + template.prefix_bytes());
                    others += 1;
                }
                let elements = pairs.len() + others;
                assert!(elements >= 4000 && looked_at < 30 * elements, "{level}: {looked_at}");
            }
        }
    }
}
