//! Ranges of a text, cut anywhere, written as states and merged in any order, give the oracle's answer on
//! the whole; and what does not go together is refused.

use std::fs::File;
use std::io::{Cursor, Read, Write};

use crate::oracle::check::{formatted, near, run};
use crate::oracle::choice::Choices;
use crate::oracle::shown::{Form, Look, text};
use crate::oracle::{self, Null, Place, Task};
use fathom_aggregate::delimited::record_starts;
use fathom_aggregate::state::{Merger, Object, Partition, Question, State, StateError, Watch};
use fathom_aggregate::{Approx, Error, Options, Source};
use proptest::prelude::*;

/// A file that can be opened many times.
struct Input(File, u64);

impl Input {
    fn new(bytes: &[u8]) -> Input {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Input(file, bytes.len() as u64)
    }

    fn state(&self, range: [u64; 2], task: &Task, options: &Options) -> Result<State, Error> {
        let (name, identity) = ("input".to_owned(), "input 1".to_owned());
        let object = Object { name, identity, size: self.1, ..Object::default() };
        self.state_as(object, range, task, options)
    }

    fn state_as(
        &self,
        object: Object,
        [start, end]: [u64; 2],
        task: &Task,
        options: &Options,
    ) -> Result<State, Error> {
        let (path, file) = ((&object.name).into(), Box::new(self.0.try_clone().unwrap()));
        let source = Source::Part { path, file, size: self.1, range: start..end };
        let question = Question {
            query: "query".to_owned(),
            is_plain: task.plain,
            squares: options.with_squares,
            values: options.with_values,
            ends: options.with_ends,
            sketch: options.with_sketch,
            approx: options.approx,
            ..Question::default()
        };
        Ok(State::new(run(source, task, options)?.0, question, object, [start, end]))
    }
}

/// Every state as what was read of what was written of it.
fn through_bytes(state: &State) -> State {
    let mut states = State::all(&state.to_bytes()).unwrap();
    assert_eq!(states.len(), 1);
    states.remove(0)
}

/// Merges in an order and a tree drawn from a number.
fn merged(mut states: Vec<State>, choices: &mut Choices) -> Result<State, StateError> {
    while states.len() > 1 {
        let one = states.swap_remove(choices.of(states.len()));
        let other = states.swap_remove(choices.of(states.len()));
        let both = if choices.of(2) == 0 { one.merge(other)? } else { other.merge(one)? };
        states.push(if choices.of(3) == 0 { through_bytes(&both) } else { both });
    }
    Ok(states.remove(0))
}

/// One partition of the keys of what is written of a state.
fn only(state: &State, wanted: Partition) -> Result<State, StateError> {
    State::all_of(&state.to_bytes(), Some(wanted)).map(|mut states| states.remove(0))
}

/// Merges each of so many partitions of the keys by itself, then joins them, in orders drawn from a number.
fn partitioned(states: &[State], of: u32, choices: &mut Choices) -> Result<State, StateError> {
    let part = |state: &State, number, way| match way {
        0 => state.clone().split(of).unwrap().swap_remove(number as usize),
        _ => only(state, Partition { number, of }).unwrap(),
    };
    let mut merger = Merger::default();
    for start in 0..of {
        let number = (start + of / 2) % of;
        let parts = states.iter().map(|state| through_bytes(&part(state, number, choices.of(2))));
        merger.push(merged(parts.collect(), choices)?)?;
    }
    merger.finish()
}

/// The ranges between some places of a text.
fn ranges(size: u64, cuts: &[u64]) -> Vec<[u64; 2]> {
    let mut ends: Vec<u64> = cuts.iter().map(|cut| cut % (size + 1)).collect();
    ends.extend([0, size]);
    ends.sort_unstable();
    ends.dedup();
    match size {
        0 => vec![[0, 0]],
        _ => ends.windows(2).map(|pair| [pair[0], pair[1]]).collect(),
    }
}

