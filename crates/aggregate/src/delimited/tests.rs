//! Delimited text, case by case; `tests/answers` compares it with the oracle at every split.

use std::io::Read;

use fathom_machine::level::Level;

use super::*;
use crate::account::Account;
use crate::error::Reason;
use crate::kept::Datum;
use crate::number::Decimal;
use crate::statistic::Statistic;

fn shape(header: bool, key: Selector, values: &[Selector]) -> Query {
    let values = values.iter().cloned().map(Value::from).collect();
    Query { header, by: vec![key.into()], values, ..Query::new(b',') }
}

/// Yields its bytes a few at a time.
struct Slow(Vec<u8>, usize, usize);

impl Read for Slow {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let n = self.2.min(into.len()).min(self.0.len() - self.1);
        into[..n].copy_from_slice(&self.0[self.1..self.1 + n]);
        self.1 += n;
        Ok(n)
    }
}

fn run(text: &str, shape: &Query, portion: usize) -> Result<Summary, Error> {
    run_bytes(text.as_bytes(), shape, portion, false, &options(1, portion, Level::best()))
}

fn options(threads: usize, chunk_bytes: usize, level: Level) -> Options {
    Options { threads, chunk_bytes, level, with_squares: threads == 2, ..Options::default() }
}

fn run_bytes(
    text: &[u8],
    shape: &Query,
    portion: usize,
    as_file: bool,
    options: &Options,
) -> Result<Summary, Error> {
    let source = if as_file {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, text).unwrap();
        Source::File { path: "t.csv".into(), file: Box::new(file), size: text.len() as u64 }
    } else {
        let reader = Box::new(Slow(text.to_vec(), 0, portion));
        Source::Stream { path: "t.csv".into(), reader }
    };
    aggregate(vec![source], shape, options, OnError::Skip(None), &Progress::default())
}

/// As of lines: see `chunk`.
#[test]
fn a_record_is_too_long_whatever_is_read_at_a_time() {
    let most = crate::MOST_RECORD_BYTES;
    for (extra, chunk, as_file) in
        [(0, 64, true), (1, 64, true), (1, most, true), (0, most, false), (1, most, false)]
    {
        let key = "k".repeat(most + extra - 4);
        let text = format!("a,1.0\n{key},2.5\nb,1.5\n");
        let options = options(1, chunk, Level::best());
        let end = run_bytes(text.as_bytes(), &Query::new(b','), most, as_file, &options);
        let byte = match end {
            Err(Error::RecordTooLong { position, .. }) => Some(position.byte),
            end => end.map(|_| None).unwrap(),
        };
        assert_eq!(byte, (extra > 0).then_some(6), "{extra} {chunk} {as_file}");
    }
}

#[test]
fn a_memory_limit_is_an_error_that_counts_keys() {
    let text: String = (0..200_000).map(|i| format!("k{i},1.0\n")).collect();
    let shape = shape(false, Selector::Place(1), &[Selector::Place(2)]);
    let options =
        Options { memory_limit_bytes: Some(8 << 20), ..options(2, 1 << 16, Level::best()) };
    let error = run_bytes(text.as_bytes(), &shape, 1000, true, &options).unwrap_err();
    let Error::MemoryLimit { keys, .. } = error else { panic!("{error}") };
    assert!((10_000..=400_000).contains(&keys), "{keys}");
    // A thread that is refused nothing may end the run before the one that was has said how many keys it has.
    let account = Account::new(Some(1));
    assert!(!account.take(2) && account.add_keys(7).is_err());
    let early = Error::MemoryLimit { limit_bytes: 1, keys: 0 };
    assert!(matches!(account.recounted(early), Error::MemoryLimit { keys: 7, .. }));
}

#[test]
fn kept_values_count_against_the_memory_limit_and_are_given_back() {
    let run = |distinct: u64| {
        let text: String = (0..300_000).map(|i| format!("k,{}\n", i * 7919 % distinct)).collect();
        let plain = options(1, 1 << 16, Level::best());
        let options = Options { memory_limit_bytes: Some(4 << 20), with_values: true, ..plain };
        run_bytes(text.as_bytes(), &Query::new(b','), 1000, true, &options)
    };
    assert_eq!(run(1000).unwrap().columns[0].groups[0].stats.distinct(), Some(1000));
    assert!(matches!(run(1 << 40), Err(Error::MemoryLimit { .. })));
}

