//! States: what is known of a part of the input, as bytes that other processes and machines add to
//! what they know.
//!
//! ```text
//! Arrow's stream: schema, whose metadata is the head │ batches of groups │ end │ trailer
//!                                                                               "fathom state end", length, XXH3
//! ```
//!
//! A state is exact and says where it comes from: which ranges of which objects, and what each of them
//! had. Merging is associative and commutative down to the last byte of what is written, and refuses
//! what it has already, what changed in between, and ranges that were cut inside a record. Where there are
//! too many keys for one process, a state is split into [partitions](Partition) of them. The bytes
//! are a stream that every Arrow library reads (`docs/scaling.md` has the columns); the trailer behind its
//! end is for us, and what it does not vouch for is not read.
//!
//! Nothing here reads or writes files.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_64;

use crate::engine::{Column, Summary};
use crate::merge::{self, Partial};
use crate::number::MOST_DIGITS;

mod flat;
mod groups;
mod head;
mod message;
mod plan;
mod watched;

use flat::Table;
use head::{ColumnHead, Head, check_numbers, differences, joined};
pub use head::{MOST_PARTITIONS, Object, Partition, Question, Range};
pub use plan::{Piece, plan};
pub use watched::Watch;

/// The versions of the format, which readers of others refuse: that of exact states, that of states with
/// sketches, that of states with some of the keys, that of states whose keys are in the order of numbers, and that of
/// states of text in which there was no header where one was to be.
pub const VERSIONS: [&str; 5] = ["1", "2", "3", "4", "5"];

/// What the bytes of a state end with, before their length and their hash.
const TRAILER: [u8; 16] = *b"fathom state end";

/// Bytes of the trailer: with the end of the stream a multiple of those of messages.
const TRAILER_BYTES: usize = 56;

/// Groups in a batch.
const BATCH_GROUPS: usize = 1 << 16;

/// Why bytes are no state, or states do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// They do not begin as a state does.
    #[error("this is no state of fathom")]
    Foreign,
    /// They end too early, or are not what was written.
    #[error("the state is damaged: {0}")]
    Damaged(&'static str),
    /// Another version wrote it.
    #[error("the state has version {found} of the format, this program reads {}", VERSIONS.join(", "))]
    Version {
        /// Its version.
        found: String,
    },
    /// There is nothing to merge.
    #[error("there is no state")]
    None,
    /// They answer different questions.
    #[error(
        "the states answer different questions: {one} and {other}{}",
        if *.were_guessed { " (not all of this was said: options that say it are the same for all)" } else { "" }
    )]
    Question {
        /// One of them.
        one: String,
        /// Another.
        other: String,
        /// Whether they differ in what may have been guessed alone.
        were_guessed: bool,
    },
    /// An object is not what it was.
    #[error("{name} changed between two states: it was {one}, then {other}")]
    Changed {
        /// The object.
        name: String,
        /// What it was in one of them.
        one: String,
        /// And in another.
        other: String,
    },
    /// Two objects have the same number, or one name.
    #[error("{one} and {other} are both number {number} of the input: --number gives each its own")]
    SameNumber {
        /// An object.
        one: String,
        /// Another.
        other: String,
        /// The number of both.
        number: u64,
    },
    /// Two objects say how many there are, and not the same.
    #[error("the input has {} objects by {one}, {} by {other}", .counts[0], .counts[1])]
    OtherCount {
        /// An object.
        one: String,
        /// Another.
        other: String,
        /// How many they say there are.
        counts: [u64; 2],
    },
    /// An object has a number that is none of its input.
    #[error("{name} is number {number} of an input of {of} objects, whose first is number 0")]
    Beyond {
        /// The object.
        name: String,
        /// Its number.
        number: u64,
        /// How many there are.
        of: u64,
    },
    /// An object has two numbers.
    #[error("{name} is number {} of the input in one state and {} in another, or of others", .numbers[0], .numbers[1])]
    OtherNumber {
        /// The object.
        name: String,
        /// Its numbers.
        numbers: [u64; 2],
    },
    /// A file under two names.
    #[error("{one} and {other} are the same file")]
    SameFile {
        /// A name.
        one: String,
        /// Another.
        other: String,
    },
    /// Bytes were read twice.
    #[error("bytes {start} to {end} of {name} are in two states")]
    Twice {
        /// The object.
        name: String,
        /// The first byte.
        start: u64,
        /// One behind the last.
        end: u64,
    },
    /// Two ranges do not agree where a record starts.
    #[error(
        "{name} cannot be cut at byte {at}: the range before it says that the next record starts at byte \
         {}, the range behind it says {}, as happens in a record with line breaks in quotes; `fathom plan --records` cuts between \
         records",
        .starts[0], .starts[1]
    )]
    Seam {
        /// The object.
        name: String,
        /// Where they touch.
        at: u64,
        /// What each says.
        starts: [u64; 2],
    },
    /// Bytes were not read.
    #[error("bytes {start} to {end} of {name} are in no state")]
    Gap {
        /// The object.
        name: String,
        /// The first byte.
        start: u64,
        /// One behind the last.
        end: u64,
    },
    /// They have different keys.
    #[error("the states have different keys: {one} and {other}")]
    Keys {
        /// What one of them has.
        one: String,
        /// And another.
        other: String,
    },
    /// Partitions that do not know of the same input.
    #[error("{one} and {other} of the keys were merged from different states")]
    Uneven {
        /// A partition.
        one: Partition,
        /// Another.
        other: Partition,
    },
    /// Keys are missing.
    #[error("{missing} of the keys is in no state")]
    NoPartition {
        /// The first that is missing.
        missing: Partition,
    },
    /// An object was not read.
    #[error("number {number} of the {of} objects of the input is in no state")]
    Missing {
        /// Its number.
        number: u64,
        /// How many there are.
        of: u64,
    },
}

