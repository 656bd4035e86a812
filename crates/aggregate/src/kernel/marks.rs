//! Where fields and records of delimited text end, quotes and all, 64 bytes at a time.
//!
//! In pseudo-code, for each 64 bytes, as masks of a bit for each byte:
//!
//! ```text
//! inside  = the exclusive or of all quotes up to a byte, and of those of the bytes before
//! ends    = delimiters and newlines that are not inside
//! opening = quotes that are inside, closing = quotes that are not
//! ```
//!
//! That is right where text is well formed: every quote that opens stands where a field starts, or right
//! behind one that closed, and then the two are one quote of the field; and behind every quote that closes
//! stands the end of its field, or such another quote. Both are looked at in the same masks. Before the
//! first byte where it is not so, and before a record that is not whole, marking ends: what stands there is
//! for [`split`](crate::record::split) to say, which looks at one byte after the other.

use fathom_machine::level::Level;
use fathom_machine::simd::{SURPLUS, Vector};
use memchr::memchr_iter;

use crate::composite;
use crate::error::MOST_FIELDS;
use crate::record::{Dialect, Marks};

/// Bytes without a quote after which quotes are no longer counted on.
const QUIET_BYTES: usize = 4 << 10;

impl Marks {
    fn clear(&mut self) {
        self.fields.clear();
        self.records.clear();
        (self.lines, self.doubled, self.escaped) = (0, false, false);
    }

    /// Adds the marks among 64 bytes.
    ///
    /// # Safety
    /// The level of `V` is available.
    #[inline(always)]
    unsafe fn push<V: Vector>(&mut self, ends: u64, newlines: u64, at: usize) {
        let (fields, records) = (self.fields.len(), self.records.len());
        self.fields.reserve(64 + SURPLUS);
        self.records.reserve(1);
        let behind = |newline: u64| {
            let before = ends & newline.wrapping_sub(1);
            fields as u32 + before.count_ones()
        };
        let first = newlines & newlines.wrapping_neg();
        // SAFETY: there is room for 64 marks and a surplus, and for a record, which is written in any case; the caller
        // vouches for the level.
        unsafe {
            V::write_positions::<FIRST>(ends, at as u32, self.fields.as_mut_ptr().add(fields));
            self.fields.set_len(fields + ends.count_ones() as usize);
            *self.records.as_mut_ptr().add(records) = behind(first);
            self.records.set_len(records + usize::from(newlines != 0));
        }
        let mut left = newlines ^ first;
        while left != 0 {
            self.records.push(behind(left & left.wrapping_neg()));
            left &= left - 1;
        }
    }

    /// Takes off what follows the last whole record.
    fn cut(&mut self) {
        self.fields.truncate(self.records.last().map_or(0, |&last| last as usize + 1));
    }
}

/// Marks that are written without a branch.
const FIRST: usize = 6;

type Marking = unsafe fn(&[u8], (usize, usize), Dialect, Option<&mut Marks>) -> usize;

/// Marks text at an instruction level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marker {
    run: Marking,
}

impl Marker {
    pub(crate) fn new(level: Level) -> Marker {
        Marker { run: marking(level).run }
    }

    /// Goes through whole records from `at`, where one starts, to the end of the last one that starts before `limit`,
    /// and returns that end; or the end of one before it, `at` if there is none, where the next is not
    /// well formed or not whole, or quotes have become rare. Notes where fields end.
    pub(crate) fn run(
        &self,
        text: &[u8],
        (at, limit): (usize, usize),
        dialect: Dialect,
        mut marks: Option<&mut Marks>,
    ) -> usize {
        assert!(text.len() <= u32::MAX as usize, "places are 32-bit");
        if let Some(marks) = &mut marks {
            marks.clear();
        }
        // SAFETY: a form's level is available.
        let end = unsafe { (self.run)(text, (at, limit), dialect, marks.as_deref_mut()) };
        if let Some(marks) = marks {
            marks.cut();
        }
        end
    }
}

fathom_machine::compile! {
    fn marking(
        text: &[u8], range: (usize, usize), dialect: Dialect, marks: Option<&mut Marks>
    ) -> usize = mark<V>;
    scalar, sse2, avx2, avx512 with "avx512vbmi2", neon
}

