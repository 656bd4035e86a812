//! Delimited text against the plain program, at every split.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use fathom_machine::level::Level;
use proptest::prelude::*;

use super::columns::Columns;
use super::*;
use crate::chunk::byte_order_mark;
use crate::error::Reason;
use crate::merge::{Partial, Stats};
use crate::number::{Decimal, NumberError};
use crate::record::{Split, split};

fn shape(header: bool, key: Selector, values: &[Selector]) -> Shape {
    let values = values.iter().cloned().map(Value::from).collect();
    Shape { header, key, values, ..Shape::new(b',') }
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

fn run(text: &str, shape: &Shape, portion: usize) -> Result<Summary, Error> {
    run_bytes(text.as_bytes(), shape, portion, false, &options(1, portion, Level::best()))
}

fn options(threads: usize, chunk_bytes: usize, level: Level) -> Options {
    Options { threads, chunk_bytes, level, with_squares: threads == 2, ..Options::default() }
}

fn run_bytes(
    text: &[u8],
    shape: &Shape,
    portion: usize,
    as_file: bool,
    options: &Options,
) -> Result<Summary, Error> {
    let source = if as_file {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, text).unwrap();
        Source::File { path: "t.csv".into(), file, size: text.len() as u64 }
    } else {
        let reader = Box::new(Slow(text.to_vec(), 0, portion));
        Source::Stream { path: "t.csv".into(), reader }
    };
    aggregate(vec![source], shape, options, OnError::Skip(None), &Progress::default())
}

/// The plain program: one record after the other, a sorted map per column.
fn plain(text: &[u8], shape: &Shape, with_squares: bool) -> Result<Plain, Error> {
    use std::collections::BTreeMap;
    let path = Path::new("t.csv");
    let mut maps: Vec<BTreeMap<Box<[u8]>, Stats>> = vec![BTreeMap::new(); shape.values.len()];
    let mut plain = Plain::default();
    let mut columns = Columns::placed(shape).map(Arc::new);
    let (mut at, mut fields) = (byte_order_mark(text), Vec::new());
    let mut expected = None;
    while at < text.len() {
        let start = at;
        let outcome = split(text, at, shape.delimiter, true, &mut fields);
        at = match outcome {
            Split::Record(end) | Split::Blank(end) | Split::Malformed(_, end) => end,
            Split::More => unreachable!("the text has ended"),
        };
        let contents: Vec<_> = fields.iter().map(|field| field.content(text)).collect();
        let result = match (outcome, &columns) {
            (Split::Blank(_), _) => {
                plain.blank_lines += 1;
                continue;
            }
            (Split::Malformed(reason, _), None) => {
                return Err(Error::BadHeader { path: path.to_owned(), reason });
            }
            (Split::Malformed(reason, _), Some(_)) => Err(reason),
            (_, None) => {
                columns = Some(Arc::new(Columns::named(shape, path, &contents)?));
                continue;
            }
            (_, Some(columns)) => {
                expected.get_or_insert(columns.fields.unwrap_or(contents.len()));
                plain_record(&contents, columns, expected.unwrap_or(0), shape)
            }
        };
        match result {
            Ok((key, values)) => {
                plain.records += 1;
                for (map, value) in maps.iter_mut().zip(values) {
                    let more = match value {
                        Some(value) => Stats::of(&value, with_squares),
                        None => Stats::missing(with_squares),
                    };
                    map.entry(key.clone().into())
                        .and_modify(|stats| stats.merge(&more))
                        .or_insert(more);
                }
            }
            Err(reason) => {
                let line = text[..start].iter().filter(|&&b| b == b'\n').count() as u64 + 1;
                plain.rejects.push((start as u64, line, reason));
            }
        }
    }
    plain.columns = maps
        .into_iter()
        .map(|map| map.into_iter().map(|(key, stats)| Partial { key: key.into(), stats }).collect())
        .collect();
    Ok(plain)
}