/// Asserts that the ranges of a text merge to what the oracle says of it, or do not fit at a quote.
fn check(
    input: &[u8],
    task: &Task,
    look: &Look,
    (options, cuts): (&Options, &[u64]),
    seed: u64,
) -> Result<(), StateError> {
    let (whole, options) = (Input::new(input), &near(options, look));
    let states = |cuts: &[u64]| {
        let ranges = ranges(input.len() as u64, cuts);
        let state = |range: &[u64; 2]| whole.state(*range, task, options).unwrap();
        ranges.iter().map(state).map(|state| through_bytes(&state)).collect::<Vec<_>>()
    };
    let Ok(answer) = oracle::aggregate(input, task) else {
        let failed = |range: &[u64; 2]| whole.state(*range, task, options).is_err();
        assert!(ranges(input.len() as u64, cuts).iter().any(failed));
        return Ok(());
    };
    let states = states(cuts);
    let choices = &mut Choices(seed);
    let joined = partitioned(&states, 1 + choices.of(5) as u32, choices);
    let (one, other) =
        (merged(states.clone(), &mut Choices(seed))?, merged(states, &mut Choices(!seed))?);
    one.check_whole()?;
    let shown = format!("{task:?} {options:?} {cuts:?} {:?}", String::from_utf8_lossy(input));
    assert!(one.to_bytes() == other.to_bytes(), "{shown}");
    assert!(joined?.to_bytes() == one.to_bytes(), "{shown}");
    let summary = one.into_summary();
    let counts = [summary.records, summary.blank_lines, summary.left_out, summary.rejected];
    let refused = answer.refused.len() as u64;
    assert_eq!(counts, [answer.records, answer.blank_lines, answer.left_out, refused], "{shown}");
    let [found, expected] = [formatted(&summary, look, 1), text(&answer, look)]
        .map(|text| String::from_utf8_lossy(&text).into_owned());
    assert_eq!(found, expected, "{shown}");
    Ok(())
}

/// Pieces of lines and of delimited text with all that is hard about them.
fn input() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&[u8]> = vec![
        b"a;1.5\n", b"b;-2\n", b"a;99.9\r\n", b"a long key that fits no table;0.25\n", b"a;\n",
        b"b;NA\n", b"\n", b"x\n", b";1\n", b"c;12345678901234567890.5\n", b"c;1e-30\n",
        b"c;-7e40\n", b"\"a\";3\n", b"\"a\nb\";4\n", b"\"a;\n\n\"\"\nb\";4\n", b"\"open;1\n",
        b"a;1.5", b"\xef\xbb\xbf", b"\0;\x01;2\n",
    ];
    let piece = prop::sample::select(pieces).prop_map(<[u8]>::to_vec);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn all_options(choices: &mut Choices) -> Options {
    let mut options = choices.options();
    let flags = [
        &mut options.with_squares, &mut options.with_values, &mut options.with_sketch,
        &mut options.with_ends,
    ];
    flags.into_iter().for_each(|flag| *flag |= choices.of(2) == 1);
    options
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..Default::default() })]

    #[test]
    fn lines_cut_anywhere_give_the_same_text(
        input in input(),
        cuts in prop::collection::vec(any::<u64>(), 0..8),
        seed in any::<u64>(),
    ) {
        let mut choices = Choices(seed);
        let (look, options) = (choices.look(&Task::plain()), all_options(&mut choices));
        let checked = check(&input, &Task::plain(), &look, (&options, &cuts), seed);
        prop_assert_eq!(checked, Ok(()));
    }

    #[test]
    fn delimited_text_cut_anywhere_gives_the_same_text_or_a_place(
        input in input(),
        cuts in prop::collection::vec(any::<u64>(), 0..8),
        task in any::<u64>(),
        seed in any::<u64>(),
    ) {
        let task = Task { delimiter: b';', ..Choices(task).task() };
        let mut choices = Choices(seed);
        let (look, options) = (choices.look(&task), all_options(&mut choices));
        match check(&input, &task, &look, (&options, &cuts), seed) {
            Err(StateError::Seam { .. }) if input.contains(&b'"') => {
                let file = Input::new(&input);
                let cuts = record_starts("input".as_ref(), (Box::new(file.0), file.1), b';', 7).unwrap();
                prop_assert_eq!(check(&input, &task, &look, (&options, &cuts), seed), Ok(()));
            }
            checked => prop_assert_eq!(checked, Ok(())),
        }
    }
}

/// Records of two fields of which the second is a number.
fn delimited() -> Task {
    Task { plain: false, values: vec![(Place::At(2), Null::Fail)], ..Task::plain() }
}

