//! What a state says of itself: the question it answers, and of which input.
//!
//! It is the metadata of the schema, as JSON: [`Head`], for people and programs that look in.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::watched::STREAM;
use super::{StateError, VERSIONS};
use crate::approx::Approx;
use crate::delimited::Query;
use crate::engine::Options;
use crate::merge::Keep;
use crate::statistic::Statistic;

/// Everything but the groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    pub(super) question: Question,
    pub(super) keys: Vec<String>,
    pub(super) columns: Vec<ColumnHead>,
    /// Of all keys, those it has; all of them if nothing is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) partition: Option<Partition>,
    /// In the order of the input.
    pub(super) objects: Vec<Object>,
}

/// One of several lists of keys, into which their hashes put them: what is known of each can be merged by a process
/// of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    /// Which of them, from 0.
    pub number: u32,
    /// How many there are: 1 to [`MOST_PARTITIONS`].
    pub of: u32,
}

/// More partitions than processes merge.
pub const MOST_PARTITIONS: u32 = 1 << 16;

impl Partition {
    /// The number of the partition of a key: its XXH3 (64 bits) modulo how many there are.
    pub(super) fn of_key(key: &[u8], of: u32) -> u32 {
        (xxh3_64(key) % u64::from(of)) as u32
    }

    pub(super) fn is_one(self) -> bool {
        self.number < self.of && self.of <= MOST_PARTITIONS
    }

    pub(super) fn has(self, key: &[u8]) -> bool {
        Partition::of_key(key, self.of) == self.number
    }
}

/// As `fathom merge --partition` takes it.
impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "partition {}/{}", self.number, self.of)
    }
}

/// A value column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ColumnHead {
    pub(super) name: String,
    pub(super) is_text: bool,
    /// Of the finest value.
    pub(super) scale: u16,
    /// Whether all numbers fit decimals of 128 bits at that scale; otherwise they are texts.
    pub(super) fits: bool,
}

/// What was asked: states are merged if they were asked the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// How the text was read, in lines that are the same if and only if that was.
    pub query: String,
    /// What is to be told of each key, as users write it.
    pub stats: Vec<String>,
    /// Whether the input was `key;value` lines.
    pub is_plain: bool,
    /// Whether the parts of the key have names of their own.
    pub has_names: bool,
    /// What was kept: sums of squares.
    pub squares: bool,
    /// All different values with their counts.
    pub values: bool,
    /// The first and the last value.
    pub ends: bool,
    /// Sketches of how many values differ.
    #[serde(default, skip_serializing_if = "is_not")]
    pub sketch: bool,
    /// How near the values are that were kept; of the exact ones nothing is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approx: Option<Approx>,
    /// The parts of keys, from 0, that are in the order of [numbers](Query::number_parts).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub number_parts: Vec<usize>,
}

fn is_not(flag: &bool) -> bool {
    !flag
}

impl Question {
    /// What is asked of delimited text, or of `key;value` lines: which statistics, with these options.
    pub fn new(query: Option<&Query>, statistics: &[Statistic], options: &Options) -> Question {
        Question {
            query: query
                .map_or_else(|| "key;value lines".to_owned(), |query| query.told().join("\n")),
            stats: statistics.iter().map(ToString::to_string).collect(),
            is_plain: query.is_none(),
            has_names: query.is_some_and(Query::has_named_parts),
            squares: options.with_squares,
            values: options.with_values,
            ends: options.with_ends,
            sketch: options.with_sketch,
            approx: options.approx,
            number_parts: query.map(Query::number_parts).unwrap_or_default(),
        }
    }

    /// Whether it differs from another in nothing but what is guessed where nobody says it.
    pub(super) fn may_be_asked_as(&self, other: &Question) -> bool {
        const GUESSED: [&str; 6] =
            ["syntax", "delimiter", "quotes", "decimal comma", "header", "guessed header"];
        let is_said =
            |line: &&str| line.split_once(": ").is_none_or(|(what, _)| !GUESSED.contains(&what));
        // Columns by their places have names where a header was guessed.
        let said = |question: &Question| Question {
            query: question.query.lines().filter(is_said).collect::<Vec<_>>().join("\n"),
            has_names: false,
            ..question.clone()
        };
        self.is_plain == other.is_plain && said(self) == said(other)
    }

    /// What was kept of the values of a column.
    pub(super) fn keep(&self, texts: bool) -> Keep {
        let Question { squares, values, ends, sketch, approx, .. } = *self;
        Keep { squares, values, rounding: approx, sketch, ends, texts }.of(texts)
    }
}