/// # Safety
/// The level of `V` is available.
#[inline(always)]
unsafe fn mark<V: Vector>(
    text: &[u8],
    (from, limit): (usize, usize),
    Dialect { delimiter, quotes }: Dialect,
    mut marks: Option<&mut Marks>,
) -> usize {
    let (mut at, mut end, mut quoted) = (from, from, from);
    // Of the byte before: all bits if it is inside, the first one if it ended a field or closed a quote.
    let (mut inside, mut ended, mut closed) = (0_u64, 1_u64, 0_u64);
    // Behind the text may stand what stood in a block before: no bit of it is looked at.
    let mut last = [0; 64];
    let last_start = limit.max(from + 1) - 1;
    while at < text.len() {
        let rest = &text[at..];
        let (block, next, valid) = match rest.get(64) {
            Some(&next) => (rest.as_ptr(), next, u64::MAX),
            None => {
                last[..rest.len()].copy_from_slice(rest);
                (last.as_ptr(), 0, u64::MAX >> (64 - rest.len()))
            }
        };
        // SAFETY: there are 64 bytes; the caller vouches for the level.
        let [delimiters, newlines, found_quotes, returns] = unsafe {
            let all = V::load_64(block);
            if let Some(marks) = &mut marks {
                let escape = V::splat(composite::ESCAPE);
                let low = V::bits_64(fathom_machine::each_64!(V, all, v => v.is_at_most(escape)));
                marks.escaped |= low & valid != 0;
            }
            [delimiter, b'\n', b'"', b'\r'].map(|byte| {
                let byte = V::splat(byte);
                V::bits_64(fathom_machine::each_64!(V, all, v => v.is(byte))) & valid
            })
        };
        let mut ends = delimiters | newlines;
        let mut wrong = 0;
        if quotes && (found_quotes | inside | closed) != 0 {
            quoted = at;
            // SAFETY: the caller vouches for the level.
            let within = unsafe { V::parities(found_quotes) } ^ inside;
            let (opening, closing) = (found_quotes & within, found_quotes & !within);
            ends &= !within;
            let after_closing = closing << 1 | closed;
            let after_end = ends << 1 | ended;
            let line_ends = returns & (newlines >> 1 | u64::from(next == b'\n') << 63);
            wrong = opening & !(after_end | after_closing);
            wrong |= after_closing & !(ends | opening | line_ends) & valid;
            if let Some(marks) = &mut marks {
                marks.doubled |= opening & after_closing != 0;
            }
            inside = ((within as i64) >> 63) as u64;
            // A quote that closes at the very end is not inside.
            closed = closing >> 63;
        }
        ended = ends >> 63;
        if wrong != 0 {
            ends &= (1 << wrong.trailing_zeros()) - 1;
        }
        let records = ends & newlines;
        // The first record that ends at the limit or behind it is the last one.
        let is_near = last_start < at + 64;
        let beyond = records & u64::MAX << last_start.saturating_sub(at).min(63);
        if is_near && beyond != 0 {
            let all = beyond ^ (beyond - 1);
            if let Some(marks) = &mut marks {
                // SAFETY: the caller vouches for the level.
                unsafe { marks.push::<V>(ends & all, records & all, at) };
                marks.lines += u64::from((newlines & all).count_ones());
            }
            return at + beyond.trailing_zeros() as usize + 1;
        }
        if let Some(marks) = &mut marks {
            // SAFETY: the caller vouches for the level.
            unsafe { marks.push::<V>(ends, records, at) };
            marks.lines += u64::from(newlines.count_ones());
        }
        if records != 0 {
            end = at + 64 - records.leading_zeros() as usize;
        }
        at += 64;
        let is_quiet = quotes && at - quoted > QUIET_BYTES && end > from;
        if wrong != 0 || is_quiet || at - end > MOST_FIELDS {
            break;
        }
    }
    if let Some(marks) = marks {
        marks.lines -= memchr_iter(b'\n', &text[end..at.min(text.len())]).count() as u64;
    }
    end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::record::{Field, Fields, Split, split};

    /// Records one after the other by the plain splitter, as far as they are well formed: their ends and the
    /// ranges of their fields.
    fn plainly(text: &[u8], from: usize, dialect: Dialect) -> Vec<(usize, Vec<Field>)> {
        let (mut at, mut records, mut fields) = (from, Vec::new(), Vec::new());
        while at < text.len() {
            match split(text, at, dialect, false, &mut fields) {
                Split::Record(end) => {
                    records.push((end, fields.clone()));
                    at = end;
                }
                Split::Blank(end) => {
                    records.push((end, Vec::new()));
                    at = end;
                }
                Split::Malformed(..) | Split::More => break,
            }
        }
        records
    }

    fn check(text: &[u8], from: usize, dialect: Dialect) {
        let records = plainly(text, from, dialect);
        for level in Level::available() {
            let marker = Marker::new(level);
            for limit in [from + 1, from + 17, from + 64, from + 100, text.len() + 1] {
                let mut marks = Marks::default();
                let end = marker.run(text, (from, limit), dialect, Some(&mut marks));
                let alone = marker.run(text, (from, limit), dialect, None);
                let shown = String::from_utf8_lossy(text);
                assert_eq!(end, alone, "{shown:?} {limit}");
                let found = records.iter().position(|(end, _)| *end >= limit);
                let expected = &records[..found.map_or(records.len(), |last| last + 1)];
                let last = expected.last().map_or(from, |(end, _)| *end);
                assert_eq!(end, last, "{shown:?} from {from} to {limit}, {level:?}");
                assert_eq!(marks.records.len(), expected.len(), "{shown:?}");
                let (mut first, mut start) = (0, from);
                for (&newline, (end, fields)) in marks.records.iter().zip(expected) {
                    let row = marks.row(text, start, first..newline as usize + 1, dialect.quotes);
                    assert_eq!(marks.fields[newline as usize] as usize + 1, *end, "{shown:?}");
                    match &fields[..] {
                        [] => assert!(row.is_blank(), "{shown:?}"),
                        fields => {
                            assert!(!row.is_blank(), "{shown:?}");
                            let found: Vec<_> = (0..row.len()).map(|at| row.get(at)).collect();
                            let fields: Vec<_> = fields.iter().copied().map(Some).collect();
                            assert_eq!(found, fields, "{shown:?}");
                        }
                    }
                    (first, start) = (newline as usize + 1, *end);
                }
                assert_eq!(first, marks.fields.len(), "{shown:?}");
                let whole = &text[from..end];
                let lines = whole.iter().filter(|&&byte| byte == b'\n').count();
                assert_eq!(marks.lines, lines as u64, "{shown:?}");
                assert!(
                    marks.escaped || whole.iter().all(|&byte| byte > composite::ESCAPE),
                    "{shown:?}"
                );
            }
        }
    }

    /// Text of fields that are often in quotes, and of bytes that mean something.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let field = prop_oneof![
            4 => "[a-z]{0,9}",
            4 => "\"([a-z,\n\r]|\"\"){0,12}\"",
            1 => "[a,\"\r\n\\x00-\\x02]{0,4}",
        ];
        let piece = (field, prop_oneof![6 => Just(","), 3 => Just("\n"), 1 => Just("\r\n")]);
        prop::collection::vec(piece, 0..60)
            .prop_map(|all| all.into_iter().flat_map(|(f, e)| (f + e).into_bytes()).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn marks_are_what_the_plain_splitter_finds(text in text(), quotes: bool) {
            let dialect = Dialect { delimiter: b',', quotes };
            let starts: Vec<_> = plainly(&text, 0, dialect).iter().map(|(end, _)| *end).collect();
            check(&text, 0, dialect);
            starts.iter().take(3).for_each(|&from| check(&text, from, dialect));
        }
    }

    #[test]
    fn every_byte_may_stand_at_every_place_of_a_block() {
        let dialect = Dialect { delimiter: b',', quotes: true };
        for piece in ["\"a\",b\n", "\"a\"\"b\",\"\n\"\r\n", "\"\",\"\"\r\n", "a\"b,c\n", "\"a\"b\n"]
        {
            for before in 0..130 {
                let text = format!("{},x\n{piece}{piece}z,y\n", "w".repeat(before));
                check(text.as_bytes(), 0, dialect);
            }
        }
    }

    #[test]
    fn marking_ends_where_quotes_become_rare() {
        let text = ["\"a\",1\n".repeat(10), "b,1\n".repeat(2000)].concat();
        let dialect = Dialect { delimiter: b',', quotes: true };
        let end = Marker::new(Level::best()).run(text.as_bytes(), (0, text.len()), dialect, None);
        assert!((60 + QUIET_BYTES..60 + QUIET_BYTES + 128).contains(&end), "{end}");
    }
}