#[test]
fn text_without_quotes_can_be_cut_at_every_byte() {
    let text = b"\xef\xbb\xbfk;v\na;1\n\nbb;22\r\nccc;333";
    let look = Look { keys: vec!["k".into()], ..Look::all(Form::Csv) };
    for header in [false, true] {
        let task = Task { header, ..delimited() };
        for task in [task, Task::plain()] {
            for cut in 0..=text.len() as u64 {
                for second in (cut..=text.len() as u64).step_by(7) {
                    let options = Options { with_ends: true, ..Options::default() };
                    check(text, &task, &look, (&options, &[cut, second]), cut).unwrap();
                }
            }
        }
    }
}

/// What is before the header is read of the beginning of the file, as all other ranges are not.
#[test]
fn a_range_that_ends_before_the_header_knows_its_names() {
    let values = [2, 3].map(|column| (Place::At(column), Null::Skip)).to_vec();
    let task = Task { header: true, plain: false, values, ..Task::plain() };
    for text in ["\n\r\n\nk;v;w\na;1;2\n", "\u{feff}\nk;v;w\na;1;2\n", "\u{feff}k;v;w\n", "\n\n\n"]
    {
        for cut in 0..=text.len() as u64 {
            let look = Look { keys: vec!["k".into()], ..Look::all(Form::Csv) };
            let options = Options::default();
            check(text.as_bytes(), &task, &look, (&options, &[cut, cut / 2]), cut).unwrap();
        }
    }
}

/// They were called by their numbers, as in the file before.
#[test]
fn columns_have_the_names_of_the_first_header_whatever_stands_in_files_before_it() {
    let task = Task { header: true, ..delimited() };
    let texts = ["", "\n", "\n\r\n", "k;v\nx;1\n", "a;b\ny;2\n", "\n"];
    let state = |number: usize| {
        let (text, name) = (texts[number].as_bytes(), number.to_string());
        let (number, size) = (number as u64, text.len() as u64);
        let identity = format!("{name} 1");
        let object = Object { name, number, of: Some(6), identity, size, ranges: Vec::new() };
        let range = [0, size];
        Input::new(text).state_as(object, range, &task, &Options::default()).unwrap()
    };
    let mut all = Vec::new();
    for seed in 0..50 {
        let states = (0..texts.len()).map(|number| through_bytes(&state(number))).collect();
        let whole = merged(states, &mut Choices(seed)).unwrap();
        all.push(whole.to_bytes());
        assert!(all[0] == all[seed as usize]);
        let summary = whole.into_summary();
        assert_eq!((&*summary.keys[0], &*summary.columns[0].name), ("k", "v"));
    }
}

#[test]
fn a_cut_inside_quotes_is_an_error_that_says_where() {
    let input = b"a;1\n\"b\nc\";2\nd;3\n";
    let refused = |cut| {
        let checked =
            check(input, &delimited(), &Look::all(Form::Csv), (&Options::default(), &[cut]), 0);
        checked.err().map(|error| error.to_string())
    };
    let seams: Vec<u64> = (0..input.len() as u64).filter(|&cut| refused(cut).is_some()).collect();
    assert_eq!(seams, [5, 6, 7], "behind the quote and up to the line end in it");
    let said = refused(6).unwrap();
    assert!(said.contains("input cannot be cut at byte 6"), "{said}");
    assert!(said.contains("starts at byte 12, the range behind it says 7"), "{said}");
    let file = Input::new(input);
    assert_eq!(record_starts("input".as_ref(), (Box::new(file.0), file.1), b';', 5).unwrap(), [12]);
}