/// What each of two questions has that the other one has not; all of both where that is nothing.
pub(super) fn differences(both: [&Question; 2]) -> [String; 2] {
    let all = both.map(|question| {
        let mut all: Vec<String> = question.query.lines().map(str::to_owned).collect();
        all.push(format!("stats: {}", question.stats.join(",")));
        all.extend(question.approx.map(|approx| format!("approx: {} %", approx.percent())));
        // What is sorted by is kept as well.
        let Question { squares, values, ends, sketch, .. } = *question;
        let kept = [(squares, "squares"), (values, "values"), (ends, "ends"), (sketch, "sketch")];
        all.extend(
            kept.iter().filter(|(is_kept, _)| *is_kept).map(|(_, what)| format!("with {what}")),
        );
        all
    });
    let without = |own: &[String], other: &[String]| {
        own.iter().filter(|piece| !other.contains(piece)).cloned().collect::<Vec<_>>()
    };
    let own = [without(&all[0], &all[1]), without(&all[1], &all[0])];
    let shown = if own.iter().all(Vec::is_empty) { all } else { own };
    shown.map(|pieces| if pieces.is_empty() { "nothing".to_owned() } else { pieces.join(", ") })
}

/// Something that is read: a file, an object of a store, a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// The path or address. Two objects never have the same, but for streams.
    pub name: String,
    /// Which one of the whole input it is, from 0; objects with the same number come by their names.
    /// What comes first and last depends on it.
    pub number: u64,
    /// How many the whole input has, if that is known.
    pub of: Option<u64>,
    /// What changes when its content does, such as an `ETag`.
    pub identity: String,
    /// Bytes it has.
    pub size: u64,
    /// What was read of it, in order, without overlap; ranges that touch are one.
    pub ranges: Vec<Range>,
}

/// Bytes of an object: of the records, those that start in them. A range is whole or not there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The first byte.
    pub start: u64,
    /// One behind the last.
    pub end: u64,
    /// As [`Summary::seam`](crate::Summary::seam).
    pub seam: Option<[u64; 2]>,
    /// Records taken.
    pub records: u64,
    /// Records refused.
    pub rejected: u64,
    /// Lines with nothing on them.
    pub blank_lines: u64,
    /// Records that a condition left out.
    pub left_out: u64,
    /// Bytes of (decompressed) input.
    pub bytes: u64,
    /// As [`Summary::lacks_header`](crate::Summary::lacks_header), if there were bytes.
    #[serde(default, skip_serializing_if = "is_not")]
    pub lacks_header: bool,
}

impl Range {
    /// Whether names of columns may come from it.
    fn has_names(&self) -> bool {
        self.bytes > 0 && !self.lacks_header
    }
}

/// More records than any input has, and bytes: no sum of counts reaches it.
const MOST_RECORDS: u64 = 1 << 60;

impl Head {
    /// The version of the format in which it is written: readers of the first know nothing of sketches, those of the
    /// second would take a partition for all keys, those of the third have no order of numbers for parts of keys, and
    /// those of the fourth take names from where there was no header.
    pub(super) fn version(&self) -> &'static str {
        if self.objects.iter().flat_map(|object| &object.ranges).any(|range| range.lacks_header) {
            return VERSIONS[4];
        }
        let Question { approx, sketch, number_parts, .. } = &self.question;
        let is_so =
            [true, approx.is_some() || *sketch, self.partition.is_some(), !number_parts.is_empty()];
        let last = is_so.iter().rposition(|&is_so| is_so).expect("the first is");
        VERSIONS[last]
    }

    /// Whether there was no record: whatever was guessed of a text without any, all answers are the same.
    pub(super) fn has_no_records(&self) -> bool {
        let has_none = |range: &Range| [range.records, range.rejected, range.left_out] == [0; 3];
        self.objects.iter().flat_map(|object| &object.ranges).all(has_none)
    }

    /// Records there were; nothing if a sum of what was counted is none that an input can have.
    pub(super) fn records(&self) -> Option<u64> {
        let ranges = self.objects.iter().flat_map(|object| &object.ranges);
        let mut sums = [0_u64; 5];
        for Range { records, rejected, blank_lines, left_out, bytes, .. } in ranges {
            for (sum, counted) in
                sums.iter_mut().zip([records, rejected, blank_lines, left_out, bytes])
            {
                *sum = sum.checked_add(*counted).filter(|&sum| sum < MOST_RECORDS)?;
            }
        }
        Some(sums[0])
    }

    /// Where the names of columns are from: the first place of the input that has any bytes, and the header if there
    /// is to be one.
    pub(super) fn names_from(&self) -> (bool, u64, &str, u64) {
        let place = |object: &&Object| object.ranges.first().map_or(0, |range| range.start);
        let with_names = |object: &&Object| object.ranges.iter().any(Range::has_names);
        let first = self.objects.iter().find(with_names);
        match first.or(self.objects.first()) {
            Some(object) => (first.is_none(), object.number, &object.name, place(&object)),
            None => (true, u64::MAX, "", 0),
        }
    }

    /// Whether objects and ranges are in order, and none is there twice.
    pub(super) fn is_in_order(&self) -> bool {
        let place = |object: &Object| (object.number, object.name.clone());
        let ordered = |pair: &[Object]| place(&pair[0]) < place(&pair[1]);
        let apart = |pair: &[Range]| pair[0].end < pair[1].start;
        let inside = |object: &Object| {
            let right = |range: &Range| range.start <= range.end && range.end <= object.size;
            !object.ranges.is_empty() && object.ranges.iter().all(right)
        };
        self.objects.windows(2).all(ordered)
            && self.objects.iter().all(|o| inside(o) && o.ranges.windows(2).all(apart))
    }
}