/// What is known of a part of the input.
#[derive(Clone, Debug)]
pub struct State {
    head: Head,
    columns: Vec<Column>,
}

impl State {
    /// The result of a run over one object, of which `object` has everything but the ranges; the run
    /// read `start..end`.
    pub fn new(
        summary: Summary,
        question: Question,
        object: Object,
        [start, end]: [u64; 2],
    ) -> State {
        let range = Range {
            start,
            end,
            seam: summary.seam,
            records: summary.records,
            rejected: summary.rejected,
            blank_lines: summary.blank_lines,
            left_out: summary.left_out,
            bytes: summary.bytes,
            lacks_header: summary.lacks_header && summary.bytes > 0,
        };
        let objects = vec![Object { ranges: vec![range], ..object }];
        let Summary { columns, keys, .. } = summary;
        let head = Head { question, keys, columns: Vec::new(), partition: None, objects };
        State { head, columns }
    }

    /// What was asked.
    pub fn question(&self) -> &Question {
        &self.head.question
    }

    /// What was read, in the order of the input.
    pub fn objects(&self) -> &[Object] {
        &self.head.objects
    }

    /// The partition of the keys that it has; none if it has all of them.
    pub fn partition(&self) -> Option<Partition> {
        self.head.partition
    }

    /// The state in `of` partitions of its keys.
    ///
    /// # Errors
    /// [`StateError::Keys`] if it has some of them only.
    ///
    /// # Panics
    /// If `of` is 0 or above [`MOST_PARTITIONS`].
    pub fn split(self, of: u32) -> Result<Vec<State>, StateError> {
        assert!((1..=MOST_PARTITIONS).contains(&of), "{of} partitions");
        if self.head.partition.is_some() {
            let other = format!("all, to be split into {of}");
            return Err(StateError::Keys { one: keys_of(self.head.partition), other });
        }
        let place = |group: &Partial| Partition::of_key(&group.key, of) as usize;
        let mut parts: Vec<State> = (0..of)
            .map(|number| {
                let head = Head { partition: Some(Partition { number, of }), ..self.head.clone() };
                State { head, columns: Vec::new() }
            })
            .collect();
        for column in self.columns {
            let Column { groups, .. } = column;
            let about = Column { groups: Vec::new(), ..column };
            parts.iter_mut().for_each(|part| part.columns.push(about.clone()));
            for group in groups {
                let part = &mut parts[place(&group)];
                part.columns.last_mut().expect("pushed above").groups.push(group);
            }
        }
        Ok(parts)
    }

