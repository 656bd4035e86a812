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

/// Bytes that are marked before it is asked how many there are, and whether quotes have become rare.
const STRETCH_BYTES: usize = QUIET_BYTES;

/// Behind so many bytes of a record none of its bytes is marked, so that it has no more fields than a record may have.
const MOST_BYTES: usize = MOST_FIELDS - 64;

impl Marks {
    fn clear(&mut self) {
        self.fields.clear();
        self.records.clear();
        (self.lines, self.doubled, self.escaped) = (0, false, false);
    }

    /// Takes off what follows the last whole record.
    fn cut(&mut self) {
        self.fields.truncate(self.records.last().map_or(0, |&last| last as usize + 1));
    }
}

/// Room for the marks of a stretch, and how many there are.
struct Room<'a> {
    marks: &'a mut Marks,
    fields: usize,
    records: usize,
}

impl<'a> Room<'a> {
    fn new(marks: &'a mut Marks) -> Room<'a> {
        marks.fields.reserve(STRETCH_BYTES + SURPLUS);
        marks.records.reserve(STRETCH_BYTES);
        Room { fields: marks.fields.len(), records: marks.records.len(), marks }
    }

    /// Adds the marks of 64 bytes.
    ///
    /// # Safety
    /// No more than [`STRETCH_BYTES`] are added; the level of `V` is available.
    #[inline(always)]
    unsafe fn push<V: Vector>(&mut self, Block { ends, newlines, .. }: Block, at: usize) {
        let behind = |newline: u64| {
            let before = ends & newline.wrapping_sub(1);
            self.fields as u32 + before.count_ones()
        };
        let (mut left, mut records) = (ends & newlines, self.records);
        // SAFETY: there is room for 64 marks and a surplus, and for 64 records, of which the first is written in any case;
        // the caller vouches for the level.
        unsafe {
            let into = self.marks.records.as_mut_ptr();
            *into.add(records) = behind(left & left.wrapping_neg());
            records += usize::from(left != 0);
            left &= left.wrapping_sub(1);
            while left != 0 {
                *into.add(records) = behind(left & left.wrapping_neg());
                records += 1;
                left &= left - 1;
            }
            let into = self.marks.fields.as_mut_ptr().add(self.fields);
            V::write_positions::<FIRST>(ends, at as u32, into);
        }
        self.records = records;
        self.fields += ends.count_ones() as usize;
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        // SAFETY: so many were written.
        unsafe {
            self.marks.fields.set_len(self.fields);
            self.marks.records.set_len(self.records);
        }
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

/// What the bytes before a block mean for it.
#[derive(Clone, Copy)]
struct Before {
    /// All bits if the last one is inside quotes.
    inside: u64,
    /// The first bit if it ended a field.
    ended: u64,
    /// The first bit if it closed a quote.
    closed: u64,
}

/// What 64 bytes are, a bit for each.
#[derive(Clone, Copy)]
struct Block {
    /// Ends of fields, up to the first byte that is wrong.
    ends: u64,
    newlines: u64,
    /// What well-formed text does not have.
    wrong: u64,
    /// Quotes that make one with that before them.
    doubled: u64,
    /// Bytes that keys of several parts have as others.
    escaped: u64,
    /// Whether quotes stand among them or around them.
    is_quoted: bool,
    behind: Before,
}

impl Block {
    /// The block at `from`, before which stands `before`, and behind it `next`; of the 64 readable bytes only the `valid` ones
    /// belong to the text.
    ///
    /// # Safety
    /// The level of `V` is available.
    #[inline(always)]
    unsafe fn of<V: Vector>(
        (from, next, valid): (*const u8, u8, u64),
        Dialect { delimiter, quotes }: Dialect,
        before: Before,
    ) -> Block {
        // SAFETY: there are 64 bytes; the caller vouches for the level.
        let all = unsafe { V::load_64(from) };
        let find = |byte: u8| {
            // SAFETY: as above.
            unsafe {
                let byte = V::splat(byte);
                V::bits_64(fathom_machine::each_64!(V, all, v => v.is(byte))) & valid
            }
        };
        // SAFETY: as above.
        let escaped = unsafe {
            let escape = V::splat(composite::ESCAPE);
            V::bits_64(fathom_machine::each_64!(V, all, v => v.is_at_most(escape))) & valid
        };
        let newlines = find(b'\n');
        let mut ends = find(delimiter) | newlines;
        let (mut wrong, mut doubled) = (0, 0);
        let found = if quotes { find(b'"') } else { 0 };
        let mut behind = Before { inside: 0, ended: 0, closed: 0 };
        let is_quoted = found | before.inside | before.closed != 0;
        if is_quoted {
            // SAFETY: as above.
            let within = unsafe { V::parities(found) } ^ before.inside;
            let (opening, closing) = (found & within, found & !within);
            ends &= !within;
            let after_closing = closing << 1 | before.closed;
            let after_end = ends << 1 | before.ended;
            wrong = opening & !(after_end | after_closing);
            wrong |= after_closing & !(ends | opening) & valid;
            if wrong != 0 {
                // A quote that closes may stand before a carriage return that belongs to the line's end.
                let feeds = newlines >> 1 | u64::from(next == b'\n') << 63;
                wrong &= !(find(b'\r') & feeds);
            }
            doubled = opening & after_closing;
            // A quote that closes at the very end is not inside.
            let inside = ((within as i64) >> 63) as u64;
            behind = Before { inside, ended: 0, closed: closing >> 63 };
        }
        behind.ended = ends >> 63;
        ends &= (wrong & wrong.wrapping_neg()).wrapping_sub(1);
        Block { ends, newlines, wrong, doubled, escaped, is_quoted, behind }
    }
}

/// How far marking is.
#[derive(Clone, Copy)]
struct Progress {
    at: usize,
    /// Behind the last whole record.
    end: usize,
    /// The last block with a quote.
    quoted: usize,
    before: Before,
}

/// Marks blocks that end at `stop` at most, behind which the text goes on, while they are well formed.
///
/// # Safety
/// The level of `V` is available.
#[inline(always)]
unsafe fn stretch<V: Vector>(
    text: &[u8],
    Progress { mut at, mut end, mut quoted, mut before }: Progress,
    stop: usize,
    dialect: Dialect,
    marks: &mut Marks,
) -> Progress {
    assert!(stop < text.len() && stop <= at + STRETCH_BYTES);
    let (mut lines, mut doubled, mut escaped) = (0, 0, 0);
    let mut room = Room::new(marks);
    let first = room.records;
    while at + 64 <= stop {
        // SAFETY: a byte follows the block, which is one of as many as there is room for; the caller vouches for the level.
        unsafe {
            let next = *text.get_unchecked(at + 64);
            let block = Block::of::<V>((text.as_ptr().add(at), next, u64::MAX), dialect, before);
            if block.wrong != 0 {
                break;
            }
            room.push::<V>(block, at);
            before = block.behind;
            lines += u64::from(block.newlines.count_ones());
            (doubled, escaped) = (doubled | block.doubled, escaped | block.escaped);
            quoted = if block.is_quoted { at } else { quoted };
        }
        at += 64;
    }
    let is_new = room.records > first;
    drop(room);
    if let (true, Some(&last)) = (is_new, marks.records.last()) {
        end = marks.fields[last as usize] as usize + 1;
    }
    marks.lines += lines;
    marks.doubled |= doubled != 0;
    marks.escaped |= escaped != 0;
    Progress { at, end, quoted, before }
}

/// # Safety
/// The level of `V` is available.
#[inline(always)]
unsafe fn mark<V: Vector>(
    text: &[u8],
    (from, limit): (usize, usize),
    dialect: Dialect,
    mut marks: Option<&mut Marks>,
) -> usize {
    let before = Before { inside: 0, ended: 1, closed: 0 };
    let mut progress = Progress { at: from, end: from, quoted: from, before };
    // Behind the text may stand what stood in a block before: no bit of it is looked at.
    let mut last = [0; 64];
    let last_start = limit.max(from + 1) - 1;
    while progress.at < text.len() {
        if let Some(marks) = &mut marks {
            // Up to where marking may end, by whatever of what ends it below.
            let Progress { at, end, quoted, .. } = progress;
            let stop = last_start.min(text.len() - 1).min(at + STRETCH_BYTES).min(end + MOST_BYTES);
            let stop = if dialect.quotes { stop.min(quoted + QUIET_BYTES) } else { stop };
            // SAFETY: the caller vouches for the level.
            progress = unsafe { stretch::<V>(text, progress, stop, dialect, marks) };
        }
        let at = progress.at;
        let rest = &text[at..];
        let block = match rest.get(64) {
            Some(&next) => (rest.as_ptr(), next, u64::MAX),
            None => {
                last[..rest.len()].copy_from_slice(rest);
                (last.as_ptr(), 0, u64::MAX >> (64 - rest.len()))
            }
        };
        // SAFETY: there are 64 bytes; the caller vouches for the level.
        let mut block = unsafe { Block::of::<V>(block, dialect, progress.before) };
        if block.is_quoted {
            progress.quoted = at;
        }
        // The first record that ends at the limit or behind it is the last one.
        let records = block.ends & block.newlines;
        let is_near = last_start < at + 64;
        let beyond = records & u64::MAX << last_start.saturating_sub(at).min(63);
        let is_last = is_near && beyond != 0;
        if is_last {
            let all = beyond ^ (beyond - 1);
            (block.ends, block.newlines) = (block.ends & all, block.newlines & all);
        }
        let records = block.ends & block.newlines;
        if let Some(marks) = &mut marks {
            // SAFETY: a block is less than a stretch; the caller vouches for the level.
            unsafe { Room::new(marks).push::<V>(block, at) };
            marks.lines += u64::from(block.newlines.count_ones());
            marks.doubled |= block.doubled != 0;
            marks.escaped |= block.escaped != 0;
        }
        if records != 0 {
            progress.end = at + 64 - records.leading_zeros() as usize;
        }
        if is_last {
            return progress.end;
        }
        progress.before = block.behind;
        progress.at += 64;
        let Progress { at, end, quoted, .. } = progress;
        let is_quiet = dialect.quotes && at - quoted > QUIET_BYTES && end > from;
        if block.wrong != 0 || is_quiet || at - end > MOST_BYTES {
            break;
        }
    }
    let Progress { at, end, .. } = progress;
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
                Split::Malformed { .. } | Split::More => break,
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
                let is_plain = whole.iter().all(|&byte| byte > composite::ESCAPE);
                assert!(marks.escaped || is_plain, "{shown:?}");
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
    fn no_record_with_more_fields_than_there_may_be_is_marked_wherever_its_blocks_end() {
        for surplus in [0, 1, 30, 62, 63, 64, 100] {
            let long = [&b",".repeat(MOST_FIELDS + surplus)[..], b"\nx,y\n"].concat();
            for before in [0, 1, 40, 63] {
                let text = [&b"y".repeat(before)[..], b",\n", &long].concat();
                for (level, quotes) in Level::available().flat_map(|l| [(l, false), (l, true)]) {
                    let dialect = Dialect { delimiter: b',', quotes };
                    let end = Marker::new(level).run(&text, (0, text.len()), dialect, None);
                    assert_eq!(end, before + 2, "{surplus} more behind {before}, {level:?}");
                }
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