/// The objects of two states as one list.
///
/// # Errors
/// What was read twice, changed in between, or was cut in the middle of a record.
pub(super) fn joined(left: &[Object], right: &[Object]) -> Result<Vec<Object>, StateError> {
    let mut all: Vec<Object> = left.to_vec();
    let mut places: HashMap<_, usize> = left.iter().map(name).zip(0..).collect();
    for object in right {
        match places.get(&name(object)) {
            Some(&at) => take_in(&mut all[at], object)?,
            None => {
                places.insert(name(object), all.len());
                all.push(object.clone());
            }
        }
    }
    all.sort_by(|a, b| (a.number, &a.name).cmp(&(b.number, &b.name)));
    check_numbers(&all)?;
    let mut by_identity: Vec<&Object> = all.iter().filter(|o| is_of_file(&o.identity)).collect();
    by_identity.sort_by(|a, b| a.identity.cmp(&b.identity));
    if let Some(pair) = by_identity.windows(2).find(|pair| pair[0].identity == pair[1].identity) {
        let [one, other] = [pair[0], pair[1]].map(|object| object.name.clone());
        return Err(StateError::SameFile { one, other });
    }
    Ok(all)
}

/// Whether objects, in order, can be of one input: all that say how many it has say the same, and then each has a
/// number of its own below that. Streams, which have one name, have numbers of their own in any case.
///
/// # Errors
/// Two that contradict each other.
pub(super) fn check_numbers(all: &[Object]) -> Result<(), StateError> {
    let told: Vec<(&Object, u64)> = all.iter().filter_map(|o| Some((o, o.of?))).collect();
    if let Some(pair) = told.windows(2).find(|pair| pair[0].1 != pair[1].1) {
        let [(one, first), (other, second)] =
            [pair[0], pair[1]].map(|(o, of)| (o.name.clone(), of));
        return Err(StateError::OtherCount { one, other, counts: [first, second] });
    }
    let of = told.first().map(|(_, of)| *of);
    let same = |pair: &&[Object]| {
        pair[0].number == pair[1].number && (of.is_some() || pair[0].name == pair[1].name)
    };
    if let Some(pair) = all.windows(2).find(same) {
        let [one, other] = [&pair[0], &pair[1]].map(|object| object.name.clone());
        return Err(StateError::SameNumber { one, other, number: pair[0].number });
    }
    match (all.last(), of) {
        (Some(last), Some(of)) if last.number >= of => {
            Err(StateError::Beyond { name: last.name.clone(), number: last.number, of })
        }
        _ => Ok(()),
    }
}

/// What two states call the same object. Streams have no names of their own, and the same bytes may come twice.
fn name(object: &Object) -> (&str, Option<(&str, u64)>) {
    let is_stream = object.name == "-" || object.identity.starts_with(STREAM);
    (&object.name, is_stream.then_some((&*object.identity, object.number)))
}

/// Whether an identity names one file, and not only what is in it.
fn is_of_file(identity: &str) -> bool {
    identity.starts_with("file:")
}