    /// All partitions of the keys as a state that has them all.
    fn joined(parts: Vec<State>) -> Result<State, StateError> {
        let first = &parts[0];
        let Some(partition) = first.head.partition else {
            let other = keys_of(parts[1].head.partition);
            return Err(StateError::Keys { one: keys_of(None), other });
        };
        for (number, part) in (0..).zip(&parts) {
            let own = part.head.partition.expect("those of all keys come first");
            if own.of != partition.of {
                let [one, other] = [partition, own].map(|one| one.to_string());
                return Err(StateError::Keys { one, other });
            }
            if own.number != number {
                return Err(StateError::NoPartition { missing: Partition { number, ..own } });
            }
            first.check_same_question(part)?;
            if part.head.objects != first.head.objects {
                return Err(StateError::Uneven { one: partition, other: own });
            }
        }
        if parts.len() < partition.of as usize {
            let missing = Partition { number: parts.len() as u32, ..partition };
            return Err(StateError::NoPartition { missing });
        }
        let head = Head { partition: None, ..first.head.clone() };
        let columns = merged(parts.into_iter().map(|part| part.columns));
        Ok(State { head, columns })
    }

    /// Both as one.
    ///
    /// # Errors
    /// What does not go together.
    pub fn merge(self, other: State) -> Result<State, StateError> {
        if self.head.partition != other.head.partition {
            let [one, other] = [&self, &other].map(|state| keys_of(state.head.partition));
            return Err(StateError::Keys { one, other });
        }
        let (mut own, mut more) = (self, other);
        // Of no records little could be guessed.
        if own.head.has_no_records() && own.head.question.may_be_asked_as(&more.head.question) {
            own.head.question.clone_from(&more.head.question);
        } else if more.head.has_no_records()
            && more.head.question.may_be_asked_as(&own.head.question)
        {
            more.head.question.clone_from(&own.head.question);
        }
        own.check_same_question(&more)?;
        let objects = joined(&own.head.objects, &more.head.objects)?;
        let names_are_own = own.head.names_from() <= more.head.names_from();
        if own.head.question.ends {
            own.renumber(&objects);
            more.renumber(&objects);
        }
        let (named, rest) = if names_are_own { (own, more) } else { (more, own) };
        let columns = merged([named.columns, rest.columns].into_iter());
        let head = Head { objects, ..named.head };
        if head.records().is_none() {
            return Err(StateError::Damaged("its counts are too large"));
        }
        Ok(State { head, columns })
    }

    /// Checks that another state answers the same question.
    ///
    /// # Errors
    /// What differs.
    pub fn check_same_question(&self, other: &State) -> Result<(), StateError> {
        if self.asked() == other.asked() {
            return Ok(());
        }
        let were_guessed = self.head.question.may_be_asked_as(&other.head.question);
        let [one, other] = differences([self, other].map(|state| &state.head.question));
        Err(StateError::Question { one, other, were_guessed })
    }

    /// What is to be the same in states that go together.
    fn asked(&self) -> (&Question, Vec<bool>, usize) {
        let texts = self.columns.iter().map(|column| column.is_text);
        (&self.head.question, texts.collect(), self.head.keys.len())
    }

    /// Gives places in objects the numbers that the objects have in another list.
    fn renumber(&mut self, objects: &[Object]) {
        let place = |own: &Object| {
            let before = |o: &Object| (o.number, &o.name) < (own.number, &own.name);
            objects.partition_point(before)
        };
        let places: Vec<usize> = self.head.objects.iter().map(place).collect();
        for column in &mut self.columns {
            column.groups.iter_mut().for_each(|group| group.stats.renumber(&places));
        }
    }