/// They were at the ends of chunks of 4 MiB, and tasks up to as much too long.
#[test]
fn records_start_where_they_are_wanted_and_not_where_chunks_end() {
    const EVERY: u64 = 5 << 20;
    let file = Input::new(&b"a;1\nbc;2\n".repeat(2 << 20));
    let size = file.1;
    let starts = record_starts("input".as_ref(), (Box::new(file.0), size), b';', EVERY).unwrap();
    let late: Vec<u64> = (1..).zip(&starts).map(|(task, start)| start - task * EVERY).collect();
    assert!(late.len() as u64 == size / EVERY && late.iter().all(|bytes| *bytes < 8), "{late:?}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let (task, options) = (Task::plain(), Options::default());
    let text = Input::new(b"a;1\nb;2\nc;3\n");
    let state = |from, to| text.state([from, to], &task, &options).unwrap();
    let merge = |one: State, other: State| one.merge(other).unwrap_err();
    let name = || "input".to_owned();
    let twice = |start, end| StateError::Twice { name: name(), start, end };
    assert_eq!(merge(state(0, 8), state(4, 12)), twice(4, 8));
    assert_eq!(merge(state(0, 12), state(0, 12)), twice(0, 12));
    let gap = state(0, 4).merge(state(8, 12)).unwrap();
    assert_eq!(gap.check_whole(), Err(StateError::Gap { name: name(), start: 4, end: 8 }));
    assert_eq!(gap.clone().merge(state(4, 8)).unwrap().check_whole(), Ok(()));
    assert_eq!(merge(gap, state(7, 8).merge(state(0, 2)).unwrap()), twice(0, 2));
    let longer = Input::new(b"a;1\nb;2\nc;3\nd;4\n").state([12, 16], &task, &options).unwrap();
    assert!(matches!(merge(state(0, 4), longer), StateError::Changed { .. }));
    let squares = Options { with_squares: true, ..options.clone() };
    let other = text.state([4, 12], &task, &squares).unwrap();
    assert!(matches!(merge(state(0, 4), other), StateError::Question { .. }));
}

/// Which objects there are is told by all states together, in whatever order they come.
#[test]
fn states_that_count_objects_otherwise_are_refused_in_any_order() {
    let state = |name: &str, number, of| {
        let input = Input::new(format!("{name};1\n").as_bytes());
        let identity = format!("{name} {number}");
        let object =
            Object { name: name.to_owned(), number, of, identity, size: 4, ranges: Vec::new() };
        input.state_as(object, [0, 4], &Task::plain(), &Options::default()).unwrap()
    };
    let check = |states: &[(&str, u64, Option<u64>)], expected: &str| {
        for seed in 0..20 {
            let states = states.iter().map(|&(name, number, of)| state(name, number, of)).collect();
            let outcome = merged(states, &mut Choices(seed)).and_then(|state| state.check_whole());
            let said = outcome.map_or_else(|error| error.to_string(), |()| "whole".to_owned());
            assert!(said.contains(expected), "{said}");
        }
    };
    check(&[("a", 0, Some(2)), ("b", 1, Some(2))], "whole");
    check(&[("a", 0, None), ("b", 0, None), ("c", 7, None)], "whole");
    check(&[("a", 0, Some(3)), ("b", 1, None), ("c", 2, None)], "whole");
    check(&[("a", 0, Some(1)), ("b", 5, Some(9))], "the input has 1 objects by a, 9 by b");
    check(&[("a", 0, Some(2)), ("b", 1, Some(3))], "the input has 2 objects by a, 3 by b");
    check(&[("a", 0, None), ("b", 0, Some(1))], "a and b are both number 0 of the input");
    check(&[("a", 0, Some(2)), ("b", 2, None)], "b is number 2 of an input of 2 objects");
    check(&[("a", 0, Some(3)), ("b", 2, Some(3))], "number 1 of the 3 objects");
    check(&[("-", 0, Some(3)), ("a", 1, Some(3)), ("-", 2, Some(3))], "whole");
    check(&[("-", 0, None), ("-", 1, None)], "whole");
    check(&[("-", 3, None), ("-", 3, None)], "are in two states");
}

/// Streams have no names of their own, and identities that tell what was in them.
#[test]
fn streams_of_one_name_or_one_content_are_told_apart_by_their_numbers() {
    let state = |text: &str, name: &str, number| {
        let (watch, mut all) = (Watch::default(), String::new());
        watch.read(Cursor::new(text.to_owned())).read_to_string(&mut all).unwrap();
        let (size, identity) = watch.told();
        let name = name.to_owned();
        let object = Object { name, number, of: Some(10), identity, size, ranges: Vec::new() };
        Input::new(text.as_bytes())
            .state_as(object, [0, size], &Task::plain(), &Options::default())
            .unwrap()
    };
    let records = |state: &State| -> u64 {
        state.objects().iter().flat_map(|o| &o.ranges).map(|range| range.records).sum()
    };
    let merged = |states: [State; 2]| {
        let outcome = merged(states.to_vec(), &mut Choices(1));
        outcome.map_or_else(|error| error.to_string(), |state| records(&state).to_string())
    };
    for name in ["-", "/dev/fd/63"] {
        for (text, records) in [("", "0"), ("a;1\n", "2")] {
            assert_eq!(merged([state(text, name, 3), state(text, name, 5)]), records, "{name}");
            let said = merged([state(text, name, 3), state(text, name, 3)]);
            assert!(said.contains("are in two states"), "{said}");
        }
        assert_eq!(merged([state("a;1\n", name, 3), state("b;1\n", name, 5)]), "2");
        let said = merged([state("a;1\n", name, 3), state("b;1\n", name, 3)]);
        assert!(said.contains("are both number 3 of the input"), "{said}");
    }
}

#[test]
fn partitions_of_keys_are_joined_if_they_are_all_and_of_the_same_input() {
    let text = Input::new(b"a;1\nb;2\nc;3\nd;4\ne;5\n");
    let state = |from, to| text.state([from, to], &Task::plain(), &Options::default()).unwrap();
    let whole = || state(0, 20);
    let all = |states: &[&State]| {
        let mut merger = Merger::default();
        states.iter().try_for_each(|state| merger.push((*state).clone()))?;
        merger.finish()
    };
    let [low, high] = &whole().split(2).unwrap()[..] else { panic!("two") };
    let [in_low, in_high] = [low, high].map(|part| State::count_keys(&part.to_bytes()).unwrap());
    assert!(in_low > 0 && in_high > 0 && in_low + in_high == 5);
    let both = [low.to_bytes(), high.to_bytes()].concat();
    assert_eq!(State::count_keys(&both), Ok(5));
    let cut = State::count_keys(&both[..both.len() - 1]);
    assert_eq!(cut, Err(StateError::Damaged("it ends too early")));
    assert_eq!(all(&[high, low]).unwrap().to_bytes(), whole().to_bytes());

    let partition = |number, of| Partition { number, of };
    let missing = |number| StateError::NoPartition { missing: partition(number, 2) };
    assert_eq!(low.check_whole(), Err(missing(1)));
    assert_eq!(high.check_whole(), Err(missing(0)));
    let thirds = whole().split(3).unwrap();
    for (number, others) in [(0, [1, 2]), (1, [0, 2]), (2, [0, 1])] {
        let missing = partition(number, 3);
        let error = all(&others.map(|other| &thirds[other])).unwrap_err();
        assert_eq!(error, StateError::NoPartition { missing });
    }
    let keys = |states: &[&State]| matches!(all(states).unwrap_err(), StateError::Keys { .. });
    assert!(keys(&[low, &thirds[1]]) && keys(&[low, &whole()]));
    assert!(matches!(low.clone().merge(high.clone()), Err(StateError::Keys { .. })));
    assert!(matches!(low.clone().split(2), Err(StateError::Keys { .. })));
    assert!(matches!(only(low, partition(1, 2)), Err(StateError::Keys { .. })));
    assert_eq!(only(low, partition(0, 2)).unwrap().to_bytes(), low.to_bytes());
    let half = only(&state(0, 8), partition(1, 2)).unwrap();
    let [one, other] = [0, 1].map(|number| partition(number, 2));
    assert_eq!(all(&[low, &half]).unwrap_err(), StateError::Uneven { one, other });
    assert!(matches!(all(&[low, low]), Err(StateError::Twice { .. })));
}

/// Or a key would be in two partitions, whose counts nobody adds.
#[test]
fn keys_of_another_partition_are_no_state() {
    let text = Input::new(b"a;1\nb;2\nc;3\nd;4\ne;5\n");
    let whole = text.state([0, 20], &Task::plain(), &Options::default()).unwrap();
    let bytes = only(&whole, Partition { number: 0, of: 2 }).unwrap().to_bytes();
    let head = br#""partition":{"number":0,"of":2}"#;
    let at = bytes.windows(head.len()).position(|part| part == head).unwrap();
    let (groups, partition) = ("its groups cannot be read", "its partition is none");
    for (byte, by, why) in [(22, b'1', groups), (22, b'2', partition), (29, b'3', groups)] {
        let mut other = bytes[..bytes.len() - 56].to_vec();
        other[at + byte] = by;
        let hash = xxhash_rust::xxh3::xxh3_64(&other).to_le_bytes();
        let length = (other.len() as u64).to_le_bytes();
        let said = String::from_utf8_lossy(&other[at..at + head.len()]).into_owned();
        let vouched = [&other[..], b"fathom state end", &length, &hash, &[0; 24]].concat();
        assert_eq!(State::all(&vouched).unwrap_err(), StateError::Damaged(why), "{said}");
    }
}

/// 38 digits are what a decimal of 128 bits has.
#[test]
fn the_least_number_of_128_bits_is_no_decimal_of_a_state() {
    let text = format!("a;{}\nb;1\n", i128::MIN);
    for with_squares in [false, true] {
        let options = Options { with_squares, ..Options::default() };
        check(text.as_bytes(), &Task::plain(), &Look::all(Form::Csv), (&options, &[]), 0).unwrap();
        let state =
            Input::new(text.as_bytes()).state([0, text.len() as u64], &Task::plain(), &options);
        let bytes = state.unwrap().to_bytes();
        assert!(State::all(&bytes).unwrap().remove(0).to_bytes() == bytes);
    }
}

#[test]
fn damage_anywhere_is_an_error() {
    let options = Options { with_values: true, with_ends: true, ..Options::default() };
    let text = Input::new(b"a;1\nb;2.5\na;3\nb;2.5\n");
    let bytes = text.state([0, 20], &Task::plain(), &options).unwrap().to_bytes();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        assert!(State::all(&damaged).is_err(), "byte {at}");
        assert!(State::all(&bytes[..at]).is_err(), "the first {at} bytes");
    }
    assert_eq!(State::all(b"a;1\n").unwrap_err(), StateError::Foreign);
    let two = [&bytes[..], &bytes].concat();
    assert_eq!(State::all(&two).unwrap().len(), 2);
}