#[test]
fn texts_and_numbers_of_many_digits_count_against_the_memory_limit() {
    let run = |told: &str, is_text: bool, keys: u32, differ: bool| {
        let digits = "7".repeat(2000);
        let line = |i: u32| format!("k{},{}{digits}\n", i % keys, if differ { i } else { 1 });
        let text: String = (1..=2000).map(line).collect();
        let column = Selector::Place(2);
        let value = if is_text { Value::text(column) } else { column.into() };
        let query = Query { values: vec![value], ..Query::new(b',') };
        let told = Statistic::named(told).unwrap();
        let limit_bytes = Some(3 << 20);
        let options =
            Options { memory_limit_bytes: limit_bytes, ..options(1, 1 << 16, Level::best()) };
        run_bytes(text.as_bytes(), &query, 1000, true, &options.for_statistics(&[told]))
    };
    for (told, is_text, keys) in [
        ("mode", true, 1),
        ("mode", true, 2000),
        ("first", true, 2000),
        ("last", false, 2000),
        ("mode", false, 1),
        ("max", false, 2000),
    ] {
        let outcome = run(told, is_text, keys, true);
        assert!(matches!(outcome, Err(Error::MemoryLimit { .. })), "{told} of {keys}");
        assert!(run(told, is_text, 1, false).is_ok(), "{told} of what is always the same");
    }
}

#[test]
fn what_a_later_value_of_a_key_turns_out_to_keep_counts_against_the_memory_limit() {
    let run = |later: &str| {
        let line = |value: &str, i: u32| format!("k{i},{value}\n");
        let first: String = (0..2000).map(|i| line("1", i)).collect();
        let text = (0..2000).fold(first, |text, i| text + &line(later, i));
        let limit =
            Options { memory_limit_bytes: Some(3 << 20), ..options(1, 1 << 16, Level::best()) };
        run_bytes(text.as_bytes(), &Query::new(b','), 1000, true, &limit)
    };
    assert!(run("7").is_ok());
    assert!(matches!(run(&"7".repeat(2000)), Err(Error::MemoryLimit { .. })));
}

#[test]
fn first_and_last_are_those_of_the_input_whatever_the_threads() {
    let text = |from: u32| -> String { (from..from + 5000).map(|i| format!("k,{i}\n")).collect() };
    for portion in [100, 10_000] {
        let source = |at: u32| {
            let reader = Box::new(Slow(text(at * 10_000).into_bytes(), 0, portion));
            Source::Stream { path: at.to_string().into(), reader }
        };
        let options = Options { with_ends: true, ..options(3, portion, Level::best()) };
        let sources = (1..4).map(source).collect();
        let summary =
            aggregate(sources, &Query::new(b','), &options, OnError::Fail, &Progress::default());
        let stats = &summary.unwrap().columns[0].groups[0].stats;
        let number = |units| Some(Datum::Number(Decimal::new(units, 0)));
        assert_eq!((stats.first(), stats.last()), (number(10_000), number(34_999)));
    }
}

#[test]
fn a_long_line_of_delimiters_takes_time_in_proportion_to_its_length() {
    // Searching each block's marks from the start of the line took a minute for this.
    let text = [&b"a,1.5\n"[..], &b",".repeat(20 << 20), b"\na,2.5\n"].concat();
    let start = std::time::Instant::now();
    let summary = run_bytes(&text, &Query::new(b','), 0, true, &options(1, 1 << 18, Level::best()));
    let summary = summary.unwrap();
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    let groups = &summary.columns[0].groups;
    assert_eq!((groups.len(), groups[0].stats.sum().to_string()), (1, "4.0".to_owned()));
    assert_eq!(summary.shown_rejects[0].reason, Reason::TooManyFields);
}