    /// Whether all of the input is in it that it knows of.
    ///
    /// # Errors
    /// The first thing that is missing.
    pub fn check_whole(&self) -> Result<(), StateError> {
        if let Some(own) = self.head.partition.filter(|own| own.of > 1) {
            let missing = Partition { number: u32::from(own.number == 0), ..own };
            return Err(StateError::NoPartition { missing });
        }
        for object in &self.head.objects {
            let mut at = 0;
            let ranges = object.ranges.iter().map(|range| [range.start, range.end]);
            for [start, end] in ranges.chain([[object.size; 2]]) {
                if start > at {
                    let name = object.name.clone();
                    return Err(StateError::Gap { name, start: at, end: start });
                }
                at = end;
            }
        }
        let Some(of) = self.head.objects.iter().find_map(|object| object.of) else { return Ok(()) };
        // In order, and each has a number of its own: what is missing is where they leave the count.
        let known = (0..).zip(&self.head.objects).take_while(|(at, own)| *at == own.number).count();
        match known as u64 {
            number if number < of => Err(StateError::Missing { number, of }),
            _ => Ok(()),
        }
    }

    /// What a run over all of it would have returned, but for the rejects that are shown.
    pub fn into_summary(self) -> Summary {
        let mut summary =
            Summary { columns: self.columns, keys: self.head.keys, ..Summary::default() };
        for range in self.head.objects.iter().flat_map(|object| &object.ranges) {
            summary.records += range.records;
            summary.rejected += range.rejected;
            summary.blank_lines += range.blank_lines;
            summary.left_out += range.left_out;
            summary.bytes += range.bytes;
        }
        summary
    }

    /// The bytes of the state: the same for all states that say the same.
    pub fn to_bytes(&self) -> Vec<u8> {
        let question = &self.head.question;
        let about = |column: &Column| ColumnHead {
            name: column.name.clone(),
            is_text: column.is_text,
            scale: column.scale,
            fits: column.is_text || groups::fits(column, question),
        };
        let head = Head { columns: self.columns.iter().map(about).collect(), ..self.head.clone() };
        let fields = groups::fields(&head);
        let mut bytes = schema(&head, &fields);
        let groups = self.columns[0].groups.len();
        for start in (0..groups).step_by(BATCH_GROUPS) {
            let end = (start + BATCH_GROUPS).min(groups);
            let data = groups::written(&head, &fields, &self.columns, start..end);
            bytes.extend(message::batch(&data, end - start));
        }
        bytes.extend(message::END);
        let trailer = trailer_of(&bytes);
        bytes.extend(trailer);
        bytes
    }

    /// All states that stand in some bytes, one behind the other, at least one.
    ///
    /// # Errors
    /// What is wrong with the first that is none.
    pub fn all(bytes: &[u8]) -> Result<Vec<State>, StateError> {
        State::all_of(bytes, None)
    }

    /// The same of one partition of the keys, if one is wanted: of the others nothing is kept while it is read.
    ///
    /// # Errors
    /// The same, and [`StateError::Keys`] of a state that has another partition.
    pub fn all_of(mut bytes: &[u8], wanted: Option<Partition>) -> Result<Vec<State>, StateError> {
        assert!(wanted.is_none_or(Partition::is_one), "{wanted:?}");
        let mut states = Vec::new();
        while !bytes.is_empty() || states.is_empty() {
            let (state, rest) = State::first(bytes, wanted).map_err(|error| match error {
                StateError::Foreign if !states.is_empty() => {
                    StateError::Damaged("what stands behind it is none")
                }
                error => error,
            })?;
            states.push(state);
            bytes = rest;
        }
        Ok(states)
    }

    /// How many keys the states have that stand in some bytes, without reading what is known of them.
    ///
    /// # Errors
    /// What is wrong with the first that is none, as far as it is read.
    pub fn count_keys(mut bytes: &[u8]) -> Result<usize, StateError> {
        let mut keys = 0_usize;
        while !bytes.is_empty() {
            let (frame, rest) = Frame::first(bytes)?;
            let mut counts = frame.batches.iter().map(|(table, _)| message::rows(*table));
            let all = counts.try_fold(keys, |all, rows| all.checked_add(rows?));
            keys = all.ok_or(StateError::Damaged("its groups cannot be read"))?;
            bytes = rest;
        }
        Ok(keys)
    }