/// The first and the last value, and all of them, lie between the extremes: what is not so was never written by us, and
/// its numbers may be larger than the columns they would be written to.
#[test]
fn a_state_whose_parts_contradict_each_other_is_refused() {
    for seed in [
        &include_bytes!("../../../../fuzz/seeds/state/beyond")[..],
        // A value has more decimals than the head says, where sums have not.
        include_bytes!("../../../../fuzz/seeds/state/finer"),
    ] {
        let hash = xxhash_rust::xxh3::xxh3_64(seed).to_le_bytes();
        let length = (seed.len() as u64).to_le_bytes();
        let vouched = [seed, &b"fathom state end"[..], &length, &hash, &[0; 24]].concat();
        assert!(State::all(&vouched).is_err());
        // Of keys of other partitions nothing is made, so that nothing is wrong with them.
        let part = |number| State::all_of(&vouched, Some(Partition { number, of: 64 }));
        assert!((0..64).any(|number| part(number).is_err()));
        assert!((0..64).any(|number| part(number).is_ok()));
    }
}

/// A column of decimals had one of 39 digits, which pyarrow refuses.
#[test]
fn what_is_rounded_up_to_39_digits_is_no_decimal_of_a_state() {
    let text = format!("a;{}\n", "9".repeat(38));
    let options =
        Options { with_values: true, approx: Some(Approx::Percent), ..Options::default() };
    let state = Input::new(text.as_bytes()).state([0, 41], &Task::plain(), &options).unwrap();
    let bytes = state.to_bytes();
    let is_there = |part: &[u8]| bytes.windows(part.len()).any(|some| some == part);
    assert!(!is_there(&10_i128.pow(38).to_le_bytes()), "a decimal");
    assert!(is_there(format!("1{}", "0".repeat(38)).as_bytes()), "a text");
}

/// Rows of other partitions are passed over, and are in order all the same.
#[test]
fn one_partition_of_a_state_out_of_order_is_none() {
    let text = Input::new(b"a;1\nb;2\nc;3\nd;4\n");
    let state = text.state([0, 16], &Task::plain(), &Options::default()).unwrap();
    let mut bytes = state.to_bytes();
    let at = bytes.windows(4).position(|part| part == b"abcd").unwrap();
    bytes[at..at + 4].copy_from_slice(b"badc");
    let stream = &bytes[..bytes.len() - 56];
    let hash = xxhash_rust::xxh3::xxh3_64(stream).to_le_bytes();
    let length = (stream.len() as u64).to_le_bytes();
    let vouched = [stream, b"fathom state end", &length, &hash, &[0; 24]].concat();
    let read = |number| State::all_of(&vouched, Some(Partition { number, of: 9 }));
    assert!((0..9).all(|number| read(number).is_err()));
}