#[test]
fn blanks_behind_delimiters_were_parts_of_names_and_numbers() {
    let text = "host, ms , b,b\na, 1.5,x,y\n\"b\",\t-2\t,x,y\nc, ,x,y\nd, NA,x,y\n";
    for (by, expected) in [("host", &["-2", "0", "0", "1.5"][..]), ("b", &["-0.5"])] {
        let mut shape = shape(true, Selector::Name(by.into()), &[Selector::Name("ms".into())]);
        shape.nulls.push(b"NA".to_vec());
        let column = &run(text, &shape, 7).unwrap().columns[0];
        let sum = |group: &crate::merge::Partial| group.stats.sum().to_string();
        let mut sums: Vec<String> = column.groups.iter().map(sum).collect();
        sums.sort();
        assert_eq!(column.name, "ms");
        assert_eq!(sums, expected);
    }
}

#[test]
fn a_refused_field_is_named_and_found_by_line_and_column() {
    let text = "\u{feff}host,ms\nüñ,1.5\n\"a\nb\",inf\nÜb,1.5x\n";
    let shape = Query { header: true, ..Query::new(b',') };
    for portion in 1..text.len() {
        let summary = run(text, &shape, portion).unwrap();
        let shown: Vec<_> = summary.shown_rejects.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "t.csv:4:4: the value is not a decimal number: ms \"inf\"",
                "t.csv:5:4: the value is not a decimal number: ms \"1.5x\"",
            ]
        );
        let bytes = summary.shown_rejects.iter().map(|r| r.position.byte as usize);
        assert!(bytes.zip(["inf", "1.5x"]).all(|(byte, field)| text[byte..].starts_with(field)));
    }
}

#[test]
fn a_condition_changes_neither_blank_lines_nor_what_is_told_of_records() {
    let filtered = |text: &str, column: usize| {
        let mut shape = shape(false, Selector::Place(1), &[Selector::Place(1)]);
        shape.filter = Some(crate::filter::Filter::parse(&format!("${column} == 2")).unwrap());
        let source = Source::Stream { path: "-".into(), reader: Box::new(Slow(text.into(), 0, 9)) };
        let options = options(1, 64, Level::best());
        let progress = Progress::default();
        let skip = OnError::Skip(None);
        let summary = aggregate(vec![source], &shape, &options, skip, &progress).unwrap();
        [summary.records, summary.blank_lines, summary.left_out, summary.rejected]
    };
    assert_eq!(filtered("1\n\n2\n", 1), [1, 1, 1, 0]);
    assert_eq!(filtered("\"1\"\n\n\"2\"\n", 1), [1, 1, 1, 0]);
    assert_eq!(filtered("\"1\"\n2\n", 2), [0, 0, 0, 2]);
}

#[test]
fn a_point_is_no_decimal_comma_in_a_condition() {
    let taken = |condition: &str| {
        let filter = Some(crate::filter::Filter::parse(condition).unwrap());
        let shape = Query { decimal_comma: true, filter, values: Vec::new(), ..Query::new(b';') };
        let summary = run("a;5\nb;5,\nc;5.\nd;5.0\ne;5,0\nf;-6\n", &shape, 64).unwrap();
        [summary.records, summary.left_out, summary.rejected]
    };
    assert_eq!(taken("$2 == 5"), [3, 1, 2]);
    assert_eq!(taken("$2 <= -6"), [1, 3, 2]);
    assert_eq!(taken("$2 > 4.5"), [3, 1, 2]);
}

#[test]
fn a_column_beyond_what_records_may_have_is_one_that_is_not_there() {
    for last in [1 << 20, (1 << 20) + 1, 1 << 40, usize::MAX - 4112, usize::MAX] {
        for shape in [
            shape(false, Selector::Place(1), &[Selector::Place(last)]),
            shape(false, Selector::Place(last), &[Selector::Place(2)]),
            shape(true, Selector::Name("a".into()), &[Selector::Place(last)]),
        ] {
            let summary = run("a,b\nx,1.5\n", &shape, 100).unwrap();
            assert_eq!(summary.shown_rejects.last().unwrap().reason, Reason::NoColumn(last));
        }
    }
}