    fn first(bytes: &[u8], wanted: Option<Partition>) -> Result<(State, &[u8]), StateError> {
        let damaged = StateError::Damaged;
        let (frame, rest) = Frame::first(bytes)?;
        let head = message::metadata(frame.schema, HEAD_KEY);
        let head: Option<Head> = head.and_then(|text| serde_json::from_slice(text).ok());
        let mut state = State::empty(head.ok_or(damaged("its head cannot be read"))?)?;
        let fields = groups::fields(&state.head);
        if schema(&state.head, &fields) != frame.schema_bytes {
            return Err(damaged("its columns are not those of its head"));
        }
        if let Some((own, wanted)) =
            state.head.partition.zip(wanted).filter(|(own, other)| own != other)
        {
            return Err(StateError::Keys { one: own.to_string(), other: wanted.to_string() });
        }
        let mut last = None;
        for (table, body) in frame.batches {
            message::columns(table, body, &fields)
                .and_then(|(len, data)| {
                    let head = (&state.head, wanted);
                    groups::read(head, (len, &data), &mut last, &mut state.columns)
                })
                .ok_or(damaged("its groups cannot be read"))?;
        }
        state.head.partition = state.head.partition.or(wanted);
        Ok((state, rest))
    }

    /// With this head and no groups.
    fn empty(head: Head) -> Result<State, StateError> {
        if head.columns.is_empty() || head.keys.is_empty() {
            return Err(StateError::Damaged("it has no columns"));
        }
        if head.columns.iter().any(|column| column.scale > MOST_DIGITS) {
            return Err(StateError::Damaged("its numbers have too many digits"));
        }
        if head.partition.is_some_and(|partition| !partition.is_one()) {
            return Err(StateError::Damaged("its partition is none"));
        }
        let parts = &head.question.number_parts;
        if !parts.is_sorted_by(|a, b| a < b)
            || parts.last().is_some_and(|&at| at >= head.keys.len())
        {
            return Err(StateError::Damaged("its order is of parts that keys do not have"));
        }
        if head.objects.is_empty() || !head.is_in_order() || head.records().is_none() {
            return Err(StateError::Damaged("its objects are not in order"));
        }
        check_numbers(&head.objects)?;
        let column = |about: &ColumnHead| Column {
            name: about.name.clone(),
            groups: Vec::new(),
            scale: about.scale,
            is_text: about.is_text,
            total: None,
        };
        let columns = head.columns.iter().map(column).collect();
        Ok(State { head, columns })
    }
}

/// The messages of a state, which its trailer vouches for.
struct Frame<'a> {
    schema: Table<'a>,
    schema_bytes: &'a [u8],
    /// With their bodies.
    batches: Vec<(Table<'a>, &'a [u8])>,
}

impl<'a> Frame<'a> {
    /// That of the first state, and what is behind it.
    fn first(bytes: &'a [u8]) -> Result<(Frame<'a>, &'a [u8]), StateError> {
        let damaged = StateError::Damaged;
        let Some((message::Message::Schema(schema), mut rest)) = message::next(bytes) else {
            let is_cut = message::is_cut(bytes);
            return Err(if is_cut { damaged("it ends too early") } else { StateError::Foreign });
        };
        match message::metadata(schema, VERSION_KEY).map(String::from_utf8_lossy) {
            None => return Err(StateError::Foreign),
            Some(found) if !VERSIONS.contains(&&*found) => {
                return Err(StateError::Version { found: found.into_owned() });
            }
            Some(_) => {}
        }
        let schema_bytes = &bytes[..bytes.len() - rest.len()];
        let mut batches = Vec::new();
        loop {
            match message::next(rest).ok_or(damaged("it ends too early"))? {
                (message::Message::Batch(table, body), more) => {
                    batches.push((table, body));
                    rest = more;
                }
                (message::Message::End, more) => break rest = more,
                (message::Message::Schema(_), _) => return Err(damaged("it has two schemas")),
            }
        }
        let stream = &bytes[..bytes.len() - rest.len()];
        let (trailer, rest) =
            rest.split_at_checked(TRAILER_BYTES).ok_or(damaged("it ends too early"))?;
        if *trailer != *trailer_of(stream) {
            return Err(damaged("its checksum is another one"));
        }
        Ok((Frame { schema, schema_bytes, batches }, rest))
    }
}