fn take_in(known: &mut Object, more: &Object) -> Result<(), StateError> {
    let name = || known.name.clone();
    if (&known.identity, known.size) != (&more.identity, more.size) {
        let [one, other] = [&*known, more].map(|o| format!("{} ({} bytes)", o.identity, o.size));
        return Err(StateError::Changed { name: name(), one, other });
    }
    let mut ranges = [&known.ranges[..], &more.ranges].concat();
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start < last.end || range.start == range.end => {
                let end = range.end.min(last.end);
                return Err(StateError::Twice { name: name(), start: range.start, end });
            }
            Some(last) if range.start == last.end => append(last, &range, &known.name)?,
            _ => merged.push(range),
        }
    }
    if (known.number, known.of) != (more.number, more.of) {
        return Err(StateError::OtherNumber { name: name(), numbers: [known.number, more.number] });
    }
    known.ranges = merged;
    Ok(())
}

/// Two ranges that touch become one.
fn append(range: &mut Range, more: &Range, name: &str) -> Result<(), StateError> {
    let has_names = range.has_names() || more.has_names();
    let (next, first) = (range.seam.map(|[_, next]| next), more.seam.map(|[first, _]| first));
    if next != first {
        let (name, at) = (name.to_owned(), range.end);
        let starts = [next, first].map(Option::unwrap_or_default);
        return Err(StateError::Seam { name, at, starts });
    }
    range.seam = range.seam.zip(more.seam).map(|([first, _], [_, next])| [first, next]);
    range.lacks_header = !has_names && (range.lacks_header || more.lacks_header);
    range.end = more.end;
    range.records += more.records;
    range.rejected += more.rejected;
    range.blank_lines += more.blank_lines;
    range.left_out += more.left_out;
    range.bytes += more.bytes;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delimited::By;
    use crate::selector::Selector;

    #[test]
    fn a_state_has_the_version_of_the_first_readers_that_understand_it() {
        let version = |approx, partition, number_parts: &[usize]| {
            let question =
                Question { approx, number_parts: number_parts.to_vec(), ..Question::default() };
            let (keys, columns, objects) = Default::default();
            Head { question, keys, columns, partition, objects }.version()
        };
        let (approx, partition) = (Some(Approx::Percent), Some(Partition { number: 0, of: 2 }));
        assert_eq!(version(None, None, &[]), "1");
        assert_eq!(version(approx, None, &[]), "2");
        assert_eq!([version(None, partition, &[]), version(approx, partition, &[])], ["3", "3"]);
        for (approx, partition) in [(None, None), (approx, None), (None, partition)] {
            assert_eq!(version(approx, partition, &[1]), "4");
        }
        let ranges = vec![Range { lacks_header: true, ..Range::default() }];
        let (question, keys, columns, partition) = Default::default();
        let objects = vec![Object { ranges, ..Object::default() }];
        assert_eq!(Head { question, keys, columns, partition, objects }.version(), "5");
    }

    #[test]
    fn questions_are_told_apart_by_what_differs() {
        let mut query = Query::new(b',');
        query.by = ["a,{\"", "b:10"].map(|name| By::of(Selector::Name(name.to_owned()))).to_vec();
        let options = Options::default();
        let question =
            |query: &Query, stats: &[Statistic]| Question::new(Some(query), stats, &options);
        let one = question(&query, &[Statistic::Mean]);
        query.delimiter = b';';
        query.trim = true;
        let other = question(&query, &[Statistic::Mean]);
        let expected = ["delimiter: ',', trim: false", "delimiter: ';', trim: true"];
        assert_eq!(differences([&one, &other]), expected.map(str::to_owned));
        let third = question(&query, &[Statistic::Max]);
        let expected = ["stats: mean", "stats: max"];
        query.syntax = crate::Syntax::Access { combined: true };
        let [_, log] = differences([&other, &question(&query, &[Statistic::Mean])]);
        assert_eq!(log, "syntax: access log, combined");
        let sorted = Options { with_values: true, ..Options::default() };
        let sorted = Question::new(Some(&query), &[Statistic::Mean], &sorted);
        let [nothing, more] = differences([&question(&query, &[Statistic::Mean]), &sorted]);
        assert_eq!([&*nothing, &*more], ["nothing", "with values"]);
        query.syntax = crate::Syntax::Delimited;
        assert_eq!(differences([&other, &third]), expected.map(str::to_owned));
        let [plain, _] = differences([&Question::new(None, &[], &options), &other]);
        assert_eq!(plain, "key;value lines, stats: ");
        let [whole, _] = differences([&one, &one]);
        assert!(whole.contains(r#"by: "a,{\"", "b":10"#), "{whole}");
    }
}