/// The key of a record and its values, None for one that is missing.
fn plain_record(
    fields: &[Cow<'_, [u8]>],
    columns: &Columns,
    expected: usize,
    shape: &Shape,
) -> Result<(Vec<u8>, Vec<Option<Decimal>>), Reason> {
    let found = fields.len();
    if found != expected && shape.ragged == Ragged::Fail {
        return Err(Reason::Ragged { expected, found });
    }
    let field = |place: usize| match fields.get(place) {
        None if place >= expected => Err(Reason::NoColumn(place + 1)),
        field => Ok(field),
    };
    let mut values = Vec::new();
    for (&place, value) in columns.values.iter().zip(&shape.values) {
        let text =
            field(place)?.filter(|text| !shape.nulls.iter().any(|null| null == text.as_ref()));
        values.push(match (text, value.null) {
            (Some(text), _) => Some(Decimal::parse(text)?),
            (None, Null::Skip) => None,
            (None, Null::Zero) => Some(Decimal::new(0, 0)),
            (None, Null::Fail) => return Err(Reason::Missing),
        });
    }
    match field(columns.key)? {
        Some(key) if !key.is_empty() => Ok((key.to_vec(), values)),
        _ => Err(Reason::EmptyKey),
    }
}

#[derive(Debug, Default)]
struct Plain {
    columns: Vec<Vec<Partial>>,
    records: u64,
    blank_lines: u64,
    rejects: Vec<(u64, u64, Reason)>,
}

fn assert_same(text: &[u8], shape: &Shape, portion: usize, file: bool, options: &Options) {
    let what = || {
        let (threads, chunk) = (options.threads, options.chunk_bytes);
        let text = String::from_utf8_lossy(text);
        format!("{text:?}, file {file}, {threads} threads, chunks of {chunk}, {}", options.level)
    };
    let found = run_bytes(text, shape, portion, file, options);
    let expected = plain(text, shape, options.with_squares);
    let (found, expected) = match (found, expected) {
        (Ok(found), Ok(expected)) => (found, expected),
        (Err(found), Err(expected)) => {
            assert_eq!(found.to_string(), expected.to_string(), "{}", what());
            return;
        }
        (found, expected) => panic!("{}: {found:?} for {expected:?}", what()),
    };
    let groups: Vec<_> = found.columns.iter().map(|column| column.groups.clone()).collect();
    assert_eq!(groups, expected.columns, "{}", what());
    let first_line = |r: &crate::Reject| {
        let before = &text[r.record_byte as usize..r.position.byte as usize];
        r.position.line - before.iter().filter(|&&b| b == b'\n').count() as u64
    };
    let rejects: Vec<_> =
        found.shown_rejects.iter().map(|r| (r.record_byte, first_line(r), r.reason)).collect();
    let shown = expected.rejects.len().min(crate::rejects::SHOWN);
    assert_eq!(rejects, expected.rejects[..shown], "{}", what());
    let counts = (found.records, found.blank_lines, found.rejected, found.bytes);
    let rejected = expected.rejects.len() as u64;
    let bytes = text.len() as u64;
    assert_eq!(counts, (expected.records, expected.blank_lines, rejected, bytes), "{}", what());
}

#[test]
fn every_split_of_quoted_and_unquoted_text_gives_the_same_answer() {
    let long = "a key of more than sixteen bytes";
    let texts = [
        String::new(),
        "\u{feff}".into(),
        "\u{feff}k,v\na,1.5".into(),
        "k,v\n".into(),
        "\n\nk,v\n\n\na,1.5\n\n".into(),
        "k,v\r\na,1.5\r\n\r\nb,-22.5\r\na,0.25".into(),
        format!("k,v\n{long},1.5\n\"{long}\",2.5\n{long}!,99.9\n\"{long}\n\",-1.0\n"),
        "k,v\n\"a\nb\",1.5\n\"a,b\",2.5,x\na;b,1.0\nc\nd,,e\n,1.0\ne,1.0\n".into(),
        "k,v\n\"two\nlines\"x,1\na,1.5\n\"open,1\nb,2.5\n".into(),
        "\"k\nk\",v\n\"a\",\"1.5\"\n\"\"\"\",\"2.5\"".into(),
        "k,v\n\"never closed,1\na,1.5\nb,2.5".into(),
        "k\"k,v\na,1\n".into(),
    ];
    for text in &texts {
        let columns = [Selector::Place(2)];
        for (header, ragged) in
            [(false, Ragged::Fail), (true, Ragged::Fail), (false, Ragged::Pad), (true, Ragged::Pad)]
        {
            let shape = Shape { ragged, ..shape(header, Selector::Place(1), &columns) };
            for chunk in 1..=text.len() + 1 {
                for level in Level::available() {
                    let text = text.as_bytes();
                    assert_same(text, &shape, 1000, true, &options(1, chunk, level));
                    assert_same(text, &shape, chunk, false, &options(2, 7, level));
                }
                let three = options(3, chunk, Level::best());
                assert_same(text.as_bytes(), &shape, 1000, true, &three);
            }
        }
    }
}

#[test]
fn many_keys_and_columns_agree_with_the_plain_program() {
    let mut text = String::from("id,v,name,w\n");
    let mut state = 7_u64;
    for i in 0..30_000_u64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(i | 1);
        let key = (state >> 40) % 6000;
        let padding = "-and-more".repeat((key % 5) as usize);
        let quote = if state >> 20 & 255 == 0 { "\"" } else { "" };
        let tenths = (state >> 8) % 1000;
        let (v, w) = (format!("-{}.{}", tenths / 10, tenths % 10), tenths % 200);
        text += &format!("{i},{v},{quote}{key}{padding}{quote},{w}.5\n");
    }
    let columns = [Selector::Name("w".into()), Selector::Name("v".into())];
    let shape = shape(true, Selector::Name("name".into()), &columns);
    for level in Level::available() {
        for threads in [1, 2, 3] {
            let options = options(threads, 20_000, level);
            assert_same(text.as_bytes(), &shape, 1 << 20, true, &options);
            assert_same(text.as_bytes(), &shape, 5000, false, &options);
        }
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
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        // A failure prints its input; it becomes a named case above.
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_text_in_any_split_agrees(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "a", "b", ",", ",", "1.5", "-22.5", "0.25", "\"", "\"\"", "\n", "\n", "\r\n",
            "a,1.5\n", "bcd,-7.5\n", "\"q,q\",3.5\n", "a key of many bytes,5.5\n", ";",
        ]), 0..60),
        chunk in 1_usize..80,
        threads in 1_usize..4,
        file in any::<bool>(),
        header in any::<bool>(),
        pad in any::<bool>(),
        nulls in prop::collection::vec(prop::sample::select(vec!["", "NA", "b", "-22.5"]), 0..3),
        null in prop::sample::select(vec![Null::Skip, Null::Zero, Null::Fail]),
        places in prop::sample::select(vec![vec![2], vec![2, 3], vec![3, 1]]),
    ) {
        let text = pieces.concat();
        let values = places.into_iter().map(|place| Value { column: Selector::Place(place), null });
        let shape = Shape {
            header,
            values: values.collect(),
            ragged: if pad { Ragged::Pad } else { Ragged::Fail },
            nulls: nulls.into_iter().map(|null| null.as_bytes().to_vec()).collect(),
            ..Shape::new(b',')
        };
        for level in Level::available() {
            let options = options(threads, chunk, level);
            assert_same(text.as_bytes(), &shape, chunk, file, &options);
        }
    }
}