/// States that are merged while they come, in a tree: each takes part in as many merges as there are levels. Those
/// of each partition of the keys have a tree of their own.
#[derive(Debug, Default)]
pub struct Merger {
    trees: BTreeMap<Option<Partition>, Tree>,
}

/// Of the states at place `n`, there are `2^n` in each.
#[derive(Debug, Default)]
struct Tree(Vec<Option<State>>);

impl Merger {
    /// Takes in a state.
    ///
    /// # Errors
    /// What does not go together with those before it.
    pub fn push(&mut self, state: State) -> Result<(), StateError> {
        self.trees.entry(state.head.partition).or_default().push(state)
    }

    /// All of them as one: if there are several partitions of the keys, these have to be all.
    ///
    /// # Errors
    /// What does not go together, and [`StateError::None`].
    pub fn finish(self) -> Result<State, StateError> {
        let merged = self.trees.into_values().map(Tree::finish);
        let mut parts: Vec<State> = merged.collect::<Result<_, _>>()?;
        match parts.len() {
            0 => Err(StateError::None),
            1 if parts[0].head.partition.is_none_or(|own| own.of > 1) => Ok(parts.remove(0)),
            _ => State::joined(parts),
        }
    }
}

impl Tree {
    fn push(&mut self, mut state: State) -> Result<(), StateError> {
        for level in &mut self.0 {
            match level.take() {
                Some(before) => state = before.merge(state)?,
                None => {
                    *level = Some(state);
                    return Ok(());
                }
            }
        }
        self.0.push(Some(state));
        Ok(())
    }

    fn finish(self) -> Result<State, StateError> {
        let states = self.0.into_iter().flatten().map(Ok::<State, StateError>);
        states.reduce(|rest, state| state?.merge(rest?)).unwrap_or(Err(StateError::None))
    }
}

const VERSION_KEY: &str = "fathom.version";
const HEAD_KEY: &str = "fathom.head";

fn schema(head: &Head, fields: &[message::Field]) -> Vec<u8> {
    let text = serde_json::to_string(head).expect("names, numbers and lists are JSON");
    message::schema(fields, &[(VERSION_KEY, head.version()), (HEAD_KEY, &text)])
}

/// What vouches for a stream.
fn trailer_of(stream: &[u8]) -> Box<[u8]> {
    let (len, hash) = (stream.len() as u64, xxh3_64(stream));
    let mut trailer = [&TRAILER[..], &len.to_le_bytes(), &hash.to_le_bytes()].concat();
    trailer.resize(TRAILER_BYTES, 0);
    trailer.into()
}

/// The columns of several states as one's, with the names of the first.
fn merged(mut states: impl Iterator<Item = Vec<Column>>) -> Vec<Column> {
    let mut columns = states.next().unwrap_or_default();
    let groups = |column: &mut Column| std::mem::take(&mut column.groups);
    let mut lists: Vec<_> = columns.iter_mut().map(|column| vec![groups(column)]).collect();
    for more in states {
        for ((column, lists), more) in columns.iter_mut().zip(&mut lists).zip(more) {
            column.scale = column.scale.max(more.scale);
            lists.push(more.groups);
        }
    }
    for (column, lists) in columns.iter_mut().zip(lists) {
        column.groups = merge::merge(lists);
    }
    columns
}

/// What keys a state has.
fn keys_of(partition: Option<Partition>) -> String {
    partition.map_or_else(|| "all".to_owned(), |partition| partition.to_string())
}