fn sums(summary: &Summary) -> Vec<(String, Vec<String>)> {
    let keys = &summary.columns[0].groups;
    (0..keys.len())
        .map(|i| {
            let key = String::from_utf8_lossy(&keys[i].key).into_owned();
            (key, summary.columns.iter().map(|c| c.groups[i].stats.sum().to_string()).collect())
        })
        .collect()
}

#[test]
fn quoted_fields_keep_delimiters_quotes_and_line_breaks_at_any_portion() {
    let text = "\u{feff}name,t,h\r\n\"Oslo, N\",1.5,10\n\"the \"\"big\"\" one\",-2,20\r\n\
                \"two\nlines\",3,30\n\"Oslo, N\",\"0.5\",5\r\n\n\"\"\"\",1,1";
    let shape = shape(
        true,
        Selector::Name("name".into()),
        &[Selector::Name("t".into()), Selector::Place(3)],
    );
    for portion in 1..text.len() {
        let summary = run(text, &shape, portion).unwrap();
        let expected = [
            ("\"", ["1", "1"]),
            ("Oslo, N", ["2.0", "15"]),
            ("the \"big\" one", ["-2", "20"]),
            ("two\nlines", ["3", "30"]),
        ];
        let found = sums(&summary);
        let expected: Vec<_> =
            expected.map(|(key, sums)| (key.to_owned(), sums.map(str::to_owned).to_vec())).into();
        assert_eq!(found, expected, "portions of {portion}");
        assert_eq!((summary.records, summary.blank_lines, summary.rejected), (5, 1, 0));
        let names = (&*summary.key, &*summary.columns[0].name, &*summary.columns[1].name);
        assert_eq!(names, ("name", "t", "h"));
    }
}

#[test]
fn malformed_records_are_refused_one_line_at_a_time() {
    let text = "a,1\n\"b\"x,2\nc\"d,3\n,4\nshort\ne,\nf,x\n\"open,5\ng,6\n";
    for portion in 1..text.len() {
        let summary =
            run(text, &shape(false, Selector::Place(1), &[Selector::Place(2)]), portion).unwrap();
        let found: Vec<_> = summary
            .shown_rejects
            .iter()
            .map(|r| (r.record_byte, r.position.line, r.reason))
            .collect();
        assert_eq!(
            found,
            [
                (4, 2, Reason::AfterQuote),
                (11, 3, Reason::StrayQuote),
                (17, 4, Reason::EmptyKey),
                (20, 5, Reason::Ragged { expected: 2, found: 1 }),
                (29, 7, Reason::Number(NumberError::Malformed)),
                (33, 8, Reason::OpenQuote),
            ],
            "portions of {portion}"
        );
        assert_eq!(
            sums(&summary),
            [("a", "1"), ("e", "0"), ("g", "6")]
                .map(|(key, sum)| (key.to_owned(), vec![sum.to_owned()]))
        );
        assert_eq!((summary.records, summary.rejected), (3, 6));
    }
}

#[test]
fn a_missing_column_lists_those_there_are() {
    let error =
        run("a,b\nx,1\n", &shape(true, Selector::Place(1), &[Selector::Name("t".into())]), 9)
            .unwrap_err();
    assert_eq!(error.to_string(), "t.csv: the header has no column \"t\"; it has: \"a\", \"b\"");
}

#[test]
fn a_long_line_of_delimiters_takes_time_in_proportion_to_its_length() {
    // Searching each block's marks from the start of the line took a minute for this.
    let text = [&b"a,1.5\n"[..], &b",".repeat(20 << 20), b"\na,2.5\n"].concat();
    let start = std::time::Instant::now();
    let summary = run_bytes(&text, &Shape::new(b','), 0, true, &options(1, 1 << 18, Level::best()));
    let summary = summary.unwrap();
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    assert_eq!(sums(&summary), [("a".to_owned(), vec!["4.0".to_owned()])]);
    let found = (20 << 20) + 1;
    assert_eq!(summary.shown_rejects[0].reason, Reason::Ragged { expected: 2, found });
}

#[test]
fn a_missing_value_of_one_column_costs_nothing_in_another() {
    let two = [Selector::Name("v".into()), Selector::Name("w".into())];
    let shape = |null: Null, nulls: &[&str]| Shape {
        nulls: nulls.iter().map(|null| null.as_bytes().to_vec()).collect(),
        values: two.iter().map(|column| Value { column: column.clone(), null }).collect(),
        ..shape(true, Selector::Place(1), &two)
    };
    let text = "k,v,w\na,,3.0\na,1.5,NA\nb,NA,\na,-99.9,2\n";
    let seen = |shape: &Shape| {
        let summary = run(text, shape, 1000).unwrap();
        let all = summary.columns.iter().flat_map(|column| column.groups.iter());
        let said = all.map(|g| (g.stats.rows(), g.stats.count(), g.stats.sum().to_string()));
        (said.collect::<Vec<_>>(), summary.rejected)
    };
    let said = |rows, count, sum: &str| (rows, count, sum.to_owned());
    assert_eq!(
        seen(&shape(Null::Skip, &["", "NA", "-99.9"])),
        (vec![said(3, 1, "1.5"), said(1, 0, "0"), said(3, 2, "5.0"), said(1, 0, "0")], 0)
    );
    assert_eq!(
        seen(&shape(Null::Zero, &["", "NA"])),
        (vec![said(3, 3, "-98.4"), said(1, 1, "0"), said(3, 3, "5.0"), said(1, 1, "0")], 0)
    );
    assert_eq!(
        seen(&shape(Null::Fail, &["", "NA"])),
        (vec![said(1, 1, "-99.9"), said(1, 1, "2")], 3)
    );
}

#[test]
fn ragged_records_and_ambiguous_names_are_errors_that_say_what_was_expected() {
    let ragged = |text: &str, shape: &Shape| {
        let summary = run(text, shape, 1000).unwrap();
        summary.shown_rejects.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let plain = Shape { header: true, ..Shape::new(b',') };
    let text = "k,v\na,1,234\n\"b\"\nc,1.5\n";
    assert_eq!(
        ragged(text, &plain),
        [
            "t.csv:2:5: expected 2 fields, found 3: \"a,1,234\"",
            "t.csv:3:1: expected 2 fields, found 1: \"\\\"b\\\"\"",
        ]
    );
    let padded = Shape { ragged: Ragged::Pad, ..plain.clone() };
    assert_eq!(ragged(text, &padded), [""; 0]);
    let named = Shape { key: Selector::Name("k".into()), ..plain };
    let error = run("k,k,v\na,b,1\n", &named, 1000).unwrap_err().to_string();
    assert_eq!(
        error,
        "t.csv: the header has \"k\" twice, as columns 1 and 2: choose one by its number"
    );
}

#[test]
fn a_refused_field_is_named_and_found_by_line_and_column() {
    let text = "\u{feff}host,ms\nüñ,1.5\n\"a\nb\",inf\nÜb,1.5x\n";
    let shape = Shape { header: true, ..Shape::new(b',') };
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
